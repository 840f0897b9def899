"""What δ may gain: as it tends to 0 value and bound tend to those without it; no sampled column beats the prices."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Concave, Dual, Listed, Refused, Squares, Truncated
from extremal.certificate.proofs.matrix import Matrix
from extremal.optimize.approximate.truncated import concave_prices, truncated
from extremal.optimize.information.trees import proof_by_search
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.lifts import Coordinates


def _pair(k: int, seed: int) -> tuple[list[float], list[float]]:
    p, q = np.random.default_rng(seed).dirichlet(np.ones(k), 2)
    return p.tolist(), q.tolist()


@pytest.mark.parametrize("divergence", [ex.KL, ex.ChiSquared, ex.SquaredHellinger])
def test_divergences_tend_to_what_they_are_without_delta(divergence: type[ex.KL]) -> None:
    utility = divergence(*_pair(26, 3))
    plain = ex.design(ex.LDP(1), utility)
    gaps = []
    for delta in (0.05, 1e-3, 1e-6):
        d = ex.design(ex.LDP(1, delta), utility)
        assert plain.value <= d.value <= d.upper_bound
        gaps.append(d.gap)
    assert gaps[0] < 0.03
    assert gaps[2] < 2e-3
    assert d.upper_bound < plain.upper_bound * 1.002
    assert ex.verify(d)


def test_total_variation_is_exact_at_every_delta() -> None:
    p0, p1 = _pair(28, 5)
    distance = 0.5 * np.abs(np.array(p0) - p1).sum()
    d = ex.design(ex.LDP(1, 0.1), ex.TotalVariation(p0, p1))
    expected = distance * (np.e - 1 + 0.2) / (np.e + 1)
    assert d.value == pytest.approx(expected, rel=1e-9)
    assert d.upper_bound == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("utility", [ex.Frequencies([0.3, *[0.1] * 7]), ex.CDF(9)])
def test_workloads_tend_to_what_they_are_without_delta(utility: ex.Workload) -> None:
    plain, d = ex.design(ex.LDP(1), utility), ex.design(ex.LDP(1, 1e-6), utility)
    assert d.value <= plain.value * (1 + 1e-9)
    assert plain.lower_bound * 0.98 < d.lower_bound < d.value
    assert ex.verify(d)


def test_many_inputs_keep_the_mechanism_and_pay_for_delta_in_the_bound() -> None:
    d = ex.design(ex.LDP(1, 1e-7), ex.CDF(44))
    assert d.gap < 0.01
    assert ex.LDP(1).holds(d.mechanism)
    assert d.mechanism.privacy == ex.LDP(1, 1e-7)
    assert ex.verify(d)


def test_no_column_beats_the_prices_of_the_matrix_inequality() -> None:
    generator, k, delta = np.random.default_rng(1), 5, 0.02
    prior = [0.4, 0.3, 0.15, 0.1, 0.05]
    utility, privacy = ex.CDF(prior), ex.LDP(1, delta)
    proof = best_inequality(Coordinates(np.array(prior), utility.rows), 1.0, 5.0, True).proof(privacy, utility)
    assert isinstance(proof, Squares)
    assert isinstance(proof.dual.reason, Matrix)
    bound = float(proof.bound(privacy, utility))
    assert bound < float(proof.bound(ex.LDP(1), utility))
    plain = ex.design(ex.LDP(1), utility).mechanism.matrix
    for _ in range(200):  # δ of anything, and else the best that is private without it
        other = generator.dirichlet(np.full(4, 0.2), k)
        mixed = np.hstack([(1 - delta) * plain, delta * other])
        assert utility(mixed) > bound


def test_a_prior_with_zeros_and_another_notion_are_refused() -> None:
    utility = ex.CDF([0.5, 0.5, 0.0])
    proof = best_inequality(Coordinates(np.full(3, 1 / 3), ex.CDF(3).rows), 1.0, 1.0).proof(ex.LDP(1), ex.CDF(3))
    with pytest.raises(Refused, match="positive probability"):
        proof.bound(ex.LDP(1, 0.1), utility)
    with pytest.raises(Refused, match="the workload's prior"):
        proof.bound(ex.PML(1, [0.2, 0.3, 0.5]), ex.CDF(3))


def _cut(utility: ex.Utility, delta: float) -> tuple[float, float]:
    """What truncation proves, and what is exactly best, of a small problem."""
    proved = truncated(ex.design(ex.LDP(1), utility).certificate.proofs, ex.LDP(1), utility)
    assert proved
    best = ex.design(ex.LDP(1, delta), utility)
    return float(min(proof.bound(ex.LDP(1, delta), utility) for proof in proved)), best.value


@pytest.mark.parametrize("delta", [1e-4, 1e-2, 0.2, 0.9])
def test_no_mechanism_beats_what_truncation_proves(delta: float) -> None:
    """Against the program over all rays of the arrangement; the rate is at most k − 1 times that of revealing."""
    p, q, r = np.random.default_rng(8).dirichlet(np.ones(4), 3).tolist()
    pairs = ex.Average([ex.KL(p, q), ex.KL(q, r)])
    for utility in (ex.MutualInformation(p), ex.MutualInformation(["1/4"] * 4), pairs):
        bound, best = _cut(utility, delta)
        plain = ex.design(ex.LDP(1), utility).value
        assert best <= bound <= plain + 3 * (best - plain) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("k", [8, 30])
def test_small_deltas_change_nothing(k: int) -> None:
    prior = np.random.default_rng(k).dirichlet(np.ones(k)).tolist()
    for utility in (ex.MutualInformation(prior), ex.MutualInformation([f"1/{k}"] * k), ex.Frequencies(k)):
        d = ex.design(ex.LDP(1, 1e-6), utility, time_limit=5)
        assert d.gap < 1e-3
        assert ex.verify(d)


def test_what_an_input_is_worth_infinitely_is_not_truncated() -> None:
    worth = ex.KL(["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"])
    dual = Dual((Fraction(1),) * 3, Truncated(Listed()))
    assert dual.bound(ex.LDP(1, "0.01"), worth) < math.inf
    assert dual.bound(ex.LDP(1, "0.01"), ex.KL(["1/4", "1/4", "1/2"], ["1/2", "1/2", "0"])) == math.inf


def test_concave_prices_of_every_form_are_feasible() -> None:
    utility = ex.MutualInformation(["0.4", "0.3", "0.2", "0.1"])
    for epsilon, proof in ((4, Concave(Fraction(0))), (1, Concave(Fraction("0.4")))):
        prices = concave_prices(proof, utility, epsilon)
        best = ex.design(ex.LDP(epsilon), utility)
        proved = proof_by_search(utility, ex.LDP(epsilon), prices, math.inf)
        assert proved is not None
        assert best.value <= proved.bound(ex.LDP(epsilon), utility)
