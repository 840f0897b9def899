"""Leakage designs against enumeration, and how far the bounds close on larger alphabets.

1. 500 random instances, N = 3..6, levels in every region: information and three divergences, against the optimum over
the vertices that GSO's
   Algorithm 1 (reconstructed) lists, and against plain vertex enumeration. Reported: the largest relative difference
   (must be at most 1e-9).
2. N = 20, Dirichlet and Zipf priors, every region: information and KL. Reported: the largest gap and time (gap must be
at most 1e-7). 3. N = 100, a few regions: gaps and times (1e-4 for information, 1e-6 for KL). Only with the argument
`large`.

Run with `make audit`; every certificate is verified without a solver.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

import extremal as ex
from support.oracles import algorithm_1, optimum, plain_vertices, region_of

INSTANCES = 500
CLOSE = 1e-9
SMALL_GAP = 1e-7


def agreement() -> bool:
    generator, worst, gaps, started = np.random.default_rng(2024), 0.0, 0.0, time.perf_counter()
    regions: set[tuple[int, int]] = set()
    for _ in range(INSTANCES):
        n = int(generator.integers(3, 7))
        p = generator.dirichlet(np.full(n, generator.choice([0.6, 1.0, 4.0]))) + 1e-3
        p /= p.sum()
        bounds = [*ex.PML(1, p).region_boundaries, ex.PML(1, p).epsilon_max]
        region = int(generator.integers(1, n + 1))
        epsilon = float(generator.uniform(bounds[region - 1] + 1e-3, max(bounds[region], bounds[region - 1] + 2e-3)))
        regions.add((n, region_of(p, epsilon)))
        lifts = algorithm_1(p, epsilon) if epsilon < bounds[-1] else plain_vertices(p, epsilon)
        plain = plain_vertices(p, epsilon)
        pair = generator.dirichlet(np.ones(n)), generator.dirichlet(np.ones(n))
        for utility in (ex.MutualInformation(p), ex.KL(*pair), ex.ChiSquared(*pair), ex.SquaredHellinger(*pair)):
            found = ex.design(ex.PML(epsilon, p), utility)
            for truth in (optimum(utility, lifts), optimum(utility, plain)):
                worst = max(worst, abs(found.value - truth) / truth)
            gaps = max(gaps, found.gap)
    print(
        f"{INSTANCES} instances × 4 utilities in {time.perf_counter() - started:.0f} s, {len(regions)} (N, region) "
        "pairs: "
        f"largest difference {worst:.1e}, largest gap {gaps:.1e}"
    )
    return worst <= CLOSE


def _levels(p: np.ndarray, regions: list[int]) -> list[tuple[int, float]]:
    bounds = [*ex.PML(1, p).region_boundaries, ex.PML(1, p).epsilon_max]
    return [(r, (bounds[r - 1] + bounds[r]) / 2) for r in regions]


def sizes(n: int, regions: list[int], tolerances: dict[str, float], limit: float) -> bool:
    generator, fine = np.random.default_rng(n), True
    zipf = 1 / np.arange(1, n + 1)
    pair = generator.dirichlet(np.ones(n)), generator.dirichlet(np.ones(n))
    for name, p in (("Dirichlet", np.sort(generator.dirichlet(np.ones(n)))[::-1]), ("Zipf", zipf / zipf.sum())):
        for utility in (ex.MutualInformation(p), ex.KL(*pair)):
            gaps, slowest, checking = [], 0.0, 0.0
            for _, epsilon in _levels(p, regions):
                started = time.perf_counter()
                found = ex.design(ex.PML(epsilon, p), utility, tolerance=tolerances[utility.name], time_limit=limit)
                slowest = max(slowest, time.perf_counter() - started)
                started = time.perf_counter()
                fine &= bool(ex.verify(found)) and found.gap <= tolerances[utility.name]
                checking = max(checking, time.perf_counter() - started)
                gaps.append(found.gap)
            print(
                f"N={n} {name} {utility.name}: {len(regions)} regions, largest gap {max(gaps):.1e}, "
                f"slowest {slowest:.1f} s, slowest check {checking:.1f} s"
            )
    return fine


def uniform() -> bool:
    prior = ["1/10000"] * 10_000
    started = time.perf_counter()
    found = ex.design(ex.PML(1, prior), ex.MutualInformation(prior))
    print(f"uniform N=10,000: gap {found.gap:.1e} in {time.perf_counter() - started:.2f} s")
    return bool(ex.verify(found)) and math.isfinite(found.value)


def main() -> int:
    fine = agreement()
    fine &= sizes(20, list(range(1, 21)), {"MutualInformation": SMALL_GAP, "KL": SMALL_GAP}, 60)
    fine &= uniform()
    if "large" in sys.argv[1:]:
        fine &= sizes(100, [2, 5, 25, 50, 75, 95, 99, 100], {"MutualInformation": 1e-4, "KL": 1e-6}, 300)
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())
