"""The parts of the kernel, one by one: what lists, rounds, reads and refuses."""

from __future__ import annotations

import decimal
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import extremal as ex
from extremal.certificate import (
    Coupled,
    Lines,
    OnePrior,
    Partition,
    Proof,
    Rays,
    Refused,
    Revealed,
    Search,
    Sizes,
    Subadditive,
    Truth,
    enclosure,
    proof_from_json,
)
from extremal.certificate.arithmetic.cones import Branches, Lifts, Staircase, cone_of
from extremal.certificate.arithmetic.enclosures import (
    above,
    exp_above,
    fraction,
    largest,
    lower,
    narrow,
    pair_rule,
    pair_value,
    upper,
)
from extremal.certificate.kinds.coupled import _levels
from extremal.certificate.kinds.dual import _chord
from extremal.certificate.kinds.information import Curve
from extremal.certificate.kinds.search import SCALE, _bounds, _floor
from extremal.certificate.numbers import count_from, list_from, number_from
from extremal.errors import MalformedFile
from support.proofs.second_checker import disagreement

P, WITH_ZERO = ["0.5", "0.3", "0.2"], ["0.6", "0", "0.4"]
P0, P1 = ["0.7", "0.2", "0.1"], ["0.2", "0.3", "0.5"]
ZERO = Fraction(0)
TRIANGLE = ex.MetricPrivacy(1, [[0, 1, 2], [1, 0, 2], [2, 2, 0]])


def shares(*weights: int) -> list[str]:
    return [f"{w}/{sum(weights)}" for w in weights]


def even(k: int) -> list[str]:
    return shares(*[1] * k)


@pytest.mark.parametrize(
    ("notion", "utility"),
    [
        (
            ex.MetricPrivacy("0.7", [[0, 1, 2, 4], [1, 0, 2, 3], [2, 2, 0, 3], [4, 3, 3, 0]]),
            ex.MutualInformation(even(4)),
        ),
        (
            ex.MetricPrivacy("0.7", [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]),
            ex.KL(shares(4, 3, 2, 1), even(4)),
        ),
        (ex.PML("0.3", ex.SourceClass([shares(4, 3, 2, 1), shares(1, 1, 1, 3)])), ex.MutualInformation(even(4))),
        (
            ex.PML("0.3", ex.SourceClass([shares(4, 3, 2, 0), shares(1, 1, 2, 0)])),
            ex.KL(shares(4, 3, 2, 1), even(4)),
        ),
    ],
    ids=repr,
)
def test_four_inputs_have_the_rays_that_solving_for_all_tight_inequalities_finds(notion: Any, utility: Any) -> None:
    for alpha in itertools.islice(itertools.product((Fraction(1, 50), Fraction(-11, 100)), repeat=4), 0, None, 3):
        assert disagreement(Rays(alpha), notion, utility) == ""


def test_what_is_too_large_to_list_is_refused() -> None:
    for k, notion in (
        (17, ex.LDP(1)),
        (15, ex.PML(1, even(15))),
        (9, ex.MetricPrivacy(1, [[float(x != z) for z in range(9)] for x in range(9)])),
    ):
        with pytest.raises(Refused, match="at most"):
            Rays((ZERO,) * k).bound(notion, ex.KL(even(k), shares(*range(1, k + 1))))
    line = ex.MetricPrivacy(1, [[float(abs(x - z)) for z in range(17)] for x in range(17)])
    with pytest.raises(Refused, match="at most"):
        Rays((ZERO,) * 17, (), tuple((x, x + 1) for x in range(16))).bound(line, ex.KL(even(17), shares(*range(1, 18))))
    with pytest.raises(Refused, match="not too many"):
        Lines((ZERO,) * 3, tuple(map(Fraction, range(20_001)))).bound(ex.LDP(1), ex.KL(P0, P1))
    with pytest.raises(Refused, match="1500 cells"):
        Partition(ZERO, ((0, 0),) * 1501).bound(ex.LDP(1), ex.KL(P0, P1))
    with pytest.raises(Refused, match="1500 cells"):
        Partition(ZERO, ()).bound(ex.LDP(1), ex.KL(P0, P1))
    with pytest.raises(Refused, match="symbols that exist"):
        Partition(ZERO, ((0, -1),)).bound(ex.LDP(1), ex.KL(P0, P1))
    with pytest.raises(Refused, match="not too many"):
        Sizes(ZERO, ((ZERO, ZERO),) * 400_000).bound(ex.LDP(1), ex.MutualInformation(P))


