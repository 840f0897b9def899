"""Workloads under PML and LIP: every extreme column listed, small alphabets.

The columns that these notions admit have lifts between two numbers, and their extreme rays are the vertices of {q: π·q
= 1, lowest ≤ q ≤ highest}: all coordinates at an end but one. A workload is designed on them exactly as on staircase
patterns."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from extremal.optimize.workload.lifts import Floats
from extremal.privacy import LIP, PML

ROUNDING = 1e-12


def extreme_columns(privacy: PML | LIP) -> Floats:
    """The vertices, one a column; constants are no use and are left out."""
    prior = privacy.prior.values
    highest = math.exp(privacy.epsilon)
    lowest = math.exp(-privacy.lower) if isinstance(privacy, LIP) else 0.0
    k, found = prior.size, []
    for j in range(k):
        others = [x for x in range(k) if x != j]
        for size in range(k):
            for chosen in combinations(others, size):
                mass = float(prior[list(chosen)].sum())
                middle = (1 - highest * mass - lowest * (1 - mass - prior[j])) / prior[j]
                if lowest - ROUNDING <= middle <= highest + ROUNDING:
                    column = np.full(k, lowest)
                    column[list(chosen)] = highest
                    column[j] = min(max(middle, lowest), highest)
                    found.append(column)
    columns = np.unique(np.round(np.array(found), 12), axis=0).T
    return np.asarray(columns[:, np.ptp(columns, axis=0) > ROUNDING])
