"""Information under PML and LIP with another prior, beyond the sizes at which all lift vectors are listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.optimize.leakage import other_prior
from extremal.optimize.leakage.other_prior import OtherWorth, chord_prices
from extremal.privacy.cones.lift import lift_box, vertices


def priors(seed: int, k: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))


@pytest.mark.parametrize("notion", [ex.PML, ex.LIP])
@pytest.mark.parametrize(("k", "most"), [(16, 0.03), (40, 0.002)])
def test_many_inputs_have_a_small_proved_gap(notion: Any, k: int, most: float) -> None:
    p, r = priors(0, k)
    found = ex.design(notion(1, p), ex.MutualInformation(r))
    assert ex.verify(found)
    assert found.gap < most
    assert found.certificate.proofs[0].label == "dual (chords)"


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_what_all_lift_vectors_have(seed: int) -> None:
    """Few inputs by search reach the optimum over every vertex, and stay below the bound."""
    p, r = priors(seed, 9)
    p[seed], r[8] = (0.0, 0.0) if seed % 2 else (p[seed], r[8])
    p, r = p / p.sum(), r / r.sum()
    privacy, goal = ex.PML(0.8, p), ex.MutualInformation(r)
    best = ex.design(privacy, goal)
    box = lift_box(privacy)
    worth = OtherWorth(box, r[box.support])
    listed = vertices(box)
    y, gain = worth.neighbours(np.zeros(box.n, dtype=bool), np.arange(box.n), np.zeros(box.n))
    assert gain[0] == pytest.approx(worth.values(listed).max(), rel=1e-9)
    assert worth.values(y)[0] == pytest.approx(gain[0], rel=1e-9)
    assert float(chord_prices(privacy, goal).sum()) >= best.value * (1 - 1e-12)


def test_inputs_that_the_notion_rules_out_are_revealed() -> None:
    p, r = priors(3, 18)
    p[:2] = 0.0
    found = ex.design(ex.PML(1, p / p.sum()), ex.MutualInformation(r))
    assert ex.verify(found)
    assert found.gap < 0.03
    assert (np.asarray(found.mechanism.matrix)[:2].max(axis=1) > 0.999999).all()


@pytest.mark.parametrize("notion", [ex.PML, ex.LIP])
@pytest.mark.parametrize("epsilon", [4, 7])
@pytest.mark.parametrize("uniform", [False, True])
def test_no_bound_is_above_the_entropy(notion: Any, epsilon: float, uniform: bool) -> None:
    """Chords of wide lifts alone bound 15 inputs by 3.3 at ε = 7; where nothing can be hidden they are no simplex."""
    p, r = priors(0, 15)
    found = ex.design(notion(epsilon, np.full(15, 1 / 15) if uniform else p), ex.MutualInformation(r))
    entropy = float(-(r * np.log(r)).sum())
    assert ex.verify(found)
    assert found.upper_bound <= entropy * (1 + 1e-11)
    assert found.gap < (1e-12 if uniform and notion is ex.PML else 0.06)


def test_where_nothing_must_be_hidden_every_goal_is_solved() -> None:
    pairs = [priors(seed, 16) for seed in range(3)]
    for goal in (ex.WorstCase, ex.Average):
        found = ex.design(ex.PML(3, np.full(16, 1 / 16)), goal([ex.TotalVariation(*pair) for pair in pairs]))
        assert ex.verify(found)
        assert found.gap < 1e-11


def test_too_many_inputs_are_refused_with_the_limit() -> None:
    k = other_prior.SIZES.lift_information + 1
    with pytest.raises(InvalidParameter, match="at most 250"):
        ex.design(ex.PML(1, np.full(k, 1 / k)), ex.MutualInformation(priors(0, k)[0]))
