"""Several estimates of the same inputs: by stratum, and weighted sums of them for differences and whole populations.

θ_x = Σ_i c_i p_x^(i) with variance Σ c_i² V_i. The limits use those of the parts, so that they stay honest at small
samples and near bounds: with (l_i, u_i) the limits of part i in the direction that c_i takes them,

    θ̂ − √Σ c_i²(p̂_i − l_i)²   to   θ̂ + √Σ c_i²(u_i − p̂_i)²

(the method of variance estimates recovery: Newcombe 1998 for differences of shares, Zou and Donner 2008 in general).

References: Newcombe, Statistics in Medicine 17 (1998), 873–890; Zou and Donner, Statistics in Medicine 27 (2008),
1693–1702.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.intervals.levels import each
from extremal.estimate.results import display, plot
from extremal.estimate.results.display import as_frame, short
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label
from extremal.tables import html, preformatted

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate

MOST_ROWS = 200  # of a table in a notebook


@dataclass(frozen=True, eq=False)
class CombinedEstimate:
    """For each input a weighted sum of its frequencies in several independent estimates.

    Made by `FrequencyEstimate.difference` and `StratifiedEstimate.poststratified` on `ex.estimate_frequencies`.

    Attributes:
        inputs: the labels, in order.
        estimate: Σ c_i × the unbiased (or one-step) frequency of part i.
        kind: what the sum is: "difference" or "post-stratified".

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> after, before = ex.estimate_frequencies({0: 50, 1: 50}, m), ex.estimate_frequencies({0: 60, 1: 40}, m)
    >>> after.difference(before).estimate.round(3).tolist()
    [-0.216, 0.216]
    """

    inputs: tuple[Label, ...]
    estimate: Floats
    kind: str
    parts: tuple[tuple[float, FrequencyEstimate], ...] = field(repr=False)

    @classmethod
    def of(cls, parts: Sequence[tuple[float, FrequencyEstimate]], kind: str) -> CombinedEstimate:
        """Refuses parts whose inputs differ."""
        first = parts[0][1]
        for _, part in parts[1:]:
            if part.inputs != first.inputs:
                raise InvalidParameter(
                    "both estimates must be of the same inputs in the same order",
                    parameter="inputs",
                    value=f"{len(part.inputs)} and {len(first.inputs)}",
                )
        estimate = sum((c * part.centre for c, part in parts), np.zeros(len(first.inputs)))
        return cls(first.inputs, np.asarray(estimate), kind, tuple(parts))

    @cached_property
    def standard_error(self) -> Floats:
        """√Σ c_i² V_i."""
        return np.sqrt(sum((c**2 * part.standard_error**2 for c, part in self.parts), np.zeros(len(self.inputs))))

    @cached_property
    def covariance(self) -> Floats:
        """Σ c_i² Cov_i."""
        size = len(self.inputs)
        return np.asarray(sum((c**2 * part.covariance for c, part in self.parts), np.zeros((size, size))))

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Confidence limits, one row (low, high) for each input; `simultaneous` by Bonferroni."""
        count = len(self.inputs)
        of_each = each(level, count if simultaneous and count > 2 else 1)
        middle, below, above = np.zeros(count), np.zeros(count), np.zeros(count)
        for c, part in self.parts:
            limits = part.interval(of_each)
            at = np.clip(part.centre, limits[:, 0], limits[:, 1])
            down, up = np.abs(c) * (at - limits[:, 0]), np.abs(c) * (limits[:, 1] - at)
            middle += c * at
            below += (down if c > 0 else up) ** 2
            above += (up if c > 0 else down) ** 2
        return np.column_stack([middle - np.sqrt(below), middle + np.sqrt(above)])

    def conf_int(self, alpha: float = 0.05) -> Floats:
        """`interval(1 − alpha)`."""
        return self.interval(1 - alpha)

    @property
    def shown(self) -> Floats:
        """The estimate, moved into its 95% interval."""
        limits = self.interval()
        return np.asarray(np.clip(self.estimate, limits[:, 0], limits[:, 1]))

    def to_frame(self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas") -> Any:
        """A data frame with a row for each input."""
        limits = self.interval(level, simultaneous)
        columns = {
            "input": list(self.inputs),
            self.kind.replace("-", "_"): np.clip(self.estimate, limits[:, 0], limits[:, 1]).tolist(),
            "standard_error": self.standard_error.tolist(),
            "low": limits[:, 0].tolist(),
            "high": limits[:, 1].tolist(),
        }
        return as_frame(columns, library)

    def summary(self, level: float = 0.95, simultaneous: bool = False) -> str:
        """A table for a terminal."""
        limits = self.interval(level, simultaneous)
        sizes = " and ".join(str(part.n) for _, part in self.parts)
        shown = np.clip(self.estimate, limits[:, 0], limits[:, 1])
        lines = [f"{self.kind}, from {sizes} reports; {100 * level:.4g}% intervals"]
        for x, label in enumerate(self.inputs[:40]):
            lines.append(f"{short(label):28s} {shown[x]:+.4f}  {limits[x, 0]:+.4f} to {limits[x, 1]:+.4f}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return preformatted(self.summary())


class StratifiedEstimate(Mapping[Any, "FrequencyEstimate"]):
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
