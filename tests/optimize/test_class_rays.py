"""The extreme columns of PML for a class of priors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import extremal as ex
from extremal.certificate import Listed, OnePrior
from extremal.certificate.arithmetic.cones import Inequalities, OfClass, cone_of
from extremal.errors import TooLarge
from extremal.exact import Prior, polytope
from extremal.optimize.rays import nested_columns
from extremal.privacy import PML
from extremal.problem import problem_of
from extremal.sources import SourceClass

P = [0.5, 0.3, 0.2]
RAMP = [f"{x}/66" for x in range(1, 12)]
TWELVE = np.random.default_rng(0).dirichlet(np.full(8, 3.0), size=12)


@pytest.mark.parametrize(
    "source",
    [
        SourceClass([P, [0.2, 0.3, 0.5]]),
        SourceClass.ball(P, 0.1),
        SourceClass.permutation_invariant(P),
        SourceClass([[0.5, 0.5, 0], [0.4, 0.6, 0]]),
    ],
    ids=lambda s: s.kind,
)
def test_every_linear_function_is_largest_at_a_listed_ray(source: SourceClass) -> None:
    notion, generator = PML(0.6, source), np.random.default_rng(1)
    cone = cone_of(problem_of(notion), 3)
    assert isinstance(cone, Inequalities)
    columns = polytope.as_columns(list(Inequalities.rays(cone)))
    assert (columns.max(axis=0) == 1).all()
    occurs = [x for x, possible in enumerate(source.support()) if possible]
    inequalities = [np.eye(3)[x] - math.exp(0.6) * p.values for p in source.vertices() for x in occurs]
    assert (np.array(inequalities) @ columns <= 1e-9).all()
    for _ in range(20):
        g = generator.standard_normal(3)
        best = -linprog(-g, inequalities, np.zeros(len(inequalities)), np.ones((1, 3)), [1.0]).fun
        assert (g @ columns / columns.sum(axis=0)).max() == pytest.approx(best, abs=1e-9)


def test_one_prior_of_a_class() -> None:
    assert SourceClass([P, [0.2, 0.3, 0.5]]).member() == Prior(P)
    assert SourceClass.simplex(4).member() == Prior(["1/4"] * 4)
    notion = PML.from_json({"notion": "PML", "ratio": "3", "source": SourceClass([P, [0.2, 0.3, 0.5]]).to_json()})
    single = notion.under(notion.source.member())
    assert single.exponential == notion.exponential
    assert single.prior == Prior(P)


def test_what_is_too_large_to_list_gets_what_holds_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The design under LDP is admissible for every class: none is worth less."""
    goal = ex.TotalVariation(P, P[::-1])
    design = ex.design(PML(0.5, SourceClass.ball(["1/11"] * 11, 0.1)), ex.TotalVariation(["1/11"] * 11, RAMP))
    assert isinstance(design.certificate.proofs[0], OnePrior)
    notion = PML(0.5, SourceClass([P, [0.2, 0.3, 0.5], [0.3, 0.4, 0.3]]))
    whole = ex.design(notion, goal)
    monkeypatch.setattr(polytope, "MOST_STEPS", 600)
    cut = ex.design(notion, goal)
    assert "larger cone" in cut.method
    assert ex.verify(cut)
    assert whole.gap < 1e-12 < cut.gap
    assert ex.design(ex.LDP(0.5), goal).value <= cut.value <= whole.value <= cut.upper_bound
    monkeypatch.setattr(polytope, "MOST_RAYS", 2)
    with pytest.raises(TooLarge, match="too many extreme rays"):
        polytope.extreme_rays(3, [[Fraction(1), Fraction(-1), Fraction(0)]])


@pytest.mark.parametrize("wanted", [ex.KL, lambda p, q: ex.WorstCase([ex.KL(p, q), ex.MutualInformation(p)])])
def test_a_list_of_thirty_priors_is_solved_by_few_of_its_inequalities(wanted: Any) -> None:
    """Where all of them have too many rays; those that the proof names hold on the cone of the class."""
    priors, (p, q) = (np.random.default_rng(s).dirichlet(np.ones(6), n) for s, n in ((0, 30), (3, 2)))
    notion = PML(1, SourceClass(priors.tolist()))
    design = ex.design(notion, wanted(p.tolist(), q.tolist()))
    assert design.gap <= 1e-9
    assert ex.verify(design)
    (proof,) = design.certificate.proofs
    assert isinstance(proof.reason, Listed)  # type: ignore[attr-defined]
    assert 6 < len(proof.reason.tree) < 60 < 180  # type: ignore[attr-defined]
    assert design.value > ex.design(ex.LDP(1), wanted(p.tolist(), q.tolist())).value


