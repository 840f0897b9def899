"""Quotients of floats among rationals, against fractions."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from extremal.exact import quotients
from extremal.exact.quotients import reached


def _by_fractions(a: Any, b: Any, limits: list[Fraction]) -> list[int]:
    return [
        bisect_right(limits, Fraction(u) / Fraction(v)) if v else len(limits)
        for u, v in zip(a.tolist(), b.tolist(), strict=True)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_quotients_next_to_limits_are_decided_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (np.ldexp(rng.random(400) + 0.1, rng.integers(-60, 3, 400)) for _ in range(2))
    a[:40], b[20:60] = 0.0, 0.0
    a[60], b[61], b[62] = -0.0, -0.0, 5e-324
    a[63] = b[64] = 1e-310
    a[65], b[65] = 3e-320, 7e-321
    at = [Fraction(u) / Fraction(v) for u, v in zip(a[66:].tolist(), b[66:].tolist(), strict=True)]
    limits = sorted(
        {
            q * (1 + Fraction(int(s), 1 << int(d)))
            for q, s, d in zip(at, rng.integers(-1, 2, 334), rng.integers(3, 90, 334), strict=True)
        }
    )
    assert reached(a, b, limits).tolist() == _by_fractions(a, b, limits)


def test_chunks_and_a_single_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotients, "_CHUNK", 8)
    a, b = np.arange(1.0, 30.0), np.arange(29.0, 0.0, -1.0)
    for limit in (Fraction(1), Fraction(7, 23), Fraction(10**200), Fraction(1, 10**200)):
        assert reached(a, b, [limit]).tolist() == _by_fractions(a, b, [limit])


def test_powers_of_two_are_their_own_limits() -> None:
    a, b = np.ldexp(1.0, np.arange(-30, 30)), np.ones(60)
    limits = [Fraction(2) ** n for n in range(-30, 30)]
    assert reached(a, b, limits).tolist() == list(range(1, 61))
