"""Notions, utilities and numbers as files hold them, read in decimals of many digits."""

from __future__ import annotations

import decimal
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

DIGITS = 150
"""At least; and twice as many as the longest exponent in the proof, because its numbers may cancel."""

NOTHING = Decimal(10) ** -90
"""What is smaller is rounding."""

INFINITE = Decimal("inf")
ZERO, ONE, TWO = Decimal(0), Decimal(1), Decimal(2)

Vector = list[Decimal]
Pair = Callable[[Decimal, Decimal], Decimal]


class Refuted(Exception):
    """The proof does not hold."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Refuted(what)


def enough_digits(proof: dict[str, Any]) -> Any:
    number.cache_clear()  # of another precision
    digits = DIGITS + 2 * max((abs(Decimal(text).adjusted()) for text in texts_of(proof)), default=0)
    return decimal.localcontext(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for name, v in value.items() if name != "kind" for text in texts_of(v))
    elif isinstance(value, list):
        yield from (text for v in value for text in texts_of(v))
    elif isinstance(value, str) and Decimal(value):
        yield value


@functools.lru_cache(100_000)
def number(text: str) -> Decimal:
    exact = Fraction(text)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def numbers(texts: Sequence[str]) -> Vector:
    return [number(t) for t in texts]


def prior(texts: Sequence[str]) -> Vector:
    weights = numbers(texts)
    total = sum(weights)
    return [w / total for w in weights]


def exponential(notion: dict[str, Any]) -> Decimal:
    return number(notion["ratio"]) if "ratio" in notion else number(notion["epsilon"]).exp()


def priors_of(source: dict[str, Any]) -> list[Vector]:
    """The extreme priors of a class, in the order of the page."""
    kind = source["kind"]
    if kind in ("list", "ordered"):
        return different([prior(p) for p in source["priors"]])
    if kind == "simplex":
        return [[Decimal(int(x == y)) for x in range(source["k"])] for y in range(source["k"])]
    if kind == "permutation_invariant":
        return different(sorted(list(p) for p in itertools.permutations(prior(source["priors"][0]))))
    p, radius, found = prior(source["prior"]), number(source["radius"]), []
    for receiver in range(len(p)):
        others = [x for x in range(len(p)) if x != receiver]
        if sum(p[x] for x in others) <= radius:
            found.append([Decimal(int(x == receiver)) for x in range(len(p))])
            continue
        for emptied in itertools.chain(*(itertools.combinations(others, n) for n in range(len(others)))):
            rest = radius - sum((p[x] for x in emptied), ZERO)
            for last in others:
                if last not in emptied and 0 <= rest <= p[last]:
                    moved = [ZERO if x in emptied else v for x, v in enumerate(p)]
                    moved[last] -= rest
                    moved[receiver] += radius
                    found.append(moved)
    return different(found)


def different(vectors: list[Vector]) -> list[Vector]:
    found: list[Vector] = []
    for v in vectors:
        if all(any(abs(a - b) > NOTHING for a, b in zip(v, w, strict=True)) for w in found):
            found.append(v)
    return found


def single(source: dict[str, Any]) -> Vector:
    priors = priors_of(source) if source["kind"] in ("list", "ordered", "ball") else []
    require(len(priors) == 1 and (source["kind"] != "ball" or not number(source["radius"])), "one prior")
    return priors[0]


def size(utility: dict[str, Any]) -> int:
    if "utilities" in utility:
        return size(utility["utilities"][0])
    if "source" in utility:
        source = utility["source"]
        return int(source["k"]) if source["kind"] == "simplex" else len(source.get("prior") or source["priors"][0])
    return len(utility["prior"] if "prior" in utility else utility["p0"])


def pair_rule(utility: dict[str, Any]) -> Pair:
    """M₁·f(M₀/M₁), by the table of the page."""
    name = utility["utility"]
    if name in ("AlphaDivergence", "HockeyStick"):
        return _with_order(name, number(utility["alpha"] if name == "AlphaDivergence" else utility["gamma"]))
    rules: dict[str, Pair] = {
        "KL": lambda a, b: b if not a else INFINITE if not b else a * (a / b).ln() - (a - b),
        "ReverseKL": lambda a, b: a if not b else INFINITE if not a else b * (b / a).ln() - (b - a),
        "SymmetricKL": lambda a, b: INFINITE if not a or not b else (a - b) * (a / b).ln(),
        "TotalVariation": lambda a, b: abs(a - b) / 2,
        "ChiSquared": lambda a, b: INFINITE if not b else (a - b) ** 2 / b,
        "SquaredHellinger": lambda a, b: (a.sqrt() - b.sqrt()) ** 2,
        "JensenShannon": lambda a, b: sum((m * (2 * m / (a + b)).ln() for m in (a, b) if m), ZERO) / 2,
    }
    return lambda a, b: ZERO if not a and not b else rules[name](a, b)


def _with_order(name: str, order: Decimal) -> Pair:
    def power(a: Decimal, b: Decimal) -> Decimal:
        if not a and not b:
            return ZERO
        if order in (0, 1):
            return pair_rule({"utility": "KL" if order else "ReverseKL"})(a, b)
        if not a:
            return b / order if order > 0 else INFINITE
        if not b:
            return a / (1 - order) if order < 1 else INFINITE
        x = a / b
        return b * ((x.ln() * order).exp() - 1 - order * (x - 1)) / (order * (order - 1))

    def stick(a: Decimal, b: Decimal) -> Decimal:
        return max(ZERO, a - order * b if order >= 1 else order * b - a)

    return power if name == "AlphaDivergence" else stick


def dot(a: Sequence[Decimal], b: Sequence[Decimal]) -> Decimal:
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)


def worth(utility: dict[str, Any], q: Vector, mix: Vector) -> Decimal:
    """μ(q); of a worst case the mean of its parts that `mix` chooses."""
    if "utilities" in utility:
        parts = utility["utilities"]
        shares = (
            [w / sum(mix) for w in mix]
            if mix and utility["utility"] == "WorstCase"
            else [ONE / len(parts)] * len(parts)
        )
        return sum((w * worth(part, q, []) for w, part in zip(shares, parts, strict=True) if w), ZERO)
    if utility["utility"] == "MutualInformation":
        p = prior(utility["prior"])
        m = dot(p, q)
        return sum((w * v * (v / m).ln() for w, v in zip(p, q, strict=True) if w and v), ZERO)
    return pair_rule(utility)(dot(prior(utility["p0"]), q), dot(prior(utility["p1"]), q))
