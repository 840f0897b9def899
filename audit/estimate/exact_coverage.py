"""Coverage by enumeration, nothing simulated: every result of small surveys, over many truths; the worst is named.

1. A yes/no question and three answers under randomised response: single shares, and all together.
2. Workloads of three answers: designed for means and distribution functions, and read from other mechanisms.
3. Differences of two independent yes/no surveys, of equal and of different sizes.
4. Finite populations: shares of two answers in a census and in a sample of up to 2,000 people, whatever the number of
   true yes; the mean of three answers in a census and a sample of few, whatever the true counts. ε from 1 to 6.

n from 5 to 100, ε from 0.3 to 6, levels 80, 95 and 99%. None may be below its level. Intervals pulled in by a fifth of
their length must fall below it in a third of the settings. Run with `python -m audit.estimate.exact_coverage [largest n
[ε …]]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom, hypergeom, multivariate_hypergeom

import extremal as ex
from extremal.estimate.intervals.bounded import binomial_quantiles, gaffke_limits, melded_at, moved_within
from extremal.estimate.workload import statistics_of

LEVELS = (0.8, 0.95, 0.99)
EPSILONS = (0.3, 1.0, 3.0, 6.0)
CHECKED = 20  # outcomes whose limits are compared with those of the public function
ROUNDING = 1e-9  # of a share, and of a sum of probabilities
NEGLIGIBLE = 1e-12  # a probability of a count that is not looked at


def outcomes(n: int, m: int) -> np.ndarray:
    """All counts of n reports with m outputs."""
    bars = np.array(list(combinations(range(n + m - 1), m - 1)))
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), n + m - 1)])
    return np.asarray(np.diff(ends, axis=1) - 1)


def chances(table: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The probability of each outcome (columns) when reports have these shares (rows)."""
    constant = gammaln(table.sum(axis=1) + 1) - gammaln(table + 1).sum(axis=1)
    logs = np.log(np.maximum(shares, 1e-300))
    return np.asarray(np.exp(constant + logs @ table.T))


def truths(k: int) -> np.ndarray:
    """Corners, edges, the middle, and points drawn once."""
    found = [*np.eye(k), np.full(k, 1 / k)]
    for s in (0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4):
        for i in range(k):
            found += [
                np.where(np.arange(k) == i, 1 - s, s / (k - 1)),
                np.where(np.arange(k) == i, s, (1 - s) / (k - 1)),
            ]
    generator = np.random.default_rng(1)
    return np.array([*found, *generator.dirichlet(np.ones(k), 40), *generator.dirichlet(np.full(k, 0.3), 40)])


def held(limits: np.ndarray, truth: np.ndarray, weights: np.ndarray, pulled: float) -> np.ndarray:
    """Coverage of each statistic (columns) at each truth (rows); limits pulled in by a share of their length."""
    low, high = limits[..., 0], limits[..., 1]
    low, high = low + pulled * (high - low) / 2, high - pulled * (high - low) / 2
    inside = (low <= truth[:, None, :] + ROUNDING) & (truth[:, None, :] - ROUNDING <= high)
    return np.asarray(np.einsum("to,tos->ts", weights, inside))


def multinomial(name: str, mechanism: ex.Mechanism, goal: Any, n: int) -> tuple[float, float]:
    """The least excess of coverage over the level, with limits as they are and pulled in."""
    table, points = outcomes(n, mechanism.m), truths(mechanism.k)
    weights = chances(table, points @ mechanism.matrix)
    estimate: Callable[[list[int]], Any]
    if goal is None:
        values, estimate = points, lambda counts: ex.estimate_frequencies(counts, mechanism, counts=True)
    else:
        rows = statistics_of(goal, mechanism.input_labels)[1]
        values, estimate = points @ rows.T, lambda counts: ex.estimate_workload(counts, mechanism, goal, counts=True)
    influence = estimate(table[0].tolist()).fit.inverse.influence(None if goal is None else rows)
    if influence is None or all(len(np.unique(one.round(9))) <= 2 for one in influence):
        results = [estimate(counts.tolist()) for counts in table]
        return report(
            name, n, [np.array([one.interval(level) for one in results]) for level in LEVELS], values, weights, points
        )
    least, most = rows.min(axis=1), rows.max(axis=1)
    limits = [gaffke_of_all(influence, table, level, least, most) for level in LEVELS]
    for place in np.random.default_rng(n).integers(len(table), size=CHECKED):  # what is checked is what is shown
        shown = estimate(table[place].tolist())
        for level, found in zip(LEVELS, limits, strict=True):
            np.testing.assert_allclose(found[place], shown.interval(level), atol=ROUNDING)
    return report(name, n, limits, values, weights, points)


