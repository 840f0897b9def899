"""Utilities in 60-digit arithmetic from their textbook definitions: the second opinion of the tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath

import extremal as ex

mp = mpmath.mp.clone()
mp.dps = 60


def exact(m: ex.Mechanism) -> list[list[Any]]:
    return [[mp.mpf(int(w)) / m.denominator for w in row] for row in m.weights]


def number(p: Any) -> Any:
    f = Fraction(str(p)) if not isinstance(p, Fraction) else p
    return mp.mpf(f.numerator) / f.denominator


def normalised(prior: Sequence[Any]) -> list[Any]:
    values = [number(p) for p in prior]
    return [v / mp.fsum(values) for v in values]


F: dict[str, Callable[[Any], Any]] = {
    "KL": lambda x: x * mp.log(x) if x else mp.mpf(0),
    "ReverseKL": lambda x: -mp.log(x),
    "SymmetricKL": lambda x: (x - 1) * mp.log(x),
    "TotalVariation": lambda x: abs(x - 1) / 2,
    "ChiSquared": lambda x: (x - 1) ** 2,
    "SquaredHellinger": lambda x: (mp.sqrt(x) - 1) ** 2,
    "JensenShannon": lambda x: (x * mp.log(2 * x / (1 + x)) + mp.log(2 / (1 + x))) / 2 if x else mp.log(2) / 2,
}


def alpha_f(alpha: Any) -> Callable[[Any], Any]:
    a = number(alpha)
    return lambda x: (x**a - a * x + a - 1) / (a * (a - 1))


def hockey_f(gamma: Any) -> Callable[[Any], Any]:
    g = number(gamma)
    return lambda x: max(x - g, mp.mpf(0)) - max(1 - g, mp.mpf(0))


def divergence(f: Callable[[Any], Any], q: list[list[Any]], p0: Sequence[Any], p1: Sequence[Any]) -> Any:
    a, b = normalised(p0), normalised(p1)
    m0 = [mp.fsum(p * row[y] for p, row in zip(a, q, strict=True)) for y in range(len(q[0]))]
    m1 = [mp.fsum(p * row[y] for p, row in zip(b, q, strict=True)) for y in range(len(q[0]))]
    return mp.fsum(y * f(x / y) for x, y in zip(m0, m1, strict=True))


def information(q: list[list[Any]], prior: Sequence[Any]) -> Any:
    p = normalised(prior)
    marginal = [mp.fsum(a * row[y] for a, row in zip(p, q, strict=True)) for y in range(len(q[0]))]
    return mp.fsum(
        a * v * mp.log(v / m)
        for a, row in zip(p, q, strict=True)
        for v, m in zip(row, marginal, strict=True)
        if a and v
    )
