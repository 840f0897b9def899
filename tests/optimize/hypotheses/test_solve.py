"""Several hypotheses: against all patterns listed, on large alphabets, and where partitions do not suffice."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Chords, Dual, Refused
from extremal.optimize.hypotheses.cells import priced
from extremal.optimize.hypotheses.columns import best_mixture
from extremal.optimize.hypotheses.goals import Goals, is_known
from extremal.optimize.infinite import parts_of
from extremal.optimize.problem import Problem
from extremal.optimize.rays import best_mixture as over_all_patterns
from extremal.privacy.cones.staircase import patterns
from extremal.solver import LinearProgram, SolverFailed
from extremal.testing.designs import check
from support.refusals import accepted

KINDS = (ex.KL, ex.ChiSquared, ex.TotalVariation, ex.SquaredHellinger, ex.JensenShannon, ex.ReverseKL)


def instance(seed: int, m: int = 3, most: int = 10) -> tuple[Any, float]:
    generator = np.random.default_rng(seed)
    k, epsilon = int(generator.integers(2, most + 1)), float(np.round(10 ** generator.uniform(-1, 0.7), 3))
    priors = generator.dirichlet(np.full(k, generator.choice([0.3, 1, 5])), m)
    if seed % 5 == 0:  # zeros and ties
        priors = np.round(priors, 1) + np.eye(1, k)
        priors /= priors.sum(axis=1, keepdims=True)
    return ex.PairwiseDivergence(list(priors), KINDS[seed % len(KINDS)], worst_case=bool(seed % 2)), epsilon


def listed(utility: Any, epsilon: float) -> float:
    """The optimum by listing all patterns."""
    columns = patterns(utility.k, epsilon)
    values = np.array([part.column_values(columns) for part in parts_of(utility)])
    best = over_all_patterns(columns, values)
    return float((values @ best.weights).min())


@pytest.mark.parametrize("seed", [*range(24), 60])
def test_three_hypotheses_against_all_patterns(seed: int) -> None:
    utility, epsilon = instance(seed)
    goals = Goals.of(utility, epsilon)
    found = best_mixture(Problem(ex.LDP(epsilon), utility), goals)
    assert found.complete
    assert found.value == pytest.approx(listed(utility, epsilon), rel=1e-9)
    restricted, weights = goals.restricted(found.mix @ goals.weights)
    assert priced(restricted, weights, found.alpha, 1e-10 * found.value, 100_000).sets.shape[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("worst_case", [False, True])
def test_forty_inputs(worst_case: bool) -> None:
    priors = np.random.default_rng(2).dirichlet(np.ones(40), 3)
    found = check(ex.design(ex.LDP(1), ex.PairwiseDivergence(list(priors), worst_case=worst_case)))
    assert "cells of directions" in found.method


def test_four_hypotheses() -> None:
    priors = [np.roll(np.arange(1, 11) / 55, shift) for shift in (0, 3, 5, 8)]
    check(ex.design(ex.LDP(1), ex.PairwiseDivergence(priors, ex.ChiSquared, worst_case=True)))


def test_means_of_means_of_several_kinds() -> None:
    p, q, r = (np.roll(np.arange(1, 13) / 78, shift) for shift in (0, 3, 8))
    mean = ex.Average([ex.KL(p, q), ex.Average([ex.SymmetricKL(q, r), ex.ChiSquared(p, q)])])
    check(ex.design(ex.LDP(1), mean))
    check(ex.design(ex.LDP(1), ex.WorstCase([mean, ex.TotalVariation(q, r)])))


def test_more_reports_than_inputs_are_needed_at_times() -> None:
    """With one pair k reports suffice; here no three patterns reach more than 0.9911 of what four do."""
    hypotheses = [[0.5, 0.1, 0.4], [0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]
    found = check(ex.design(ex.LDP(1), ex.PairwiseDivergence(hypotheses, worst_case=True)))
    assert found.mechanism.m == 4
    columns, reached = patterns(3, 1.0), 0.0
    for chosen in itertools.combinations(range(columns.shape[1]), 3):
        some = columns[:, chosen]
        if abs(np.linalg.det(some)) > 1e-9 and (weights := np.linalg.solve(some, np.ones(3))).min() >= 0:
            reached = max(reached, found.utility(some * weights))
    assert reached / found.value == pytest.approx(0.991045, abs=1e-5)


def test_randomised_response_is_not_best_for_symmetric_hypotheses() -> None:
    """P_i = (1−η)U + ηδ_i with m = k = 5, ε = η = 0.5: randomised response on all five reaches 0.783 of the optimum."""
    priors = [[0.1 + 0.5 * (x == i) for x in range(5)] for i in range(5)]
    utility = ex.PairwiseDivergence(priors, worst_case=True)
    best = check(ex.design(ex.LDP("0.5"), utility))
    assert utility(ex.randomized_response(5, 0.5)) / best.value == pytest.approx(0.783, abs=5e-4)


def test_user_functions_are_bounded_and_not_verified() -> None:
    priors = np.random.default_rng(3).dirichlet(np.ones(12), 2)
    utility = ex.Average([ex.FDivergence(*priors, lambda x: (x - 1) ** 2), ex.KL(*priors)])
    found = ex.design(ex.LDP(1), utility)
    assert found.gap < 1e-9
    assert ex.verify(found).exit_code == 3


def test_equal_hypotheses_are_worth_nothing() -> None:
    p = [1 / 10] * 10
    for utility in (ex.Average([ex.KL(p, p)]), ex.WorstCase([ex.KL(p, p), ex.KL(p, [0.19, 0.01] + [0.1] * 8)])):
        found = ex.design(ex.LDP(1), utility)
        assert found.value == 0
        assert found.upper_bound == pytest.approx(0, abs=1e-12)


def test_time_runs_out_with_a_bound() -> None:
    priors = np.random.default_rng(4).dirichlet(np.ones(40), 3)
    found = ex.design(ex.LDP(1), ex.PairwiseDivergence(list(priors)), time_limit=0.05)
    assert ex.verify(found)
    assert found.gap < 1


@pytest.mark.parametrize("worst_case", [False, True])
@pytest.mark.parametrize("programs", [0, 3])
def test_a_program_that_does_not_end_leaves_the_last_bound(
    programs: int, worst_case: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve, left = LinearProgram.solve, iter(range(programs))

    def stalling(program: LinearProgram, time_limit: float | None = None) -> Any:
        if next(left, None) is None:
            raise SolverFailed("the linear program must have an optimal vertex", parameter="status", value="slow")
        return solve(program, time_limit)

    monkeypatch.setattr(LinearProgram, "solve", stalling)
    priors = np.random.default_rng(4).dirichlet(np.ones(14), 3)
    found = ex.design(ex.LDP(1), ex.PairwiseDivergence(list(priors), worst_case=worst_case))
    assert ex.verify(found)
    assert found.gap < (1 if programs else 20)
    assert "stopped early" in found.summary()


def test_what_is_known() -> None:
    p = [0.5, 0.3, 0.2]
    assert not is_known(ex.MutualInformation(p))
    assert not is_known(ex.Average([ex.MutualInformation(p), ex.KL(p, p)]))
    assert is_known(ex.WorstCase([ex.KL(p, p)]))


def test_trees_must_cover_all_directions() -> None:
    priors = np.random.default_rng(5).dirichlet(np.ones(10), 3)
    found = ex.design(ex.LDP(1), ex.PairwiseDivergence(list(priors)))
    (proof,) = found.certificate.proofs
    assert isinstance(proof, Dual)
    assert isinstance(proof.reason, Chords)
    trees = proof.reason.trees
    for changed in (trees[0][:-1], (*trees[0], -1), (5, -1, -1), ()):
        with pytest.raises(Refused):
            replace(proof, reason=Chords(trees=(changed, *trees[1:]))).bound(ex.LDP(1), found.utility)
    with pytest.raises(Refused, match="for each order"):
        replace(proof, reason=Chords(trees=trees[1:])).bound(ex.LDP(1), found.utility)
    with pytest.raises(Refused, match="need ε-LDP"):
        proof.bound(ex.PML(1, priors[0]), found.utility)
    with pytest.raises(Refused, match="about divergences"):
        proof.bound(ex.LDP(1), ex.MutualInformation(priors[0]))
    lowered = replace(proof, alpha=(proof.alpha[0] - abs(proof.alpha[0]) / 1000, *proof.alpha[1:]))
    assert not accepted(replace(found.certificate, proofs=(lowered,)))
