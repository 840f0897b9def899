"""Keyed reports, audited by sampling: 200 mechanisms, each audited input 200,000 times under ids of its own.

Half of them take one word a report (tables), half of them many (sets, bits, filters, rules, groups). Family-wise
confidence: all audits together raise a false alarm with probability at most 1e-3. A tenth of the mechanisms, of every
kind, is then given ids that repeat (every id fifty times), and at least 90% of those must be refused: fifty equal
reports are no fifty reports. Run with `make audit`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

import numpy as np

import extremal as ex
from audit.release.sampler import FAMILY, MECHANISMS, mechanisms
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.release.audit import audit
from extremal.release.engines.keyed import KeyedColumn, RowWords, sample_keyed

DRAWS = 200_000
REPEATED, TIMES, CAUGHT = 20, 50, 0.9


class Keyed:
    """A sampler under one release key; each call has ids that no other call has."""

    def __init__(self, mechanism: ex.Mechanism, times: int = 1) -> None:
        self.mechanism, self.times, self.next = mechanism, times, -(10**15)
        self.keys = KeyedColumn(mechanism, "answer", ex.ReleaseKey.new())._keys

    def __call__(self, codes: Any) -> Any:
        self.next += codes.size
        return sample_keyed(self.mechanism, codes, RowWords(self.next + np.arange(codes.size) // self.times, self.keys))


def many_words(generator: np.random.Generator, index: int) -> ex.Mechanism:
    """A mechanism of each structure in turn whose reports take several words, some a number that varies."""
    k, large = int(generator.integers(41, 101)), int(generator.integers(300, 601))
    epsilon = round(float(np.exp(generator.uniform(np.log(0.3), np.log(4)))), 3)
    return (
        lambda: ex.subset_selection(k, epsilon),
        lambda: ex.unary_encoding(k, epsilon),
        lambda: ex.local_hashing(large, epsilon),
        lambda: ex.hadamard_response(large, epsilon),
        lambda: ex.projective_geometry(large, epsilon),
        lambda: ex.bloom_filter(k, epsilon, once=epsilon / 4),
        lambda: grouped(k // 2, k - k // 2 + 5, epsilon),
    )[index % 7]()


def grouped(first: int, second: int, epsilon: float) -> ex.Mechanism:
    """Sets with half of one group and one of the other, mixed so that every row sums to one."""
    types = [(first // 2, 1), (1, second // 2)]
    steps = np.linalg.solve(np.array(types, dtype=np.float64).T, [first, second])
    of, claim = np.repeat([0, 1], [first, second]), ex.LDP(epsilon)
    structure = grouped_structure(of, types, steps.tolist(), claim.exponential)
    return ex.Mechanism.from_structure(structure, claim, outputs=structure.reports)


def main() -> int:
    started, confidence = time.perf_counter(), 1 - FAMILY / MECHANISMS
    generator = np.random.default_rng(21_2014)
    made = mechanisms(generator)[: MECHANISMS // 2]
    made += [many_words(generator, index) for index in range(MECHANISMS - len(made))]
    kinds = Counter(m.structure.kind for m in made)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    refused = [m for m in made if not audit(m, DRAWS, confidence, sample=Keyed(m))]
    for m in refused:
        print(f"refused: {m!r}")
    print(
        f"{MECHANISMS} mechanisms × {DRAWS:,} keyed draws for each audited input in {time.perf_counter() - started:.0f}"
        f" s: {len(refused)} refused at family-wise level {FAMILY:g} (must be 0)"
    )
    some = made[:: MECHANISMS // REPEATED - 1][:REPEATED]
    caught = sum(not audit(m, DRAWS, confidence, sample=Keyed(m, TIMES)) for m in some)
    print(f"  ids that repeat {TIMES} times: {caught} of {REPEATED} refused (at least {CAUGHT:.0%})")
    return int(bool(refused) or caught < CAUGHT * REPEATED)


if __name__ == "__main__":
    sys.exit(main())
