"""Numbers that decide: exact rationals, and balls around what is not rational.

What is not rational (a logarithm, a root, a power) is an Arb ball, an interval that holds the true number whatever was
rounded. Column values μ are computed from exact rationals in forms without cancellation, at a precision that is raised
until the ball is narrow relative to its own size; where it never gets narrow, it is still an enclosure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import inf
from typing import Any, cast

from flint import arb, ctx, fmpq

from extremal.certificate.proof import TOO_LARGE, NotKnown, Refused
from extremal.exact import ExactView, Exponential, Prior, prefix_sums
from extremal.problem import Goal, InformationGoal, LeastGoal, MeanGoal, PairGoal

BITS = 192  # of e^ε, and of balls at first
ACCURATE = 96  # bits of a ball that count as narrow
MOST_BITS = 1 << 14  # then a ball stays wide: more digits than any file can write

LARGEST_BITS = 1 << 16  # of a rational end of a ball; doubles end at 2^1024, squares of what files write at 2^6000
LARGEST_DENOMINATOR = 10**30  # of an order: its digits then cost nothing
LARGEST_ORDER = 10**6  # of an α-divergence; its powers then have exponents that fit a machine word
LARGEST_RATIONAL, SMALLEST_RATIONAL = fmpq(1 << LARGEST_BITS), fmpq(1, 1 << LARGEST_BITS)
LARGEST, SMALLEST = arb(LARGEST_RATIONAL), arb(SMALLEST_RATIONAL)

Leaf = PairGoal | InformationGoal


def rational(number: Fraction | int) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def above(x: arb) -> fmpq | None:
    """A rational at or above everything in the ball; None when there is none."""
    top = x.upper()
    if not top.is_finite() or top > LARGEST:
        return None
    if abs(top) < SMALLEST:  # a rational of its size would have as many digits as its exponent says
        return SMALLEST_RATIONAL if top > 0 else fmpq(0)
    return top.fmpq() if top >= -LARGEST else -LARGEST_RATIONAL


def finite_above(x: arb) -> fmpq:
    """The same for a ball that is known to be finite."""
    return cast(fmpq, above(x))


def upper(x: arb) -> Fraction | float:
    """The same as a fraction, or infinity."""
    top = above(x)
    return inf if top is None else fraction(top)


def lower(x: arb) -> Fraction | float:
    """A rational at or below everything in the ball; minus infinity when there is none."""
    return -upper(-x)


def largest(balls: Iterable[arb]) -> arb:
    """An upper bound on all of them, as an exact ball; a ball that is not a number counts as infinite."""
    best = arb.neg_inf()
    for x in balls:
        top = x.upper()
        if not top <= best:
            best = arb.pos_inf() if top.is_nan() else top
    return best


def narrow(compute: Callable[[], arb]) -> arb:
    """compute(), with the precision raised until the ball is narrow relative to its size, exact, or infinite."""
    bits = BITS
    while True:
        with ctx.workprec(bits):
            x = compute()
        if x.is_exact() or x.rel_accuracy_bits() >= ACCURATE or bits >= MOST_BITS:
            return x
        bits *= 4


def ratio_above(exponential: Exponential) -> fmpq:
    """A rational at or just above e^ε: the notion with it admits no less, so bounds for it are bounds."""
    if exponential.ratio is not None:
        return rational(exponential.ratio)
    return exp_above(exponential.exponent or Fraction(0))


def exp_above(exponent: Fraction) -> fmpq:
    """A rational at or just above e^exponent."""
    with ctx.workprec(BITS):
        return finite_above(arb(rational(exponent)).exp())


# -- f-divergences: M₁·f(M₀/M₁) from balls around M₀, M₁ and M₀ − M₁, f normalised to f(1) = f'(1) = 0 --

PairRule = Callable[[arb, arb, arb], arb]


def _divergence(at_zero: fmpq | arb | None, at_infinity: fmpq | arb | None, inside: PairRule) -> PairRule:
    """From f(0) and lim f(x)/x, None where they are infinite, and the rule for M₀, M₁ > 0. A mass is 0 only when it is
    exactly 0."""

    def value(m0: arb, m1: arb, gap: arb) -> arb:
        if not m0.is_zero() and not m1.is_zero():
            return inside(m0, m1, gap)
        mass, each = (m1, at_zero) if m0.is_zero() else (m0, at_infinity)
        if each is None:
            return mass if mass.is_zero() else arb.pos_inf()
        return mass * each

    return value


def _hellinger(m0: arb, m1: arb, gap: arb) -> arb:
    root = m0.sqrt() + m1.sqrt()
    return gap * gap / (root * root)


def _jensen(m0: arb, m1: arb, gap: arb) -> arb:
    tilt = gap / (m0 + m1)
    return (m0 * tilt.log1p() + m1 * (-tilt).log1p()) / 2


def _power(order: Fraction) -> PairRule:
    if order in (0, 1):
        return _RULES["KL" if order else "ReverseKL"]
    if abs(order) > LARGEST_ORDER or order.denominator > LARGEST_DENOMINATOR:
        raise NotKnown(f"{TOO_LARGE}: an order of at most {LARGEST_ORDER:,}", "alpha", str(order)[:40])

    def value(_m0: arb, m1: arb, gap: arb) -> arb:
        a, x = arb(rational(order)), gap / m1
        return m1 * ((x.log1p() * a).expm1() - a * x) / (a * (a - 1))

    at_zero, at_infinity = 1 / rational(order), 1 / rational(1 - order)
    return _divergence(at_zero if order > 0 else None, at_infinity if order < 1 else None, value)


def _hockey(gamma: Fraction) -> PairRule:
    def value(_m0: arb, m1: arb, gap: arb) -> arb:
        above = gap - arb(rational(gamma - 1)) * m1
        return (above if gamma >= 1 else -above).max(arb(0))

    return value


ONE = fmpq(1)
with ctx.workprec(MOST_BITS):
    HALF_LN_2 = arb(2).log() / 2
_RULES: dict[str, PairRule] = {
    "KL": _divergence(ONE, None, lambda m0, m1, gap: m0 * (gap / m1).log1p() - gap),
    "ReverseKL": _divergence(None, ONE, lambda m0, m1, gap: m1 * (-gap / m0).log1p() + gap),
    "SymmetricKL": _divergence(None, None, lambda _, m1, gap: gap * (gap / m1).log1p()),
    "TotalVariation": lambda _m0, _m1, gap: abs(gap) / 2,
    "ChiSquared": _divergence(ONE, None, lambda _, m1, gap: gap * gap / m1),
    "SquaredHellinger": _divergence(ONE, ONE, _hellinger),
    "JensenShannon": _divergence(HALF_LN_2, HALF_LN_2, _jensen),
}
_WITH_PARAMETER = {"AlphaDivergence": _power, "HockeyStick": _hockey}


def pair_rule(goal: PairGoal) -> PairRule:
    """The rule of a named divergence."""
    if goal.parameter is not None:
        return _WITH_PARAMETER[goal.name](goal.parameter)
    return _RULES[goal.name]


def pair_value(rule: PairRule, m0: fmpq, m1: fmpq) -> arb:
    """M₁·f(M₀/M₁) for rational masses."""
    return narrow(lambda: rule(arb(m0), arb(m1), arb(m0 - m1)))


# -- columns --


Column = Any  # a plain vector of integers, or a column of a mechanism's structure
Gather = Callable[[Prior], tuple[Callable[[Column], Iterable[tuple[int, int]]], int]]
"""From a prior to a function from columns to pairs (value q, weight of the inputs that have it), and the total weight.
A column may be a plain integer vector, or the groups of a mechanism's structure."""


