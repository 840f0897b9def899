"""The optimum and the closed forms over a grid of privacy levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from extremal.certificate import NotKnown, enclosure
from extremal.closed_forms.forms import curve_values
from extremal.errors import ExtremalError, InvalidParameter, TooLarge, UnknownLabel
from extremal.estimate.expected import statistics_variance
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import ChosenSets
from extremal.mechanism.structures.bits import IndependentBits
from extremal.optimize.design import PATIENCE, TIME_LIMIT, Design, design
from extremal.optimize.problem import Progress
from extremal.plotting import COLOURS, MARKERS, colour_of, draw_curve, figure, label_ends, plain_ticks
from extremal.privacy import LDP, LIP, PML, MetricPrivacy, Notion
from extremal.progress import ProgressLine
from extremal.tables import aligned, as_frame, how_many, html, number
from extremal.utility import Frequencies, MutualInformation, Utility, Workload
from extremal.utility.curve import InformationCurve

OPTIMUM = "optimum"
_TICKS = [a * 10**b for b in range(-6, 3) for a in (1, 2, 5)]
_DASHES = ((1, 0), (5, 1.5), (1.5, 1.5), (7, 2, 1.5, 2))  # curves that coincide are seen through each other
_OPTIMUM_STYLE = {"color": "#111111", "marker": "", "linewidth": 6, "alpha": 0.3}  # curves on it are seen
_VALUE_TITLES = ("What can be kept", "What the mechanisms in use keep of it")
_COST_TITLES = ("What it takes at least", "What the mechanisms in use take")
TOO_MANY, NOT_IDENTIFIED = "too many reports to add up", "does not identify what is wanted"
MOST_BITS = 12  # of unary encoding whose words are still listed
WORST_SHOWN = 100  # times the optimum: what costs more is beyond the right panel of a picture


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """The optimum and the closed forms over ε. `str()` is a table for the terminal.

    Made by `ex.tradeoff`.

    Attributes:
        utility: what was optimised.
        epsilons: the grid.
        designs: the design at each ε.
        values: name → value at each ε (None: not applicable there); the first is the optimum.
        left_out: name → why, for closed forms that have no value at any ε.
        limits: name → what no mechanism exceeds at each ε: of information, the entropy and the limit of any prior.

    >>> import extremal as ex
    >>> curve = ex.tradeoff(ex.LDP, ex.KL([0.7, 0.3], [0.4, 0.6]), [1])
    >>> curve.epsilons, curve.left_out["local hashing"]
    ((1.0,), 'too many reports to add up')
    """

    utility: Utility
    epsilons: tuple[float, ...]
    designs: tuple[Design, ...]
    values: dict[str, tuple[float | None, ...]]
    left_out: dict[str, str] = field(default_factory=dict)
    limits: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def ratios(self) -> dict[str, tuple[float | None, ...]]:
        """Each closed form's share of the optimum; of a cost, how many times the optimum it is."""
        best = self.values[OPTIMUM]
        return {
            name: tuple(None if v is None or not b else v / b for v, b in zip(row, best, strict=True))
            for name, row in self.values.items()
            if name != OPTIMUM
        }

    def to_frame(self) -> Any:
        """A data frame: ε, the values, the optimum's gap and bound, limits, and each form's share of the optimum."""
        columns: dict[str, Any] = {
            "epsilon": list(self.epsilons),
            **{name: list(row) for name, row in self.values.items()},
            "gap": [d.gap for d in self.designs],
            "bound": [d.lower_bound if self.utility.is_cost else d.upper_bound for d in self.designs],
            **{name: list(row) for name, row in self.limits.items()},
        }
        return as_frame({**columns, **{f"{name} / optimum": list(row) for name, row in self.ratios.items()}})

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        body = [
            [OPTIMUM, *(number(v) for v in self.values[OPTIMUM])],
            ["its gap", *(f"{d.gap:.0e}" for d in self.designs)],
            ["its reports", *(how_many(d.mechanism.m) for d in self.designs)],
            *([name, *(number(v) for v in row)] for name, row in self.limits.items()),
            *([name, *(number(v, 4) for v in row)] for name, row in self.ratios.items()),
        ]
        return ["ε", *(number(e, 4) for e in self.epsilons)], body

    def _title(self) -> str:
        if isinstance(self.utility, Workload):
            return f"{self.utility.name}: n·MSE of the optimum, and how many times its respondents each other needs"
        cost = self.utility.is_cost
        reached = "how many times it each closed form has" if cost else "the share of it that each closed form reaches"
        return f"{self.utility.name}: the optimum, and {reached}"

    def _below(self) -> list[str]:
        return [
            f"left out ({why}): {', '.join(name for name, reason in self.left_out.items() if reason == why)}"
            for why in dict.fromkeys(self.left_out.values())
        ]

    def __str__(self) -> str:
        return "\n".join([self._title(), "", aligned(*self._cells(), left=1), *self._below()])

    def _repr_html_(self) -> str:
        return html(*self._cells(), caption=self._title(), below=self._below())

    def plot(self) -> Any:
        """Values on the left, shares of the optimum on the right (of a cost: times the optimum), against ε; a
        matplotlib figure. Of a cost, what is far above the optimum is beyond the picture, and its label says so."""
        drawn, (left, right) = figure(width=11.0, height=5.0, columns=2)
        draw_curve(left, self.epsilons, self.values[OPTIMUM], 0, OPTIMUM, **_OPTIMUM_STYLE)
        for j, (name, row) in enumerate(self.ratios.items()):
            label = f"{name} (above the picture)" if self._beyond(row) else name
            draw_curve(left, self.epsilons, self.values[name], j, label, **_style(j, name))
            draw_curve(right, self.epsilons, row, j, label, **_style(j, name))
        for name, limit in self.limits.items():
            dashes = ":" if len(set(limit)) == 1 else "--"
            draw_curve(left, self.epsilons, limit, 0, name, color="#999999", marker="", linestyle=dashes)
        cost, named = self.utility.is_cost, self.utility.unit or self.utility.name
        titles = _COST_TITLES if cost else _VALUE_TITLES
        labels = (self.utility.label, f"{named}, optimum = 1" if cost else "share of the optimum")
        for axis, title, said in zip((left, right), titles, labels, strict=True):
            axis.set_xlabel("ε (nats)")
            axis.set_ylabel(said)
            axis.set_title(title, fontsize="medium")
            _spread(axis, self.epsilons)
        if cost:
            self._cut(left, right)
        label_ends(right)
        return drawn

    def _beyond(self, ratios: Sequence[float | None]) -> bool:
        """Whether all of a curve lies above the picture of a cost."""
        return self.utility.is_cost and all(r is None or r > WORST_SHOWN for r in ratios)

    def _cut(self, left: Any, right: Any) -> None:
        """Axes of a cost up to its worst that is shown."""
        positive = [v for v in self.values[OPTIMUM] if v]
        if not positive:
            return
        most = min(WORST_SHOWN, max((r for row in self.ratios.values() for r in row if _shown(r)), default=1.0))
        for axis, lowest, highest in ((left, min(positive), most * max(positive)), (right, 1.0, most)):
            plain_ticks(axis.yaxis, [lowest, highest])
            axis.set_ylim(0.9 * lowest, 1.1 * highest)


