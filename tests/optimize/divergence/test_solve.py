"""f-divergences under ε-LDP: against the full 2^k program, the reference values, and 60-digit arithmetic."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import extremal as ex
from extremal.testing.designs import check
from support.divergences import DIVERGENCES, random_divergence


def test_designs_are_private_and_proven_on_a_sample() -> None:
    generator = np.random.default_rng(4)
    for index in range(60):
        utility, epsilon = random_divergence(generator, index)
        check(ex.design(ex.LDP(epsilon), utility), tolerance=1e-8)


@pytest.mark.parametrize(
    "case_id",
    [
        f"ldp_opt_fdiv_k{k}_eps{e}"
        for k, e in [(2, 1), (3, 0.5), (3, 2.5), (3, 5), (4, 0.5), (4, 2.5), (6, 0.5), (6, 5)]
    ],
)
def test_reference_optima(reference: dict[str, Any], case_id: str) -> None:
    """KOV Theorem 4, to 1e-10: every divergence of every case."""
    case = reference[case_id]
    p0, p1, epsilon = case["arguments"]["p0"], case["arguments"]["p1"], case["arguments"]["epsilon"]
    names = {
        "kl": ex.KL,
        "tv": ex.TotalVariation,
        "chi2": ex.ChiSquared,
        "hellinger2": ex.SquaredHellinger,
        "symkl": ex.SymmetricKL,
    }
    seen = 0
    for short, divergence in names.items():
        if f"OPT_{short}" not in case["expected"]:
            continue
        seen += 1
        found = ex.design(ex.LDP(epsilon), divergence(p0, p1))
        assert found.value == pytest.approx(float(case["expected"][f"OPT_{short}"]), rel=1e-10)
        check(found)
    assert seen >= 4


def test_reference_counterexamples(reference: dict[str, Any]) -> None:
    """Errata E1 and E3: with ties neither KOV's binary mechanism nor randomised response is optimal."""
    tie = reference["ldp_thm5_tie_counterexample"]
    found = ex.design(ex.LDP(tie["arguments"]["epsilon"]), ex.KL(tie["arguments"]["p0"], tie["arguments"]["p1"]))
    assert found.value == pytest.approx(float(tie["expected"]["OPT_KL"]), rel=1e-10)
    assert found.value > float(tie["expected"]["BIN_KL_paper_T_1_2"]) * (1 + 1e-4)
    equal = reference["ldp_thm8_equal_likelihood_ratio_counterexample"]
    utility = ex.KL(equal["arguments"]["p0"], equal["arguments"]["p1"])
    found = ex.design(ex.LDP(equal["arguments"]["epsilon"]), utility)
    assert found.value == pytest.approx(float(equal["expected"]["OPT_KL"]), rel=1e-10)
    assert utility(ex.randomized_response(3, equal["arguments"]["epsilon"])) == pytest.approx(
        float(equal["expected"]["RR_KL"]), rel=1e-10
    )
    assert found.value > float(equal["expected"]["RR_KL"])


@pytest.mark.parametrize("epsilon", ["1e-3", "1e-5"])
def test_small_epsilon_against_high_precision(epsilon: str) -> None:
    """The optimum at tiny ε is one cut; its KL in 60 digits."""
    p0, p1 = ["0.5", "0.3", "0.2"], ["0.1", "0.2", "0.7"]
    found = ex.design(ex.LDP(epsilon), ex.KL(p0, p1))
    with mpmath.workdps(60):
        e = mpmath.exp(mpmath.mpf(epsilon))
        best = mpmath.mpf(0)
        for cut in (1, 2):
            a, b = (mpmath.fsum(mpmath.mpf(v) for v in p[:cut]) for p in (p0, p1))
            m0, m1 = (1 + (e - 1) * a) / (1 + e), (1 + (e - 1) * b) / (1 + e)
            best = max(best, m0 * mpmath.log(m0 / m1) + (1 - m0) * mpmath.log((1 - m0) / (1 - m1)))
    assert found.value == pytest.approx(float(best), rel=1e-9)
    check(found, tolerance=1e-8)


