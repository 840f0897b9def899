"""Sums beyond 64 bits come out exact."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact.weights import DENOMINATOR, as_probabilities, exact_sums, halves, joined

WEIGHT = st.integers(0, DENOMINATOR)


@given(st.integers(1, 5).flatmap(lambda m: st.lists(st.lists(WEIGHT, min_size=m, max_size=m), min_size=1, max_size=6)))
def test_sums_are_those_of_python_integers(rows: list[list[int]]) -> None:
    weights = np.array(rows, dtype=np.int64)
    assert exact_sums(weights, axis=1) == [sum(row) for row in rows]
    assert exact_sums(weights, axis=0) == [sum(column) for column in zip(*rows, strict=True)]


@given(WEIGHT)
def test_halves_join_to_the_whole(weight: int) -> None:
    high, low = halves(np.array([weight], dtype=np.int64))
    assert joined(int(high[0]), int(low[0])) == weight


def test_probabilities_are_rounded_once() -> None:
    third = DENOMINATOR // 3
    assert as_probabilities(np.array([0, third, DENOMINATOR], dtype=np.int64)).tolist() == [
        0.0,
        third / DENOMINATOR,
        1.0,
    ]
