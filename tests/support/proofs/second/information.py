"""Kinds of proof about information: prices and searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from support.proofs.second.cones import Cone
from support.proofs.second.problem import (
    INFINITE,
    NOTHING,
    ONE,
    ZERO,
    Vector,
    enough_digits,
    number,
    numbers,
    prior,
    require,
    size,
)

LISTED = 4096
"""How many sums of open symbols a search lists."""


class Curve:
    def __init__(self, top: Decimal) -> None:
        self.top, self.c = top, top - 1
        self.full = self.h(self.c)

    @staticmethod
    def h(d: Decimal) -> Decimal:
        return (1 + d) * (1 + d).ln() - d

    def value(self, z: Decimal) -> Decimal:
        return z * self.full - self.h(self.c * z)

    def slope(self, z: Decimal) -> Decimal:
        return self.full - self.c * (1 + self.c * z).ln()


def _staircase(notion: Any, utility: Any) -> tuple[Curve, Vector]:
    require(utility["utility"] == "MutualInformation" and notion["notion"] == "LDP", "information under ε-LDP")
    return Curve(Cone(notion, size(utility), ()).top), sorted(w for w in prior(utility["prior"]) if w)


def subadditive(proof: Any, notion: Any, utility: Any) -> Decimal:
    (curve, p), t = _staircase(notion, utility), number(proof["contact"])
    k, c = len(p), curve.c
    if not c or k == 1:
        return ZERO
    require(t >= 0, "the contact is not negative")
    if not t:
        v = sum(map(curve.value, p), ZERO) / (c + k)
        return v + (k - 1) * max(ZERO, v - (curve.value(p[0]) + curve.value(p[1]) - curve.value(p[0] + p[1])))
    v = t - (1 + t).ln()
    prices = sum(((curve.full - c * (1 + t).ln()) * w if w <= t / c else curve.value(w) - v for w in p), ZERO)
    return v + max(ZERO, prices - c * v) / curve.top


def sizes(proof: Any, notion: Any, utility: Any) -> Decimal:
    (curve, p), v = _staircase(notion, utility), number(proof["value"])
    if not curve.c or len(p) == 1:
        return ZERO
    lines = [numbers(line) for line in proof["lines"]]
    require(v >= 0 and bool(lines), "V ≥ 0 and some lines")
    missed = ZERO
    for d in range(1, len(p)):
        low, high = sum(p[:d], ZERO), sum(p[-d:], ZERO)
        best = INFINITE
        for a, b in lines:
            y = min(max(((curve.full - b) / curve.c).exp() / curve.c - 1 / curve.c, low), high)  # φ'(y) = b, or an end
            best = min(best, curve.value(y) - b * y - d * a)
        missed = max(missed, best - v)
    prices = sum((max(a + b * w for a, b in lines) for w in p), ZERO)
    return v + missed + max(ZERO, prices - curve.c * v) / curve.top


def search(proof: Any, notion: Any, utility: Any) -> Decimal:
    require(_slack(proof, notion, utility) >= 0, "every node is closed")
    return sum(numbers(proof["alpha"]), ZERO)


def slack_of_search(proof: dict[str, Any], notion: dict[str, Any], utility: dict[str, Any]) -> Decimal:
    """By how much the inequality of the worst node of a search holds: negative when it does not.

    Raises:
        Refuted: a precondition fails.
    """
    with enough_digits(proof):
        return _slack(proof, notion, utility)


def _slack(proof: Any, notion: Any, utility: Any) -> Decimal:
    k, alpha = size(utility), numbers(proof["alpha"])
    require(utility["utility"] == "MutualInformation" and len(alpha) == k, "information, one number an input")
    p, cone = prior(utility["prior"]), Cone(notion, k, ())
    require(all(a >= 0 for a, w in zip(alpha, p, strict=True) if not w), "numbers ≥ 0 of what cannot occur")
    count = Counter((w, a) for w, a in zip(p, alpha, strict=True) if w)
    groups = sorted(count, key=lambda g: (-g[0], g[1]))
    jobs: list[tuple[Any, Any]]
    if cone.kind == "LDP":
        require(len(proof["trees"]) == 1, "one tree")
        jobs = [(proof["trees"][0], None)]
    else:
        same = bool(cone.p) and all(abs(a - b) < NOTHING for a, b in zip(cone.p, p, strict=True))
        require(same and cone.top > cone.low and len(proof["trees"]) == len(groups), "one tree a group, the same prior")
        jobs = list(zip(proof["trees"], groups, strict=True))
    replays = [_Replay(cone, alpha, proof["choices"], own, groups, count) for _, own in jobs]
    return min(replay.run(tokens) for replay, (tokens, _) in zip(replays, jobs, strict=True))


class _Replay:
    """One tree; `own` is the group of the fractional symbol, or nothing under ε-LDP."""

    def __init__(self, cone: Cone, alpha: Vector, choices: Any, own: Any, groups: Any, count: Any) -> None:
        self.cone, self.choices, self.own, self.groups, self.total = (
            cone,
            numbers(choices),
            own,
            groups,
            sum(alpha, ZERO),
        )
        self.counts = [count[g] - (g == own) for g in groups]
        self.curve = Curve(cone.top)

    def run(self, tokens: Sequence[int]) -> Decimal:
        self.tokens, self.least = iter(tokens), INFINITE
        self.walk([])
        require(next(self.tokens, None) is None, "the tokens are used up")
        return self.least

    def walk(self, taken: list[int]) -> None:
        token = next(self.tokens, None)
        require(token is not None, "all nodes are closed")
        if token == -1:
            require(len(taken) < len(self.groups), "something is left to branch on")
            for n in range(self.counts[len(taken)] + 1):
                self.walk([*taken, n])
            return
        depth = len(taken)
        opened = [g for g, n in zip(self.groups[depth:], self.counts[depth:], strict=True) for _ in range(n)]
        z, price = (sum((n * g[i] for n, g in zip(taken, self.groups, strict=False)), ZERO) for i in (0, 1))
        close = self.by_tangent if self.own is None else self.by_multiplier
        self.least = min(self.least, close(token or 0, z, price, opened))

    def masses(self, z: Decimal, opened: list[Any], least: Decimal, most: Decimal) -> Vector:
        """What the mass of the taken symbols may be, or numbers around that where sums are too many to list."""
        sums, few = {ZERO}, True
        for w, n in self._from_the_end(opened):
            few = few and len(sums) * (n + 1) <= LISTED
            sums = {s + m * w for s in sums for m in range(n + 1)} if few else sums
        if few:
            return [z + s for s in sums if least - NOTHING <= z + s <= most + NOTHING]
        weights = [w for w, _ in opened]
        low, high = z, z + sum(weights, ZERO)
        low = max(least, z + min(weights)) if low < least else low
        high = min(most, high - min(weights)) if high > most else high
        return [low, high] if low <= high else []

    def _from_the_end(self, opened: list[Any]) -> list[tuple[Decimal, int]]:
        count = Counter(opened)
        return [(g[0], count[g]) for g in reversed(self.groups) if g in count]

    def by_tangent(self, token: int, z: Decimal, price: Decimal, opened: list[Any]) -> Decimal:
        require(0 <= token < len(self.choices) and 0 <= self.choices[token] <= 1, "a mass that is named")
        curve, y = self.curve, self.choices[token]
        slope = curve.slope(y)
        gain = sum((max(ZERO, slope * w - curve.c * a) for w, a in opened), ZERO)
        return self.total - (curve.value(y) + slope * (z - y) - curve.c * price + gain)

    def by_multiplier(self, token: int, z: Decimal, price: Decimal, opened: list[Any]) -> Decimal:
        low, top, (p, a) = self.cone.low, self.cone.top, self.own
        step = top - low
        b = (1 - low) / step
        masses = self.masses(z, opened, b - p, b)
        if not masses:
            return INFINITE
        require(0 <= token < len(self.choices), "a multiplier that is named")

        def g(t: Decimal) -> Decimal:
            return t * t.ln() - t + 1 if t else ONE

        def dip(f: Decimal) -> Decimal:
            return g(low) + f * (g(top) - g(low)) - g(low + step * f)

        nu, needed = self.choices[token], (g(low) + b * (g(top) - g(low)) - low * self.total) / step
        fixed = nu * (b - z) + price + sum((min(ZERO, v - nu * w) for w, v in opened), ZERO) - needed
        ends = [(b - m) / p for m in (min(masses), max(masses))]
        found: Decimal = min(fixed + f * (a - nu * p) + p * dip(f) / step for f in ends)
        return found
