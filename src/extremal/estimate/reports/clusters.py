"""From raw reports with clusters, strata and populations to the sums that `Sampling` works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from extremal.columns.column import distinct, refuse_missing
from extremal.columns.frames import pick
from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import Channel, Floats
from extremal.estimate.reports.counted import aligned
from extremal.estimate.reports.sampling import Sampling
from extremal.mechanism.structures.structure import refuse_large

if TYPE_CHECKING:
    from extremal.estimate.reports.tally import Batch

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Sampled:
    """What a caller says about the sample: columns or their names, and sizes of populations."""

    strata: Any = None
    cluster: Any = None
    population: Any = None

    def sums(self, channel: Channel, reports: Any, batch: Batch, drop: bool) -> Sampling:
        """The sums of each cluster."""
        codes, labels = distinct(batch.reports, "reports")
        n = codes.size
        kept = codes >= 0 if drop else np.ones(n, dtype=np.bool_)
        strata, names = self._codes("strata", self.strata, reports, n)
        clusters, _ = self._codes("cluster", self.cluster, reports, n)
        if self.cluster is None:
            clusters = np.arange(n)
        codes, strata, clusters = codes[kept], strata[kept], clusters[kept]
        w = np.ones(codes.size) if batch.weights is None else np.asarray(batch.weights, dtype=np.float64)[kept]
        if batch.counts is not None:
            raise InvalidParameter(
                "counts have no clusters or strata", parameter="counts", hint="Give the raw reports."
            )
        pairs, clusters = np.unique(strata * (clusters.max() + 1) + clusters, return_inverse=True)
        of_cluster = np.zeros(pairs.size, dtype=np.intp)
        of_cluster[clusters] = strata
        refuse_large(pairs.size, len(labels), "the sums of each cluster")
        table = np.bincount(clusters * len(labels) + codes, weights=w, minlength=pairs.size * len(labels))
        total = float(w.sum())
        columns = [self._column(channel, label) for label in labels]
        statistics = np.column_stack(columns) @ table.reshape(pairs.size, len(labels)).T / total
        shares = np.bincount(clusters, weights=w, minlength=pairs.size) / total
        noise = np.bincount(strata, weights=w * w, minlength=len(names)) / total**2
        return Sampling(statistics, shares, of_cluster, self._sampled(names, of_cluster), noise)

    def weights(self, reports: Any, n: int) -> Floats | None:
        """N_h/n_h where populations are given for strata, so that the estimate adds up strata in their true shares."""
        if self.population is None or self.strata is None or not isinstance(self.population, Mapping):
            return None
        strata, names = self._codes("strata", self.strata, reports, n)
        counts = np.bincount(strata, minlength=len(names))
        return np.asarray((self._sizes(names) / np.maximum(counts, 1))[strata])

    def _column(self, channel: Channel, label: Any) -> Floats:
        return channel.statistic([channel.encode(label)], np.ones(1))

    def _codes(self, parameter: str, column: Any, reports: Any, n: int) -> tuple[Codes, list[Any]]:
        if column is None:
            return np.zeros(n, dtype=np.intp), [None]
        values = pick(reports, column, parameter) if isinstance(column, str) else aligned(column, reports, parameter)
        codes, labels = distinct(values, parameter)
        refuse_missing(codes, parameter, "Every respondent has one.")
        if codes.size != n:
            raise InvalidParameter(
                f"{parameter} must have {n} entries, one for each report",
                parameter=f"len({parameter})",
                value=codes.size,
            )
        used, codes = np.unique(codes, return_inverse=True)
        return codes, [labels[i] for i in used.tolist()]

    def _sizes(self, names: list[Any]) -> Floats:
        if isinstance(self.population, Mapping):
            plain = [getattr(name, "item", lambda name=name: name)() for name in names]
            absent = [name for name in plain if name not in self.population]
            if absent:
                raise InvalidParameter(
                    "population must have a size for each stratum", parameter="missing stratum", value=absent[0]
                )
            sizes = np.array([self.population[name] for name in plain], dtype=np.float64)
        else:
            sizes = np.full(len(names), float(self.population))
        if not (np.isfinite(sizes) & (sizes > 0)).all():
            raise InvalidParameter("population must hold positive sizes", parameter="population", value=sizes.tolist())
        return sizes

    def _sampled(self, names: list[Any], of_cluster: Codes) -> Floats:
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
