"""Trees over sets for divergences: they prove what listing all patterns gives, and no tree proves too much."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import extremal as ex
from extremal.certificate import Dual, Proof, Refused
from extremal.certificate import Sets as TreeOfSets
from extremal.certificate.arithmetic.cones import Staircase, cone_of
from extremal.certificate.proof import WORKING_BITS
from extremal.certificate.proofs import sets
from extremal.certificate.proofs.concave import PatternWorth
from extremal.certificate.proofs.sets import SCALE, _LiftTrees, _OpenGroups, _PatternTree
from extremal.optimize.hypotheses.columns import best_mixture
from extremal.optimize.hypotheses.goals import Goals
from extremal.optimize.hypotheses.solve import _by_tree
from extremal.optimize.problem import Problem, certify
from extremal.optimize.rays import best_mixture as over_all_patterns
from extremal.optimize.rays import parts_of
from extremal.privacy.cones.staircase import patterns
from extremal.problem import problem_of
from support.checkers import checker_says_of, kernel_says_of

KINDS = (ex.KL, ex.ChiSquared, ex.TotalVariation, ex.SquaredHellinger, ex.JensenShannon)


def listed(utility: Any, epsilon: float) -> float:
    matrix = patterns(utility.k, epsilon)
    values = np.array([part.column_values(matrix) for part in parts_of(utility)])
    return float((values @ over_all_patterns(matrix, values).weights).min())


def solved(utility: Any, epsilon: float) -> Any:
    problem, goals = Problem(ex.LDP(epsilon), utility), Goals.of(utility, epsilon)
    best = best_mixture(problem, goals, cells=False)
    assert best.complete
    assert best.tree is not None
    return _by_tree(problem, goals, best, best.tree)


def hypotheses(seed: int, k: int = 7, m: int = 7) -> list[Any]:
    priors = np.random.default_rng(seed).dirichlet(np.ones(k), m)
    if seed % 3 == 0:  # some zeros and ties
        priors = np.round(priors, 1) + np.eye(1, k) * 0.5
        priors /= priors.sum(axis=1, keepdims=True)
    return list(priors)


@pytest.mark.parametrize("seed", range(10))
def test_a_tree_proves_the_optimum_over_all_patterns(seed: int) -> None:
    epsilon = (0.1, 1.0, 3.0, 9.0)[seed % 4]
    utility = ex.PairwiseDivergence(hypotheses(seed), KINDS[seed % 5], worst_case=bool(seed % 2))
    found = solved(utility, epsilon)
    (proof,) = found.proofs
    bound = float(proof.bound(ex.LDP(epsilon), utility))
    assert utility(found.mechanism) <= bound * (1 + 1e-12)
    assert bound == pytest.approx(listed(utility, epsilon), rel=2e-9)


def example() -> tuple[Any, Dual]:
    utility = ex.PairwiseDivergence(hypotheses(1))
    proof = solved(utility, 1.0).proofs[0]
    assert isinstance(proof, Dual)
    return utility, proof


def with_tree(proof: Dual, **changed: Any) -> Proof:
    return dataclasses.replace(proof, reason=dataclasses.replace(proof.reason, **changed))


def test_a_price_a_little_too_low_and_a_node_closed_too_early_are_refused() -> None:
    utility, proof = example()
    assert isinstance(proof.reason, TreeOfSets)
    proof.bound(ex.LDP(1), utility)
    for x in range(utility.k):
        lower = tuple(a - Fraction(1, 10**6) * (z == x) for z, a in enumerate(proof.alpha))
        with pytest.raises(Refused, match="not closed"):
            dataclasses.replace(proof, alpha=lower).bound(ex.LDP(1), utility)
    with pytest.raises(Refused, match="not closed"):
        with_tree(proof, trees=((0,),)).bound(ex.LDP(1), utility)
    with pytest.raises(Refused, match="not closed"):
        proof.bound(ex.LDP(1.001), utility)


def test_what_is_no_tree_of_inputs_is_refused() -> None:
    utility, proof = example()
    order, (tokens,) = proof.reason.choices, proof.reason.trees  # type: ignore[attr-defined]
    for changed, message in (
        ({"choices": order[:-1]}, "every input once"),
        ({"choices": (order[1], *order[1:])}, "every input once"),
        ({"choices": (order[0] + Fraction(1, 2), *order[1:])}, "one, of inputs"),
        ({"trees": ()}, "one, of inputs"),
        ({"trees": (tokens, tokens)}, "one, of inputs"),
        ({"trees": (tokens[:-1],)}, "close all"),
        ({"trees": ((*tokens, 0),)}, "must end"),
        ({"trees": ((7, *tokens[1:]),)}, "branches on the next"),
        ({"trees": ((-1,) * (utility.k + 1),)}, "branches on the next"),
    ):
        with pytest.raises(Refused, match=message):
            with_tree(proof, **changed).bound(ex.LDP(1), utility)
    with pytest.raises(Refused, match="one, of inputs"):
        proof.bound(ex.PML(1, [1 / 7] * 7), utility)
    with pytest.raises(Refused, match="about divergences"):
        proof.bound(ex.LDP(1), ex.Average([ex.MutualInformation([1 / 7] * 7), utility]))


@pytest.mark.parametrize("worst_case", [False, True])
def test_the_checker_that_stands_alone_agrees(worst_case: bool, tmp_path: Path) -> None:
    utility = ex.PairwiseDivergence(hypotheses(2, 6), worst_case=worst_case)
    found = solved(utility, 1.0)
    certificate = certify(found.mechanism, utility, found.proofs)
    text = certificate.save(tmp_path / "design.json").read_bytes()
    assert checker_says_of(text) == kernel_says_of(text) == ("proved", "proved", "proved")
    spoiled = text.replace(b"[-1, -1, ", b"[-1, 0, -1, ", 1).replace(b"[-1,-1,", b"[-1,0,-1,", 1)
    assert spoiled != text
    assert "proved" not in (checker_says_of(spoiled)[2], kernel_says_of(spoiled)[2])


def test_a_tree_over_lifts_needs_the_prior_of_the_information() -> None:
    prior, other = ["0.4", "0.3", "0.2", "0.1"], ["0.1", "0.2", "0.3", "0.4"]
    proof = Dual((Fraction(1),) * 4, TreeOfSets((Fraction(0),), ((0,),) * 4))
    with pytest.raises(Refused, match="one prior that is also that of the information"):
        proof.bound(ex.PML("0.5", other), ex.MutualInformation(prior))


def test_every_open_symbol_of_a_group_may_gain() -> None:
    """Four equal symbols, all open, e^ε = 3: the tangent at ¼ asks for α ≥ (φ + ¾φ')/12 = 0.0483."""
    notion, utility = ex.LDP.from_ratio(3), ex.MutualInformation(["0.25"] * 4)
    tree = TreeOfSets((Fraction(1, 4),), ((0,),))
    assert Dual((Fraction("0.0484"),) * 4, tree).bound(notion, utility) == Fraction("0.1936")
    with pytest.raises(Refused, match="not closed by its tangent"):
        Dual((Fraction("0.0482"),) * 4, tree).bound(notion, utility)


@pytest.mark.parametrize("listed_up_to", [0, 1 << 12])
def test_what_open_groups_can_add(listed_up_to: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against all subsets: the range holds every mass that fits, and is exact where all masses are listed."""
    monkeypatch.setattr(sets, "MOST_SUMS", listed_up_to)
    weights, counts = [7, 4, 3], [1, 2, 1]
    groups = _OpenGroups(weights, counts)
    for depth in range(4):
        ways = [range(n + 1) for n in counts[depth:]]
        sums = {sum(m * w for m, w in zip(t, weights[depth:], strict=True)) for t in itertools.product(*ways)}
        for low, high in itertools.product(range(-3, 21), range(-3, 21)):
            fits = [s for s in sums if low <= s <= high]
            found = groups.between(depth, low, high)
            if fits:
                assert found is not None
                assert found[0] <= min(fits) <= max(fits) <= found[1]
            if listed_up_to:
                assert found == ((min(fits), max(fits)) if fits else None)
            elif found is not None:
                assert low <= found[0] <= found[1] <= high
    assert groups.lightest == [3, 3, 3, 0]


def test_what_trees_over_lifts_round_is_rounded_to_the_safe_side() -> None:
    cone: Any = cone_of(problem_of(ex.PML("0.5", ["0.25"] * 4)), 4)
    third = fmpq(1, 3)
    with ctx.workprec(WORKING_BITS):
        trees = _LiftTrees([(1, fmpq(1, 100))] * 4, 4, fmpq(4, 100), cone, (Fraction(1),))
        nu, (reduced,), opened = trees.multiplier(0)
        found = trees.dip(third)
    assert nu == 1 << SCALE
    assert reduced < 0
    assert opened == [4 * reduced, 0]  # every open symbol may take its part off
    with ctx.workprec(4 * WORKING_BITS):
        low, step = trees.low, trees.step
        ends = [arb(t) * arb(t).log() - arb(t) + 1 if t else arb(1) for t in (low, low + step, low + step * third)]
        dip = (ends[0] + arb(third) * (ends[1] - ends[0]) - ends[2]) / arb(step)
        assert arb(fmpq(found, 1 << SCALE)) < dip < arb(fmpq(found, 1 << SCALE) + fmpq(1, 1 << 90))


def test_a_line_is_above_the_curve_however_widely_its_slope_is_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    y, cone = Fraction(1, 4), Staircase(4, fmpq(3))
    with ctx.workprec(WORKING_BITS):
        curve = PatternWorth(cone.top)
        wide = curve.slope(fmpq(1, 4)) + arb(0, 0.1)
        monkeypatch.setattr(PatternWorth, "slope", lambda _self, _y: wide)
        slope, start, _ = _PatternTree([(1, fmpq(1))] * 4, 4, fmpq(4), cone, (y,)).line(0)
        for x in (fmpq(n, 100) for n in range(101)):
            assert curve.value(x) <= arb((start + slope * x) / (1 << SCALE))


def test_what_a_sum_of_divergences_costs_is_counted_once_and_what_is_open_may_gain() -> None:
    """Two inputs that two hypotheses tell apart, e^ε = 3: a pattern of one input is worth 1 and costs Σα + 2·α_x, and
    the chord from 1/3 to 3 asks for ½ + Σ(½ − 2·α_x)⁺ ≤ Σα at the root."""
    notion, utility = ex.LDP.from_ratio(3), ex.TotalVariation([1, 0], [0, 1])
    order, root, whole = (Fraction(0), Fraction(1)), (0,), (-1, -1, 0, 0, -1, 0, 0)
    for tree in (root, whole):
        enough = Dual((Fraction("0.2501"),) * 2, TreeOfSets(order, (tree,)))
        assert enough.bound(notion, utility) == Fraction("0.5002")
    for alpha, tree in ((("0.24", "0.24"), whole), (("0", "0.6"), root), (("0.6", "0"), root)):
        with pytest.raises(Refused, match="not closed by its chords"):
            Dual(tuple(map(Fraction, alpha)), TreeOfSets(order, (tree,))).bound(notion, utility)
