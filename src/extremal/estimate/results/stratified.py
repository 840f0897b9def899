"""Estimates by stratum: a mapping from stratum to FrequencyEstimate, in the order of first appearance or sorted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.results import display, plot
from extremal.estimate.results.combined import CombinedEstimate
from extremal.estimate.results.display import short
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.tables import html

MOST_ROWS = 200  # of a table in a notebook


class StratifiedEstimate(Mapping[Any, FrequencyEstimate]):
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

    def differences(self, reference: Any = None) -> dict[tuple[Any, Any], CombinedEstimate]:
        """Of every pair of strata, the later minus the earlier; with `reference`, of every other stratum minus it."""
        names = list(self)
        if reference is not None:
            base = self[reference]
            return {(name, reference): self[name].difference(base) for name in names if name != reference}
        return {(b, a): self[b].difference(self[a]) for i, a in enumerate(names) for b in names[i + 1 :]}

    def poststratified(self, population: Mapping[Any, float]) -> CombinedEstimate:
        """Frequencies of the whole population, from those of its strata and their known sizes: Σ N_h p_h / Σ N_h."""
        absent = [name for name in self if name not in population] + [name for name in population if name not in self]
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
        total = sum(sizes.values())
        return CombinedEstimate.of([(size / total, self[name]) for name, size in sizes.items()], "post-stratified")

    def to_frame(self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas") -> Any:
        """The strata's frames on top of each other, with a column `stratum` (or stratum_1, … for several)."""
        names = [name if isinstance(name, tuple) else (name,) for name in self]
        columns = ("stratum",) if len(names[0]) == 1 else tuple(f"stratum_{i + 1}" for i in range(len(names[0])))
        return display.frame(list(zip(names, self.values(), strict=True)), columns, level, simultaneous, library)

    def summary(self, level: float = 0.95, simultaneous: bool = False, robustness: bool = False) -> str:
        """Every stratum's summary, and which strata were left out."""
        parts = [f"stratum {name!r}\n{one.summary(level, simultaneous, robustness)}" for name, one in self.items()]
        parts += [f"stratum {name!r}: not estimated, {n} report" for name, n in self.omitted.items()]
        return "\n\n".join(parts)

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None) -> Any:
        """All strata in one picture."""
        return plot.plot([(str(name), result) for name, result in self.items()], level, simultaneous, ax, None)

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
