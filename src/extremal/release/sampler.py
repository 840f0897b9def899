"""Exact sampling from integer weights with the operating system's randomness.

A row of weights over 2^62 is turned into its partial sums; a 62-bit word u picks the output whose interval holds u. Every output
has exactly its weight's probability. Nothing is seeded and no generator outlives a call.
"""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from extremal.mechanism import Mechanism


def sample_codes(mechanism: Mechanism, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """For each input code one output code, drawn independently from its row."""
    rows = codes if mechanism.row_of is None else mechanism.row_of[codes]
    words = (np.frombuffer(os.urandom(8 * codes.size), dtype=np.uint64) >> np.uint64(2)).astype(np.int64)
    reports = np.empty(codes.size, dtype=np.intp)
    for row in np.unique(rows):
        where = np.flatnonzero(rows == row)
        # Partial sums without the last one, 2^62, which every 62-bit word lies below.
        edges = np.cumsum(mechanism.kernel.row(int(row)))[:-1]
        reports[where] = np.searchsorted(edges, words[where], side="right")
    return reports
