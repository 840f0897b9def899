"""The value of a mechanism, between two rationals (§4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from extremal.checker.costs import cost
from extremal.checker.goals import (
    DistortionGoal,
    DivergenceLeaf,
    Gain,
    Goal,
    InformationLeaf,
    LeastLevel,
    QuestionShares,
    QuestionTables,
    Weighted,
)
from extremal.checker.grammar import Names
from extremal.checker.mechanisms import MechanismFile
from extremal.checker.notions import SMALLEST_EPSILON
from extremal.checker.numbers import (
    INFINITE,
    ZERO,
    Interval,
    Uncheckable,
    Undecided,
    Unsettled,
    ends,
    ln,
    whole_numbers,
)
from extremal.checker.questions import cost_of_questions
from extremal.checker.worths import Enclosed, divergence, information


def enclosed(goal: Goal, mechanism: MechanismFile, worst: Sequence[Fraction] | None) -> Enclosed:
    """U(Q) between two rationals, or +∞."""
    if goal.k != mechanism.k:
        raise Uncheckable("the mechanism and the goal are about different inputs")
    if isinstance(goal, Gain):
        parts = [mean_worth(part, mechanism) for part in goal.parts]
        finite = [part for part in parts if isinstance(part, Interval)]
        return Interval(min(p.low for p in finite), min(p.high for p in finite)) if finite else INFINITE
    if isinstance(goal, DistortionGoal):
        return ends(distortion_of(goal, mechanism))
    if isinstance(goal, LeastLevel):
        return level_of(goal, mechanism)
    if isinstance(goal, QuestionShares | QuestionTables):
        return cost_of_questions(goal, mechanism)
    return cost(goal, mechanism, worst)


def mean_worth(part: Sequence[Weighted], mechanism: MechanismFile) -> Enclosed:
    """A mean of leaves, each Σ_y μ(q_y)."""
    found = ends(ZERO)
    for share, leaf in part:
        worth = worth_of(leaf, mechanism)
        if isinstance(worth, float):
            return INFINITE
        found += share * worth
    return found


def worth_of(leaf: DivergenceLeaf | InformationLeaf, mechanism: MechanismFile) -> Enclosed:
    """Σ_y μ(q_y), the sums P·q_y in whole numbers."""
    priors = (leaf.prior,) if isinstance(leaf, InformationLeaf) else (leaf.p0, leaf.p1)
    rows = [
        (mechanism.mass_of_rows(p), mass * mechanism.structure.listed_sum) for p, mass in map(whole_numbers, priors)
    ]
    found = ends(ZERO)
    for column in mechanism.structure.columns():
        masses = [Fraction(sum(map(mul, p, column)), below) for p, below in rows]
        one: Enclosed
        if isinstance(leaf, InformationLeaf):
            one = information(masses[0], by_weight(*rows[0], column, mechanism.structure.listed_sum))
        else:
            one = divergence(leaf.kind, masses[0], masses[1], leaf.parameter)
        if isinstance(one, float):
            return INFINITE
        found += one
    return found


def by_weight(masses: Sequence[int], below: int, column: Sequence[int], unit: int) -> dict[Fraction, Fraction]:
    """For each weight, over `unit`, the probability of the inputs that have it."""
    found: dict[int, int] = {}
    for p, v in zip(masses, column, strict=True):
        found[v] = found.get(v, 0) + p
    return {Fraction(v, unit): Fraction(p * unit, below) for v, p in found.items()}


def distortion_of(goal: DistortionGoal, mechanism: MechanismFile) -> Fraction:
    """The largest over the class of Σ_x p(x) Σ_y Q(y|x)·d(x, y); an output without losses is not known."""
    width, unit = goal.columns, mechanism.structure.listed_sum
    names = goal.outputs or (mechanism.inputs if width == goal.k else Names(width, are_numbers=True))
    place = {name: y for y, name in enumerate(names.listed())}
    labels = mechanism.outputs.listed()
    if any(label not in place for label in labels):
        raise Uncheckable("an output without losses")
    lost = [ZERO] * goal.k if goal.distances is not None else [Fraction(unit)] * goal.k
    for label, column in zip(labels, mechanism.structure.columns(), strict=True):
        y = place[label]
        if goal.distances is None:  # everything is lost but what reports the input itself
            lost[y] -= column[mechanism.row_of[y]]
        else:
            lost = [a + column[r] * d for a, r, d in zip(lost, mechanism.row_of, goal.column(y), strict=True)]
    return goal.source.largest([v / unit for v in lost])


def level_of(goal: LeastLevel, mechanism: MechanismFile) -> Enclosed:
    """The level of LDP, a double rounded up; +∞ when the Hamming distortion exceeds D, or a column has a 0."""
    sets = mechanism.structure.sets
    if distortion_of(DistortionGoal(goal.source, None), mechanism) > goal.distortion:
        return INFINITE
    if any(low == 0 for low, _ in mechanism.structure.extremes):
        return INFINITE
    if sets is not None and "LDP" not in sets.decides:
        raise Undecided("the largest ratio of two weights is known as a bound only")
    ratio = max(Fraction(high, low) for low, high in mechanism.structure.extremes)
    return ends(max(SMALLEST_EPSILON, least_decimal(ln(ratio)))) if ratio > 1 else ends(ZERO)


def least_decimal(reached: Interval) -> Fraction:
    """The smallest of the decimals that doubles print, at or above a positive number in the interval."""
    found = float(reached.high)
    while Fraction(repr(found)) < reached.high:
        found = math.nextafter(found, math.inf)
    while Fraction(repr(before := math.nextafter(found, 0.0))) >= reached.high:
        found = before
    if Fraction(repr(before)) >= reached.low:
        raise Unsettled
    return Fraction(repr(found))