NESTED = (
    SourceClass.ball(P, 0.1),
    SourceClass.ball([0.7, 0.25, 0.05, 0], 0.15),
    SourceClass.ball([0.4, 0.3, 0.2, 0.1], 0.5),
    SourceClass.permutation_invariant([0.6, 0.3, 0.1, 0]),
    SourceClass.permutation_invariant(["1/2", "1/4", "1/8", "1/8"]),
)


@pytest.mark.parametrize("source", NESTED, ids=repr)
@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "4"])
def test_pairs_of_nested_sets_are_the_extreme_columns_of_a_class(source: SourceClass, epsilon: str) -> None:
    """None is missing of those that double description finds, and each satisfies all inequalities."""
    cone = cone_of(problem_of(PML(epsilon, source)), source.k)
    assert isinstance(cone, OfClass)
    nested = {polytope.lowest_terms([Fraction(v) for v in ray]) for ray in cone.rays()}
    assert set(Inequalities.rays(cone)) <= nested
    planes = [cone.inequality(x, v) for x in range(source.k) for v in range(len(source.vertices()))]
    assert all(sum(a * ray[x] for x, a in plane.items()) <= 0 for ray in nested for plane in planes if plane)
    found = nested_columns(PML(epsilon, source)).T
    exact = np.array(sorted([v / max(ray) for v in ray] for ray in nested))
    assert all(np.abs(exact - column).max(axis=1).min() < 1e-12 for column in found)
    assert all(np.abs(found - ray).max(axis=1).min() < 1e-12 for ray in exact)


@pytest.mark.parametrize("source", [*NESTED, SourceClass.ball([0.5, 0.5, 0], "1/3")], ids=repr)
def test_least_shares_are_those_of_the_extreme_priors(source: SourceClass) -> None:
    """And they decide the least mean of any numbers: the sum over their levels."""
    generator, priors = np.random.default_rng(0), np.array([p.values for p in source.vertices()])
    for members in itertools.chain.from_iterable(
        itertools.combinations(range(source.k), n) for n in range(source.k + 1)
    ):
        assert float(source.least_share(members)) == pytest.approx(
            priors[:, list(members)].sum(axis=1).min(), abs=1e-15
        )
    for _ in range(50):
        q = generator.exponential(size=source.k)
        order = np.argsort(-q).tolist()
        levels = np.append(q[order], 0)
        steps = [(levels[i] - levels[i + 1]) * float(source.least_share(order[: i + 1])) for i in range(source.k)]
        assert sum(steps) == pytest.approx((priors @ q).min(), rel=1e-12)


def test_the_least_shares_of_a_list_are_not_known() -> None:
    assert SourceClass([P, [0.2, 0.3, 0.5]]).least_share([0]) is None
    assert SourceClass.ball(P, 0).least_share([0]) is None


@pytest.mark.parametrize("k", [8, 10])
def test_balls_around_skewed_priors_are_solved(k: int) -> None:
    drawn = np.random.default_rng(2).dirichlet(np.full(k, 0.5)) + 1e-4
    prior = (drawn / drawn.sum()).tolist()
    design = ex.design(PML("0.2", SourceClass.ball(prior, 0.2)), ex.KL(prior, prior[::-1]))
    assert design.gap <= 1e-9
    assert k > 8 or ex.verify(design)


def test_a_list_of_twelve_priors_is_solved() -> None:
    notion = PML(1.5, SourceClass(TWELVE.tolist()))
    assert sum(1 for _ in cone_of(problem_of(notion), 8).rays()) == 1498
    design = ex.design(notion, ex.MutualInformation(TWELVE[0].tolist()))
    assert design.gap <= 1e-9
    assert ex.verify(design)
