"""Alias tables decode to their weights exactly, whatever the weights, and a changed table is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.exact.weights import DENOMINATOR
from extremal.release.sampling.alias import AliasTable, build, column_bits, decode, refuse_tilted
from extremal.release.sampling.loops import CompiledLoops, Loops
from extremal.testing import mechanisms


@st.composite
def weight_rows(draw: st.DrawFn) -> np.ndarray:  # type: ignore[type-arg]
    """Rows with zeros, equal weights, single units and everything on one output."""
    symbols = draw(st.integers(1, 40))
    cuts = st.lists(
        st.integers(0, DENOMINATOR) | st.sampled_from([0, 1, DENOMINATOR - 1, DENOMINATOR // 2, DENOMINATOR // 16]),
        min_size=symbols - 1,
        max_size=symbols - 1,
    )
    rows = [
        np.diff(np.array([0, *sorted(draw(cuts)), DENOMINATOR], dtype=object)) for _ in range(draw(st.integers(1, 4)))
    ]
    return np.array(rows).astype(np.int64)


@given(weight_rows())
def test_the_table_decodes_to_the_weights(weights: np.ndarray) -> None:  # type: ignore[type-arg]
    table = build(weights)  # which compares them itself
    assert table.rows == weights.shape[0]
    assert np.array_equal(decode(table)[:, : weights.shape[1]], weights)
    assert decode(table).sum(axis=1).tolist() == [DENOMINATOR] * weights.shape[0]


@given(mechanisms())
def test_every_mechanism_has_a_table(m: ex.Mechanism) -> None:
    assert np.array_equal(decode(build(m.weights))[:, : m.m], m.weights)


def test_equal_weights_fill_their_columns() -> None:
    table = build(np.full((1, 8), DENOMINATOR // 8))
    assert table.entries.tolist() == list(range(8))
    assert [column_bits(n) for n in (1, 2, 3, 4, 5, 1000)] == [1, 1, 2, 2, 3, 10]


@pytest.mark.parametrize("loops", [Loops(4096), CompiledLoops()], ids=["numpy", "numba"])
def test_the_kernels_read_thresholds_to_the_last_unit(loops: Loops) -> None:
    """For each column the last word below its threshold and the first one at it."""
    weights = np.array([[1, 5, 10, DENOMINATOR - 16], [3, DENOMINATOR - 5, 1, 1], [DENOMINATOR, 0, 0, 0]])
    table = build(weights)
    rows, words, expected = [], [], []
    for place, entry in enumerate(table.entries.tolist()):
        row, column = divmod(place, 4)
        threshold, alias = entry >> 2, entry & 3
        for fraction in {0, threshold - 1, threshold, threshold + 1, (1 << 62) - 1} - {-1}:
            rows.append(row)
            words.append(fraction << 2 | column)
            expected.append(column if fraction < threshold else alias)
    found = loops.from_rows(table, np.array(rows), np.array(words, dtype=np.uint64))
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (1 << 5, "must decode to the weights it was built from; got decoded weight of output"),
        (1, "must decode to the weights it was built from"),
        (1 << 3, "whole units of 2\\^-62"),
    ],
    ids=["threshold", "alias", "spare bits"],
)
def test_a_tilted_table_is_refused(change: int, message: str) -> None:
    m = ex.randomized_response(5, 1)
    entries = build(m.weights).entries.copy()
    entries[3] ^= np.uint64(change)
    with pytest.raises(ex.errors.PrivacyViolation, match=message):
        refuse_tilted(AliasTable(entries, 3), m.weights)


def test_weight_on_a_padding_column_is_refused() -> None:
    weights = np.array([[DENOMINATOR // 2, DENOMINATOR // 2]])
    padded = build(np.array([[DENOMINATOR // 2, DENOMINATOR // 4, DENOMINATOR // 4]]))
    with pytest.raises(ex.errors.PrivacyViolation, match="decode to the weights"):
        refuse_tilted(padded, weights)
