"""Exact alias tables: one 64-bit word and one 8-byte load for each value, no rejection.

A row of weights over 2^62 is spread over 2^c ≥ m columns of 2^(62−c) units each. A column holds units of its own output
up to a threshold t, and units of one other output, its alias, above. The low c bits of a word choose the column, its
high bits are compared with t: every output has exactly its weight's probability. An entry packs t·2^(c+2) + alias; a
full column is its own alias, so that t never needs the value 2^(62−c). `decode` reads the packed entries back into
weights, and every build compares them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.errors import PrivacyViolation
from extremal.exact.weights import WEIGHT_BITS, Weights

Entries = npt.NDArray[np.uint64]
SPARE_BITS = 64 - WEIGHT_BITS


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Packed rows, one after the other, of 2^bits entries each."""

    entries: Entries
    bits: int

    @property
    def rows(self) -> int:
        return self.entries.size >> self.bits


def column_bits(symbols: int) -> int:
    """c with 2^c ≥ symbols, at least 1: a shift by 64 − 0 would not be defined in compiled code."""
    return max(1, (symbols - 1).bit_length())


def build(weights: Weights) -> AliasTable:
    """The alias table of rows of weights, each summing to 2^62, checked by decoding it."""
    rows, symbols = weights.shape
    bits = column_bits(symbols)
    entries = np.empty((rows, 1 << bits), dtype=np.uint64)
    padded = np.zeros(1 << bits, dtype=np.int64)
    for i in range(rows):
        padded[:symbols] = weights[i]
        entries[i] = _packed_row(padded, bits)
    table = AliasTable(entries.reshape(-1), bits)
    table.entries.setflags(write=False)
    refuse_tilted(table, weights)
    return table


def _packed_row(weights: Weights, bits: int) -> Entries:
    """The sweep over light and heavy columns, done by partial sums.

    Light columns lack D units in total so far, heavy ones have E too many. A light column is topped up by the first
    heavy one whose E reaches the D before it; a heavy column that D has overtaken is itself topped up by the next heavy
    one.
    """
    capacity = 1 << (WEIGHT_BITS - bits)
    light, heavy = np.flatnonzero(weights < capacity), np.flatnonzero(weights >= capacity)
    lacking = np.cumsum(capacity - weights[light])
    excess = np.cumsum(weights[heavy] - capacity)
    threshold = np.zeros(weights.size, dtype=np.int64)
    alias = np.arange(weights.size)
    before = np.concatenate(([0], lacking[:-1])) if light.size else lacking
    threshold[light] = weights[light]
    alias[light] = heavy[np.searchsorted(excess, before, side="left")]
    overtaken = np.searchsorted(lacking, excess, side="right")
    closed = np.flatnonzero(overtaken < light.size)  # the others stay full
    threshold[heavy[closed]] = capacity + excess[closed] - lacking[overtaken[closed]]
    alias[heavy[closed]] = heavy[closed + 1]
    return (threshold.astype(np.uint64) << np.uint64(bits + SPARE_BITS)) | alias.astype(np.uint64)


def decode(table: AliasTable) -> Weights:
    """The weights that sampling from the packed entries gives, rows × 2^bits: read as the kernels read them."""
    width, bits = 1 << table.bits, np.uint64(table.bits)
    entries = table.entries.reshape(-1, width)
    own = np.arange(width, dtype=np.uint64)
    alias = entries & np.uint64(width - 1)
    compared = entries >> bits  # what the 64 − c high bits of a word are compared with, in units of 2^-(64−c)
    if (compared & np.uint64((1 << SPARE_BITS) - 1)).any():
        raise PrivacyViolation(
            "the entries of an alias table must be whole units of 2^-62", parameter="entries", value="odd bits"
        )
    threshold = (compared >> np.uint64(SPARE_BITS)).astype(np.int64)
    rest = (1 << (WEIGHT_BITS - table.bits)) - threshold
    weights = np.where(alias == own, rest + threshold, threshold)
    target = np.arange(entries.shape[0])[:, None] * width + alias.astype(np.int64)
    np.add.at(weights.reshape(-1), target.reshape(-1), np.where(alias == own, 0, rest).reshape(-1))
    return weights


def refuse_tilted(table: AliasTable, weights: Weights) -> None:
    """Raise unless the table samples exactly these weights."""
    found, symbols = decode(table), weights.shape[1]
    if not np.array_equal(found[:, :symbols], weights) or found[:, symbols:].any():
        row, output = np.argwhere(found[:, :symbols] != weights)[0] if found[:, symbols:].sum() == 0 else (0, symbols)
        raise PrivacyViolation(
            "an alias table must decode to the weights it was built from",
            parameter=f"decoded weight of output {int(output)} in row {int(row)}",
            value=int(found[row, output]),
            hint="Nothing was released. Memory was changed, or this is a bug: please report it.",
        )
