"""min F(θ) over distributions θ with mean zero on given points: a primal-dual interior-point method.

F(θ) = tr(B V⁻¹ Bᵀ), V = Σ_j θ_j d_j d_jᵀ, subject to Σθ d = 0, Σθ = 1, θ ≥ 0: an optimal design of experiments, convex.
Gradient −d_jᵀGd_j with G = V⁻¹BᵀBV⁻¹; Hessian 2(dᵀV⁻¹d)∘(dᵀGd), of rank n(n+1)/2 in the coordinates where V⁻¹ is the
identity and G diagonal, so a step costs O(N n⁴) whatever the number N of points. For any λ the number max_j (d_jᵀGd_j −
λ·d_j) =: c bounds every design on these points:

    F* ≥ F²/c            [tr(GV*) ≤ c, and Cauchy–Schwarz: (tr BV⁻¹Bᵀ)² ≤ tr(BV*⁻¹Bᵀ)·tr(GV*)].

Limits Cθ ≤ δ, C ≥ 0, are rows more with a variable each for what is left; with their multipliers β ≥ 0 the level is
c = max_j (d_jᵀGd_j − λ·d_j − β·C_j) + δ·Σβ.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from extremal.optimize.workload.lifts import Floats, Sets

Point = tuple[Floats, Floats, Floats]
"""θ, the multipliers of the rows, and the slack of each point."""

Derivatives = tuple[float, Floats, Floats, Floats]
"""F, V⁻¹, G and the gradient."""

HALVINGS = 30  # of a step: shorter ones move nothing that floats hold to half their digits
ROUNDS = 100  # a guard: steps of an interior-point method
STALLED = 1e-6  # below this an iterate that gets worse is at the limit of rounding
LEFT = 0.1  # of a limit, that the start leaves of it even where it does not keep it
FLAT = 1e-12  # of the largest curvature: smaller ones are those of `Coordinates.guarded` alone, and steps do without
SHORTEN = 0.99  # how far to go towards the boundary


@dataclass(frozen=True, eq=False)
class Scalars:
    """Parts of F that are one number each: costs, and rows l with l ≥ 0."""

    costs: Floats
    rows: Floats


@dataclass(frozen=True, eq=False)
class CouplingLimits:
    """Rows C ≥ 0, and the number that C·θ must not exceed in any of them."""

    rows: Floats
    most: float


@dataclass(frozen=True, eq=False)
class OptimalDesign:
    """What was found on the given points.

    Attributes:
        theta: weights of the points.
        value: F.
        inverse: V⁻¹.
        slope: G.
        tilt: λ, the multipliers of Σθd = 0.
        level: c for this λ, over the given points.
        prices: β, the multipliers of the limits.
        within: cost_g/(l_g·θ)² of each scalar.
    """

    theta: Floats
    value: float
    inverse: Floats
    slope: Floats
    tilt: Floats
    level: float
    prices: Floats
    within: Floats

    @property
    def bound(self) -> float:
        """No design on the given points is better."""
        return self.value**2 / self.level


def excess_levels(points: Floats, slope: Floats, tilt: Floats) -> Floats:
    """dᵀGd − λ·d of each point."""
    return np.asarray(np.einsum("ij,ij->j", points, slope @ points) - tilt @ points)


def levels(points: Floats, found: OptimalDesign, scalars: Scalars) -> Floats:
    """What `level` is the largest of, for any points; `scalars` has their rows, and `within` those of the design."""
    return excess_levels(points, found.slope, found.tilt) + found.within @ scalars.rows


def optimal_design(
    points: Floats,
    statistics: Floats,
    tolerance: float = 1e-10,
    scalars: Scalars | None = None,
    limits: CouplingLimits | None = None,
) -> OptimalDesign:
    """The best weights on the points, to a relative gap of `tolerance`; `scalars` adds Σ_g cost_g/(l_g·θ) to F."""
    n, given = points.shape
    size = float(np.sqrt((points**2).sum(axis=0).max()))
    if scalars is None:
        scalars = Scalars(np.zeros(0), np.zeros((0, given)))
    if limits is None:
        limits = CouplingLimits(np.zeros((0, given)), 0.0)
    bounded = limits.rows.shape[0]
    count, b = given + bounded, statistics
    largest = np.where((most := limits.rows.max(axis=1, initial=0.0)) > 0, most, 1.0)
    d = np.hstack([points / size, np.zeros((n, bounded))])
    extra = Scalars(scalars.costs * size**2, np.hstack([scalars.rows, np.zeros((scalars.costs.size, bounded))]))
    limited = np.hstack([limits.rows / largest[:, None], np.eye(bounded)])
    rows = np.vstack([d, np.arange(count) < given, limited])
    target = np.concatenate([np.zeros(n), [1.0], limits.most / largest])
    theta, left = _start(limited[:, :given], target[n + 1 :])
    scale = _derivatives(d, b, theta, extra)[0]  # F is homogeneous in B: work with F near 1
    b, extra = b / np.sqrt(scale), Scalars(extra.costs / scale, extra.rows)
    value, inverse, slope, gradient = _derivatives(d, b, theta, extra)
    top = 1.5 * float((-gradient).max())
    dual = np.concatenate([np.zeros(n), [top], np.minimum(top, top / (given * left))])
    slack = gradient + dual @ rows
    best, kept = np.inf, (theta, dual, slack, gradient, value, inverse, slope)
    for _ in range(ROUNDS):
        off_dual, off_rows = gradient + dual @ rows - slack, rows @ theta - target
        mu = float(theta @ slack) / count
        off = max(
            mu * count / value, float(np.abs(off_rows).max()), float(np.abs(off_dual).max()) / float(dual @ target)
        )
        if off < best:
            best, kept = off, (theta, dual, slack, gradient, value, inverse, slope)
        if off <= tolerance or (best < STALLED and off > 10 * best):
            break
        try:
            solve = _newton(d, inverse, slope, theta, slack, rows, extra)
            step, dual_step, slack_step = solve(-theta * slack, off_dual, off_rows)
            reach = min(_reach(theta, step), _reach(slack, slack_step))
            ahead = float((theta + reach * step) @ (slack + reach * slack_step)) / count
            centring = min(0.8, max(1e-5, (ahead / mu) ** 3))
            step, dual_step, slack_step = solve(centring * mu - theta * slack, off_dual, off_rows)
        except np.linalg.LinAlgError:
            break  # V is singular to rounding, as it is at the optimum of a workload that does not need all of it
        length = SHORTEN * min(_reach(theta, step), _reach(slack, slack_step))
        allowed = max(1.2 * float(np.abs(off_dual).max()), 0.3 * float(np.abs(gradient).max()))
        moved = _shortened(d, b, extra, rows, (theta, dual, slack), (step, dual_step, slack_step), length, allowed)
        if moved is None:
            break
        (theta, dual, slack), (value, inverse, slope, gradient) = moved
    theta, dual, slack, gradient, value, inverse, slope = kept
    if bounded:
        dual = min(
            dual,
            _fitted(rows, gradient, theta > slack, n + 1),
            key=lambda one: float((-gradient - one @ rows).max()) + float(one @ target),
        )
    unit = scale / size**2  # of F
    slope, inverse, tilt = slope * unit / size**2, inverse / size**2, dual[:n] * unit / size
    within = extra.costs * unit / (extra.rows @ theta) ** 2
    prices = np.maximum(dual[n + 1 :] * unit / largest, 0.0)
    excess = excess_levels(points, slope, tilt) + within @ scalars.rows - prices @ limits.rows
    level = float(excess.max()) + limits.most * float(prices.sum())
    return OptimalDesign(theta[:given], value * unit, inverse, slope, tilt, level, prices, within)


def _start(limited: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Weights where points that use much of a limit have little, and what they leave of each limit."""
    count = limited.shape[1]
    used = (limited / most[:, None]).max(axis=0, initial=0.0)  # of a limit, by all weight on a point
    weights = 1 / np.maximum(1.0, 2 * count * used)
    weights /= weights.sum()
    left = np.maximum(most - limited @ weights, LEFT * most)
    return np.concatenate([weights, left]), left


