"""The same reports, estimated by extremal, pure-ldp and multi-freq-ldpy where they know the protocol: how far apart.

k = 50, n = 2,000; for Hadamard response k = 300, where its reports are not listed (where they are, ours are weighted
better). All compute the same unbiased estimate; multi-freq-ldpy clips it at 0 and divides by its sum, which is done to
ours for that column. Hash functions differ: for local hashing pure-ldp is given our counts of supporting reports. Exits
1 when a difference exceeds 1e-9.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import extremal as ex
from extremal.estimate.channels import channel_of
from extremal.simulate import Simulation

K, N = 50, 2_000


def estimates(m: ex.Mechanism) -> tuple[Any, Any]:
    """Reports on the same values for every mechanism, and what we make of them."""
    x = np.random.default_rng(0).integers(m.k, size=N) // 2
    reports = Simulation(1).privatize(m, x.tolist()).reports
    return reports, ex.estimate_frequencies(reports, m).estimate


def served(server: Any, reports: Any) -> Any:
    for report in reports:
        server.aggregate(report)
    return np.array([server.estimate(value, suppress_warnings=True) for value in range(server.d)]) / N


def clipped(estimate: Any) -> Any:
    positive = np.maximum(estimate, 0)
    return positive / positive.sum()


def main() -> int:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI
    from pure_ldp.frequency_oracles.direct_encoding import DEServer
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseServer
    from pure_ldp.frequency_oracles.local_hashing import LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEServer

    def same(value: int) -> int:
        return value

    found: dict[str, float] = {}
    for optimised in (True, False):
        reports, ours = estimates(ex.unary_encoding(K, 1, optimised))
        bits = np.unpackbits(np.array(reports, dtype=np.uint8), axis=1, count=K).astype(float)
        name = f"unary encoding ({'optimised' if optimised else 'symmetric'})"
        theirs = served(UEServer(1.0, K, use_oue=optimised, index_mapper=same), bits)
        found[f"{name}, pure-ldp"] = np.abs(ours - theirs).max()
        multi = UE_Aggregator_MI(list(bits), 1.0, optimised)
        found[f"{name}, multi-freq-ldpy"] = np.abs(clipped(ours) - multi).max()
    reports, ours = estimates(ex.randomized_response(K, 2))
    theirs = served(DEServer(2.0, K, index_mapper=same), reports)
    found["randomised response, pure-ldp"] = np.abs(ours - theirs).max()
    found["randomised response, multi-freq-ldpy"] = np.abs(clipped(ours) - GRR_Aggregator_MI(reports, K, 2.0)).max()
    reports, ours = estimates(ex.subset_selection(K, 1, size=round(K / (np.e + 1))))
    found["subset selection, multi-freq-ldpy"] = np.abs(clipped(ours) - SS_Aggregator_MI(reports, K, 1.0)).max()
    m = ex.local_hashing(K, 1)
    reports, ours = estimates(m)
    server = LHServer(1.0, K, use_olh=True, index_mapper=same)
    channel: Any = channel_of(m)
    server.aggregated_data, server.n = channel.held(reports, np.full(N, 1.0)), N
    theirs = np.array([server.estimate(value, suppress_warnings=True) for value in range(K)]) / N
    found["local hashing from counts, pure-ldp"] = np.abs(ours - theirs).max()
    reports, ours = estimates(ex.hadamard_response(300, 0.5))
    theirs = served(HadamardResponseServer(0.5, 300, index_mapper=same), reports)
    found["Hadamard response, pure-ldp"] = np.abs(ours - theirs).max()
    for name, difference in found.items():
        print(f"{name:44} largest difference {difference:.1e}")
    return int(max(found.values()) > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
