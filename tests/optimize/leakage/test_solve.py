"""PML and LIP designs: the paper's figures and errata, two oracles, closed forms, and certificates that refuse what is
wrong."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import extremal as ex
from extremal.privacy.cones.lift import lift_box, vertices
from extremal.testing import priors
from extremal.testing.designs import check
from support.oracles import algorithm_1, optimum, plain_vertices, region_of
from support.refusals import check_refusals, falsely_claiming

FIGURE_1 = json.loads((Path(__file__).parents[2] / "data" / "leakage_figure_1.json").read_text(encoding="utf-8"))
DIVERGENCES = (ex.KL, ex.ChiSquared, ex.SquaredHellinger, ex.TotalVariation)
P = [0.5, 0.3, 0.2]


def _random_prior(generator: np.random.Generator, n: int) -> Any:
    p = generator.dirichlet(np.full(n, generator.choice([0.6, 1.0, 4.0]))) + 1e-3
    return p / p.sum()


class TestFigure1:
    @pytest.mark.parametrize("row", FIGURE_1["uniform"], ids=lambda r: r[0])
    def test_uniform(self, row: list[Any]) -> None:
        prior, information = ["1/3"] * 3, ex.MutualInformation(["1/3"] * 3)
        found = check(ex.design(ex.PML(row[0], prior), information))
        assert found.value == pytest.approx(row[1], abs=1e-9)
        assert "uniform prior" in found.method
        response = ex.pml_randomized_response(prior, row[0])
        assert (ex.LDP(1).level(response), information(response)) == pytest.approx((row[2], row[3]), abs=1e-9)

    @pytest.mark.parametrize("row", FIGURE_1["0.5,0.3,0.2"], ids=lambda r: r[0])
    def test_non_uniform(self, row: list[Any]) -> None:
        information = ex.MutualInformation(P)
        found = check(ex.design(ex.PML(row[0], P), information))
        assert found.value == pytest.approx(row[2], abs=1e-9)
        assert ex.PML(row[0], P).region == row[1] == region_of(np.array(P), float(row[0]))
        response = ex.pml_randomized_response(P, row[0])
        assert (ex.LDP(1).level(response), information(response)) == pytest.approx((row[3], row[4]), abs=1e-9)
        assert len(algorithm_1(np.array(P), float(row[0]))) == row[5]


class TestReference:
    @pytest.mark.parametrize(
        "case_id",
        [
            "pml_binary_0.55_eps0.3",
            "pml_binary_0.55_eps0.7",
            "pml_high_privacy_N4_log(9o8)",
            "pml_high_privacy_N3_0.2",
            "pml_uniform_N4_log(3)",
            "pml_uniform_N3_0.3",
            "pml_uniform_N3_0.8",
        ],
    )
    def test_closed_forms_are_what_design_finds(self, reference: dict[str, Any], case_id: str) -> None:
        arguments, expected = reference[case_id]["arguments"], reference[case_id]["expected"]
        found = check(
            ex.design(ex.PML(arguments["epsilon"], arguments["prior"]), ex.MutualInformation(arguments["prior"]))
        )
        assert found.value == pytest.approx(float(expected["MI"]), rel=1e-10)
        assert found.method.startswith("closed form")

    def test_theorem_5(self, reference: dict[str, Any]) -> None:
        for key, expected in reference["pml_opt_general_N3"]["expected"].items():
            found = check(ex.design(ex.PML(key.removeprefix("eps_"), P), ex.MutualInformation(P)))
            assert found.value == pytest.approx(float(expected["OPT_MI"]), rel=1e-10)
            assert found.mechanism.privacy.region == expected["region_k"]

    def test_extreme_lift_vectors(self, reference: dict[str, Any]) -> None:
        case = reference["pml_vertices_N3_eps0.5"]
        expected = np.array(
            sorted([float(v) for v in row] for row in case["expected"]["extremal_lift_vectors_any_order"])
        )
        for found in (algorithm_1(np.array(P), 0.5), plain_vertices(np.array(P), 0.5)):
            assert np.array(sorted(found.tolist())) == pytest.approx(expected, abs=1e-10)

    def test_every_leakage_case_of_the_reference_is_used(self, reference: dict[str, Any]) -> None:
        here = Path(__file__).read_text(encoding="utf-8") + (
            Path(__file__).parents[2] / "theory" / "test_leakage.py"
        ).read_text("utf-8")
        assert [name for name in reference if name.startswith("pml") and name not in here] == []


class TestErrata:
    def test_p2_the_last_region_is_missing_in_the_paper(self) -> None:
        assert ex.PML(1, P).region == 3
        assert len(algorithm_1(np.array(P), 1.0)) == len(plain_vertices(np.array(P), 1.0))

    def test_p3_equality_for_uniform_priors_is_false(self) -> None:
        for k, count in ((2, 12), (3, 12)):
            epsilon = (math.log(4 / (4 - k + 1)) + math.log(4 / (4 - k))) / 2
            assert region_of(np.full(4, 0.25), epsilon) == k
            printed = sum((4 - l + 1) * math.comb(4, l - 1) for l in range(1, k + 1))  # noqa: E741
            assert len(algorithm_1(np.full(4, 0.25), epsilon)) == count == (4 - k + 1) * math.comb(4, k - 1)
            assert count < printed

    def test_remark_2_bounds_the_number_of_lift_vectors_of_every_prior(self) -> None:
        generator = np.random.default_rng(2)
        for _ in range(40):
            n = int(generator.integers(3, 7))
            p = generator.dirichlet(np.ones(n))
            epsilon = float(generator.uniform(0.05, 0.95)) * -math.log(p.min())
            k = region_of(p, epsilon)
            printed = sum((n - l + 1) * math.comb(n, l - 1) for l in range(1, k + 1))  # noqa: E741
            assert n <= len(algorithm_1(p, epsilon)) <= printed

    def test_p4_the_vector_of_example_3_is_not_feasible(self) -> None:
        p, epsilon = np.array([0.4, 0.35, 0.25]), 0.602
        assert region_of(p, epsilon) == 2
        entry = (1 - math.exp(epsilon) * (1 - p[2])) / p[2]
        assert entry == pytest.approx(-1.477, abs=1e-3)
        assert (algorithm_1(p, epsilon) >= 0).all()

    def test_p5_without_non_negative_weights_the_program_is_unbounded(self) -> None:
        lifts, utility = algorithm_1(np.array(P), 0.5), ex.MutualInformation(P)
        values = utility.column_values(lifts.T)
        # A direction that keeps every row and gains: weights of either sign make the value as large as one likes.
        null = np.linalg.svd(lifts.T)[2][lifts.shape[1] :]
        assert np.abs(null @ values).max() > 1e-3
        assert np.abs(lifts.T @ null.T).max() < 1e-12

    def test_p6_symmetry_is_not_needed_for_theorem_5_and_is_for_theorem_4(self) -> None:
        information = ex.MutualInformation([0.4, 0.35, 0.25])
        lift = np.array([[1.0], [2.0], [3.0]])
        values = [float(information.column_values(v)[0]) for v in (lift, lift[::-1])]
        assert values == pytest.approx([0.17107, 0.15778], abs=1e-5)  # not symmetric, and Theorem 5 holds all the same
        generator, uniform = np.random.default_rng(5), np.full(4, 0.25)
        p0, p1 = generator.dirichlet(np.ones(4)), generator.dirichlet(np.ones(4))
        utility = ex.KL(p0, p1)
        found = check(ex.design(ex.PML(math.log(3), uniform), utility))
        assert found.value > utility(ex.pml_uniform(4, math.log(3))) * 1.05

    def test_p7_the_vertices_do_not_depend_on_the_region(self) -> None:
        """The indicator in (13) is implied: plain enumeration knows no region and finds the same set."""
        generator = np.random.default_rng(1)
        for _ in range(20):
            p = _random_prior(generator, int(generator.integers(3, 6)))
            epsilon = generator.uniform(0.05, 0.98) * -math.log(p.min())
            a, b = algorithm_1(p, epsilon), plain_vertices(p, epsilon)
            assert sorted(a.round(7).tolist()) == sorted(b.round(7).tolist())

    def test_p8_the_empirical_information_divides_by_the_sample_size(self) -> None:
        generator = np.random.default_rng(2)
        prior, n = np.array([0.3, 0.2, 0.2, 0.2, 0.1]), 1000
        q = ex.pml_high_privacy(prior, 0.1).matrix
        x = generator.choice(5, size=n, p=prior)
        y = np.array([generator.choice(5, p=q[i]) for i in x])
        counts = np.zeros((5, 5))
        np.add.at(counts, (x, y), 1)

        def empirical(size: int) -> float:
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = counts / size * np.log(size * counts / np.outer(counts.sum(axis=1), counts.sum(axis=0)))
            return float(np.nansum(terms))

        assert empirical(n) == pytest.approx(0.0275649 + 0.008, abs=0.02)  # bias (N−1)²/2n
        assert empirical(5) < -500  # as printed, with the alphabet size

    def test_p9_reversed_columns_have_positive_correlation(self) -> None:
        m = ex.pml_high_privacy(P, 0.2)
        labels, p = np.arange(1, 4), np.array(P)

        def correlation(q: Any) -> float:
            joint, out = p[:, None] * q, p @ q
            covariance = labels @ joint @ labels - (p @ labels) * (out @ labels)
            spread = [math.sqrt(w @ labels**2 - (w @ labels) ** 2) for w in (p, out)]
            return float(covariance / spread[0] / spread[1])

        assert correlation(m.matrix) == pytest.approx(1 - math.exp(0.2), rel=1e-9)
        assert correlation(m.matrix[:, ::-1]) > 0


@pytest.mark.parametrize("seed", range(30))
def test_agreement_with_both_enumerations(seed: int) -> None:
    """The audit runs the same on 500 instances."""
    generator = np.random.default_rng(seed)
    p = _random_prior(generator, int(generator.integers(3, 7)))
    n, epsilon = p.size, float(generator.uniform(0.02, 0.99) * -math.log(p.min()))
    notion = ex.PML(epsilon, p)
    lifts = algorithm_1(p, epsilon)
    assert len(lifts) == len(plain_vertices(p, epsilon))
    pair = generator.dirichlet(np.ones(n)), generator.dirichlet(np.ones(n))
    for utility in (ex.MutualInformation(p), *(make(*pair) for make in DIVERGENCES[:3])):
        found = check(ex.design(notion, utility))
        assert found.value == pytest.approx(optimum(utility, lifts), rel=1e-9)
        assert found.mechanism.m <= n


@pytest.mark.parametrize("lower", [None, 0.3, 2.0])
@pytest.mark.parametrize("seed", range(6))
def test_lip_agrees_with_enumeration(seed: int, lower: float | None) -> None:
    generator = np.random.default_rng(100 + seed)
    p = _random_prior(generator, int(generator.integers(2, 7)))
    epsilon = float(generator.uniform(0.05, 2))
    lifts = plain_vertices(p, epsilon, math.exp(-(epsilon if lower is None else lower)))
    pair = generator.dirichlet(np.ones(p.size)), generator.dirichlet(np.ones(p.size))
    for utility in (ex.MutualInformation(p), *(make(*pair) for make in (*DIVERGENCES, ex.ReverseKL, ex.SymmetricKL))):
        found = check(ex.design(ex.LIP(epsilon, p, lower), utility))
        assert found.value == pytest.approx(optimum(utility, lifts), rel=1e-9, abs=1e-14)


def test_symmetric_lip_information_is_below_its_closed_form_bound() -> None:
    """I ≤ ε·tanh(ε/2) (chord of t·log t between e^−ε and e^ε)."""
    for epsilon in (0.1, 0.5, 1.5):
        p = [0.3, 0.25, 0.2, 0.15, 0.1]
        assert ex.design(ex.LIP(epsilon, p), ex.MutualInformation(p)).upper_bound <= epsilon * math.tanh(
            epsilon / 2
        ) * (1 + 1e-9)


@given(priors(zeros=False, largest=6), st.floats(0.02, 1.3))
@settings(max_examples=25)
def test_the_order_of_notions_and_levels(prior: list[Any], share: float) -> None:
    """More leakage allows more; LDP ⊂ LIP ⊂ PML at the same ε; never more than the entropy."""
    p = [float(x) for x in prior]
    epsilon = max(-math.log(min(p)) * share, 1e-3)
    information = ex.MutualInformation(prior)
    values = [
        ex.design(notion, information) for notion in (ex.LDP(epsilon), ex.LIP(epsilon, prior), ex.PML(epsilon, prior))
    ]
    wider = ex.design(ex.PML(epsilon * 1.1, prior), information)
    slack = 1 + 1e-9
    for smaller, larger in zip(values, [*values[1:], wider], strict=True):
        assert smaller.value <= larger.upper_bound * slack
    assert values[-1].value <= min(epsilon, -sum(x * math.log(x) for x in p)) * slack


@pytest.mark.parametrize(
    ("privacy", "method"),
    [
        (ex.PML(0.3, [0.55, 0.45]), "two inputs"),
        (ex.PML(0.7, [0.55, 0.45]), "two inputs"),
        (ex.PML(0.2, P), "region 1"),
        (ex.PML(1.7, P), "nothing more can be hidden"),
        (ex.PML(50, P), "nothing more can be hidden"),
        (ex.LIP(0.1, P, lower=5), "region 1"),
        (ex.LIP(3, P, lower=0.1), "nothing more can be hidden"),
    ],
    ids=repr,
)
def test_closed_forms_are_optimal_for_every_utility(privacy: Any, method: str) -> None:
    k = privacy.k
    p0, p1 = np.linspace(1, 2, k) / np.linspace(1, 2, k).sum(), np.linspace(2, 1, k) / np.linspace(2, 1, k).sum()
    largest = ex.Sublinear(k, lambda columns: columns.max(axis=0))
    wanted = [ex.MutualInformation(privacy.prior), ex.KL(p0, p1), ex.Average([ex.KL(p0, p1), ex.ChiSquared(p1, p0)])]
    for utility in [*wanted, ex.WorstCase(wanted), largest]:
        found = ex.design(privacy, utility)
        assert method in found.method
        assert found.gap < 1e-12
        if utility is not largest:
            check(found, 1e-12)
        low = math.exp(-privacy.lower) if isinstance(privacy, ex.LIP) else 0.0
        if not isinstance(utility, ex.WorstCase):
            top = min(privacy.epsilon, -math.log(min(privacy.prior.values)) + 1)
            assert found.value == pytest.approx(
                optimum(utility, plain_vertices(privacy.prior.values, top, low)), rel=1e-9
            )


def test_averages_worst_cases_and_user_functions_at_small_size() -> None:
    generator = np.random.default_rng(7)
    p = _random_prior(generator, 5)
    hypotheses = generator.dirichlet(np.ones(5), size=3)
    notion = ex.PML(0.6, p)
    lifts = plain_vertices(p, 0.6)
    average = ex.PairwiseDivergence(list(hypotheses))
    assert check(ex.design(notion, average)).value == pytest.approx(optimum(average, lifts), rel=1e-9)
    worst = check(ex.design(notion, ex.PairwiseDivergence(list(hypotheses), worst_case=True)))
    assert worst.value <= average(worst.mechanism)
    assert worst.mechanism.m <= 5 + 6 - 1
    other = ex.MutualInformation(hypotheses[0])  # information under another prior than that of the notion
    assert check(ex.design(notion, other)).value == pytest.approx(optimum(other, lifts), rel=1e-9)
    largest = ex.Sublinear(5, lambda columns: columns.max(axis=0))
    found = ex.design(notion, largest)
    assert found.gap < 1e-9
    assert found.value == pytest.approx(optimum(largest, lifts), rel=1e-9)
    assert "not proven" in ex.verify(found).reasons[-1]
    with pytest.raises(ex.errors.InvalidParameter, match="at most 14 inputs of positive probability; got inputs=16"):
        ex.design(ex.PML(1, ["1/16"] * 16), ex.Sublinear(16, lambda columns: columns.max(axis=0)))


def test_inputs_of_probability_zero() -> None:
    """They are free under the notion: told apart where that is worth something, and otherwise they answer like the
    average."""
    prior = [0.5, 0.3, 0.2, 0]
    information = check(ex.design(ex.PML(0.5, prior), ex.MutualInformation(prior)))
    assert information.value == pytest.approx(0.296845174168, abs=1e-9)
    assert information.mechanism.matrix[3] == pytest.approx(information.mechanism.marginal(prior), abs=1e-12)
    p0, p1 = [0.5, 0.3, 0.1, 0.1], [0.2, 0.3, 0.3, 0.2]
    for utility in (ex.TotalVariation(p0, p1), ex.KL(p0, p1)):
        found = check(ex.design(ex.PML(0.5, prior), utility))
        shown = ex.design(ex.PML(0.2, prior), utility)
        assert "region 1" in shown.method
        assert found.value > shown.value > 0
    several = check(ex.design(ex.PML(0.5, prior), ex.WorstCase([ex.KL(p0, p1), ex.KL(p1, p0)])))
    assert several.value > 0
    nothing = ex.design(ex.PML(0, prior), ex.KL(p0, p1))
    assert ex.PML(0, prior).holds(nothing.mechanism)
    assert nothing.mechanism.row_classes == 2


def test_an_infinite_optimum_is_said_to_be_infinite_and_attained() -> None:
    p0, p1 = [0.5, 0.3, 0.2, 0], [0, 0.3, 0.3, 0.4]
    prior = [0.4, 0.3, 0.2, 0.1]
    for utility, epsilon in ((ex.KL(p0, p1), 1.5), (ex.KL(p0, p1), 3), (ex.ReverseKL(p0, p1), 3)):
        found = check(ex.design(ex.PML(epsilon, prior), utility))
        assert found.value == found.upper_bound == math.inf
        assert "only one hypothesis makes possible" in found.method
    for privacy, utility in (
        (ex.PML(0.3, prior), ex.KL(p0, p1)),
        (ex.PML(1.5, prior), ex.ReverseKL(p0, p1)),
        (ex.LIP(3, prior), ex.SymmetricKL(p0, p1)),
    ):
        assert math.isfinite(check(ex.design(privacy, utility)).value)
    for bounded in (ex.TotalVariation, ex.SquaredHellinger, ex.JensenShannon):
        check(ex.design(ex.PML(1.5, prior), bounded(p0, p1)))


def test_a_mean_is_infinite_with_one_part_and_a_worst_case_with_all() -> None:
    """With some parts only, a report of tiny probability serves them, and the optimum is that of the others."""
    prior, p0, p1 = [0.4, 0.3, 0.2, 0.1], [0.5, 0.3, 0.2, 0], [0, 0.3, 0.3, 0.4]
    endless, other = ex.KL(p0, p1), ex.ReverseKL([0.5, 0.2, 0.2, 0.1], [0, 0.5, 0.1, 0.4])
    finite = [ex.KL([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]), ex.MutualInformation(prior)]
    privacy = ex.PML(1.5, prior)
    assert math.isfinite(check(ex.design(privacy, other)).value)
    for utility in (
        ex.Average([*finite, endless]),
        ex.Average([finite[0], ex.Average([other, endless])]),
        ex.WorstCase([endless, ex.ReverseKL(p1, p0)]),
        ex.WorstCase([ex.Average([endless, *finite])]),
    ):
        found = check(ex.design(privacy, utility))
        assert found.value == found.upper_bound == math.inf
        assert "infinite, and attained" in found.summary()
    more = []
    across = ex.KL([0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4])
    for one, (a, b) in ((endless, finite), (ex.KL([0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]), (across, across))):
        for epsilon in (0.92, 1.5, 0.4):
            privacy = ex.PML(epsilon, prior)
            found = check(ex.design(privacy, ex.WorstCase([a, one, b])))
            alone = check(ex.design(privacy, ex.WorstCase([a, b])))
            assert found.value == pytest.approx(alone.value, rel=1e-12)
            more.append(found.mechanism.m - alone.mechanism.m)
    assert set(more) == {0, 2}  # some optima have a report that serves the endless part, others get one more


def test_naming_what_never_occurs_serves_the_infinite_parts_of_a_worst_case() -> None:
    prior, endless = [0.6, 0.4, 0], ex.KL([0.3, 0.3, 0.4], [0.5, 0.5, 0])
    finite = ex.KL([0.7, 0.3, 0], [0.2, 0.8, 0])
    for privacy in (ex.PML(1e-6, prior), ex.LIP(0.1, prior), ex.PML(0, prior)):
        assert check(ex.design(privacy, ex.WorstCase([endless, endless]))).value == math.inf
        found = check(ex.design(privacy, ex.WorstCase([endless, finite])))
        assert found.value == pytest.approx(check(ex.design(privacy, finite)).value, rel=1e-6, abs=1e-300)


def test_inputs_far_below_the_level_are_not_lost_in_sums() -> None:
    """Windows of mass b counted from 0 lost inputs of 1e-12 and less: the program had no solution then."""
    for prior in ([1e-12, 1e-9, 0.3, 0.699999998999], [0.41278, 1.29834e-12, 0.272096, 0.31512399999870166]):
        for utility in (ex.KL([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]), ex.MutualInformation(prior)):
            check(ex.design(ex.PML(1e-7, prior), utility), tolerance=1e-6)
            check(ex.design(ex.PML(3.32e-9, prior), utility), tolerance=0.1)


def test_rounding_at_the_smallest_levels_costs_little() -> None:
    """Reports of probability 1e-9 have 2^32 units of weight, and a level of 1e-9 is four of them."""
    prior = [1e-9, 0.3, 0.699999999]
    found = check(ex.design(ex.PML(1e-9, prior), ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])), tolerance=1e-5)
    assert found.value > 1e-10  # 0.5e-10 when constants mend what rounding broke


def test_what_no_search_closes_is_proved_over_all_lift_vectors() -> None:
    """Eleven inputs at a small level: the trees cannot be closed in floats, and the bound was infinite."""
    prior = np.array([0.0634, 0.0216, 0.2549, 0.2554, 0.0026, 0.0432, 0.0686, 0.1477, 0.0107, 0.0147, 0.1172])
    check(ex.design(ex.PML(0.00072, prior), ex.MutualInformation(prior)))


def test_certainty_about_a_set_is_infinite_from_the_very_ratio_on_that_allows_it() -> None:
    """e^ε·p(S) ≥ 1 is decided in integers: at e^ε = 5/2 a report may say S = {0}, p(S) = 2/5, and not below."""
    prior, utility = ["2/5", "3/10", "3/10"], ex.KL(["1/2", "1/4", "1/4"], [0, "1/2", "1/2"])
    exact = {"notion": "PML", "source": ex.SourceClass([prior]).to_json()}
    assert ex.design(ex.PML.from_json({**exact, "ratio": "2.5"}), utility).value == math.inf
    below = check(ex.design(ex.PML.from_json({**exact, "ratio": "2.4999"}), utility))
    assert math.isfinite(below.upper_bound)


def test_an_input_that_never_occurs_may_make_a_divergence_infinite() -> None:
    prior, p0, p1 = [0.6, 0.4, 0], [0.3, 0.3, 0.4], [0.5, 0.5, 0]
    for privacy in (ex.PML(0.1, prior), ex.LIP(0.1, prior), ex.PML(0, prior)):
        found = check(ex.design(privacy, ex.KL(p0, p1)))
        assert found.value == math.inf
        assert math.isfinite(check(ex.design(privacy, ex.ReverseKL(p0, p1))).value)
    sure = ex.LIP(0.1, [1, 0])  # all that occurs is impossible under one hypothesis
    assert check(ex.design(sure, ex.KL([0.2, 0.8], [0, 1]))).value == math.inf


def test_level_zero_is_constant() -> None:
    for privacy in (ex.PML(0, P), ex.LIP(0, P), ex.LIP(1, P, lower=0)):
        found = ex.design(privacy, ex.MutualInformation(P))
        assert found.mechanism.row_classes == 1
        assert found.gap == 0
    with pytest.raises(ex.errors.InvalidParameter, match="at level 0"):
        lift_box(ex.PML(0, P))


def test_time_limits_return_the_best_so_far_with_a_true_bound() -> None:
    p = np.arange(1, 31) / np.arange(1, 31).sum()
    best = ex.design(ex.PML(0.4, p), ex.KL(p, p[::-1]))
    for utility in (ex.MutualInformation(p), ex.KL(p, p[::-1])):
        found = ex.design(ex.PML(0.4, p), utility, time_limit=1e-3)
        assert ex.verify(found)
        assert found.value > 0
        if isinstance(utility, ex.KL):
            assert found.value <= best.upper_bound
            assert found.upper_bound >= best.value


def test_words_for_people() -> None:
    def words(epsilon: float, prior: list[float], **given: Any) -> str:
        summary = ex.design(ex.PML(epsilon, prior), ex.MutualInformation(prior), **given).summary()
        return " ".join(summary.split())  # however its lines are broken

    text = words(1, P, inputs=["yes", "no", "unsure"])
    assert "region 3 of 3 (ε from 0.693147 to 1.60944): a report may rule out at most 2 of the 3 inputs" in text
    assert "may name with certainty (probability at least e^−ε): yes" in text
    assert "from ε_max = 1.60944 on nothing needs to be hidden" in text
    assert (
        "randomised response at LDP ε = 1 would leak 0.704605; with the same leakage as here (LDP ε = 1.56137) it "
        "keeps 0.265258" in text
    )
    assert "if the true one is off by 0.01 in total variation" in text
    assert "a report may rule out no input" in words(0.1, P)
    assert "nothing needs to be hidden: ε is above ε_max" in words(2, P)
    many = ex.design(ex.PML(5.9, ["1/400"] * 400), ex.MutualInformation(["1/400"] * 400))
    assert len(many.notes) == 3
    assert "none" in many.notes[1]
    assert "and 2 more" in words(2.5, [0.11] * 8 + [0.06, 0.06])


class TestUniform:
    @pytest.mark.slow
    def test_ten_thousand_inputs_at_once(self) -> None:
        prior = ["1/10000"] * 10_000
        found = check(ex.design(ex.PML(1, prior), ex.MutualInformation(prior)), 1e-10)
        assert found.mechanism.structure.kind == "circulant"
        full = math.floor(10_000 / math.e)
        rest = 1 - full * math.e / 10_000
        assert found.value == pytest.approx(full * math.e / 10_000 + rest * math.log(rest * 10_000), rel=1e-12)

    def test_the_ratio_form_of_epsilon_is_kept(self) -> None:
        exact = ex.PML.from_json({"notion": "PML", "ratio": "3", "source": ex.SourceClass([["1/4"] * 4]).to_json()})
        found = check(ex.design(exact, ex.MutualInformation(["1/4"] * 4)))
        assert found.mechanism.privacy == exact


class TestCertificates:
    """Each kind of proof, damaged in each way."""

    DESIGNS = (
        (ex.PML(0.5, P), ex.MutualInformation(P)),
        (ex.PML(0.5, P), ex.KL(P, [0.2, 0.2, 0.6])),
        (ex.LIP(0.5, P), ex.TotalVariation(P, [0.2, 0.2, 0.6])),
        (ex.PML(0.5, P), ex.WorstCase([ex.KL(P, [0.2, 0.2, 0.6]), ex.KL([0.2, 0.2, 0.6], P)])),
        (ex.PML(0.1, P), ex.KL(P, [0.2, 0.2, 0.6])),
        (ex.PML(0.8, ["1/3"] * 3), ex.MutualInformation(["1/3"] * 3)),
        (ex.PML(0.5, ex.SourceClass.ball(P, 0.05)), ex.MutualInformation(P)),
    )

    @pytest.mark.parametrize(("privacy", "utility"), DESIGNS, ids=lambda v: v.name)
    def test_damage_is_refused(self, privacy: Any, utility: Any) -> None:
        found = check(ex.design(privacy, utility))
        other = "MutualInformation" if utility.name != "MutualInformation" else "KL"
        wrong = (
            ex.MutualInformation([0.2, 0.3, 0.5])
            if other == "MutualInformation"
            else ex.KL([0.1, 0.1, 0.8], [0.8, 0.1, 0.1])
        )
        check_refusals(found, wrong)

    def test_a_moved_weight_is_refused(self) -> None:
        found = ex.design(ex.PML(0.5, P), ex.KL(P, [0.2, 0.2, 0.6]))
        weights = found.mechanism.weights.copy()
        weights[0, 0] += 2**40
        weights[0, 1] -= 2**40
        moved = ex.Mechanism.from_weights(weights, found.mechanism.denominator)
        damaged = ex.Mechanism(
            moved.structure, moved.row_of, moved.input_labels, moved.output_labels, found.mechanism.privacy
        )
        assert not ex.verify(dataclasses.replace(found.certificate, mechanism=damaged))

    def test_another_prior_is_refused(self) -> None:
        found = ex.design(ex.PML(0.5, P), ex.MutualInformation(P))
        same = found.mechanism
        other = falsely_claiming(same, ex.PML(0.5, [0.5, 0.29, 0.21]))
        verification = ex.verify(dataclasses.replace(found.certificate, mechanism=other))
        assert not verification
        assert not (verification.privacy and verification.optimality)

    def test_files_carry_the_proof(self, tmp_path: Path) -> None:
        found = ex.design(ex.LIP(0.7, P, lower=2), ex.ChiSquared(P, [0.2, 0.2, 0.6]))
        found.save(tmp_path / "m.json")
        assert ex.verify(tmp_path / "m.certificate.json")

    def test_the_verifier_needs_no_solver(self, monkeypatch: pytest.MonkeyPatch) -> None:
        designs = [ex.design(privacy, utility) for privacy, utility in self.DESIGNS]

        def none(*_: Any, **__: Any) -> None:
            raise AssertionError("a solver was used")

        monkeypatch.setattr("extremal.solver.LinearProgram.__init__", none)
        monkeypatch.setattr("extremal.solver.interior_point", none)
        assert all(ex.verify(found) for found in designs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [lambda p: p, lambda p: np.sort(p)[::-1] ** 0.3 / (np.sort(p)[::-1] ** 0.3).sum()], ids=["rough", "smooth"]
)
def test_forty_inputs(make: Any) -> None:
    generator = np.random.default_rng(11)
    p = make(generator.dirichlet(np.ones(40)))
    pair = generator.dirichlet(np.ones(40)), generator.dirichlet(np.ones(40))
    check(ex.design(ex.PML(0.5, p), ex.KL(*pair)))
    check(ex.design(ex.PML(0.5, p), ex.MutualInformation(p), tolerance=1e-4, time_limit=20), 1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 1.2])
def test_twelve_inputs_against_all_vertices(epsilon: float) -> None:
    p = np.sort(np.random.default_rng(13).dirichlet(np.ones(12)))[::-1]
    utility = ex.MutualInformation(p)
    found = check(ex.design(ex.PML(epsilon, p), utility))
    box = lift_box(ex.PML(epsilon, p))
    lifts = box.lifts(vertices(box))
    assert found.value == pytest.approx(optimum(utility, lifts), rel=1e-9)


@pytest.mark.slow
def test_tangent_blocks_at_seventy_inputs() -> None:
    generator = np.random.default_rng(12)
    p, p0, p1 = (generator.dirichlet(np.ones(70)) for _ in range(3))
    check(ex.design(ex.PML(0.4, p), ex.ChiSquared(p0, p1)), 1e-7)
