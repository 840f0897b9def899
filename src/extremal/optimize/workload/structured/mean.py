"""One statistic, such as a mean: exact on a few dozen values, certified closely on any number.

For one statistic the best columns are staircases on intervals of the values (and on their complements), and the best
column for a dual vector is found exactly on a line (see `extremal.certificate.kinds.sweep`), so column generation
from all cyclic intervals ends at the optimum. More values than `SIZES.values`: *from above*, an input is first rounded
at random to one of two neighbouring grid points, which keeps its value on average, so that the grid's mechanism and
decoder serve unchanged; *from below*, inputs are merged into cells, the extremes kept single because the dual is
concentrated there. Over all priors the one-bit mechanism of Duchi, Jordan and Wainwright is the best: at the prior with
half its mass on either extreme value no ε-LDP mechanism is below (b−a)²coth²(ε/2)/4, and one bit attains that at every
prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.certificate import LineSweep, OnePrior
from extremal.mechanism import Mechanism
from extremal.optimize.workload.interior import OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, staircase_deviations
from extremal.optimize.workload.mechanisms import balanced

Exact = npt.NDArray[np.object_]

CELLS = 64  # for the bound
SCALE_BITS = 60  # of g in the proof
ROUNDS = 12  # of adding intervals; four are usual
ENOUGH = 1e-8  # relative: a column that improves less is not looked for


@dataclass(frozen=True, eq=False)
class OneStatistic:
    """A design for one statistic on a few values.

    Attributes:
        columns: sets of values on which a report is likelier.
        theta: weights of their lifts.
        found: the design with its dual.
        level: t, with (g·q)²/m ≤ α·q + t·m for every column q.
    """

    columns: Sets
    theta: Floats
    coordinates: Coordinates
    found: OptimalDesign
    level: float

    @property
    def bound(self) -> float:
        return self.found.value**2 / self.level


def intervals(k: int) -> Sets:
    """All cyclic intervals of k values but the whole."""
    starts, lengths = np.repeat(np.arange(k), k - 1), np.tile(np.arange(1, k), k)
    return np.asarray((np.arange(k)[:, None] - starts) % k < lengths, dtype=np.bool_)


def one_statistic(values: Floats, prior: Floats, epsilon: float, tolerance: float = 1e-10) -> OneStatistic:
    """The best design for Σ p·values, `values` in ascending order."""
    coordinates = Coordinates(prior, values[None, :])
    growth = math.expm1(epsilon)
    sets = intervals(values.size)
    for _ in range(ROUNDS):
        points = coordinates.points(staircase_deviations(sets, prior, growth))
        found = optimal_design(points, coordinates.statistics, tolerance)
        g = coordinates.covariance(found.inverse) @ values
        prices = coordinates.basis @ found.tilt  # α with α·p = 0; the constant goes into t
        level, missing = swept(g, prices, prior, growth)
        level += float(prices.sum())
        if level <= found.level * (1 + ENOUGH) or not missing.size:
            break
        sets = np.concatenate([sets[:, found.theta > 1e-12], missing], axis=1)
    return OneStatistic(sets, found.theta, coordinates, found, level)


def swept(g: Floats, alpha: Floats, prior: Floats, growth: float) -> tuple[float, Sets]:
    """max over patterns of ((g·S)² − (α·S)(p·S))/(p·S)², and the patterns near it: for each τ the best pattern is {u <
    0}.

    t enters u, so it is found by Newton's steps: raise t to the largest value among the patterns seen at the current
    one."""
    level, kept = -np.inf, np.zeros((g.size, 0), dtype=np.bool_)
    t = float((g**2).max() * 4)
    for _ in range(60):
        shifted = alpha + t * prior
        square = g**2 - prior * shifted
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.sqrt(np.maximum(square, 0.0))
            roots = np.concatenate(
                [((g - apart) / prior)[square > 0], ((g + apart) / prior)[square > 0], (shifted / (2 * g))[prior == 0]]
            )
        roots = np.unique(roots[np.isfinite(roots)])
        if roots.size == 0:
            middles = np.array([0.0])
        else:
            middles = np.concatenate([[roots[0] - 1], (roots[1:] + roots[:-1]) / 2, [roots[-1] + 1]])
        below = prior[:, None] * middles**2 - 2 * g[:, None] * middles + shifted[:, None] < 0
        below = np.unique(below[:, below.any(axis=0) & ~below.all(axis=0)], axis=1)
        if not below.shape[1]:
            t /= 4
            if t < 1e-300:
                break
            continue
        columns = 1 + growth * below
        mass = prior @ columns
        values = ((g @ columns) ** 2 / mass - alpha @ columns) / mass
        best = float(values.max())
        kept, level = below[:, values >= best - 1e-9 * abs(best)], best
        if abs(best - t) <= 1e-15 * abs(t):
            break
        t = best
    return level, kept


def sweep_proof(design: OneStatistic, values: Floats, groups: tuple[int, ...] = ()) -> LineSweep:
    """The dual in integers; any rounding is a valid choice, and what it costs is found out exactly."""
    g = design.coordinates.covariance(design.found.inverse) @ values
    prices = design.coordinates.basis @ design.found.tilt
    exponent = SCALE_BITS - math.ceil(math.log2(np.abs(g).max()))
    whole = [round(math.ldexp(a, exponent)) for a in g.tolist()]
    unit = 2 * exponent
    alpha = tuple(_scaled(a, unit) for a in prices.tolist())
    level = _scaled(design.level - float(prices.sum()), unit)
    return LineSweep(tuple(whole[:-1]), alpha, level, groups)


def _scaled(number: float, exponent: int) -> int:
    """number·2^exponent as an integer, also beyond the floats."""
    mantissa, power = math.frexp(number)
    whole = int(math.ldexp(mantissa, 60))
    shift = power - 60 + exponent
    return whole << shift if shift >= 0 else whole >> -shift


def grid_for(values: Floats, prior: Floats, count: int) -> Floats:
    """Grid points among ascending `values`, both ends in: half of them evenly along the values, half evenly by mass."""
    along = np.linspace(values[0], values[-1], count // 2 + 1)
    nearest = values[np.abs(values[:, None] - along).argmin(axis=0)]
    mass = np.cumsum(prior)
    by_mass = values[
        np.minimum(np.searchsorted(mass, (np.arange(count - count // 2) + 0.5) / (count - count // 2)), values.size - 1)
    ]
    return np.unique(np.concatenate([nearest, by_mass, values[[0, -1]]]))


def rounding(values: Floats, grid: Floats) -> tuple[list[int], list[Fraction]]:
    """For each value the grid point above it and the share of that: with the rest on the point below, the grid's values
    average to the value, exactly.
    """
    points = [Fraction(g) for g in grid.tolist()]
    above = np.clip(np.searchsorted(grid, values, side="left"), 1, grid.size - 1).tolist()
    exact = [Fraction(v) for v in values.tolist()]
    return above, [(v - points[i - 1]) / (points[i] - points[i - 1]) for i, v in zip(above, exact, strict=True)]


def on_grid(prior: Floats, above: list[int], shares: list[Fraction], size: int) -> Floats:
    """The probabilities of the grid points."""
    up = np.array([float(s) for s in shares])
    places = np.array(above)
    return np.asarray(
        np.bincount(places, weights=prior * up, minlength=size)
        + np.bincount(places - 1, weights=prior * (1 - up), minlength=size)
    )


def rounded(above: list[int], shares: list[Fraction], grid: Mechanism) -> Exact:
    """First to a grid point, then what the grid's mechanism reports: exact probabilities, so that the mean stays
    identified when they are rounded once to weights."""
    weights, unit = np.array(grid.weights.tolist(), dtype=object), grid.denominator
    rows = []
    for i, share in zip(above, shares, strict=True):
        up, whole = share.numerator, share.denominator
        mixed = weights[i] * up + weights[i - 1] * (whole - up)
        rows.append([Fraction(q, whole * unit) for q in mixed.tolist()])
    return np.array(rows, dtype=object)


def cells_for(values: Floats, prior: Floats, count: int) -> npt.NDArray[np.intp]:
    """The cell of each of the ascending values: the extremes single, the cells next to them small, each with some
    mass.
    """
    k = values.size
    evenly = (values - values[0]) / (values[-1] - values[0])
    mass = np.cumsum(prior) - prior / 2
    # Finer towards both ends, where the dual is concentrated: evenly in the angle whose cosine is the place.
    place = np.clip((evenly + mass) / 2, 0, 1)
    bent = np.arccos(1 - 2 * place) / np.pi
    cell = np.floor(bent * (count - 2)).astype(np.intp) + 1
    cell[0], cell[-1] = 0, count
    cell = np.unique(cell, return_inverse=True)[1]
    for x in range(1, k):  # a cell without mass joins its left neighbour
        if not prior[cell == cell[x]].sum() > 0:
            cell[cell == cell[x]] = cell[x - 1]
    return np.asarray(np.unique(cell, return_inverse=True)[1], dtype=np.intp)


def grid_columns(design: OneStatistic, epsilon: float) -> Floats:
    """The mechanism on the design's own values, in floats, rows summing to one."""
    used = design.theta > 1e-9 * design.theta.max()
    columns = np.where(design.columns[:, used], 1.0, math.exp(-epsilon))
    weights = balanced(columns, design.theta[used] / (design.coordinates.prior @ columns))
    matrix = columns * weights
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def one_bit(values: Floats, epsilon: float) -> Exact:
    """P(1|x) = ½ + tanh(ε/2)·(u − ½) with u the place of x between the extremes: rounding to an extreme, then
    randomised response.
    """
    exact = [Fraction(v) for v in values.tolist()]
    low, high, slope = min(exact), max(exact), Fraction(math.tanh(epsilon / 2))
    up = [Fraction(1, 2) + slope * ((v - low) / (high - low) - Fraction(1, 2)) for v in exact]
    return np.array([[1 - u, u] for u in up], dtype=object)


def one_bit_proof(values: Floats, epsilon: float) -> OnePrior:
    """At half the mass on either extreme: g = 1_b − 1_a, (S_b − S_a)²/m ≤ 4tanh²(ε/2)·m."""
    low, high = int(np.argmin(values)), int(np.argmax(values))
    prior = tuple(Fraction(int(x in (low, high))) for x in range(values.size))
    g = [0] * values.size
    g[high], g[low] = 1 << SCALE_BITS, -(1 << SCALE_BITS)
    level = _scaled(4 * math.tanh(epsilon / 2) ** 2 * (1 + 1e-15), 2 * SCALE_BITS)
    return OnePrior(prior, (), LineSweep(tuple(g[:-1]), (0,) * values.size, level))
