"""A dual vector for the full 2^k program of an f-divergence, in closed form from the best partition.

Let V be the worth of the best partition into blocks B_l, t_l = M₀/M₁ of the report of block l, and (σ_l, f*_l) the line
that supports f there. A column that is high on T is worth at most what it costs, μ(T) ≤ α·S_T with S_T = s + w·1_T,
when c_x(t) = f'(t)P₀(x) − f*(t)P₁(x) − α_x satisfies h(t) = Σ_x (s·c_x + w·c_x⁺) ≤ 0 for every t. At t_l an optimal α
leaves nothing, so that c ≥ 0 on B_l and c ≤ 0 off it:

    second(x) ≤ α_x ≤ own(x),  own(x) = σ_lP₀(x) − f*_lP₁(x) for x in B_l,  second(x) = the largest of the other lines.

The block sums Σ_{B_l} α = (μ(B_l) − sV)/w decide one number for each block: α = own − λ_l·(own − second) with
λ_l = (s/w)(V + f*_l − σ_l)/Σ_{B_l}(own − second). It lies between 0 and 1: moving every symbol of B_l to its second
best block gives a partition, worth at most V. Usually this α is feasible; where h is positive for some t between two of
the t_l, the sets met there are repaired by the least change, in the metric 1/(own − second), that keeps all block sums.

Nothing here is trusted: the kernel bounds what any α leaves, and a poor one gives a poor bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from extremal.optimize.divergence.cover import chords, node
from extremal.optimize.divergence.lorenz import BlockValue, Floats, Indices, Lorenz
from extremal.optimize.problem import NOT_ZERO, decimals
from extremal.utility import Divergence

Sets = npt.NDArray[np.bool_]

FIRST_PIECES = 3  # intervals between neighbouring t_l
MOST_LOGS = 600  # nodes of a proof: each is checked against every input
MOST_REPAIRS = 12  # a guard: each repairs what the last one left
SLACKS = (1e-5, 1e-7, 1e-9)  # of V, required of repaired sets: chords then have room
NARROWEST = 1e-6  # of an interval, relatively: a narrower one gains 1e-13 at most, and its chord is rounding
OUTWARD = 1e-9  # the first and the last node are this much outside the range, relatively to its width


@dataclass(frozen=True, eq=False)
class DualVector:
    """α, the nodes whose chords cover what it leaves, and how much that is for all columns at most."""

    alpha: Floats
    nodes: tuple[Fraction, ...]
    left: float


def dual_vector(
    utility: Divergence, lorenz: Lorenz, value: BlockValue, worth: float, cuts: Indices, tolerance: float
) -> DualVector:
    """α with 1·α = `worth` up to rounding; nodes are added until `tolerance` or less is left, or no node helps."""
    program = _Program.of(utility, lorenz, value, worth, cuts)
    alpha = program.alpha
    known: dict[bytes, Sets] = {}
    dual = program.covered(alpha, tolerance, known)
    for _ in range(MOST_REPAIRS):
        if dual.left <= tolerance or not known:
            break
        before = len(known)
        repaired = program.repaired(np.array(list(known.values())))
        found = program.covered(repaired, tolerance, known)
        if found.left < dual.left:
            dual = found
        elif len(known) == before:
            break
    return dual


@dataclass(frozen=True, eq=False)
class _Program:
    """The pair, the optimal partition and its lines."""

    utility: Divergence
    value: BlockValue
    worth: float
    logs: Floats  # of the t_l, increasing
    block: Indices  # of each symbol
    room: Floats  # own − second
    alpha: Floats

    @classmethod
    def of(cls, utility: Divergence, lorenz: Lorenz, value: BlockValue, worth: float, cuts: Indices) -> _Program:
        start, stop = lorenz.nodes.at(cuts[:-1]), lorenz.nodes.at(cuts[1:])
        m0 = value.low + value.step * (stop.left0 - start.left0)
        m1 = value.low + value.step * (start.right1 - stop.right1)
        logs = np.where(m0 < m1 / 2, np.log(m0 / m1), np.log1p(value.step * (stop.gap - start.gap) / m1))
        slope, rest = _supports(utility, logs)
        block = np.zeros(utility.k, dtype=np.intp)
        block[lorenz.order] = np.searchsorted(cuts, lorenz.group, side="right") - 1
        lines = np.outer(slope, utility.pair.difference) - np.outer(rest, utility.p1)
        everyone = np.arange(utility.k)
        own = lines[block, everyone]
        lines[block, everyone] = -np.inf
        room = np.maximum(own - lines.max(axis=0), 0.0)
        rooms = np.bincount(block, weights=room, minlength=logs.size)
        need = value.low / value.step * (worth + rest)
        share = np.minimum(need / np.where(rooms > 0, rooms, np.inf), 1.0)
        return cls(utility, value, worth, logs, block, room, own - share[block] * room)

    def left(self, g: Floats) -> Floats:
        """g·q of the best column of the cone for each row of g, times what makes it a bound on all columns together."""
        total = self.value.low * g.sum(axis=1) + self.value.step * np.maximum(g, 0).sum(axis=1)
        return np.asarray(total * self.utility.k / (1 + (self.utility.k - 1) * self.value.low))

    def covered(self, alpha: Floats, tolerance: float, known: dict[bytes, Sets]) -> DualVector:
        """Halve every interval whose chord leaves more than the tolerance; sets that any chord leaves go to `known`."""
        if self.utility.kinks is not None:
            return self._covered_by_pieces(alpha, tolerance, known)
        epsilon = -np.log(self.value.low)
        ends = [-epsilon * (1 + OUTWARD), *self.logs.tolist(), epsilon * (1 + OUTWARD)]
        grid = [np.linspace(a, b, FIRST_PIECES, endpoint=False) for a, b in pairwise(ends)]
        logs = np.unique(np.concatenate([*grid, ends[-1:]]))
        done, left, right, worst = [logs[-1]], logs[:-1], logs[1:], 0.0
        while left.size:
            over = self.left(chords(self.utility, left, right) - alpha)
            poor = np.flatnonzero(over > tolerance)
            last = np.ones(left.size, dtype=bool)
            if poor.size and len(done) + 2 * left.size <= MOST_LOGS:
                middle = (left[poor] + right[poor]) / 2
                slope, rest = _supports(self.utility, middle)
                inside = np.outer(slope, self.utility.pair.difference) - np.outer(rest, self.utility.p1) - alpha
                hopeless = self.left(inside) > tolerance
                for row in inside[hopeless] > 0:
                    known.setdefault(row.tobytes(), row)
                narrow = (right - left)[poor] <= NARROWEST * np.maximum(np.abs(left), np.abs(right))[poor]
                last[poor] = hopeless | narrow
            done += left[last].tolist()
            worst = max(worst, float(over[last].max(initial=0.0)))
            left, middle, right = left[~last], (left[~last] + right[~last]) / 2, right[~last]
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        return DualVector(alpha, tuple(map(node, sorted(done))), worst)

    def _covered_by_pieces(self, alpha: Floats, tolerance: float, known: dict[bytes, Sets]) -> DualVector:
        """The pieces of a polyhedral f are its chords: no node is needed but its kinks."""
        kinks = sorted(set(self.utility.kinks or ()))
        with np.errstate(divide="ignore"):
            logs = np.log(np.array([0.0, *(t for t in kinks if t > 0), np.inf]))
        rest = chords(self.utility, logs[:-1], logs[1:]) - alpha
        over = self.left(rest)
        for row in rest[over > tolerance] > 0:
            known.setdefault(row.tobytes(), row)
        return DualVector(alpha, decimals(kinks), max(0.0, float(over.max())))

    def repaired(self, sets: Sets) -> Floats:
        """The least change of α that leaves nothing on these sets: Δα = Σ_T λ_T·room·(1_T − ρ_T), λ ≥ 0, with ρ_T the
        share of the room of each block that T holds."""
        blocks = self.logs.size
        rooms = np.bincount(self.block, weights=self.room, minlength=blocks)
        held = np.array([np.bincount(self.block, weights=self.room * row, minlength=blocks) for row in sets])
        share = np.where(rooms > 0, held / np.where(rooms > 0, rooms, 1.0), 0.0)
        tilted: Floats = sets - share[:, self.block]
        gram = (tilted * self.room) @ tilted.T
        low, step = self.value.low, self.value.step
        p0, p1, difference = self.utility.p0, self.utility.p1, self.utility.pair.difference
        worth = self.utility.perspective(low + step * (sets @ p0), low + step * (sets @ p1), step * (sets @ difference))
        missing = (worth - low * self.alpha.sum()) / step - sets @ self.alpha
        amounts = np.zeros(len(sets))
        for slack in SLACKS:
            amounts, solved = _least(gram, missing + slack * self.worth, slack / 10 * self.worth)
            if solved:
                break
        return np.asarray(self.alpha + (amounts @ tilted) * self.room)


def _supports(utility: Divergence, logs: Floats) -> tuple[Floats, Floats]:
    """Slope σ = f'(t) and f* − σ of the lines that support f at each t: a line is σ·(P₀ − P₁) − (f* − σ)·P₁."""
    t, apart = np.exp(logs), np.expm1(logs)
    slope = utility.derivative(t)
    return slope, apart * slope - utility.excess(apart, t)


