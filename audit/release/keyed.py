"""Keyed reports, audited by sampling: 200 mechanisms, each audited input 200,000 times under ids of its own.

Family-wise confidence: all audits together raise a false alarm with probability at most 1e-3. A tenth of the mechanisms
is then given ids that repeat (every id fifty times), and at least 90% of those must be refused: fifty equal reports are
no fifty reports. Run with `make audit`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sampler import FAMILY, MECHANISMS, mechanisms

import extremal as ex
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


def main() -> int:
    started, confidence = time.perf_counter(), 1 - FAMILY / MECHANISMS
    made = mechanisms(np.random.default_rng(21_2014))
    refused = [m for m in made if not audit(m, DRAWS, confidence, sample=Keyed(m))]
    for m in refused:
        print(f"refused: {m!r}")
    print(
        f"{MECHANISMS} mechanisms × {DRAWS:,} keyed draws for each audited input in {time.perf_counter() - started:.0f}"
        f" s: {len(refused)} refused at family-wise level {FAMILY:g} (must be 0)"
    )
    caught = sum(not audit(m, DRAWS, confidence, sample=Keyed(m, TIMES)) for m in made[:REPEATED])
    print(f"  ids that repeat {TIMES} times: {caught} of {REPEATED} refused (at least {CAUGHT:.0%})")
    return int(bool(refused) or caught < CAUGHT * REPEATED)


if __name__ == "__main__":
    sys.exit(main())
