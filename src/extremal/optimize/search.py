"""Column generation: the one loop of all searches by columns.

A `Master` mixes the columns found so far as well as they can be; its duals are a *point*, a price for each row. A
`Pricing` is asked at a point for columns worth more than they cost, and for a bound that the point proves: no mixture
is worth more. Points are taken between the master's duals and the best one so far (smoothing, Wentges 1997): near the
master while that brings no better bound, nearer to the best one while it does. Whatever is found is a proposal: bounds
are derived again from the proofs that the points make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.optimize.problem import GAIN, KEPT, NO_CHANGE, NOT_ZERO, Problem
from extremal.solver import TIME_LIMIT, Answer, LinearProgram, SolverFailed

Floats = npt.NDArray[np.float64]
Columns = tuple[Floats, Floats]
"""Columns as rows of an array, and what each is worth."""

MOST_TURNS = 3_000  # a guard: a search ends when no column is found, the gap is closed or time is up
PROGRESS = 0.9  # of the gap: what counts as progress to a patient search
SHARE, MOST_SHARE = 0.5, 0.9  # of the best point in the one that is priced: at first, and at most
UP, DOWN = 0.1, 0.05  # by how much the share grows after a better bound, and falls otherwise
FAINT = 0.06  # a share that is halved below this is 0: the master's own point is priced
SAME_COLUMN = 10  # digits by which columns are told apart whose fractional entries are rounded on the way


@dataclass(frozen=True, eq=False)
class Priced:
    """What is known at a point.

    Attributes:
        point: the prices.
        columns, values: columns that are worth more than they cost, and what they are worth.
        bound: no mixture is worth more; ∞ where pricing gives no bound.
        raised: the point made feasible, so that no column is worth more than its price; points are smoothed towards it.
        kept: what the proof needs.
    """

    point: Floats
    columns: Floats
    values: Floats
    bound: float = inf
    raised: Floats | None = None
    kept: Any = None

    @classmethod
    def nothing(cls, rows: int) -> Priced:
        """What is known before anything is priced."""
        return cls(np.zeros(rows), np.zeros((0, rows)), np.zeros(0))


class Pricing:
    """What a notion and a goal bring to the search; only `price` must be written."""

    most = 1 << 20  # columns added at a time; by default all

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        """Columns and the bound at a point; bounds above `best` are of no use."""
        raise NotImplementedError

    def others(self, master: Master) -> Iterable[Floats]:
        """Further points to price in the same turn."""
        return ()

    def explore(self, point: Floats, master: Master, gap: float) -> Iterable[Columns]:
        """Further columns, cheaply found: many at once spare solutions of the master program."""
        return ()

    def widen(self, master: Master) -> bool:
        """Search harder from now on; False when that is not possible."""
        return False


class Master:
    """max Σ θ·value s.t. the mixture of columns lies between `lower` and `upper` in each row, θ ≥ 0, over the columns
    found so far.

    Args:
        lower, upper: of each row, as the solver has it.
        rows: what each row is multiplied by for the solver.
        unit: of the weights: the solver's variables are θ/unit.
        admits: which of some columns are columns at all.
        digits: by which columns are told apart; None for all of them.

    Attributes:
        value, point: of the best mixture, and its duals as prices of the rows.
    """

    def __init__(
        self,
        lower: Floats,
        upper: Floats,
        rows: Floats | float = 1.0,
        unit: float = 1.0,
        admits: Callable[[Floats], npt.NDArray[np.bool_]] | None = None,
        digits: int | None = None,
    ) -> None:
        self._sides = lower, upper
        self._rows, self._unit, self._admits, self._digits = np.broadcast_to(rows, lower.shape), unit, admits, digits
        self._program = LinearProgram(lower, upper)
        self._known: set[bytes] = set()
        self._columns: list[Floats] = [np.zeros((0, lower.size))]
        self._added: list[Columns] = []  # as the solver has them, fixed ones too
        self._fixed: list[int] = []
        self._size = 0
        self._answer: Answer | None = None
        self.value, self.point = 0.0, np.zeros(lower.size)

    @property
    def columns(self) -> Floats:
        """All columns so far, as rows."""
        if len(self._columns) > 1:
            self._columns = [np.vstack(self._columns)]
        return self._columns[0]

    def fix(self, columns: Floats, values: Floats) -> None:
        """Variables of the program that are no columns of a mechanism, in the solver's units."""
        self._fixed += range(self._size, self._size + len(columns))
        self._append(columns, values)

    def add(self, columns: Floats, values: Floats) -> int:
        """Append the columns that are new; how many there were."""
        proper = np.isfinite(values)  # not where rounding made an entry 0
        if self._admits is not None:
            proper &= self._admits(columns)
        fresh = []
        for i, row in enumerate(columns if self._digits is None else np.round(columns, self._digits)):
            key = row.tobytes()
            if proper[i] and key not in self._known:
                self._known.add(key)
                fresh.append(i)
        if fresh:
            self._columns.append(columns[fresh])
            self._append(columns[fresh] * self._rows, self._unit * values[fresh])
        return len(fresh)

    def _append(self, columns: Floats, values: Floats) -> None:
        self._size += len(columns)
        self._added.append((columns, values))
        self._program.add(columns.T, values)

    def improve(self, columns: Floats, values: Floats, most: int, point: Floats | None = None) -> int:
        """Append the columns that are worth more than a point (the current one unless told) asks for them, the best
        ones first; how many were new."""
        gain = values - columns @ (self.point if point is None else point)
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > GAIN * max(abs(self.value), NOT_ZERO)][:most]
        return self.add(columns[order], values[order]) if order.size else 0

    def solve(self, seconds: float | None = None, polish: bool = False) -> bool:
        """Find the best mixture of the columns so far; False when the solver finds none, and what was known stays."""
        try:
            answer = self._program.solve(seconds)
        except SolverFailed as failure:
            if failure.value == TIME_LIMIT:
                return False
            try:
                answer = self._solve_anew(seconds)
            except SolverFailed:
                return False
        self._take(self._program.polished(answer) if polish else answer)
        return True

    def _solve_anew(self, seconds: float | None) -> Answer:
        """What the solver keeps of earlier vertices may mislead it: once more with all columns at once."""
        self._program = LinearProgram(*self._sides)
        for columns, values in self._added:
            self._program.add(columns.T, values)
        return self._program.solve(seconds)

    def polish(self) -> None:
        """The last vertex once more, to the last digit; not when the solver has left it in vain."""
        if self._answer is not None and self._answer.x.size == self._size:
            self._take(self._program.polished(self._answer))

    def _take(self, answer: Answer) -> None:
        self._answer = answer
        self.value, self.point = answer.value, answer.duals * self._rows / self._unit

    @property
    def weights(self) -> Floats:
        """θ of each column; those that were added after the last answer have none yet."""
        if self._answer is None:
            return np.zeros(0)
        return np.delete(self._answer.x, self._fixed) * self._unit

    def mixture(self) -> tuple[Floats, Floats]:
        """(columns, weights) of the current vertex."""
        weights = self.weights
        used = np.flatnonzero(weights > KEPT * weights.max(initial=0.0))
        return self.columns[used], weights[used]


