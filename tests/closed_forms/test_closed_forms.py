"""The closed forms of the three papers: their matrices, their exact levels, and the errata."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.closed_forms import balanced_subset
from extremal.closed_forms.subset_selection import (
    best_size_for_frequencies,
    best_size_for_information,
)
from extremal.exact import Prior
from extremal.testing import epsilons, priors
from extremal.utility.curve import InformationCurve

TIGHT = 1e-9  # private at ε, not at ε(1 − 1e-9)


def _same(m: ex.Mechanism, rows: Any) -> None:
    expected = np.array([[float(v) for v in row] for row in rows])
    assert m.matrix == pytest.approx(expected, rel=1e-12, abs=1e-15)


def _tight(notion: Any, weaker: Any, m: ex.Mechanism) -> None:
    assert notion.holds(m)
    assert not weaker.holds(m)


class TestReference:
    def test_ldp_matrices(self, reference: dict[str, Any]) -> None:
        case = reference["ldp_binary_mechanism_k4_eps1"]
        _same(
            ex.binary(case["arguments"]["p0"], case["arguments"]["p1"], 1), case["expected"]["mechanism_rows_x_cols_y"]
        )
        _same(ex.randomized_response(4, 1), reference["ldp_rr_k4_eps1"]["expected"]["mechanism_rows_x_cols_y"])
        _same(ex.geometric(4, 1), reference["ldp_geometric_k4_eps1"]["expected"]["mechanism_rows_x_cols_y"])
        _same(ex.quaternary(1, 0.1), reference["ldp_quaternary_eps1_delta0.1"]["expected"]["mechanism_rows_x_cols_y"])

    @pytest.mark.parametrize("case_id", ["pml_binary_0.55_eps0.3", "pml_binary_0.55_eps0.7"])
    def test_pml_binary(self, reference: dict[str, Any], case_id: str) -> None:
        arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
        m = ex.pml_binary(arguments["prior"], arguments["epsilon"])
        _same(m, expected["mechanism_rows_x_cols_y"])
        information = ex.MutualInformation(arguments["prior"])
        assert information(m) == pytest.approx(float(expected["MI"]), rel=1e-12)
        response = ex.pml_randomized_response(arguments["prior"], arguments["epsilon"])
        assert ex.LDP(1).level(response) == pytest.approx(float(expected["RR_eps_r"]), rel=1e-12)
        assert information(response) == pytest.approx(float(expected["RR_MI"]), rel=1e-12)

    @pytest.mark.parametrize("case_id", ["pml_high_privacy_N4_log(9o8)", "pml_high_privacy_N3_0.2"])
    def test_pml_high_privacy(self, reference: dict[str, Any], case_id: str) -> None:
        arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
        m = ex.pml_high_privacy(arguments["prior"], arguments["epsilon"])
        _same(m, expected["mechanism_rows_x_cols_y"])
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
    def test_pml_uniform_up_to_the_order_of_columns(self, reference: dict[str, Any], case_id: str) -> None:
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
    def test_pml_randomized_response(self, reference: dict[str, Any], case_id: str) -> None:
        arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
        m = ex.pml_randomized_response(arguments["prior"], arguments["epsilon"])
        assert ex.LDP(1).level(m) == pytest.approx(float(expected["eps_r_for_PML_eps"]), rel=1e-12)

    def test_hamming(self, reference: dict[str, Any]) -> None:
        """KSS eq (25), (26); erratum H7: the level is the logarithm."""
        arguments, expected = (
            reference["hamming_paper_mechanism_M4_k1"]["arguments"],
            reference["hamming_paper_mechanism_M4_k1"]["expected"],
        )
        m = ex.hamming(arguments["M"], arguments["distortion"], zero_columns=arguments["k"])
        _same(m, [row[:3] for row in expected["mechanism"]])
        assert ex.LDP(1).level(m) == pytest.approx(float(expected["ldp_level"]), rel=1e-12)
        printed = (3 - 1) * (1 - 0.35) / 0.35  # eq (26) without its logarithm
        assert ex.LDP(1).level(m) != pytest.approx(printed, rel=0.1)
        invariant = reference["hamming_permutation_invariant_M3_D0.3"]["expected"]
        _same(ex.hamming(3, "0.3"), invariant["mechanism"])
        assert ex.LDP(1).level(ex.hamming(3, "0.3")) == pytest.approx(float(invariant["eps_star"]), rel=1e-12)

    def test_binary_with_ties(self, reference: dict[str, Any]) -> None:
        """Erratum E1: KOV put ties into T; here the better side is taken."""
        arguments, expected = (
            reference["ldp_thm5_tie_counterexample"]["arguments"],
            reference["ldp_thm5_tie_counterexample"]["expected"],
        )
        p0, p1, epsilon = arguments["p0"], arguments["p1"], arguments["epsilon"]
        assert ex.KL(p0, p1)(ex.binary(p0, p1, epsilon)) == pytest.approx(
            float(expected["BIN_KL_other_T_1"]), rel=1e-12
        )
        printed = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(epsilon))
        assert ex.KL(p0, p1)(printed) == pytest.approx(float(expected["BIN_KL_paper_T_1_2"]), rel=1e-12)
        assert ex.KL(p0, p1)(printed) < ex.KL(p0, p1)(ex.binary(p0, p1, epsilon))

    @pytest.mark.parametrize("k", [3, 4])
    def test_uniform_information(self, reference: dict[str, Any], k: int) -> None:
        """Erratum E6: subset selection, not the binary mechanism, is optimal for a uniform prior; sizes and values to
        1e-12."""
        case = reference[f"ldp_opt_mi_uniform_k{k}"]
        information = ex.MutualInformation([f"1/{k}"] * k)
        for key, expected in case["expected"].items():
            epsilon = key.removeprefix("eps_")
            best = ex.subset_selection(k, epsilon, size="information")
            assert information(best) == pytest.approx(float(expected["OPT_MI"]), rel=1e-12)
            assert len(best.outputs[0]) == expected["optimal_subset_size"]
            assert information(ex.binary_for_information([f"1/{k}"] * k, epsilon)) == pytest.approx(
                float(expected["BIN_MI"]), rel=1e-12
            )
            assert information(ex.randomized_response(k, epsilon)) == pytest.approx(float(expected["RR_MI"]), rel=1e-12)


class TestErrata:
    def test_e7_the_printed_geometric_mechanism_is_none(self) -> None:
        """KOV Section 3.4 with ε^{1/(k−1)} in place of e^{−ε/(k−1)}: negative for ε > 1, wrong level below 1."""
        k, epsilon = 4, 2.0
        a = epsilon ** (1 / (k - 1))
        assert (1 - a) / (1 + a) < 0
        _tight(ex.LDP(epsilon), ex.LDP(epsilon * (1 - TIGHT)), ex.geometric(k, epsilon))
        printed_level = math.log(1 / 0.5)  # of the printed form at ε = 0.5
        assert printed_level > 0.5
        assert ex.LDP(1).level(ex.geometric(k, 0.5)) == pytest.approx(0.5)

    def test_p1_randomised_response_changes_a_non_uniform_prior(self) -> None:
        prior = [0.5, 0.3, 0.2]
        marginal = ex.randomized_response(3, 1).marginal(prior)
        assert marginal == pytest.approx([0.39402922, 0.32119416, 0.28477662])
        assert marginal != pytest.approx(prior, abs=0.05)
        assert ex.randomized_response(3, 1).marginal([1 / 3] * 3) == pytest.approx([1 / 3] * 3)

    def test_p10_indices_are_mod_n_with_representatives_1_to_n(self) -> None:
        """Read with representatives 0..N−1 the printed set of Theorem 4 leaves a row without its last entry."""
        for n in range(2, 9):
            for epsilon in (0.2, 0.7, 1.5):
                assert ex.pml_uniform(n, epsilon).matrix.sum(axis=1) == pytest.approx(1)


@given(st.integers(2, 8), epsilons())
def test_every_ldp_form_uses_its_epsilon_exactly(k: int, epsilon: float) -> None:
    prior = np.arange(1, k + 1) / (k * (k + 1) / 2)
    forms = [
        ex.randomized_response(k, epsilon),
        ex.geometric(k, epsilon),
        ex.subset_selection(k, epsilon),
        ex.subset_selection(k, epsilon, size="information"),
        ex.binary(prior, prior[::-1].copy(), epsilon),
        ex.binary_for_information(prior, epsilon),
    ]
    for m in forms:
        assert m.privacy == ex.LDP(epsilon)
        _tight(ex.LDP(epsilon), ex.LDP(epsilon * (1 - TIGHT)), m)


@given(epsilons(0.01, 5), st.sampled_from([0, 0.01, 0.3, 0.9]))
def test_quaternary_uses_both_parameters_exactly(epsilon: float, delta: float) -> None:
    m = ex.quaternary(epsilon, delta)
    assert ex.LDP(epsilon, delta).holds(m)
    assert not ex.LDP(epsilon * (1 - 1e-6), delta).holds(m)
    if delta:
        assert not ex.LDP(epsilon, delta * (1 - 1e-9)).holds(m)
        assert m.m == 4


@given(priors(zeros=False, largest=6), st.floats(0.02, 0.98))
def test_every_pml_form_uses_its_epsilon_exactly(prior: list[Fraction], share: float) -> None:
    p = [float(x) for x in prior]
    first = -math.log1p(-min(p))
    epsilon = first * share
    _tight(ex.PML(epsilon, prior), ex.PML(epsilon * (1 - TIGHT), prior), ex.pml_high_privacy(prior, epsilon))
    wide = -math.log(min(p)) * share
    _tight(ex.PML(wide, prior), ex.PML(wide * (1 - TIGHT), prior), ex.pml_randomized_response(prior, wide))
    n = len(p)
    even = math.log(n) * share
    _tight(ex.PML(even, [f"1/{n}"] * n), ex.PML(even * (1 - TIGHT), [f"1/{n}"] * n), ex.pml_uniform(n, even))


@given(st.integers(1, 99), st.floats(0.02, 1.2))
def test_pml_binary_dominates_every_other_mechanism(weight: int, share: float) -> None:
    """GSO Theorem 2: no mechanism with the same leakage keeps more information; randomised response as the rival."""
    p = [weight / 100, 1 - weight / 100]
    epsilon = -math.log(min(p)) * share
    m = ex.pml_binary(p, epsilon)
    assert ex.PML(epsilon, p).holds(m)
    if share < 0.999:
        assert not ex.PML(epsilon * (1 - TIGHT), p).holds(m)
        rival = ex.pml_randomized_response(p, epsilon)
        assert ex.MutualInformation(p)(m) >= ex.MutualInformation(p)(rival) * (1 - 1e-12)


def test_epsilon_zero_and_no_difference_are_constant() -> None:
    for m in (
        ex.geometric(3, 0),
        ex.binary([0.5, 0.5], [0.2, 0.8], 0),
        ex.binary_for_information([0.5, 0.3, 0.2], 0),
        ex.quaternary(0, 0),
        ex.pml_binary([0.6, 0.4], 0),
        ex.pml_high_privacy([0.6, 0.4], 0),
        ex.pml_uniform(3, 0),
        ex.pml_randomized_response([0.6, 0.4], 0),
    ):
        assert m.row_classes == 1
    same = ex.binary([0.5, 0.3, 0.2], [0.5, 0.3, 0.2], 1)
    assert ex.KL([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])(same) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.randomized_response(1, 1), "k must be at least 2; got k=1"),
        (lambda: ex.randomized_response(0, 1), "k must be at least 2; got k=0"),
        (lambda: ex.geometric(1, 1), "k must be at least 2"),
        (lambda: ex.subset_selection(4, 1, size=4), "size must be less than k"),
        (lambda: ex.subset_selection(4, 1, size="best"), "size must be 'frequencies', 'information' or a number"),
        (lambda: ex.subset_selection(4, 0), "epsilon must be positive"),
        (lambda: ex.pml_high_privacy([0.5, 0.3, 0.2], 1), "epsilon must be at most −log.* = 0.223144: region 1"),
        (
            lambda: ex.pml_randomized_response([0.5, 0.3, 0.2], 2),
            "epsilon must be below −log of the smallest probability",
        ),
        (lambda: ex.pml_randomized_response([0.5, 0.5, 0], 1), "which must be positive"),
        (lambda: ex.hamming(3, 1.5), "d must lie between 0 and 1"),
        (lambda: ex.hamming(3, 0.1, zero_columns=2), "zero_columns must be at most k − 2 = 1"),
        (lambda: ex.quaternary(1, 1), "delta must be at least 0 and less than 1"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(ex.InvalidParameter, match=message):
        make()


def test_hamming_without_distortion_reveals() -> None:
    assert ex.hamming(3, 0).privacy is None
    assert ex.hamming(3, "2/3").privacy == ex.LDP(0) or ex.LDP(1).level(ex.hamming(3, "2/3")) < 1e-8


def test_subset_sizes() -> None:
    assert best_size_for_frequencies(100, 1) == 27
    assert best_size_for_frequencies(10, 8) == 1
    assert best_size_for_frequencies(4, 1e-6) == 2
    rates = InformationCurve(0.5).rate(np.arange(1, 12) / 12)
    assert best_size_for_information(12, 0.5) == int(np.argmax(rates)) + 1
    assert ex.MutualInformation(["1/12"] * 12)(ex.subset_selection(12, 0.5, size="information")) == pytest.approx(
        rates.max(), rel=1e-12
    )


def test_subsets_listed_and_unlisted_agree() -> None:
    """Around the size at which outputs are no longer listed: levels agree under every notion, files return the same."""
    listed, unlisted = ex.subset_selection(12, 1, size=4), ex.subset_selection(16, 1, size=6)
    assert (listed.kernel.kind, unlisted.kernel.kind) == ("two_valued_columns", "subset_selection")
    for m in (listed, unlisted):
        _tight(ex.LDP(1), ex.LDP(1 - TIGHT), m)
        p = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
        d = len(m.output_labels[0])
        inside = p[:d].sum()
        assert ex.PML(1, p).level(m) == pytest.approx(math.log(math.e / (1 + (math.e - 1) * inside)), rel=1e-12)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=9).filter(any))
def test_balance_against_all_subsets(weights: list[int]) -> None:
    total = sum(weights)
    best = min(
        abs(2 * sum(w for x, w in enumerate(weights) if mask >> x & 1) - total) for mask in range(2 ** len(weights))
    )
    found = balanced_subset(Prior([Fraction(w, total) for w in weights]))
    assert found.imbalance == Fraction(best, total)
    assert found.proven
    assert sum(Fraction(weights[x], total) for x in found.members) == found.probability


def test_balance_of_large_alphabets() -> None:
    generator = np.random.default_rng(1)
    exact = balanced_subset(Prior(generator.dirichlet(np.ones(30))))
    assert exact.proven
    assert exact.imbalance < 1e-6
    large = balanced_subset(Prior(generator.dirichlet(np.ones(2000))))
    assert large.imbalance < 1e-6
    even = balanced_subset(Prior(["1/1000"] * 1000))
    assert (even.probability, even.proven) == (Fraction(1, 2), True)


class TestSurveys:
    def test_designs_say_what_they_deliver(self) -> None:
        s = ex.surveys
        assert s.warner(p=0.7).privacy.epsilon == pytest.approx(math.log(7 / 3))  # type: ignore[union-attr]
        assert s.warner(epsilon=1).matrix[1, 1] == pytest.approx(math.e / (1 + math.e))
        assert s.crosswise(p=0.25).privacy.epsilon == pytest.approx(math.log(3))  # type: ignore[union-attr]
        assert s.unrelated_question(p=0.5, innocuous=0.5).matrix.tolist() == [[0.75, 0.25], [0.25, 0.75]]
        assert s.forced_response(yes=0.1, no=0.2).matrix[1, 1] == pytest.approx(0.8)
        assert s.kuk(p=0.8, q=0.2).privacy.epsilon == pytest.approx(math.log(4))  # type: ignore[union-attr]
        for revealing in (s.mangat(p=0.7), s.triangular(p=0.3)):
            assert revealing.privacy is None
            assert math.isinf(ex.LDP(1).level(revealing))

    def test_bad_parameters(self) -> None:
        for make, message in [
            (lambda: ex.surveys.warner(), "give exactly one of p and epsilon"),
            (lambda: ex.surveys.warner(p=0.5, epsilon=1), "give exactly one of p and epsilon"),
            (lambda: ex.surveys.kuk(p=1.2, q=0.1), "p must be a probability; got p=1.2"),
            (lambda: ex.surveys.forced_response(yes=0.6, no=0.6), "yes \\+ no must be at most 1"),
        ]:
            with pytest.raises(ex.InvalidParameter, match=message):
                make()

    def test_useless_parameters_are_constant(self) -> None:
        assert ex.surveys.warner(p=0.5).row_classes == 1
        assert ex.surveys.kuk(p=1, q=1).m == 1