def rule_of(leaf: Leaf, gather: Gather) -> Callable[[Column], arb]:
    """Column ↦ μ."""
    if isinstance(leaf, InformationGoal):
        masses, total = gather(leaf.prior)

        def information(column: Column) -> arb:
            groups: dict[int, int] = {}
            for value, mass in masses(column):
                groups[value] = groups.get(value, 0) + mass
            return spread_value([(q, m) for q, m in groups.items() if m], total)

        return information
    rule = pair_rule(leaf)
    (first, t0), (second, t1) = gather(leaf.p0), gather(leaf.p1)

    def divergence(column: Column) -> arb:
        m0, m1 = (sum(q * m for q, m in masses(column)) for masses in (first, second))
        return pair_value(rule, fmpq(m0, t0), fmpq(m1, t1))

    return divergence


def spread_value(groups: list[tuple[int, int]], total: int) -> arb:
    """Σ p q log(q/m), m = Σ p q, for groups of (value q, mass p·total) with positive masses that sum to the total."""
    whole = sum(q * mass for q, mass in groups)  # m·total
    if not whole:
        return arb(0)

    def compute() -> arb:
        result = arb(0)
        for q, mass in groups:
            gap = q * total - whole  # (q/m − 1)·m·total
            lift = arb(fmpq(gap, whole))
            part = (1 + lift) * lift.log1p() - lift if q else arb(1)
            result += part * mass
        return result * arb(fmpq(whole, total * total))

    return narrow(compute)


