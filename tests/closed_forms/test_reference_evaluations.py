"""The remaining evaluation cases of the reference values: patterns, expansions and coefficients of KOV."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.privacy.cones.staircase import patterns


def _identity(k: int) -> ex.Mechanism:
    return ex.Mechanism.from_weights(np.eye(k, dtype=int).tolist(), 1)


def test_staircase_patterns(reference: dict[str, Any]) -> None:
    """KOV Definition 3: every column of {1, e^ε}^k; ours leave the two constant ones out and are divided by e^ε."""
    case = reference["ldp_staircase_matrix_k3_eps1"]
    rows = np.array([[float(v) for v in row] for row in case["expected"]["staircase_pattern_matrix"]])
    printed = sorted(rows[:, 1:-1].T.round(12).tolist())
    ours = sorted((patterns(3, 1.0) * math.e).T.round(12).tolist())
    assert np.array(ours) == pytest.approx(np.array(printed), abs=1e-12)
    assert (rows[:, 0] == rows[0, 0]).all()
    assert (rows[:, -1] == rows[0, -1]).all()


def test_lemma_27(reference: dict[str, Any]) -> None:
    """The best mass z* of a pattern and its value; erratum E10 concerns the printed derivative, which is not 0
    there."""
    case = reference["ldp_lemma27_zstar"]
    for epsilon, z, value in zip(
        case["arguments"]["epsilon"], case["expected"]["z_star"], case["expected"]["mu_z_star"], strict=True
    ):
        e, mass = math.exp(float(epsilon)), float(z)

        def worth(m: float, e: float = e) -> float:
            return float(ex.MutualInformation([m, 1 - m]).column_values([[e], [1.0]])[0])

        assert worth(mass) == pytest.approx(float(value), rel=1e-12)
        assert worth(mass) > max(worth(mass - 1e-3), worth(mass + 1e-3))
        printed = e * mass - (e - 1) - (e - 1) * math.log1p((e - 1) * mass)
        corrected = e * float(epsilon) - (e - 1) - (e - 1) * math.log1p((e - 1) * mass)
        assert corrected == pytest.approx(0, abs=1e-12)
        assert abs(printed) > 0.01


def test_corollary_10(reference: dict[str, Any]) -> None:
    """Erratum E4: randomised response loses g·e^−ε of the divergence, not G·e^−ε."""
    case = reference["ldp_cor10_coefficient"]
    p0, p1 = case["arguments"]["p0"], case["arguments"]["p1"]
    utility = ex.KL(p0, p1)
    whole = utility(_identity(4))
    assert whole == pytest.approx(float(case["expected"]["D_KL_P0_P1"]), rel=1e-12)
    epsilon = 14.0
    coefficient = (whole - utility(ex.randomized_response(4, epsilon))) * math.exp(epsilon)
    assert coefficient == pytest.approx(float(case["expected"]["correct_g"]), rel=1e-4)
    assert coefficient != pytest.approx(float(case["expected"]["paper_G"]), rel=0.5)


def test_corollary_16(reference: dict[str, Any]) -> None:
    """Erratum E5: the remainder of I_RR is of order e^−ε, with the coefficient given."""
    case = reference["ldp_cor16_coefficient"]
    prior = case["arguments"]["prior"]
    information = ex.MutualInformation(prior)
    entropy = information(_identity(4))
    assert entropy == pytest.approx(float(case["expected"]["H"]), rel=1e-12)
    assert information(ex.randomized_response(4, 20)) == pytest.approx(float(case["expected"]["I_RR_eps20"]), rel=1e-12)
    epsilon = 12.0
    remainder = (information(ex.randomized_response(4, epsilon)) - entropy) * math.exp(epsilon) + 3 * epsilon
    assert remainder == pytest.approx(float(case["expected"]["coefficient_of_exp_minus_eps"]), rel=1e-2)