def test_a_naive_program_is_far_off_at_small_epsilon() -> None:
    """Why the objective is scaled: raw, with default tolerances, HiGHS loses a large part of the optimum at ε =
    1e-3."""
    from scipy.optimize import linprog

    generator = np.random.default_rng(5)
    epsilon, worst = 1e-3, 0.0
    for _ in range(12):
        utility = ex.KL(generator.dirichlet(np.ones(6)), generator.dirichlet(np.ones(6)))
        masks = np.arange(64)
        columns = 1 + math.expm1(epsilon) * ((masks[None, :] >> np.arange(6)[:, None]) & 1)
        naive = linprog(-utility.column_values(columns), A_eq=columns, b_eq=np.ones(6), method="highs")
        exact = ex.design(ex.LDP(epsilon), utility).value
        worst = max(worst, 1 + naive.fun / exact)
    assert worst > 0.2


@pytest.mark.parametrize("epsilon", [20, 50])
def test_large_epsilon(epsilon: float) -> None:
    p0, p1 = [0.4, 0.3, 0.2, 0.1], [0.1, 0.15, 0.3, 0.45]
    for divergence in DIVERGENCES:
        utility = divergence(p0, p1)
        found = ex.design(ex.LDP(epsilon), utility)
        assert math.isfinite(found.value)
        assert found.value <= found.upper_bound
        assert ex.verify(found), ex.verify(found).reasons


def test_large_alphabets_close_the_gap() -> None:
    generator = np.random.default_rng(1)
    for k, epsilon in [(1_000, 4), (20_000, 1), (20_000, 6)]:
        p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
        for divergence in (ex.KL, ex.TotalVariation, ex.SquaredHellinger):
            found = ex.design(ex.LDP(epsilon), divergence(p0, p1))
            check(found, tolerance=1e-12)


def test_nothing_to_tell_on_alphabets_of_any_size() -> None:
    for k in (2, 30, 200, 400):
        p = np.arange(1, k + 1) / (k * (k + 1) / 2)
        for epsilon, other in ((0, p[::-1]), (1, p)):
            found = ex.design(ex.LDP(epsilon), ex.KL(p, other))
            assert (found.value, found.upper_bound) == (0.0, 0.0)


def test_budget_of_reports() -> None:
    p0, p1 = np.arange(1, 21) / 210, np.arange(20, 0, -1) / 210
    utility = ex.KL(p0, p1)
    free = ex.design(ex.LDP(5), utility)
    assert free.mechanism.m > 3
    values = []
    for most in range(1, free.mechanism.m + 1):
        found = ex.design(ex.LDP(5), utility, max_outputs=most)
        assert found.mechanism.m <= most
        values.append(found.value)
        assert found.upper_bound == pytest.approx(free.upper_bound, rel=1e-9)
    assert values == sorted(values)
    assert values[0] == 0
    assert values[-1] == pytest.approx(free.value, rel=1e-12)
    two = max(
        utility(ex.Mechanism.from_partition((np.arange(20) >= cut).astype(int), ex.LDP(5))) for cut in range(1, 20)
    )
    assert values[1] == pytest.approx(two, rel=1e-12)
    assert any("the budget costs" in note for note in ex.design(ex.LDP(5), utility, max_outputs=2).notes)


def test_user_functions_are_optimised_but_not_claimed_as_verified() -> None:
    p0, p1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
    found = ex.design(ex.LDP(2.5), ex.FDivergence(p0, p1, lambda x: (x - 1) ** 2))
    assert found.value == pytest.approx(ex.design(ex.LDP(2.5), ex.ChiSquared(p0, p1)).value, rel=1e-8)
    outcome = ex.verify(found)
    assert (outcome.privacy, outcome.value, outcome.optimality) == ("proved", "not proven", "not proven")
    assert outcome.exit_code == 3
    assert not outcome  # true only when everything claimed is proved
    assert "unverified" in outcome.reasons[-1]


def test_closed_forms_are_named_when_they_are_optimal() -> None:
    p0, p1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
    assert "binary mechanism" in ex.design(ex.LDP(0.5), ex.KL(p0, p1)).method
    assert "randomised response" in ex.design(ex.LDP(5), ex.KL(p0, p1)).method
    assert "constant mechanism" in ex.design(ex.LDP(1), ex.KL(p0, p0)).method
    assert ex.verify(ex.design(ex.LDP(1), ex.KL(p0, p0)))
    assert ex.design(ex.LDP(0), ex.KL(p0, p1)).value == 0
