"""Mechanisms from sets that cover every input equally, and the same reports for more inputs."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex


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
    with pytest.raises(ex.InvalidParameter, match=message):
        ex.Mechanism.from_cover(4, sets, ex.LDP(1), times)


def test_spreading_keeps_rows_and_claim() -> None:
    merged = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1))
    wide = merged.spread([2, 0, 1, 2, 2])
    np.testing.assert_array_equal(wide.weights, merged.weights[[2, 0, 1, 2, 2]])
    assert wide.privacy == ex.LDP(1)
    assert wide.outputs == merged.outputs
    plain = ex.randomized_response(3, 1).spread([1, 0, 2, 2])
    np.testing.assert_array_equal(plain.weights[3], ex.randomized_response(3, 1).weights[2])


@pytest.mark.parametrize("row_of", [[0, 3], [-1, 0], [0], [[0, 1]], [0.5, 1.0]])
def test_positions_that_do_not_exist_are_refused(row_of: object) -> None:
    with pytest.raises(ex.InvalidParameter, match="row_of must hold positions 0..2"):
        ex.randomized_response(3, 1).spread(row_of)