@pytest.mark.parametrize(
    ("proof", "notion", "utility"),
    [
        (Rays((ZERO,) * 3), ex.LDP(1, delta=0.1), ex.KL(P0, P1)),
        (Truth(), ex.LDP(1, delta=0.1), ex.Hamming(P)),
        (Truth(), ex.PML(1, P), ex.Hamming(P)),
        (Truth(), ex.LDP(1), ex.KL(P0, P1)),
        (Rays((ZERO,) * 3), ex.PML(1, even(4)), ex.KL(P0, P1)),
        (Rays((ZERO,) * 2), ex.LDP(1), ex.KL(P0, P1)),
        (Rays((ZERO,) * 3, (Fraction(1), Fraction(-1))), ex.LDP(1), ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)])),
        (Rays((ZERO,) * 3, (Fraction(2), Fraction(-1))), ex.LDP(1), ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)])),
        (Revealed((Fraction(2), Fraction(-1))), ex.LDP(1), ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)])),
        (Revealed((Fraction(1),) * 2), ex.LDP(1), ex.KL(P0, P1)),
        (Rays((ZERO,) * 3, (ZERO, ZERO)), ex.LDP(1), ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)])),
        (Rays((ZERO,) * 3, (), ((0, 1), (1, 2))), ex.LDP(1), ex.KL(P0, P1)),
        (Lines((ZERO,) * 3, (Fraction(1),)), ex.LDP(1), ex.Hamming(P)),
        (Lines((ZERO,) * 3, (Fraction(1),)), ex.LDP(1), ex.MutualInformation(P)),
        (Lines((ZERO,) * 3), ex.LDP(1), ex.KL(P0, P1)),
        (Lines((ZERO,) * 3, (Fraction(1),), ((1, 0, 1, Fraction(-1)),)), TRIANGLE, ex.KL(P0, P1)),
        (Lines((ZERO,) * 3, (), ((0, 0, 1, Fraction(-1)),)), TRIANGLE, ex.Hamming(P)),
        (Lines((ZERO,) * 3, (), ((3, 0, 1, Fraction(1)),)), TRIANGLE, ex.Hamming(P)),
        (Lines((ZERO,) * 3, (), ((-1, 0, 1, Fraction(1)),)), TRIANGLE, ex.Hamming(P)),
        (Lines((ZERO,) * 3, (), ((0, 0, 0, Fraction(1)),)), TRIANGLE, ex.Hamming(P)),
        (Lines((ZERO,) * 3, (), ((0, 0, 3, Fraction(1)),)), TRIANGLE, ex.Hamming(P)),
        (Coupled((ZERO,) * 3, ((0, 0, 1, Fraction(-1)),)), ex.LDP(1, delta=0.1), ex.KL(P0, P1)),
        (Coupled((ZERO,) * 3, ((0, 1, 1, Fraction(1)),)), ex.LDP(1, delta=0.1), ex.KL(P0, P1)),
        (Coupled((ZERO,) * 3, ((0, 1, 3, Fraction(1)),)), ex.LDP(1, delta=0.1), ex.KL(P0, P1)),
        (Coupled((ZERO,) * 3), ex.PML(1, P), ex.KL(P0, P1)),
        (Coupled((ZERO,) * 7), ex.LDP(1, delta=0.1), ex.KL(even(7), shares(*range(1, 8)))),
        (Partition(Fraction(-1), ((2, 0),)), ex.LDP(1), ex.KL(P0, P1)),
        (Partition(ZERO, ((2, 0),)), ex.PML(1, P), ex.KL(P0, P1)),
        (Partition(ZERO, ((2, 0),)), ex.LDP(1), ex.MutualInformation(P)),
        (Subadditive(Fraction(-1)), ex.LDP(1), ex.MutualInformation(P)),
        (Subadditive(Fraction(1)), ex.PML(1, P), ex.MutualInformation(P)),
        (Subadditive(Fraction(1)), ex.LDP(1), ex.KL(P0, P1)),
        (Sizes(Fraction(-1), ((ZERO, ZERO),)), ex.LDP(1), ex.MutualInformation(P)),
        (Sizes(ZERO, ()), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (), ((0,),)), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1, 2),), ((-2,),)), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(2),), ((0,),)), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1, 2),), ((0,), (0,))), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1, 2),), ((0, 0),)), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1, 2),), ((-1, 0),)), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1, 2),), ((-1, 0, 0, 0),)), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1, 2),), ((),)), ex.LDP(1), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1),), ((0,),) * 2), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1),), ((0,),) * 4), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1),), ((1,),) * 3), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1),), ((-3,),) * 3), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Search((Fraction(9),) * 3, (Fraction(1),), ((-2,),) * 3), ex.PML("0.5", P), ex.MutualInformation(P)),
        (
            Search((Fraction(9),) * 3, (Fraction(1),), ((0,),) * 3),
            ex.PML("0.5", ["0.5", "0.25", "0.25"]),
            ex.MutualInformation(P),
        ),
        (Search((Fraction(9),) * 3, (Fraction(1),), ((0,),) * 3), ex.LIP(0, P), ex.MutualInformation(P)),
        (
            Search((Fraction(9), Fraction(-1), Fraction(9)), (Fraction(1),), ((0,),)),
            ex.LDP(1),
            ex.MutualInformation(WITH_ZERO),
        ),
        (
            Search((Fraction(9),) * 3, (Fraction(1),), ((0,),)),
            ex.MetricPrivacy(1, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
            ex.MutualInformation(P),
        ),
        (Search((Fraction(9),) * 3, (Fraction(1),), ((0,),)), ex.LDP(1), ex.KL(P0, P1)),
        (Search((Fraction(9),) * 2, (Fraction(1),), ((0,),)), ex.LDP(1), ex.MutualInformation(P)),
        (OnePrior((), (Fraction(1),), Truth()), ex.LDP(1), ex.Hamming(ex.SourceClass.ball(P, "0.1"))),
        (OnePrior((), (Fraction(1),), Truth()), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
        (OnePrior((), (Fraction(2), Fraction(-1)), Truth()), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
        (OnePrior((), (ZERO, ZERO), Truth()), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
        (OnePrior((Fraction(1), Fraction(1)), (), Truth()), ex.LDP(1), ex.Hamming(ex.SourceClass.simplex(3))),
        (Lines((ZERO,) * 3), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
    ],
    ids=lambda value: value.kind if isinstance(value, Proof) else getattr(value, "name", ""),
)
def test_a_precondition_that_fails_is_refused(proof: Proof, notion: Any, utility: Any) -> None:
    with pytest.raises(Refused):
        proof.bound(notion, utility)


def test_the_largest_of_balls_is_above_all_and_never_hides_what_is_no_number() -> None:
    assert largest([arb(1), arb(3), arb(2)]) == 3
    assert largest([arb(3), arb.nan(), arb(2)]) == arb.pos_inf()
    assert largest([arb.nan()]) == arb.pos_inf()
    wide = arb(1, 1)
    assert fraction(above(largest([wide]))) >= 2


def test_rationals_above_and_below_a_ball() -> None:
    with ctx.workprec(64):
        third = arb(1) / 3
        assert upper(third) > Fraction(1, 3) > lower(third)
        assert upper(arb.pos_inf()) == float("inf") == -lower(arb.neg_inf())
    with decimal.localcontext(prec=100):
        e = Fraction(Decimal(1).exp())
    assert 0 < fraction(exp_above(Fraction(1))) - e < Fraction(1, 10**55)


def test_values_of_hypotheses_that_nearly_agree_are_narrow() -> None:
    rule = pair_rule(ex.KL(P0, P1))
    x = pair_value(rule, fmpq(10**30 + 1, 10**30), fmpq(1))
    assert x.rel_accuracy_bits() >= 96
    with ctx.workprec(256):
        assert abs(Fraction(upper(x)) * 10**60 - Fraction(1, 2)) < Fraction(1, 10**25)  # type: ignore[arg-type]
    assert narrow(lambda: arb(2).sqrt()).rel_accuracy_bits() >= 96


def test_a_chord_is_at_or_above_both_ends() -> None:
    for f, g in ((fmpq(1, 3), fmpq(1, 7)), (fmpq(2, 7), fmpq(5, 11)), (fmpq(0), fmpq(1, 9))):
        for a, b in ((fmpq(1, 3), fmpq(4, 7)), (fmpq(0), fmpq(1, 11))):
            with ctx.workprec(64):
                slope, start = _chord((a, f), (b, g))  # type: ignore[misc]
            assert 0 <= slope * a + start - f < fmpq(1, 10**15)
            assert 0 <= slope * b + start - g < fmpq(1, 10**15)
    assert _chord((fmpq(0), None), (fmpq(1), fmpq(1))) is None


def test_units_of_a_search_are_rounded_down() -> None:
    third, unit = Fraction(1, 3), Fraction(1, 1 << SCALE)
    assert _floor(third) * unit < third < (_floor(third) + 1) * unit
    assert _floor(-third) * unit < -third < (_floor(-third) + 1) * unit
    assert _floor(fmpq(1, 3)) == _floor(third)
    low, high = _bounds(arb(1) / 3)
    assert low * unit < third < high * unit
    with pytest.raises(Refused):
        _bounds(arb.nan())


def test_a_search_that_misses_by_less_than_a_unit_is_refused() -> None:
    """Four equal inputs, e^ε = 2: two of them must cost K = (1 + (2·ln 2 − 2)/2)/2 at least, and cost a little less."""
    with decimal.localcontext(prec=120):
        needed = Fraction(Decimal(2).ln() / 2)
    unit, prior = Fraction(1, 1 << SCALE), [Fraction(1, 4)] * 4
    source = {"kind": "list", "priors": [["1", "1", "1", "1"]]}
    notion, utility = ex.PML.from_json({"notion": "PML", "ratio": "2", "source": source}), ex.MutualInformation(prior)
    tree, zero = ((-1, 0, 0, 0, 0),), (ZERO,)
    below = needed / 2 // unit * unit
    enough = Search((below + unit * (1 << 20),) * 4, zero, tree)
    assert enough.bound(notion, utility) == 4 * (below + unit * (1 << 20))
    for more in (Fraction(0), unit / 1000):
        assert below + more < needed / 2
        with pytest.raises(Refused, match="not closed"):
            Search((below + more,) * 4, zero, tree).bound(notion, utility)


def test_a_tree_is_rounded_up() -> None:
    notion = ex.MetricPrivacy("0.8", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    cone = cone_of(notion, 3, ((0, 1), (1, 2)))
    assert isinstance(cone, Branches)
    factor = fraction(cone.edges[0][2])
    with ctx.workprec(53):
        for g, exact in (
            ([1, 1, 1], 1 + factor * (1 + factor)),
            ([1, 1, -1], 1 + factor * (1 - 1 / factor)),
            ([1, -1, -1], 1 - (1 + 1 / factor) / factor),
        ):
            found = fraction(cone.excess([(g, 1)], ()))
            assert exact <= found <= exact + Fraction(1, 10**12)


def test_a_tree_must_be_one() -> None:
    notion = ex.MetricPrivacy("0.8", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    for tree in (
        ((0, 1),),
        ((0, 1), (0, 1)),
        ((0, 1), (1, 2), (0, 2)),
        ((0, 1), (2, 1)),
        ((0, 1), (1, 0)),
        ((1, 2), (0, 1)),
        ((0, 1), (1, 3)),
    ):
        with pytest.raises(Refused, match="tree|edges"):
            Rays((ZERO,) * 3, (), tree).bound(notion, ex.KL(P0, P1))


def test_a_tangent_anywhere_proves_no_more_than_the_best_one(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = Sizes(Fraction(1, 50), ((Fraction(1, 100), Fraction(1, 5)), (Fraction(-1, 20), Fraction(1, 2))))
    notion, utility = ex.LDP.from_ratio("7/2"), ex.MutualInformation(shares(5, 3, 2, 2, 1))
    best = proof.bound(notion, utility)
    for place in (fmpq(0), fmpq(3, 10), fmpq(7, 10), fmpq(1)):
        monkeypatch.setattr(Curve, "where", lambda _self, _slope, place=place: place)
        assert proof.bound(notion, utility) >= best - Fraction(1, 10**40)


def test_a_tree_grows_from_its_root() -> None:
    """A parent that is placed later would leave its own place to chance."""
    line = ex.MetricPrivacy("0.8", [[abs(x - z) for z in range(4)] for x in range(4)])
    utility = ex.KL(shares(4, 3, 2, 1), even(4))
    assert Rays((ZERO,) * 4, (), ((0, 1), (1, 2), (2, 3))).bound(line, utility) > 0
    with pytest.raises(Refused, match="edges"):
        Rays((ZERO,) * 4, (), ((0, 1), (3, 2), (1, 3))).bound(line, utility)


@pytest.mark.parametrize(("k", "count"), [(2, 4), (3, 21), (4, 138), (5, 1055)])
def test_coupled_rays_have_levels_without_a_gap(k: int, count: int) -> None:
    found = list(_levels(k))
    assert len(found) == len(set(found)) == count
    for level in found:
        used = sorted(set(level) - {0})
        assert used == list(range(1, len(used) + 1))
        assert len(used) > 1 or level.count(1) == 1


def test_revealed_inputs_are_worth_what_their_unit_vectors_are() -> None:
    apart = [ex.TotalVariation(P0, P1), ex.TotalVariation(P0, P), ex.KL(P0, P1)]
    for notion in (ex.LDP(1), ex.LDP(1, delta=0.1), ex.PML(1, P)):
        worst = ex.WorstCase(apart[:2])
        for mix, utility, exact in (
            ((), apart[0], Fraction(1, 2)),
            ((), apart[1], Fraction(1, 5)),
            ((), ex.Average(apart[:2]), Fraction(7, 20)),
            ((ZERO, Fraction(3)), worst, Fraction(1, 5)),
            ((Fraction(1), Fraction(3)), worst, Fraction(11, 40)),
        ):
            assert exact <= Revealed(mix).bound(notion, utility) <= exact * (1 + Fraction(1, 10**40))
    told = sum(float(a) * math.log(float(a) / float(b)) for a, b in zip(P0, P1, strict=True))
    bound = Revealed().bound(ex.LDP(1), apart[2])
    assert bound == pytest.approx(told, rel=1e-14)
    assert bound >= enclosure(apart[2], ex.Mechanism.from_matrix(np.eye(3)))[0]
    entropy = -sum(float(p) * math.log(float(p)) for p in P)
    assert Revealed().bound(ex.LDP(1), ex.MutualInformation(P)) == pytest.approx(entropy, rel=1e-14)
    assert Revealed().bound(ex.LDP(1), ex.KL([1, 0], [0, 1])) == math.inf
    with pytest.raises(Refused, match="5000"):
        Revealed().bound(ex.LDP(1), ex.TotalVariation(even(5001), even(5001)))


def test_distances_are_symmetric_beyond_doubles() -> None:
    """An edge of a tree stands for both directions."""
    near, far = Fraction(1), 1 + Fraction(1, 10**40)
    with pytest.raises(ex.errors.InvalidParameter, match="symmetric"):
        ex.MetricPrivacy(1, np.array([[0, near], [far, 0]], dtype=object))


def test_a_lift_on_an_end_is_listed() -> None:
    """p·q = 1 leaves the last entry exactly at an end: at most once lost would be a missing ray."""
    for privacy in (ex.PML(0, even(2)), ex.LIP(0, shares(1, 2))):
        cone = cone_of(privacy, 2)
        assert isinstance(cone, Lifts)
        assert list(cone.rays())
        assert all(r[0] == r[1] for r in cone.rays())
    half = Lifts(ex.PML(1, even(2)).source.single, fmpq(0), fmpq(2))  # type: ignore[arg-type]
    assert {tuple(v // max(r) for v in r) for r in half.rays()} == {(0, 1), (1, 0)}
    assert Staircase(1, fmpq(3)).rays().__next__() == (1,)


@pytest.mark.parametrize(
    "bad", ["nan", "inf", "1/3", "much", "", "1e401", "1e-401", "0." + "1" * 400, 1, 0.5, None, True, ["1"], b"1"]
)
def test_what_is_no_decimal_is_malformed(bad: Any) -> None:
    with pytest.raises(MalformedFile):
        number_from(bad)


def test_numbers_indices_and_lists() -> None:
    assert number_from("-1.5e-3") == Fraction(-3, 2000)
    assert number_from("1e400") == 10**400
    assert number_from("0e999") == 0
    assert count_from(-2) == -2
    for bad in (True, "0", 0.5, None):
        with pytest.raises(MalformedFile):
            count_from(bad)
    for bad in ("12", (1, 2), None, {"a": 1}):
        with pytest.raises(MalformedFile):
            list_from(bad)
    with pytest.raises(MalformedFile):
        proof_from_json({"kind": "rays", "alpha": "123", "mix": [], "tree": []})


def test_a_proof_has_its_fields_and_no_others() -> None:
    whole: dict[str, Any] = {"kind": "subadditive prices", "contact": "1"}
    assert proof_from_json(whole) == Subadditive(Fraction(1))
    for bad in (
        {**whole, "more": "1"},
        {"kind": "subadditive prices"},
        {**whole, "kind": ["rays"]},
        {**whole, "kind": "x"},
    ):
        with pytest.raises(MalformedFile):
            proof_from_json(bad)
    deep: Any = whole
    for _ in range(3):
        deep = {"kind": "one prior", "prior": ["1"], "mix": [], "proof": deep}
    with pytest.raises(MalformedFile):
        proof_from_json(deep)
