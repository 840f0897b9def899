"""The named f-divergences against 60-digit arithmetic, to 1e-9 relative, from ε = 1e-6 to 50, with zeros, ties and
near-equal priors."""

from __future__ import annotations

import math
from typing import Any

import pytest

import extremal as ex

RELATIVE = 1e-9
EPSILONS = [1e-6, 1e-3, 0.1, 1, 5, 20, 50]
PAIRS = {
    "plain": (["0.4", "0.3", "0.2", "0.1"], ["0.1", "0.15", "0.3", "0.45"]),
    "zeros and ties": (["0.5", "0.5", "0", "0"], ["0.25", "0.5", "0.25", "0"]),
    "nearly equal": (["0.4000000001", "0.2999999999", "0.2", "0.1"], ["0.4", "0.3", "0.2", "0.1"]),
    "skewed": (["0.999999999999", "1e-12", "0", "0"], ["0.25", "0.25", "0.25", "0.25"]),
}
NAMED = ["KL", "ReverseKL", "SymmetricKL", "TotalVariation", "ChiSquared", "SquaredHellinger", "JensenShannon"]


def _mechanisms(epsilon: float) -> list[ex.Mechanism]:
    return [
        ex.randomized_response(4, epsilon),
        ex.geometric(4, epsilon),
        ex.Mechanism.from_partition([0, 1, 1, 0], ex.LDP(epsilon)),
    ]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_divergences(precise: Any, pair: str, epsilon: float) -> None:
    p0, p1 = PAIRS[pair]
    cases = [(getattr(ex, name)(p0, p1), precise.F[name]) for name in NAMED]
    cases += [(ex.AlphaDivergence(p0, p1, a), precise.alpha_f(a)) for a in ("-0.5", "0.5", "0.999999", "1.5", "3")]
    cases += [(ex.HockeyStick(p0, p1, g), precise.hockey_f(g)) for g in ("0.5", "1", "1.5")]
    for m in _mechanisms(epsilon):
        q = precise.exact(m)
        for utility, f in cases:
            expected = precise.divergence(f, q, p0, p1)
            # A hockey stick is 0 on most mechanisms, up to the last digit of its two large halves.
            floor = 1e-16 if isinstance(utility, ex.HockeyStick) else 0.0
            assert utility(m) == pytest.approx(float(expected), rel=RELATIVE, abs=floor), (utility.name, m)


@pytest.mark.parametrize("mechanism", ["binary", "randomized_response", "geometric"])
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_reference_values(reference: dict[str, Any], mechanism: str, epsilon: str) -> None:
    """KOV eq (3), (5), (12), to 1e-12."""
    case = reference.get(f"ldp_utilities_{mechanism}_k4_eps{epsilon}")
    if case is None:
        assert (mechanism, epsilon) in [("randomized_response", "2"), ("geometric", "2")]
        return
    p0, p1, expected = case["arguments"]["p0"], case["arguments"]["p1"], case["expected"]
    made = {
        "binary": lambda: ex.binary(p0, p1, epsilon),
        "randomized_response": lambda: ex.randomized_response(4, epsilon),
        "geometric": lambda: ex.geometric(4, epsilon),
    }[mechanism]()
    found = {
        "KL_M0_M1": ex.KL(p0, p1)(made),
        "KL_M1_M0": ex.ReverseKL(p0, p1)(made),
        "TV": ex.TotalVariation(p0, p1)(made),
        "chi2_M0_M1": ex.ChiSquared(p0, p1)(made),
        "squared_hellinger_sum_sqrtdiff2_no_half": ex.SquaredHellinger(p0, p1)(made),
        "MI_prior_P0": ex.MutualInformation(p0)(made),
    }
    for key, value in found.items():
        assert value == pytest.approx(float(expected[key]), rel=1e-12)
    assert made.marginal(p0) == pytest.approx([float(v) for v in expected["M0"]], rel=1e-12)
    assert made.marginal(p1) == pytest.approx([float(v) for v in expected["M1"]], rel=1e-12)


def test_infinite_is_inf_and_not_nan() -> None:
    identity = ex.Mechanism.from_weights([[4, 0, 0], [0, 4, 0], [0, 0, 4]], 4)
    p0, p1 = [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]
    for name, infinite in [
        ("KL", True),
        ("ReverseKL", True),
        ("SymmetricKL", True),
        ("ChiSquared", True),
        ("JensenShannon", False),
    ]:
        value = getattr(ex, name)(p0, p1)(identity)
        assert math.isinf(value) == infinite, name
    assert ex.TotalVariation(p0, p1)(identity) == 0.5
    assert ex.SquaredHellinger(p0, p1)(identity) == pytest.approx(1.0)
    assert math.isinf(ex.AlphaDivergence(p0, p1, 2)(identity))
    assert ex.AlphaDivergence(p0, p1, 0.5)(identity) == pytest.approx(2.0)
    assert ex.MutualInformation([1, 0, 0])(identity) == 0
