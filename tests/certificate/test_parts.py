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
    Chords,
    Concave,
    Dual,
    Listed,
    OnePrior,
    Order,
    Proof,
    Refused,
    Sets,
    enclosure,
    proof_from_json,
)
from extremal.certificate.arithmetic import cones
from extremal.certificate.arithmetic.cones import Branches, Lifts, Staircase, cell_rays
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
from extremal.certificate.proofs.chords import _chord
from extremal.certificate.proofs.concave import PatternWorth
from extremal.certificate.proofs.sets import SCALE, _bounds, _floor
from extremal.certificate.reading import count_from, list_from, number_from, whole_from
from extremal.errors import MalformedFile
from extremal.problem import problem_of

P, WITH_ZERO = ["0.5", "0.3", "0.2"], ["0.6", "0", "0.4"]
P0, P1 = ["0.7", "0.2", "0.1"], ["0.2", "0.3", "0.5"]
ZERO = Fraction(0)
TRUTH = Dual((ZERO,) * 3, Chords())
TRIANGLE = ex.MetricPrivacy(1, [[0, 1, 2], [1, 0, 2], [2, 2, 0]])


def cone_of(notion: Any, k: int, tree: tuple[tuple[int, int], ...] = ()) -> Any:
    return cones.cone_of(problem_of(notion), k, tree)


def shares(*weights: int) -> list[str]:
    return [f"{w}/{sum(weights)}" for w in weights]


def even(k: int) -> list[str]:
    return shares(*[1] * k)


def test_what_is_too_large_to_list_is_refused() -> None:
    for k, notion in (
        (17, ex.LDP(1)),
        (15, ex.PML(1, even(15))),
        (9, ex.MetricPrivacy(1, [[float(x != z) for z in range(9)] for x in range(9)])),
    ):
        with pytest.raises(Refused, match="at most"):
            Dual((ZERO,) * k, Listed()).bound(notion, ex.KL(even(k), shares(*range(1, k + 1))))
    line = ex.MetricPrivacy(1, [[float(abs(x - z)) for z in range(17)] for x in range(17)])
    with pytest.raises(Refused, match="at most"):
        Dual((ZERO,) * 17, Listed(tuple((x, x + 1) for x in range(16)))).bound(
            line, ex.KL(even(17), shares(*range(1, 18)))
        )
    with pytest.raises(Refused, match="not too many"):
        Dual((ZERO,) * 3, Chords(tuple(map(Fraction, range(20_001))))).bound(ex.LDP(1), ex.KL(P0, P1))
    many = ex.KL(shares(*range(1, 2001)), even(2000))  # all ratios differ
    with pytest.raises(Refused, match="1500 cells"):
        Order(ZERO, tuple(Fraction(2 * i + 1, 2001) for i in range(1, 1600))).bound(ex.LDP(1), many)
    with pytest.raises(Refused, match="not too many"):
        Concave(ZERO, ((ZERO, ZERO),) * 400_000).bound(ex.LDP(1), ex.MutualInformation(P))


