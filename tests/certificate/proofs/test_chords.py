"""Chords of information under PML and LIP with any prior: above every mechanism, and the same in both checkers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Chords, Dual, Refused
from extremal.certificate.arithmetic.cones import Vector, cone_of
from extremal.certificate.proofs.chords import _above_information
from extremal.problem import problem_of
from support.proofs.comparison import REFUSED, checker_says, disagreement, kernel_says

Floats = Any


def random_prior(generator: np.random.Generator, k: int, zeros: int = 0) -> Floats:
    weights = np.round(generator.dirichlet(np.ones(k)), 4) + 1e-4
    weights[generator.permutation(k)[:zeros]] = 0.0
    return weights / weights.sum()


def prices(privacy: Any, goal: ex.MutualInformation) -> tuple[Fraction, ...]:
    """g itself, in decimals."""
    stated: Any = problem_of(goal)
    cone: Any = cone_of(problem_of(privacy), goal.k)
    found, unit = _above_information(stated.prior, cone, Vector([0] * goal.k, 1))
    return tuple(Fraction(round(Fraction(v, unit) * 10**30), 10**30) for v in found)


@pytest.mark.parametrize("seed", range(12))
def test_information_with_any_prior_is_below_its_chords(seed: int) -> None:
    """The optimum over all extreme lift vectors lies below, whatever α is; both checkers say the same number."""
    generator = np.random.default_rng(seed)
    k = int(generator.integers(3, 8))
    p, r = random_prior(generator, k, seed % 3), random_prior(generator, k, seed % 2)
    epsilon = float(generator.uniform(0.1, 2))
    privacy: Any = ex.LIP(epsilon, p, lower=epsilon / 2) if seed % 4 == 3 else ex.PML(epsilon, p)
    goal = ex.MutualInformation(r)
    best = ex.design(privacy, goal)
    assert best.gap < 1e-9
    some = tuple(Fraction(int(v), 1000) for v in generator.integers(-500, 500, k))
    for alpha in (prices(privacy, goal), (Fraction(0),) * k, some):
        proof = Dual(alpha, Chords())
        assert proof.bound(privacy, goal) >= Fraction(best.value) * (1 - Fraction(1, 10**12))
        assert not disagreement(proof.to_json(), privacy, goal)


def test_lower_prices_prove_no_less() -> None:
    """What α lacks comes back in t."""
    p, r = [0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.3, 0.2]
    privacy, goal = ex.PML(0.5, p), ex.MutualInformation(r)
    own = prices(privacy, goal)
    exact = Dual(own, Chords()).bound(privacy, goal)
    for x in range(4):
        tilted = tuple(a - Fraction(1, 100) * (z == x) for z, a in enumerate(own))
        assert Dual(tilted, Chords()).bound(privacy, goal) > exact


def test_equal_lifts_at_both_ends_prove_epsilon() -> None:
    """Where no probability is above e^−ε, g·1 is ε under PML, for every prior of the information."""
    privacy, goal = ex.PML(1, [0.25] * 4), ex.MutualInformation([0.1, 0.2, 0.3, 0.4])
    assert float(Dual(prices(privacy, goal), Chords()).bound(privacy, goal)) == pytest.approx(1, abs=1e-25)


def test_priors_with_nothing_in_common_are_revealed() -> None:
    privacy, goal = ex.PML(1, [0.5, 0.5, 0, 0]), ex.MutualInformation([0, 0, 0.5, 0.5])
    assert float(Dual(prices(privacy, goal), Chords()).bound(privacy, goal)) == pytest.approx(math.log(2))


def test_information_has_no_nodes() -> None:
    p = [0.25] * 4
    with pytest.raises(Refused, match="no nodes"):
        Dual((Fraction(0),) * 4, Chords((Fraction(1),))).bound(ex.PML(1, p), ex.MutualInformation(p))
    with pytest.raises(Refused, match="about divergences"):
        Dual((Fraction(0),) * 4, Chords()).bound(ex.LDP(1), ex.MutualInformation(p))


@pytest.mark.parametrize("wrong", [(0, 2, 2, "1"), (1, 0, 1, "-1"), (0, 0, 9, "1")])
def test_a_multiplier_is_refused_also_where_nothing_is_proved(wrong: tuple[int, int, int, str]) -> None:
    """One node leaves ratios above it, where KL grows without bound: the bound is infinite, with true multipliers."""
    privacy, goal = ex.LDP("0.7", delta="0.05"), ex.KL(["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"])
    for multiplier, refused in (((0, 0, 1, "1"), False), (wrong, True)):
        reason = {"kind": "chords", "nodes": ["1"], "multipliers": [list(multiplier)], "tree": [], "trees": []}
        proof = {"kind": "dual", "alpha": ["0"] * 3, "mix": [], "prices": [], "reason": reason}
        said = kernel_says(proof, privacy, goal), checker_says(proof, privacy, goal)
        assert said == ((REFUSED, REFUSED) if refused else (math.inf, math.inf))
