"""The exponential mechanism for a distortion."""

from __future__ import annotations

import math

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter

POINTS = np.array([(i, j) for i in range(3) for j in range(3)])
GRID = np.hypot(*(POINTS[:, None] - POINTS[None]).transpose(2, 0, 1)).round(12)


def test_exponential_mechanism() -> None:
    loss = GRID
    m = ex.exponential(loss, 1)
    assert ex.LDP(1).holds(m)
    assert ex.LDP(1).level(m) == pytest.approx(1, abs=1e-9)  # the largest β
    np.testing.assert_allclose(ex.exponential(1 - np.eye(4), 2).matrix, ex.randomized_response(4, 2).matrix, atol=1e-12)
    d = ex.design(ex.LDP(3), ex.Distortion(np.full(9, 1 / 9), loss))
    assert d.value <= ex.Distortion(np.full(9, 1 / 9), loss)(ex.exponential(loss, 3))
    assert d.notes[0].startswith("exponential mechanism (Wang, Ying, Zhang): ")
    assert ex.exponential([[0, 1, 2], [1, 0, 0]], 1, outputs=["a", "b", "c"]).outputs == ("a", "b", "c")
    with pytest.raises(InvalidParameter, match="distances must be a finite matrix"):
        ex.exponential([[0, math.inf], [1, 0]], 1)
    with pytest.raises(InvalidParameter, match="distances must depend on the input"):
        ex.exponential([[0, 1], [0, 1]], 1)
