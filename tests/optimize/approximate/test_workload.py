"""Estimation under (ε,δ)-LDP: the best mixture of rays, its proof, and what is said beyond six inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Truncated
from extremal.certificate.proofs.matrix import Matrix
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.lifts import Coordinates
from extremal.testing.designs import check

P = [0.1, 0.2, 0.3, 0.4]
GOALS = [ex.Frequencies(P), ex.CDF(P), ex.Ranges(4), ex.Mean([0, 1, 5, 6], P), ex.Workload([[1, 0, -1, 0]], P)]


def revealing(privacy: ex.LDP, utility: Any) -> Any:
    plain = ex.design(ex.LDP(privacy.epsilon), utility).mechanism.matrix
    return np.hstack([(1 - privacy.delta) * plain, privacy.delta * np.eye(utility.k)])


@pytest.mark.parametrize("utility", GOALS, ids=lambda utility: utility.name)
@pytest.mark.parametrize("level", [("1", "0.05"), ("0.5", "0.2"), ("2", "1e-6")], ids=str)
def test_four_inputs_are_solved_and_proved(utility: Any, level: tuple[str, str]) -> None:
    privacy = ex.LDP(*level)
    found = check(ex.design(privacy, utility), 1e-6)
    assert [proof.label for proof in found.certificate.proofs] == ["squares (listed)"]
    assert found.value <= utility(revealing(privacy, utility)) * (1 + 1e-12)
    assert found.value <= ex.design(ex.LDP(privacy.epsilon), utility).value
    assert "revealing with probability δ" in found.summary()


def test_the_distribution_function_needs_three_per_cent_fewer_people_than_by_revealing() -> None:
    privacy, utility = ex.LDP(1, "0.05"), ex.CDF(P)
    found = ex.design(privacy, utility)
    assert found.gap < 1e-6
    assert utility(revealing(privacy, utility)) / found.value == pytest.approx(1.0314, abs=1e-4)


@pytest.mark.parametrize("utility", [ex.Frequencies(5), ex.CDF(5)], ids=lambda utility: utility.name)
def test_a_small_delta_at_a_small_epsilon_is_solved_to_nine_digits(utility: Any) -> None:
    """The limits hold 1e-6 where ε² is 1e-4: multipliers that are lost to rounding leave a gap of 1e-7."""
    assert check(ex.design(ex.LDP("0.01", "1e-6"), utility), 1e-9).gap < 1e-9


def test_two_inputs_need_no_more_than_the_quaternary_mechanism() -> None:
    """KOV Theorem 18: it dominates every (ε,δ)-LDP mechanism on two inputs."""
    for utility in (ex.Frequencies(2), ex.Mean([0, 1], [0.3, 0.7])):
        found = check(ex.design(ex.LDP(1, "0.1"), utility), 1e-9)
        assert found.value == pytest.approx(utility(ex.quaternary(1, 0.1)), rel=1e-10)


def test_no_random_mechanism_costs_less() -> None:
    """Any matrix is (ε,δ)-LDP once enough of a constant is mixed in; none beats the bound, and some come near."""
    generator, near = np.random.default_rng(11), 0
    for _ in range(8):
        k, delta = int(generator.integers(2, 4)), float(np.round(generator.uniform(0.05, 0.3), 3))
        epsilon = float(np.round(generator.uniform(0.5, 2), 3))
        utility = ex.Frequencies(generator.dirichlet(np.full(k, 5.0)))
        best = ex.design(ex.LDP(epsilon, delta), utility)
        for _ in range(100):
            matrix = generator.dirichlet(np.full(int(generator.integers(2, 9)), generator.choice([0.05, 0.3, 1])), k)
            excess = np.maximum(matrix[:, None] - np.exp(epsilon) * matrix[None], 0).sum(axis=2).max()
            share = min(1.0, delta / excess) if excess else 1.0
            cost = utility(np.hstack([share * matrix, np.full((k, 1), 1 - share)]))
            assert cost >= best.lower_bound * (1 - 1e-12)
            near += cost < 4 * best.value
    assert near > 20


@pytest.mark.parametrize("utility", GOALS[:2], ids=lambda utility: utility.name)
def test_without_epsilon_the_input_is_revealed_with_probability_delta(utility: Any) -> None:
    """The rows differ by at most δ in total variation: one person in 1/δ tells, and nobody else."""
    found = check(ex.design(ex.LDP(0, "0.1"), utility), 1e-5)
    identity = utility(np.eye(4))
    assert found.value == pytest.approx(identity / 0.1, rel=1e-9)


def test_inputs_that_no_statistic_tells_apart_are_merged() -> None:
    found = check(ex.design(ex.LDP(1, "0.1"), ex.CDF(12, [2, 5, 8])), 1e-6)
    assert found.mechanism.k == 12
    grouped = ex.design(ex.LDP(1, "0.1"), ex.CDF(4))
    assert found.value == pytest.approx(grouped.value, rel=1e-6)


def test_beyond_six_inputs_the_bound_is_said_to_be_loose() -> None:
    privacy, utility = ex.LDP(1, "0.05"), ex.Mean(range(8), 8)
    found = check(ex.design(privacy, utility), 0.1)
    assert "loose unless δ is small" in found.summary()
    assert [proof.dual.reason.kind for proof in found.certificate.proofs] == ["listed", "matrix", "listed"]
    assert found.value <= utility(revealing(privacy, utility)) * (1 + 1e-12)


def test_many_inputs_are_revealed_with_probability_delta() -> None:
    utility = ex.Frequencies(14)
    found = check(ex.design(ex.LDP(1, "0.05"), utility), 1.0)
    assert found.method == "reveal with probability δ, else the best ε-mechanism"
    assert found.value < ex.design(ex.LDP(1), utility).value


def test_no_time_leaves_what_the_inputs_prove_and_what_follows_from_no_delta() -> None:
    utility = ex.CDF(4)
    found = check(ex.design(ex.LDP(1, "0.1"), utility, time_limit=1e-9), 1.0)
    assert found.certificate.proofs[0].dual.reason.revealed
    assert all(isinstance(proof.dual.reason, (Truncated, Matrix)) for proof in found.certificate.proofs[1:])
    assert utility(np.eye(4)) <= found.lower_bound <= found.value


@pytest.mark.parametrize("rare", [0.0, 1e-20, 1e-30, 1e-100])
@pytest.mark.parametrize("delta", [1e-12, 0.5])
def test_inputs_that_hardly_occur_are_named_and_cost_nothing(rare: float, delta: float) -> None:
    """The bound is that of the problem that the others are."""
    utility = ex.CDF([0.3, 0.5, rare, 0.2])
    found = ex.design(ex.LDP(1, delta), utility)
    assert ex.verify(found)
    assert found.value <= ex.design(ex.LDP(1), utility).value
    if rare > 1e-100:  # of such inputs the exact program has numbers that are too long for a file
        assert found.gap < (1e-5 if rare else 0.35)
    assert np.isfinite(utility(found.mechanism))  # the share of an impossible input can be estimated all the same


def test_skewed_priors_reveal_their_rare_inputs_in_the_bound_as_well() -> None:
    """A prior entry below δ can be revealed: 5% fewer people than without δ, as the bound says."""
    prior = np.random.default_rng(5).dirichlet(np.full(30, 0.3))
    utility, privacy = ex.Frequencies(prior.tolist()), ex.LDP(1, 1e-6)
    coordinates = Coordinates(prior, utility.rows)
    aware = best_inequality(coordinates, 1.0, 5.0, delta=1e-6).proof(privacy, utility).bound(privacy, utility)
    unaware = best_inequality(coordinates, 1.0, 5.0).proof(privacy, utility).bound(privacy, utility)
    assert unaware < 50
    assert aware > 95.2


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1])
@pytest.mark.parametrize("delta", [1e-12, 1e-10, 1e-8])
def test_small_deltas_tend_to_no_delta_at_every_size(epsilon: float, delta: float) -> None:
    utility = ex.CDF(np.random.default_rng(1).dirichlet(np.ones(5)).tolist())
    found = check(ex.design(ex.LDP(epsilon, delta), utility), 1e-3)
    assert found.value <= ex.design(ex.LDP(epsilon), utility).value


@pytest.mark.parametrize(
    ("epsilon", "delta", "utility"),
    [
        ("0.334", "0.119", ex.Frequencies(["0.4", "0.599999999", "0.000000001"])),
        ("2.753", "0.091", ex.Ranges(["0.000000001", "0.999999999"])),
        ("2", "0.2", ex.CDF([*["0.142857142"] * 7, "0.000000006"])),
    ],
)
def test_one_rare_input_gets_what_floats_can_give(epsilon: str, delta: str, utility: ex.Workload) -> None:
    found = check(ex.design(ex.LDP(epsilon, delta), utility), 1.0)
    assert found.value <= ex.design(ex.LDP(epsilon), utility).value


def test_a_class_of_priors_and_too_many_inputs_are_refused() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="delta > 0 a workload is designed for one prior"):
        ex.design(ex.LDP(1, "0.1"), ex.Frequencies(ex.SourceClass.simplex(3)))
    with pytest.raises(ex.errors.TooLarge, match="delta > 0 are for at most 40 inputs"):
        ex.design(ex.LDP(1, "0.1"), ex.Frequencies([0, *[1 / 40] * 40]))


def test_estimates_from_the_reports_are_as_good_as_said() -> None:
    """n × the mean squared error of 400 simulated surveys, within 4 standard errors: of a χ² with 400·3 of freedom."""
    utility = ex.CDF(P)
    found = ex.design(ex.LDP(1, "0.1"), utility)
    matrix, n = found.mechanism.matrix, 2000
    marginal = np.asarray(P) @ matrix
    information = (matrix / marginal) @ matrix.T
    decoder = utility.rows @ np.linalg.inv(information) @ (matrix / marginal)
    counts = np.random.default_rng(3).multinomial(n, marginal, size=400)
    errors = counts / n @ decoder.T - utility.rows @ np.asarray(P)
    assert n * (errors**2).sum(axis=1).mean() == pytest.approx(found.value, rel=4 * (2 / 1200) ** 0.5 * 1.75)


def test_shares_of_many_inputs_whose_best_sets_are_too_many_to_list() -> None:
    """Subset selection of 30 inputs has 5,852,925 reports: sets of a projective geometry are revealed instead."""
    found = ex.design(ex.LDP(1, "0.05"), ex.Frequencies(30))
    assert found.mechanism.m < 1000
    assert found.value < ex.design(ex.LDP(1), ex.Frequencies(30)).value
