"""The mechanisms of the Hamming-distortion paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import extremal as ex


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
