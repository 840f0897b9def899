"""The mechanisms of the Hamming-distortion paper, and the exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms import exponential
from extremal.errors import InvalidParameter


def test_hamming(same: Callable[..., None], reference: dict[str, Any]) -> None:
    """KSS eq (25), (26); erratum H7: the level is the logarithm."""
    arguments, expected = (
        reference["hamming_paper_mechanism_M4_k1"]["arguments"],
        reference["hamming_paper_mechanism_M4_k1"]["expected"],
    )
    m = ex.hamming(arguments["M"], arguments["distortion"], zero_columns=arguments["k"])
    same(m, [row[:3] for row in expected["mechanism"]])
    assert ex.LDP(1).level(m) == pytest.approx(float(expected["ldp_level"]), rel=1e-12)
    printed = (3 - 1) * (1 - 0.35) / 0.35  # eq (26) without its logarithm
    assert ex.LDP(1).level(m) != pytest.approx(printed, rel=0.1)
    invariant = reference["hamming_permutation_invariant_M3_D0.3"]["expected"]
    same(ex.hamming(3, "0.3"), invariant["mechanism"])
    assert ex.LDP(1).level(ex.hamming(3, "0.3")) == pytest.approx(float(invariant["eps_star"]), rel=1e-12)


def test_hamming_without_distortion_reveals() -> None:
    assert ex.hamming(3, 0).privacy is None
    assert ex.hamming(3, "2/3").privacy == ex.LDP(0) or ex.LDP(1).level(ex.hamming(3, "2/3")) < 1e-8


POINTS = np.array([(i, j) for i in range(3) for j in range(3)])
GRID = np.hypot(*(POINTS[:, None] - POINTS[None]).transpose(2, 0, 1)).round(12)


def test_exponential_mechanism() -> None:
    loss = GRID
    m = exponential(loss, 1)
    assert ex.LDP(1).holds(m)
    assert ex.LDP(1).level(m) == pytest.approx(1, abs=1e-9)  # the largest β
    np.testing.assert_allclose(exponential(1 - np.eye(4), 2).matrix, ex.randomized_response(4, 2).matrix, atol=1e-12)
    d = ex.design(ex.LDP(3), ex.Distortion(np.full(9, 1 / 9), loss))
    assert d.value <= ex.Distortion(np.full(9, 1 / 9), loss)(exponential(loss, 3))
    assert d.notes[0].startswith("exponential mechanism (Wang, Ying, Zhang): ")
    assert exponential([[0, 1, 2], [1, 0, 0]], 1, outputs=["a", "b", "c"]).outputs == ("a", "b", "c")
    with pytest.raises(InvalidParameter, match="distances must be a finite matrix"):
        exponential([[0, math.inf], [1, 0]], 1)
    with pytest.raises(InvalidParameter, match="distances must depend on the input"):
        exponential([[0, 1], [0, 1]], 1)
