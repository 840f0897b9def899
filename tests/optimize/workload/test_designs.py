"""Designs for workloads: the numbers that are known, optimality conditions, and every way that is taken."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Refused
from extremal.estimate.expected import expected_workload
from extremal.optimize import Design
from extremal.optimize.workload.inequality import best_lift_inequality
from extremal.optimize.workload.leakage import around_lifts
from extremal.optimize.workload.lifts import Coordinates
from extremal.simulate import Simulation
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload
from support.checkers import checker_says_of


def zipf(k: int, s: float) -> np.ndarray:
    p = np.arange(1.0, k + 1) ** -s
    return np.asarray(p / p.sum())


def designed(privacy: Any, utility: Workload, **options: Any) -> tuple[float, float, Design]:
    """(value, proved bound, design); everything that it claims is proved again."""
    design = ex.design(privacy, utility, **options)
    assert ex.verify(design)
    assert utility(design.mechanism) == pytest.approx(design.value, rel=1e-6)
    return design.value, design.lower_bound, design


@pytest.mark.parametrize(
    ("utility", "epsilon", "value"),
    [
        (Frequencies(10), 0.5, 127.2172),
        (Frequencies(10), 1, 30.00406),
        (Frequencies(10), 2, 5.922117),
        (Frequencies(zipf(10, 1.5)), 1, 28.34230),
        (CDF(10), 0.5, 152.939),
        (CDF(10), 1, 35.945),
        (CDF(10), 2, 7.984),
        (CDF(10), 4, 2.3209),
        (Mean(np.arange(10) / 9), 0.5, 4.10082),
        (Mean(np.arange(10) / 9), 1, 1.08351),
        (Mean(np.arange(10) / 9), 2, 0.30073),
        (Mean(np.arange(10) / 9), 4, 0.12918),
    ],
)
def test_ten_inputs_have_their_known_optima(utility: Workload, epsilon: float, value: float) -> None:
    found, bound, _ = designed(ex.LDP(epsilon), utility)
    assert found == pytest.approx(value, rel=3e-5)
    assert 1 - bound / found < 1e-6


def test_subset_selection_needs_half_as_many_people_again_for_a_distribution_function() -> None:
    utility = CDF(zipf(10, 1.5))
    value, _, _ = designed(ex.LDP(1), utility)
    assert utility(ex.subset_selection(10, 1)) / value == pytest.approx(1.561, abs=1e-3)
    frequencies = Frequencies(10)
    assert frequencies(ex.subset_selection(10, 1)) / designed(ex.LDP(1), frequencies)[0] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1, 5, 20, 50])
@pytest.mark.parametrize(
    "utility",
    [CDF(5), Frequencies(zipf(5, 3.0)), Mean([3, 1, 2, 8, 1]), Workload([[1, 0, 0, -1, 0], [0, 2, 0, 0, 1]], 5)],
)
def test_small_problems_are_solved_at_every_epsilon(utility: Workload, epsilon: float) -> None:
    value, bound, _ = designed(ex.LDP(epsilon), utility)
    assert 1 - bound / value < 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_no_random_mechanism_beats_the_design(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k = 5
    utility = Workload(generator.normal(size=(3, k)), generator.dirichlet(np.ones(k)))
    value, bound, _ = designed(ex.LDP(1), utility)
    assert 1 - bound / value < 1e-6
    for _ in range(20):  # subset selections on random relabellings, mixed at random, and post-processed
        parts = [
            ex.subset_selection(k, 1, size=int(d)).matrix[generator.permutation(k)] for d in generator.integers(1, k, 3)
        ]
        mixed = np.concatenate([w * q for w, q in zip(generator.dirichlet(np.ones(3)), parts, strict=True)], axis=1)
        assert utility(mixed) >= bound
        assert utility(mixed @ generator.dirichlet(np.full(12, 0.1), size=mixed.shape[1])) >= bound


def test_relabelling_the_inputs_relabels_the_design() -> None:
    prior, order = zipf(6, 1.0), np.array([3, 1, 5, 0, 2, 4])
    assert designed(ex.LDP(1), Frequencies(prior))[0] == pytest.approx(
        designed(ex.LDP(1), Frequencies(prior[order]))[0], rel=1e-9
    )


def test_less_privacy_costs_less() -> None:
    values = [designed(ex.LDP(epsilon), CDF(6))[0] for epsilon in (0.5, 1, 1.5, 2, 4, 8)]
    assert all(a > b for a, b in itertools.pairwise(values))
    sampling = CDF(6)(np.eye(6))
    assert values[-1] > sampling


def test_deciles_of_a_thousand_bins_are_ten_inputs() -> None:
    deciles = CDF(1000, thresholds=[100 * i - 1 for i in range(1, 10)])
    value, bound, solution = designed(ex.LDP(1), deciles)
    assert value == pytest.approx(35.945, rel=3e-5)
    assert 1 - bound / value < 1e-6
    assert solution.mechanism.row_classes == 10
    assert "1000 inputs merged into 10" in solution.method


def test_wanting_few_items_merges_the_others() -> None:
    value, bound, solution = designed(ex.LDP(1), Frequencies(zipf(60, 1.0), items=[0, 7], weights=[1, 4]))
    assert 1 - bound / value < 1e-6
    assert solution.mechanism.row_classes == 3


def test_a_prior_with_zeros_is_designed_for() -> None:
    for utility in (CDF([0.5, 0.5, 0, 0]), Mean([1, 2, 3, 4], [0.5, 0.5, 0, 0]), Mean([1, 2, 4, 4], [0.5, 0.5, 0, 0])):
        value, bound, _ = designed(ex.LDP(1), utility)
        assert 1 - bound / value < 1e-6


@pytest.mark.parametrize("notion", [ex.PML, ex.LIP])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 1.7])
def test_under_a_prior_aware_notion_the_design_is_certified_and_at_least_as_good(notion: Any, epsilon: float) -> None:
    prior = zipf(5, 0.7)
    for utility in (Frequencies(prior), CDF(prior), Mean(range(5), prior)):
        value, bound, _ = designed(notion(epsilon, prior), utility)
        assert 1 - bound / value < 1e-6
        # ε-LDP implies ε-PML and ε-LIP, so these notions leave more freedom
        assert value <= designed(ex.LDP(epsilon), utility)[0] * (1 + 1e-9)


@pytest.mark.parametrize("notion", [ex.PML, ex.LIP])
def test_more_inputs_are_searched_under_a_prior_aware_notion(notion: Any, tmp_path: Path) -> None:
    prior = zipf(13, 0.7)
    for utility in (Frequencies(prior), CDF(prior)):
        value, bound, found = designed(notion(1, prior), utility)
        assert found.method == "column generation"
        assert 1 - bound / value < 0.04
        assert value < utility(ex.randomized_response(13, 1))
        text = found.certificate.save(tmp_path / f"{utility.name}.json").read_bytes()
        assert checker_says_of(text) == ("proved", "proved", "proved")


@pytest.mark.parametrize("notion", [ex.PML, ex.LIP])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_bound_of_lifts_stays_below_the_exact_optimum_and_close(notion: Any, epsilon: float) -> None:
    for utility in (Frequencies(zipf(7, 0.6)), CDF(zipf(7, 0.2)), Ranges([1 / 6] * 6)):
        privacy, prior = notion(epsilon, utility.prior), utility.prior.values
        value, _, _ = designed(privacy, utility)
        found = best_lift_inequality(Coordinates(prior, utility.rows), *around_lifts(privacy), 2.0)
        proof = found.proof(privacy, utility)
        assert 0.8 * value < proof.bound(privacy, utility) <= value * (1 + 1e-15)
        assert float(proof.bound(privacy, utility)) == pytest.approx(found.bound, rel=1e-5)
        if not found.d.size:  # inputs may be told as they are
            continue
        larger = tuple(tuple(v + v // 10**3 for v in row) for row in proof.z)
        with pytest.raises(Refused, match="below"):
            dataclasses.replace(proof, z=larger).bound(privacy, utility)


def test_the_notion_may_have_another_prior_than_the_workload() -> None:
    value, bound, _ = designed(ex.PML(0.5, [0.25] * 4), CDF(zipf(4, 1.0)))
    assert 1 - bound / value < 1e-6


def test_over_all_priors_the_mean_is_one_bit() -> None:
    for epsilon in (0.1, 1, 3):
        values = [0, 0.3, 0.31, 1]
        value, bound, solution = designed(ex.LDP(epsilon), Mean(values, ex.SourceClass.simplex(4)))
        assert solution.mechanism.m == 2
        assert value == pytest.approx(1 / math.tanh(epsilon / 2) ** 2 / 4, rel=1e-9)
        assert bound == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("k", "outputs"), [(7, 7), (10, 120), (13, 13), (4, 4)])
def test_over_all_priors_the_shares_are_a_block_design_or_subset_selection(k: int, outputs: int) -> None:
    value, bound, solution = designed(ex.LDP(1 if k > 4 else 3), Frequencies(ex.SourceClass.simplex(k)))
    assert solution.mechanism.m in (outputs, math.comb(k, 2), math.comb(k, 1))
    assert bound == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(
    "source",
    [
        ex.SourceClass.simplex(4),
        ex.SourceClass.ball([0.4, 0.3, 0.2, 0.1], 0.1),
        ex.SourceClass.from_counts([40, 30, 20, 10]),
        ex.SourceClass([[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.4, 0.4]]),
        ex.SourceClass.permutation_invariant([0.5, 0.3, 0.1, 0.1]),
        ex.SourceClass.from_inequalities([[-1, 0, 0, 0], [0, 0, 0, 1]], [-0.3, 0.2]),
    ],
)
def test_over_a_class_the_saddle_closes(source: ex.SourceClass) -> None:
    value, bound, _ = designed(ex.LDP(1), CDF(source))
    assert 1 - bound / value < 1e-5


def test_a_nominal_design_is_no_better_in_the_worst_case() -> None:
    source = ex.SourceClass.ball(zipf(5, 1.5), 0.2)
    value, _, _ = designed(ex.LDP(1), CDF(source))
    nominal = designed(ex.LDP(1), CDF(zipf(5, 1.5)))[2].mechanism
    assert CDF(source)(nominal) >= value * (1 - 1e-9)


def test_twenty_inputs_are_certified_within_a_percent() -> None:
    value, bound, solution = designed(ex.LDP(2), CDF(20), time_limit=None)
    assert value <= 23.142
    assert 1 - bound / value < 0.01
    assert solution.mechanism.m <= 20 * 21 // 2


@pytest.mark.parametrize(
    ("privacy", "utility", "message"),
    [
        (ex.LDP(0), CDF(4), "nothing can be estimated"),
        (ex.PML(1, zipf(20, 1.0)), CDF(20), "at most 40 inputs with the notion's prior, 12 with another"),
        (ex.PML(1, [0.5, 0.5, 0, 0]), CDF(4), "no probability zero"),
        (ex.PML(1, ex.SourceClass.simplex(4)), CDF(4), "one prior"),
        (ex.LDP(1), CDF(ex.SourceClass.simplex(41)), "at most 40 inputs"),
        (ex.LDP(1), CDF(1600), "at most 1500 different inputs"),
    ],
)
def test_what_is_not_solved_is_said(privacy: Any, utility: Workload, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.design(privacy, utility)


def test_large_symmetric_alphabets_are_closed_forms() -> None:
    value, bound, solution = designed(ex.LDP(1), Frequencies(1000))
    assert value == pytest.approx(3675.333, rel=1e-6)
    assert bound == pytest.approx(value, rel=1e-12)
    assert "subset selection of size 269" in solution.method


@pytest.mark.slow
def test_a_thousand_values_have_a_mean_certified_to_a_percent() -> None:
    value, bound, _ = designed(ex.LDP(2), Mean(np.arange(300) / 299))
    assert 1 - bound / value < 5e-3


def test_next_to_k_reports_the_shifts_of_one_set_are_better_than_randomised_response() -> None:
    """Every input lies in as many shifts of a set on a cycle as any other, also where only part of the cycle is real.
    Too few colourings to tell all inputs apart, and too few reports, are no error of the solver."""
    for k, limit, share in ((12, 12, 0.7), (12, 17, 0.55), (40, 40, 0.2)):
        utility = CDF(k)
        value, bound, solution = designed(ex.LDP(1), utility, max_outputs=limit, time_limit=1)
        assert k <= solution.mechanism.m <= limit
        assert bound <= value < share * utility(ex.randomized_response(k, 1))
    with pytest.raises(ex.errors.InvalidParameter, match=r"has 16 reports.*max_outputs=5.*report_bits=4"):
        designed(ex.LDP(1), CDF(16), max_outputs=5, time_limit=0.5)


@pytest.mark.parametrize("utility", [CDF(6), Frequencies(10), Mean(range(7)), Frequencies(zipf(8, 1.0))])
def test_a_limit_on_the_reports_is_kept_and_its_price_is_seen(utility: Workload) -> None:
    free = designed(ex.LDP(1), utility)[0]
    last = math.inf
    for limit in (utility.k, utility.k + 4, utility.k + 20):
        value, bound, solution = designed(ex.LDP(1), utility, max_outputs=limit)
        assert solution.mechanism.m <= limit
        assert free * (1 - 1e-6) <= value <= last * (1 + 1e-6)
        assert bound == pytest.approx(free, rel=1e-6)
        last = value
    with pytest.raises(ex.errors.InvalidParameter, match="max_outputs=2"):
        ex.design(ex.LDP(1), utility, max_outputs=2)


@pytest.mark.parametrize(
    ("weights", "epsilon"),
    [([4] * 20 + [1] * 100, 0.5), ([4] * 20 + [1] * 100, 3), ([1, 4] * 40, 4), ([9] * 10 + [3] * 20 + [1] * 35, 2)],
)
def test_many_shares_in_groups_are_solved_exactly(weights: list[int], epsilon: float) -> None:
    prior = [Fraction(w, sum(weights)) for w in weights]
    utility = Frequencies(prior)
    value, bound, solution = designed(ex.LDP(epsilon), utility)
    assert abs(1 - bound / value) < 1e-8
    assert "groups of inputs" in solution.method
    assert solution.mechanism.structure.kind == "grouped_sets"
    best = min(utility(ex.subset_selection(len(weights), epsilon, size=d)) for d in range(1, len(weights) // 2))
    assert value < best * (1 - 1e-8)


def test_groups_that_hardly_differ_get_subset_selection() -> None:
    weights = [10**7 + 1] * 40 + [10**7] * 40
    value, bound, solution = designed(ex.LDP(1), Frequencies([Fraction(w, sum(weights)) for w in weights]))
    assert solution.method.startswith("subset selection of size")
    assert 1 - bound / value < 1e-8


def test_sets_of_several_types_are_estimated_with_the_designed_error() -> None:
    weights = [6] * 20 + [1] * 60
    utility = Frequencies([Fraction(w, sum(weights)) for w in weights])
    design = ex.design(ex.LDP(2), utility)
    truth = np.array(weights) / sum(weights)
    expected = expected_workload(design.mechanism, utility)(1_000)
    assert 1_000 * (expected.standard_error**2).sum() == pytest.approx(design.value, rel=1e-9)
    codes = np.random.default_rng(4).choice(80, size=20_000, p=truth)
    reports = list(Simulation(5).privatize(design.mechanism, codes))
    found = ex.estimate_workload(reports, design.mechanism, utility)
    assert found.n * (found.standard_error**2).sum() == pytest.approx(design.value, rel=0.03)
    assert found.n * ((found.estimate - truth) ** 2).sum() < 2 * design.value
    same = ex.estimate_frequencies(reports, design.mechanism, prior=truth)
    assert same.estimate == pytest.approx(found.estimate, abs=1e-9)
    verdict = ex.verify(design)
    assert verdict, verdict


@pytest.mark.parametrize("epsilon", [6, 8, 20, 50])
def test_randomised_response_is_proved_best_at_large_epsilon(epsilon: float) -> None:
    for utility in (CDF(16), Ranges(zipf(15, 0.5))):
        value, bound, solution = designed(ex.LDP(epsilon), utility)
        assert 1 - bound / value < 1e-6
        assert value == pytest.approx(utility(ex.randomized_response(utility.k, epsilon)), rel=1e-6)
        assert (solution.method, solution.mechanism.m) == ("randomised response", utility.k) or epsilon < 8


def test_a_hundred_bins_at_large_epsilon_are_randomised_response() -> None:
    value, bound, solution = designed(ex.LDP(12), CDF(101))
    assert solution.method == "randomised response"
    assert 1 - bound / value < 1e-6


@pytest.mark.parametrize("values", [[0, 1e300], [0, 1e-300]])
def test_units_that_no_float_can_square_are_refused(values: list[float]) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="another unit"):
        ex.Mean(values)


def test_many_unequal_shares_are_designed_for() -> None:
    utility = Frequencies(zipf(80, 1.0))
    value, bound, solution = designed(ex.LDP(1), utility)
    assert 1 - bound / value < 0.03
    assert solution.mechanism.m < 1000


@pytest.mark.parametrize(
    "source",
    [
        ex.SourceClass.ball([1 / 20] * 20, 0.3),
        ex.SourceClass.from_counts([6, 5, 4, 5, 5, 4, 6, 5, 5, 4, 5, 6]),
        ex.SourceClass([zipf(12, 1.0), [1 / 12] * 12]),
    ],
)
def test_shares_over_a_class_with_the_uniform_prior_are_a_closed_form(source: ex.SourceClass) -> None:
    value, bound, solution = designed(ex.LDP(1), Frequencies(source))
    assert "closed form" in solution.method
    assert bound == pytest.approx(value, rel=1e-8)
    assert value == pytest.approx(Frequencies(source.k)(solution.mechanism), rel=1e-9)


@pytest.mark.parametrize("goal", [Frequencies, CDF], ids=lambda goal: goal.name)
def test_the_worst_prior_of_a_class_on_more_inputs_than_patterns_are_listed_for(goal: type[Workload]) -> None:
    """The design at the centre alone is hardly better in the worst case; the bound is that of a prior of the class."""
    centre = np.exp(-2 * np.arange(12) / 12)
    centre = (centre / centre.sum()).round(6)
    centre[-1] = 1 - centre[:-1].sum()
    utility = goal(ex.SourceClass.ball(centre.tolist(), 0.05))
    d = ex.design(ex.LDP(1), utility, time_limit=8)
    alone = ex.design(ex.LDP(1), goal(centre.tolist()))
    assert d.method == "saddle point, column generation"
    assert d.value <= utility(alone.mechanism) * 1.02
    assert d.lower_bound > alone.lower_bound * 0.99
    assert d.gap < 0.1
    assert ex.verify(d)


def test_no_report_is_dust_where_it_carries_nothing() -> None:
    """Interior points leave weights of 1e-10 on patterns that are not used; without them the optimum is the same."""
    for utility in (ex.Mean(list(range(20))), CDF(10)):
        d = ex.design(ex.LDP(1), utility)
        assert d.mechanism.matrix.max(axis=0).min() > 1e-9
        assert d.gap < 1e-9


def test_a_report_that_identifies_a_rare_input_is_no_dust() -> None:
    """Without it two reports are left for three inputs, and floats see no cost in that."""
    found = ex.design(ex.LDP(50), ex.Frequencies(["1/20000000000000", "13656/20000", "6343999999999/20000000000000"]))
    assert math.isfinite(found.value)
    assert ex.verify(found).privacy == "proved"


def drawn(seed: int, count: int, k: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, k))


@pytest.mark.parametrize(
    ("rows", "epsilon"),
    [
        (np.vstack([np.arange(0, 1.6e6, 1e5), np.eye(16)[3]]), 1),
        (drawn(0, 2, 16) * [[1e6], [1]], 1),
        (drawn(0, 6, 18), 40),
        (drawn(0, 3, 16) * [[1e9], [1], [1e-9]], 30),
        (np.random.default_rng(0).integers(-1, 2, size=(6, 18)), 40),
    ],
)
def test_no_scale_and_no_epsilon_is_without_a_bound(rows: np.ndarray, epsilon: float) -> None:
    value, bound, _ = designed(ex.LDP(epsilon), Workload(rows, rows.shape[1]), time_limit=2)
    assert 1 - bound / value < 1e-3


def test_uneven_priors_have_a_bound_where_the_matrix_inequality_has_none() -> None:
    generator = np.random.default_rng(0)
    prior = generator.dirichlet(np.full(20, 0.3))
    value, bound, _ = designed(ex.LDP(25), Workload(drawn(0, 20, 20), prior.tolist()))
    assert 1 - bound / value < 1e-6


def test_large_epsilon_with_delta_has_a_bound() -> None:
    value, bound, _ = designed(ex.LDP(50, 0.5), Mean(range(8)))
    assert 1 - bound / value < 1e-6


def test_what_repeats_one_statistic_is_one_statistic(tmp_path: Path) -> None:
    """The value depends on AᵀA but for constants alone; rounding of the multiples changes nothing."""
    one = drawn(0, 1, 24)
    value, _, _ = designed(ex.LDP(2), Workload(one, 24))
    twice = np.random.default_rng(1).normal(size=(5, 1))
    for rows, times in (
        (np.vstack([one, 0 * one]), 1),
        (np.vstack([one, one]), 2),
        (np.vstack([one, 3 - one, np.ones((1, 24))]), 2),
        (twice * one, float((twice**2).sum())),
    ):
        found, bound, design = designed(ex.LDP(2), Workload(rows, 24))
        assert found == pytest.approx(times * value, rel=1e-7)
        assert 1 - bound / found < 1e-8
        text = design.certificate.save(tmp_path / "one.json", overwrite=True).read_bytes()
        assert checker_says_of(text) == ("proved", "proved", "proved")


def test_few_statistics_are_certified_closely() -> None:
    """Up to 18 inputs all patterns are counted; beyond, those of a coarser question."""
    for rows, gap in ((drawn(1, 3, 15), 1e-6), (drawn(6, 2, 21), 0.01)):
        value, bound, _ = designed(ex.LDP(1), Workload(rows, rows.shape[1]))
        assert 1 - bound / value < gap


def test_where_floats_fail_randomised_response_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError

    for name in ("optimal_design", "generate", "one_statistic"):
        monkeypatch.setattr(f"extremal.optimize.workload.solve.{name}", failing)
    for k in (5, 16):
        value, bound, design = designed(ex.LDP(1), Workload(drawn(0, 2, k), k))
        assert design.method == "randomised response"
        assert 0 < bound < value
