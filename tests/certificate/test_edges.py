"""Single steps of the kernel at their edges: a unit, a sign or a check that is missing shows here."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import extremal as ex
from extremal.certificate import (
    Chords,
    ChosenPrior,
    Dual,
    Listed,
    Matrix,
    NotKnown,
    Order,
    Refused,
    Sets,
    Squares,
    Truncated,
)
from extremal.certificate import enclosure as enclosed
from extremal.certificate.arithmetic import cones, workload_cost
from extremal.certificate.arithmetic.cones import Lifts, Staircase, Vector
from extremal.certificate.arithmetic.enclosures import above, fraction, is_infinite, pair_rule, ratio_above
from extremal.certificate.arithmetic.whole import folded, from_triangle, largest_quotient, multiplied
from extremal.certificate.arithmetic.workload_cost import ExactColumns, _by_counts
from extremal.certificate.certificate import load_certificate, nearest_double
from extremal.certificate.proofs import dual, matrix, sets
from extremal.certificate.proofs.dual import SquareWorth
from extremal.certificate.proofs.order import _longest_path
from extremal.certificate.proofs.sets import SCALE, _bounds, _LiftTrees, _PatternTree
from extremal.certificate.proofs.squares import ExactProblem
from extremal.errors import MalformedFile
from extremal.exact import Column, IndexSet, Prior
from extremal.problem import problem_of
from extremal.utility import CDF, Mean
from support.checkers import with_hash

ONE = Fraction(1)


def cone_of(notion: Any, k: int) -> Any:
    return cones.cone_of(problem_of(notion), k)


UNIT = Fraction(1, 1 << SCALE)


# -- classes of priors --


def test_a_set_whose_least_share_is_the_level_itself_is_a_ray() -> None:
    """Three of four inputs have at least 3/4 − 1/4 = 1/2 = 1/E; two have 1/4, and no ray of their own."""
    quarter = ex.SourceClass.ball(["1/4"] * 4, "1/4")
    notion = ex.PML.from_json({"notion": "PML", "ratio": "2", "source": quarter.to_json()})
    rays = set(cone_of(notion, 4).rays())
    assert (1, 1, 1, 0) in {tuple(v // max(ray) for v in ray) for ray in rays if len(set(ray) - {0}) == 1}
    assert not any(sum(map(bool, ray)) < 3 for ray in rays)
    with pytest.raises(Refused, match="nested sets are listed for at most 10 inputs"):
        list(cone_of(ex.PML(1, ex.SourceClass.ball(["1/11"] * 11, "0.1")), 11).rays())


@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "1", "2.5"])
def test_the_ratio_of_a_class_is_rounded_up(epsilon: str) -> None:
    notion = ex.PML(epsilon, ex.SourceClass.ball([0.5, 0.3, 0.2], "0.1"))
    low, high = notion.exponential.bounds(200)
    top = cone_of(notion, 3).top * (1 << 200)
    assert low < top < high + (1 << 137)


# -- whole numbers --


def test_a_triangle_has_all_of_its_rows() -> None:
    assert from_triangle(((1,), (2, 3)), 2, 1, "z").tolist() == [[1, 2], [2, 3]]
    assert from_triangle(((), (5,), (6, 7)), 3, 0, "z").tolist() == [[0, 5, 6], [5, 0, 7], [6, 7, 0]]
    for rows, size in ((((1,),), 2), (((1,), (2, 3)), 1), (((1,), (2,)), 2), (((1, 2), (2, 3)), 2)):
        with pytest.raises(Refused, match="z must be a lower triangle"):
            from_triangle(rows, size, 1, "z")


def test_matrices_are_multiplied_and_folded_exactly() -> None:
    x, s = np.array([[1, 2], [3, 4], [0, 10**30]], dtype=object), np.array([[5, 1], [1, 7]], dtype=object)
    assert (multiplied(x, s, x.T) == x @ s @ x.T).all()
    square = np.arange(16).reshape(4, 4).astype(object)
    assert folded(square, np.array([1, 0, 1, 1]), 2).tolist() == [[5, 4 + 6 + 7], [1 + 9 + 13, 75]]


def test_the_largest_quotient_is_found_wherever_it_stands() -> None:
    quotients = [(1, 3), (-5, 1), (2, 5), (10**40, 3 * 10**40 - 1)]
    for order in itertools.permutations(quotients):
        assert largest_quotient(order) == Fraction(2, 5)
    assert largest_quotient([(-7, 2), (-3, 1)]) == -3


# -- cones --


def test_what_inequalities_take_off_a_coupling_gives_back() -> None:
    cone = cone_of(ex.LDP.from_ratio("3", "0.1"), 3)
    assert cone.excess([Vector([-5, 1, 0], 1)], ()) == 1
    vectors = [Vector([2, 0, 0], 1), Vector([1, 0, 0], 1)]
    for order in ([0, 1], [1, 0]):
        taken = [((0, 0, 1, 2 * ONE), (1, 0, 1, ONE))[i] for i in order]
        assert fraction(cone.excess(vectors, taken)) == 6 + Fraction(2, 10)
    twice = [(0, 0, 1, ONE), (0, 0, 1, ONE), (1, 0, 1, ONE)]
    assert fraction(cone.excess(vectors, twice)) == 6 + Fraction(2, 10)
    assert not cone.refutes(Vector([1, -4, 0], 1), [(0, 0, 1, ONE)])
    assert cone.refutes(Vector([0, -4, 0], 1), ())
    metric = cone_of(ex.MetricPrivacy(1, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]), 3)
    assert metric.refutes(Vector([1, -4, 0], 1), [(0, 0, 1, ONE)])
    assert metric.excess([Vector([-5, 1, 0], 1)], ()) == 1


@pytest.mark.parametrize("priors", [[["1/2", "1/2", "0"]], [["1/2", "1/2", "0"], ["1/4", "3/4", "0"]]])
def test_an_input_that_cannot_occur_is_bound_by_nothing(priors: Any) -> None:
    """A mechanism may reveal it: total variation 1. A cone without its unit vector would prove 3/4."""
    notion = ex.PML(1, ex.SourceClass(priors) if len(priors) > 1 else priors[0])
    utility = ex.TotalVariation([0, 0, 1], ["1/2", "1/2", 0])
    cone = cone_of(notion, 3)
    assert (0, 0, 1) in list(cone.rays())
    assert Dual((0 * ONE,) * 3, Listed()).bound(notion, utility) == Fraction(3, 2)
    assert not cone.refutes(Vector([0, 0, 1], 1), ())
    if len(priors) > 1:
        with pytest.raises(Refused, match="inequality that exist"):
            cone.refutes(Vector([0, 0, 1], 1), [(0, 2, 0, ONE)])


def test_an_inequality_too_far_to_matter_is_none() -> None:
    notion = ex.MetricPrivacy(1, [[0, 1, 2049], [1, 0, 2048], [2049, 2048, 0]])
    cone = cone_of(notion, 3)
    assert not cone.refutes(Vector([0, 1, 0], 1), [(0, 1, 2, ONE)])
    for name in ((0, 2), (2, 0), (0, 0), (0, 3), (-1, 0)):
        with pytest.raises(Refused, match="inequality that exist"):
            cone.refutes(Vector([1, 0, 0], 1), [(0, *name, ONE)])


def test_only_plus_infinity_is_infinite() -> None:
    assert is_infinite(arb.pos_inf())
    assert not any(map(is_infinite, (arb.neg_inf(), arb.nan(), arb(3), arb(0, arb.pos_inf()))))


def test_next_to_nothing_is_rounded_up() -> None:
    """Up to a rational of few digits: at or above the ball, and never 0 for something positive."""
    tiny = arb(1) / (arb(2) ** (1 << 17))
    assert above(tiny) == fmpq(1, 1 << (1 << 16))
    assert above(-tiny) == above(arb(0)) == 0


def test_a_mass_that_one_hypothesis_excludes() -> None:
    """f(0) and lim f(x)/x of KL and its reverse: M₀ = 0 costs KL what M₁ is, and M₁ = 0 everything."""
    zero, half = arb(0), arb(0.5)
    kl, reverse = (
        pair_rule(goal.problem()) for goal in (ex.KL([0.5, 0.5], [0.2, 0.8]), ex.ReverseKL([0.5, 0.5], [0.2, 0.8]))
    )
    assert kl(zero, half, -half) == reverse(half, zero, half) == half
    assert is_infinite(kl(half, zero, half))
    assert is_infinite(reverse(zero, half, -half))


@pytest.mark.parametrize(
    ("notion", "utility"),
    [
        (ex.LDP(0), ex.KL(["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"])),
        (
            ex.LDP(0),
            ex.WorstCase([ex.KL(p, ["0.1", "0.1", "0.8"]) for p in (["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"])]),
        ),
        (ex.LIP(0, ["0.5", "0.3", "0.2"]), ex.MutualInformation(["0.1", "0.3", "0.6"])),
        (ex.MetricPrivacy(0, [[0, 1, 2], [1, 0, 1], [2, 1, 0]]), ex.KL(["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"])),
    ],
    ids=repr,
)
def test_nothing_is_told_at_epsilon_0_whatever_the_dual_vector(notion: Any, utility: Any) -> None:
    alpha = (
        Fraction("-0.003399405139901364066"),
        Fraction("0.003612250354559183073"),
        Fraction("-0.006733438728339117"),
    )
    assert Dual(alpha, Listed()).bound(notion, utility) == 0


@pytest.mark.parametrize(
    ("order", "at_zero", "at_infinity"),
    [
        ("1/4", 4, Fraction(4, 3)),
        ("2", Fraction(1, 2), None),
        ("-1", None, Fraction(1, 2)),
        ("1", 1, None),
        ("0", None, 1),
    ],
)
def test_powers_at_masses_of_0(order: str, at_zero: str | None, at_infinity: str | None) -> None:
    """f(0) = 1/α where α > 0, lim f(x)/x = 1/(1 − α) where α < 1, infinite otherwise; 1 is KL and 0 its reverse."""
    rule = pair_rule(ex.AlphaDivergence(["0.5", "0.5"], ["0.2", "0.8"], order).problem())
    zero, one = arb(0), arb(1)
    for found, wanted in ((rule(zero, one, -one), at_zero), (rule(one, zero, one), at_infinity)):
        assert is_infinite(found) if wanted is None else found.contains(fmpq(*Fraction(wanted).as_integer_ratio()))
    assert rule(zero, zero, zero) == 0
    hellinger = pair_rule(ex.SquaredHellinger(["0.5", "0.5"], ["0.2", "0.8"]).problem())
    assert hellinger(one, zero, one) == hellinger(zero, one, -one) == 1


def test_the_ratio_of_squares_is_rounded_up() -> None:
    rounded: Any = SquareWorth.rounded
    assert fmpq(0) < rounded(None, fmpq(10, 3)) - fmpq(10, 3) < fmpq(1, 1 << 64)


def test_vectors_of_counts_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = Squares(((), (-1,), (-1, -1)), Dual((), Listed()))
    assert proof.bound(ex.LDP(1), ex.Frequencies(3)) > 0
    monkeypatch.setattr(dual, "MOST_COUNTED", 7)
    with pytest.raises(Refused, match="too many columns"):
        proof.bound(ex.LDP(1), ex.Frequencies(3))


def test_doubles_end_on_both_sides() -> None:
    assert [nearest_double(Fraction(sign * 10**400)) for sign in (1, -1)] == [math.inf, -math.inf]


def test_a_certificate_with_another_field_is_malformed() -> None:
    content = ex.design(ex.LDP(1), ex.KL(["0.5", "0.5"], ["0.2", "0.8"])).certificate.to_json()
    load_certificate(content, "it")
    with pytest.raises(MalformedFile, match="no field that is not known"):
        load_certificate(with_hash({**{k: v for k, v in content.items() if k != "hash"}, "more": "1"}), "it")


def test_nothing_is_taken_off_a_negative_number_of_times() -> None:
    cone = cone_of(ex.MetricPrivacy(1, [[0, 1], [1, 0]]), 2)
    with pytest.raises(Refused, match="inequality that exist"):
        cone.refutes(Vector([1, 0], 1), [(0, 0, 1, -ONE)])


# -- refused, and nothing else --


@pytest.mark.parametrize(
    ("proof", "notion", "utility"),
    [
        (Dual((ONE,) * 2, Listed(), (), ((0, 1, ONE),)), ex.PML(1, ["1/2"] * 2), ex.KL(["0.7", "0.3"], ["0.4", "0.6"])),
        (Order(ONE, (ONE,)), ex.LDP(1), ex.MutualInformation(["1/2", "1/2"])),
        (Dual((ONE,) * 2, Sets((ONE,), ((-1, 0, 0, -1),))), ex.LDP(1), ex.MutualInformation(["1/2", "1/2"])),
        (Dual((ONE, 2 * ONE), Sets((ONE,), ((-1, -1, -1, 0, 0),))), ex.LDP(1), ex.MutualInformation(["1/3", "2/3"])),
        (Dual((ONE,) * 2, Sets((ONE,), ((0,),))), ex.LIP(0, ["1/2", "1/2"]), ex.MutualInformation(["1/2", "1/2"])),
        (Dual((ONE,) * 2, Chords(trees=((-1, -1), (-1,)))), ex.LDP(1), ex.KL(["0.7", "0.3"], ["0.4", "0.6"])),
        (Dual((ONE,) * 2, Chords(trees=((-1,), (-1,)))), ex.LDP(0), ex.KL(["0.7", "0.3"], ["0.4", "0.6"])),
        (Dual((ONE,) * 2, Truncated(Chords())), ex.LDP(1, "0.1"), ex.Hamming(["1/2", "1/2"])),
        (Squares(((), (-1,)), Dual((), Truncated(Matrix((2, 2), (), (), -2)))), ex.LDP(1, "0.1"), ex.Frequencies(2)),
        *(  # multipliers of no inequality, though the bound is infinite anyway
            (Dual((ONE,) * 2, Chords((ONE,), (wrong,))), notion, ex.KL(["0.7", "0.3"], ["0.4", "0.6"]))
            for notion in (ex.LDP(1, "0.1"), ex.LDP(1))
            for wrong in ((0, 1, 1, ONE), (0, 0, 2, ONE), (0, 0, 1, -ONE), (0, 2, 0, ONE))
        ),
    ],
)
def test_what_does_not_fit_is_refused_and_breaks_nothing(proof: Any, notion: Any, utility: Any) -> None:
    with pytest.raises(Refused):
        proof.bound(notion, utility)


@pytest.mark.parametrize("groups", [(0, 2, 2, 2), (1, 1, 2, 2), (0, 0, 0, 0), (-1, 0, 1, 1), (0, 1)])
def test_groups_are_numbered_from_0_without_a_gap(groups: tuple[int, ...]) -> None:
    with pytest.raises(Refused, match="merged must name"):
        ExactProblem.of(problem_of(CDF(4)), groups)


def test_a_matrix_inequality_says_what_is_wrong_with_it() -> None:
    triangle = ((), (0,), (-1, -1))
    for d, n, why in (
        ((-1, 5, 5), (), "d must be 3 numbers ≥ 0"),
        ((1, 1), (), "d must be 3 numbers ≥ 0"),
        ((1, 1, 1), ((0,), (10, 0)), "must exceed"),
        ((0, 0, 0), (), "must exceed"),
        ((1, 1, 1), ((-1,), (0, 0)), "n must hold numbers ≥ 0"),
        ((1, 1, 1), ((0,), (0,)), "n must be a lower triangle"),
    ):
        proof = Squares(triangle, Dual((), Matrix(d, n, (0, 1, 1) if n else (), 0)))
        with pytest.raises(Refused, match=why):
            proof.bound(ex.LDP(1), CDF(3))


# -- definiteness --


def test_what_is_less_than_nothing_by_less_than_a_unit_is_not_definite() -> None:
    none = np.zeros((2, 2), dtype=object)
    for last in (0, -1):
        whole = np.array([[1 << 90, 0, 0], [0, last, 0], [0, 0, 0]], dtype=object)
        with pytest.raises(Refused):
            matrix._refuse_indefinite(whole, 1 << 10, none, 1)
    matrix._refuse_indefinite(np.diag([1 << 90, 1 << 40, 0]).astype(object), 1 << 10, none, 1)


def test_a_matrix_that_is_larger_off_its_diagonal_is_refused_before_any_factor() -> None:
    whole = np.array([[1, 100, 0], [100, 1, 0], [0, 0, 1]], dtype=object) << 40
    with pytest.raises(Refused, match="off the diagonal"):
        matrix._refuse_indefinite(whole, 1, np.zeros((2, 2), dtype=object), 1)


def test_a_factor_is_only_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever matrix is proposed, what is not dominant after it is not shown to be definite."""
    whole = np.full((4, 4), -2, dtype=object)
    whole[np.diag_indices(4)] = 3
    monkeypatch.setattr(matrix, "near_inverse_factor", lambda *_: np.eye(3, dtype=np.int64))
    with pytest.raises(Refused, match="not shown"):
        matrix._refuse_indefinite(whole << 40, 1, np.zeros((3, 3), dtype=object), 1)
    whole[np.diag_indices(4)] = 5
    matrix._refuse_indefinite(whole << 40, 1, np.zeros((3, 3), dtype=object), 1)


