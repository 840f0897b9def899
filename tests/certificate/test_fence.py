"""The fence of docs/design/proofs.md: what parts put together must not say, line by line."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import extremal as ex
from extremal.certificate import (
    Chords,
    Concave,
    Dual,
    Groups,
    Level,
    Listed,
    Matrix,
    OnePrior,
    Order,
    Proof,
    Refused,
    Sets,
    Squares,
    Truncated,
    enclosure,
)
from extremal.optimize.distortion.hamming import truth_proof
from extremal.utility import CDF, Frequencies, LevelAtDistortion, Mean

ZERO, ONE = Fraction(0), Fraction(1)
P, Q, R = ["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"], ["0.1", "0.8", "0.1"]
SHARES, LINE = Frequencies(4), ex.MetricPrivacy(1, [[abs(x - z) for z in range(4)] for x in range(4)])
STAR = ((0, 1), (0, 2), (0, 3))
PAIR, CLASS = ex.KL(P, Q), ex.SourceClass([P, Q])
MERGED, EVEN = (0, 0, 1, 1), ["1/4"] * 4
OPEN = (Fraction(-100), Fraction(100))


def alike(reason: Any, alpha: tuple[Fraction, ...] = (), **given: Any) -> Squares:
    """Shares of four inputs that are one class."""
    return Squares(((),), Dual(alpha, reason, **given), (4,), (0,) * 4)


def each(reason: Any, alpha: tuple[Fraction, ...] = (), **given: Any) -> Squares:
    """The same with each input its own class."""
    dual = Dual(alpha, reason, given.pop("mix", ()), given.pop("prices", ()))
    return Squares(((), (-1,), (-1, -1), (-1, -1, -1)), dual, **given)


def one(reason: Any, **given: Any) -> Squares:
    """One statistic of four inputs."""
    return Squares(((-3, -1, 1),), Dual((ONE,) * 4, reason), **given)


SCALED = Matrix((1, 1, 1, 1), (), (), -20)


@pytest.mark.parametrize(
    ("proof", "notion", "goal", "why"),
    [
        # classes of more than one input
        (alike(Listed((), True)), ex.LDP(1), SHARES, "counted under LDP"),
        (alike(Listed()), ex.LDP(1, "0.1"), SHARES, "counted under LDP"),
        (alike(Listed()), ex.PML(1, EVEN), SHARES, "counted under LDP"),
        (alike(Listed(STAR)), LINE, SHARES, "counted under LDP"),
        (alike(Chords(OPEN)), ex.LDP(1), SHARES, "counted under LDP"),
        (alike(SCALED), ex.LDP(1), SHARES, "counted under LDP"),
        (alike(Listed()), ex.LDP(1), Frequencies(["0.4", "0.2", "0.2", "0.2"]), "constant on each class"),
        (alike(Listed()), ex.LDP(1), CDF(4), "exchanged"),
        (alike(Truncated(Listed())), ex.LDP(1), SHARES, "counted under LDP"),
        (alike(Truncated(Listed((), True))), ex.LDP(1, "0.1"), SHARES, "counted under LDP"),
        # truncated columns
        (Dual((ZERO,) * 3, Truncated(Listed())), ex.LDP(1), PAIR, "truncated under"),
        (Dual((ZERO,) * 3, Truncated(Listed())), ex.PML(1, P), PAIR, "truncated under"),
        (Dual((ZERO,) * 3, Truncated(Chords())), ex.LDP(1, "0.1"), ex.Hamming(P), "about no distortion"),
        (Dual((ZERO,) * 3, Truncated(Listed((), True))), ex.LDP(1, "0.1"), PAIR, "reason for ε-LDP"),
        (Dual((ZERO,) * 3, Truncated(Truncated(Listed()))), ex.LDP(1, "0.1"), PAIR, "reason for ε-LDP"),
        (Dual((ZERO,) * 3, Truncated(Listed()), (), ((0, 1, ONE),)), ex.LDP(1, "0.1"), PAIR, "prices are for columns"),
        (each(Truncated(SCALED)), ex.LDP(1, "0.1"), SHARES, "reason for ε-LDP"),
        (each(Truncated(Chords(OPEN))), ex.LDP(1, "0.1"), SHARES, "for one statistic"),
        (one(Truncated(Chords(OPEN))), ex.LDP(1, "0.1"), Mean([0, 1, 2, 3]), "proved by chords"),
        (each(Truncated(Listed())), ex.LDP(1, "0.1"), Frequencies(["0.5", "0.5", "0", "0"]), "positive probability"),
        # merged inputs, one row, matrices
        (Squares(((), (-1,)), Dual((), Listed()), merged=MERGED), ex.PML(1, EVEN), CDF(4, [1]), "under LDP only"),
        (Squares(((), (-1,)), Dual((), Listed()), merged=MERGED), LINE, CDF(4, [1]), "under LDP only"),
        (one(Listed()), ex.LDP(1), Mean([0, 1, 2, 3]), "proved by chords"),
        (one(SCALED), ex.LDP(1), Mean([0, 1, 2, 3]), "proved by chords"),
        (one(Chords(OPEN), classes=(0, 1, 2, 3), diagonal=(0,) * 4), ex.LDP(1), Mean([0, 1, 2, 3]), "triangle"),
        (each(SCALED), LINE, SHARES, "about LDP"),
        (each(SCALED), ex.PML(1, ["0.4", "0.2", "0.2", "0.2"]), SHARES, "the workload's prior"),
        (each(SCALED), ex.LIP(1, ["0.5", "0.5", "0", "0"]), Frequencies(["0.5", "0.5", "0", "0"]), "without zeros"),
        (each(SCALED), ex.LDP(1, "0.1"), ex.Frequencies(["0.5", "0.5", "0", "0"]), "positive probability"),
        (each(SCALED, (ONE,) * 4), ex.LDP(1), SHARES, "without α"),
        (Dual((), SCALED), ex.LDP(1), ex.KL(EVEN, EVEN), "entry for each input"),
        (Dual((ZERO,) * 4, SCALED), ex.LDP(1), ex.KL(EVEN, EVEN), "about squares"),
        (each(Sets((ONE,), ((0,),))), ex.LDP(1), SHARES, "about information"),
        (each(Chords(OPEN)), ex.LDP(1), SHARES, "for one statistic"),
        # prices
        (Dual((ZERO,) * 3, Chords((ONE,)), (), ((0, 1, ONE),)), ex.LDP(1, "0.1"), PAIR, "prices are for columns"),
        (Dual((ZERO,) * 3, Listed((), True), (), ((0, 1, ONE),)), ex.LDP(1, "0.1"), PAIR, "prices are for columns"),
        (Dual((ZERO,) * 3, Listed(), (), ((0, 1, ONE),)), ex.LDP(1), PAIR, "prices are for columns"),
        (Dual((ZERO,) * 3, Listed(), (), ((0, 1, -ONE),)), ex.LDP(1, "0.1"), PAIR, "prices are ≥ 0"),
        (Dual((ZERO,) * 3, Listed(), (), ((1, 1, ONE),)), ex.LDP(1, "0.1"), PAIR, "two different rows"),
        (Dual((ZERO,) * 3, Listed(), (), ((0, 3, ONE),)), ex.LDP(1, "0.1"), PAIR, "two different rows"),
        (Dual((ZERO,) * 3, Chords(), (), ((0, 1, ONE),)), ex.LDP(1, "0.1"), ex.Hamming(P), "no parts and no prices"),
        (each(Listed(), prices=((0, 1, ONE),)), ex.LDP(1), SHARES, "prices are for columns"),
        # trees, sets, chords, listed
        (Dual((ZERO,) * 4, Listed(STAR)), ex.LDP(1), ex.KL(EVEN, EVEN), "tree is for metric privacy"),
        (Dual((ZERO,) * 4, Chords((ONE,), (), STAR)), ex.LDP(1), ex.KL(EVEN, EVEN), "tree is for metric privacy"),
        (Dual((ZERO,) * 3, Listed(((0, 2),))), ex.PML(1, CLASS), PAIR, "of extreme priors"),
        (Dual((ZERO,) * 3, Listed(((3, 0),))), ex.PML(1, CLASS), PAIR, "of extreme priors"),
        (Dual((ZERO,) * 3, Chords((ONE,), (), ((0, 1),))), ex.PML(1, CLASS), PAIR, "for a list of rays"),
        (Dual((ZERO,) * 4, Listed(STAR, True)), LINE, ex.KL(EVEN, EVEN), "no tree"),
        (Dual((ZERO,) * 3, Chords(trees=((-1,), (-1,)))), ex.PML(1, P), PAIR, "ε-LDP, ε > 0"),
        (Dual((ZERO,) * 3, Chords(trees=((-1,), (-1,)))), ex.LDP(0), PAIR, "ε-LDP, ε > 0"),
        (Dual((ZERO,) * 3, Chords(trees=((-1,), (-1,)))), ex.LDP(1), ex.MutualInformation(P), "about divergences"),
        (Dual((ZERO,) * 3, Sets((ONE,), ((0,),))), ex.LDP(1), PAIR, "every input once"),
        (Dual((ZERO,) * 3, Sets((ONE,), ((0,),))), ex.LDP(1), ex.Hamming(P), "about information"),
        (Dual((ONE,) * 3, Sets((ONE,), ((0,),) * 3)), ex.PML(1, Q), ex.MutualInformation(P), "that of the information"),
        (Dual((ONE,) * 3, Sets((ONE,), ((0,),))), ex.LDP(1, "0.1"), ex.MutualInformation(P), "needs ε-LDP"),
        (Dual((ZERO,) * 3, Chords((ONE,))), ex.LDP(1), ex.MutualInformation(P), "about divergences"),
        (Dual((ZERO,) * 3, Chords((ONE,))), ex.LDP(1), ex.Average([PAIR, ex.KL(P, R)]), "of one pair"),
        (Dual((ZERO,) * 3, Chords()), ex.LDP(1), ex.Hamming(CLASS), "one prior of its class"),
        (Dual((ZERO,) * 3, Listed()), ex.LDP(1), ex.Hamming(P), "not proved by rays"),
        (Dual((ZERO,) * 3, Listed((), True)), ex.LDP(1), ex.Hamming(P), "not proved by rays"),
        (Dual((ZERO,) * 3, Listed()), ex.LDP(1), CDF(P), "not about a cost"),
        (Dual((ZERO,) * 3, Listed()), ex.LDP(1), LevelAtDistortion(P, "0.1"), "not about a cost"),
        (each(Listed()), ex.LDP(1), ex.KL(EVEN, EVEN), "about a workload"),
        (each(Listed()), ex.LDP(1), Frequencies(ex.SourceClass.simplex(4)), "with one prior"),
        (Order(ONE, (ONE,)), ex.LDP(1), ex.Hamming(P), "not about a cost"),
        (Concave(ONE), ex.LDP(1), ex.Average([ex.MutualInformation(P)] * 2), "about mutual information"),
        (Groups((0, 0), (Concave(ONE),)), ex.LDP(1), ex.WorstCase([PAIR, PAIR]), "for each part of a mean"),
        # fields that a worth or a cone does not use
        (each(Listed(), mix=(ONE,)), ex.LDP(1), SHARES, "no mix"),
        (each(Listed(), diagonal=(1,) * 4), ex.LDP(1), SHARES, "diagonal with classes"),
        (Dual((ZERO,) * 3, Chords(), (ONE,)), ex.LDP(1), ex.Hamming(P), "no parts and no prices"),
        (Dual((ZERO,) * 3, Chords((ONE,))), ex.LDP(1), ex.Hamming(P), "no nodes"),
        (Dual((ZERO,) * 3, Chords((ONE,), ((0, 0, 1, ONE),))), ex.LDP(1), PAIR, "of an inequality"),
        (Dual((ZERO,) * 3, Chords((), ((0, 0, 1, ONE),))), ex.LDP(1), ex.Hamming(P), "of an inequality"),
        (Dual((ZERO,) * 4, Chords((ONE,), ((0, 0, 1, ONE),), STAR)), LINE, ex.KL(EVEN, EVEN), "of an inequality"),
        (Dual((ZERO,) * 4, Chords((ONE,), ((2, 0, 1, ONE),))), LINE, ex.KL(EVEN, EVEN), "pieces that exist"),
        (Dual((ZERO,) * 3, Chords((ONE,), trees=((-1,), (-1,)))), ex.LDP(1), PAIR, "alone"),
        (OnePrior((ONE,) * 3, (ONE, ZERO), Dual((ZERO,) * 3, Chords())), ex.LDP(1), ex.Hamming(CLASS), "weights must"),
        # lists are looked at before anything is made of them
        (Squares(((),), Dual((), Listed()), (4,), (1 << 40,) * 4), ex.LDP(1), SHARES, "one of the classes"),
        (Squares(((),), Dual((), Listed()), merged=(0, 1, 1 << 40, 1)), ex.LDP(1), SHARES, "merged must name"),
        (each(Matrix((1,) * 4, ((0,),), (1 << 40,) * 4, 0)), ex.LDP(1), SHARES, "block for each input"),
        (each(Matrix((1,) * 4, ((0,),), (-1,) * 4, 0)), ex.LDP(1), SHARES, "block for each input"),
        (each(Matrix((1,) * 4, (), (), 1 << 40)), ex.LDP(1), SHARES, "scale"),
        (Groups((0, 1 << 40), (Concave(ONE),) * 2), ex.LDP(1), ex.Average([PAIR, PAIR]), "for each part of a mean"),
    ],
)
def test_what_the_fence_keeps_out(proof: Proof, notion: Any, goal: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        proof.bound(notion, goal)


def test_a_level_must_lie_strictly_below_what_is_proved() -> None:
    """Where the likeliest input alone decides the optimum is flat in ε: an equal bound would prove ε ≥ ln 1.5."""
    prior, ratio = ex.Hamming(P).source.priors[0], Fraction(3, 2)
    proof = truth_proof(prior, ratio)
    assert proof.bound(ex.LDP.from_ratio(ratio), ex.Hamming(P)) == Fraction(1, 2)
    flat = LevelAtDistortion(P, "0.5")
    constant = ex.Mechanism.from_weights([[1]] * 3, 1, outputs=[0])
    assert enclosure(flat, constant) == (0, 0)
    with pytest.raises(Refused, match="exceed the distortion"):
        Level(ratio, proof).bound(ex.LDP(1), flat)
    below = Level(ratio, proof).bound(ex.LDP(1), LevelAtDistortion(P, "0.499"))
    assert 0.4054 < below < 0.4055
    assert Level(ONE, proof).bound(ex.LDP(1), flat) == 0
    for wrong in (Level(Fraction(1, 2), proof), Level(ratio, Dual((ZERO,) * 2, Chords()))):
        with pytest.raises(Refused):
            wrong.bound(ex.LDP(1), flat)
    with pytest.raises(Refused, match="level within a distortion"):
        Level(ratio, proof).bound(ex.LDP(1), ex.Hamming(P))


def test_a_report_that_the_prior_rules_out_must_change_nothing_and_cost_nothing() -> None:
    goal, notion = Frequencies(["1/2", "0", "1/2"]), ex.LDP(1, "0.1")
    apart = ((), (0,), (-1, 0))  # nothing of the input that cannot occur
    assert Squares(apart, Dual((ONE, ZERO, ONE), Listed())).bound(notion, goal) > 0
    for z, alpha in ((((), (-1,), (-1, 0)), (ONE,) * 3), (apart, (ONE, -ONE, ONE))):
        with pytest.raises(Refused, match="prior rules out"):
            Squares(z, Dual(alpha, Listed())).bound(notion, goal)


def test_what_is_merged_and_counted_at_once_is_a_bound() -> None:
    goal = Frequencies(["0.1", "0.1", "0.2", "0.2", "0.4"], items=[4])
    best = ex.design(ex.LDP(1), goal).value
    merged = Squares(((),), Dual((), Listed()), (2,), (0, 0), (0, 0, 0, 0, 1))
    with pytest.raises(Refused, match="constant on each class"):
        merged.bound(ex.LDP(1), goal)
    apart = Squares(((), (-1,)), Dual((), Listed()), (0, 0), (0, 1), (0, 0, 0, 0, 1))
    assert 0 < apart.bound(ex.LDP(1), goal) <= best


@pytest.mark.parametrize("proof", [Dual((ZERO,) * 3, Listed(((0, 1), (0, 2)))), each(Listed(), (ZERO,) * 4)])
def test_sets_under_maximal_leakage_are_for_sums_without_a_tree(proof: Proof) -> None:
    goal = PAIR if isinstance(proof, Dual) else SHARES
    with pytest.raises(Refused, match="under maximal leakage sets are listed"):
        proof.bound(ex.MaximalLeakage(1), goal)
