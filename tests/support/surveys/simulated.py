"""Surveys and tests simulated as multinomial counts, to hold a plan against.

Seeded and for tests only; nothing here releases anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.estimate import estimate_frequencies, estimate_workload, test_hypotheses
from extremal.estimate.hypothesis_tests.likelihood_ratio import Rule
from extremal.estimate.reports.sample import Sample
from extremal.exact import as_prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

CHECKED = 2  # tables of each kind for which the test itself is made


@dataclass(frozen=True, eq=False)
class Surveys:
    """What many surveys said about one cell or statistic."""

    half_widths: Floats
    errors: Floats
    held: Floats

    @property
    def mean_half_width(self) -> tuple[float, float]:
        """Mean and its standard error."""
        return float(self.half_widths.mean()), float(self.half_widths.std(ddof=1) / np.sqrt(self.half_widths.size))

    def within(self, reach: float) -> float:
        """Share of the surveys whose estimate is within `reach` of the truth."""
        return float((np.abs(self.errors) <= reach).mean())

    @property
    def coverage(self) -> float:
        """Share of the surveys whose interval holds the truth."""
        return float(self.held.mean())


def simulated_surveys(
    mechanism: Mechanism,
    prior: Any,
    n: int,
    about: Any,
    level: float,
    surveys: int,
    generator: np.random.Generator,
    workload: Any = None,
) -> Surveys:
    """Estimates of the cell (or, with a workload, the statistic) called `about`, from surveys of n people."""
    p = as_prior(prior, k=mechanism.k).values
    drawn = generator.multinomial(n, mechanism.marginal(p), size=surveys)
    counts, repeats = np.unique(drawn, axis=0, return_counts=True)
    rows = []
    for table in counts:
        if workload is None:
            found = estimate_frequencies(table, mechanism, counts=True)
            place = found.inputs.index(about)
            truth, estimate, limits = p[place], found.estimate[place], found.interval(level)[place]
        else:
            wanted = estimate_workload(table, mechanism, workload, counts=True)
            place = wanted.names.index(about)
            truth, estimate, limits = _truth(workload, place, p), wanted.estimate[place], wanted.interval(level)[place]
        low, high = limits
        rows.append((float(high - low) / 2, float(estimate - truth), float(low <= truth <= high)))
    columns = np.repeat(np.array(rows), repeats, axis=0)
    return Surveys(columns[:, 0], columns[:, 1], columns[:, 2])


def simulated_samples(
    mechanism: Mechanism,
    prior: Any,
    sample: Sample,
    surveys: int,
    generator: np.random.Generator,
    alike: float | None = None,
) -> Floats:
    """Half-widths of the widest share in surveys of these people, whose answers have nothing to do with weights and
    strata; those of a cluster follow shares that are Dirichlet with the correlation `alike`."""
    drawn, p = sample.drawn(_people(sample)), as_prior(prior, k=mechanism.k).values
    found = np.empty(surveys)
    for i in range(surveys):
        shares = np.broadcast_to(p, (drawn.strata.size, p.size))
        if alike is not None:
            shares = generator.dirichlet(p * (1 - alike) / alike, drawn.strata.size)
        x = _drawn(shares[drawn.units], generator)
        y = _drawn(np.asarray(mechanism.matrix)[x], generator)
        reports = [mechanism.outputs[code] for code in y.tolist()]
        limits = estimate_frequencies(reports, mechanism, sample=sample).interval()
        found[i] = float(np.ptp(limits, axis=1).max()) / 2
    return found


def _people(sample: Sample) -> int:
    return next(len(one) for one in (sample.weights, sample.strata, sample.cluster) if one is not None)


def _drawn(shares: Floats, generator: np.random.Generator) -> Any:
    """One number for each row of shares."""
    above = generator.random((len(shares), 1)) >= shares.cumsum(axis=1)
    return np.minimum(above.sum(axis=1), shares.shape[1] - 1)


def _truth(workload: Any, place: int, p: Floats) -> float:
    return float(workload.rows[place] @ p)


def simulated_rejections(
    mechanism: Mechanism, p0: Any, p1: Any, n: int, alpha: float, tests: int, generator: np.random.Generator
) -> tuple[float, float]:
    """How often H₀ is rejected when it is true, and when H₁ is.

    The statistic of each table is compared with the critical value that `ex.test_hypotheses` prints, and for a few
    tables the test itself is made: it must decide the same.
    """
    first, second = (mechanism.marginal(as_prior(p, k=mechanism.k).values) for p in (p0, p1))
    rule = Rule.of(first, second, n, alpha, mechanism.k)
    shares = []
    for truth in (first, second):
        drawn = generator.multinomial(n, truth, size=tests)
        rejected = drawn @ rule.ratios >= rule.critical
        for table, decided in zip(drawn[:CHECKED], rejected[:CHECKED].tolist(), strict=True):
            if bool(test_hypotheses(table, mechanism, p0, p1, alpha, counts=True)) != decided:
                raise AssertionError("the simulated decision must be that of the test")
        shares.append(float(rejected.mean()))
    return shares[0], shares[1]
