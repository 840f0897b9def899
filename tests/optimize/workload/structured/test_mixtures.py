"""Mixtures of colourings: prices are what they say, tiles are independent between blocks, limits are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.workload.lifts import Floats
from extremal.optimize.workload.solve import MOST_PAIRS, MOST_REPORTS, MOST_SMALL_SETS, _enough_reports
from extremal.optimize.workload.structured.colourings import (
    ColouredCells,
    OrderedInputs,
    Tiles,
    compact,
    raised,
    shifts,
)
from extremal.optimize.workload.structured.mixtures import ColourMixture, best_mixture, inverted, plans


def _ordered(k: int, epsilon: float, skewed: bool = False) -> OrderedInputs:
    prior = np.exp(-3 * np.arange(k) / k) if skewed else np.ones(k)
    return OrderedInputs.of(prior / prior.sum(), ex.CDF(k).rows, math.expm1(epsilon))


def _rounds(count: int) -> Callable[[], bool]:
    left = iter([False] * count)
    return lambda: next(left, True)


@pytest.mark.parametrize(("colours", "blocks"), [(2, 5), (3, 10), (4, 16), (5, 7), (8, 16), (8, 20), (4, 2)])
def test_colours_of_different_blocks_are_independent(colours: int, blocks: int) -> None:
    table = shifts(colours, blocks)
    for b, c in combinations(range(blocks), 2):
        difference = (
            table[:, b] ^ table[:, c] if colours & (colours - 1) == 0 else (table[:, b] - table[:, c]) % colours
        )
        assert len(set(np.bincount(difference, minlength=colours).tolist())) == 1


@pytest.mark.parametrize("skewed", [False, True])
def test_the_value_and_the_slope_are_those_of_the_mechanism(skewed: bool) -> None:
    problem, k = _ordered(31, 1.5, skewed), 31
    assert problem.mirrored is not skewed
    cells = ColouredCells(problem, k)
    cells.add(cells.random(np.full(40, 5), np.random.default_rng(0)), 1.0)
    mixture = ColourMixture(problem, [cells])
    prices = mixture.evaluate(cells.weights)
    m = mixture.mechanism(ex.LDP(1.5))
    assert mixture.value / problem.unit == pytest.approx(ex.CDF(problem.prior.tolist())(m), rel=1e-9)
    assert float(prices @ cells.weights) == pytest.approx(mixture.value, rel=1e-9)  # tr(GV) = F
    moved = cells.weights.copy()
    moved[3] += 1e-6
    slope = prices[3]
    mixture.evaluate(moved)
    assert (float(prices @ cells.weights) - mixture.value) / 1e-6 == pytest.approx(slope, rel=1e-3)


def test_raising_never_lowers_a_price() -> None:
    problem, generator = _ordered(40, 1.0, skewed=True), np.random.default_rng(1)
    cells = ColouredCells(problem, 40)
    colours = np.repeat([4, 6], 15)
    start = cells.random(colours, generator)
    cells.add(start, 1.0)
    mixture = ColourMixture(problem, [cells])
    before = mixture.evaluate(cells.weights)
    one = np.zeros(30, dtype=np.intp)
    labels = raised(mixture.slope[None], one, start, colours, cells.masses, problem.growth, generator)
    assert (labels.max(axis=1) < colours).all()
    after = ColouredCells(problem, 40)
    after.add(compact(labels), 1.0)
    assert (after.prices(mixture.slope) >= before * (1 - 1e-12)).all()
    assert after.prices(mixture.slope).mean() > 1.05 * before.mean()


def test_a_tile_is_worth_its_colourings_but_for_their_masses() -> None:
    problem, generator = _ordered(256, 1.0), np.random.default_rng(2)
    tiles = Tiles(problem, 4, 16)
    tiles.add(tiles.priced(np.eye(256), np.full(6, 4), generator), 1.0)
    cells = ColouredCells(problem, 256)
    labels, weights = tiles.colourings()
    cells.add(compact(labels), 1.0)
    assert weights.sum() == pytest.approx(1)
    assert len(labels) == 6 * 32 == tiles.reports.sum() // 4
    ideal, true = (
        _centred(kind.information(own), problem.prior) for kind, own in ((tiles, tiles.weights), (cells, weights))
    )
    assert np.abs(ideal - true).max() < 0.1 * np.abs(true).max()
    slope = np.cov(generator.normal(size=(256, 300)))
    assert float(tiles.prices(slope) @ tiles.weights) == pytest.approx(
        float(np.sum(slope * _both(tiles.information(tiles.weights))))
    )


def _both(half: Floats) -> Floats:
    return np.asarray(half + half.T)


def _centred(half: Floats, prior: Floats) -> Floats:
    v = _both(half)
    line = v @ prior
    return np.asarray(v - line - line[:, None] + line @ prior)


@pytest.mark.parametrize(
    ("epsilon", "kinds"), [(1.0, [100, "tiles"]), (2.0, [100, 135, "tiles"]), (4.0, [100, 135, 270, 540])]
)
def test_many_inputs_are_coloured_in_cells_and_tiles(epsilon: float, kinds: list[object]) -> None:
    problem = _ordered(540, epsilon)
    used = dict.fromkeys("tiles" if isinstance(kind, Tiles) else kind.count for kind, _ in plans(problem))
    assert set(used) == set(kinds)
    mixture = best_mixture(problem, 1.0, _rounds(1), [].append)
    first = mixture.value
    m = mixture.mechanism(ex.LDP(epsilon))
    assert ex.CDF(540)(m) == pytest.approx(first / problem.unit, rel=0.02)
    mixture.trim(m.m // 2)
    assert mixture.mechanism(ex.LDP(epsilon)).m <= m.m // 2


def test_rounds_end_when_they_gain_little() -> None:
    told: list[float] = []
    problem = _ordered(16, 1.0)
    mixture = best_mixture(problem, 76.0, lambda: False, told.append)
    assert 10 <= len(told) < 200
    assert mixture.value / problem.unit < 1.02 * 76.49
    assert inverted(np.eye(16) + 1.0, problem)[0] > 0


@pytest.mark.parametrize(("utility", "gap"), [(ex.CDF(36), 6e-3), (ex.Ranges(33), 6e-3)])
def test_designs_for_ordered_inputs_are_certified(utility: ex.Workload, gap: float) -> None:
    d = ex.design(ex.LDP(1), utility)
    assert d.method == "mixture of colourings"
    assert d.gap < gap
    assert ex.verify(d)
    few = ex.design(ex.LDP(1), utility, max_outputs=200)
    assert few.mechanism.m <= 200
    assert few.gap < 0.2


def test_inputs_that_no_statistic_tells_apart_are_coloured_alike() -> None:
    rows = np.repeat(np.tril(np.ones((64, 65))), 2, axis=1)
    d = ex.design(ex.LDP(1), ex.Workload(rows, 130), time_limit=1)
    assert d.mechanism.row_classes == 65
    assert ex.verify(d)


def test_more_reports_are_kept_where_their_sets_are_small() -> None:
    problem, generator = _ordered(1000, 4), np.random.default_rng(0)
    kept = []
    for colours in (3, 8, 50):
        cells, tiles = ColouredCells(problem, 100), Tiles(problem, 8, 67)
        cells.add(np.arange(100)[None] % colours, 1.0)
        mixture = ColourMixture(problem, [cells])
        assert mixture.colours.tolist() == [colours]
        pairs = sum(int(n) ** 2 for n in np.bincount(cells.colourings()[0][0])) / colours  # in a set, on average
        kept.append(_enough_reports(mixture))
        assert kept[-1] == MOST_REPORTS or kept[-1] * pairs <= MOST_PAIRS * 1.01
        tiles.add(tiles.random(np.full(2, 8), generator), 1.0)
        assert ColourMixture(problem, [cells, tiles]).colours.tolist() == [colours, 8, 8]
    assert kept[0] == MOST_REPORTS < kept[1] < kept[2] == MOST_SMALL_SETS
