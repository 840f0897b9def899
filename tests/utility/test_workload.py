"""n × the total variance of what is estimated: against its definition, and what must hold of it whatever the
mechanism.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import extremal as ex
from extremal.problem.reading import goal_from_json
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload

PRIORS = [[0.4, 0.3, 0.2, 0.1], [0.25] * 4, [0.97, 0.01, 0.01, 0.01], [0.5, 0.5, 0.0, 0.0]]


def random_matrix(seed: int, k: int, m: int, mix: float = 0.3) -> np.ndarray:
    generator = np.random.default_rng(seed)
    q = generator.dirichlet(np.ones(m), size=k)
    return (1 - mix) * q + mix / m


def by_definition(q: np.ndarray, a: np.ndarray, p: np.ndarray) -> float:
    """tr(W J⁻¹) − pᵀWp, the inverse taken of J itself."""
    j = (q / (p @ q)) @ q.T
    w = a.T @ a
    return float(np.trace(w @ np.linalg.inv(j)) - p @ w @ p)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seed", range(5))
def test_the_value_is_the_trace_of_the_workload_times_the_inverse_information(prior: list[float], seed: int) -> None:
    q, a = random_matrix(seed, 4, 7), np.random.default_rng(seed).normal(size=(3, 4))
    assert Workload(a, prior)(q) == pytest.approx(by_definition(q, a, np.array(prior)), rel=1e-9)
    mechanism = ex.Mechanism.from_matrix(q)
    assert Workload(a, prior)(mechanism) == pytest.approx(Workload(a, prior)(q), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_post_processing_never_estimates_better(seed: int) -> None:
    generator = np.random.default_rng(seed)
    q = random_matrix(seed, 4, 6)
    coarser = q @ generator.dirichlet(np.ones(5), size=6)
    for utility in (Frequencies(PRIORS[0]), CDF(4), Ranges(4), Mean([0, 1, 5, 2], PRIORS[0])):
        assert utility(coarser) >= utility(q) * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_the_value_is_concave_in_the_prior(seed: int) -> None:
    generator = np.random.default_rng(seed)
    q, (p0, p1) = random_matrix(seed, 4, 6), generator.dirichlet(np.ones(4), size=2)
    utility = CDF(4)
    middle = utility.at((p0 + p1) / 2)(q)
    assert middle >= (utility.at(p0)(q) + utility.at(p1)(q)) / 2 * (1 - 1e-12)


def test_the_value_keeps_its_digits_at_tiny_epsilon() -> None:
    values = [
        Frequencies(10)(ex.subset_selection(10, eps, size=4)) * math.expm1(eps) ** 2 for eps in (1e-6, 1e-5, 1e-4)
    ]
    # ((e^ε − 1)d + k)²(k−1)²/(k·d(k−d)): linear in ε, so differences are in the ratio 9 : 90
    assert (values[2] - values[1]) / (values[1] - values[0]) == pytest.approx(10, rel=1e-3)


def test_ranges_are_all_ranges() -> None:
    k = 6
    listed = [[float(a <= x <= b) for x in range(k)] for a in range(k) for b in range(a, k)]
    q = random_matrix(3, k, 9)
    p = np.random.default_rng(1).dirichlet(np.ones(k))
    assert Ranges(p)(q) == pytest.approx(Workload(listed, p)(q), rel=1e-12)
    assert (Ranges(k).exact_gram[0] == Workload(listed, k).exact_gram[0]).all()


def test_a_statistic_that_is_not_identified_costs_infinitely_much() -> None:
    one_bit = ex.Mechanism.from_matrix([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
    assert CDF(3)(one_bit) == math.inf
    assert Mean([0, 1, 2])(one_bit) == pytest.approx(1 / (0.5) ** 2, rel=1e-12)
    assert Mean([0, 1, 2.1])(one_bit) == math.inf
    merged = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1))
    assert Frequencies(3, items=[2])(merged) < math.inf
    assert Frequencies(3, items=[0])(merged) == math.inf
    assert Frequencies(3)(ex.Mechanism.from_matrix(np.full((3, 2), 0.5))) == math.inf


def test_structures_give_what_their_matrix_gives() -> None:
    for mechanism in (
        ex.randomized_response(9, 1),
        ex.subset_selection(9, 1),
        ex.Mechanism.from_windows(90, 20, ex.LDP(1)),
    ):
        utility = CDF(np.random.default_rng(0).dirichlet(np.ones(mechanism.k)))
        assert utility(mechanism) == pytest.approx(utility(mechanism.matrix), rel=1e-9)
    for k, size in ((24, 7), (9, 3)):  # 346,104 subsets kept as one number, and 84 listed
        mechanism = ex.subset_selection(k, 1, size=size)
        c = math.expm1(1)
        closed = (k - 1) ** 2 * (c * size + k) ** 2 / (k * c**2 * size * (k - size))
        assert Frequencies(k)(mechanism) == pytest.approx(closed, rel=1e-9)


def test_too_many_subsets_at_unequal_priors_are_refused() -> None:
    prior = np.linspace(1, 2, 40) / np.linspace(1, 2, 40).sum()
    with pytest.raises(ex.errors.TooLarge, match="at most 3 different"):
        Frequencies(prior)(ex.subset_selection(40, 1))


@pytest.mark.parametrize(
    "source",
    [
        ex.SourceClass.simplex(4),
        ex.SourceClass.ball([0.4, 0.3, 0.2, 0.1], 0.1),
        ex.SourceClass([[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.4, 0.4]]),
    ],
)
def test_over_a_class_the_value_is_the_worst_and_is_attained(source: ex.SourceClass) -> None:
    utility, q = CDF(source), random_matrix(0, 4, 6)
    worst = utility.worst_prior(q)
    assert worst.value == utility(q)
    assert worst.attained == pytest.approx(worst.value, rel=1e-8)
    assert worst.prior in source
    generator = np.random.default_rng(0)
    corners = [p.values for p in source.vertices()]
    for _ in range(200):
        inside = generator.dirichlet(np.ones(len(corners))) @ np.array(corners)
        assert utility.at(inside)(q) <= worst.value * (1 + 1e-12)


def test_subset_selection_is_worst_at_equal_shares() -> None:
    m = ex.subset_selection(6, 1)
    assert Frequencies(ex.SourceClass.simplex(6))(m) == pytest.approx(Frequencies(6)(m), rel=1e-9)


@pytest.mark.parametrize(
    "utility",
    [
        Frequencies([0.5, 0.3, 0.2], items=[0, 2], weights=[1, 2.5]),
        CDF(5),
        CDF(9, thresholds=[2, 5]),
        Ranges(ex.SourceClass.simplex(3)),
        Mean([0, 1.5, 7]),
        Workload([[1, 0.1, -1]], 3),
    ],
)
def test_a_workload_survives_its_file(utility: Workload) -> None:
    content = utility.to_json()
    stated = goal_from_json(content)
    gram, denominator = utility.exact_gram
    assert (stated.gram == gram).all()
    assert stated.denominator == denominator
    assert stated.source == utility.source


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Frequencies(1), "at least 2 inputs.*prior=1"),
        (lambda: Frequencies(3, items=[0, 0]), "different positions"),
        (lambda: Frequencies(3, items=[3]), "below 3"),
        (lambda: Frequencies(3, weights=[1, 2]), "weights must be 3"),
        (lambda: Frequencies(3, weights=[1, 2, 0]), "positive"),
        (lambda: Frequencies(5000), "at most 4096"),
        (lambda: CDF(3, thresholds=[2]), "below 2"),
        (lambda: CDF(3, thresholds=[]), "thresholds"),
        (lambda: Mean([1, 1, 1]), "must differ"),
        (lambda: Mean([1, math.nan]), "finite"),
        (lambda: Mean("abc"), "numbers"),
        (lambda: Mean([0, 1], [0.2, 0.3, 0.5]), "columns"),
        (lambda: Workload([[1, 2]], 3), "3 columns"),
        (lambda: Workload([[1, 1, 1]], 3), "sum to one"),
        (lambda: Workload([[1, math.inf, 1]], 3), "finite"),
        (lambda: Workload("x", 3), "matrix"),
        (lambda: CDF(3)(ex.randomized_response(4, 1)), "3 inputs"),
        (lambda: CDF(3).at([0.5, 0.5]), "3 entries"),
    ],
)
def test_bad_input_is_refused_by_name(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ex.ExtremalError, match=message):
        make()


@pytest.mark.parametrize("groups", [(3, 12), (1, 14), (4, 10, 1), (15,)])
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 6.0])
def test_subsets_counted_by_groups_are_worth_what_their_list_is(groups: tuple[int, ...], epsilon: float) -> None:
    k, d = 15, 7
    prior = np.concatenate([np.full(n, 1.0 + 3 * g) for g, n in enumerate(groups)])
    prior /= prior.sum()
    mechanism = ex.subset_selection(k, epsilon, size=d)
    assert mechanism.structure.kind == "subset_selection"
    held = mechanism.structure.inside / 2**62
    subsets = np.array(list(itertools.combinations(range(k), d)))
    inside = np.zeros((k, len(subsets)), dtype=bool)
    inside[subsets.T, np.arange(len(subsets))] = True
    above = (held * k - d) * (1 / d + 1 / (k - d)) / len(subsets)  # without cancellation at small ε
    lifts = (inside - prior @ inside) * above
    marginal = (1 - held) * k / (k - d) / len(subsets) + above * (prior @ inside)
    excess = (lifts / marginal) @ lifts.T
    for utility in (Frequencies(prior), CDF(prior)):
        centred = utility.rows - (utility.rows @ prior)[:, None]
        listed = np.trace(centred @ np.linalg.pinv(excess, rcond=1e-9) @ centred.T)
        assert utility(mechanism) == pytest.approx(listed, rel=1e-6)
