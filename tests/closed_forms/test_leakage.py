"""Closed forms under pointwise maximal leakage: reference values, exact levels, errata."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.testing import priors


@pytest.mark.parametrize("case_id", ["pml_binary_0.55_eps0.3", "pml_binary_0.55_eps0.7"])
def test_pml_binary(same: Callable[..., None], reference: dict[str, Any], case_id: str) -> None:
    arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
    m = ex.pml_binary(arguments["prior"], arguments["epsilon"])
    same(m, expected["mechanism_rows_x_cols_y"])
    information = ex.MutualInformation(arguments["prior"])
    assert information(m) == pytest.approx(float(expected["MI"]), rel=1e-12)
    response = ex.pml_randomized_response(arguments["prior"], arguments["epsilon"])
    assert ex.LDP(1).level(response) == pytest.approx(float(expected["RR_eps_r"]), rel=1e-12)
    assert information(response) == pytest.approx(float(expected["RR_MI"]), rel=1e-12)


@pytest.mark.parametrize("case_id", ["pml_high_privacy_N4_log(9o8)", "pml_high_privacy_N3_0.2"])
def test_pml_high_privacy(same: Callable[..., None], reference: dict[str, Any], case_id: str) -> None:
    arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
    m = ex.pml_high_privacy(arguments["prior"], arguments["epsilon"])
    same(m, expected["mechanism_rows_x_cols_y"])
    assert ex.MutualInformation(arguments["prior"])(m) == pytest.approx(float(expected["MI"]), rel=1e-12)
    # Erratum P9: the correlation of the labels 1..N is exactly 1 − e^ε, negative.
    p, labels = np.array([float(v) for v in arguments["prior"]]), np.arange(1, m.k + 1)
    joint, mean = p[:, None] * m.matrix, p @ labels
    covariance = labels @ joint @ labels - mean * (m.marginal(p) @ labels)
    deviation = math.sqrt(p @ labels**2 - mean**2) * math.sqrt(
        m.marginal(p) @ labels**2 - (m.marginal(p) @ labels) ** 2
    )
    assert covariance / deviation == pytest.approx(float(expected["pearson_correlation_labels_1_to_N"]), rel=1e-9)


@pytest.mark.parametrize("case_id", ["pml_uniform_N4_log(3)", "pml_uniform_N3_0.3", "pml_uniform_N3_0.8"])
def test_pml_uniform_up_to_the_order_of_columns(reference: dict[str, Any], case_id: str) -> None:
    """Erratum P10: the class of mechanisms, not the printed order of its columns."""
    arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
    m = ex.pml_uniform(arguments["N"], arguments["epsilon"])
    columns = np.array([[float(v) for v in row] for row in expected["mechanism_rows_x_cols_y"]]).T.round(9).tolist()
    assert np.array(sorted(m.matrix.T.round(9).tolist())) == pytest.approx(np.array(sorted(columns)), abs=1e-12)
    assert ex.MutualInformation(arguments["prior"])(m) == pytest.approx(float(expected["MI"]), rel=1e-12)
    response = ex.pml_randomized_response(arguments["prior"], arguments["epsilon"])
    assert ex.LDP(1).level(response) == pytest.approx(float(expected["RR_eps_r"]), rel=1e-12)
    assert ex.MutualInformation(arguments["prior"])(response) == pytest.approx(float(expected["RR_MI"]), rel=1e-12)


@pytest.mark.parametrize("case_id", ["pml_regions_and_rr_N3_0.5", "pml_regions_and_rr_N5_0.3"])
def test_pml_randomized_response(reference: dict[str, Any], case_id: str) -> None:
    arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
    m = ex.pml_randomized_response(arguments["prior"], arguments["epsilon"])
    assert ex.LDP(1).level(m) == pytest.approx(float(expected["eps_r_for_PML_eps"]), rel=1e-12)


def test_p10_indices_are_mod_n_with_representatives_1_to_n() -> None:
    """Read with representatives 0..N−1 the printed set of Theorem 4 leaves a row without its last entry."""
    for n in range(2, 9):
        for epsilon in (0.2, 0.7, 1.5):
            assert ex.pml_uniform(n, epsilon).matrix.sum(axis=1) == pytest.approx(1)


@given(priors(zeros=False, largest=6), st.floats(0.02, 0.98))
def test_every_pml_form_uses_its_epsilon_exactly(
    tight: Callable[..., None], prior: list[Fraction], share: float
) -> None:
    p = [float(x) for x in prior]
    first = -math.log1p(-min(p))
    epsilon = first * share
    tight(lambda e: ex.PML(e, prior), epsilon, ex.pml_high_privacy(prior, epsilon))
    wide = -math.log(min(p)) * share
    tight(lambda e: ex.PML(e, prior), wide, ex.pml_randomized_response(prior, wide))
    n = len(p)
    even = math.log(n) * share
    tight(lambda e: ex.PML(e, [f"1/{n}"] * n), even, ex.pml_uniform(n, even))


@given(st.integers(1, 99), st.floats(0.02, 1.2))
def test_pml_binary_dominates_every_other_mechanism(weight: int, share: float) -> None:
    """GSO Theorem 2: no mechanism with the same leakage keeps more information; randomised response as the rival."""
    p = [weight / 100, 1 - weight / 100]
    epsilon = -math.log(min(p)) * share
    m = ex.pml_binary(p, epsilon)
    assert ex.PML(epsilon, p).holds(m)
    if share < 0.999:
        assert not ex.PML(epsilon * (1 - 1e-9), p).holds(m)
        rival = ex.pml_randomized_response(p, epsilon)
        assert ex.MutualInformation(p)(m) >= ex.MutualInformation(p)(rival) * (1 - 1e-12)
