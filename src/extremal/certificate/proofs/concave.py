"""Mutual information under ε-LDP at any size: prices that a concave function sets.

On the pattern that is E = e^ε on a set T and 1 elsewhere, information is worth φ(P(T)), with c = E − 1, h(d) =
(1+d)ln(1+d) − d and

    φ(z) = z·h(c) − h(cz),   φ'(z) = h(c) − c·ln(1+cz):    concave, φ(0) = φ(1) = 0.

Prices a with φ(P(T)) ≤ V + a(T) for every set T but the empty and the full one prove OPT ≤ V + (Σa − cV)⁺/E
(docs/design/proofs.md, `concave`). Inputs of probability 0 take no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np
from flint import arb, fmpq

from extremal.certificate.arithmetic import doubles
from extremal.certificate.arithmetic.cones import staircase_of
from extremal.certificate.arithmetic.enclosures import above, fraction, largest, narrow, rational, upper
from extremal.certificate.limits import width_of
from extremal.certificate.proof import Bound, Proof, Refused
from extremal.certificate.reading import Number, PriceLines
from extremal.exact import Prior
from extremal.problem import Goal, InformationGoal, Privacy

MOST_STEPS = 1_000_000  # lines times inputs: some seconds


@dataclass(frozen=True)
class Concave(Proof):
    """Fields: value and lines, pairs (A, b).

    Without lines: prices g(p_x), value being the contact t ≥ 0. t > 0: V = t − ln(1+t), and g is the tangent of φ − V
    through the origin up to its contact z = t/c, and φ − V beyond: subadditive. t = 0: V is what randomised response is
    worth, g = φ − V, and the bound is V + (k−1)(V−D)⁺, D = φ(p) + φ(q) − φ(p+q) for the two smallest symbols.

    With lines: prices max_i (A_i + b_i·p_x), value being V ≥ 0: a set of d symbols of mass z costs at least d·A_i +
    b_i·z, for every i, and φ lies below its tangents. What the best line misses for some d is added to V.
    """

    kind: ClassVar[str] = "concave"
    value: Number
    lines: PriceLines = ()

    def work(self, privacy: Privacy, goal: Goal) -> int:
        return 10 * width_of(goal) * len(self.lines)

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        if not isinstance(goal, InformationGoal):
            raise Refused("this is about mutual information", "utility", goal.name)
        if self.value < 0:
            raise Refused("value must not be negative", "value", str(self.value)[:20])
        curve, prior = PatternWorth(staircase_of(privacy, goal.k).top), goal.prior
        if not curve.c or _positive(prior) == 1:
            return Fraction(0)
        if self.lines:
            return self._by_size(curve, prior)
        return _by_contact(curve, rational(self.value), prior) if self.value else _by_response(curve, prior)

    def _by_size(self, curve: PatternWorth, prior: Prior) -> Bound:
        weights, total = _weights(prior)
        if len(self.lines) * len(weights) > MOST_STEPS:
            raise Refused("there must be lines, not too many", "len(lines)", len(self.lines))
        v, lines = arb(rational(self.value)), [(rational(a), rational(b)) for a, b in self.lines]
        turns, at = [(a, b, curve.where(b)) for a, b in lines], cache(lambda y: (curve.value(y), curve.slope(y)))

        def above_line(a: fmpq, b: fmpq, turn: fmpq, d: int, ends: tuple[fmpq, fmpq]) -> arb:
            """An upper bound on φ(z) − b·z − d·A for z between the ends."""
            y = min(max(turn, ends[0]), ends[1])
            value, slope = at(y)
            rise = largest([arb(0), *((slope - arb(b)) * arb(end - y) for end in ends)])
            return (value - arb(b * y + a * d) + rise).upper()

        excess, low, high = arb(0), 0, 0
        for d in range(1, len(weights)):
            low, high = low + weights[d - 1], high + weights[-d]
            ends = fmpq(low, total), fmpq(high, total)
            fewest = arb.pos_inf()
            for line in turns:
                fewest = fewest.min(above_line(*line, d, ends))
            excess = largest([excess, fewest - v])
        prices = [largest([arb(a + b * fmpq(w, total)) for a, b in lines]) for w in weights]
        return upper(_proved(curve, v, sum(prices, arb(0))) + excess)


def _by_contact(curve: PatternWorth, t: fmpq, prior: Prior) -> Bound:
    """Light symbols cost in proportion to their mass, so that their sum will do."""
    v = narrow(lambda: arb(t) - arb(t).log1p())
    light, heavy = _parted(prior, min(fraction(t / curve.c), Fraction(1)))
    prices = curve.slope(t / curve.c) * arb(rational(light))
    return upper(_proved(curve, v, sum((curve.value(rational(p)) - v for p in heavy), prices)))


def _by_response(curve: PatternWorth, prior: Prior) -> Bound:
    weights, total = _weights(prior)
    k = len(weights)
    v = sum((curve.value(fmpq(w, total)) for w in weights), arb(0)) / arb(curve.c + k)
    a, b = (fmpq(w, total) for w in weights[:2])
    merged = curve.value(a) + curve.value(b) - curve.value(a + b)
    return upper(v + (k - 1) * (v - merged).max(arb(0)))


@dataclass(frozen=True)
class PatternWorth:
    """φ and its slope at rational points."""

    top: fmpq

    @property
    def c(self) -> fmpq:
        return self.top - 1

    def value(self, z: fmpq) -> arb:
        return narrow(lambda: arb(z) * _excess(self.c) - _excess(self.c * z))

    def slope(self, z: fmpq) -> arb:
        return narrow(lambda: _excess(self.c) - arb(self.c) * arb(self.c * z).log1p())

    def where(self, slope: fmpq) -> fmpq:
        """A mass near which φ' has this slope; within [0, 1]. A choice: nothing relies on it."""
        y = ((_excess(self.c) - arb(slope)) / arb(self.c)).expm1() / arb(self.c)
        near = above(y.mid())
        return fmpq(0) if near is None else min(max(near, fmpq(0)), fmpq(1))


def _excess(d: fmpq) -> arb:
    return (1 + arb(d)) * arb(d).log1p() - arb(d)


def _weights(prior: Prior) -> tuple[list[int], int]:
    """The positive weights of the prior, increasing, with their sum."""
    return sorted(w for w in prior.weights if w), prior.total


def _positive(prior: Prior) -> int:
    """How many symbols can occur."""
    return sum(map(bool, prior.weights)) if prior.binary is None else int(np.count_nonzero(prior.binary))


def _parted(prior: Prior, edge: Fraction) -> tuple[Fraction, list[Fraction]]:
    """The sum of the probabilities that are at most `edge`, and the others, exactly."""
    if prior.binary is None:
        beyond = np.array([w > edge * prior.total for w in prior.weights])
    else:
        beyond = doubles.above(prior.binary, edge * prior.sum_of_values)
    (light, _), total = prior.masses(beyond, 2)
    return Fraction(light, total), [prior.fraction(x) for x in np.flatnonzero(beyond).tolist()]


def _proved(curve: PatternWorth, v: arb, prices: arb) -> arb:
    return v + (prices - arb(curve.c) * v).max(arb(0)) / arb(curve.top)
