"""What the people of a planned survey are worth when they are not drawn one by one.

Two people of a cluster answer alike with intraclass correlation ρ, so that the variance of a weighted mean of answers,
relative to that of as many people drawn one by one, is

    n Σ_c [ρ W_c² + (1 − ρ) Σ_{i in c} w_i²] / (Σ w)²,   W_c = Σ_{i in c} w_i

(Kish 1965: 1 + (b − 1)ρ for equal weights and clusters of b; (Σw²)n/(Σw)² without clusters). Randomisation is drawn for
each person alone, so that reports of a cluster are less alike than its answers (`planning.units`). Strata and a finite
population can only save people where weights are equal; what they save is not counted.

Reference: Kish, Survey Sampling (1965).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.columns.frames import is_name
from extremal.errors import InvalidParameter
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.reports.degrees import reach
from extremal.estimate.reports.described import Joint
from extremal.estimate.reports.sample import Sample
from extremal.studies.planning.units import PlannedSampling, Units
from extremal.tables import number


@dataclass(frozen=True)
class DesignEffect:
    """Of a sample design.

    Attributes:
        people: how many count for one who is drawn alone, at least 1.
        clusters: for each person; 0 without clusters.
        words: the design in a few words.
        units: what a survey like it will show; None where people are drawn one by one.
    """

    people: float = 1.0
    clusters: float = 0.0
    words: str = ""
    units: Units | None = None

    @classmethod
    def of(cls, sample: Sample | None, intraclass: Any) -> DesignEffect:
        """That of a survey like the planned one."""
        drawn = Sample.of(sample)
        rho = _correlation(drawn, intraclass)
        if drawn.empty:
            return cls()
        if drawn.replicate_weights is not None:
            raise InvalidParameter(
                "a plan cannot read clusters from replicate weights",
                parameter="sample",
                hint="Give ex.Sample(weights=…, cluster=…), or multiply n by the design_effect of an earlier survey.",
            )
        found = drawn.drawn(_rows(drawn))
        w = found.weights
        sums = np.bincount(found.units, weights=w, minlength=found.strata.size)
        people = w.size * (rho * (sums @ sums) + (1 - rho) * (w @ w)) / w.sum() ** 2
        clusters = found.strata.size / w.size if found.clustered else 0.0
        alike = f", intraclass correlation {number(rho, 3)}" if found.clustered else ""
        return cls(max(1.0, float(people)), clusters, f"{found.words}{alike}", Units.of(found, rho))

    @property
    def sentence(self) -> str:
        """For the summary of a plan; empty where people are drawn one by one."""
        means = "so many people count for one who is drawn alone"
        means = f"{means}, fewer where answers are randomised" if self.clusters else means
        return f"Design effect {number(self.people, 3)} ({self.words}): {means}." if self.words else ""

    def worth(self, n: int, level: float) -> int:
        """As how many independent answers n of this design count in an interval of this level."""
        degrees = None if self.units is None or not self.clusters else self.units.at(n)
        return max(2, int(n / self.people * (quantile(level) / reach(level, degrees)) ** 2))

    def sampling(self, n: int, size: int) -> PlannedSampling | None:
        """What n reports with a statistic of this size will show; None where people are drawn one by one."""
        return None if self.units is None else self.units.sampling(n, size, self.words)


ALONE = DesignEffect()  # people are drawn one by one


def _correlation(sample: Sample, intraclass: Any) -> float:
    if (sample.cluster is None) != (intraclass is None):
        raise InvalidParameter(
            "a sample with clusters needs the intraclass correlation of the answers, and only such a sample does",
            parameter="intraclass",
            value=intraclass,
            hint="How much people of one cluster answer alike, such as intraclass=0.05; 1 is the worst case.",
        )
    if intraclass is None:
        return 0.0
    if isinstance(intraclass, bool) or not isinstance(intraclass, (int, float)) or not 0 <= intraclass <= 1:
        raise InvalidParameter("intraclass must lie between 0 and 1", parameter="intraclass", value=intraclass)
    return float(intraclass)


def _rows(sample: Sample) -> int:
    """How many people the columns of a sample are about."""
    margins = [column for _, column, _ in sample.margins or ()]
    columns = [one for one in (sample.weights, sample.strata, sample.cluster, *margins) if one is not None]
    if any(is_name(one) or isinstance(one, Joint) for one in columns):
        raise InvalidParameter(
            "a plan has no data frame: the sample must hold the columns themselves",
            parameter="sample",
            hint="ex.Sample(weights=frame['w'], cluster=frame['area'])",
        )
    if not columns:
        raise InvalidParameter(
            "a population alone has no people in it: a plan counts those who are asked",
            parameter="sample",
            hint="Leave the sample out: a finite population needs fewer people, never more.",
        )
    return len(columns[0])
