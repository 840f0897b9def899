"""The sample as a caller describes it: weights, strata, clusters, populations, margins, replicate weights.

One `Sample` says all about how respondents were drawn, whatever is estimated or tested; the keywords of the public
functions make one. What follows for variances is in `DrawnSample` and `Sampling`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from extremal.columns.arrays import numbers
from extremal.columns.frames import column_of, columns_of, is_frame, is_name, names_of, refuse_other_orders
from extremal.columns.lists import Codes
from extremal.errors import InvalidParameter
from extremal.estimate.reports.counts import look_counted
from extremal.estimate.reports.described import (
    REPLICATES,
    Joint,
    as_mapping,
    checked_weights,
    factors_of,
    groups_of,
    margin_of,
    refuse_disagreeing,
    refuse_smaller,
    sizes_of,
)
from extremal.estimate.reports.sampling import DrawnSample, Margins, rake
from extremal.exact.weights import Floats

COUNTED = (
    "The weights are whole numbers and are taken for weights of single respondents: if they say how often a row "
    "occurred, pass counts=…."
)
SAME = 1e-12  # of a share: replicate weights that differ by less are one replicate, rounded


@dataclass(frozen=True, eq=False)
class Sample:
    """How respondents were sampled. Columns are given themselves or by their names in the data frame.

    Strata and clusters may be several columns: a tuple of names in the data frame stands for their combinations.

    Guarantee: rows whose report is missing and dropped never enter a size, a weight or a margin.

    Attributes:
        weights: a positive survey weight for each respondent. Standard errors are those of the weighted mean.
        strata: how the sample was stratified. Unlike groups that are estimated each by itself this changes only
            standard errors (and, with `population`, weights).
        cluster: who was sampled together. Standard errors are those between clusters. A cluster lies in one stratum:
            numbers that start again in each stratum are refused until cluster=("stratum", "cluster") tells them apart.
        population: people in the population, or a mapping from stratum to people: without clusters a finite population
            correction of estimates, and weights N_h/n_h when there are strata and no weights.
        clusters_in_population: their number, or a mapping from stratum to it: a finite population correction of
            estimates for clusters of which everybody was asked.
        replicate_weights: a mapping from the kind ("bootstrap", "brr", "jackknife", "paired jackknife", or the factor
            of the squared deviations: a number, or one for each replicate in a tuple) to the replicate weights: a table
            with a column for each, or names of columns.

    Reference: T. Lumley, Analysis of complex survey samples, J. Statist. Software 9 (2004).

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> drawn = ex.Sample(cluster=["a", "a", "b", "b", "c", "c"])
    >>> ex.estimate_frequencies([0, 0, 1, 1, 0, 1], m, sample=drawn).n
    6
    """

    weights: Any = None
    strata: Any = None
    cluster: Any = None
    population: Any = None
    clusters_in_population: Any = None
    replicate_weights: Any = None
    margins: Any = field(default=None, init=False, repr=False)

    def raked(self, margins: Mapping[Any, Any]) -> Sample:
        """The same sample with its weights raked to known totals of the population (one margin: post-stratified).

        Args:
            margins: for each column its totals, counts or shares: {"sex": {"f": 510, "m": 490}, "region": {…}}. Several
                names in a tuple are a joint margin, whose totals are by tuples. Without a data frame a margin is the
                pair of the column itself and its totals: {"sex": (column, {…})}.

        Margins that the sample was raked to before stay: all of them hold together. Standard errors account for it.
        Replicate weights are raked each by itself.

        Reference: Deming and Stephan, Ann. Math. Statist. 11 (1940), for the weights; Deville and Särndal (1992), for
        the variance.

        >>> import extremal as ex
        >>> drawn = Sample().raked({"sex": (["f", "f", "m"], {"f": 1, "m": 1})})
        >>> drawn.drawn(3).weights.tolist()
        [0.75, 0.75, 1.5]
        """
        if not isinstance(margins, Mapping) or not margins:
            raise InvalidParameter(
                "margins must map columns to totals",
                parameter="margins",
                value=type(margins).__name__,
                hint='{"sex": {"f": 510, "m": 490}}',
            )
        before = self.margins or ()
        made = tuple(_margin(name, given) for name, given in margins.items())
        twice = {name for name, *_ in before} & {name for name, *_ in made}
        if twice:
            raise InvalidParameter(
                "a sample must be raked to a margin only once",
                parameter="margins",
                value=min(twice),
                hint="Start from the sample that was not raked.",
            )
        return self._with_margins((*before, *made))

    def _with_margins(self, margins: Any) -> Sample:
        found = replace(self)
        object.__setattr__(found, "margins", margins)  # no argument of the constructor
        return found

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
        """Whether there is nothing but weights."""
        rest = (self.strata, self.cluster, self.population, self.clusters_in_population, self.replicate_weights)
        return all(given is None for given in (*rest, self.margins))

    @property
    def independent(self) -> bool:
        """Whether there is at most a population: reports are independent and count alike."""
        return self.margins is None and replace(self, population=None).empty

    @property
    def empty(self) -> bool:
        """Whether nothing is said."""
        return self.simple and self.weights is None

    def beside(self, source: Any) -> Sample:
        """The same with every name replaced by the column of `source`, and every column in its order."""
        refuse_other_orders(source, self.columns)
        found = replace(
            self,
            weights=_column(source, self.weights, "weights"),
            strata=_columns(source, self.strata, "strata"),
            cluster=_columns(source, self.cluster, "cluster"),
            replicate_weights=self._replicates_beside(source),
        )
        if self.margins is None:
            return found
        return found._with_margins(
            tuple((name, _columns(source, column, name), totals) for name, column, totals in self.margins)
        )

    @property
    def columns(self) -> dict[str, Any]:
        """Those that are given themselves, by the names that errors use."""
        found = {"weights": self.weights, "strata": self.strata, "cluster": self.cluster}
        if isinstance(self.replicate_weights, Mapping):
            found["replicate_weights"] = next(iter(self.replicate_weights.values()), None)
        found |= {name: column for name, column, _ in self.margins or ()}
        return {name: column for name, column in found.items() if not is_name(column)}

    def _replicates_beside(self, source: Any) -> Any:
        if self.replicate_weights is None:
            return None
        if not isinstance(self.replicate_weights, Mapping) or len(self.replicate_weights) != 1:
            raise InvalidParameter(
                "replicate_weights must map one kind to its columns",
                parameter="replicate_weights",
                value=type(self.replicate_weights).__name__,
                hint=f'{{"jackknife": columns}}; kinds: {", ".join(REPLICATES)}, or a factor.',
            )
        ((kind, columns),) = self.replicate_weights.items()
        if is_frame(columns):
            columns = list(columns_of(columns, names_of(columns) or []).values())
        elif not _are_names(columns):
            return {kind: columns}
        of_each = [numbers(_column(source, one, "replicate_weights"), "replicate_weights") for one in columns]
        return {kind: np.column_stack(of_each)}

    # -- in numbers

    def drawn(self, n: int, kept: Any = None) -> DrawnSample:
        """Those of n rows that are kept (all, if not given): their weights, units and strata."""
        named = self.beside(None)  # refuses names that no frame has resolved
        rows = np.ones(n, dtype=np.bool_) if kept is None else kept
        count = int(np.count_nonzero(rows))
        if not count:
            raise InvalidParameter("there must be at least one report", parameter="reports", value=[])
        strata, names = groups_of(named.strata, "strata", n, rows)
        clusters, of_cluster = groups_of(named.cluster, "cluster", n, rows)
        if named.cluster is None:
            units, of_unit = np.arange(count), strata
        else:
            pairs, units = np.unique(strata * max(len(of_cluster), 1) + clusters, return_inverse=True)
            of_unit = np.zeros(pairs.size, dtype=np.intp)
            of_unit[units] = strata
            _refuse_crossing(pairs.size, len(of_cluster))
        _refuse_alone(named, of_unit.size, len(names))
        weights = named._base_weights(n, rows, strata, names)
        base = np.ones(count) if weights is None else weights
        scales, replicates = named._replicated(n, rows)
        margins = None
        if named.margins is not None:
            groups = named._margin_groups(n, rows)
            indicators = np.hstack([np.eye(shares.size)[codes] for codes, shares in groups])
            margins, base = Margins(indicators, base), rake(base, groups)
            replicates = None if replicates is None else named._raked_replicates(replicates, groups)
        return DrawnSample(
            base,
            weights is not None or margins is not None,
            units,
            of_unit,
            named.sampled(names, np.bincount(of_unit, minlength=len(names))),
            margins,
            replicates,
            scales,
            named.cluster is not None,
            named._notes(n, rows),
        )

    def _notes(self, n: int, rows: Any) -> tuple[str, ...]:
        """Whether weights look like counts; beside replicate weights they are weights."""
        if self.weights is None or self.replicate_weights is not None:
            return ()
        return (COUNTED,) if look_counted(checked_weights(self.weights, n, rows)[rows]) else ()

    def _margin_groups(self, n: int, rows: Any) -> list[tuple[Codes, Floats]]:
        """For each margin the group of each respondent, and the share of each group."""
        groups = [margin_of(column, totals, name, n, rows) for name, column, totals in self.margins]
        refuse_disagreeing([sizes for _, sizes in groups])
        return [(codes, sizes / sizes.sum()) for codes, sizes in groups]

    def _raked_replicates(self, replicates: Floats, groups: list[tuple[Codes, Floats]]) -> Floats:
        for (name, _, _), (codes, shares) in zip(self.margins, groups, strict=True):
            held = np.stack([np.bincount(codes, weights=row, minlength=shares.size) for row in replicates])
            empty = np.flatnonzero((held <= 0).any(axis=1))
            if empty.size:
                raise InvalidParameter(
                    f"every replicate must have weight in each group of {name}: without any it cannot be raked",
                    parameter="replicates without",
                    value=f"{empty.size} of {len(replicates)}",
                    hint="Merge groups that few clusters have.",
                )
        return np.stack([rake(row, groups) for row in replicates])

    def _base_weights(self, n: int, rows: Any, strata: Codes, names: list[Any]) -> Floats | None:
        """Those given; else N_h/n_h where there are populations of strata, so that strata have their true shares."""
        if self.weights is not None:
            return np.asarray(checked_weights(self.weights, n, rows)[rows])
        if self.population is None or self.strata is None:
            return None
        counts = np.bincount(strata, minlength=len(names))
        sizes = sizes_of(self.population, names, "population", "people")
        refuse_smaller(counts, sizes, "population")
        return np.asarray((sizes / np.maximum(counts, 1))[strata])

    def sampled(self, names: list[Any], counts: Any) -> Floats:
        """The share of each stratum's units that were sampled, for so many in each."""
        parameter = "population" if self.cluster is None else "clusters_in_population"
        if self.cluster is None and self.clusters_in_population is not None:
            raise InvalidParameter(
                "clusters_in_population needs cluster", parameter="clusters_in_population", hint="cluster=…"
            )
        if (
            self.cluster is not None
            and self.population is not None
            and not (self.strata is not None and self.weights is None)
        ):
            raise InvalidParameter(
                "with clusters a population only makes weights of strata: without strata, or beside weights, it says "
                "nothing about the sample",
                parameter="population",
                hint="Leave it out. The number of clusters in the population is clusters_in_population=….",
            )
        given = getattr(self, parameter)
        if given is None:
            return np.zeros(len(names))
        sizes = sizes_of(given, names, parameter, "people" if self.cluster is None else "clusters")
        refuse_smaller(counts, sizes, parameter)
        return np.asarray(counts / sizes)

    def _replicated(self, n: int, rows: Any) -> tuple[Floats | None, Floats | None]:
        """Factors of the squared deviations, and replicate weights, a row for each."""
        if self.replicate_weights is None:
            return None, None
        if self.strata is not None or self.cluster is not None or self.weights is None:
            raise InvalidParameter(
                "replicate weights stand for strata and clusters, and need the full sample's weights",
                parameter="replicate_weights",
                hint="Sample(weights=…, replicate_weights={…})",
            )
        if self.population is not None:
            raise InvalidParameter(
                "beside replicate weights a population changes nothing",
                parameter="population",
                hint="Leave it out. Factors of the squared deviations can hold a finite population correction.",
            )
        ((kind, columns),) = self.replicate_weights.items()
        table = _replicate_table(columns, n)
        used, factors = table[rows], factors_of(kind, table.shape[1])
        if not (np.isfinite(used).all() and (used >= 0).all() and (used.sum(axis=0) > 0).all()):
            raise InvalidParameter(
                "replicate_weights must be finite and not negative, and not all zero", parameter="replicate_weights"
            )
        if not np.ptp(used / used.sum(axis=0), axis=1).max() > SAME:
            raise InvalidParameter(
                "replicate_weights must differ from each other: these show no differences",
                parameter="replicate_weights",
            )
        return factors, np.ascontiguousarray(used.T)