@pytest.mark.parametrize(
    ("proof", "notion", "utility"),
    [
        (TRUTH, ex.LDP(1), ex.KL(P0, P1)),
        (Dual((ZERO,) * 3, Listed()), ex.PML(1, even(4)), ex.KL(P0, P1)),
        (Dual((ZERO,) * 2, Listed()), ex.LDP(1), ex.KL(P0, P1)),
        (
            Dual((ZERO,) * 3, Listed(), (Fraction(1), Fraction(-1))),
            ex.LDP(1),
            ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)]),
        ),
        (
            Dual((ZERO,) * 3, Listed(), (Fraction(2), Fraction(-1))),
            ex.LDP(1),
            ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)]),
        ),
        (Dual((ZERO,) * 3, Listed((), True), (Fraction(1),) * 2), ex.LDP(1), ex.KL(P0, P1)),
        (Dual((ZERO,) * 3, Listed(), (ZERO, ZERO)), ex.LDP(1), ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)])),
        (Dual((ZERO,) * 3, Listed(((0, 1), (1, 2)))), ex.LDP(1), ex.KL(P0, P1)),
        (Dual((ZERO,) * 3, Chords((Fraction(1),))), ex.LDP(1), ex.Hamming(P)),
        (Dual((ZERO,) * 3, Chords((Fraction(1),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((ZERO,) * 3, Chords()), ex.LDP(1), ex.KL(P0, P1)),
        (Dual((ZERO,) * 3, Chords((Fraction(1),), ((1, 0, 1, Fraction(-1)),))), TRIANGLE, ex.KL(P0, P1)),
        (Dual((ZERO,) * 3, Chords((), ((0, 0, 1, Fraction(-1)),))), TRIANGLE, ex.Hamming(P)),
        (Dual((ZERO,) * 3, Chords((), ((3, 0, 1, Fraction(1)),))), TRIANGLE, ex.Hamming(P)),
        (Dual((ZERO,) * 3, Chords((), ((-1, 0, 1, Fraction(1)),))), TRIANGLE, ex.Hamming(P)),
        (Dual((ZERO,) * 3, Chords((), ((0, 0, 0, Fraction(1)),))), TRIANGLE, ex.Hamming(P)),
        (Dual((ZERO,) * 3, Chords((), ((0, 0, 3, Fraction(1)),))), TRIANGLE, ex.Hamming(P)),
        (Dual((ZERO,) * 3, Listed(), (), ((0, 1, Fraction(-1)),)), ex.LDP(1, delta=0.1), ex.KL(P0, P1)),
        (Dual((ZERO,) * 3, Listed(), (), ((1, 1, Fraction(1)),)), ex.LDP(1, delta=0.1), ex.KL(P0, P1)),
        (Dual((ZERO,) * 3, Listed(), (), ((1, 3, Fraction(1)),)), ex.LDP(1, delta=0.1), ex.KL(P0, P1)),
        (Dual((ZERO,) * 7, Listed()), ex.LDP(1, delta=0.1), ex.KL(even(7), shares(*range(1, 8)))),
        (Order(Fraction(-1), (Fraction(1),)), ex.LDP(1), ex.KL(P0, P1)),
        (Order(ZERO, (Fraction(1),)), ex.PML(1, P), ex.KL(P0, P1)),
        (Order(ZERO, (Fraction(1),)), ex.LDP(1), ex.MutualInformation(P)),
        (Concave(Fraction(-1)), ex.LDP(1), ex.MutualInformation(P)),
        (Concave(Fraction(1)), ex.PML(1, P), ex.MutualInformation(P)),
        (Concave(Fraction(1)), ex.LDP(1), ex.KL(P0, P1)),
        (Concave(Fraction(-1), ((ZERO, ZERO),)), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((), ((0,),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1, 2),), ((-2,),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(2),), ((0,),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1, 2),), ((0,), (0,)))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1, 2),), ((0, 0),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1, 2),), ((-1, 0),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1, 2),), ((-1, 0, 0, 0),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1, 2),), ((),))), ex.LDP(1), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((0,),) * 2)), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((0,),) * 4)), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((1,),) * 3)), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((-3,),) * 3)), ex.PML("0.5", P), ex.MutualInformation(P)),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((-2,),) * 3)), ex.PML("0.5", P), ex.MutualInformation(P)),
        (
            Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((0,),) * 3)),
            ex.PML("0.5", ["0.5", "0.25", "0.25"]),
            ex.MutualInformation(P),
        ),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((0,),) * 3)), ex.LIP(0, P), ex.MutualInformation(P)),
        (
            Dual((Fraction(9), Fraction(-1), Fraction(9)), Sets((Fraction(1),), ((0,),))),
            ex.LDP(1),
            ex.MutualInformation(WITH_ZERO),
        ),
        (
            Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((0,),))),
            ex.MetricPrivacy(1, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
            ex.MutualInformation(P),
        ),
        (Dual((Fraction(9),) * 3, Sets((Fraction(1),), ((0,),))), ex.LDP(1), ex.KL(P0, P1)),
        (Dual((Fraction(9),) * 2, Sets((Fraction(1),), ((0,),))), ex.LDP(1), ex.MutualInformation(P)),
        (OnePrior((), (Fraction(1),), TRUTH), ex.LDP(1), ex.Hamming(ex.SourceClass.ball(P, "0.1"))),
        (OnePrior((), (Fraction(1),), TRUTH), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
        (OnePrior((), (Fraction(2), Fraction(-1)), TRUTH), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
        (OnePrior((), (ZERO, ZERO), TRUTH), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
        (OnePrior((Fraction(1), Fraction(1)), (), TRUTH), ex.LDP(1), ex.Hamming(ex.SourceClass.simplex(3))),
        (Dual((ZERO,) * 3, Chords()), ex.LDP(1), ex.Hamming(ex.SourceClass([P0, P1]))),
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
    rule = pair_rule(problem_of(ex.KL(P0, P1)))
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
    third, unit = fmpq(1, 3), fmpq(1, 1 << SCALE)
    assert _floor(third) * unit < third < (_floor(third) + 1) * unit
    assert _floor(-third) * unit < -third < (_floor(-third) + 1) * unit
    low, high = _bounds(arb(1) / 3)
    assert low * unit < third < high * unit
    with pytest.raises(Refused):
        _bounds(arb.nan())


def test_a_search_that_misses_by_less_than_a_unit_is_refused() -> None:
    """Four equal inputs, e^ε = 2: two of them must cost K = (1 + (2·ln 2 − 2)/2)/2 at least, and cost a little less."""
    with decimal.localcontext(prec=120):
        needed = Fraction(Decimal(2).ln() / 2)
    unit, prior = Fraction(1, 1 << SCALE), [Fraction(1, 4)] * 4
    source = {"kind": "list", "priors": [["0.25", "0.25", "0.25", "0.25"]]}
    notion, utility = ex.PML.from_json({"notion": "PML", "ratio": "2", "source": source}), ex.MutualInformation(prior)
    tree, zero = ((-1, 0, 0, 0, 0),), (ZERO,)
    below = needed / 2 // unit * unit
    enough = Dual((below + unit * (1 << 20),) * 4, Sets(zero, tree))
    assert enough.bound(notion, utility) == 4 * (below + unit * (1 << 20))
    for more in (Fraction(0), unit / 1000):
        assert below + more < needed / 2
        with pytest.raises(Refused, match="not closed"):
            Dual((below + more,) * 4, Sets(zero, tree)).bound(notion, utility)


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
            Dual((ZERO,) * 3, Listed(tree)).bound(notion, ex.KL(P0, P1))


def test_a_tangent_anywhere_proves_no_more_than_the_best_one(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = Concave(Fraction(1, 50), ((Fraction(1, 100), Fraction(1, 5)), (Fraction(-1, 20), Fraction(1, 2))))
    notion, utility = ex.LDP.from_ratio("7/2"), ex.MutualInformation(shares(5, 3, 2, 2, 1))
    best = proof.bound(notion, utility)
    for place in (fmpq(0), fmpq(3, 10), fmpq(7, 10), fmpq(1)):
        monkeypatch.setattr(PatternWorth, "where", lambda _self, _slope, place=place: place)
        assert proof.bound(notion, utility) >= best - Fraction(1, 10**40)


def test_a_tree_grows_from_its_root() -> None:
    """A parent that is placed later would leave its own place to chance."""
    line = ex.MetricPrivacy("0.8", [[abs(x - z) for z in range(4)] for x in range(4)])
    utility = ex.KL(shares(4, 3, 2, 1), even(4))
    assert Dual((ZERO,) * 4, Listed(((0, 1), (1, 2), (2, 3)))).bound(line, utility) > 0
    with pytest.raises(Refused, match="edges"):
        Dual((ZERO,) * 4, Listed(((0, 1), (3, 2), (1, 3)))).bound(line, utility)


@pytest.mark.parametrize(("k", "count"), [(2, 4), (3, 21), (4, 138), (5, 1055)])
def test_coupled_rays_have_levels_without_a_gap(k: int, count: int) -> None:
    found = list(cell_rays(k, fmpq(3, 2)))
    assert len(found) == len(set(found)) == count
    for ray in found:
        used = sorted(set(ray) - {0})
        assert all(2 * b == 3 * a for a, b in itertools.pairwise(used))
        assert len(used) > 1 or sum(map(bool, ray)) == 1


def revealed(alpha: tuple[Fraction, ...], mix: tuple[Fraction, ...] = ()) -> Dual:
    return Dual(alpha, Listed((), True), mix)


def test_revealed_inputs_are_worth_what_their_unit_vectors_are() -> None:
    first, second = (tuple(abs(Fraction(a) - Fraction(b)) / 2 for a, b in zip(P0, q, strict=True)) for q in (P1, P))
    both = tuple((a + b) / 2 for a, b in zip(first, second, strict=True))
    apart = [ex.TotalVariation(P0, P1), ex.TotalVariation(P0, P), ex.KL(P0, P1)]
    worst = ex.WorstCase(apart[:2])
    for notion in (ex.LDP(1), ex.LDP(1, delta=0.1), ex.PML(1, P)):
        for proof, utility, exact in (
            (revealed(first), apart[0], Fraction(1, 2)),
            (revealed(second), apart[1], Fraction(1, 5)),
            (revealed(both), ex.Average(apart[:2]), Fraction(7, 20)),
            (revealed(second, (ZERO, Fraction(3))), worst, Fraction(1, 5)),
            (revealed(both, (Fraction(1), Fraction(1))), worst, Fraction(7, 20)),
        ):
            assert exact <= proof.bound(notion, utility) <= exact * (1 + Fraction(1, 10**40))
    told = [float(a) * math.log(float(a) / float(b)) for a, b in zip(P0, P1, strict=True)]
    bound = revealed(tuple(Fraction(repr(t + float(b) - float(a))) for t, a, b in zip(told, P0, P1, strict=True)))
    assert bound.bound(ex.LDP(1), apart[2]) == pytest.approx(sum(told), rel=1e-14)
    assert bound.bound(ex.LDP(1), apart[2]) >= enclosure(apart[2], ex.Mechanism.from_matrix(np.eye(3)))[0]
    assert revealed((ZERO,) * 2).bound(ex.LDP(1), ex.KL([1, 0], [0, 1])) == math.inf
    with pytest.raises(Refused, match="5000"):
        revealed((ZERO,) * 5001).bound(ex.LDP(1), ex.TotalVariation(even(5001), even(5001)))
    with pytest.raises(Refused, match="no tree"):
        Dual((ZERO,) * 3, Listed(((0, 1), (1, 2)), True)).bound(TRIANGLE, apart[0])


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
    assert number_from("-0.0015") == Fraction(-3, 2000)
    assert number_from("9" * 400) == 10**400 - 1
    for bad in ("-1.5e-3", "1.50", "-0", "1_0", " 1", "1/3", "9" * 401, "\u0661", ".5", "01", "inf", 1, None):
        with pytest.raises(MalformedFile, match="a decimal as it is written"):
            number_from(bad)
    assert whole_from(-3) == -3
    for whole in (1 << 53, -(1 << 53)):
        assert whole_from(str(whole)) == whole
    for bad in (
        str((1 << 53) - 1),
        str(1 - (1 << 53)),
        "12",
        "0" + "9" * 20,
        "\u0661" * 20,
        "9_" * 20,
        "-" + "9" * 4000,
        "1.5",
    ):
        with pytest.raises(MalformedFile):
            whole_from(bad)
    assert count_from(-2) == -2
    for bad in (True, "0", 0.5, None):
        with pytest.raises(MalformedFile):
            count_from(bad)
    for bad in ("12", (1, 2), None, {"a": 1}):
        with pytest.raises(MalformedFile):
            list_from(bad)
    with pytest.raises(MalformedFile):
        proof_from_json({**Dual((ZERO,), Listed()).to_json(), "alpha": "123"})


def test_a_proof_has_its_fields_and_no_others() -> None:
    whole: dict[str, Any] = {"kind": "concave", "value": "1", "lines": []}
    assert proof_from_json(whole) == Concave(Fraction(1))
    for bad in (
        {**whole, "more": "1"},
        {"kind": "concave"},
        {**whole, "kind": ["dual"]},
        {**whole, "kind": "x"},
    ):
        with pytest.raises(MalformedFile):
            proof_from_json(bad)
    deep: Any = whole
    for _ in range(4):
        deep = {"kind": "one prior", "prior": ["1"], "mix": [], "proof": deep}
    with pytest.raises(MalformedFile):
        proof_from_json(deep)
