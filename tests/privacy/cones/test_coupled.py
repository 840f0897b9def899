"""Rays of the cells of (ε,δ)-LDP: connected levels, and what they take of δ."""

import math

import numpy as np
import pytest

from extremal.errors import TooLarge
from extremal.privacy.cones.coupled import couplings, levels, rays


@pytest.mark.parametrize("k", [2, 3, 4])
def test_every_ray_has_levels_without_a_gap_and_none_comes_twice(k: int) -> None:
    found = levels(k)
    assert len(set(found)) == len(found)
    for level in found:
        used = {depth for depth in level if depth >= 0}
        assert used == set(range(len(used)))
        assert len(used) > 1 or sum(depth >= 0 for depth in level) == 1
    columns = rays(k, 0.7)
    assert columns.shape == (k, len(found))
    assert (columns.max(axis=0) == 1).all()
    for level, column in zip(found, columns.T, strict=True):
        assert column.tolist() == pytest.approx([0 if d < 0 else math.exp(-0.7 * d) for d in level], rel=1e-15)


def test_couplings_are_what_a_column_takes_of_delta() -> None:
    column = np.array([[1.0], [0.5], [0.0]])
    taken = couplings(column, math.log(1.5))
    pairs = [(x, z) for x in range(3) for z in range(3) if x != z]
    for (x, z), found in zip(pairs, taken[:, 0], strict=True):
        assert found == pytest.approx(max(column[x, 0] - 1.5 * column[z, 0], 0), abs=1e-15)
    assert taken.sum() > 0


def test_seven_inputs_are_refused() -> None:
    with pytest.raises(TooLarge, match="at most 6 inputs"):
        levels(7)
