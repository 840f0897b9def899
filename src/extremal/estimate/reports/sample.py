"""The sample as a caller describes it: weights, strata, clusters, populations.

One `Sample` says all about how respondents were drawn, whatever is estimated or tested; the keywords of the public
functions make one. What follows for variances is in `Sampling`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from extremal.columns.column import distinct, refuse_missing
from extremal.columns.frames import column_of
from extremal.columns.lists import Codes, plain
from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import Channel
from extremal.estimate.reports.sampling import Sampling
from extremal.exact.weights import Floats
from extremal.mechanism.structures.structure import refuse_large

LEAST_WEIGHT = 1e-100  # squares of weights, and sums of 2^53 of them, stay within what floats hold


@dataclass(frozen=True, eq=False)
class Sample:
    """How respondents were sampled. Columns are given themselves or by their names in the data frame.

    Attributes:
        weights: a positive survey weight for each respondent. Standard errors are those of the weighted mean.
        strata: how the sample was stratified. Unlike groups that are estimated each by itself this changes only
            standard errors (and, with `population`, weights).
        cluster: who was sampled together. Standard errors are those between clusters.
        population: the size of the population, or a mapping from stratum to size: a finite population correction, and
            weights N_h/n_h when there are strata and no weights.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> drawn = Sample(cluster=["a", "a", "b", "b", "c", "c"])
    >>> ex.estimate_frequencies([0, 0, 1, 1, 0, 1], m, sample=drawn).n
    6
    """

    weights: Any = None
    strata: Any = None
    cluster: Any = None
    population: Any = None

    @classmethod
    def of(cls, sample: Sample | None, **described: Any) -> Sample:
        """`sample` if it is given, else one of these keywords; both together are refused."""
        if sample is None:
            return cls(**described)
        if not isinstance(sample, Sample):
            raise InvalidParameter("sample must be a Sample", parameter="sample", value=type(sample).__name__)
        for parameter, value in described.items():
            if value is not None:
                raise InvalidParameter(
                    f"{parameter} cannot be given beside sample",
                    parameter=parameter,
                    hint=f"Write Sample(…, {parameter}=…).",
                )
        return sample

    @property
    def simple(self) -> bool:
        """Whether nothing is said about strata, clusters or the population."""
        return self.strata is None and self.cluster is None and self.population is None

    def only_weights(self) -> Any:
        """The weights, where nothing else of a sample can be used."""
        if not self.simple:
            raise InvalidParameter(
                "only the weights of a sample can be used here",
                parameter="sample",
                hint="ex.estimate_frequencies uses strata, clusters and populations.",
            )
        return self.weights

    def beside(self, source: Any) -> Sample:
        """The same with every name replaced by the column of `source`."""
        weights, strata, cluster = (
            column_of(source, getattr(self, parameter), parameter) for parameter in ("weights", "strata", "cluster")
        )
        return replace(self, weights=weights, strata=strata, cluster=cluster)

    def strata_weights(self, n: int) -> Floats | None:
        """N_h/n_h where populations are given for strata and no weights, so that strata have their true shares."""
        if self.weights is not None or self.strata is None or not isinstance(self.population, Mapping):
            return None
        strata, names = group_codes(self.strata, "strata", n)
        counts = np.bincount(strata, minlength=len(names))
        return np.asarray((self._sizes(names) / np.maximum(counts, 1))[strata])

    def sums(self, channel: Channel, codes: Codes, labels: Any, weights: Floats | None) -> Sampling:
        """The sums of each cluster, for reports labels[codes[i]] with these weights; a negative code is left out."""
        kept = codes >= 0
        if self.strata is None:
            strata, names = np.zeros(codes.size, dtype=np.intp), [None]
        else:
            strata, names = group_codes(self.strata, "strata", codes.size)
        clusters = np.arange(codes.size)
        if self.cluster is not None:
            clusters, _ = group_codes(self.cluster, "cluster", codes.size)
        codes, strata, clusters = codes[kept], strata[kept], clusters[kept]
        w = np.ones(codes.size) if weights is None else weights[kept]
        pairs, clusters = np.unique(strata * (clusters.max() + 1) + clusters, return_inverse=True)
        of_cluster = np.zeros(pairs.size, dtype=np.intp)
        of_cluster[clusters] = strata
        refuse_large(pairs.size, len(labels), "the sums of each cluster")
        table = np.bincount(clusters * len(labels) + codes, weights=w, minlength=pairs.size * len(labels))
        total = float(w.sum())
        occur = np.unique(codes).tolist()
        columns = [channel.statistic([channel.encode(labels[code])], np.ones(1)) for code in occur]
        of_label = np.zeros((columns[0].size, len(labels)))
        of_label[:, occur] = np.column_stack(columns)
        statistics = of_label @ table.reshape(pairs.size, len(labels)).T / total
        shares = np.bincount(clusters, weights=w, minlength=pairs.size) / total
        noise = np.bincount(strata, weights=w * w, minlength=len(names)) / total**2
        return Sampling(statistics, shares, of_cluster, self._sampled(names, of_cluster), noise)

    def _sizes(self, names: list[Any]) -> Floats:
        if isinstance(self.population, Mapping):
            absent = [name for name in names if name not in self.population]
            if absent:
                raise InvalidParameter(
                    "population must have a size for each stratum", parameter="missing stratum", value=absent[0]
                )
            sizes = np.array([self.population[name] for name in names], dtype=np.float64)
        else:
            sizes = np.full(len(names), float(self.population))
        if not (np.isfinite(sizes) & (sizes > 0)).all():
            raise InvalidParameter("population must hold positive sizes", parameter="population", value=sizes.tolist())
        return sizes

    def _sampled(self, names: list[Any], of_cluster: Codes) -> Floats:
        """The share of each stratum's population that was sampled."""
        if self.population is None:
            return np.zeros(len(names))
        counts = np.bincount(of_cluster, minlength=len(names))
        sizes = self._sizes(names)
        if (counts > sizes).any():
            raise InvalidParameter(
                "a population must be at least as large as its sample",
                parameter="population",
                value=float(sizes[np.argmax(counts > sizes)]),
                hint="With clusters it is the number of clusters.",
            )
        return np.asarray(counts / sizes)