def _fitted(rows: Floats, gradient: Floats, weighted: Sets, free: int) -> Floats:
    """Multipliers that fit the gradient on the points with weight; those after the `free` first are not negative.

    Where δ is far below ε² the steps lose theirs to rounding. Any multipliers prove a bound.
    """
    found = np.linalg.lstsq(rows[:, weighted].T, -gradient[weighted], rcond=None)[0]
    found[free:] = np.maximum(found[free:], 0.0)
    return np.asarray(found)


def _shortened(
    d: Floats, b: Floats, extra: Scalars, rows: Floats, here: Point, steps: Point, length: float, allowed: float
) -> tuple[Point, Derivatives] | None:
    """The next point, and the derivatives there: F is not quadratic, so the step is halved until the optimality
    conditions are off by no more than is allowed; None when that never is so."""
    for _ in range(HALVINGS):
        theta, dual, slack = (at + length * step for at, step in zip(here, steps, strict=True))
        with contextlib.suppress(np.linalg.LinAlgError):
            found = _derivatives(d, b, theta, extra)
            if float(np.abs(found[3] + dual @ rows - slack).max()) <= allowed:
                return (theta, dual, slack), found
        length /= 2
    return None


@np.errstate(over="ignore", invalid="ignore")
def _derivatives(d: Floats, b: Floats, theta: Floats, extra: Scalars) -> Derivatives:
    """F, V⁻¹, G and the gradient."""
    spread = (d * theta) @ d.T
    if not np.isfinite(spread).all():
        raise np.linalg.LinAlgError
    factor = cho_factor(spread, lower=True)
    inverse = cho_solve(factor, np.eye(d.shape[0]))
    half = b @ inverse
    slope = half.T @ half
    sums = extra.rows @ theta
    value = float(np.sum(half * b)) + float(np.sum(extra.costs / sums))
    if not np.isfinite(value):
        raise np.linalg.LinAlgError
    return value, inverse, slope, -np.einsum("ij,ij->j", d, slope @ d) - (extra.costs / sums**2) @ extra.rows


