"""Search trees for prices: what they prove is true, and what is false they do not prove."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.information import trees
from extremal.optimize.information.trees import proof_by_search
from extremal.utility.curve import InformationCurve


def feasible(prior: np.ndarray, alpha: np.ndarray, epsilon: float) -> np.ndarray:
    """α raised along the prior until φ(P(T)) ≤ Σα + c·α(T) for every set."""
    curve, k = InformationCurve(epsilon), prior.size
    inside = (np.arange(1, 2**k - 1)[:, None] >> np.arange(k)) & 1
    short = (curve.value(inside @ prior) - alpha.sum() - curve.c * (inside @ alpha)) / (1 + curve.c * (inside @ prior))
    return np.asarray(alpha + max(float(short.max()), -np.inf) * prior)


@pytest.mark.parametrize("seed", range(12))
def test_a_feasible_vector_is_proved_and_a_smaller_one_is_not(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k, epsilon = int(generator.integers(3, 11)), float(np.exp(generator.uniform(-7, 2)))
    prior = (
        generator.dirichlet(np.ones(k))
        if seed % 3
        else np.array([1, 1, *range(1, k - 1)]) / (2 + (k - 2) * (k - 1) / 2)
    )
    utility, notion = ex.MutualInformation(prior), ex.LDP(epsilon)
    curve = InformationCurve(epsilon)
    alpha = feasible(prior, generator.uniform(0.5, 1.5, k) * prior * curve.limit, epsilon)
    proof = proof_by_search(utility, notion, alpha, np.inf)
    assert proof is not None
    assert float(proof.bound(notion, utility)) == pytest.approx(float(alpha.sum()), rel=1e-12)
    lower = alpha - 1e-6 * alpha.sum() * prior
    raised = proof_by_search(utility, notion, lower, np.inf)  # raised again, at most to what is true
    assert raised is None or float(sum(raised.alpha)) >= alpha.sum() * (1 - 1e-12)
    assert proof_by_search(utility, notion, lower, float(alpha.sum()) * (1 - 1e-9)) is None


def test_a_tree_that_would_be_too_large_proves_a_little_less(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = np.random.default_rng(3).dirichlet(np.ones(9))
    utility, notion, curve = ex.MutualInformation(prior), ex.LDP(1), InformationCurve(1.0)
    alpha = feasible(prior, np.random.default_rng(4).uniform(0.9, 1.1, 9) * prior * curve.limit, 1.0)
    whole = proof_by_search(utility, notion, alpha, np.inf)
    monkeypatch.setattr(trees, "MOST_TOKENS", 2)
    monkeypatch.setattr(trees, "_RAISED", (0.0, 1e-3, 1e-2, 1e-1, 1.0))
    small = proof_by_search(utility, notion, alpha, np.inf)
    assert whole is not None
    assert small is not None
    assert len(small.reason.trees[0]) <= 2 < len(whole.reason.trees[0])
    assert sum(small.alpha) > sum(whole.alpha)
