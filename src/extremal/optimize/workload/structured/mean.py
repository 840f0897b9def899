"""One statistic, such as a mean: exact on a few dozen values, certified closely on any number.

For one statistic the best columns are staircases on intervals of the values (and on their complements), and the best
column for a dual vector is found exactly on a line (`swept`), so column generation
from all cyclic intervals ends at the optimum. More values than `SIZES.values`: *from above*, an input is first rounded
at random to one of two neighbouring grid points, which keeps its value on average, so that the grid's mechanism and
decoder serve unchanged; *from below*, inputs are merged into cells, the extremes kept single because the dual is
concentrated there. Over all priors the one-bit mechanism of Duchi, Jordan and Wainwright is the best: at the prior with
half its mass on either extreme value no ε-LDP mechanism is below (b−a)²coth²(ε/2)/4, and one bit attains that at every
prior."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.certificate import Chords, Dual, OnePrior, Squares
from extremal.exact import Exponential, Prior
from extremal.mechanism import Mechanism
from extremal.optimize.problem import decimal, shortened
from extremal.optimize.workload.interior import OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, staircase_deviations
from extremal.optimize.workload.mechanisms import FAINT, balanced

Exact = npt.NDArray[np.object_]

CELLS = 64  # for the bound
SCALE_BITS = 60  # of g in the proof
RATIO_BITS = 200  # of the e^ε that chords are halved for
FIRST_NODES = 60  # chords before any is halved
OUTSIDE = 1e-6  # of the range of ratios: how far beyond it the outermost nodes lie
CLOSE = Fraction(1, 2 * 10**10)  # of the bound: how much a chord may leave
ROUNDS = 12  # a guard: each adds the intervals that improve
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


def one_statistic(values: Floats, prior: Floats, epsilon: float) -> OneStatistic:
    """The best design for Σ p·values, `values` in ascending order."""
    coordinates = Coordinates(prior, values[None, :])
    growth = math.expm1(epsilon)
    sets = intervals(values.size)
    for _ in range(ROUNDS):
        points = coordinates.points(staircase_deviations(sets, prior, growth))
        found = optimal_design(points, coordinates.statistics)
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


def statistic_proof(
    design: OneStatistic, values: Floats, prior: Prior, exponential: Exponential, groups: tuple[int, ...] = ()
) -> Squares:
    """The dual in decimals, and chords of x² that lie close above; any rounding is a valid choice, and what it costs is
    found out exactly."""
    g = design.coordinates.covariance(design.found.inverse) @ values
    prices = design.coordinates.basis @ design.found.tilt
    exponent = SCALE_BITS - math.ceil(math.log2(np.abs(g).max()))
    whole = [round(math.ldexp(a, exponent)) for a in g.tolist()]
    unit = 2 * exponent
    level = _scaled(design.level - float(prices.sum()), unit)
    masses = [Fraction(0)] * g.size
    for x, group in enumerate(groups or range(g.size)):
        masses[group] += prior.fraction(x)
    alpha = [shortened(_scaled(a, unit) + level * p) for a, p in zip(prices.tolist(), masses, strict=True)]
    whole[-1] = -sum(whole[:-1])
    ratio = Fraction(exponential.bounds(RATIO_BITS)[1], 1 << RATIO_BITS)
    nodes = _Halved(whole, masses, alpha, ratio).nodes()
    return Squares((tuple(whole[:-1]),), Dual(tuple(alpha), Chords(nodes)), merged=groups)


class _Halved:
    """Chords of x² between the ratios g·q/(p·q) of columns, each halved until it leaves little, decided exactly: in
    floats what is left drowns in rounding."""

    def __init__(self, g: list[int], p: list[Fraction], alpha: list[Fraction], ratio: Fraction) -> None:
        self.common = math.lcm(*(v.denominator for v in (*p, *alpha)))
        self.g = np.array([a * self.common for a in g], dtype=object)
        self.p = np.array([int(v * self.common) for v in p], dtype=object)
        self.alpha = np.array([int(v * self.common) for v in alpha], dtype=object)
        self.growth = ratio - 1
        self.enough = sum(alpha, Fraction(0)) * CLOSE

    def nodes(self) -> tuple[Fraction, ...]:
        """Increasing; the outermost beyond all ratios."""
        low, high = self._range()
        margin = OUTSIDE * (high - low)
        first = [decimal(t) for t in np.linspace(low - margin, high + margin, FIRST_NODES).tolist()]
        open_chords, found = list(itertools.pairwise(first)), [first[-1]]
        while open_chords:
            a, b = open_chords.pop()
            middle = decimal(float((a + b) / 2))
            if a < middle < b and self._left(a, b) > self.enough:
                open_chords += [(a, middle), (middle, b)]
            else:
                found.append(a)
        return tuple(sorted(found))

    def _range(self) -> tuple[float, float]:
        """The smallest and the largest ratio, in floats: those of the patterns that are high on one side of a cut."""
        g, p = (np.array([float(Fraction(v, self.common)) for v in numbers]) for numbers in (self.g, self.p))
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(np.where(p > 0, g / p, np.sign(g) * np.inf), kind="stable")
        upto = [np.concatenate([[0.0], np.cumsum(v[order])]) for v in (g, p)]
        growth, (total_g, total_p) = float(self.growth), (g.sum(), p.sum())
        below = (total_g + growth * upto[0]) / (total_p + growth * upto[1])
        above = (total_g + growth * (total_g - upto[0])) / (total_p + growth * (total_p - upto[1]))
        return float(min(below.min(), above.min())), float(max(below.max(), above.max()))

    def _left(self, a: Fraction, b: Fraction) -> Fraction:
        """The most by which the chord from a to b exceeds the prices, over 1 ≤ q ≤ E."""
        slope, start = a + b, -a * b
        unit = math.lcm(slope.denominator, start.denominator)
        over = int(slope * unit) * self.g + int(start * unit) * self.p - unit * self.alpha
        positive = sum(v for v in over.tolist() if v > 0)
        return Fraction(int(over.sum()) + self.growth * positive) / (unit * self.common)


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
    used = design.theta > FAINT * design.theta.max()
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
    end = decimal(math.ldexp(2 * math.tanh(epsilon / 2) * (1 + 1e-15), SCALE_BITS))
    alpha = tuple(end * end * p / 2 for p in prior)  # the chord between −end and end is constant
    return OnePrior(prior, (), Squares((tuple(g[:-1]),), Dual(alpha, Chords((-end, end)))))
