"""Maximal leakage: by its definition, in integers; best designs against a program over all matrices; proofs refused."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog

import extremal as ex
from extremal.certificate import Chords, Dual, Listed, Refused
from extremal.errors import InvalidParameter, PrivacyViolation, TooLarge
from extremal.problem import problem_of
from extremal.testing import mechanisms


@given(mechanisms(k=3))
def test_the_level_is_the_logarithm_of_the_sum_of_largest_entries(m: ex.Mechanism) -> None:
    total = sum(int(column.max()) for column in m.weights.T)
    level = ex.MaximalLeakage(1).level(m)
    assert level == pytest.approx(math.log(total / m.denominator), abs=1e-9)
    assert level <= ex.LDP(1).level(m) + 1e-9
    assert level == pytest.approx(ex.theory.leakage_distribution(m, ["1/3"] * 3).maximal_leakage, abs=1e-9)


def test_the_claim_is_about_all_columns_together() -> None:
    with pytest.raises(PrivacyViolation, match="MaximalLeakage"):
        ex.Mechanism.from_matrix(np.eye(3), ex.MaximalLeakage(1))
    third = ex.Mechanism.from_matrix(np.eye(3), ex.MaximalLeakage.from_json({"notion": "MaximalLeakage", "ratio": "3"}))
    assert ex.MaximalLeakage(1).refused_outputs(third) is None
    with pytest.raises(TooLarge, match="at most 1,048,576 reports"):
        ex.MaximalLeakage(1).level(ex.subset_selection(60, 1, size=20))


def test_information_of_the_reference() -> None:
    """A program over all sets in rationals gave 0.3873804460 for (.5, .3, .2) at log 1.5."""
    d = ex.design(ex.MaximalLeakage(math.log(1.5)), ex.MutualInformation([0.5, 0.3, 0.2]))
    assert d.value == pytest.approx(0.3873804460442, abs=1e-12)
    assert d.gap < 1e-12
    assert ex.verify(d)


def _by_all_matrices(worth: Any, k: int, top: float) -> float:
    """max Σθ_T μ(1_T) by another solver, over layers of columns."""
    sets = [np.array(s, dtype=float) for s in itertools.product((0, 1), repeat=k) if any(s)]
    values = np.array([worth(s[:, None])[0] for s in sets])
    found = linprog(
        -values, A_eq=np.array(sets).T, b_eq=np.ones(k), A_ub=np.ones((1, len(sets))), b_ub=[top], method="highs-ipm"
    )
    return float(-found.fun)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.2", "0.9", "3"])
def test_designs_are_the_optimum_and_proved(epsilon: str) -> None:
    generator = np.random.default_rng(20)
    for k in (2, 3, 5):
        p, q = generator.dirichlet(np.ones(k), 2)
        for utility in (
            ex.KL(p, q),
            ex.TotalVariation(p, q),
            ex.MutualInformation(p),
            ex.Average([ex.KL(p, q), ex.KL(q, p)]),
        ):
            d = ex.design(ex.MaximalLeakage(epsilon), utility)
            assert d.value == pytest.approx(
                _by_all_matrices(utility.column_values, k, math.exp(float(epsilon))), rel=1e-6
            )
            assert d.gap < 1e-8
            assert ex.verify(d)
    nothing = ex.design(ex.MaximalLeakage(0), ex.KL([0.5, 0.5], [0.4, 0.6]))
    assert nothing.value == nothing.upper_bound == 0
    assert ex.verify(nothing)


def test_a_mechanism_beyond_the_proved_bound_is_refused() -> None:
    d = ex.design(ex.MaximalLeakage("0.5"), ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]))
    lied = dataclasses.replace(d.certificate, bound=d.upper_bound * (1 - 1e-9))
    assert not ex.verify(lied)


def test_which_proofs_are_about_it() -> None:
    privacy = problem_of(ex.MaximalLeakage("0.5"))
    gain, shares = problem_of(ex.KL([0.5, 0.5], [0.4, 0.6])), problem_of(ex.Frequencies(2))
    alpha = (Fraction(0), Fraction(0))
    assert Dual(alpha, Listed()).prove(privacy, gain) > 0
    assert Dual((Fraction(-1), Fraction(-1)), Listed()).prove(problem_of(ex.MaximalLeakage(0)), gain) == 0
    assert Dual(alpha, Listed(revealed=True)).prove(privacy, gain) > 0
    for reason in (Listed(tree=((0, 1),)), Chords((Fraction(1),))):
        with pytest.raises(Refused):
            Dual(alpha, reason).prove(privacy, gain)
    with pytest.raises(Refused):
        Dual(alpha, Listed()).prove(privacy, shares)
    infinite = problem_of(ex.KL([0.5, 0.5, 0], [0, 0.5, 0.5]))
    assert Dual((*alpha, Fraction(0)), Listed()).prove(privacy, infinite) == math.inf
    lower = Dual((Fraction(9), Fraction(9)), Listed()).prove(privacy, gain)
    assert 0 < lower < 18  # every set is worth less than its price


def test_what_is_not_solved_is_said() -> None:
    with pytest.raises(InvalidParameter, match="no method is known for WorstCase"):
        ex.design(ex.MaximalLeakage(1), ex.WorstCase([ex.KL([0.5, 0.5], [0.4, 0.6]), ex.KL([0.5, 0.5], [0.3, 0.7])]))
    with pytest.raises(InvalidParameter, match="at most 16 inputs"):
        ex.design(ex.MaximalLeakage(1), ex.MutualInformation(["1/17"] * 17))
    with pytest.raises(InvalidParameter, match="must be finite"):
        ex.design(ex.MaximalLeakage(1), ex.KL([0.5, 0.5, 0], [0, 0.5, 0.5]))
