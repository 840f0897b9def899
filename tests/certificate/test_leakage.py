"""The checkers of leakage bounds by themselves: always above the truth, and close to it, for any dual vector."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from extremal.certificate.lift import LiftBox, lift_box

import extremal as ex
from extremal.certificate import (
    class_rays,
    leakage_divergence,
    leakage_information,
    leakage_symmetric,
    leakage_vertices,
)
from extremal.certificate.proof import LeakageChords, proof_from_json
from extremal.certificate.refused import Refused

P = [0.5, 0.3, 0.2]
NOTIONS = ("PML", "LIP", "LIP asymmetric")


def proved(kind: str, content: dict[str, Any], privacy: Any, utility: Any) -> float:
    """The bound of the proof that a file with this content holds."""
    return proof_from_json({"kind": kind, **content}).bound(privacy, utility)


def _random(seed: int) -> tuple[Any, LiftBox, Any]:
    """A notion whose lift vectors are no simplex, its box, and a generator."""
    generator = np.random.default_rng(seed)
    while True:
        n = int(generator.integers(3, 9))
        p = generator.dirichlet(np.ones(n))
        epsilon = float(generator.uniform(0.02, 1) * -math.log(p.min()))
        kind = NOTIONS[seed % 3]
        lower = 2 if kind == "LIP asymmetric" else None
        notion = ex.PML(epsilon, p) if kind == "PML" else ex.LIP(min(epsilon, 3), p, lower)
        box = lift_box(notion)
        if not box.is_simplex:
            return notion, box, generator


@pytest.mark.parametrize("seed", range(45))
def test_both_pricing_bounds_against_all_vertices(seed: int) -> None:
    notion, box, generator = _random(seed)
    y = leakage_vertices.vertices(box)
    assert y @ box.prior == pytest.approx(np.full(len(y), box.budget), rel=1e-9)
    columns = leakage_vertices.columns_of(box, y, box.n)
    assert notion.prior.values @ columns == pytest.approx(np.ones(len(y)), rel=1e-9)
    alpha = generator.normal(size=box.n) * box.prior * 3
    curve = leakage_information.Curve.on(box)
    values = ex.MutualInformation(notion.prior).column_values(columns)
    assert curve.values(y) == pytest.approx(values, abs=1e-12)
    truth = float((values - y @ alpha).max())
    search = leakage_information.least_cost(curve, alpha)
    assert 0 <= curve.ceiling - search.lower - truth <= 1e-10 * (1 + abs(truth))
    assert curve.ceiling - search.best == pytest.approx(truth, abs=1e-11)
    narrow = leakage_information.least_cost(curve, alpha, width=2)
    assert narrow.lower <= search.best
    assert leakage_information.least_cost(curve, alpha, target=search.best - 0.01).lower <= search.best - 0.01
    pair = generator.dirichlet(np.ones(box.n)), generator.dirichlet(np.ones(box.n))
    for make in (
        ex.KL,
        ex.ChiSquared,
        ex.SquaredHellinger,
        ex.TotalVariation,
        ex.JensenShannon,
        ex.ReverseKL,
        ex.SymmetricKL,
    ):
        utility = make(*pair)
        masses = utility.pair.masses.at(box.support)
        values = utility.column_values(columns)
        truth = float((values - y @ alpha).max())
        found = leakage_divergence.excess(box, utility.f, masses, alpha)
        assert -1e-15 <= found.upper - truth <= 1e-9 * (1 + abs(truth))
        lowest, highest = leakage_divergence.ratio_range(box, masses)
        ratios = (pair[0] @ columns) / (pair[1] @ columns)
        assert lowest <= ratios.min()
        assert highest >= ratios.max()


def test_the_order_of_the_knapsack_does_not_matter() -> None:
    """`ceiling` bounds the knapsack from above by its dual, `greedy` attains it."""
    _, box, generator = _random(0)
    gains = generator.normal(size=(50, box.n))
    attained = (box.greedy(gains) * gains).sum(axis=1)
    ceiling = box.ceiling(gains, np.abs(gains))
    assert (ceiling >= attained).all()
    assert ceiling == pytest.approx(attained, abs=1e-12)


def test_a_search_that_is_too_narrow_still_proves_something() -> None:
    """Nearly equal inputs and next to no costs: every subset is a tie; dropped states keep their bounds."""
    p = (1 + 0.001 * np.random.default_rng(4).standard_normal(24)) / 24
    p /= p.sum()
    notion = ex.PML(0.6, p)
    curve = leakage_information.Curve.on(lift_box(notion))
    alpha = p * (1 + 1e-9 * np.arange(24))
    narrow, wide = (leakage_information.least_cost(curve, alpha, width=w) for w in (50, 20_000))
    assert narrow.lower <= wide.lower <= wide.best <= narrow.best


@pytest.mark.parametrize(
    ("kind", "privacy", "utility", "message"),
    [
        (leakage_divergence.KIND, ex.PML(0.5, P), ex.MutualInformation(P), "chords are for f-divergences"),
        (leakage_divergence.KIND, ex.LDP(0.5), ex.KL(P, P[::-1]), "must be PML or LIP with one prior"),
        (leakage_divergence.KIND, ex.PML(3, P), ex.KL([1, 0, 0], P), "one finite entry"),
        (leakage_information.KIND, ex.PML(0.5, P), ex.MutualInformation(P[::-1]), "under the prior of the notion"),
        (leakage_information.KIND, ex.PML(0.5, P), ex.MutualInformation(P), "one finite entry"),
        (leakage_symmetric.KIND, ex.PML(0.5, P), ex.MutualInformation(P), "under a uniform prior"),
        (leakage_vertices.SIMPLEX, ex.PML(0.5, P), ex.MutualInformation(P), "must form a simplex"),
        (leakage_vertices.KIND, ex.PML(0.5, P), ex.Hamming(P), "a sum over columns"),
        (leakage_vertices.KIND, ex.PML(0.5, P), ex.MutualInformation(P), "one finite entry"),
        (class_rays.KIND, ex.LDP(1), ex.MutualInformation(P), "class rays are for PML"),
        (class_rays.KIND, ex.PML(1, ex.SourceClass.ball(P, 0.1)), ex.MutualInformation(P), "one finite entry"),
        ("one prior of the class", ex.LDP(1), ex.MutualInformation(P), "belongs to PML"),
    ],
)
def test_proofs_that_do_not_fit_are_refused(kind: str, privacy: Any, utility: Any, message: str) -> None:
    with pytest.raises(Refused, match=message):
        proved(kind, {"alpha": ["1"], "mix": ["1"], "proof": {"kind": kind}}, privacy, utility)


def test_an_infinite_divergence_proves_nothing() -> None:
    with pytest.raises(Refused, match="the divergence is infinite"):
        LeakageChords(("1", "1", "1")).bound(ex.PML(1, P), ex.KL([1, 0, 0], [0, 0.5, 0.5]))


def test_too_many_vertices_are_refused() -> None:
    with pytest.raises(Refused, match="at most 14 inputs"):
        leakage_vertices.vertices(lift_box(ex.PML(1, ["1/16"] * 16)))
    simplex = leakage_vertices.vertices(lift_box(ex.PML(0.1, P)))
    assert simplex.shape == (3, 3)


def test_equal_hypotheses_are_worth_nothing() -> None:
    found = ex.design(ex.PML(0.5, P), ex.KL([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]))
    assert (found.value, found.upper_bound, found.gap) == (0, 0, 0)
    assert ex.verify(found)
