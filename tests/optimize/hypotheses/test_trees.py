"""Trees over sets: worthwhile sets are met, and where the nodes are too many another bound is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.hypotheses import columns
from extremal.optimize.hypotheses.columns import allowed, best_mixture
from extremal.optimize.hypotheses.goals import Goals
from extremal.optimize.hypotheses.trees import proved
from extremal.optimize.problem import Problem


def hypotheses(seed: int, k: int) -> list[Any]:
    return list(np.random.default_rng(seed).dirichlet(np.ones(k), 7))


def test_a_set_that_is_worth_more_is_met_and_too_many_nodes_are_given_up() -> None:
    utility = ex.PairwiseDivergence(hypotheses(4, 9))
    goals = Goals.of(utility, 1.0)
    best = best_mixture(Problem(ex.LDP(1), utility), goals, cells=False)
    weights = best.mix @ goals.weights
    cheaper = best.alpha * 0.98
    answer = proved(goals, weights, cheaper, allowed(goals, 1e-9), 10**6)
    assert not answer.tokens
    assert (goals.reduced(answer.sets, weights, cheaper) > 0).all()
    assert len(answer.sets)
    assert not proved(goals, weights, best.alpha, allowed(goals, 1e-9), 5).tokens


def test_seven_hypotheses_on_eighteen_inputs_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    utility = ex.PairwiseDivergence(hypotheses(1, 18))
    found = ex.design(ex.LDP(1), utility)
    assert found.gap < 1e-9
    assert "tree" in found.method
    assert ex.verify(found)
    monkeypatch.setattr(columns, "MOST_NODES", 50)
    assert ex.design(ex.LDP(1), utility).gap > 0.1  # the groups
