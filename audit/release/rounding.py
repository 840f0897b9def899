"""10,000 random mechanisms through rounding: each must hold exactly, and lose next to no information.

Half are ε-LDP, half ε-PML; k = 2..64, ε = 0.01..20 (log-uniform). Columns are extreme rays of the cone, random mixtures
of them, and everything in between, as floats with float errors. Reported: claims that fail (must be none) and the
largest relative loss of mutual information for ε ≥ 0.1 (must be at most 1e-12). Run with `make audit`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import extremal as ex
from support.random_mechanisms import information_loss, random_ldp_matrix, random_pml_matrix

INSTANCES = 10_000
LARGEST_LOSS = 1e-12


def main() -> int:
    generator = np.random.default_rng(20_240_501)
    failures, worst, started = 0, 0.0, time.perf_counter()
    for index in range(INSTANCES):
        k = int(generator.integers(2, 65))
        epsilon = float(np.exp(generator.uniform(np.log(0.01), np.log(20))))
        prior = generator.dirichlet(np.full(k, generator.choice([0.3, 1.0, 10.0]))) + 1e-6
        prior /= prior.sum()
        if index % 2:
            notion, matrix = ex.PML(epsilon, prior), random_pml_matrix(generator, prior, epsilon)
        else:
            notion, matrix = ex.LDP(epsilon), random_ldp_matrix(generator, k, epsilon)
        mechanism = ex.Mechanism.from_matrix(matrix, notion)
        failures += not notion.holds(mechanism)
        if epsilon >= 0.1:
            worst = max(worst, information_loss(matrix, mechanism, prior))
        if sys.stderr.isatty() and index % 100 == 99:
            print(f"\r{index + 1:6d} / {INSTANCES}", end="", file=sys.stderr)
    print(
        f"{INSTANCES} mechanisms in {time.perf_counter() - started:.0f} s: {failures} claims fail, largest loss "
        f"{worst:.2e} relative"
    )
    return int(failures > 0 or worst > LARGEST_LOSS)


if __name__ == "__main__":
    sys.exit(main())
