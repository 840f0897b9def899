"""One bit: ties, and the better side."""

from __future__ import annotations

from typing import Any

import pytest

import extremal as ex


def test_binary_with_ties(reference: dict[str, Any]) -> None:
    """Erratum E1: KOV put ties into T; here the better side is taken."""
    arguments, expected = (
        reference["ldp_thm5_tie_counterexample"]["arguments"],
        reference["ldp_thm5_tie_counterexample"]["expected"],
    )
    p0, p1, epsilon = arguments["p0"], arguments["p1"], arguments["epsilon"]
    assert ex.KL(p0, p1)(ex.binary(p0, p1, epsilon)) == pytest.approx(float(expected["BIN_KL_other_T_1"]), rel=1e-12)
    printed = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(epsilon))
    assert ex.KL(p0, p1)(printed) == pytest.approx(float(expected["BIN_KL_paper_T_1_2"]), rel=1e-12)
    assert ex.KL(p0, p1)(printed) < ex.KL(p0, p1)(ex.binary(p0, p1, epsilon))
