"""Integers for symmetric patterns: exact, and as close to e^ε as 2^-62 allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.exact import Exponential
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import Rows
from extremal.mechanism.structures.staircase import (
    listed_subsets,
    response_structure,
    subset_structure,
    uniform_structure,
    window_structure,
)


@given(
    st.integers(2, 9).flatmap(lambda r: st.tuples(st.just(r), st.integers(1, r - 1))),
    st.sampled_from([0.01, 1.0, 5.0, 50.0]),
)
def test_windows_and_responses_are_exact_and_tight(shape: tuple[int, int], epsilon: float) -> None:
    r, length = shape
    exponential = Exponential(epsilon)
    for structure in (window_structure(r, length, exponential), response_structure(r, exponential)):
        dense = Rows(structure.rows().copy())
        assert [c.groups for c in structure.columns()] == [c.groups for c in dense.columns()]
        columns = list(structure.columns())
        assert all(exponential.at_least(c.largest, c.smallest) for c in columns)
        # One unit less on the low side, the row completed, would break the notion: the budget is used to the last unit.
        low, size = columns[-1].smallest, len(columns[-1].groups[-1][1])
        assert low == 1 or not exponential.at_least((DENOMINATOR - (r - size) * (low - 1)) // size, low - 1)


def test_subsets_use_the_budget_to_the_last_unit() -> None:
    for epsilon in (0.01, 1.0, 8.0, 50.0):
        structure = subset_structure(100, 30, Exponential(epsilon))
        assert Exponential(epsilon).at_least(structure.high, structure.low)
        more = (structure.inside + 1) * 70, (DENOMINATOR - structure.inside - 1) * 30
        assert not more[1] or not Exponential(epsilon).at_least(*more)
        total = math.comb(99, 29) * structure.high + math.comb(99, 30) * structure.low
        assert total == structure.denominator


def test_epsilon_zero_is_uniform() -> None:
    for structure in (response_structure(3, Exponential(0)), window_structure(3, 2, Exponential(0))):
        assert isinstance(structure, Rows)
        assert structure.r == 1
        assert structure.array.max() - structure.array.min() <= 1
    m = ex.randomized_response(5, 0)
    assert (m.k, m.m, m.row_classes) == (5, 5, 1)
    assert ex.LDP(0).holds(m)
    assert ex.Mechanism.from_windows(6, 3, ex.LDP(0)).row_classes == 1
    assert uniform_structure(4).array.tolist() == [[DENOMINATOR // 4] * 4]
    assert listed_subsets(4, 2, Exponential(0)).r == 1
    assert ex.Mechanism.from_subsets(4, 2, ex.LDP(0)).row_classes == 1


def test_windows_are_a_cover() -> None:
    sets = [[(y + i) % 9 for i in range(4)] for y in range(9)]
    assert ex.Mechanism.from_cover(9, sets, ex.LDP(1)) == ex.Mechanism.from_windows(9, 4, ex.LDP(1))


def test_sets_may_count_several_times() -> None:
    made = ex.Mechanism.from_cover(
        5, [[0], [1], [2, 3], [3, 4], [4, 2]], ex.LDP(2), times=[2, 2, 1, 1, 1], inputs=list("abcde")
    )
    ratio = made.matrix.max(axis=0) / made.matrix.min(axis=0)
    np.testing.assert_allclose(ratio, np.exp(2), rtol=1e-12)
    np.testing.assert_allclose(made.matrix[:, 0] / made.matrix[:, 2].max(), [2] + [2 * np.exp(-2)] * 4, rtol=1e-12)
    assert ex.LDP(2).holds(made)
    assert not ex.LDP("1.999999999").holds(made)


def test_nothing_is_told_at_epsilon_zero() -> None:
    made = ex.Mechanism.from_cover(4, [[0, 1], [2, 3]], ex.LDP(0))
    assert made.row_classes == 1
    assert made.m == 2


@pytest.mark.parametrize(
    ("sets", "times", "message"),
    [
        ([[0, 1], [2]], None, "every input must lie in equally many sets"),
        ([[0, 1, 2, 3]], None, "a set of some inputs, not all"),
        ([[0, 1], [2, 3]], [1], "a set of some inputs, not all"),
        ([[0, 1], [2, 9]], None, "a set of some inputs, not all"),
        ([[0, 1], []], None, "a set of some inputs, not all"),
        ([[0, 1], [2, 3]], [1, 2], "every input must lie in equally many sets"),
    ],
)
def test_what_is_no_cover_is_refused(sets: list[list[int]], times: list[int] | None, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.Mechanism.from_cover(4, sets, ex.LDP(1), times)
