"""The theorem of sorted partitions for millions of symbols: cells between ratios instead of between named symbols.

*Assumes* what `partition` assumes. *Checks* that every symbol lies in the cell that its likelihood ratio belongs to,
adds up the cells exactly, and bounds all paths over the nodes of the polygon as `partition` does. Any ratios serve: the
closer they are to where the best partition cuts, the smaller the bound.

The ratio of a symbol is compared in floats, which are off by less than `MARGIN` relatively, with each end moved both
down and up by more than that: what lies below both or above both is decided, and the few symbols in between are decided
by integer cross products. Sums are of integers.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from extremal.certificate.cones import Staircase, cone_of
from extremal.certificate.partition import MOST_CELLS, longest_path, turning_points
from extremal.certificate.proof import Number, Numbers, Proof
from extremal.certificate.refused import Refused
from extremal.exact import Prior
from extremal.privacy import Notion
from extremal.utility import Divergence, Utility

MOST_ENDS = 3_000
MARGIN = Fraction(1, 1 << 44)  # floats of exact priors are off by a few units of 2^-53, and so is their quotient
SMALLEST, LARGEST = Fraction(1, 10**200), Fraction(10**200)  # of ends: quotients of floats are accurate there
TINY = 1e-250  # floats below are not taken for what they stand for
CHUNK = 1 << 18
KEY_SHIFT = 44  # a key is the exponent of a float and 8 bits of its mantissa


@dataclass(frozen=True)
class Ratios(Proof):
    """Fields: value, a number V ≥ 0 (the bound is smallest when it is the optimum); ends, increasing numbers > 0: cell
    i holds the symbols with P₀/P₁ between ends i−1 and i, the first those from 0 on, the last those up to infinity.
    """

    kind: ClassVar[str] = "ratios"
    value: Number
    ends: Numbers

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        cone = cone_of(privacy, utility.k)
        if not isinstance(cone, Staircase) or not isinstance(utility, Divergence) or self.value < 0:
            raise Refused("the theorem is about f-divergences under ε-LDP", parameter="utility", value=utility.name)
        if not 1 <= len(self.ends) <= MOST_ENDS:
            raise Refused(f"there must be 1 to {MOST_ENDS} ends", parameter="len(ends)", value=len(self.ends))
        if self.ends[0] < SMALLEST or self.ends[-1] > LARGEST or any(a >= b for a, b in pairwise(self.ends)):
            raise Refused("ends must increase, and lie between 1e-200 and 1e200", parameter="ends", value=self.ends[:4])
        p0, p1 = utility.pair.p0, utility.pair.p1
        cell = _cells(p0, p1, self.ends)
        (sums0, total0), (sums1, total1) = (p.masses(cell, len(self.ends) + 1) for p in (p0, p1))
        if any(p.binary is not None and abs(p.sum_of_values - 1) > MARGIN / 4 for p in (p0, p1)):
            raise Refused("the floats of a prior must sum to 1", parameter="prior", value=utility.name)
        masses = [(a * total1, b * total0) for a, b in zip(sums0, sums1, strict=True)]
        directions = [(0, 1), *((end.numerator, end.denominator) for end in self.ends), (1, 0)]
        filled = [(pair, mass) for pair, mass in zip(pairwise(directions), masses, strict=True) if any(mass)]
        if len(filled) > MOST_CELLS:
            raise Refused(f"there may be {MOST_CELLS} cells with mass", parameter="cells", value=len(filled))
        nodes = turning_points([pair for pair, _ in filled], [mass for _, mass in filled])
        return longest_path(cone, utility, nodes, total0 * total1, self.value)


def _cells(p0: Prior, p1: Prior, ends: Numbers) -> npt.NDArray[np.int16]:
    """For each symbol the number of the cell that its ratio lies in, decided."""
    bounds = np.array([float(end * (1 + side * MARGIN)) for end in ends for side in (-1, 1)])
    if (np.diff(bounds) < 0).any():
        raise Refused("ends are too close to each other", parameter="ends", value=len(ends))
    place, first = _places(bounds)
    cell = np.empty(len(p0), dtype=np.int16)
    for start in range(0, len(p0), CHUNK):
        a, b = (p.values[start : start + CHUNK] for p in (p0, p1))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            ratio = a / (b + 0.0)  # no negative zeros
        found = place[np.clip((ratio.view(np.int64) >> KEY_SHIFT) - first, 0, place.size - 1)]
        undecided = np.flatnonzero(found < 0)
        found[undecided] = np.searchsorted(bounds, ratio[undecided])
        doubtful = (found & 1).astype(bool)
        if p0.binary is None or p1.binary is None:
            doubtful |= (a < TINY) | (b < TINY)
        found >>= 1
        for x in np.flatnonzero(doubtful).tolist():
            found[x] = _cell(p0.fraction(start + x), p1.fraction(start + x), ends)
        cell[start : start + CHUNK] = found
    return cell


def _places(bounds: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], int]:
    """For each key from the first on: how many bounds lie below the floats that have it, or −1 where one is among them.

    Floats ≥ 0 are in the order of their bits; beyond the first and the last key there is no bound.
    """
    first, last = (int(bounds[[end]].view(np.int64)[0] >> KEY_SHIFT) for end in (0, -1))
    edges = (np.arange(first - 1, last + 3, dtype=np.int64) << KEY_SHIFT).view(np.float64)
    below = np.searchsorted(bounds, edges)
    return np.where(below[:-1] == below[1:], below[:-1], -1), first - 1


def _cell(mass0: Fraction, mass1: Fraction, ends: Numbers) -> int:
    """The cell of one symbol, by exact comparison."""
    return bisect_right(ends, mass0 / mass1) if mass1 else len(ends)