def _margin(name: Any, given: Any) -> tuple[str, Any, Any]:
    """A margin as the name that errors use, its column (or the names of its columns), and its totals."""
    shown = f"margins[{name!r}]"
    if not isinstance(given, tuple):
        return shown, Joint(name) if isinstance(name, tuple) else name, as_mapping(given)
    if len(given) != 2:
        raise InvalidParameter(
            "a margin must be its totals, or the pair of a column and its totals",
            parameter=f"len({shown})",
            value=len(given),
            hint='{"sex": {"f": 510, "m": 490}}, or {"sex": (column, {"f": 510, "m": 490})}',
        )
    return shown, given[0], as_mapping(given[1])


def _are_names(columns: Any) -> bool:
    return isinstance(columns, (list, tuple)) and len(columns) > 0 and all(map(is_name, columns))


def _replicate_table(columns: Any, n: int) -> Floats:
    """Replicate weights as numbers, a row for each report."""
    table = numbers(columns, "replicate_weights")
    if table.ndim != 2 or table.shape[0] != n or table.shape[1] < 2:
        raise InvalidParameter(
            f"replicate_weights must have {n} rows, one for each report, and at least two columns",
            parameter="replicate_weights.shape",
            value=table.shape,
        )
    return table


def _refuse_crossing(pairs: int, clusters: int) -> None:
    """Raise where a cluster has members in several strata: it was drawn whole, or its number is used again."""
    if pairs > clusters:
        raise InvalidParameter(
            "every cluster must lie in one stratum",
            parameter="clusters in several strata",
            value=f"{clusters} clusters make {pairs} combinations with strata",
            hint='If numbers of clusters start again in each stratum: cluster=("stratum", "cluster"), the names of '
            "both columns. If clusters were drawn across strata, leave strata out, or rake to them.",
        )


def _refuse_alone(sample: Sample, units: int, strata: int) -> None:
    """Raise where no stratum shows how units differ; replicate weights show it themselves."""
    what = "respondent" if sample.cluster is None else "cluster"
    if sample.cluster is not None and units == 1:
        raise InvalidParameter(
            "there must be at least two clusters: one shows no differences between clusters",
            parameter="number of clusters",
            value=1,
        )
    if 1 < units == strata:
        raise InvalidParameter(
            f"a stratum must have at least two {what}s: with one in each they show no differences within strata",
            parameter=f"{what}s, strata",
            value=(units, strata),
            hint="Merge strata that are alike.",
        )


def _column(source: Any, column: Any, parameter: str) -> Any:
    """As `column_of`, of what may not be given."""
    return None if column is None else column_of(source, column, parameter)


def _columns(source: Any, column: Any, parameter: str) -> Any:
    """The same where several names are the combinations of their columns."""
    if not isinstance(column, Joint):
        names = names_of(source)
        if not (names and _are_names(column) and len(set(column)) == len(column) and set(column) <= set(names)):
            return _column(source, column, parameter)
        column = Joint(tuple(column))
    return Joint(tuple(_column(source, one, parameter) for one in column.columns))
