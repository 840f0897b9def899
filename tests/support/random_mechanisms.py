"""Random private matrices in floating point, what a solver might hand over, and random notions of leakage.

Seeded and for tests only; nothing here releases anything.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.mechanism import Mechanism
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import LiftBox, lift_box

Floats = npt.NDArray[np.float64]


def random_ldp_matrix(generator: np.random.Generator, k: int, epsilon: float) -> Floats:
    """Staircase patterns in complementary pairs (so that rows sum to 1), with random weights; some pairs mixed into the
    interior."""
    pairs = int(generator.integers(1, max(2, k // 2) + 1))
    inside = generator.random((k, pairs)) < generator.uniform(0.1, 0.9)
    inside[0], inside[1] = True, False  # neither empty nor everything
    low = np.exp(-epsilon)
    share = generator.dirichlet(np.ones(pairs)) / (1 + low)
    columns = np.hstack([np.where(inside, 1.0, low) * share, np.where(inside, low, 1.0) * share])
    if generator.random() < 0.3:  # interior points: average some columns
        mix = generator.dirichlet(np.full(2 * pairs, 0.2), size=2 * pairs)
        columns = columns @ mix
    return np.asarray(columns)


def random_pml_matrix(generator: np.random.Generator, prior: Floats, epsilon: float) -> Floats:
    """Lift vectors with entries in {0, e^ε} but one (GSO Section IV-E), a random share of each; a constant report
    completes the rows."""
    k, e = prior.size, float(np.exp(epsilon))
    count = int(generator.integers(1, k + 1))
    lifts = np.zeros((k, count))
    for y in range(count):
        room = 1.0
        for x in generator.permutation(k):
            lifts[x, y] = min(e, room / prior[x])
            room = max(0.0, room - lifts[x, y] * prior[x])
    share = generator.dirichlet(np.ones(count))
    columns = lifts * share
    scale = 1 / max(1.0, columns.sum(axis=1).max())
    columns *= scale
    rest = 1 - columns.sum(axis=1)
    # What is missing in each row is given back as a mixture of two reports: one constant, the rest spread by the
    # prior's complement.
    return np.asarray(_completed(columns, rest, prior, e))


def _completed(columns: Floats, rest: Floats, prior: Floats, e: float) -> Floats:
    """Append the column `rest` if it is admissible, else shrink everything towards the constant report until it is."""
    if rest.max() <= 1e-15:
        return columns
    mean = float(prior @ rest)
    need = max(0.0, (rest.max() - e * mean) / (e - 1)) * (1 + 1e-9)  # constant c with rest.max + c ≤ e·(mean + c)
    completed = np.hstack([columns, (rest + need)[:, None]]) / (1 + need)
    return np.asarray(completed)


def information_loss(matrix: Floats, mechanism: Mechanism, prior: Floats) -> float:
    """Relative loss of mutual information from `matrix` to the exact weights, computed from the change itself.

    The difference of two informations near 1e-16 would drown in rounding; its first-order term does not: with Δ =
    W/2^62 − Q, I(Q+Δ) − I(Q) = Σ_xy p_x Δ_xy log(Q_xy/m_y) + O(Δ²/Q), every term of which is tiny but relatively exact.
    """
    difference, information = [], 0.0
    weights, n = mechanism.weights, mechanism.denominator
    used = np.flatnonzero(matrix.max(axis=0) * n > 1)
    q = matrix[:, used] / matrix.sum(axis=1, keepdims=True)
    m = prior @ q
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(q > 0, np.log(q / m), 0.0)
    information = float((prior[:, None] * q * score).sum())
    for x in range(q.shape[0]):
        exact = [Fraction(value) for value in matrix[x, used].tolist()]
        total = sum(exact)
        for y, value in enumerate(exact):
            delta = float(Fraction(int(weights[x, y]), n) - value / total)
            difference.append(
                prior[x] * (delta * score[x, y] if q[x, y] > 0 else delta * np.log(delta / m[y]) if delta > 0 else 0.0)
            )
    return max(0.0, -float(np.sum(difference))) / information


def drawn_leakage(seed: int, ties: bool = False) -> tuple[PML | LIP, LiftBox, np.random.Generator]:
    """A notion whose lift vectors are no simplex, its box, and the generator that drew them; with `ties`, a prior in
    which inputs may be equally likely."""
    generator = np.random.default_rng(seed)
    while True:
        p = generator.dirichlet(np.ones(int(generator.integers(3, 9))))
        p = np.round(p, 1) / np.round(p, 1).sum() if ties else p
        if p.min() <= 0:
            continue
        epsilon = float(generator.uniform(0.02, 1) * -math.log(p.min()))
        notion = (PML(epsilon, p), LIP(min(epsilon, 3), p), LIP(min(epsilon, 3), p, 2))[seed % 3]
        box = lift_box(notion)
        if not box.is_simplex:
            return notion, box, generator