def of_vectors(prior: Prior) -> tuple[Callable[[Column], Iterable[tuple[int, int]]], int]:
    """What is gathered when columns are plain vectors."""
    weights = prior.weights
    return lambda ray: zip(ray, weights, strict=True), prior.total


def leaves_of(goal: Goal) -> tuple[Leaf, ...]:
    """The divergences and informations that a goal is made of; a cost is made of none."""
    if isinstance(goal, (PairGoal, InformationGoal)):
        return (goal,)
    if not isinstance(goal, (MeanGoal, LeastGoal)):
        raise Refused("this is about sums over columns, not about a cost", "utility", goal.name)
    return tuple(leaf for part in goal.parts for leaf in leaves_of(part))


def weights_of(goal: Goal) -> list[list[fmpq]]:
    """The goal as the least of several means of its leaves: one row of weights for each."""
    if isinstance(goal, MeanGoal):
        share = fmpq(1, len(goal.parts))
        return [[share * w for part in goal.parts for w in weights_of(part)[0]]]
    if not isinstance(goal, LeastGoal):
        return [[fmpq(1)]]
    sizes = [len(leaves_of(part)) for part in goal.parts]
    return [
        [w for j, size in enumerate(sizes) for w in (weights_of(part)[0] if i == j else [fmpq(0)] * size)]
        for i, part in enumerate(goal.parts)
    ]


def value_of(goal: Goal, view: ExactView) -> arb:
    """The value of a mechanism, from its exact columns, for a sum over columns, a mean or the least of such."""
    if view.k != goal.k:
        raise NotKnown("the mechanism and the utility are about different inputs", "k", view.k)

    def gather(prior: Prior) -> tuple[Callable[[Column], Iterable[tuple[int, int]]], int]:
        by_row, total = (
            (prior.weights, prior.total) if view.row_of is None else prior.masses(view.row_of, view.row_classes)
        )
        prefix = prefix_sums(by_row)
        return lambda column: [(q, members.total(prefix)) for q, members in column.groups], total

    rules = [rule_of(leaf, gather) for leaf in leaves_of(goal)]
    totals = [arb(0)] * len(rules)
    for column in view.columns():
        if column.orbit:
            raise NotKnown("the outputs are too many to list", "m", view.m)
        totals = [total + rule(column) for total, rule in zip(totals, rules, strict=True)]
    least = arb.pos_inf()
    for row in weights_of(goal):
        least = least.min(sum((w * t for w, t in zip(row, totals, strict=True) if w), arb(0)) / view.denominator)
    return least


def is_infinite(x: arb) -> bool:
    """Whether the ball is plus infinity and nothing else."""
    return bool(x > 0 and not x.is_finite())