def gaffke_of_all(
    influence: np.ndarray, table: np.ndarray, level: float, least: np.ndarray, most: np.ndarray
) -> np.ndarray:
    """Limits of every outcome in one call."""
    outcomes_, size = len(table), len(influence)
    values, counts = np.tile(influence, (outcomes_, 1)), np.repeat(table, size, axis=0).astype(np.float64)
    centre = (values * counts).sum(axis=1) / counts.sum(axis=1)
    found = gaffke_limits(values, counts, level)
    return moved_within(found, centre, np.tile(least, outcomes_), np.tile(most, outcomes_)).reshape(outcomes_, size, 2)


def report(
    name: str, n: int, limits: list[np.ndarray], values: np.ndarray, weights: np.ndarray, points: np.ndarray
) -> tuple[float, float]:
    slack, narrow = np.inf, np.inf
    for level, at in zip(LEVELS, limits, strict=True):
        found = held(at, values, weights, 0.0)
        worst = np.unravel_index(int(found.argmin()), found.shape)
        pulled = held(at, values, weights, 0.2)
        print(
            f"  {name:34s} n={n:3d}  {level:.0%}: least {found.min():.4f} at {np.round(points[worst[0]], 3).tolist()}"
            f"{'' if found.min() >= level - ROUNDING else '   TOO LOW'}",
            flush=True,
        )
        slack, narrow = min(slack, float(found.min()) - level), min(narrow, float(pulled.min()) - level)
    return slack, narrow


def difference(n0: int, n1: int, epsilon: float) -> tuple[float, float]:
    """Two yes/no surveys with the same mechanism: limits as `FrequencyEstimate.difference` makes them."""
    mechanism = ex.randomized_response(2, epsilon)
    a, b = mechanism.matrix[1, 1], mechanism.matrix[0, 1]
    grid = np.unique(np.concatenate([np.linspace(0, 1, 21), [0.01, 0.03, 0.97, 0.99]]))
    places = np.stack(np.meshgrid(np.arange(n1 + 1), np.arange(n0 + 1), indexing="ij"), axis=-1).reshape(-1, 2)
    sides = []
    for n in (n1, n0):
        count = np.arange(n + 1, dtype=np.float64)
        sides.append([(binomial_quantiles(count, np.full(n + 1, float(n)), up) - b) / (a - b) for up in (False, True)])
    (low1, high1), (low0, high0) = sides
    centre = (places[:, 0] / n1 - b) / (a - b) - (places[:, 1] / n0 - b) / (a - b)
    one = ex.estimate_frequencies([n1 - 1, 1], mechanism, counts=True)
    two = ex.estimate_frequencies([n0 - 2, 2], mechanism, counts=True)
    pairs = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    parts = [
        (low1[places[:, 0]], high1[places[:, 0]]),
        (-high0[places[:, 1]][:, ::-1], -low0[places[:, 1]][:, ::-1]),
    ]
    weights = np.multiply(
        binom.pmf(places[:, 0], n1, (b + (a - b) * pairs[:, 0])[:, None]),
        binom.pmf(places[:, 1], n0, (b + (a - b) * pairs[:, 1])[:, None]),
    )

    place = int(np.flatnonzero((places == (1, 2)).all(axis=1))[0])
    limits = []
    for level, melded in zip(LEVELS, melded_at(parts, LEVELS), strict=True):
        found = moved_within(melded, centre, -np.ones(len(places)), np.ones(len(places)))
        np.testing.assert_allclose(found[place], one.difference(two).interval(level)[1])  # what is checked is shown
        limits.append(found[:, None, :])
    values = (pairs[:, 0] - pairs[:, 1])[:, None]
    return report(f"difference ε={epsilon:g} {n1}+{n0}", min(n0, n1), limits, values, weights, pairs)


def finite_shares(n: int, population: int, epsilon: float) -> tuple[float, float]:
    """Two answers of n people of a finite population."""
    mechanism = ex.randomized_response(2, epsilon)
    a, b = mechanism.matrix[1, 1], mechanism.matrix[0, 1]
    laws = np.zeros((n + 1, n + 1))  # of the count, given how many of those drawn are members
    members = np.unique(np.concatenate([np.arange(16), np.linspace(16, population, 24).astype(int)]))
    members = members[members <= population]
    drawn = hypergeom.pmf(np.arange(n + 1), population, members[:, None], n)
    for k in np.flatnonzero(drawn.max(axis=0) > NEGLIGIBLE).tolist():
        laws[k] = np.convolve(binom.pmf(np.arange(k + 1), k, a), binom.pmf(np.arange(n - k + 1), n - k, b))
    weights = drawn @ laws
    seen = np.flatnonzero(weights.max(axis=0) > NEGLIGIBLE)
    results = [ex.estimate_frequencies({0: n - y, 1: y}, mechanism, population=population) for y in seen.tolist()]
    limits = [np.array([one.interval(level)[1:] for one in results]) for level in LEVELS]
    shares = (members / population)[:, None]
    return report(f"{n} of {population}, ε={epsilon:g}", n, limits, shares, weights[:, seen], members[:, None])


