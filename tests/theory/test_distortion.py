"""The Hamming paper's quantities as printed and as they hold: errata H1–H6, one test each, and the regimes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.studies.distortion import distortion_tradeoff
from extremal.theory.distortion import left_out_bound, lower_bound, regime, thresholds, upper_bound

REFERENCE = 1e-10


def test_every_reference_value(reference: dict[str, Any]) -> None:
    cases = [
        case
        for name, case in reference.items()
        if name.startswith("hamming") and "paper_upper_bound_eq11" in case["expected"]
    ]
    assert len(cases) == 6
    for case in cases:
        source, d = ex.SourceClass.ordered(case["arguments"]["class_vertices"]), case["arguments"]["distortion"]
        expected = {name: float(value) for name, value in case["expected"].items() if isinstance(value, str)}
        assert [float(t) for t in thresholds(source)] == pytest.approx(
            [float(t) for t in case["expected"]["D_k"]], abs=REFERENCE
        )
        found = {
            "paper_upper_bound_eq11": upper_bound(source, d, "printed"),
            "tightened_upper_bound": upper_bound(source, d, "tightened"),
            "paper_lower_bound_eq12_as_printed_unordered_Di": lower_bound(source, d, "printed"),
            "paper_lower_bound_eq12_with_D1_le_D2_le": lower_bound(source, d, "ordered"),
            "eps_star_exact": lower_bound(source, d, "corrected"),
        }
        for name, value in found.items():
            assert abs(value - expected[name]) <= REFERENCE, (case["id"], name)


def test_paper_mechanism(reference: dict[str, Any]) -> None:
    case = reference["hamming_paper_mechanism_M4_k1"]
    m = ex.hamming(4, "0.35", zero_columns=1)
    expected = np.array(case["expected"]["mechanism"], dtype=float)[:, :3]
    np.testing.assert_allclose(m.matrix, expected, atol=1e-12)
    assert abs(ex.LDP(0).level(m) - float(case["expected"]["ldp_level"])) <= REFERENCE


def test_h1_the_level_is_quasi_convex_but_not_convex() -> None:
    first = np.array([[0.2, 0.4, 0.4], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]])
    second = first.copy()
    second[0] = [0.8, 0.1, 0.1]
    levels = [ex.LDP(0).level(ex.Mechanism.from_matrix(q)) for q in (first, second, (first + second) / 2)]
    assert levels[2] > (levels[0] + levels[1]) / 2 + 0.2  # 1.6094 > 1.3863
    assert levels[2] <= max(levels[:2])
    generator = np.random.default_rng(1)
    for _ in range(100):
        a, b = generator.dirichlet(np.ones(3), size=(2, 3))
        middle, *ends = (ex.LDP(0).level(ex.Mechanism.from_matrix(q)) for q in ((a + b) / 2, a, b))
        assert middle <= max(ends) + 1e-12


def test_h2_the_printed_lower_bound_is_below_even_where_theorem_3_claims_equality() -> None:
    prior, d = [0.5, 0.3, 0.2], 0.1
    assert lower_bound(prior, d, "printed") == pytest.approx(math.log(10), abs=1e-12)
    assert ex.smallest_epsilon(prior, d).value == pytest.approx(2.890371757896165, abs=1e-12)
    assert lower_bound(prior, d, "ordered") == pytest.approx(2.890371757896165, abs=1e-12)


def test_h2_with_the_ordering_the_bound_is_exact() -> None:
    generator = np.random.default_rng(2)
    for _ in range(60):
        k = int(generator.integers(2, 7))
        source = ex.SourceClass.ordered(
            [np.sort(p)[::-1] for p in generator.dirichlet(np.ones(k), size=int(generator.integers(1, 4)))]
        )
        d = float(thresholds(source)[-1]) * float(generator.uniform(0.05, 0.99))
        exact = ex.smallest_epsilon(source, d).value
        assert lower_bound(source, d, "corrected") == pytest.approx(exact, abs=1e-9)
        assert lower_bound(source, d, "printed") <= exact + 1e-9
        assert exact <= upper_bound(source, d) + 1e-9
        assert upper_bound(source, d) <= upper_bound(source, d, "printed") + 1e-12


def test_h3_the_printed_budget_exceeds_the_truth() -> None:
    source, d = ex.SourceClass.ordered([["0.6", "0.25", "0.15"], ["0.8", "0.19", "0.01"]]), "0.36"
    priors = list(source.priors)
    exact = ex.smallest_epsilon(source, d).value
    from fractions import Fraction

    assert left_out_bound(priors, Fraction(d), 1, "ordered") == pytest.approx(1.25049, abs=1e-5)
    assert left_out_bound(priors, Fraction(d), 1, "ordered") > exact + 0.1
    assert left_out_bound(priors, Fraction(d), 1, "corrected") == pytest.approx(exact, abs=1e-10)


def test_h4_the_tightened_upper_bound_is_reached_and_exact_for_one_prior() -> None:
    generator = np.random.default_rng(4)
    for _ in range(25):
        k = int(generator.integers(2, 7))
        prior = np.sort(generator.dirichlet(np.ones(k)))[::-1]
        d = float(thresholds(prior)[-1]) * float(generator.uniform(0.02, 0.99))
        assert upper_bound(prior, d) == pytest.approx(ex.smallest_epsilon(prior, d).value, abs=1e-11)
    source = ex.SourceClass.ordered([[0.45, 0.45, 0.1], [0.6, 0.2, 0.2]])
    values = ex.smallest_epsilon(source, 0.45).value, upper_bound(source, 0.45), upper_bound(source, 0.45, "printed")
    assert values == pytest.approx((0.663294, 0.788457, 0.893818), abs=1e-6)
    share = (0.45 - 0.2) / (1 - 0.2)  # D'' = (D−D^(1))/(1−D^(1))
    m = ex.hamming(3, share, zero_columns=1)
    assert ex.LDP(0).level(m) == pytest.approx(upper_bound(source, 0.45), abs=1e-12)
    assert ex.Hamming(source)(m) <= 0.45 + 1e-12


def test_h5_theorem_3_extends_to_m_minus_1_times_d1_and_no_further() -> None:
    generator = np.random.default_rng(5)
    beyond = 0
    for _ in range(40):
        k = int(generator.integers(3, 6))
        source = ex.SourceClass.ordered([np.sort(p)[::-1] for p in generator.dirichlet(np.full(k, 3.0), size=2)])
        levels = [float(t) for t in thresholds(source)]
        end = min((k - 1) * levels[1], levels[-1])
        d = end * float(generator.uniform(0.02, 0.999))
        assert ex.smallest_epsilon(source, d).value == pytest.approx(math.log((k - 1) * (1 - d) / d), abs=1e-10)
        if (k - 1) * levels[1] < 0.98 * levels[-1]:
            d, beyond = end * 1.02, beyond + 1
            assert ex.smallest_epsilon(source, d).value < math.log((k - 1) * (1 - d) / d) - 1e-9
    assert beyond > 10


def test_theorem_4_is_the_special_case_of_a_class_with_the_uniform_prior() -> None:
    for d in (0.1, 0.4, 0.74):
        source = ex.SourceClass.ordered([["1/4"] * 4, ["0.4", "0.3", "0.2", "0.1"]])
        assert ex.smallest_epsilon(source, d).value == pytest.approx(math.log(3 * (1 - d) / d), abs=1e-12)
    assert ex.smallest_epsilon(source, 0.75).value == 0.0


def test_h6_the_minimum_over_priors_rewards_distortion() -> None:
    """max over mechanisms of min_P Σ P_i D_i, as printed, is reached by always lying; what counts is the largest
    distortion."""
    source = ex.SourceClass([[1, 0], ["0.6", "0.4"]])
    lying, honest = np.array([1.0, 1.0]), np.array([0.0, 0.0])
    printed = [min(float(p.values @ d) for p in source.priors) for d in (lying, honest)]
    assert printed[0] > printed[1]
    assert ex.Hamming(source)(np.eye(2)[::-1]) == 1.0 > ex.Hamming(source)(np.eye(2)) == 0.0


def test_regimes() -> None:
    prior = [0.5, 0.3, 0.2]
    formula = "log((M−1)(1−D)/D)"
    assert regime(prior, "0.19") == f"Theorem 3: {formula}"
    assert regime(prior, "0.4") == f"Theorem 3, extended: {formula}"
    assert regime(prior, "0.41") == "between the bounds of Theorem 2"
    assert regime(prior, "0.5") == "Lemma 5: 0"
    assert regime(ex.SourceClass.ordered([["1/3"] * 3, prior]), "0.5") == f"Theorem 4: {formula}"
    assert regime(ex.SourceClass.simplex(3), "0.5") == f"Theorem 1: {formula}"
    assert regime(ex.SourceClass.simplex(3), "0.7") == "Theorem 1: 0"


def test_bounds_are_for_ordered_classes() -> None:
    with pytest.raises(InvalidParameter, match="the bounds of the paper are for classes of one order"):
        thresholds(ex.SourceClass([[0.6, 0.4], [0.45, 0.55]]))
    with pytest.raises(InvalidParameter, match="distortion must lie between 0 and 1"):
        upper_bound([0.5, 0.5], 2)
    assert upper_bound([0.5, 0.5], 0) == math.inf
    assert lower_bound([0.5, 0.5], 0) == math.inf
    assert (upper_bound([0.5, 0.5], 0.5), lower_bound([0.5, 0.5], 0.5)) == (0.0, 0.0)


def test_tradeoff_table_and_plot() -> None:
    source = ex.SourceClass.ordered([[0.45, 0.3, 0.15, 0.1], [0.6, 0.2, 0.1, 0.1]])
    table = distortion_tradeoff(source)
    frame = table.to_frame()
    assert list(frame.columns)[:2] == ["distortion", "epsilon"]
    assert table.jump is not None
    assert table.jump == pytest.approx((0.55, 0.405465108), abs=1e-6)
    values = [d.value for d in table.designs]
    assert values == sorted(values, reverse=True)
    axes = table.plot().axes[0]
    assert axes.get_xlabel() == "largest probability of a false report, D"
    assert axes.get_ylabel() == "smallest ε (nats)"
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == "ε*, exact"
    assert str(table).split()[:2] == ["distortion", "ε"]
    free = distortion_tradeoff(ex.SourceClass([[0.2, 0.8], [0.7, 0.3]]), [0.1, 0.5])
    assert (free.bounds, free.jump) == ({}, None)
    assert free.plot().axes
    with pytest.raises(InvalidParameter, match="distortions must be positive"):
        distortion_tradeoff(source, [0])


def test_classes_that_one_permutation_orders_are_taken() -> None:
    """KSS Definition 7: the order may be any, as long as it is one."""
    ordered = ex.SourceClass([[0.5, 0.3, 0.2], [0.6, 0.2, 0.2]])
    shuffled = ex.SourceClass([[0.2, 0.5, 0.3], [0.2, 0.6, 0.2]])
    assert thresholds(shuffled) == thresholds(ordered)
    for distortion in ("0.1", "0.3", "0.45"):
        assert upper_bound(shuffled, distortion) == upper_bound(ordered, distortion)
        exact = ex.smallest_epsilon(shuffled, distortion).value
        assert lower_bound(shuffled, distortion) == pytest.approx(exact, abs=1e-9)
        assert upper_bound(shuffled, distortion) >= exact - 1e-12


def test_unions_of_orbits_have_theorem_1() -> None:
    """KSS Definition 6: closed under rearrangement, be it one orbit or several."""
    from itertools import permutations

    priors = [list(p) for base in ((0.5, 0.3, 0.2), (0.6, 0.3, 0.1)) for p in permutations(base)]
    source = ex.SourceClass(priors)
    for distortion in ("0.1", "0.3", "0.6"):
        exact = ex.smallest_epsilon(source, distortion).value
        assert upper_bound(source, distortion) == lower_bound(source, distortion) == pytest.approx(exact, abs=1e-9)
    assert regime(source, "0.3").startswith("Theorem 1")
    assert upper_bound(source, "0.7") == 0.0
    assert upper_bound(ex.SourceClass.simplex(3), 0) == math.inf
    missing = ex.SourceClass(priors[:-1])
    with pytest.raises(InvalidParameter, match="classes of one order"):
        upper_bound(missing, "0.3")


def test_lemma_2_averaging_over_rearrangements_keeps_level_and_makes_the_diagonal_equal() -> None:
    from itertools import permutations

    generator = np.random.default_rng(2)
    for _ in range(10):
        q = generator.dirichlet(2 * np.ones(3), size=3)
        orders = [list(p) for p in permutations(range(3))]
        mean = np.mean([q[np.ix_(p, p)] for p in orders], axis=0)
        assert np.ptp(np.diag(mean)) < 1e-12
        levels = [np.log(m.max(axis=0) / m.min(axis=0)).max() for m in (q, mean)]
        assert levels[1] <= levels[0] + 1e-12


def test_lemma_3_a_symbol_left_unreported_costs_at_least_its_threshold() -> None:
    """KSS Lemma 3: with l symbols never reported the distortion is at least D^(l)."""
    generator = np.random.default_rng(3)
    for _ in range(20):
        prior = np.sort(generator.dirichlet(np.ones(4)))[::-1]
        levels = [float(d) for d in thresholds(prior)]
        for left in (1, 2, 3):
            q = np.zeros((4, 4))
            kept = generator.permutation(4)[: 4 - left]
            q[:, kept] = generator.dirichlet(np.ones(4 - left), size=4)
            assert 1 - float(prior @ np.diag(q)) >= levels[left] - 1e-12
