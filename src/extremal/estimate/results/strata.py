"""Estimates by stratum: one of each, the differences between them, and the whole population put together.

Strata are independent, and differences are not: those of two pairs that share a stratum move together,
Cov(p_b − p_a, p_c − p_a) = Cov(p_a).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.intervals.levels import each
from extremal.estimate.reports.described import as_mapping, refuse_partial
from extremal.estimate.results import display, plot
from extremal.estimate.results.combined import CombinedEstimate
from extremal.estimate.results.tabled import Tabled, pandas, short
from extremal.exact.weights import Floats
from extremal.tables import html

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate

MOST_ROWS = 200  # of a table in a notebook


class StratifiedEstimate(Tabled, Mapping[Any, "FrequencyEstimate"]):
    """One FrequencyEstimate for each stratum, from `ex.estimate_frequencies(…, by=…)`.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> ex.estimate_frequencies([0, 1, 0, 1], m, by=["north", "north", "south", "south"])["south"].n
    2
    """

    def __init__(self, estimates: Mapping[Any, FrequencyEstimate], omitted: Mapping[Any, int] | None = None) -> None:
        self._estimates: dict[Any, FrequencyEstimate] = dict(estimates)
        self.omitted: dict[Any, int] = dict(omitted or {})
        """Strata with fewer than two reports, which were not estimated, and how many they have."""

    def __getitem__(self, stratum: Any) -> FrequencyEstimate:
        try:
            return self._estimates[stratum]
        except (KeyError, TypeError):
            raise UnknownLabel("there must be reports in that stratum", parameter="stratum", value=stratum) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._estimates)

    def __len__(self) -> int:
        return len(self._estimates)

    def __contains__(self, stratum: object) -> bool:
        return stratum in self._estimates

    def differences(self, reference: Any = None) -> Differences:
        """Of every pair of strata, the later minus the earlier; with `reference`, of every other stratum minus it."""
        names = list(self)
        if len(names) < 2:
            raise InvalidParameter("there must be two strata to compare", parameter="strata", value=len(names))
        if reference is None:
            return Differences(self, [(b, a) for i, a in enumerate(names) for b in names[i + 1 :]])
        self[reference]  # refuses what is no stratum
        return Differences(self, [(name, reference) for name in names if name != reference])

    def poststratified(self, population: Mapping[Any, float]) -> CombinedEstimate:
        """Frequencies of the whole population, from those of its strata and their known sizes: Σ N_h p_h / Σ N_h."""
        population = _by_stratum(population)
        absent = [name for name in {**dict.fromkeys(self), **population} if not (name in self and name in population)]
        if absent:
            raise UnknownLabel(
                "population must have a size for every estimated stratum, and no other",
                parameter="stratum",
                value=absent[0],
            )
        sizes = {name: float(population[name]) for name in self}
        if not all(size > 0 and size < float("inf") for size in sizes.values()):
            raise InvalidParameter(
                "population must hold positive sizes", parameter="population", value=list(sizes.values())
            )
        refuse_partial(np.array(list(sizes.values())), "population")
        total = sum(sizes.values())
        return CombinedEstimate.of([(size / total, self[name]) for name, size in sizes.items()], "post-stratified")

    @property
    def labels(self) -> tuple[Any, ...]:
        """(stratum, input) of each row; a stratum of several columns takes as many places."""
        return tuple((*_parts(name), label) for name, one in self.items() for label in one.inputs)

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"frequencies in {len(self)} strata"

    @property
    def estimate(self) -> Floats:
        """The frequencies of each stratum in turn; `.reshape(len(strata), -1)` has a row for each."""
        return np.concatenate([one.estimate for one in self.values()])

    @property
    def n(self) -> int:  # type: ignore[override]
        """Reports of all strata that were estimated."""
        return sum(one.n for one in self.values())

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words."""
        return " and ".join(dict.fromkeys(one.sample for one in self.values() if one.sample))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know, in sentences, each once."""
        return tuple(dict.fromkeys(note for one in self.values() for note in one.notes))

    @property
    def standard_error(self) -> Floats:
        """Of each row."""
        return np.concatenate([one.standard_error for one in self.values()])

    @property
    def covariance(self) -> Floats:
        """Of all rows: strata are independent."""
        blocks = [one.covariance for one in self.values()]
        whole, size = np.zeros((len(self.labels), len(self.labels))), len(blocks[0])
        for i, block in enumerate(blocks):
            whole[i * size : (i + 1) * size, i * size : (i + 1) * size] = block
        return whole

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Confidence limits, one row (low, high) for each input of each stratum in turn; `simultaneous` within each
        stratum, as in `to_frame`."""
        return np.concatenate([one.interval(level, simultaneous) for one in self.values()])

    def shown_within(self, limits: Floats) -> Floats:
        """The points that belong beside these limits, of each stratum in turn."""
        of_each = np.split(limits, len(self))
        return np.concatenate([one.shown_within(own) for one, own in zip(self.values(), of_each, strict=True)])

    @property
    def _index(self) -> Any:
        return pandas().MultiIndex.from_tuples(list(self.labels))

    def to_frame(
        self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas", robustness: bool = False
    ) -> Any:
        """The strata's frames on top of each other, with a column `stratum` (or stratum_1, … for several)."""
        names = [_parts(name) for name in self]
        columns = ("stratum",) if len(names[0]) == 1 else tuple(f"stratum_{i + 1}" for i in range(len(names[0])))
        results = list(zip(names, self.values(), strict=True))
        return display.frame(results, columns, level, simultaneous, library, robustness)

    def summary(self, level: float = 0.95, simultaneous: bool = False, robustness: bool = False) -> str:
        """Every stratum's summary, and which strata were left out."""
        parts = [self.head]
        parts += [f"stratum {name!r}\n{one.summary(level, simultaneous, robustness)}" for name, one in self.items()]
        parts += [f"stratum {name!r}: not estimated, {n} report" for name, n in self.omitted.items()]
        return "\n\n".join(parts)

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None) -> Any:
        """All strata in one picture."""
        rows = [result.rows_drawn(str(name), level, simultaneous) for name, result in self.items()]
        first = next(iter(self.values())).candidate[0]
        title = f"{first} frequencies, n = {sum(result.n for result in self.values())} reports"
        return plot.plot(rows, title, plot.SHARE, level, simultaneous, ax, points=first)

    def _repr_html_(self) -> str:
        left_out = [f"stratum {name!r}: not estimated, {n} report" for name, n in self.omitted.items()]
        rows = [
            [str(name), str(one.n), short(label), f"{point:.4f}", f"{low:.4f} to {high:.4f}"]
            for name, one in self.items()
            for label, point, (low, high) in zip(one.inputs, one.shown, one.interval().tolist(), strict=True)
        ]
        more = [f"… {len(rows) - MOST_ROWS} more: use to_frame()"] if len(rows) > MOST_ROWS else []
        header = ["stratum", "reports", "input", "frequency", "95% interval"]
        return html(header, rows[:MOST_ROWS], "Frequencies by stratum", [*more, *left_out])

    def __repr__(self) -> str:
        return f"StratifiedEstimate({{{', '.join(f'{name!r}: n={result.n}' for name, result in self.items())}}})"


