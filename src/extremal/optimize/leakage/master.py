"""What the leakage solvers share: the master program over lift vectors, columns to start from, and the way back to a
mechanism and to a proof.

max Σ θ·μ(λ(y)) s.t. Σ θ·y = b in every row, θ ≥ 0 (Σθ = 1 follows): GSO Theorem 5 with its missing θ ≥ 0 (erratum P5),
written in the coordinates of `cones.lift`, in which columns are 0/1 but for one entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.exact import Prior
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, shortened
from extremal.optimize.rational_matrix import Rationals, below, wanted, with_unit_rows
from extremal.optimize.search import SAME_COLUMN, Master
from extremal.privacy import LIP, Notion
from extremal.privacy.cones.lift import Floats, LiftBox, one_prior

Numbers = tuple[Fraction, ...]

LISTED = 12  # inputs up to which all vertices are columns at once: a few thousand at most
SAME_POINT = 1e-12  # an entry or a share this near to 0 or 1 is it
OFF_PLANE = 1e-12  # relative: a column further off would break the claim
NEARLY = 1e-11  # a window that reaches this near to an edge reaches it
_SPARED = tuple(16.0**j for j in range(1, 7))  # units of the weights: how much lower a level is tried
_MOST_SPARED = Fraction(1, 50)  # of the level


@dataclass(frozen=True, eq=False)
class FoundLifts:
    """The best mixture of lift vectors, and the dual vector with the smallest bound.

    Attributes:
        y, theta: lift vectors, and their weights.
        alpha, bound: the dual vector, and what it bounds the value by.
        priced: its pricing problem, where that was bounded as closely as a proof asks for.
    """

    y: Floats
    theta: Floats
    alpha: Floats
    bound: float
    priced: Any = None


def master_of(box: LiftBox) -> Master:
    """The program over lift vectors. What is off the plane p·y = b, by rounding on the way, is no column."""

    def on_plane(y: Floats) -> npt.NDArray[np.bool_]:
        return np.asarray(np.abs(y @ box.prior - box.budget) <= OFF_PLANE * box.budget)

    every = np.ones(box.n)
    return Master(every, every, unit=box.budget, admits=on_plane, digits=SAME_COLUMN)


def mixture(master: Master, box: LiftBox) -> tuple[Floats, Floats]:
    """(columns y, weights θ) of the current vertex, the rows made to sum as exactly as floats can."""
    y, theta = master.mixture()
    for _ in range(2):
        change = np.linalg.lstsq(y.T, box.budget - y.T @ theta, rcond=None)[0]
        if (theta + change >= 0).all():
            theta = theta + change
    return y, theta


def window_columns(box: LiftBox, orders: list[Any]) -> Floats:
    """Columns that reach every row: cyclic windows of mass b along each order, and inputs heavier than b alone.

    Each is filled from an edge between inputs on, either way, so that at most one input is cut: a vertex. What is left
    of the mass is counted from that edge: an input of 1e-12 would be lost in sums that started elsewhere.
    """
    p, b, n = box.prior, box.budget, box.n
    found = [np.eye(n)[x] * (b / p[x]) for x in np.flatnonzero(p >= b)]
    for order in orders:
        for way in (order, order[::-1]):
            windows = way[(np.arange(n)[:, None] + np.arange(n)) % n]
            y = box.filled(windows)
            found.extend(filled_up(box, row) for row in np.where(y < NEARLY, 0.0, np.where(y > 1 - NEARLY, 1.0, y)))
    return np.array(found)


def filled_up(box: LiftBox, y: Floats) -> Floats:
    """y with its fractional entry set so that p·y = b exactly in floats."""
    fractional = np.flatnonzero((y > 0) & (y < 1))
    if fractional.size != 1:
        return y
    j = fractional[0]
    rest = y.copy()
    rest[j] = 0.0
    rest[j] = min(1.0, max(0.0, (box.budget - float(rest @ box.prior)) / box.prior[j]))
    return rest


def decomposed(box: LiftBox, y: Floats) -> list[Floats]:
    """A point of the box as vertices whose hull holds it: fractional entries are traded in pairs until one is left."""
    found, point = [], np.clip(y, 0.0, 1.0)
    for _ in range(2 * box.n):
        vertex = box.greedy(point[None, :] * box.prior)[0]
        found.append(filled_up(box, np.where(vertex > 1 - SAME_POINT, 1.0, vertex)))
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(vertex > 0, point / vertex, np.inf)
            spare = np.where(vertex < 1, (1 - point) / (1 - vertex), np.inf)
        share = min(float(shares.min()), float(spare.min()), 1.0)
        if share > 1 - SAME_POINT or share <= SAME_POINT:
            break
        point = np.clip((point - share * vertex) / (1 - share), 0.0, 1.0)
        point = np.where(point < SAME_POINT, 0.0, np.where(point > 1 - SAME_POINT, 1.0, point))
    return found


def as_mechanism(problem: Problem, box: LiftBox, y: Floats, theta: Floats, reveal: bool) -> Mechanism:
    """The mechanism with columns θ·λ(y). Inputs of probability 0 are reported as they are, or answer like the average
    of the others.

    At small ε in rationals, where equal entries stay equal: a level lower by a few units of the weights then leaves
    room for their rounding, which to mend afterwards costs units/ε of every report.
    """
    privacy = problem.privacy
    if not wanted(privacy, y.size):
        matrix = _whole(problem, box, (box.lifts(y) * theta[:, None]).T, box.prior / float(box.prior.sum()), reveal)
        return Mechanism.from_matrix(matrix, privacy, inputs=problem.inputs)
    prior = np.array([one_prior(privacy).fraction(x) for x in box.support.tolist()])
    matrices = []
    shares = [Fraction(units / privacy.epsilon) / DENOMINATOR for units in _SPARED]
    for spared in (Fraction(0), *(share for share in shares if share < _MOST_SPARED)):
        matrices.append(_whole(problem, box, _exact_columns(privacy, box, y, theta, 1 - spared), prior, reveal))
        rounded = Mechanism.from_matrix(matrices[-1], inputs=problem.inputs)
        if privacy.holds(rounded):
            return rounded.claiming(privacy)
    return Mechanism.from_matrix(matrices[0], privacy, inputs=problem.inputs)


def _whole(problem: Problem, box: LiftBox, found: Any, prior: Any, reveal: bool) -> Any:
    """The matrix over all inputs, given its rows for those of positive probability."""
    k = problem.utility.k
    rest = np.setdiff1d(np.arange(k), box.support)
    matrix = np.zeros((k, found.shape[1]), dtype=found.dtype)
    matrix[box.support] = found
    if rest.size and reveal:
        matrix = np.hstack([matrix, np.eye(k, dtype=np.int64)[:, rest]])
    elif rest.size:
        matrix[rest] = prior @ found
    return matrix / matrix.sum(axis=1, keepdims=True)


def _exact_columns(privacy: Notion, box: LiftBox, y: Floats, theta: Floats, share: Fraction) -> Rationals:
    """θ·λ(y) in rationals, at ε so small that lift vectors are too close to constant for floats."""
    lifts, base = _exact_lifts(privacy, box, y, share)
    step = Fraction(box.step)  # λ = base + step·y: in y the columns differ, in λ hardly
    shape = np.array([[float((t - base) / step) for t in line] for line in lifts.tolist()])

    def change(missing: Rationals, weights: Rationals, unit: Fraction) -> Floats:
        """What rows and the sum of weights, which is 1, are off by; in y."""
        off = 1 - sum(weights)
        asked = [float((r - base * off) / step / unit) for r in missing] + [float(off / unit)]
        return np.asarray(np.linalg.lstsq(np.vstack([shape, np.ones(theta.size)]), np.array(asked), rcond=None)[0])

    return with_unit_rows(lifts, np.array([Fraction(t) for t in theta.tolist()]), change)


def _exact_lifts(privacy: Notion, box: LiftBox, y: Floats, share: Fraction) -> tuple[Rationals, Fraction]:
    """λ(y) for each row of y, as columns, and the entry for y = 0: the bounds of the notion from within, at this share
    of their distance to 1; at each vertex the fractional entry that p·λ = 1 asks for."""
    weights = [one_prior(privacy).fraction(x) for x in box.support.tolist()]
    top = 1 + share * (below(privacy.exponential) - 1)
    low = 1 - share * (1 - 1 / below(privacy.lower_exponential)) if isinstance(privacy, LIP) else Fraction(0)
    base, end = (top, low) if box.step < 0 else (low, min(top, low + (1 - low) / min(weights)))  # as the box has them
    columns = []
    for row in y.tolist():
        vertex = [base if v < 0.5 else end for v in row]
        j = max(range(box.n), key=lambda x: min(row[x], 1 - row[x]))
        rest = (1 - sum(w * t for x, (w, t) in enumerate(zip(weights, vertex, strict=True)) if x != j)) / weights[j]
        vertex[j] = min(max(rest, low), top)
        columns.append(vertex)
    return np.array(columns).T, base


def rounded(numbers: Iterable[Fraction]) -> Numbers:
    """Rationals as the decimals that proofs hold."""
    return tuple(shortened(number) for number in numbers)


def dual_vector(prior: Prior, box: LiftBox, alpha: Floats, bound: float, free: Floats | None = None) -> Numbers:
    """The dual vector of the search, in the box, as that of a proof, about columns: β for all inputs.

    The search bounds μ(λ(y)) ≤ α·y + const on {0 ≤ y ≤ 1, p·y = b}, λ = base + step·y. Because p·λ = 1, with M = b·Σα +
    const this is μ(λ) ≤ β·λ, β = (α − p·Σα)/step + M·p, Σβ = M. At small ε the entries of β are much larger than M, so
    that they are formed in rationals and keep 40 digits. Multiples of p in α change nothing; a multiplier ν of the box
    becomes M + (ν − Σα)/step.

    Args:
        prior, box: those of the notion.
        alpha: in the box, one for each input of positive probability.
        bound: M.
        free: what revealing each input is worth, for those of probability 0; 0 if not given.
    """
    values = [Fraction(float(a)) for a in alpha]
    total, step, most = sum(values, Fraction(0)), Fraction(box.step), Fraction(bound)
    found = [Fraction(0)] * len(prior) if free is None else [Fraction(float(v)) for v in free]
    for x, a in zip(box.support.tolist(), values, strict=True):
        p = prior.fraction(x)
        found[x] = (a - p * total) / step + most * p
    return rounded(found)
