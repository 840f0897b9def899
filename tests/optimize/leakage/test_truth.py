"""Designs under PML and LIP against optima in 50 digits, where floats fail: two inputs, tiny ε, inputs that never
occur."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import extremal as ex
from extremal.certificate import enclosure
from extremal.optimize import Design
from extremal.testing.designs import check

mp = mpmath.mp.clone()
mp.dps = 50

UTILITIES = {
    "KL": lambda a, b: a * mp.log(a / b) - a + b if a and b else (b if not a else mp.inf),
    "TotalVariation": lambda a, b: abs(a - b) / 2,
    "SquaredHellinger": lambda a, b: (mp.sqrt(a) - mp.sqrt(b)) ** 2,
}


def real(x: Any) -> Any:
    f = Fraction(str(x))
    return mp.mpf(f.numerator) / f.denominator


def vertices(p: list[Any], low: Any, top: Any) -> list[list[Any]]:
    """All lift vectors with every entry low or top but one, on the support; unit vectors elsewhere."""
    support = [x for x, v in enumerate(p) if v]
    found = [[mp.mpf(int(x == z)) for z in range(len(p))] for x, v in enumerate(p) if not v]
    for j in support:
        others = [x for x in support if x != j]
        for ends in itertools.product((low, top), repeat=len(others)):
            rest = (1 - mp.fsum(e * p[x] for e, x in zip(ends, others, strict=True))) / p[j]
            rest = mp.mpf(0) if abs(rest) < mp.mpf(10) ** -45 else rest
            if low <= rest <= top:
                lift = [mp.mpf(0)] * len(p)
                lift[j] = rest
                for e, x in zip(ends, others, strict=True):
                    lift[x] = e
                found.append(lift)
    return found


def optimum(columns: list[list[Any]], values: list[Any]) -> Any:
    """max Σθ·value with Σθ·column = 1, θ ≥ 0, over every basis."""
    k, best = len(columns[0]), mp.mpf(0)
    for basis in itertools.combinations(range(len(columns)), k):
        matrix = mp.matrix([[columns[y][x] for y in basis] for x in range(k)])
        if abs(mp.det(matrix)) < mp.mpf(10) ** -40:
            continue
        theta = mp.lu_solve(matrix, mp.matrix([1] * k))
        if min(theta) > -(mp.mpf(10) ** -20):
            best = max(best, mp.fsum(t * values[y] for t, y in zip(theta, basis, strict=True)))
    return best


def divergence(kind: str, columns: list[list[Any]], p0: list[Any], p1: list[Any]) -> list[Any]:
    value = UTILITIES[kind]
    return [value(mp.fdot(p0, c), mp.fdot(p1, c)) for c in columns]


def information(columns: list[list[Any]], p: list[Any]) -> list[Any]:
    found = []
    for c in columns:
        m = mp.fdot(p, c)
        found.append(mp.fsum(w * q * mp.log(q / m) for w, q in zip(p, c, strict=True) if w and q))
    return found


def encloses(design: Design, truth: Any, gap: float) -> None:
    """The truth lies between the exact value and the bound, and they are close."""
    check(design, gap)
    low, _ = enclosure(design.utility, design.mechanism)
    assert real(low) <= truth * (1 + mp.mpf(10) ** -30)
    assert truth <= mp.mpf(design.upper_bound) * (1 + mp.mpf(10) ** -30)


@pytest.mark.parametrize("kind", UTILITIES)
@pytest.mark.parametrize(
    ("epsilon", "prior", "p0", "p1"),
    [
        ("1", ["8/11", "3/11"], ["0", "1"], ["1/2", "1/2"]),
        ("1/2", ["8/11", "3/11"], ["1/3", "2/3"], ["1/2", "1/2"]),
        ("1/1000000", ["8/11", "3/11"], ["1/3", "2/3"], ["1/2", "1/2"]),
    ],
)
def test_two_inputs(kind: str, epsilon: str, prior: list[str], p0: list[str], p1: list[str]) -> None:
    p, first, second = ([real(x) for x in row] for row in (prior, p0, p1))
    columns = vertices(p, mp.mpf(0), mp.exp(real(epsilon)))
    truth = optimum(columns, divergence(kind, columns, first, second))
    design = ex.design(ex.PML(Fraction(epsilon), prior), getattr(ex, kind)(p0, p1))
    assert "two inputs" in design.method
    encloses(design, truth, 1e-9 if epsilon == "1/1000000" else 1e-14)


@pytest.mark.parametrize("epsilon", ["1e-8", "1e-6", "1e-4"])
@pytest.mark.parametrize("notion", [ex.PML, ex.LIP])
def test_small_epsilon(notion: Any, epsilon: str) -> None:
    """The values are of order ε² and the weights multiples of 2^-62: below ε = 1e-7 these limit the gap."""
    prior, p0, p1 = ["0.5", "0.3", "0.2"], ["0.1", "0.6", "0.3"], ["0.3", "0.3", "0.4"]
    p, first, second = ([real(x) for x in row] for row in (prior, p0, p1))
    top = mp.exp(real(epsilon))
    columns = vertices(p, mp.mpf(0) if notion is ex.PML else 1 / top, top)
    gap = max(1e-9, 1e-16 / float(epsilon))
    privacy = notion(epsilon, prior)
    encloses(ex.design(privacy, ex.MutualInformation(prior)), optimum(columns, information(columns, p)), gap)
    for kind in ("KL", "TotalVariation"):
        truth = optimum(columns, divergence(kind, columns, first, second))
        encloses(ex.design(privacy, getattr(ex, kind)(p0, p1)), truth, gap)


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2"])
@pytest.mark.parametrize("same", [False, True], ids=["told apart", "worth nothing alone"])
def test_inputs_that_never_occur_are_revealed(epsilon: str, same: bool) -> None:
    """Also one that both hypotheses give the same mass: beside it the others are worth more."""
    prior, p0 = ["0.6", "0.4", "0"], ["0.5", "0.2", "0.3"]
    p1 = ["0.1", "0.6", "0.3"] if same else ["0.3", "0.6", "0.1"]
    p, first, second = ([real(x) for x in row] for row in (prior, p0, p1))
    columns = vertices(p, mp.mpf(0), mp.exp(real(epsilon)))
    for kind in UTILITIES:
        truth = optimum(columns, divergence(kind, columns, first, second))
        encloses(ex.design(ex.PML(epsilon, prior), getattr(ex, kind)(p0, p1)), truth, 1e-9)
    truth = optimum(columns, information(columns, first))
    encloses(ex.design(ex.PML(epsilon, prior), ex.MutualInformation(p0)), truth, 1e-9)