# -- trees over sets: a unit in the last place --


def test_prices_and_limits_of_a_search_are_rounded_to_the_safe_side(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _bounds(arb(fmpq(1, 1 << (SCALE + 1)))) == (0, 1)
    assert _bounds(-arb(fmpq(1, 1 << (SCALE + 1)))) == (-1, 0)
    third, top = Fraction(1, 3), ratio_above(ex.LDP(1).exponential)
    exact = fmpq(1, 3)
    found = _PatternTree([(1, exact)] * 2, 2, 2 * exact, Staircase(2, top), ())
    assert 0 <= 2 * third - found.limit * UNIT < UNIT
    for _, price, _ in found.items:
        assert 0 <= fraction(top - 1) * third - price * UNIT < UNIT
    choices = tuple(Fraction(1, n) for n in range(5, 15))
    lifted = _LiftTrees([(1, exact)] * 3, 3, fmpq(1), Lifts(Prior([third] * 3), fmpq(0), top), choices)
    for i, choice in enumerate(choices):
        nu, reduced, _ = lifted.multiplier(i)
        assert 0 <= choice - nu * UNIT < UNIT
        assert 0 <= third - nu * UNIT / 3 - reduced[0] * UNIT < 2 * UNIT
    steps: list[Any] = []
    monkeypatch.setattr(sets, "_replay", lambda _tokens, given, _close: steps.append(given))
    lifted.run(((),))
    for _, price in steps[0][0]:
        assert price * UNIT <= round(price * UNIT / third) * third
    assert {round(price * UNIT / third) for _, price in steps[0][0]} == {0, 1, 2}


# -- partitions --


def every_path(cone: Staircase, rule: Any, nodes: list[Any], whole: int, value: Fraction) -> Fraction:
    """The recursion over all pairs of nodes, nothing passed over."""
    step, longest = arb(cone.top - 1), [arb(0)]
    points = [(step * arb(fmpq(x, whole)), step * arb(fmpq(y, whole))) for x, y in nodes]
    for j in range(1, len(points)):
        blocks = [
            longest[i] + rule(1 + points[j][0] - a, 1 + points[j][1] - b, points[j][0] - a - points[j][1] + b)
            for i, (a, b) in enumerate(points[:j])
        ]
        longest.append(max(blocks, key=lambda ball: ball.mid()) - arb(fmpq(value.numerator, value.denominator)))
    v = arb(fmpq(value.numerator, value.denominator))
    gap = (longest[-1] - v * step).max(arb(0))
    middle, exponent = (v + gap / arb(cone.top + 1)).mid().man_exp()
    return Fraction(int(middle)) * Fraction(2) ** int(exponent)


@pytest.mark.parametrize("seed", range(4))
def test_no_path_is_passed_over(seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.integers(1, 60, size=(2, 24))
    order = np.argsort(weights[0] / weights[1])
    totals = [int(w.sum()) for w in weights]
    sums = [np.cumsum([0, *w[order]]).tolist() for w in weights]
    nodes = [(a * totals[1], b * totals[0]) for a, b in zip(*sums, strict=True)]
    utility = ex.KL([f"{w}/{totals[0]}" for w in weights[0]], [f"{w}/{totals[1]}" for w in weights[1]])
    for epsilon, value in itertools.product((0.5, 2, 5), ("0", "0.02", "0.2")):
        cone, v = cone_of(ex.LDP(epsilon), 24), Fraction(value)
        given = [(fmpq(x), fmpq(y)) for x, y in nodes]
        with ctx.workprec(256):
            rule, whole = pair_rule(problem_of(utility)), totals[0] * totals[1]
            found = _longest_path(cone, rule, given, whole, fmpq(v.numerator, v.denominator))
            true = every_path(cone, rule, nodes, whole, v)
        assert abs(found - true) <= true / 10**30


# -- costs of workloads --


def test_sets_counted_in_different_parts_are_not_known() -> None:
    mechanism, both = ex.randomized_response(4, 1), (IndexSet(((0, 2),)), IndexSet(((2, 4),)))
    groups = ((1, IndexSet(((1, 4),))), (2, IndexSet(((0, 1),))))
    columns = [Column(0, groups, orbit=True), Column(1, groups, orbit=True, within=both)]
    with pytest.raises(NotKnown, match="certain counts"):
        _by_counts(ExactColumns(mechanism), None, fmpq(0), columns, CDF(4).prior)  # type: ignore[arg-type]


def test_a_response_of_many_rows_that_are_not_alike_is_inverted() -> None:
    prior = [Fraction(x + 10, 390) for x in range(20)]
    low, high = enclosed(CDF(prior), ex.randomized_response(20, 1))
    assert float(low) == pytest.approx(CDF(prior)(ex.randomized_response(20, 1)), rel=1e-9)
    assert high - low <= low / 10**30


def test_a_slope_that_is_wide_widens_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, source = ex.randomized_response(3, 1), ex.SourceClass([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]])
    monkeypatch.setattr(workload_cost, "slope_of", lambda *_: [arb(0, 1)] * 3)
    low, high = enclosed(Mean([0, 1, 5], source), mechanism, ChosenPrior((), (ONE, 0 * ONE)))
    assert high >= low + 2
    assert high <= low + 2 + Fraction(1, 10**6)
