"""Splits of a budget: the variances are those of the mechanisms, and no grid finds a better split."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import extremal as ex
from extremal.questionnaire.budget import split_budget, total_variance


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.3), (2, 4), (5, 1), (10, 0.5), (10, 3), (40, 1)])
def test_the_variance_is_that_of_the_best_subset_selection(k: int, epsilon: float) -> None:
    wanted = ex.Frequencies(k)(ex.subset_selection(k, epsilon)) if k < 12 else None
    if wanted is not None:
        assert total_variance(k, epsilon) == pytest.approx(wanted, rel=1e-9)
    assert total_variance(k, epsilon) == pytest.approx(min(total_variance(k, epsilon, d) for d in range(1, k)))


@pytest.mark.parametrize(
    ("total", "sizes", "weights"),
    [
        (1, {"a": 2, "b": 2}, {}),
        (2, {"a": 2, "b": 8}, {}),
        (0.1, {"a": 2, "b": 30}, {"a": 5}),
        (6, {"a": 3, "b": 12}, {"b": "0.1"}),
        (4, {"a": 2, "b": 5, "c": 20}, {"a": 10}),
        (3, {"a": 4, "b": 4, "c": 9}, {"c": 0.01}),
        (12, {"a": 2, "b": 3, "c": 6}, {}),
    ],
)
def test_no_split_on_a_grid_is_better(total: float, sizes: dict[str, int], weights: dict[str, object]) -> None:
    found = split_budget(total, sizes, "variance", weights)
    assert sum(found.values()) == Fraction(str(total))
    assert all(e > 0 for e in found.values())

    def cost(levels: list[float]) -> float:
        parts = zip(sizes.items(), levels, strict=True)
        return math.fsum(float(weights.get(name, 1)) * total_variance(k, e) for (name, k), e in parts)

    steps = 400 if len(sizes) == 2 else 60
    cells = [total * i / steps for i in range(1, steps)]
    if len(sizes) == 2:
        others = (cost([e, total - e]) for e in cells)
    else:
        pairs = ((e, f) for e, f in itertools.product(cells, cells) if e + f < total * (1 - 1e-9))
        others = (cost([e, f, total - e - f]) for e, f in pairs)
    best = cost([float(e) for e in found.values()])
    assert best <= min(others) * (1 + 1e-5)
    if not weights and len(set(sizes.values())) > 1:
        assert best < cost([total / len(sizes)] * len(sizes))


def test_slopes_are_equal_at_the_best_split() -> None:
    sizes = {"a": 2, "b": 5, "c": 20}
    found = split_budget(3, sizes, "variance")
    step = 1e-4
    slopes = [
        (total_variance(k, e + step) - total_variance(k, e - step)) / (2 * step)
        for k, e in zip(sizes.values(), map(float, found.values()), strict=True)
    ]
    assert slopes == pytest.approx([slopes[0]] * 3, rel=1e-3)


def test_an_equal_split_is_equal_and_exact() -> None:
    assert split_budget(1, {"a": 2, "b": 7, "c": 3}) == dict.fromkeys("abc", Fraction(1, 3))
    assert split_budget("0.5", {"a": 2}, "variance") == {"a": Fraction(1, 2)}
    alike = split_budget(1, {"a": 4, "b": 4}, "variance")
    assert float(alike["a"]) == pytest.approx(0.5, abs=1e-5)


def test_many_questions() -> None:
    found = split_budget(10, {str(i): 2 + i % 7 for i in range(50)}, "variance")
    assert sum(found.values()) == 10
    by_size = np.array([[2 + i % 7, float(found[str(i)])] for i in range(50)])
    means = [by_size[by_size[:, 0] == k, 1].mean() for k in range(2, 9)]
    assert means == sorted(means)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0, "sizes": {"a": 2}}, "epsilon must lie between"),
        ({"epsilon": 101, "sizes": {"a": 2}}, "epsilon must lie between"),
        ({"epsilon": 1, "sizes": {}}, "at least one question"),
        ({"epsilon": 1, "sizes": {"a": 1}}, "at least 2"),
        ({"epsilon": 1, "sizes": {"a": 2}, "split": "fair"}, "equal, variance"),
        ({"epsilon": 1, "sizes": {"a": 2}, "weights": {"a": 2}}, "change nothing"),
        ({"epsilon": 1, "sizes": {"a": 2}, "split": "variance", "weights": {"b": 2}}, "for questions"),
        ({"epsilon": 1, "sizes": {"a": 2}, "split": "variance", "weights": {"a": 0}}, "positive"),
    ],
)
def test_bad_budgets_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        split_budget(**options)
