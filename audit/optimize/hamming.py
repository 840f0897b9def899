"""The smallest ε within a Hamming distortion against the full M×M linear program, bisected to 1e-9.

300 random ordered classes and 150 arbitrary ones, M = 2..6, one to three priors, D from 5% to 99% of where ε* becomes
0. The reference is a linear program in all M² entries at each ε (another formulation, through scipy). Reported: the
largest difference in ε, the largest relative gap, and certificates that fail (must be none). Run with `make audit`.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, lil_matrix

import extremal as ex

SCALE = 1e4  # probabilities and costs are multiplied by this: the solver's tolerances are absolute
DIFFERENCE = 1e-9  # the bisection's own width


def least_distortion(priors: np.ndarray, epsilon: float) -> float:
    k, e = priors.shape[1], math.exp(epsilon)
    rows = lil_matrix((2 * k * k + len(priors), k * k + k + 1))
    for x in range(k):
        for y in range(k):
            at = 2 * (x * k + y)
            rows[at, x * k + y], rows[at, k * k + y] = -1.0, 1.0
            rows[at + 1, x * k + y], rows[at + 1, k * k + y] = 1.0, -e
    for v, p in enumerate(priors):
        for x in range(k):
            rows[2 * k * k + v, x * k + x] = -p[x]
        rows[2 * k * k + v, k * k + k] = -1.0
    right = np.r_[np.zeros(2 * k * k), np.full(len(priors), -SCALE)]
    sums = np.hstack([np.kron(np.eye(k), np.ones(k)), np.zeros((k, k + 1))])
    cost = np.r_[np.zeros(k * k + k), 1.0]
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return (
        float(
            linprog(
                SCALE * cost, csr_matrix(rows), right, sums, np.full(k, SCALE), method="highs-ds", options=options
            ).fun
        )
        / SCALE**2
    )


def bisected(priors: np.ndarray, distortion: float, start: float) -> float:
    """The smallest ε whose full program needs no more than D, found without looking at the exact answer but for a
    bracket."""
    low, high = max(0.0, start - 0.5), start + 0.5
    if least_distortion(priors, low) <= distortion or least_distortion(priors, high) > distortion + 1e-10:
        return math.nan if low > 0 else 0.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if least_distortion(priors, middle) <= distortion * (1 + 1e-11) else (middle, high)
    return high


def main() -> int:
    generator, started = np.random.default_rng(2_016), time.perf_counter()
    failed = False
    for ordered, count in ((True, 300), (False, 150)):
        worst, gap, refused = 0.0, 0.0, 0
        for index in range(count):
            k = int(generator.integers(2, 7))
            priors = generator.dirichlet(
                np.full(k, generator.choice([0.5, 1.0, 3.0])), size=int(generator.integers(1, 4))
            )
            priors = -np.sort(-priors, axis=1) if ordered else priors
            source = ex.SourceClass.ordered(list(priors)) if ordered else ex.SourceClass(list(priors))
            distortion = float(np.max(1 - priors.max(axis=1)) * generator.uniform(0.05, 0.99))
            d = ex.smallest_epsilon(source, distortion)
            if d.value > 0:
                worst = max(worst, abs(d.value - bisected(priors, distortion, d.value)))
            elif least_distortion(priors, 0.0) > distortion + 1e-9:
                refused += 1
            gap, refused = max(gap, d.gap), refused + (not ex.verify(d))
            if sys.stderr.isatty():
                print(f"\r{index + 1:4d} / {count}", end="", file=sys.stderr)
        print(
            f"{count} {'ordered' if ordered else 'arbitrary'} classes: difference {worst:.1e}, gap {gap:.1e}, refused "
            f"{refused}",
            flush=True,
        )
        failed |= not worst <= DIFFERENCE or refused > 0
    print(f"{time.perf_counter() - started:.0f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
