"""A million labels and a million reports: seconds (of one core) to privatise and to estimate, and the heavy labels.

Half of the people give one of ten labels (5% each), the others any of the million. Joint intervals at 95% for all
labels at once (for local hashing for the 1,000 labels that are asked for).

Run alone: python bench/million_labels.py [REPORTS]
"""

from __future__ import annotations

import resource
import sys
from time import process_time
from typing import Any

import numpy as np

import extremal as ex

K, N = 1_000_000, int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
HEAVY = 10
MAKERS: dict[str, Any] = {
    "randomised response, ε = 12": lambda: ex.randomized_response(K, 12),
    "subset selection, ε = 12": lambda: ex.subset_selection(K, 12),
    "Hadamard response, ε = 1": lambda: ex.hadamard_response(K, 1),
    "projective geometry, ε = 1": lambda: ex.projective_geometry(K, 1),
    "local hashing, ε = 1, 1,000 labels": lambda: ex.local_hashing(K, 1),
}


def main() -> int:
    random = np.random.default_rng(1)
    x = np.where(random.random(N) < 0.5, random.integers(HEAVY, size=N) * 99_991, random.integers(K, size=N))
    truth = np.bincount(x, minlength=K) / N
    heavy, bad = np.arange(HEAVY) * 99_991, 0
    for name, make in MAKERS.items():
        start = process_time()
        m = make()
        made = process_time()
        reports = m.privatize(x)
        drawn = process_time()
        if name.startswith("local"):
            asked = np.union1d(heavy, random.choice(K, size=1000 - HEAVY, replace=False))
            found = ex.estimate_frequencies(reports, m, labels=asked.tolist())
        else:
            found = ex.estimate_frequencies(reports, m)
            _ = found.standard_error
        counted = process_time()
        limits, labels = found.interval(simultaneous=True), np.array(found.inputs)
        intervals = process_time()
        shown = found.heavy(0.001).inputs
        held = bool(((limits[:, 0] <= truth[labels] + 1e-12) & (truth[labels] <= limits[:, 1] + 1e-12)).all())
        missed = len(set(heavy.tolist()) - set(shown))
        bad += (not held) + missed
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name:36} made {made - start:5.2f} s, privatised {drawn - made:5.2f} s, "
            f"estimated {counted - drawn:5.2f} s, joint limits {intervals - counted:5.2f} s; "
            f"{len(shown)} labels above 0.1%, {missed} missed, all limits hold: {held}; "
            f"{memory:.1f} GB at most so far",
            flush=True,
        )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
