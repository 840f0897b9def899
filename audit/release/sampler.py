"""The sampler, audited by sampling: 200 mechanisms, a million draws for each audited input, NumPy and numba.

Family-wise confidence: all 400 audits together raise a false alarm with probability at most 1e-3. Then leaks are
planted at k = 10, ε = 1: samplers that deliver ε = 1.05, either everywhere or for a single input. At least 90% must be
caught by the bound on ε alone. Run with `make audit`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import extremal as ex
from extremal.exact.weights import DENOMINATOR
from extremal.release import sample_codes
from extremal.release.audit import audit
from support.random_mechanisms import random_ldp_matrix

MECHANISMS, DRAWS = 200, 1_000_000
FAMILY = 1e-3
PLANTED, EXTRA, CAUGHT = 50, 0.05, 0.9


def mechanisms(generator: np.random.Generator) -> list[ex.Mechanism]:
    """Randomised responses, windows, partitions and random staircase mechanisms, k = 2..64, ε = 0.1..5."""
    made = []
    for index in range(MECHANISMS):
        k = int(generator.integers(2, 65))
        epsilon = round(float(np.exp(generator.uniform(np.log(0.1), np.log(5)))), 3)
        if index % 4 == 0:
            made.append(ex.randomized_response(k, epsilon))
        elif index % 4 == 1:
            made.append(ex.Mechanism.from_windows(k + 1, int(generator.integers(1, k + 1)), ex.LDP(epsilon)))
        elif index % 4 == 2:
            made.append(
                ex.Mechanism.from_partition(
                    np.sort(generator.permutation(np.arange(k + 2) % max(2, k // 3))), ex.LDP(epsilon)
                )
            )
        else:
            made.append(ex.Mechanism.from_matrix(random_ldp_matrix(generator, k, epsilon), ex.LDP(epsilon)))
    return made


def one_row_tilted(mechanism: ex.Mechanism, extra: float) -> ex.Mechanism:
    """Input 0 tells the truth e^extra times as often as it may; its other reports shrink together."""
    weights = mechanism.weights.astype(object)
    high = int(weights[0, 0] * np.exp(extra))
    weights[0, 1:] = (DENOMINATOR - high) // (mechanism.m - 1)
    weights[0, 0] = DENOMINATOR - int(weights[0, 1:].sum())
    return ex.Mechanism.from_weights(weights.astype(np.int64))


def main() -> int:
    generator, started = np.random.default_rng(8_1965), time.perf_counter()
    refused = exceeded = 0
    made = mechanisms(generator)
    for index, m in enumerate(made):
        for compiled in (False, True):
            found = audit(
                m,
                DRAWS,
                1 - FAMILY / (2 * MECHANISMS),
                sample=lambda codes, m=m, c=compiled: sample_codes(m, codes, compiled=c),
            )
            refused += not found
            exceeded += found.exceeds
            if not found:
                print(f"mechanism {index} {m!r} {'numba' if compiled else 'NumPy'}: {found.summary()}")
        if sys.stderr.isatty():
            print(f"\r{index + 1:4d} / {MECHANISMS}", end="", file=sys.stderr)
    print(
        f"{MECHANISMS} mechanisms × 2 kernels × {DRAWS:,} draws for each audited input in "
        f"{time.perf_counter() - started:.0f} s:"
    )
    print(f"  {exceeded} exceed their ε, {refused} refused, at family-wise level {FAMILY:g} (each must be 0)")
    honest = ex.randomized_response(10, 1)
    worst = 1.0
    for name, leaky in (
        ("everywhere", ex.randomized_response(10, 1 + EXTRA)),
        ("for one input", one_row_tilted(honest, EXTRA)),
    ):
        caught = [
            audit(honest, DRAWS, 1 - FAMILY, sample=lambda codes, t=leaky: sample_codes(t, codes))
            for _ in range(PLANTED)
        ]
        by_bound = sum(found.exceeds for found in caught) / PLANTED
        worst = min(worst, by_bound)
        print(
            f"  planted +{EXTRA} {name}: {by_bound:.0%} caught by the bound, "
            f"{sum(not c for c in caught) / PLANTED:.0%} by any sign"
        )
    return int(refused > 0 or worst < CAUGHT)


if __name__ == "__main__":
    sys.exit(main())