def _least(gram: Floats, target: Floats, within: float) -> tuple[Floats, bool]:
    """λ ≥ 0 of least λ·Gλ with Gλ ≥ target − within, by active sets (Lawson and Hanson 1974, on the Gram matrix);
    whether it was reached."""
    amounts, size = np.zeros(target.size), np.sqrt(np.maximum(np.diag(gram), NOT_ZERO))
    ridge = 1e-13 * np.diag(np.diag(gram) + NOT_ZERO)
    active = np.zeros(target.size, dtype=bool)
    for _ in range(3 * target.size + 10):
        missing = target - gram @ amounts
        if missing.max() <= within:
            return amounts, True
        active[np.argmax(np.where(active, -np.inf, missing / size))] = True
        while True:
            at = np.flatnonzero(active)
            wanted = np.linalg.solve((gram + ridge)[np.ix_(at, at)], target[at])
            if not np.isfinite(wanted).all():  # at large ε the worths overflow: nothing pays for these sets
                return amounts, False
            if wanted.min(initial=1.0) > 0:
                amounts[at] = wanted
                break
            back = at[wanted <= 0]
            part = (amounts[back] / (amounts[back] - wanted[wanted <= 0] + NOT_ZERO)).min()
            amounts[at] += part * (wanted - amounts[at])
            dropped = back[amounts[back] <= NOT_ZERO + 1e-12 * amounts.max()]
            active[dropped if dropped.size else back] = False
            amounts[~active] = 0.0
    return amounts, False
