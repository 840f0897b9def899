"""Maximum likelihood on the simplex: max Σ_y f_y log(Qᵀp)_y subject to p ≥ 0, Σp = 1.

The likelihood is concave. Sequential quadratic programming on −Σ f log(Qᵀp) + Σp over p ≥ 0 (whose minimiser sums to
one by itself): a Newton model, minimised over p ≥ 0 by block principal pivoting, then a line search. The gradient
bounds the error: for every q on the simplex, Σ f log(Qᵀq) − Σ f log(Qᵀp) ≤ max_x Σ_y f_y Q(y|x)/(Qᵀp)_y − 1, which is
what the iteration stops on.

References: Kim, Carbonetto, Stephens, Anitescu, JCGS 29 (2020) for the formulation; Júdice and Pires, Computers &
Operations Research 21 (1994) for block pivoting.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from extremal.exact.bisection import bisected
from extremal.exact.weights import Floats

Flags = npt.NDArray[np.bool_]

_STEPS = 200  # Newton steps; 3 to 8 are usual
_RIDGE = 1e-10  # relative, makes the model strictly convex when f leaves directions undetermined
_START = 1e-3  # share of the uniform distribution in the start, so that every report has positive probability
_ARMIJO = 1e-4  # share of the predicted gain that a step must reach (Nocedal and Wright 2006, Section 3.1)
_RESOLUTION = 1e-14  # relative, of a computed log-likelihood: near the end a good step gains less than that
_SMALLEST_STEP = 1e-9  # of a Newton step: a shorter one changes nothing above the resolution
_FINE = 2.0**60  # parts of a bracket of λ, which is at most a few units wide: below the last digit of p
_PIVOT_ROUNDS = 3  # block exchanges without progress before single ones
_MOST_PIVOTS = 200  # 5 to 40 are usual; more means that rounding in an almost singular matrix makes it cycle


def project_onto_simplex(values: Floats) -> Floats:
    """The nearest probability vector in Euclidean distance (Held, Wolfe, Crowder 1974).

    >>> project_onto_simplex(np.array([0.8, 0.6, -0.4])).round(12).tolist()
    [0.6, 0.4, 0.0]
    """
    ordered = np.sort(values)[::-1]
    level = (np.cumsum(ordered) - 1) / np.arange(1, values.size + 1)
    kept = np.flatnonzero(ordered > level)
    if not kept.size:  # numbers so large that adding 1 changes nothing: the largest takes all
        return np.asarray(values == ordered[0], dtype=np.float64) / np.count_nonzero(values == ordered[0])
    return np.asarray(np.maximum(values - level[kept[-1]], 0.0))


def project_within(values: Floats, low: Floats, high: Floats) -> Floats:
    """The nearest probability vector with low ≤ p ≤ high; where there is none, the nearest vector within the limits.

    p = clip(values − λ, low, high) with λ such that it sums to one: the sum falls as λ grows, and is bracketed.

    >>> project_within(np.array([0.8, 0.3, -0.4]), np.zeros(3), np.array([0.5, 1.0, 1.0])).round(12).tolist()
    [0.5, 0.5, 0.0]
    """
    if low.sum() >= 1 or high.sum() <= 1:
        return np.asarray(np.clip(values, low, high))
    least, most = float((values - high).min()), float((values - low).max())  # everything at its upper, its lower limit
    level = bisected(
        lambda level: bool(np.clip(values - level, low, high).sum() <= 1), least, most, width=(most - least) / _FINE
    )
    return np.asarray(np.clip(values - level, low, high))


def deficit(q: Floats, f: Floats, p: Floats) -> float:
    """max_x Σ_y f_y Q(y|x)/(Qᵀp)_y − 1: at least what p misses of the largest mean log-likelihood."""
    m = p @ q
    ratio = np.divide(f, m, out=np.zeros_like(f), where=f > 0)
    return max(0.0, float((q @ ratio).max()) - 1)


def maximise(q: Floats, f: Floats, guess: Floats, tolerance: float) -> tuple[Floats, float]:
    """The maximiser, and the deficit that it stopped at (≤ tolerance unless rounding forbids)."""
    seen = f > 0
    q, f = q[:, seen], f[seen]
    r = q.shape[0]
    p = project_onto_simplex(guess)
    if (p @ q).min() <= 0:
        p = (1 - _START) * p + _START / r
    best, least, ridge = p, deficit(q, f, p), _RIDGE
    before = least
    for _ in range(_STEPS):
        if least <= tolerance:
            break
        p = _newton_step(q, f, p, ridge)
        missing = deficit(q, f, p)
        # A model that is almost flat in some directions is solved badly there: trust it less until it helps again.
        ridge = max(_RIDGE, ridge / 10) if missing < before else min(1.0, ridge * 100)
        before = missing
        if missing < least:
            best, least = p, missing
    return best, least


def _newton_step(q: Floats, f: Floats, p: Floats, ridge: float) -> Floats:
    m = p @ q
    gradient = q @ (f / m)
    curvature = (q * (f / m**2)) @ q.T
    target = None
    while target is None and ridge <= 1:
        hessian = curvature.copy()
        hessian[np.diag_indices_from(hessian)] += ridge * np.trace(curvature) / p.size
        target = nonnegative_minimum(hessian, gradient - 1 + hessian @ p, p > 0)
        ridge *= 100
    if target is None:
        return p
    direction = target - p
    slope, start = float((gradient - 1) @ direction), float(f @ np.log(m) - p.sum())
    start -= _RESOLUTION * abs(start)
    step = 1.0
    while step > _SMALLEST_STEP:
        trial = p + step * direction
        reports = trial @ q
        if (reports > 0).all() and f @ np.log(reports) - trial.sum() >= start + _ARMIJO * step * slope:
            return np.asarray(trial / trial.sum())
        step /= 2
    return p


def nonnegative_minimum(hessian: Floats, linear: Floats, free: Flags) -> Floats | None:
    """argmin ½xᵀHx − bᵀx over x ≥ 0, H positive definite, starting from the guess that `free` entries are positive.

    Complementary pairs that break a sign are exchanged all at once while that helps, one at a time (the last)
    otherwise, which is finite for a positive definite H (Murty 1974). None if rounding keeps it from ending.
    """
    from scipy.linalg import cho_factor, cho_solve

    tolerance = 1e-14 * max(1.0, float(np.abs(linear).max()))
    fewest, rounds = linear.size + 1, _PIVOT_ROUNDS
    for _ in range(_MOST_PIVOTS):
        x = np.zeros_like(linear)
        index = np.flatnonzero(free)
        block = hessian[np.ix_(index, index)]
        try:
            x[index] = cho_solve(cho_factor(block), linear[index]) if index.size else 0.0
        except np.linalg.LinAlgError:
            x[index] = np.linalg.lstsq(block, linear[index], rcond=None)[0]
        slack = hessian[:, index] @ x[index] - linear
        wrong = np.where(free, x < -tolerance, slack < -tolerance)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return np.asarray(np.maximum(x, 0.0))
        if count < fewest:
            fewest, rounds = count, _PIVOT_ROUNDS
        elif rounds:
            rounds -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free = free ^ wrong
    return None