@dataclass(frozen=True)
class Limits:
    """When a search ends, and whom it tells how far it is.

    Attributes:
        tolerance: the relative gap at which to stop.
        stop: whether time is up.
        tell: is told the gap.
        seconds: for one solution of the master program.
        known: an upper bound known otherwise.
        patience: turns without progress after which to stop.
    """

    tolerance: float
    stop: Callable[[], bool]
    tell: Callable[[float], None]
    seconds: Callable[[], float | None]
    known: float = inf
    patience: int = MOST_TURNS

    def reached(self, gap: float) -> bool:
        return gap <= self.tolerance or self.stop()

    @classmethod
    def of(cls, problem: Problem, doing: str) -> Limits:
        """A quarter of the tolerance: the rest is for rounding of the weights."""
        return cls(
            problem.tolerance / 4,
            lambda: problem.out_of_time,
            lambda gap: problem.progress(doing, gap),
            lambda: problem.seconds_left,
        )


def relative_gap(upper: float, value: float) -> float:
    """0 when there is nothing to gain, 1 when no bound is known."""
    return (upper - value) / upper if 0 < upper < inf else float(upper > 0)


@dataclass(frozen=True)
class _Waiting:
    """How many turns brought no progress, and the gap at the last that did."""

    turns: int = 0
    gap: float = inf

    def after(self, gap: float) -> _Waiting:
        return _Waiting(0, gap) if gap < PROGRESS * self.gap else _Waiting(self.turns + 1, self.gap)


def generate(
    master: Master,
    pricing: Pricing,
    first: Priced,
    limits: Limits,
    *,
    share: float = SHARE,
    polish: bool = False,
    watch: Callable[[Priced], None] = lambda _: None,
) -> Priced:
    """The point with the smallest bound; `master` then holds the best mixture.

    Turns are made until the two (or a bound known otherwise) meet within the tolerance, nothing moves, or time is up.

    Args:
        master: with first columns, solved.
        pricing: what finds columns and bounds.
        first: the best point so far.
        limits: when to end.
        share: of the best point at first; 0 where nothing is to be smoothed.
        polish: whether the master's vertices are computed to the last digit.
        watch: is told every better point, so that an interrupted search keeps it.
    """
    best, waiting = first, _Waiting()
    for _ in range(MOST_TURNS):
        gap = relative_gap(min(best.bound, limits.known), master.value)
        limits.tell(gap)
        if waiting.turns > limits.patience or limits.reached(gap):
            break
        waiting = waiting.after(gap)
        point = master.point if best.raised is None else share * best.raised + (1 - share) * master.point
        found, added = _priced(master, pricing, point, gap, best)
        better, best = found is not best, found
        if better:
            watch(best)
        if not added and share > 0 and best.raised is not None:
            share = share / 2 if share > FAINT else 0.0
            continue
        if added:
            share = min(MOST_SHARE, share + UP) if better else max(0.0, share - DOWN)
        elif not pricing.widen(master):
            break
        if not master.solve(limits.seconds(), polish):
            break
    return best


def _priced(master: Master, pricing: Pricing, point: Floats, gap: float, best: Priced) -> tuple[Priced, int]:
    """The best point after a turn at `point` and the others that pricing asks for, and how many columns came."""
    added = 0
    for at in (point, *pricing.others(master)):
        found = pricing.price(at, gap, best.bound)
        if found.bound < best.bound * (1 - NO_CHANGE):
            best = found
        added += master.improve(found.columns, found.values, pricing.most)
    for columns, values in pricing.explore(point, master, gap):
        added += master.improve(columns, values, pricing.most)
    return best, added
