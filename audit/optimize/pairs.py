"""Random pairs under (ε,δ)-LDP: each is designed within half a minute of the processor, with a small proved gap.

    python -m audit.optimize.pairs [count] [first]

KL of Dirichlet pairs at (1, 0.05): 20 inputs, and for every tenth pair 30 inputs, gap at most 5%. Every design is
verified, its value is that of NumPy for its matrix, and it is no worse than to reveal the input with probability δ and
else to use the best ε-mechanism.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

import extremal as ex

EPSILON, DELTA = 1, 0.05
MOST_SECONDS = 30.0  # of the processor, for one design of 20 inputs
MOST_GAP = 0.05
CLOSE = 1e-9  # relative: what floats lose


def kl(p: np.ndarray, q: np.ndarray, matrix: np.ndarray) -> float:
    a, b = p @ matrix, q @ matrix
    return float(np.sum(a[a > 0] * np.log(a[a > 0] / b[a > 0])))


def wrong_about(seed: int, k: int) -> str:
    """What is wrong with a design; empty when nothing is."""
    generator = np.random.default_rng(seed)
    p, q = (generator.dirichlet(np.ones(k)) for _ in range(2))
    started = time.process_time()
    found = ex.design(ex.LDP(EPSILON, DELTA), ex.KL(p, q))
    spent = time.process_time() - started
    print(f"{seed}: {k} inputs, {spent:.1f} s, gap {found.gap:.2e}", flush=True)
    if not ex.verify(found):
        return "not verified"
    if abs(kl(p, q, found.mechanism.matrix) / found.value - 1) > CLOSE:
        return f"value {found.value!r}, {kl(p, q, found.mechanism.matrix)!r} by NumPy"
    pure = ex.design(ex.LDP(EPSILON), ex.KL(p, q)).value
    if found.value < (DELTA * kl(p, q, np.eye(k)) + (1 - DELTA) * pure) * (1 - CLOSE):
        return "revealing is better"
    if spent > MOST_SECONDS and k == 20:
        return f"{spent:.1f} seconds of the processor"
    return "" if math.isfinite(found.gap) and found.gap <= MOST_GAP else f"gap {found.gap:.2%}"


def main(count: int = 50, first: int = 0) -> int:
    bad = 0
    for seed in range(first, first + count):
        for k in (20, 30)[: 1 + (seed % 10 == 0)]:
            wrong = wrong_about(seed, k)
            bad += bool(wrong)
            print(f"   {wrong}" if wrong else "", end="\n" if wrong else "", flush=True)
    print(f"{count} pairs from {first} on, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
