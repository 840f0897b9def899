"""The columns that a leakage notion admits, as a box cut by one plane.

A column q of an ε-PML or ε-LIP mechanism, divided by its probability p·q, is a lift vector λ: low ≤ λ ≤ high, p·λ = 1,
with high = e^ε and low = 0 (PML) or e^−λ (LIP). Written λ = base + step·y, from the bottom (base = low, step = high −
low) or from the top (base = high, step = low − high), whichever makes b smaller, it becomes

    0 ≤ y ≤ 1,  p·y = b,  b = (1 − base)/step ≤ ½:

a continuous knapsack; at small ε, where all lifts are near the top, y says what is missing, and nothing cancels. Its
vertices have y ∈ {0,1} but for one entry (GSO Section IV-E), a linear function is maximised by filling in the order of
gain per probability, and y·α ≤ b·ν + Σ(α − νp)⁺ for every ν bounds it without any order at all. A mechanism is Σ θ·λ =
1 with Σθ = 1, that is Σ θ·y = b in every row. Inputs of probability 0 are free under both notions: they are left out
here and added by callers.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Prior
from extremal.privacy.lip import LIP
from extremal.privacy.notion import Notion
from extremal.privacy.pml import PML

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

ROUNDING = 2.0**-53  # of one operation on floats, relatively
MOST_INPUTS = 14  # at most 57,344 patterns of full inputs and a fractional one that fit
_LARGEST_EXPONENT = 700.0  # e^ε beyond is not a float; no lift reaches it


@dataclass(frozen=True, eq=False)
class LiftBox:
    """The admissible lift vectors of a prior.

    Attributes:
        support: the inputs of positive probability.
        prior: their probabilities.
        base, step: λ = base + step·y; the step is negative when lifts are counted from the top.
        budget: b, what p·y must be.
        units: rounding errors of b, step and of a sum over the inputs are below units·2^-53, relatively to the sum of
            absolute terms.
    """

    support: Indices
    prior: Floats
    base: float
    step: float
    budget: float
    units: float

    @property
    def n(self) -> int:
        return int(self.prior.size)

    @property
    def error(self) -> float:
        return self.units * ROUNDING

    @property
    def is_simplex(self) -> bool:
        """Whether the lift vectors form a simplex: at most one input off the base (region 1, or nothing to hide), or
        two inputs."""
        return self.budget <= float(self.prior.min()) * (1 + self.error) or self.n == 2

    def lifts(self, y: Floats) -> Floats:
        """λ of each row of y."""
        return np.asarray(self.base + self.step * y)

    def greedy(self, gains: Floats) -> Floats:
        """For each row of gains the y that maximises gains·y: the knapsack filled in the order of gain per
        probability."""
        return self.filled(np.argsort(-gains / self.prior, axis=1))

    def filled(self, order: Indices) -> Floats:
        """For each row of orders of all inputs the y that takes them one after the other until b is reached."""
        mass = self.prior[order]
        before = np.zeros_like(mass)
        np.cumsum(mass[:, :-1], axis=1, out=before[:, 1:])  # never minus the mass itself: an input of 1e-12 has digits
        filled = np.clip((self.budget - before) / mass, 0.0, 1.0)
        y = np.empty_like(filled)
        np.put_along_axis(y, order, filled, axis=1)
        return y

    def ceiling(self, gains: Floats, sizes: Floats) -> Floats:
        """An upper bound on max gains·y for each row, rounding included; `sizes` are the sums of absolute terms behind
        each gain."""
        order = np.argsort(-gains / self.prior, axis=1)
        mass = self.prior[order]
        reached = np.cumsum(mass, axis=1) >= self.budget
        last = np.where(reached.any(axis=1), reached.argmax(axis=1), self.n - 1)
        critical = np.take_along_axis(order, last[:, None], axis=1)
        nu = np.take_along_axis(gains, critical, axis=1) / self.prior[critical]
        beyond = gains - nu * self.prior + self.error * (sizes + np.abs(nu) * self.prior)
        total = np.maximum(beyond, 0.0).sum(axis=1) * (1 + self.error)
        return np.asarray(total + nu[:, 0] * self.budget + self.error * np.abs(nu[:, 0]) * self.budget)


def one_prior(privacy: Notion) -> Prior:
    """The prior of a leakage notion about one prior."""
    if isinstance(privacy, LIP):
        return privacy.prior
    if isinstance(privacy, PML) and privacy.source.single is not None:
        return privacy.source.single
    raise InvalidParameter("the notion must be PML or LIP with one prior", parameter="privacy", value=privacy)


def whole_box(privacy: Notion) -> LiftBox:
    """The box of a notion with the very top that the notion allows, whether or not a lift vector reaches it."""
    values = one_prior(privacy).values
    support = np.flatnonzero(values > 0)
    prior = values[support]
    below = privacy.lower if isinstance(privacy, LIP) else math.inf
    room, over = -math.expm1(-below), math.expm1(min(privacy.epsilon, _LARGEST_EXPONENT))
    if not room or not over:
        raise InvalidParameter(
            "at level 0 only constant columns are admissible", parameter="epsilon", value=privacy.epsilon
        )
    units = 4.0 * (prior.size + 16 + min(privacy.epsilon, 100.0))
    if over < room:
        return LiftBox(support, prior, 1 + over, -(over + room), over / (over + room), units)
    return LiftBox(support, prior, math.exp(-below), over + room, room / (over + room), units)


def lift_box(privacy: Notion) -> LiftBox:
    """The box of a notion; its top is lowered to what any lift vector can reach, which removes nothing."""
    box = whole_box(privacy)
    if box.step < 0:
        return box
    room = -math.expm1(-privacy.lower) if isinstance(privacy, LIP) else 1.0
    step = min(box.step, room / float(box.prior.min()))
    return dataclasses.replace(box, step=step, budget=room / step)


def vertices(box: LiftBox) -> Floats:
    """All vertices of {0 ≤ y ≤ 1, p·y = b}, one a row; some twice when a sum hits b exactly."""
    if box.is_simplex:
        return simplex_vertices(box)
    if box.n > MOST_INPUTS:
        raise TooLarge(f"lift vectors are listed for at most {MOST_INPUTS} inputs", parameter="inputs", value=box.n)
    p, b, slack = box.prior, box.budget, box.error
    masks = np.arange(2**box.n)
    inside = ((masks[:, None] >> np.arange(box.n)) & 1) == 1
    left = b - inside @ p
    found = []
    for j in range(box.n):
        fits = ~inside[:, j] & (left >= -slack) & (left <= p[j] + slack)
        y = inside[fits].astype(np.float64)
        y[:, j] = np.clip(left[fits] / p[j], 0.0, 1.0)
        found.append(y)
    return np.unique(np.vstack(found), axis=0)


def simplex_vertices(box: LiftBox) -> Floats:
    """The n vertices of a simplex, row x being the one in which input x differs from all others."""
    p, b, n = box.prior, box.budget, box.n
    if n == 2:
        return np.array([[_alone(b, p[0]), _left(b, p[0], p[1])], [_left(b, p[1], p[0]), _alone(b, p[1])]])
    return np.asarray(np.diag(np.minimum(1.0, b / p)))


def _alone(budget: float, p: float) -> float:
    return min(1.0, budget / p)


def _left(budget: float, p: float, other: float) -> float:
    """What is left for the other input once the first has all that it can take: nothing at all, not rounding."""
    return 0.0 if budget <= p else (budget - p) / other


def simplex_weights(box: LiftBox, y: Floats) -> Floats:
    """θ ≥ 0 with Σ θ·y = b in every row."""
    return np.asarray(np.maximum(np.linalg.solve(y.T, np.full(box.n, box.budget)), 0.0))


def columns_of(box: LiftBox, y: Floats, k: int) -> Floats:
    """Lift vectors as columns over all inputs, 0 where the prior is."""
    columns = np.zeros((k, y.shape[0]))
    columns[box.support] = box.lifts(y).T
    return columns


def unit_columns(box: LiftBox, k: int) -> Floats:
    """The reports that name an input of probability 0."""
    rest = np.setdiff1d(np.arange(k), box.support)
    return np.eye(k)[:, rest]
