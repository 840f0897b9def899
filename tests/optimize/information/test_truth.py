"""Information under ε-LDP against optima in 50 digits, from ε = 1e-9 to 100."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import extremal as ex
from extremal.certificate import enclosure
from extremal.testing.designs import check

mp = mpmath.mp.clone()
mp.dps = 60


def real(x: Any) -> Any:
    f = Fraction(str(x))
    return mp.mpf(f.numerator) / f.denominator


def optimum(prior: list[str], epsilon: str) -> Any:
    """The best of all bases of the program over patterns 1 + c·1_T."""
    p, c = [real(x) for x in prior], mp.expm1(real(epsilon))
    k, best = len(p), mp.mpf(0)
    sets = [s for s in itertools.product((0, 1), repeat=k) if 0 < sum(s) < k]
    columns = [[1 + c * inside for inside in s] for s in sets]
    values = []
    for column in columns:
        m = mp.fdot(p, column)
        values.append(mp.fsum(w * q * mp.log(q / m) for w, q in zip(p, column, strict=True) if w))
    for basis in itertools.combinations(range(len(sets)), k):
        cover = mp.matrix([[sets[y][x] for y in basis] + [-1] for x in range(k)] + [[1] * k + [c]])
        if abs(mp.det(cover)) < mp.mpf(10) ** -30:
            continue
        theta = mp.lu_solve(cover, mp.matrix([0] * k + [1]))
        if min(theta) > -(mp.mpf(10) ** -40):
            best = max(best, mp.fsum(t * values[y] for t, y in zip(theta, basis, strict=False)))
    return best


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", "1e-3", "0.5", "3", "20", "100"])
@pytest.mark.parametrize("prior", [["0.5", "0.3", "0.2"], ["0.6", "0.2", "0.2"], ["0.55", "0.35", "0.1"]], ids=str)
def test_the_optimum_lies_between_value_and_bound(prior: list[str], epsilon: str) -> None:
    """At tiny ε weights, multiples of 2^-62, limit the value; at large ε the probability of a false report."""
    found = check(ex.design(ex.LDP(epsilon), ex.MutualInformation(prior)), max(1e-12, 2e-17 / float(epsilon)))
    truth, (low, _) = optimum(prior, epsilon), enclosure(found.utility, found.mechanism)
    assert real(low) <= truth * (1 + mp.mpf(10) ** -30)
    assert truth <= mp.mpf(found.upper_bound) * (1 + mp.mpf(10) ** -30)
