"""Several divergences of one pair: one f-divergence for a mean, a mixture of sorted partitions for the worst."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Order, Refused
from extremal.optimize.hypotheses.columns import best_mixture
from extremal.optimize.hypotheses.goals import Goals
from extremal.optimize.hypotheses.partitions import Reversed, Weighted, solved
from extremal.optimize.problem import Problem
from extremal.testing.designs import check
from extremal.utility.convex import ConvexFunction

KINDS = (ex.KL, ex.ChiSquared, ex.TotalVariation, ex.SquaredHellinger, ex.JensenShannon, ex.ReverseKL)


@pytest.mark.parametrize("seed", range(16))
def test_against_column_generation_over_all_sets(seed: int) -> None:
    """Two ways that share neither search nor proof."""
    generator = np.random.default_rng(seed)
    k, epsilon = int(generator.integers(3, 12)), float(np.round(10 ** generator.uniform(-1, 0.7), 3))
    p, q = generator.dirichlet(np.full(k, generator.choice([0.3, 1, 5])), 2)
    chosen = generator.choice(len(KINDS), 3, replace=False)
    parts = [KINDS[i](*((p, q) if generator.random() < 0.5 else (q, p))) for i in chosen]
    utility = ex.WorstCase(parts) if seed % 2 else ex.Average(parts)
    problem, goals = Problem(ex.LDP(epsilon), utility), Goals.of(utility, epsilon)
    found, other = solved(problem, ex.LDP(epsilon), goals), best_mixture(problem, goals)
    assert other.complete
    assert utility(found.mechanism) == pytest.approx(other.value, rel=1e-9)
    assert float(found.proofs[0].bound(ex.LDP(epsilon), utility)) == pytest.approx(other.value, rel=1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [(100, 4), (300, 1), (1000, 3), (3000, 2)])
def test_thousands_of_symbols_need_more_than_one_partition(k: int, epsilon: int) -> None:
    pair = np.random.default_rng([k, (1, 2, 3, 4).index(epsilon) + 1 if k < 3000 else 2]).dirichlet(np.ones(k), 2)
    found = check(ex.design(ex.LDP(epsilon), ex.PairwiseDivergence(list(pair), worst_case=True)))
    assert found.method == "mixture of 2 sorted partitions"
    one, other = (ex.design(ex.LDP(epsilon), ex.KL(*way)) for way in (pair, pair[::-1]))
    for single in (one, other):
        assert found.utility(single.mechanism) <= found.value * (1 + 1e-12)


def test_a_mean_is_one_divergence() -> None:
    p, q = np.random.default_rng(1).dirichlet(np.ones(500), 2)
    found = check(ex.design(ex.LDP(1), ex.PairwiseDivergence([p, q])))
    assert found.method == "sorted partition"
    assert found.value == pytest.approx(ex.design(ex.LDP(1), ex.SymmetricKL(p, q)).value / 2, rel=1e-12)


def test_of_a_user_only_floats_are_said() -> None:
    p, q = np.random.default_rng(2).dirichlet(np.ones(30), 2)
    found = ex.design(ex.LDP(1), ex.WorstCase([ex.FDivergence(q, p, lambda x: (x - 1) ** 2), ex.KL(p, q)]))
    assert found.gap < 1e-9
    assert ex.verify(found).exit_code == 3


def test_time_and_nothing_to_tell() -> None:
    p, q = np.random.default_rng([1000, 3]).dirichlet(np.ones(1000), 2)
    utility = ex.PairwiseDivergence([p, q], worst_case=True)
    assert ex.verify(ex.design(ex.LDP(3), utility, time_limit=1e-9))
    sticks = ex.Average([ex.HockeyStick(p[:20] / p[:20].sum(), q[:20] / q[:20].sum(), 100)] * 2)
    nothing = ex.design(ex.LDP(1), sticks)
    assert nothing.value == nothing.upper_bound == 0


FUNCTIONS: list[ConvexFunction] = [kind([0.5, 0.5], [0.4, 0.6]).f for kind in KINDS]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: type(f).__name__)
def test_exchanged_hypotheses_have_the_function_exchanged(f: ConvexFunction) -> None:
    x = np.array([0.2, 0.7, 1.0, 1.5, 4.0])
    back = Reversed(f)
    assert back.excess(x - 1, x) == pytest.approx(x * f.excess(1 / x - 1, 1 / x), rel=1e-12, abs=1e-15)
    slope = (back.excess(x + 1e-6 - 1, x + 1e-6) - back.excess(x - 1e-6 - 1, x - 1e-6)) / 2e-6
    smooth = np.ones(x.size, dtype=bool) if f.kinks is None else x != 1
    assert back.derivative(x)[smooth] == pytest.approx(slope[smooth], rel=1e-4, abs=1e-6)
    assert (back.at_zero, back.slope_at_infinity) == (f.slope_at_infinity, f.at_zero)
    twice = Reversed(back)
    assert twice.excess(x - 1, x) == pytest.approx(f.excess(x - 1, x), rel=1e-12, abs=1e-15)


def test_kinks_stay_where_all_functions_have_them() -> None:
    p, q = [0.5, 0.5], [0.4, 0.6]
    stick, variation, smooth = ex.HockeyStick(p, q, 2).f, ex.TotalVariation(p, q).f, ex.KL(p, q).f
    assert Weighted([stick, variation], [1.0, 2.0]).kinks == (1.0, 2.0)
    assert Weighted([stick, smooth], [1.0, 2.0]).kinks is None
    assert Reversed(stick).kinks == (0.5,)
    assert Reversed(smooth).kinks is None


def test_the_theorem_is_about_one_pair_under_ldp() -> None:
    p, q, r = np.random.default_rng(5).dirichlet(np.ones(12), 3)
    found = ex.design(ex.LDP(1), ex.PairwiseDivergence([p, q], worst_case=True))
    (proof,) = found.certificate.proofs
    assert isinstance(proof, Order)
    refused: list[tuple[Any, Any, str]] = [
        (ex.LDP(1), ex.WorstCase([ex.KL(p, q), ex.KL(p, r)]), "one pair"),
        (ex.LDP(1), ex.WorstCase([ex.KL(p, q), ex.MutualInformation(p)]), "about divergences"),
        (ex.PML(1, p), found.utility, "ε-LDP"),
        (ex.LDP(1), ex.Average([ex.KL(p, q), ex.KL(q, p)]), "weight ≥ 0"),
    ]
    both = Order(proof.value, proof.ends, (Fraction(1), Fraction(1)))
    for privacy, utility, said in refused:
        with pytest.raises(Refused, match=said):
            both.bound(privacy, utility)
