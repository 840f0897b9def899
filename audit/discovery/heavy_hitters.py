"""How often a discovery lists a string that no device holds, and how often one of its limits fails.

`python -m audit.discovery.heavy_hitters [RUNS]`: devices hold Zipf strings of five letters, salts are new in every run;
at level 95% at most one run in twenty may have a false label, and at most one in twenty a limit that fails. ε is 2,
where a run takes a tenth of the time that it takes at 4; candidates are confirmed by binomial limits at any ε and n.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

import numpy as np

import extremal as ex

DEVICES, EPSILON = 40_000, 2  # of a run
LABELS = 300  # that devices hold, the i-th as often as 1/i


def run(seed: int) -> tuple[bool, bool, int]:
    """Whether a label is false, whether a limit fails, and how many labels are listed."""
    draw = np.random.default_rng(seed)
    letters = np.array(list("abcdefgh"))
    labels = list(dict.fromkeys("".join(row) for row in letters[draw.integers(0, 8, (2 * LABELS, 5))]))[:LABELS]
    weights = 1 / np.arange(1, LABELS + 1)
    strings = [labels[i] for i in draw.choice(LABELS, size=DEVICES, p=weights / weights.sum()).tolist()]
    protocol = ex.HeavyHitters(EPSILON, max_bytes=5, alphabet="abcdefgh", salt=int(draw.integers(2**63)))
    found, held = protocol.discover(protocol.privatize(strings)), Counter(strings)
    truth = dict(zip(labels, (weights / weights.sum()).tolist(), strict=True))
    missed = [
        not low <= truth.get(label, 0.0) <= high
        for label, low, high in zip(found.labels, found.low, found.high, strict=True)
    ]
    return any(label not in held for label in found.labels), any(missed), len(found)


if __name__ == "__main__":
    runs, start = int(sys.argv[1]) if len(sys.argv) > 1 else 200, time.process_time()
    false = failed = listed = 0
    for seed in range(runs):
        wrong, missed, found = run(seed)
        false, failed, listed, done = false + wrong, failed + missed, listed + found, seed + 1
        if done == runs or not done % 100:
            print(
                f"{done} runs, {listed / done:.1f} labels each: {false} with a false label, "
                f"{failed} with a failed limit; {time.process_time() - start:.0f} s",
                flush=True,
            )
