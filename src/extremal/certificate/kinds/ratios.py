"""The theorem of sorted partitions for millions of symbols: cells between ratios instead of between named symbols.

*Assumes* what `partition` assumes. *Checks* that every symbol lies in the cell that its likelihood ratio belongs to,
adds up the cells exactly, and bounds all paths over the nodes of the polygon as `partition` does. Any ratios serve: the
closer they are to where the best partition cuts, the smaller the bound.

A symbol of weights a, b has the key floor(2^KEY_BITS·a/b) of integers; the end p/q has the same key of its own ratio in
weights, p/q·total0/total1. Keys never decrease with the ratio, so a key unlike every key of an end decides the side;
what has the key of an end is compared exactly. Floats are divided in 64-bit integers (`exact.quotients`) to the same
end. Sums are of integers.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from extremal.certificate.arithmetic.cones import staircase_of
from extremal.certificate.arithmetic.enclosures import pair_rule
from extremal.certificate.kinds.partition import MOST_CELLS, longest_path, pair_of, turning_points
from extremal.certificate.proof import Number, Numbers, Proof
from extremal.certificate.refused import Refused
from extremal.exact import Prior
from extremal.exact.quotients import reached
from extremal.privacy import Notion
from extremal.utility import Utility

MOST_ENDS = 3_000
KEY_BITS = 62
SMALLEST, LARGEST = Fraction(1, 10**200), Fraction(10**200)  # of ends
CHUNK = 1 << 18


@dataclass(frozen=True)
class Ratios(Proof):
    """Fields: value, a number V ≥ 0 (the bound is smallest when it is the optimum); ends, increasing numbers > 0: cell
    i holds the symbols with P₀/P₁ between ends i−1 and i, the first those from 0 on, the last those up to infinity.
    """

    kind: ClassVar[str] = "ratios"
    value: Number
    ends: Numbers

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        cone, pair = staircase_of(privacy, utility.k), pair_of(utility)
        if not 1 <= len(self.ends) <= MOST_ENDS:
            raise Refused(f"there must be 1 to {MOST_ENDS} ends", parameter="len(ends)", value=len(self.ends))
        if self.ends[0] < SMALLEST or self.ends[-1] > LARGEST or any(a >= b for a, b in pairwise(self.ends)):
            raise Refused("ends must increase, and lie between 1e-200 and 1e200", parameter="ends", value=self.ends[:4])
        p0, p1 = pair.p0, pair.p1
        cell = _cells(p0, p1, self.ends)
        (sums0, total0), (sums1, total1) = (p.masses(cell, len(self.ends) + 1) for p in (p0, p1))
        masses = [(a * total1, b * total0) for a, b in zip(sums0, sums1, strict=True)]
        directions = [(0, 1), *((end.numerator, end.denominator) for end in self.ends), (1, 0)]
        filled = [(ends, mass) for ends, mass in zip(pairwise(directions), masses, strict=True) if any(mass)]
        if len(filled) > MOST_CELLS:
            raise Refused(f"there may be {MOST_CELLS} cells with mass", parameter="cells", value=len(filled))
        nodes = turning_points([ends for ends, _ in filled], [mass for _, mass in filled])
        return longest_path(cone, pair_rule(utility), nodes, total0 * total1, self.value)


def _cells(p0: Prior, p1: Prior, ends: Numbers) -> npt.NDArray[np.int16]:
    """For each symbol the number of the cell that its ratio lies in, decided in integers."""
    if p0.binary is not None and p1.binary is not None:
        scale = p0.sum_of_values / p1.sum_of_values
        return reached(p0.binary, p1.binary, [end * scale for end in ends])
    weights0, weights1 = p0.weights, p1.weights
    limits = [end * p0.total / p1.total for end in ends]  # a/b against these decides
    keys = np.array([(limit.numerator << KEY_BITS) // limit.denominator for limit in limits], dtype=object)
    cell = np.empty(len(p0), dtype=np.int16)
    for start in range(0, len(p0), CHUNK):
        stop = min(start + CHUNK, len(p0))
        a, b = (np.array(w[start:stop], dtype=object) for w in (weights0, weights1))
        never = b == 0  # the ratio is infinite, or the symbol has no mass
        key = (a << KEY_BITS) // np.where(never, 1, b)
        found = np.searchsorted(keys, key, side="right")
        for x in np.flatnonzero(found != np.searchsorted(keys, key, side="left")).tolist():
            if not never[x]:
                found[x] = bisect_right(limits, Fraction(a[x], b[x]))
        found[never] = len(ends)
        cell[start:stop] = found
    return cell