def finite_mean(n: int, population: int, epsilon: float, values: list[float]) -> tuple[float, float]:
    """The mean of three answers of n people of a finite population, whatever the counts of the answers."""
    mechanism = ex.randomized_response(3, epsilon)
    table, people, small = outcomes(n, 3), outcomes(population, 3), outcomes(n, 3)
    place = {tuple(counts): i for i, counts in enumerate(table.tolist())}
    laws = np.zeros((len(small), len(table)))
    for row, counts in enumerate(small.tolist()):
        found = {(0, 0, 0): 1.0}
        for answer in np.repeat(np.arange(3), counts).tolist():
            more: dict[tuple[int, int, int], float] = {}
            for (x, y, z), chance in found.items():
                for after, p in zip(
                    ((x + 1, y, z), (x, y + 1, z), (x, y, z + 1)), mechanism.matrix[answer], strict=True
                ):
                    more[after] = more.get(after, 0.0) + chance * float(p)
            found = more
        for counts_, chance in found.items():
            laws[row, place[counts_]] = chance
    weights = np.stack([multivariate_hypergeom.pmf(small, counts, n) for counts in people]) @ laws
    results = [
        ex.estimate_workload(counts, mechanism, ex.Mean(values), counts=True, sample=ex.Sample(population=population))
        for counts in table.tolist()
    ]
    limits = [np.array([one.interval(level) for one in results]) for level in LEVELS]
    truth = people @ np.array(values)[:, None] / population
    return report(f"mean, {n} of {population}, ε={epsilon:g}", n, limits, truth, weights, people)


def finite() -> list[tuple[float, float]]:
    """All settings of finite populations."""
    found = []
    for n, population in (
        (60, 60),
        (301, 301),
        (400, 400),
        (600, 600),
        (2000, 2000),
        (400, 440),
        (400, 500),
        (50, 5000),
    ):
        found += [finite_shares(n, population, epsilon) for epsilon in (1.0, 3.0, 5.0, 6.0)]
    for n, population in ((5, 5), (12, 12), (8, 12), (5, 30)):
        for epsilon in (1.0, 3.0, 6.0):
            found.append(finite_mean(n, population, epsilon, [0, 1, 2]))
        found.append(finite_mean(n, population, 4.0, [0, 1, 3.7]))
    return found


def main() -> int:
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    found: list[tuple[float, float]] = []
    for epsilon in [float(one) for one in sys.argv[2:]] or EPSILONS:
        print(f"ε = {epsilon:g}")
        for n in (5, 10, 20, 50, 100):
            if n <= largest:
                found.append(multinomial("yes/no shares", ex.randomized_response(2, epsilon), None, n))
                found.append(multinomial("yes/no mean", ex.randomized_response(2, epsilon), ex.Mean([0, 1]), n))
        for n in (5, 20, 50, 100):
            if n <= largest:
                found.append(multinomial("three shares", ex.randomized_response(3, epsilon), None, n))
                found.append(multinomial("mean of three", ex.randomized_response(3, epsilon), ex.Mean([0, 1, 2]), n))
                found.append(multinomial("geometric, CDF of three", ex.geometric(3, epsilon), ex.CDF(3), n))
        for goal in (ex.Mean([0, 1, 2]), ex.CDF(3)):
            designed = ex.design(ex.LDP(epsilon), goal).mechanism
            few = [n for n in (5, 10, 20, 40) if n <= largest and len(outcomes(n, designed.m)) <= 2_000]
            name = f"designed {type(goal).__name__}, m={designed.m}"
            found += [multinomial(name, designed, goal, n) for n in few]
        for n0, n1 in ((5, 5), (5, 20), (10, 10), (20, 20), (50, 50), (5, 100)):
            if max(n0, n1) <= largest:
                found.append(difference(n0, n1, epsilon))
    print("finite populations")
    found += finite()
    slack, narrow = np.array(found).min(axis=0)
    caught = sum(pulled < -ROUNDING for _, pulled in found)
    print(
        f"{len(found)} settings × {len(LEVELS)} levels: least coverage less its level {slack:+.2e}; limits pulled in "
        f"by a fifth of their length fall below it by up to {-narrow:.3f}, in {caught} settings"
    )
    return int(slack < -ROUNDING or caught < len(found) // 3)


if __name__ == "__main__":
    sys.exit(main())
