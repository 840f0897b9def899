"""What a workload costs, against the definition in rationals: every way the kernel goes, and every sum on the way."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import extremal as ex
from extremal.certificate import ChosenPrior, NotKnown, enclosure
from extremal.certificate.arithmetic import doubles
from extremal.certificate.arithmetic import workload_cost as costs
from extremal.certificate.arithmetic.doubles import near_inverse_factor
from extremal.certificate.arithmetic.enclosures import lower, upper
from extremal.certificate.arithmetic.workload_cost import (
    Cost,
    ExactColumns,
    _around,
    cost_at,
    slope_of,
    workload_cost,
)
from extremal.mechanism import Mechanism
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.structures.colourings import coloured
from extremal.mechanism.structures.staircase import subset_structure
from extremal.optimize.workload.worst_prior import worst_prior
from extremal.problem import NOT_IDENTIFIED, RESOLUTION, problem_of
from extremal.utility import CDF, Frequencies, Mean

Matrix = Any  # a NumPy array of Fractions

PRIORS = (["1/4"] * 4, ["4/10", "3/10", "2/10", "1/10"], ["1/2", "0", "1/3", "1/6"])
GOALS = (CDF, Frequencies, lambda p: Mean([0, 1, 5, "2.5"], p))
MECHANISMS = {
    "more reports than rows": [[4, 1, 1, 1, 1], [1, 4, 1, 1, 1], [1, 1, 4, 1, 1], [1, 1, 1, 4, 1]],
    "as many": [[5, 1, 1, 1], [1, 4, 2, 1], [2, 1, 4, 1], [1, 1, 1, 5]],
    "fewer": [[4, 1, 3], [1, 4, 3], [1, 1, 6], [2, 3, 3]],
    "two": [[5, 3], [3, 5], [1, 7], [4, 4]],
    "alike": [[5, 1, 2], [5, 1, 2], [1, 5, 2], [1, 1, 6]],
    "alike, fewer": [[5, 3], [5, 3], [3, 5], [3, 5]],
    "alike, fewest": [[5, 3], [5, 3], [3, 5], [1, 7]],
    "response": [[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 5, 1], [1, 1, 1, 5]],
    "single": [[5, 1, 1, 1], [1, 4, 1, 2], [1, 2, 5, 0], [1, 1, 1, 5]],
    "never": [[5, 0, 2, 1], [1, 0, 6, 1], [2, 0, 1, 5], [2, 4, 1, 1]],
}


def inverted(matrix: Matrix) -> Matrix:
    """Gauss and Jordan in rationals."""
    n = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix.tolist())]
    for i in range(n):
        pivot = next(j for j in range(i, n) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return np.array([row[n:] for row in rows])


def truth(utility: Any, weights: list[list[int]], prior: Any) -> dict[str, Any]:
    """F, and what its change is made of, from the definitions."""
    gram, denominator = utility.exact_gram
    k, p = len(weights), np.array([Fraction(v) for v in prior])
    table = np.array([[Fraction(w, sum(row)) for w in row] for row in weights])
    centre = np.array([[Fraction(int(x == z)) for z in range(k)] for x in range(k)]) - np.outer(p, [Fraction(1)] * k)
    wanted = centre.T @ (np.array(gram, dtype=object) * Fraction(1, denominator)) @ centre
    masses = p @ table
    through = table * np.array([1 / m if m else Fraction(0) for m in masses])
    information = through @ table.T
    identity = np.array([[Fraction(int(x == z)) for z in range(k)] for x in range(k)])
    inverse = inverted(information + RESOLUTION * identity)
    decoders = through.T @ inverse @ wanted @ inverse @ through
    bias = identity - information @ inverse
    return {
        "value": np.trace(wanted @ inverse),
        "unknown": np.trace(wanted),
        "squares": list(np.diagonal(decoders)),
        "moved": list(table @ decoders @ (table.T @ p)),
        "bias": np.trace(bias @ wanted @ bias.T),
    }


def holds(ball: Any, number: Fraction, digits: int = 25) -> bool:
    """Whether the ball encloses the number, and little more: relative to the number, or to 1 where it is small."""
    with ctx.workprec(512):
        low, high = lower(ball), upper(ball)
    return low <= number <= high and high - low <= max(abs(number), Fraction(1)) / 10**digits


def seen(weights: list[list[int]]) -> ex.Mechanism:
    return ex.Mechanism.from_weights(weights, sum(weights[0]))


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_cost_is_that_of_the_definition(name: str) -> None:
    weights = MECHANISMS[name]
    mechanism = seen([[w for y, w in enumerate(row) if any(r[y] for r in weights)] for row in weights])
    for goal, prior in itertools.product(GOALS, PRIORS):
        utility = goal(prior)
        exact = truth(utility, weights, prior)
        channel, workload = ExactColumns(mechanism), problem_of(utility)
        for slope in (False, True):
            found = cost_at(channel, workload, utility.prior, slope=slope)
            assert holds(found.value, exact["value"])
            assert holds(found.unknown, exact["unknown"], 100)
        rows = range(4) if mechanism.row_of is None else [mechanism.row_of.tolist().index(g) for g in range(channel.r)]
        used = [s for y, s in enumerate(exact["squares"]) if any(row[y] for row in weights)]
        assert all(holds(a, b) for a, b in zip(found.squares, used, strict=True))
        assert all(holds(found.moved[g], exact["moved"][x]) for g, x in enumerate(rows))
        assert holds(found.bias, exact["bias"])
        low, high = enclosure(utility, mechanism)
        if exact["value"] * RESOLUTION > NOT_IDENTIFIED * exact["unknown"]:
            assert low == high == float("inf")
        else:
            assert low <= exact["value"] <= high


def test_windows_are_not_all_subsets_of_a_size() -> None:
    weights = [[3 if (y - x) % 4 < 2 else 1 for y in range(4)] for x in range(4)]
    utility = Frequencies(4)
    found = cost_at(ExactColumns(seen(weights)), problem_of(utility), utility.prior)
    assert holds(found.value, truth(utility, weights, ["1/4"] * 4)["value"])


@pytest.mark.parametrize("k", [4, 5])
def test_columns_listed_a_few_at_a_time_are_added_up_as_the_definition_says(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = list(itertools.combinations(range(k), 2))
    weights = [[3 if x in s else 1 for s in sets] for x in range(k)]
    short = [(1 << (sum(row) - 1).bit_length()) - sum(row) for row in weights]
    weights = [[*row, rest] for row, rest in zip(weights, short, strict=True)]
    prior = [Fraction(x + 1, k * (k + 1) // 2) for x in range(k)]
    monkeypatch.setattr(costs, "MOST_ENTRIES", 2 * k)
    for utility in (CDF(prior), Frequencies(prior)):
        found = cost_at(ExactColumns(seen(weights)), problem_of(utility), utility.prior)
        assert holds(found.value, truth(utility, weights, prior)["value"], 20)
        with pytest.raises(NotKnown, match="weights is too large"):
            cost_at(ExactColumns(seen(weights)), problem_of(utility), utility.prior, slope=True)
    monkeypatch.setattr(costs, "MOST_STEPS", 26)
    with pytest.raises(NotKnown, match="3 × 3 weights is too large"):
        cost_at(ExactColumns(seen([[2, 1, 1], [1, 2, 1], [1, 0, 3]])), problem_of(CDF(3)), CDF(3).prior)


@pytest.mark.parametrize("size", [1, 2])
def test_all_subsets_are_counted_as_their_list_would_be(size: int) -> None:
    mechanism = ex.subset_selection(5, 1, size=size)
    weights = mechanism.weights.tolist()
    for prior in (["1/5"] * 5, ["1/8"] * 4 + ["1/2"], ["1/10"] * 3 + ["7/20"] * 2):
        for goal in (CDF, Frequencies):
            utility = goal(prior)
            low, high = enclosure(utility, mechanism)
            assert low <= truth(utility, weights, prior)["value"] <= high
            assert high - low <= low / 10**25


@pytest.mark.parametrize("of", [[0, 1, 2, 3, 4, 0], [0, 0, 1, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4] * 2])
def test_subsets_of_rows_that_several_inputs_share_are_counted_as_their_list_would_be(of: list[int]) -> None:
    """Rows with as many inputs and the same probability are one class; what varies within a row cannot be told."""
    structure, named = subset_structure(5, 2, ex.LDP(1).exponential), ex.subset_selection(5, 1).input_labels
    labels = ex.randomized_response(len(of), 1).input_labels
    kept = Mechanism._made(structure, np.array(of), labels, SubsetLabels(named, 2), ex.LDP(1))
    (low, _), (high, _) = next(structure.columns()).groups
    weights = [[high if g in s else low for s in itertools.combinations(range(5), 2)] for g in of]
    for shares in ([1] * len(of), [1 + g % 2 for g in of], [1 + x % 2 for x in range(len(of))]):
        prior = [Fraction(s, sum(shares)) for s in shares]
        for utility in (CDF(prior), Mean([3 * g for g in of], prior)):
            found = cost_at(ExactColumns(kept), problem_of(utility), utility.prior)
            assert holds(found.value, truth(utility, weights, prior)["value"])


NEVER = {
    "more reports than rows": [[4, 0, 0, 2, 2], [1, 2, 3, 1, 1], [1, 0, 0, 4, 3], [2, 0, 0, 2, 4]],
    "in proportion": [[4, 0, 0, 2, 2], [1, 2, 4, 1, 0], [1, 0, 0, 4, 3], [2, 0, 0, 2, 4]],
    "as many": [[4, 0, 3, 1], [2, 4, 1, 1], [1, 0, 6, 1], [2, 0, 1, 5]],
    "fewer": [[4, 0, 4], [2, 4, 2], [6, 0, 2], [1, 0, 7]],
    "all of one input": [[4, 0, 3, 1], [0, 8, 0, 0], [1, 0, 6, 1], [2, 0, 1, 5]],
    "alike": [[4, 0, 3, 1], [2, 4, 1, 1], [4, 0, 3, 1], [2, 0, 1, 5]],
    "of two inputs": [[4, 0, 0, 0, 4], [1, 1, 2, 3, 1], [1, 1, 2, 1, 3], [2, 0, 0, 0, 6]],
}
"""Where input 1 has probability 0, report 1 (and in the first two report 2) has too; in the last where input 2 has."""


def next_to(ball: Any, number: Fraction) -> bool:
    """Whether the ball is small and lies where the number does, to twenty digits."""
    with ctx.workprec(512):
        low, high = lower(ball), upper(ball)
    return max(abs(low - number), abs(high - number)) <= max(abs(number), Fraction(1)) / 10**20


@pytest.mark.parametrize("name", NEVER)
def test_a_report_of_probability_0_counts_as_in_the_limit(name: str) -> None:
    """It tells where the inputs that the prior rules out would lie, at no cost. The limit is taken in rationals."""
    zeros = ("1/2", "0", "0", "1/2") if name == "of two inputs" else ("1/2", "0", "1/3", "1/6")
    weights, prior = NEVER[name], [Fraction(v) for v in zeros]
    near = [v + (Fraction(1, 4) - v) / 10**70 for v in prior]
    channel = ExactColumns(seen(weights))
    for goal in (CDF, Frequencies, lambda p: Mean([0, 1, 5, "2.5"], p)):
        utility, exact = goal(prior), truth(goal(near), weights, near)
        for slope in (False, True):
            found = cost_at(channel, problem_of(utility), utility.prior, slope=slope)
            assert next_to(found.value, exact["value"])
        assert next_to(found.bias, exact["bias"])
        rows = range(4) if name != "alike" else (0, 1, 3)
        assert all(next_to(found.moved[g], exact["moved"][x]) for g, x in enumerate(rows))
        assert all(next_to(s, exact["squares"][y]) for y, s in enumerate(found.squares) if weights[0][y])


def test_a_boundary_prior_is_no_better_and_no_worse_than_those_around_it() -> None:
    """F is concave in the prior up to the boundary: the decoder of any prior bounds all others, zeros or none."""
    source = ex.SourceClass([["1/2", "0", "1/3", "1/6"], ["1/4", "1/4", "1/4", "1/4"], ["0", "1/3", "1/3", "1/3"]])
    for weights in NEVER.values():
        utility, mechanism, corners = Mean([0, 1, 5, "2.5"], source), seen(weights), source.vertices()
        shares = itertools.product((0, 1, 2), repeat=3)
        mixtures = [
            [
                sum(Fraction(s, sum(share)) * c.fraction(x) for s, c in zip(share, corners, strict=True))
                for x in range(4)
            ]
            for share in shares
            if any(share)
        ]
        values = [enclosure(utility.at(mixed), mechanism) for mixed in mixtures]
        for corner in corners:
            named = ChosenPrior((), tuple(Fraction(int(p == corner)) for p in source.priors))
            low, high = enclosure(utility, mechanism, named)
            assert low <= max(value[1] for value in values)
            assert max(value[0] for value in values) <= high


def test_too_many_reports_are_not_inverted_for_want_of_a_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = ["1/2", "0", "1/3", "1/6"]
    monkeypatch.setattr(costs, "MOST_ROWS", 4)
    assert enclosure(CDF(prior), seen(NEVER["as many"]))[0] > 0
    assert enclosure(CDF(["1/4"] * 4), seen(NEVER["in proportion"]))[0] > 0
    with pytest.raises(NotKnown, match="at most 4"):
        enclosure(CDF(prior), seen(NEVER["in proportion"]))
    monkeypatch.setattr(costs, "MOST_ROWS", 3)
    assert enclosure(CDF(4), ex.randomized_response(4, 1))[0] > 0
    with pytest.raises(NotKnown, match="at most 3"):
        enclosure(CDF(prior), ex.randomized_response(4, 1))


@pytest.mark.parametrize("name", ["as many", "fewer", "alike"])
def test_the_worst_prior_of_a_class_is_enclosed(name: str) -> None:
    """Below it is the cost at a prior of the class; above it, no prior costs more."""
    weights = [[w for y, w in enumerate(row) if any(r[y] for r in MECHANISMS[name])] for row in MECHANISMS[name]]
    mechanism, generator = seen(weights), np.random.default_rng(1)
    for source in (
        ex.SourceClass(PRIORS[:2]),
        ex.SourceClass.ball(PRIORS[1], "0.1"),
        ex.SourceClass.permutation_invariant(PRIORS[1]),
        ex.SourceClass.simplex(4),
    ):
        utility = Mean([0, 1, 5, "2.5"], source) if name != "alike" else Mean([2, 2, 1, 4], source)
        low, high = enclosure(utility, mechanism, worst_prior(utility, mechanism))
        assert low <= high <= low * (1 + Fraction(1, 10**7))
        corners = [source.extreme_prior(generator.normal(size=4).tolist()) for _ in range(5)]
        tried = []
        for a, b in itertools.combinations(corners, 2):
            share = Fraction(int(generator.integers(0, 9)), 8)
            mixed = [share * a.fraction(x) + (1 - share) * b.fraction(x) for x in range(4)]
            tried.append(truth(utility.at(mixed), weights, mixed)["value"])
        assert max(tried) <= high


def test_the_bound_over_a_class_holds_wherever_the_prior_is_that_was_named() -> None:
    """A decoder that is best at any prior bounds all others: a bad proposal proves less, never too much."""
    weights, source = MECHANISMS["as many"], ex.SourceClass.ball(PRIORS[1], "0.1")
    utility, mechanism = CDF(source), seen(MECHANISMS["as many"])
    best = enclosure(utility, mechanism, worst_prior(utility, mechanism))
    for prior in source.vertices()[:6]:
        at = [prior.fraction(x) for x in range(4)]
        low, high = enclosure(utility, mechanism, ChosenPrior(tuple(at), ()))
        exact = truth(utility.at(at), weights, at)
        assert low <= exact["value"] <= low * (1 + Fraction(1, 10**60))
        assert low <= best[1]
        assert best[0] <= high
        slope = [
            sum(Fraction(w, 8) * s for w, s in zip(row, exact["squares"], strict=True)) - 2 * m
            for row, m in zip(weights, exact["moved"], strict=True)
        ]
        top = max(sum(v.fraction(x) * g for x, g in enumerate(slope)) for v in source.vertices())
        rise = top - sum(a * g for a, g in zip(at, slope, strict=True))
        assert high == pytest.approx(float(exact["value"] + max(rise, 0) + exact["bias"]), rel=1e-12)
        assert high >= exact["value"] + max(rise, 0) + exact["bias"]


def test_only_where_every_input_counts_alike_is_the_uniform_prior_the_worst() -> None:
    listed = ex.subset_selection(6, 1, size=2)
    named = SubsetLabels(listed.input_labels, 2)
    mechanism = Mechanism._made(
        subset_structure(6, 2, ex.LDP(1).exponential), None, listed.input_labels, named, ex.LDP(1)
    )
    uniform = ChosenPrior((Fraction(1),) * 6, ())
    low, high = enclosure(Frequencies(ex.SourceClass.simplex(6)), mechanism, uniform)
    same = truth(Frequencies(6), listed.weights.tolist(), ["1/6"] * 6)["value"]
    assert float(low) == pytest.approx(float(same), rel=1e-12)
    assert high - low <= low / 10**25
    simplex = CDF(ex.SourceClass.simplex(6))
    spread = enclosure(simplex, listed, worst_prior(simplex, listed))
    assert spread[0] > enclosure(CDF(6), listed)[1]
    away = ex.SourceClass([["1/2", *["1/10"] * 5], ["1/4", *["3/20"] * 5]])
    with pytest.raises(NotKnown, match="too many to list"):
        enclosure(Frequencies(away), mechanism, ChosenPrior((), (Fraction(1), Fraction(0))))
    other = enclosure(Frequencies(away), listed, worst_prior(Frequencies(away), listed))
    assert other[1] < low * (1 - Fraction(1, 1000))


def test_a_slope_is_of_squares_and_of_what_moved() -> None:
    made = Cost(arb(1), arb(1), (arb(1), arb(2), arb(8)), (arb(10), arb(20), arb(30), arb(40)))
    slope = slope_of(ExactColumns(seen(MECHANISMS["fewer"])), made)
    expected = [(4 + 2 + 24) - 160, (1 + 8 + 24) - 320, (1 + 2 + 48) - 480, (2 + 6 + 24) - 640]
    assert [upper(8 * g) for g in slope] == expected


def test_what_the_kernel_does_not_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = ex.randomized_response(4, 1)
    with pytest.raises(NotKnown, match="different inputs"):
        workload_cost(problem_of(CDF(5)), mechanism, None)
    simplex, uniform = CDF(ex.SourceClass.simplex(4)), ChosenPrior((Fraction(1),) * 4, ())
    with pytest.raises(NotKnown, match="one of its priors is named"):
        enclosure(simplex, mechanism)
    monkeypatch.setattr(costs, "MOST_OF_CLASS", 3)
    with pytest.raises(NotKnown, match="up to 3"):
        enclosure(simplex, mechanism, uniform)
    monkeypatch.undo()
    blind = seen([[1, 1], [1, 1], [1, 1], [1, 1]])
    assert enclosure(simplex, blind, uniform) == (float("inf"),) * 2
    assert enclosure(simplex, blind, worst_prior(simplex, blind)) == (float("inf"),) * 2


def test_a_cost_that_may_be_told_is_no_infinite_one() -> None:
    edge = NOT_IDENTIFIED / RESOLUTION
    with ctx.workprec(512):
        for value, infinite in ((edge * (1 - Fraction(1, 10**9)), False), (edge * (1 + Fraction(1, 10**9)), True)):
            cost = Cost(arb(value.numerator) / value.denominator, arb(1))
            assert (_around(cost)[0] == float("inf")) is infinite


def test_a_factor_is_proposed_that_nearly_inverts() -> None:
    whole = np.array([[5, 1, 0], [1, 7, 2], [0, 2, 9]], dtype=object)
    for bits in (0, 90, 1200):
        factor = near_inverse_factor(whole << bits, 4 + bits)
        product = (factor.astype(object) @ whole @ factor.T.astype(object)).astype(float)
        product /= product[0, 0]
        assert np.abs(product - np.eye(3)).max() < 1e-9
        assert np.abs(factor).max() > 2**38
    assert near_inverse_factor(np.array([[1, 2], [2, 1]], dtype=object), 3) is None


def _coloured(k: int, count: int, epsilon: float, alike: bool = False) -> ex.Mechanism:
    generator = np.random.default_rng(7)
    labels = np.array([generator.permutation(np.arange(k) % 5) for _ in range(count)])
    if alike:
        labels[:, 1] = labels[:, 0]
    return ex.Mechanism.from_structure(coloured(labels, generator.uniform(1, 2, count), ex.LDP(epsilon).exponential))


@pytest.mark.parametrize(("epsilon", "entries"), [(1.0, 100), (1.0, 1 << 20), (1e-3, 100)])
def test_a_residual_encloses_what_balls_enclose(epsilon: float, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    m, goal = _coloured(48, 120, epsilon), ex.CDF(48)
    monkeypatch.setattr(costs, "MOST_ENTRIES", entries)
    low, high = enclosure(goal, m)
    monkeypatch.setattr(costs, "MANY", 20)
    below, above = enclosure(goal, m)
    assert below <= low <= high <= above
    assert above - below <= low / 2**54  # less than half of what a double can say, whatever ε is


def test_rows_that_are_alike_leave_the_residual_and_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    m, goal = _coloured(48, 120, 1.0, alike=True), ex.CDF(48).problem()
    monkeypatch.setattr(costs, "MANY", 20)
    with pytest.raises(NotKnown, match="cannot be inverted"):
        workload_cost(goal, m, None)


def test_columns_of_two_weights_are_read_from_the_columns_where_they_are_not_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    m, goal = ex.randomized_response(30, 1), ex.CDF([0.5, *[0.5 / 29] * 29]).problem()
    expected = workload_cost(goal, m, None)
    monkeypatch.setattr(costs, "MOST_ENTRIES", 100)
    low, high = workload_cost(goal, m, None)
    assert low <= expected[1]
    assert expected[0] <= high


@pytest.mark.parametrize(("largest", "per_pair"), [(9, 1), (9, 10**6), (1, 1)])
def test_sums_over_sets_are_exact(largest: int, per_pair: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pair by pair and as products of matrices, of numbers of few and of many digits, in several parts."""
    monkeypatch.setattr(doubles, "PER_PAIR", per_pair)
    monkeypatch.setattr(doubles, "MOST_SETS", 700)
    monkeypatch.setattr(doubles, "BAND", 4)
    generator = np.random.default_rng(5)
    members = [np.sort(generator.permutation(9)[: generator.integers(1, largest + 1)]) for _ in range(1500)]
    lines, pairs = ([int.from_bytes(generator.bytes(n), "big") for _ in members] for n in (6, 22))
    line, square = doubles.set_sums(members, lines, pairs, 9)
    for x in range(9):
        assert line[x] == sum(number for rows, number in zip(members, lines, strict=True) if x in rows)
        for z in range(9):
            inside = (number for rows, number in zip(members, pairs, strict=True) if x in rows and z in rows)
            assert square[x, z] == sum(inside)
