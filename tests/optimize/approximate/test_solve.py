"""(ε,δ)-LDP: the exact program on small alphabets, its proof, and what KOV leave open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import extremal as ex
from extremal.certificate import Listed
from extremal.optimize.approximate.chords import between_chords
from extremal.optimize.problem import Problem
from extremal.privacy.cones.coupled import couplings, levels, rays
from extremal.testing.designs import check


def program(utility: ex.KL, epsilon: float, delta: float) -> float:
    """The same program written for another solver."""
    columns = rays(utility.k, epsilon)
    values = utility.column_values(columns)
    coupled = couplings(columns, epsilon)
    answer = linprog(
        -values, A_ub=coupled, b_ub=np.full(len(coupled), delta), A_eq=columns, b_eq=np.ones(utility.k), method="highs"
    )
    return float(-answer.fun)


def test_the_number_of_rays() -> None:
    assert [len(levels(k)) for k in (2, 3, 4, 5, 6)] == [4, 21, 138, 1055, 9308]
    with pytest.raises(ex.errors.TooLarge, match="delta > 0 are for at most 6 inputs"):
        levels(7)


@pytest.mark.parametrize("seed", range(30))
def test_against_another_solver_and_the_revealing_mechanism(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k = int(generator.integers(2, 6))
    p0, p1 = generator.dirichlet(np.ones(k), 2)
    epsilon, delta = round(float(generator.uniform(0.2, 3)), 3), round(float(generator.uniform(0.01, 0.4)), 3)
    utility = [ex.KL, ex.TotalVariation, ex.SquaredHellinger, ex.JensenShannon][seed % 4](p0, p1)
    found = ex.design(ex.LDP(epsilon, delta), utility)
    check(found, 1e-12)
    assert found.value == pytest.approx(program(utility, epsilon, delta), rel=1e-9)
    plain = ex.design(ex.LDP(epsilon), utility).mechanism.matrix
    revealing = np.hstack([(1 - delta) * plain, delta * np.eye(k)])
    assert found.value >= utility(revealing) * (1 - 1e-12)
    assert found.mechanism.m <= k * k


def test_no_random_mechanism_is_better() -> None:
    """Any matrix is (ε,δ)-LDP once enough of a constant is mixed in; none is worth more than the optimum."""
    generator, compared = np.random.default_rng(7), 0
    for _ in range(20):
        k, delta = int(generator.integers(2, 5)), float(np.round(generator.uniform(0.02, 0.3), 3))
        epsilon = float(np.round(generator.uniform(0.2, 2), 3))
        utility = ex.JensenShannon(*generator.dirichlet(np.ones(k), 2))
        best = ex.design(ex.LDP(epsilon, delta), utility)
        for _ in range(50):
            matrix = generator.dirichlet(np.full(int(generator.integers(2, 9)), generator.choice([0.05, 0.3, 1])), k)
            excess = np.maximum(matrix[:, None] - np.exp(epsilon) * matrix[None], 0).sum(axis=2).max()
            share = min(1.0, delta / excess) if excess else 1.0
            mixed = np.hstack([share * matrix, np.full((k, 1), 1 - share)])
            assert utility(mixed) <= best.upper_bound * (1 + 1e-12)
            compared += utility(mixed) > 0.3 * best.value
    assert compared > 50


def test_two_inputs_give_the_quaternary_mechanism() -> None:
    """KOV Theorem 18: it dominates every (ε,δ)-LDP mechanism on two inputs."""
    for utility in (ex.KL([0.7, 0.3], [0.2, 0.8]), ex.MutualInformation([0.6, 0.4]), ex.TotalVariation([1, 0], [0, 1])):
        found = ex.design(ex.LDP(1, "0.1"), utility)
        check(found)
        assert found.value == pytest.approx(utility(ex.quaternary(1, 0.1)), rel=1e-12)


def test_two_per_cent_above_revealing_with_probability_delta() -> None:
    found = ex.design(ex.LDP("1.4945", "0.317"), ex.KL([0.191, 0.286, 0.523], [0.453, 0.285, 0.262]))
    check(found)
    assert "(97.999% of this)" in found.notes[0]


def test_the_worst_of_several_and_the_average() -> None:
    pair = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    for utility in (ex.WorstCase([ex.KL(*pair), ex.KL(*pair[::-1])]), ex.Average([ex.KL(*pair), ex.ChiSquared(*pair)])):
        check(ex.design(ex.LDP(1, "0.05"), utility))


def test_an_infinite_value_is_attained_and_said() -> None:
    found = ex.design(ex.LDP(1, "0.05"), ex.KL([0.5, 0.5, 0], [0.5, 0, 0.5]))
    assert found.value == np.inf
    assert found.gap == 0
    assert ex.verify(found)
    assert "the value is infinite" in found.summary()


def test_a_part_that_can_be_infinite_leaves_the_worst_case_to_the_others() -> None:
    """A report of tiny probability makes it infinite; what the other part can have is then the optimum."""
    other = ex.KL([0.5, 0.3, 0.2], [0.1, 0.3, 0.6])
    found = ex.design(ex.LDP(1, "0.1"), ex.WorstCase([ex.KL([0.5, 0.5, 0], [0.5, 0, 0.5]), other]))
    check(found, 1e-12, ex.design(ex.LDP(1, "0.1"), other).value)
    assert found.utility.utilities[0](found.mechanism) == np.inf


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, "0.1"), ("1e-6", "0.1"), ("1e-3", "1e-7"), (20, "0.01"), (1, "1e-15")]
)
def test_extreme_levels(epsilon: object, delta: str) -> None:
    check(ex.design(ex.LDP(epsilon, delta), ex.KL([0.5, 0.3, 0.2], [0.1, 0.3, 0.6])))


def test_without_epsilon_delta_scales_total_variation() -> None:
    """Two rows that differ by at most δ in total variation; telling two inputs apart is then worth δ."""
    found = ex.design(ex.LDP(0, "0.25"), ex.TotalVariation([1, 0, 0], [0, 0, 1]))
    assert found.value == pytest.approx(0.25, rel=1e-12)


def test_without_time_for_the_program_the_input_is_revealed_with_probability_delta() -> None:
    utility = ex.MutualInformation([0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    found = check(ex.design(ex.LDP(1, "0.1"), utility, time_limit=1e-6), 1.0)
    assert "reveal with probability δ" in found.method
    assert found.value <= ex.design(ex.LDP(1, "0.1"), utility).value


def test_a_users_function_is_bounded_in_floats() -> None:
    found = ex.design(ex.LDP(1, "0.1"), ex.Sublinear(3, lambda columns: columns.max(axis=0)))
    assert found.gap < 1e-9
    assert ex.verify(found).exit_code == 3


def test_delta_is_named_when_there_are_too_many_inputs() -> None:
    with pytest.raises(ex.errors.TooLarge, match="delta > 0 are for at most 40 inputs"):
        ex.design(ex.LDP(1, "0.1"), ex.MutualInformation(["1/41"] * 41))


@pytest.mark.parametrize("kind", [ex.KL, ex.TotalVariation, ex.SquaredHellinger])
def test_chords_and_rays_agree(kind: type) -> None:
    """On an alphabet for which both work: the same optimum, by two programs and two proofs."""
    utility, privacy = kind([0.4, 0.3, 0.2, 0.1], [0.05, 0.25, 0.3, 0.4]), ex.LDP(1, "0.1")
    found = between_chords(Problem(privacy, utility), privacy, utility)
    assert found is not None
    optimum = ex.design(privacy, utility).value
    assert found.value == pytest.approx(optimum, rel=1e-7)
    assert float(found.proof.bound(privacy, utility)) == pytest.approx(optimum, rel=1e-7)
    assert float(found.proof.bound(privacy, utility)) >= optimum


def test_eight_inputs_by_chords() -> None:
    utility = ex.KL([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05], [0.02, 0.05, 0.08, 0.15, 0.1, 0.1, 0.2, 0.3])
    found = check(ex.design(ex.LDP(1, "0.05"), utility), 1e-3)
    assert found.certificate.proofs[0].label == "dual (chords)"
    plain = ex.design(ex.LDP(1), utility).mechanism.matrix
    assert found.value >= utility(np.hstack([0.95 * plain, 0.05 * np.eye(8)])) * (1 - 1e-12)


def test_one_hypothesis_excludes_inputs_of_many() -> None:
    """Hellinger stays finite: chords reach from 0 to infinity."""
    utility = ex.SquaredHellinger([0.4, 0.2, 0.2, 0.1, 0.1, 0, 0], [0, 0.1, 0.2, 0.1, 0.1, 0.2, 0.3])
    check(ex.design(ex.LDP(1, "0.05"), utility), 1e-2)
    assert ex.design(ex.LDP(1, "0.05"), ex.KL(utility.p0, utility.p1)).value == np.inf


@pytest.mark.parametrize(
    "utility",
    [
        ex.MutualInformation([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]),
        ex.PairwiseDivergence([np.roll(np.arange(1, 8) / 28, i) for i in range(3)], worst_case=True),
    ],
    ids=lambda utility: utility.name,
)
def test_other_goals_of_many_inputs_have_a_loose_bound(utility: ex.Utility) -> None:
    found = check(ex.design(ex.LDP(1, "0.1"), utility), 1.0)
    assert "loose" in found.summary()
    assert found.certificate.proofs[0].reason == Listed((), True)
    revealed = utility(ex.Mechanism.from_matrix(np.eye(7)))
    assert found.value < found.upper_bound <= revealed * (1 + 1e-12)


def test_equal_hypotheses_of_many_inputs() -> None:
    found = ex.design(ex.LDP(1, "0.1"), ex.KL(["1/8"] * 8, ["1/8"] * 8))
    assert found.value == found.upper_bound == 0


def _dirichlet(seed: int, k: int) -> list[list[float]]:
    return [list(map(float, row)) for row in np.random.default_rng(seed).dirichlet(np.ones(k), 3)]


@pytest.mark.parametrize(
    ("epsilon", "delta", "utility"),
    [
        (2, 1e-12, ex.KL(*_dirichlet(0, 4)[:2])),
        (1e-6, 1e-8, ex.MutualInformation(_dirichlet(0, 4)[0])),
        (1e-6, 1e-10, ex.KL(*_dirichlet(0, 5)[:2])),
        (1e-6, 1e-12, ex.KL(*_dirichlet(1, 3)[:2])),
        (0.01, 1e-9, ex.TotalVariation([1e-4, 2e-4, 0.9497, 0.05], [0.1, 2e-30, 0.2, 0.7])),
    ],
)
def test_next_to_no_delta_is_solved_proved_and_no_worse_than_none(
    epsilon: float, delta: float, utility: ex.Utility
) -> None:
    found = check(ex.design(ex.LDP(epsilon, delta), utility), 1e-3)
    assert found.value >= ex.design(ex.LDP(epsilon), utility).value * (1 - 1e-12)


def test_reports_that_exclude_inputs_keep_their_zeros() -> None:
    """A constant that repairs privacy would cost all that the report of a rare input tells."""
    rare = 1e-12
    skewed, other = [0.8, 0.2 - 1e-7, 1e-7], [1 - 2 * rare, rare, rare]
    found = check(ex.design(ex.LDP(1e-6, 1e-6), ex.Average([ex.KL(skewed, other), ex.KL(other, skewed)])), 1e-6)
    assert (found.mechanism.weights == 0).any()