def _parts(name: Any) -> tuple[Any, ...]:
    """What a stratum is called, one name for each column."""
    return name if isinstance(name, tuple) else (name,)


def _by_stratum(population: Any) -> Mapping[Any, float]:
    given = as_mapping(population)
    if not isinstance(given, Mapping):
        raise InvalidParameter(
            "population must map each stratum to its size, once", parameter="population", value=type(given).__name__
        )
    return given


class Differences(Tabled, Mapping[tuple[Any, Any], CombinedEstimate]):
    """Differences of frequencies between strata: a mapping from (stratum, the one taken away) to `CombinedEstimate`,
    and one table of all.

    Made by `StratifiedEstimate.differences`.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> by = ex.estimate_frequencies([0, 1, 1, 1] * 50, m, by=["north", "north", "south", "south"] * 50)
    >>> list(by.differences()), by.differences()["south", "north"].estimate.round(2).tolist()
    ([('south', 'north')], [-1.08, 1.08])
    """

    column = "difference"

    def __init__(self, strata: StratifiedEstimate, pairs: Sequence[tuple[Any, Any]]) -> None:
        self._strata = {name: strata[name] for name in strata if any(name in pair for pair in pairs)}
        self._pairs = {(b, a): strata[b].difference(strata[a]) for b, a in pairs}

    def __getitem__(self, pair: tuple[Any, Any]) -> CombinedEstimate:
        try:
            return self._pairs[pair]
        except (KeyError, TypeError):
            raise UnknownLabel(
                "there must be a difference of that pair of strata",
                parameter="pair",
                value=pair,
                hint="The pair is (stratum, the one taken away); list(differences) has all.",
            ) from None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def labels(self) -> tuple[Any, ...]:
        """(stratum, the one taken away, input) of each row."""
        return tuple((b, a, label) for (b, a), one in self.items() for label in one.inputs)

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"differences of frequencies between {len(self._strata)} strata"

    @property
    def estimate(self) -> Floats:
        """One number for each row."""
        return np.concatenate([one.estimate for one in self.values()])

    @property
    def n(self) -> int:  # type: ignore[override]
        """How many reports, of all strata that are compared."""
        return sum(one.n for one in self._strata.values())

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words."""
        return " and ".join(dict.fromkeys(one.sample for one in self._strata.values() if one.sample))

    @property
    def standard_error(self) -> Floats:
        """Of each row."""
        return np.concatenate([one.standard_error for one in self.values()])

    @cached_property
    def covariance(self) -> Floats:
        """Of all rows: pairs that share a stratum share its covariance."""
        signs = np.array([[(name == b) - (name == a) for name in self._strata] for b, a in self], dtype=np.float64)
        parts = zip(signs.T, self._strata.values(), strict=True)
        return np.asarray(sum(np.kron(np.outer(sign, sign), one.covariance) for sign, one in parts))

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Confidence limits, one row (low, high) for each; `simultaneous` by Bonferroni over all pairs and inputs."""
        count = len(next(iter(self.values())).inputs)
        of_each = each(level, len(self) * (count if count > 2 else 1) if simultaneous else 1)
        return np.concatenate([one.interval(of_each) for one in self.values()])

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None) -> Any:
        """All pairs in one picture."""
        limits = np.split(self.interval(level, simultaneous), len(self))
        rows = [
            plot.Bars(f"{b} − {a}", one.inputs, one.shown_within(own), own)
            for ((b, a), one), own in zip(self.items(), limits, strict=True)
        ]
        return plot.plot(rows, self.head, self.column, level, simultaneous, ax)

    @property
    def _index(self) -> Any:
        return pandas().MultiIndex.from_tuples(list(self.labels))

    def _keys(self) -> dict[str, list[Any]]:
        later, earlier, inputs = zip(*self.labels, strict=True)
        return {"stratum": list(later), "minus": list(earlier), "input": list(inputs)}

    def _named(self, label: Any) -> str:
        later, earlier, answer = label
        return f"{short(later)} − {short(earlier)}: {short(answer)}"

    def __repr__(self) -> str:
        return f"Differences({list(self)}, n={self.n})"