def _style(j: int, name: str) -> dict[str, Any]:
    """The style of the j-th closed form; a second round of colours has hollow markers and other dashes."""
    again, i = divmod(j, len(COLOURS))
    colour = colour_of(name, i)
    return {
        "color": colour,
        "marker": MARKERS[(i + 3 * again) % len(MARKERS)],
        "markersize": 5,
        "markerfacecolor": "white" if again else colour,
        "linewidth": 1.3,
        "dashes": _DASHES[(i + again) % len(_DASHES)],
    }


def _shown(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _spread(axis: Any, epsilons: Sequence[float]) -> None:
    """A logarithmic axis where the grid spans more than a decade."""
    least, most = min(epsilons), max(epsilons)
    if 0 < 20 * least < most:
        axis.set_xscale("log")
        ticks = [e for e in _TICKS if least <= e <= most]
        axis.set_xticks(ticks, [f"{e:g}" for e in ticks])
        axis.minorticks_off()


def tradeoff(
    privacy: Callable[[float], Notion],
    utility: Utility,
    epsilons: Sequence[float],
    progress: Progress | None = None,
    *,
    tolerance: float = 1e-9,
    time_limit: float | None = TIME_LIMIT,
) -> Tradeoff:
    """Compute the optimum at each ε, beside the closed forms that satisfy the same notion.

    Guarantee: each optimum comes with its gap; the closed forms are evaluated on their exact weights. Where a form has
    too many reports to list, n·MSE of a workload is that of its usual unbiased estimate.

    Args:
        privacy: ε ↦ notion: `ex.LDP`, or `lambda epsilon: ex.PML(epsilon, prior)`. With mutual information `ex.PML` and
            `ex.LIP` alone take the prior of the utility.
        utility: what to maximise.
        epsilons: the grid, in nats.
        progress: called with "ε = …" and the share done; by default a line on a terminal after two seconds.
        tolerance, time_limit: of each design.

    Reference: the figures of KOV are such curves. The limit of any prior is proven in docs/design/information.md.

    >>> import extremal as ex
    >>> curve = ex.tradeoff(ex.LDP, ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), [0.5, 1, 2])
    >>> [round(v, 4) for v in curve.ratios["binary"]]
    [1.0, 1.0, 1.0]
    """
    grid = tuple(float(e) for e in epsilons)
    if not grid:
        raise InvalidParameter("epsilons must hold at least one level", parameter="epsilons", value=epsilons)
    notions = [*map(_of_epsilon(privacy, utility), grid)]
    designs, rows = [], []
    with ProgressLine(PATIENCE) as line:
        for i, (epsilon, notion) in enumerate(zip(grid, notions, strict=True)):
            (line.share if progress is None else progress)(f"ε = {epsilon:g}", i / len(grid))
            found = design(notion, utility, tolerance=tolerance, time_limit=time_limit)
            designs.append(found)
            rows.append({OPTIMUM: found.value, **curve_values(utility, notion, value=partial(value_of, utility))})
    values = {name: tuple(row.get(name) for row in rows) for name in dict.fromkeys(chain.from_iterable(rows))}
    left_out = _left_out(values)
    shown = {name: row for name, row in values.items() if name not in left_out}
    return Tradeoff(utility, grid, tuple(designs), shown, left_out, _limits(notions, utility))


def _limits(notions: Sequence[Notion], utility: Utility) -> dict[str, tuple[float, ...]]:
    """Limits of information: the entropy, and under ε-LDP m − 1 − ln m with m = ε/(1 − e^−ε)."""
    if not isinstance(utility, MutualInformation):
        return {}
    p = utility.prior.values[utility.prior.values > 0]
    limits = {"entropy of the prior": (-math.fsum(p * np.log(p)),) * len(notions)}
    if all(isinstance(notion, LDP) and notion.epsilon and not notion.delta for notion in notions):
        limits["limit of any prior"] = tuple(InformationCurve(notion.epsilon).limit for notion in notions)
    return limits


def _left_out(values: dict[str, tuple[float | None, ...]]) -> dict[str, str]:
    """Forms without a value at any ε, and why."""
    empty = {name: row for name, row in values.items() if name != OPTIMUM and not any(map(_shown, row))}
    return {name: TOO_MANY if set(row) == {None} else NOT_IDENTIFIED for name, row in empty.items()}


def _of_epsilon(privacy: Any, utility: Utility) -> Callable[[float], Notion]:
    """ε ↦ notion; a notion about a prior takes that of the utility, if it has one."""
    if isinstance(privacy, type) and issubclass(privacy, (PML, LIP)) and isinstance(utility, MutualInformation):
        return lambda epsilon: privacy(epsilon, utility.prior)
    if not callable(privacy) or (isinstance(privacy, type) and issubclass(privacy, (PML, LIP, MetricPrivacy))):
        raise InvalidParameter(
            "privacy must give a notion for every ε",
            parameter="privacy",
            value=getattr(privacy, "__name__", privacy),
            hint="ex.LDP, or for instance lambda epsilon: ex.PML(epsilon, prior).",
        )
    return cast("Callable[[float], Notion]", privacy)


def value_of(utility: Utility, mechanism: Mechanism) -> float | None:
    """The value on the exact weights; None where it cannot be had.

    Where the reports are too many to list, a workload at one prior has n × the mean squared error of the usual unbiased
    estimate. Words of up to 12 independent bits are listed; utilities of more reports than that have no value.

    >>> import extremal as ex
    >>> value_of(ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), ex.local_hashing(3, 1)) is None
    True
    >>> round(value_of(ex.Frequencies(100), ex.unary_encoding(100, 1)), 3)
    370.259
    """
    try:
        return utility(mechanism)
    except (TooLarge, UnknownLabel):  # too many reports to add up, or reports that no distortion is defined for
        pass
    structure = mechanism.structure
    try:
        if isinstance(utility, Frequencies) and isinstance(structure, ChosenSets):
            with suppress(NotKnown):
                return float(enclosure(utility, mechanism)[1])
        if isinstance(utility, Workload) and utility.prior is not None:
            return statistics_variance(mechanism, utility.rows, utility.prior.values)
        if isinstance(structure, IndependentBits) and structure.r <= MOST_BITS and mechanism.row_of is None:
            return utility(_all_words(structure))
    except ExtremalError:  # single inputs are not told apart, or bits mean nothing to this utility
        pass
    return None


def _all_words(bits: IndependentBits) -> npt.NDArray[np.float64]:
    """Q of every word of bits, a row for each input."""
    own, other = bits.own / bits.denominator, bits.other / bits.denominator
    word = np.arange(bits.m)[None, :] >> np.arange(bits.r)[:, None] & 1
    rest = word.sum(axis=0) - word  # ones among the bits of other inputs
    return np.asarray(np.where(word, own, 1 - own) * other**rest * (1 - other) ** (bits.r - 1 - rest))
