"""Every extreme lift vector, one by one: for small alphabets, and where there are only as many as inputs.

For any α and any mixture of the utilities: OPT ≤ b·Σα + max over the vertices of (Σ mix·μ(λ) − α·y), plus what the
inputs of probability 0 are worth when they are reported as they are. Where the lift vectors form a simplex (region 1,
two inputs, or nothing to hide) every mechanism is a post-processing of the one that uses all its vertices, for every
utility with data processing; then no α is needed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.certificate.lift import Floats, LiftBox, lift_box
from extremal.certificate.refused import Refused
from extremal.privacy import Notion
from extremal.utility import SumOfColumns, Utility, WorstCase

KIND = "leakage vertices"
SIMPLEX = "leakage simplex"
MOST_INPUTS = 14  # at most 57,344 patterns of full inputs and a fractional one that fit
VALUE_ERROR = 1e-13  # relative to the largest value; evaluation is accurate to about 1e-15


def vertices(box: LiftBox) -> Floats:
    """All vertices of {0 ≤ y ≤ 1, p·y = b}, one a row; some twice when a sum hits b exactly."""
    if box.is_simplex:
        return simplex_vertices(box)
    if box.n > MOST_INPUTS:
        raise Refused(f"vertices are listed for at most {MOST_INPUTS} inputs", parameter="inputs", value=box.n)
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
        first = min(1.0, b / float(p[0]))
        second = min(1.0, b / float(p[1]))
        return np.array([[first, max(0.0, (b - first * p[0]) / p[1])], [max(0.0, (b - second * p[1]) / p[0]), second]])
    return np.asarray(np.diag(np.minimum(1.0, b / p)))


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


def parts_of(utility: Utility) -> tuple[SumOfColumns, ...]:
    """The utilities of a worst case, or the utility itself."""
    parts = utility.utilities if isinstance(utility, WorstCase) else (utility,)
    sums = tuple(part for part in parts if isinstance(part, SumOfColumns))
    if len(sums) != len(parts):
        raise Refused(
            "the utility must be a sum over columns, or the worst of several", parameter="utility", value=utility
        )
    return sums


def check_simplex(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:  # noqa: ARG001
    """The value of the mechanism of all vertices, raised by the error of its evaluation."""
    box = lift_box(privacy)
    if not box.is_simplex:
        raise Refused("the lift vectors must form a simplex", parameter="privacy", value=privacy)
    y = simplex_vertices(box)
    weights = simplex_weights(box, y)
    columns = np.hstack([columns_of(box, y, utility.k) * weights, unit_columns(box, utility.k)])
    totals = [math.fsum(part.column_values(columns)) for part in parts_of(utility)]
    return min(total + VALUE_ERROR * abs(total) for total in totals)


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The upper bound that the dual vector proves."""
    box, parts = lift_box(privacy), parts_of(utility)
    alpha, mix = np.array([float(a) for a in proof["alpha"]]), np.array([float(w) for w in proof["mix"]])
    if (
        alpha.shape != (box.n,)
        or mix.shape != (len(parts),)
        or not np.isfinite(alpha).all()
        or (mix < 0).any()
        or not mix.sum() > 0
    ):
        raise Refused(
            "the dual vector must have one finite entry for each input that can occur",
            parameter="alpha",
            value=alpha.shape,
        )
    mix = mix / mix.sum()
    y = vertices(box)
    values = mix @ np.array([part.column_values(columns_of(box, y, utility.k)) for part in parts])
    rest = mix @ np.array([math.fsum(part.column_values(unit_columns(box, utility.k))) for part in parts])
    # A vertex moves by `error` relatively to b; its value and its cost in proportion.
    size = float(np.abs(values).max()) + float((np.abs(y) @ np.abs(alpha)).max()) + abs(float(rest))
    excess = float((values - y @ alpha).max())
    return (
        box.budget * math.fsum(alpha)
        + excess
        + float(rest)
        + VALUE_ERROR * size
        + box.error * box.budget * math.fsum(np.abs(alpha))
    )
