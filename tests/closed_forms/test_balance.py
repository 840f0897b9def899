"""The most balanced split of a prior, against all subsets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extremal.closed_forms import balanced_subset
from extremal.exact import Prior


@given(st.lists(st.integers(0, 30), min_size=2, max_size=9).filter(any))
def test_balance_against_all_subsets(weights: list[int]) -> None:
    total = sum(weights)
    best = min(
        abs(2 * sum(w for x, w in enumerate(weights) if mask >> x & 1) - total) for mask in range(2 ** len(weights))
    )
    found = balanced_subset(Prior([Fraction(w, total) for w in weights]))
    assert found.imbalance == Fraction(best, total)
    assert found.proven
    assert sum(Fraction(weights[x], total) for x in found.members) == found.probability


def test_balance_of_large_alphabets() -> None:
    generator = np.random.default_rng(1)
    exact = balanced_subset(Prior(generator.dirichlet(np.ones(30))))
    assert exact.proven
    assert exact.imbalance < 1e-6
    large = balanced_subset(Prior(generator.dirichlet(np.ones(2000))))
    assert large.imbalance < 1e-6
    even = balanced_subset(Prior(["1/1000"] * 1000))
    assert (even.probability, even.proven) == (Fraction(1, 2), True)
