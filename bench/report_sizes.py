"""What a report costs at k = 100, 1,000 and 100,000 labels and ε = 2: bits, microseconds, and people for one precision.

People are those that a rare label's share needs for the precision of subset selection: the ratio of b(1 − b)/(a − b)²,
with a and b the probabilities that a report supports the label when it is and when it is not the truth; up to 4,096
labels the exact mean of all labels at equal shares. Times are the best of three calls (processor time of one core;
numba where installed); of sets of 119 labels also without their tuples, and without numba.
Run alone: python bench/report_sizes.py
"""

from __future__ import annotations

import math
import sys
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import extremal as ex
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import HadamardSets, IndependentBits, RandomizedResponse
from extremal.mechanism.structures.subsets import MOST_SUBSET_ROWS
from extremal.release import sample_codes
from extremal.studies.tradeoff import value_of

EPSILON = 2
MOST_EXACT = 4096  # labels of a workload
MAKERS: dict[str, Any] = {
    "subset selection": ex.subset_selection,
    "projective geometry": ex.projective_geometry,
    "local hashing": ex.local_hashing,
    "unary encoding": ex.unary_encoding,
    "Hadamard response": ex.hadamard_response,
    "randomised response": ex.randomized_response,
}


def variance(m: Any) -> float:
    """n·Var of one label's share: the exact mean of all labels where they are few, else that of a rare label."""
    if m.k <= MOST_EXACT:
        return (value_of(ex.Frequencies(m.k), m) or math.inf) / m.k
    s = m.structure
    if isinstance(s, RandomizedResponse):
        a, b = s.high / DENOMINATOR, s.low / DENOMINATOR
    elif isinstance(s, IndependentBits):
        a, b = s.own / DENOMINATOR, s.other / DENOMINATOR
    else:
        a = s.inside / DENOMINATOR
        if isinstance(s, HadamardSets):  # the half of its block that a label favours, less the other half
            return 1 / s.blocks / (a - (1 - a) * s.size / (s.m - s.size)) ** 2
        common = float(s.overlap(0, 1))
        b = a * common + (1 - a) * s.size * (1 - common) / (s.m - s.size)
    return b * (1 - b) / (a - b) ** 2


def least(k: int) -> float:
    """The same for subset selection, made or not."""
    if k <= MOST_EXACT:
        return variance(ex.subset_selection(k, EPSILON))
    size = round(k / (1 + math.exp(EPSILON)))
    own = math.exp(EPSILON) * size / (math.exp(EPSILON) * size + k - size)
    other = (own * (size - 1) + (1 - own) * size) / (k - 1)
    return other * (1 - other) / (own - other) ** 2


def microseconds(m: Any, members: int, draw: Any = None, column: Any = np.asarray) -> float:
    values = column(np.random.default_rng(1).integers(m.k, size=max(200, min(200_000, 2**22 // members))))
    draw, best = draw or m.privatize, math.inf
    for _ in range(3):
        start = process_time()
        draw(values)
        best = min(best, process_time() - start)
    return 1e6 * best / len(values)


def main() -> int:
    for k in (100, 1000, 100_000):
        best = least(k)
        for name, make in MAKERS.items():
            if name == "subset selection" and k > MOST_SUBSET_ROWS:
                continue  # not made: a set of 12,000 labels
            m = make(k, EPSILON)
            bits = math.log2(m.m) if name != "unary encoding" else k
            members = {"subset selection": getattr(m.structure, "size", 1), "unary encoding": k // 8}.get(name, 1)
            print(
                f"k = {k:<7,} {name:20} {math.ceil(bits):>8,} bits {microseconds(m, members):9.2f} µs "
                f"{variance(m) / best:10.3f} times the people",
                flush=True,
            )
    ways_of_a_set(ex.subset_selection(1000, EPSILON))
    return 0


def ways_of_a_set(m: Any) -> None:
    """The time of one report in columns of several kinds, and in NumPy alone."""
    size = m.structure.size
    times = {
        "codes": microseconds(m, size, lambda x: sample_codes(m, x)),
        "a list": microseconds(m, size, column=np.ndarray.tolist),
        "a column of Arrow": microseconds(m, size, column=pa.array),
        "codes without numba": microseconds(m, size, lambda x: sample_codes(m, x, compiled=False)),
    }
    print(", ".join(f"{way} {spent:.2f} µs" for way, spent in times.items()))


if __name__ == "__main__":
    sys.exit(main())
