"""Subset selection for large alphabets and small sets: members, not flags.

Floyd's algorithm again (Bentley and Floyd 1987), with the d members of each report in a row: n·d² comparisons whatever
the number of inputs, where flags would need n·k.
"""

from __future__ import annotations

import numpy as np

from extremal.release.sampling.loops import Codes
from extremal.release.sampling.subsets import happens, uniform_below
from extremal.release.sampling.words import WordSource, of_values

FEW = 64  # members up to which comparing them all is cheap
MANY = 1 << 12  # inputs from which it beats flags


def is_sparse(k: int, d: int) -> bool:
    """Whether reports are drawn by members."""
    return k >= MANY and d <= FEW


def sparse_subset_reports(k: int, d: int, weight: int, codes: Codes, source: WordSource) -> Codes:
    """What `subsets.subset_reports` draws, member by member: n×d input codes, each row increasing."""
    contains = happens(weight, codes.size, source)
    members = np.full((codes.size, d), -1, dtype=np.int64)
    for step in range(d, 0, -1):  # a report with x draws one member less, and starts a step later
        rows = np.flatnonzero(~contains) if step == d else np.arange(codes.size)
        newest = k - 1 - step  # of the k − 1 others
        drawn = uniform_below(newest + 1, rows.size, of_values(source, rows))
        taken = (members[rows] == drawn[:, None]).any(axis=1)
        members[rows, step - 1] = np.where(taken, newest, drawn)
    members += members >= codes[:, None]  # the others are numbered without x
    members[contains, d - 1] = codes[contains]
    members.sort(axis=1)
    return members
