"""Mutual information against 60-digit arithmetic, reference values, and ten thousand symbols."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex

RELATIVE = 1e-9
EPSILONS = [1e-6, 1e-3, 0.1, 1, 5, 20, 50]


def _mechanisms(epsilon: float) -> list[ex.Mechanism]:
    return [
        ex.randomized_response(4, epsilon),
        ex.geometric(4, epsilon),
        ex.Mechanism.from_partition([0, 1, 1, 0], ex.LDP(epsilon)),
    ]


@pytest.mark.parametrize(
    "prior",
    [["0.5", "0.3", "0.2", "0"], ["0.25"] * 4, ["0.999999999999", "1e-12", "0", "0"], ["0.4", "0.3", "0.2", "0.1"]],
)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_information(precise: Any, prior: list[str], epsilon: float) -> None:
    for m in _mechanisms(epsilon):
        expected = precise.information(precise.exact(m), prior)
        assert ex.MutualInformation(prior)(m) == pytest.approx(float(expected), rel=RELATIVE)


def test_reference_information_of_an_approximate_mechanism(reference: dict[str, Any]) -> None:
    case = reference["approx_ldp_delta_of_mechanism"]
    m = ex.Mechanism.from_matrix(case["arguments"]["mechanism_rows_x_cols_y"])
    information = ex.MutualInformation(["0.3", "0.7"])
    assert information(m) == pytest.approx(float(case["expected"]["MI_of_mechanism_prior_0p3_0p7"]), rel=1e-12)
    delta = case["expected"]["smallest_delta"]
    best = ex.quaternary(case["arguments"]["epsilon"], delta)
    assert information(best) == pytest.approx(float(case["expected"]["MI_of_quaternary_same_eps_delta"]), rel=1e-12)


def test_ten_thousand_symbols_need_no_matrix() -> None:
    p = np.full(10_000, 1e-4)
    m = ex.randomized_response(10_000, 8)
    z, e = 1e-4, math.exp(8)
    expected = (z * e * 8 - (1 + (e - 1) * z) * math.log1p((e - 1) * z)) * 10_000 / (e + 9_999)
    assert ex.MutualInformation(p)(m) == pytest.approx(expected, rel=1e-9)