def _newton(
    d: Floats, inverse: Floats, slope: Floats, theta: Floats, slack: Floats, rows: Floats, extra: Scalars
) -> Callable[[Floats, Floats, Floats], tuple[Floats, Floats, Floats]]:
    """A function that solves the linearised conditions for a right-hand side; the factorisation is made once."""
    lower = np.linalg.cholesky((inverse + inverse.T) / 2)
    undone = np.linalg.solve(lower, np.linalg.solve(lower, slope).T)
    weights, turn = np.linalg.eigh((undone + undone.T) / 2)
    weights = np.maximum(weights, 0.0)
    coordinates = (lower @ turn).T @ d
    i, j = np.triu_indices(d.shape[0])
    pair = np.where(i == j, 2 * weights[i], 2 * (weights[i] + weights[j]))
    kept = pair > FLAT * pair.max()
    spread = np.sqrt(theta / slack)
    factor = coordinates[i[kept]] * coordinates[j[kept]]
    factor *= np.sqrt(pair[kept])[:, None]
    factor = np.vstack([factor, np.sqrt(2 * extra.costs / (extra.rows @ theta) ** 3)[:, None] * extra.rows])
    factor *= spread
    scaled_rows = rows * spread
    wide = factor.shape[0] <= factor.shape[1]
    system = factor @ factor.T if wide else factor.T @ factor
    system[np.diag_indices_from(system)] += 1.0
    solved = _factored(system)

    def apply(x: Floats) -> Floats:  # (I + factorᵀ factor)⁻¹ x
        return np.asarray(x - factor.T @ cho_solve(solved, factor @ x) if wide else cho_solve(solved, x))

    through = apply(scaled_rows.T)
    small = scaled_rows @ through
    diagonal = np.diagonal(small)
    if not diagonal.max() > 0:
        raise np.linalg.LinAlgError
    sizes = np.sqrt(np.maximum(diagonal, 1e-30 * diagonal.max()))
    small = (small + small.T) / 2 / np.outer(sizes, sizes)
    small[np.diag_indices_from(small)] += 1e-15

    def solve(complement: Floats, off_dual: Floats, off_rows: Floats) -> tuple[Floats, Floats, Floats]:
        right = apply(spread * (complement / theta - off_dual))
        dual_step = np.asarray(np.linalg.solve(small, (scaled_rows @ right + off_rows) / sizes) / sizes)
        step = spread * (right - through @ dual_step)
        return step, dual_step, (complement - slack * step) / theta

    return solve


def _factored(system: Floats) -> tuple[Floats, bool]:
    """Cholesky, the diagonal raised by rounding where that is needed."""
    raised = 0.0
    while True:
        try:
            found: tuple[Floats, bool] = cho_factor(
                system * (1 + raised * np.eye(system.shape[0])) if raised else system, lower=True
            )
            return found
        except np.linalg.LinAlgError:
            raised = max(1e-15, 10 * raised)
            if raised > 1e-6:
                raise


def _reach(x: Floats, change: Floats) -> float:
    """The longest step, at most 1, that keeps x + step·change ≥ 0."""
    falling = change < 0
    return min(1.0, float((-x[falling] / change[falling]).min())) if falling.any() else 1.0
