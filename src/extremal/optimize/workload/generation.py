"""Column generation: the best staircase mechanism when its patterns are too many to list.

A pool of patterns is designed on by the interior-point method; its dual (G, λ) prices every other pattern by DᵀGD −
λ·D, a quadratic over a squared linear function of the set. Pricing is a search: many sets at once, each flipping the
input that gains most, recently flipped ones resting (tabu). What the search misses costs optimality, never validity:
the bound is another's business.

It starts from random sets whose second moments are those that the bound asks for. The matrix inequality's dual says how
the inputs should go together in the reports: V = (e^ε−1)²/m²·Cov(1_T) for sets of nearly constant mass. A Gaussian
vector with a suitable correlation matrix, thresholded at the quantile of the best share r = 1/(e^ε + 1), has nearly
these covariances; the correlations that do not fit a positive semidefinite matrix are bent until they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from extremal.optimize.workload.inequality import Inequality
from extremal.optimize.workload.interior import OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, staircase_deviations
from extremal.optimize.workload.mechanisms import MOST_REDUCED, fewest, second_moments

Tell = Callable[[str, float], None]

STILL, STALLED = (
    20,
    1e-5,
)  # rounds in which the value must fall by so much, relatively: a search may go round in circles
LIGHT = 1e-8  # of the largest weight: sets below are not in use
SEEN = 8  # steps of a search of which one is kept: many different sets make fewer designs necessary
NEAR_BOUND = 1e-4  # relative: this close to a bound there is little to gain
GRID = 2001  # correlations at which the bivariate density is added up: three digits suffice
LEAST = 1e-6  # eigenvalues of the correlation matrix


@dataclass(frozen=True, eq=False)
class Pool:
    """Patterns and the best design on them."""

    sets: Sets
    found: OptimalDesign


def starting_sets(k: int, growth: float, generator: np.random.Generator, count: int) -> Sets:
    """Single inputs, all but one, cyclic windows, and random sets of about the best size of subset selection."""
    size = min(k - 1, max(1, round(k / (growth + 2))))
    one = np.eye(k, dtype=np.bool_)
    windows = [
        np.roll(np.arange(k) < length, shift)
        for length in {size, max(1, size // 2), min(k - 1, 2 * size)}
        for shift in range(k)
    ]
    random = np.zeros((count, k), dtype=np.bool_)
    for row in random:
        row[generator.choice(k, min(k - 1, max(1, size + int(generator.integers(-1, 2)))), replace=False)] = True
    return np.unique(np.concatenate([one, ~one, np.array(windows), random]), axis=0).T


def generate(
    coordinates: Coordinates,
    growth: float,
    out_of_time: Callable[[], bool],
    tell: Tell,
    *,
    tolerance: float = 1e-6,
    extra: Sets | None = None,
    rounds: int = 400,
    floor: float = 0.0,
) -> Pool:
    """Patterns and weights whose dual no set that the search finds can improve by more than `tolerance`, or whose value
    is next to `floor` or hardly falls any more.
    """
    k, prior = coordinates.k, coordinates.prior
    generator = np.random.default_rng(0)  # proposals of a search, always the same ones
    sets = starting_sets(k, growth, generator, 6 * k)
    if extra is not None:
        sets = np.unique(np.concatenate([sets, extra], axis=1), axis=1)
    starts, most, quiet = max(200, 6 * k), max(100, 3 * k), 0
    reached: list[float] = []
    for turn in range(rounds):
        found = optimal_design(
            _points(coordinates, sets, growth), coordinates.guarded, 1e-5 if turn < 4 else min(1e-8, tolerance / 10)
        )
        pool = Pool(sets, found)
        reached.append(found.value)
        still = turn >= STILL and found.value >= reached[turn - STILL] * (1 - STALLED)
        if out_of_time() or still or found.value <= floor * (1 + NEAR_BOUND):
            break
        heavy = sets[:, found.theta > 1e-4 * found.theta.max()]
        slope = coordinates.basis @ found.slope @ coordinates.basis.T
        tilt = coordinates.basis @ found.tilt
        better, values = search(slope, tilt, prior, growth, _starts(heavy, k, starts, generator), generator, 4 * k)
        gap = max(0.0, float(values.max()) / found.value - 1)
        tell("patterns", gap)
        quiet = quiet + 1 if gap <= tolerance else 0
        if quiet >= 2:
            break
        improving = values > found.level * (1 + 1e-10)
        new, where = np.unique(better[:, improving], axis=1, return_index=True)
        order = np.argsort(-values[improving][where])
        order = np.append(order[:most], generator.permutation(order[most:])[:most])  # the best resemble each other
        sets = np.unique(np.concatenate([_kept(coordinates, pool, growth), new[:, order]], axis=1), axis=1)
    return pool


def _kept(coordinates: Coordinates, pool: Pool, growth: float) -> Sets:
    """All sets of a small pool, of a larger one those in use, and when these crowd it as many as make the same
    information."""
    sets, theta = pool.sets, pool.found.theta
    if sets.shape[1] < 4 * coordinates.k + 600:
        return sets
    used = theta > LIGHT * theta.max()
    sets, theta = sets[:, used], theta[used]
    moments = coordinates.k * (coordinates.k + 1) // 2
    if 2 * moments < sets.shape[1] <= MOST_REDUCED:
        return sets[:, fewest(second_moments(_points(coordinates, sets, growth)), theta) > 0]
    return sets


def _points(coordinates: Coordinates, sets: Sets, growth: float) -> Floats:
    return coordinates.points(staircase_deviations(sets, coordinates.prior, growth))


def _starts(heavy: Sets, k: int, count: int, generator: np.random.Generator) -> Sets:
    """Half random sets of every density, half patterns in use with a few inputs flipped."""
    half = count // 2
    random = generator.random((k, half)) < generator.uniform(0.02, 0.7, half)
    used = heavy[:, generator.integers(heavy.shape[1], size=count - half)]
    return np.asarray(np.concatenate([random, used ^ (generator.random(used.shape) < 3.0 / k)], axis=1))


def search(
    slope: Floats, tilt: Floats, prior: Floats, growth: float, starts: Sets, generator: np.random.Generator, rounds: int
) -> tuple[Sets, Floats]:
    """From each start the best set met, and some on the way: max of DᵀGD − λ·D, by tabu search in parallel.

    With q = TᵀGT − 2p(T)·TᵀG1 + p(T)²·1ᵀG1 and m = 1 + (e^ε−1)p(T): DᵀGD = (e^ε−1)²q/m², λ·D = (e^ε−1)(λ(T) −
    p(T)·λ·1)/m."""
    k = prior.size
    g, ones, whole = slope, slope.sum(axis=1), float(slope.sum())
    line, whole_line = tilt, float(tilt.sum())
    inside = starts.T.copy()
    count = inside.shape[0]
    rows = np.arange(count)
    through = inside @ g
    square, cross = (through * inside).sum(axis=1), inside @ ones
    mass, price = inside @ prior, inside @ line
    resting = np.zeros((count, k), dtype=np.intp)
    best_value, best = np.full(count, -np.inf), inside.copy()
    diagonal = np.diagonal(g)
    visited, their_values = [], []
    for step in range(1, rounds + 1):
        sign = 1.0 - 2.0 * inside
        new_square = square[:, None] + 2 * sign * through + diagonal
        new_cross, new_mass, new_price = (
            cross[:, None] + sign * ones,
            mass[:, None] + sign * prior,
            price[:, None] + sign * line,
        )
        size = 1 + growth * new_mass
        values = growth**2 * (new_square - 2 * new_mass * new_cross + new_mass**2 * whole) / size**2
        values -= growth * (new_price - new_mass * whole_line) / size
        free = np.where(resting < step, values, -np.inf)
        chosen = free.argmax(axis=1)
        value = values[rows, chosen]
        moved = sign[rows, chosen]
        square, cross = new_square[rows, chosen], new_cross[rows, chosen]
        mass, price = new_mass[rows, chosen], new_price[rows, chosen]
        through += moved[:, None] * g[chosen]
        inside[rows, chosen] ^= True
        resting[rows, chosen] = step + generator.integers(3, 4 + k // 8, size=count)
        if step % SEEN == 0:
            visited.append(inside.copy())
            their_values.append(value)
        improved = value > best_value
        best_value[improved], best[improved] = value[improved], inside[improved]
    best, best_value = np.concatenate([best, *visited]), np.concatenate([best_value, *their_values])
    sound = best.any(axis=1) & ~best.all(axis=1)
    return best[sound].T, best_value[sound]


def random_sets(
    coordinates: Coordinates, bound: Inequality, epsilon: float, count: int, generator: np.random.Generator
) -> Sets:
    """Sets, one a column, that are neither empty nor everything."""
    inner = coordinates.basis.T @ bound.z @ coordinates.basis
    target = coordinates.basis @ np.linalg.pinv((inner + inner.T) / 2, hermitian=True) @ coordinates.basis.T
    size = np.sqrt(np.maximum(np.diagonal(target), 1e-300))
    share = min(0.5, max(1.0 / coordinates.k, 1 / (math.exp(epsilon) + 1)))
    with np.errstate(over="ignore", invalid="ignore"):  # few statistics leave some directions without a size
        wanted = np.clip(np.nan_to_num(target / np.outer(size, size)), -1.0, 1.0)
    values, vectors = np.linalg.eigh(_gaussian(wanted, share))
    root = vectors * np.sqrt(np.maximum(values, LEAST))
    root /= np.sqrt((root**2).sum(axis=1, keepdims=True))
    draws = root @ generator.standard_normal((coordinates.k, count))
    sets = draws > NormalDist().inv_cdf(1 - share)
    return np.asarray(np.unique(sets[:, sets.any(axis=0) & ~sets.all(axis=0)], axis=1))


def _gaussian(wanted: Floats, share: float) -> Floats:
    """The normal correlations whose thresholded indicators have the wanted ones: dP/dρ is the bivariate density at the
    threshold.
    """
    threshold = NormalDist().inv_cdf(1 - share)
    rho = np.sin(np.linspace(-math.pi / 2, math.pi / 2, GRID))
    middle = (rho[1:] + rho[:-1]) / 2
    density = np.exp(-(threshold**2) / (1 + middle)) / (2 * math.pi * np.sqrt(1 - middle**2))
    both = np.concatenate([[0.0], np.cumsum(density * np.diff(rho))])
    both += share**2 - both[GRID // 2]
    indicator = (both - share**2) / (share * (1 - share))
    normal = np.interp(wanted, indicator, rho)
    np.fill_diagonal(normal, 1.0)
    return np.asarray(normal)
