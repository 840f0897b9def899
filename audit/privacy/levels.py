"""Fifty thousand levels against the list of all reports: none may differ. A thousand false (ε,δ): none may be believed.

Every structure, half of them with inputs that share rows, the listed ones also followed by a transformation; every
notion; sources of every shape, with zeros, ties, one member and repeated members. The level must be that of the list to
the last digit, the notion must hold there and not one double below. False claims of (ε,δ)-LDP are made one unit of
2^-90 below the truth, where the double of ε is as far from it as it can be. Reported by structure and notion. Run with
`make audit`; the number of levels and the first seed are arguments.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from fractions import Fraction

import numpy as np

from extremal.mechanism import Mechanism
from extremal.privacy import LDP, NOTIONS
from support.levels import (
    DRAWN,
    SOURCES,
    WHOLE,
    composed,
    differs,
    drawn_mechanism,
    drawn_notion,
    excess_is_at_most,
    false_delta,
)

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 0
CLAIMS = max(100, COUNT // 50)
LISTED_KINDS = ("rows", "randomized_response", "two_valued_columns", "circulant")


def levels(count: int) -> Counter[str]:
    """How many levels of each structure and notion were compared; what differs is printed."""
    done: Counter[str] = Counter()
    names, shapes, kinds = list(NOTIONS), list(SOURCES), list(DRAWN)
    for seed in range(FIRST, FIRST + count):
        draw = np.random.default_rng(seed)
        kind, name = kinds[seed % len(kinds)], "PML" if draw.random() < 0.6 else str(draw.choice(names))
        mechanism = drawn_mechanism(draw, kind)
        if kind in LISTED_KINDS and draw.random() < 0.3:
            mechanism = composed(draw, mechanism)
        shape = shapes[int(draw.integers(len(shapes)))]
        wrong = differs(drawn_notion(draw, name, shape, mechanism.k), mechanism)
        done[f"{kind:20} {name}"] += 1
        if wrong is not None:
            done["different"] += 1
            print(f"seed {seed}, {kind}, {shape}: {wrong}", flush=True)
    return done


def claims(count: int) -> tuple[int, int]:
    """(false claims made, believed), and the true one beside each must be believed."""
    made, believed, seed = 0, 0, FIRST
    while made < count:
        seed += 1
        found = false_delta(np.random.default_rng(seed), 20 if seed % 2 else 32, 42)
        if found is None:
            continue
        epsilon, delta, rows = found
        above = delta + Fraction(1, 1 << 89)
        if excess_is_at_most(rows, epsilon, delta) or not excess_is_at_most(rows, epsilon, above):
            raise ArithmeticError("the claim is not false, or the one above it is not true")
        made += 1
        mechanism = Mechanism.from_weights(rows, WHOLE)
        believed += LDP(epsilon, delta).holds(mechanism)
        if not LDP(epsilon, above).holds(mechanism):
            print(f"seed {seed}: a true claim is refused")
            believed += 1
    return made, believed


if __name__ == "__main__":
    start = time.perf_counter()
    done = levels(COUNT)
    different = done.pop("different", 0)
    for name in sorted(done):
        print(f"{name:36} {done[name]:6}")
    print(f"{sum(done.values()):,} levels, {different} different, {time.perf_counter() - start:.0f} s")
    made, believed = claims(CLAIMS)
    print(f"{made:,} false (ε,δ) claims, {believed} believed")
    sys.exit(bool(different or believed))
