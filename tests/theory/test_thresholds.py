"""Thresholds: up to which ε one bit, from which ε randomised response, for every divergence and for information."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.theory import binary_threshold, binary_threshold_for, rr_threshold
from extremal.theory.error_regions import error_region

NAMED = {"kl": ex.KL, "chi2": ex.ChiSquared, "hellinger2": ex.SquaredHellinger, "symkl": ex.SymmetricKL}


def _lemma_24(p0: list[float], p1: list[float], of_itself: float) -> float:
    """KOV Lemma 24 by enumeration: ε(j) for every set, `of_itself` for T and its complement."""
    c = [x for x in range(len(p0)) if p0[x] >= p1[x]]
    a0, a1 = sum(p0[x] for x in c), sum(p1[x] for x in c)
    found = []
    for size in range(len(p0) + 1):
        for chosen in itertools.combinations(range(len(p0)), size):
            b0, b1 = sum(p0[x] for x in chosen), sum(p1[x] for x in chosen)
            if list(chosen) == c or (set(chosen) | set(c) == set(range(len(p0))) and not set(chosen) & set(c)):
                found.append(of_itself)
                continue
            # upper (33): (1+ca0)/(1+ca1) ≥ (1+cb0)/(1+cb1)  ⇔  (a0−a1)−(b0−b1) ≥ c(a1b0 − a0b1)
            room, rate = (a0 - a1) - (b0 - b1), a1 * b0 - a0 * b1
            found.append(math.inf if rate <= 0 else math.log1p(room / rate))
            # lower (36), with T^c in the place of T
            d0, d1 = 1 - a0, 1 - a1
            room, rate = (b0 - b1) - (d0 - d1), d0 * b1 - d1 * b0
            found.append(math.inf if rate <= 0 else math.log1p(room / rate))
    return min(found)


def test_every_threshold_of_the_reference(reference: dict[str, Any]) -> None:
    case = reference["ldp_thresholds_fdiv_k3"]
    (p0, p1), expected = case["arguments"].values(), case["expected"]
    assert binary_threshold(p0, p1) == pytest.approx(float(expected["universal_eps_star_thm5_closed_form"]), abs=1e-13)
    assert binary_threshold(p0, p1) == pytest.approx(
        float(expected["universal_eps_star_lemma24_enumeration"]), abs=1e-13
    )
    for name, divergence in NAMED.items():
        utility = divergence(p0, p1)
        assert binary_threshold_for(utility) == pytest.approx(
            float(expected[f"binary_optimal_up_to_{name}"]), abs=1e-11
        )
        assert rr_threshold(utility) == pytest.approx(float(expected[f"rr_optimal_from_{name}"]), abs=1e-11)
    case = reference["ldp_thresholds_mi_k3"]
    utility = ex.MutualInformation(case["arguments"]["prior"])
    assert rr_threshold(utility) == pytest.approx(float(case["expected"]["rr_optimal_from"]), abs=1e-11)
    assert binary_threshold_for(utility) == pytest.approx(float(case["expected"]["binary_optimal_up_to"]), abs=1e-10)


def test_erratum_e1_a_tie_makes_the_universal_threshold_zero(reference: dict[str, Any]) -> None:
    case = reference["ldp_thm5_tie_counterexample"]
    p0, p1, _ = case["arguments"].values()
    assert binary_threshold(p0, p1) == float(case["expected"]["eps_star_lemma24"]) == 0.0
    assert binary_threshold_for(ex.KL(p0, p1)) > 0.1  # the better side of the tie is optimal here, KOV's is not


def test_erratum_e2_the_printed_lemma_24_gives_zero_and_the_corrected_one_the_closed_form() -> None:
    generator = np.random.default_rng(24)
    assert _lemma_24([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], of_itself=0.0) == 0.0  # as printed: no ε at all
    for _ in range(60):
        k = int(generator.integers(2, 8))
        p0, p1 = generator.dirichlet(np.ones(k)).tolist(), generator.dirichlet(np.ones(k)).tolist()
        assert _lemma_24(p0, p1, of_itself=math.inf) == pytest.approx(binary_threshold(p0, p1), rel=1e-9)


def test_erratum_e2_equation_37_needs_a_square() -> None:
    p0, p1, e = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.7]), math.e
    inside = p0 >= p1
    a0, a1, b0, b1 = p0[inside].sum(), p1[inside].sum(), p0[~inside].sum(), p1[~inside].sum()
    linear, product = (a0 - a1) + e * (b0 - b1), a0 * b1 - a1 * b0
    assert (e - 1) * linear + (e - 1) * product == pytest.approx((e - 1) * (1 - e / 2), abs=1e-14)  # as printed: −0.617
    assert (e - 1) * linear + (e - 1) ** 2 * product == pytest.approx(0, abs=1e-15)


def test_below_the_universal_threshold_one_bit_simulates_every_mechanism_for_the_hypothesis() -> None:
    """KOV Theorem 5 by its proof: the induced error region contains that of any ε-LDP mechanism (Figure 10)."""
    generator = np.random.default_rng(5)
    for _ in range(40):
        k = int(generator.integers(2, 6))
        p0, p1 = generator.dirichlet(np.ones(k)).tolist(), generator.dirichlet(np.ones(k)).tolist()
        universal = binary_threshold(p0, p1)
        epsilon = min(0.999 * universal, 3.0)
        one_bit = error_region(ex.binary(p0, p1, epsilon), p0, p1)
        for other in (ex.randomized_response(k, epsilon), ex.geometric(k, epsilon)):
            assert one_bit.contains(error_region(other, p0, p1))
        if math.isfinite(universal):  # just above, some hockey-stick divergence prefers another report
            above = universal * 1.02
            best, mine = _best_ratios(p0, p1, above), _best_ratios(p0, p1, above, of_t=True)
            assert best[0] > mine[0] or best[1] < mine[1]


def _best_ratios(p0: list[float], p1: list[float], epsilon: float, of_t: bool = False) -> tuple[float, float]:
    c, a, b = math.expm1(epsilon), np.array(p0), np.array(p1)
    if of_t:
        sets = [a >= b, a < b]
    else:
        sets = [np.array(bits, dtype=bool) for bits in itertools.product([0, 1], repeat=len(p0))]
    ratios = [(1 + c * a[s].sum()) / (1 + c * b[s].sum()) for s in sets]
    return max(ratios), min(ratios)


def test_the_universal_threshold_never_exceeds_that_of_a_divergence() -> None:
    generator = np.random.default_rng(6)
    for _ in range(12):
        k = int(generator.integers(3, 7))
        p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
        for divergence in (ex.KL, ex.ChiSquared, ex.JensenShannon):
            assert binary_threshold_for(divergence(p0, p1)) >= binary_threshold(p0, p1) * (1 - 1e-12)
        assert binary_threshold_for(ex.TotalVariation(p0, p1)) == math.inf  # KOV Theorem 6


def test_thresholds_are_where_the_optimum_changes() -> None:
    generator = np.random.default_rng(7)
    for _ in range(8):
        k = int(generator.integers(3, 6))
        p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
        utility = ex.KL(p0, p1)
        start, stop = rr_threshold(utility), binary_threshold_for(utility)
        for epsilon, mechanism, optimal in (
            (stop * 0.999, ex.binary(p0, p1, stop * 0.999), True),
            (stop * 1.03, ex.binary(p0, p1, stop * 1.03), False),
            (start * 1.001, ex.randomized_response(k, start * 1.001), True),
            (start * 0.97, ex.randomized_response(k, start * 0.97), False),
        ):
            best = ex.design(ex.LDP(epsilon), utility).value
            assert (utility(mechanism) >= best * (1 - 1e-12)) == optimal


def test_randomised_response_may_be_optimal_between_two_levels_only() -> None:
    quartic = ex.FDivergence([0.187, 0.802, 0.011], [0, 0.448, 0.552], lambda x: x**4 - 4 * x + 3)
    found = rr_threshold(quartic)
    assert found == math.inf
    assert not found.is_interval
    ((start, stop),) = found.ranges
    assert start < 2.5 < 3.5 < stop
    for epsilon, optimal in ((2.0, False), (2.5, True), (3.5, True), (4.5, False)):
        best = ex.design(ex.LDP(epsilon), quartic).value
        assert (quartic(ex.randomized_response(3, epsilon)) >= best * (1 - 1e-9)) == optimal


def test_erratum_e3_equal_ratios_and_total_variation_never_want_randomised_response() -> None:
    equal = rr_threshold(ex.KL([0.25, 0.25, 0.5], [0.1, 0.1, 0.8]))
    assert (equal, equal.ranges) == (math.inf, ())
    assert rr_threshold(ex.TotalVariation([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])) == math.inf
    assert rr_threshold(ex.KL([0.7, 0.3], [0.4, 0.6])) == 0.0


def test_large_alphabets() -> None:
    generator = np.random.default_rng(8)
    p0, p1 = generator.dirichlet(np.ones(100_000)), generator.dirichlet(np.ones(100_000))
    assert 0 < binary_threshold(p0, p1) < 0.1
    p0, p1 = generator.dirichlet(np.ones(200)), generator.dirichlet(np.ones(200))
    assert binary_threshold(p0, p1) < binary_threshold_for(ex.KL(p0, p1)) < rr_threshold(ex.KL(p0, p1))


def test_nothing_to_tell_apart_and_unknown_utilities() -> None:
    assert binary_threshold([0.5, 0.5], [0.5, 0.5]) == math.inf
    with pytest.raises(InvalidParameter, match="a threshold is known for f-divergences"):
        rr_threshold(ex.Hamming([0.5, 0.5]))
