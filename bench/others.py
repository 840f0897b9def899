"""The same reports of unary encoding, estimated by extremal, pure-ldp and multi-freq-ldpy: how far apart they are.

k = 50, n = 2,000, ε = 1, symmetric and optimised. The three compute the same unbiased estimate (multi-freq-ldpy clips
it at 0 and divides by its sum, which is done to ours for that column). Exits 1 when a difference exceeds 1e-9.
"""

from __future__ import annotations

import sys

import numpy as np

import extremal as ex
from extremal.simulate import Simulation

K, N, EPSILON = 50, 2_000, 1.0


def main() -> int:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI
    from pure_ldp.frequency_oracles.unary_encoding import UEServer

    worst = 0.0
    x = np.random.default_rng(0).integers(K, size=N) // 2
    for optimised in (True, False):
        m = ex.unary_encoding(K, EPSILON, optimised)
        reports = Simulation(1).privatize(m, x.tolist()).reports
        bits = np.unpackbits(np.array(reports, dtype=np.uint8), axis=1, count=K).astype(float)
        ours = ex.estimate_frequencies(reports, m).estimate
        server = UEServer(EPSILON, K, use_oue=optimised, index_mapper=lambda value: value)
        for row in bits:
            server.aggregate(row)
        theirs = np.array([server.estimate(value, suppress_warnings=True) for value in range(K)]) / N
        clipped = np.maximum(ours, 0)
        multi = UE_Aggregator_MI(list(bits), EPSILON, optimised)
        found = [float(np.abs(ours - theirs).max()), float(np.abs(clipped / clipped.sum() - multi).max())]
        worst = max(worst, *found)
        print(
            f"optimised={optimised}: largest difference to pure-ldp {found[0]:.1e}, to multi-freq-ldpy {found[1]:.1e}"
        )
    return int(worst > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
