"""Search trees for lift vectors: what they prove is true, in either orientation of the box."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.leakage import trees
from extremal.optimize.leakage.knapsack import LiftWorth, bound_of, least_cost
from extremal.optimize.leakage.master import dual_vector
from extremal.optimize.leakage.trees import proof_by_search
from extremal.privacy.cones.lift import columns_of, vertices
from support.random_mechanisms import drawn_leakage


@pytest.mark.parametrize("seed", range(24))
def test_the_bound_of_a_dual_vector_is_proved_and_no_less(seed: int) -> None:
    notion, box, generator = drawn_leakage(seed, ties=seed % 4 == 3)
    utility, curve, y = ex.MutualInformation(notion.prior), LiftWorth.on(box), vertices(box)
    alpha = generator.uniform(0.5, 1.5, box.n) * box.prior
    values = utility.column_values(columns_of(box, y, box.n))
    truth = box.budget * float(alpha.sum()) + float((values - y @ alpha).max())
    bound = bound_of(curve, alpha, least_cost(curve, alpha).lower)
    assert bound == pytest.approx(truth, rel=1e-11)
    proof = proof_by_search(notion, box, alpha, bound)
    assert proof is not None
    proved = float(proof.bound(notion, utility))
    equal = len(set(notion.prior.weights)) < box.n  # equal inputs are given equal prices, which may prove less
    assert proved <= truth * (1 + 1e-9) or equal
    assert proved >= max(0.0, truth * (1 - 1e-11)) or equal
    low = proof_by_search(notion, box, alpha, 0.9 * bound)  # asked for too little, it proves no more than is true
    assert low is None or equal or float(low.bound(notion, utility)) >= truth * (1 - 1e-11)


def test_trees_that_would_be_too_large_prove_what_their_roots_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    notion, box, generator = drawn_leakage(1)
    curve, alpha = LiftWorth.on(box), generator.uniform(0.5, 1.5, box.n) * box.prior
    bound = bound_of(curve, alpha, least_cost(curve, alpha).lower)
    monkeypatch.setattr(trees, "MOST_TOKENS", box.n)
    proof = proof_by_search(notion, box, alpha, bound)
    assert proof is not None
    assert sum(len(tree) for tree in proof.reason.trees) < 2 * box.n
    assert float(sum(proof.alpha)) >= bound


@pytest.mark.parametrize("seed", range(6))
def test_dual_vectors_agree_on_lift_vectors(seed: int) -> None:
    """β·λ = α·y + M − b·Σα for every vertex."""
    notion, box, generator = drawn_leakage(seed, ties=seed % 4 == 3)
    alpha, y = generator.normal(size=box.n), vertices(box)
    beta = np.array([float(b) for b in dual_vector(notion.prior, box, alpha, 0.7)])
    expected = y @ alpha + 0.7 - box.budget * alpha.sum()
    assert box.lifts(y) @ beta[box.support] == pytest.approx(expected, abs=1e-12)