def group_codes(column: Any, parameter: str, n: int) -> tuple[Codes, list[Any]]:
    """The group of each respondent as a code, and the names of the groups."""
    codes, labels = distinct(column, parameter)
    refuse_missing(codes, parameter, "Every respondent has one.")
    if codes.size != n:
        raise InvalidParameter(
            f"{parameter} must have {n} entries, one for each report", parameter=f"len({parameter})", value=codes.size
        )
    used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    if used.size < len(labels):  # labels may be listed that do not occur
        codes = np.searchsorted(used, codes)
    return codes, [plain(labels[i]) for i in used.tolist()]


def checked_weights(weights: Any, n: int) -> Floats:
    """Survey weights as floats: finite, positive, one for each report."""
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("weights must be numbers", parameter="weights", value=weights) from None
    if w.shape != (n,):
        raise InvalidParameter(
            f"weights must have {n} entries, one for each report", parameter="weights.shape", value=w.shape
        )
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)))
    extreme = np.flatnonzero((w < LEAST_WEIGHT) | (w > 1 / LEAST_WEIGHT))
    if extreme.size and not bad.size:
        raise InvalidParameter(
            f"weights must lie between {LEAST_WEIGHT:g} and {1 / LEAST_WEIGHT:g}",
            parameter=f"weights[{extreme[0]}]",
            value=float(w[extreme[0]]),
            hint="Divide them all by their mean: only their ratios matter.",
        )
    if bad.size:
        raise InvalidParameter(
            "weights must be finite and positive",
            parameter=f"weights[{bad[0]}]",
            value=float(w[bad[0]]),
            hint="A respondent that does not count must be left out of the reports.",
        )
    return w
