"""Two-valued columns refuse nonsense, and know when they are windows."""

import numpy as np
import pytest

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, IndexSet
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import TwoValuedColumns
from extremal.mechanism.structures.staircase import window_structure
from extremal.mechanism.structures.structure import SMALL


def _two(sets: list[IndexSet], low: list[int], high: list[int], r: int = 2) -> TwoValuedColumns:
    return TwoValuedColumns(r, tuple(sets), np.array(low, dtype=np.int64), np.array(high, dtype=np.int64))


def test_two_valued_columns_refuse_nonsense() -> None:
    quarter = DENOMINATOR // 4
    left, right = IndexSet(((0, 1),)), IndexSet(((1, 2),))
    _two([left, right], [quarter, quarter], [3 * quarter, 3 * quarter])
    with pytest.raises(InvalidParameter, match="must sum to the denominator"):
        _two([left, left], [quarter, quarter], [3 * quarter, 3 * quarter])
    with pytest.raises(InvalidParameter, match="one low and one high"):
        _two([left], [quarter, quarter], [3 * quarter, 3 * quarter])
    with pytest.raises(InvalidParameter, match="0 ≤ low < high"):
        _two([left, right], [quarter, 3 * quarter], [3 * quarter, quarter])
    for bad in (IndexSet(()), IndexSet(((0, 2),)), IndexSet(((1, 3),))):
        with pytest.raises(InvalidParameter, match=r"a set must hold some rows, not all; got sets\[1\]"):
            _two([left, bad], [quarter, quarter], [3 * quarter, 3 * quarter])


def test_windows_know_their_length_and_others_have_none() -> None:
    quarter = DENOMINATOR // 4
    windows = window_structure(9, 4, Exponential(1))
    assert isinstance(windows, TwoValuedColumns)
    assert windows.window == 4
    left, right = IndexSet(((0, 1),)), IndexSet(((1, 2),))
    assert _two([left, right], [quarter, quarter], [3 * quarter, 3 * quarter]).window == 1
    assert _two([right, left], [quarter, quarter], [3 * quarter, 3 * quarter]).window is None  # shifted by one
    uneven = _two([left, left, right], [0, 0, quarter], [quarter, 2 * quarter, 4 * quarter])
    assert uneven.window is None
    steps = _two([left, right, left], [quarter, 0, 0], [2 * quarter, 3 * quarter, 2 * quarter], r=2)
    assert steps.window is None


def test_large_ones_are_recognised_in_their_rows_and_small_ones_left_as_rows() -> None:
    windows = window_structure(80, 7, Exponential(1))
    assert windows.r * windows.m > SMALL
    found = TwoValuedColumns.recognised(windows.rows())
    assert found is not None
    assert found.to_json() == windows.to_json()
    assert windows.plain_rows() is None
    small = window_structure(9, 4, Exponential(1))
    assert TwoValuedColumns.recognised(small.rows()) is None
    assert small.plain_rows() is not None
