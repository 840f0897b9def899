"""Random workloads of any rank: none raises, every design verifies, and its value is that of the mechanism.

    python -m audit.optimize.workload [count]

Statistics with dependent, constant and repeated rows, repeated columns, scales from 1e-6 to 1e6, priors with ties, 2 to
40 inputs, ε from 1e-3 to 8; every fifth with δ.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import extremal as ex

SECONDS = 0.3  # of a search: what is found does not matter here


def instance(generator: np.random.Generator) -> tuple[ex.LDP, ex.Workload]:
    k = int(generator.integers(2, 41))
    rank = int(generator.integers(1, k + 1))
    rows = generator.normal(size=(int(generator.integers(1, k + 1)), rank)) @ generator.normal(size=(rank, k))
    if generator.random() < 0.3:
        rows = np.vstack([rows, rows[:1], np.ones((1, k))])
    if generator.random() < 0.3:
        rows = rows[:, generator.integers(0, k, k)]
    if not np.ptp(rows, axis=1).any():
        rows[0, 0] += 1
    prior = generator.dirichlet(np.full(k, generator.uniform(0.3, 5)))
    prior = np.full(k, 1 / k) if generator.random() < 0.3 else (prior + 1e-4) / (prior + 1e-4).sum()
    epsilon = round(math.exp(generator.uniform(math.log(1e-3), math.log(8))), 6)
    delta = 10 ** generator.uniform(-6, -1) if generator.random() < 0.2 else 0
    return ex.LDP(epsilon, delta), ex.Workload(rows * 10 ** generator.uniform(-6, 6), prior.tolist())


def main(count: int) -> int:
    wrong = 0
    for seed in range(count):
        privacy, utility = instance(np.random.default_rng(seed))
        try:
            found = ex.design(privacy, utility, time_limit=SECONDS)
            near = utility(found.mechanism)
            good = bool(ex.verify(found)) and found.lower_bound <= found.value
            good = good and (near == found.value or abs(near / found.value - 1) < 1e-4)
        except Exception as error:  # whatever it is, it is a defect
            good = False
            print(f"{seed}: {type(error).__name__}: {error}")
        if not good:
            wrong += 1
            print(f"{seed}: k = {utility.k}, {utility.rows.shape[0]} rows, {privacy!r}")
    print(f"{count} workloads, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
