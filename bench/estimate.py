"""Estimating: 1e6 reports at k = 10 against a bare NumPy count-and-solve and the peers; maximum likelihood at k = m =
1,000.

Reports are the same NumPy integer codes for everyone, in one run. Ours is the whole public call with standard errors
and intervals; the peers give points only. Best of several runs each. One thread, so that the figures do not depend on
who else uses the machine. Run with `make bench-all`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from typing import Any

import numpy as np
from timing import best_of

import extremal as ex
from extremal.estimate import FrequencyEstimate

K, EPSILON, N = 10, 1.0, 1_000_000
LARGE, MANY = 1_000, 10_000_000


def counting_and_solving() -> bool:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI
    from pure_ldp.frequency_oracles.direct_encoding import DEServer

    mechanism = ex.randomized_response(K, EPSILON)
    matrix = mechanism.matrix
    reports = np.random.default_rng(1).choice(K, size=N, p=mechanism.marginal(np.arange(1, K + 1) / 55))

    def bare() -> Any:
        return np.linalg.solve(matrix.T, np.bincount(reports, minlength=K) / N)

    def ours() -> Any:
        return ex.estimate_frequencies(reports, mechanism).interval()

    def pure_ldp() -> Any:
        server = DEServer(EPSILON, K, index_mapper=lambda x: x)
        server.aggregate_all(reports)
        return server.estimate_all(range(K), suppress_warnings=True)

    seconds = {
        "bare NumPy": best_of(9, bare)[0],
        "extremal": best_of(9, ours)[0],
        "multi-freq-ldpy": best_of(3, lambda: GRR_Aggregator_MI(reports, K, EPSILON))[0],
        "pure-ldp": best_of(3, pure_ldp)[0],
    }
    print(f"{N} reports, k = {K}, NumPy integers:")
    for name, taken in seconds.items():
        print(f"  {name:16s} {1e3 * taken:9.2f} ms   {taken / seconds['extremal']:8.2f} × extremal")
    words = np.array([f"answer {x}" for x in range(K)])[reports].tolist()
    named = ex.randomized_response(K, EPSILON, inputs=[f"answer {x}" for x in range(K)])
    slow, _ = best_of(3, lambda: ex.estimate_frequencies(words, named).interval())
    print(f"  a list of strings: {1e3 * slow:.0f} ms")
    return seconds["extremal"] <= 5 * seconds["bare NumPy"] and seconds["pure-ldp"] >= 20 * seconds["extremal"]


def large_likelihood() -> bool:
    generator = np.random.default_rng(2)
    staircase = np.where(generator.random((LARGE, LARGE)) < 0.3, np.e, 1.0)
    mechanisms = {
        "randomised response": ex.randomized_response(LARGE, 1),
        "windows of 251": ex.Mechanism.from_windows(LARGE, 251, ex.LDP(1)),
        "random staircase": ex.Mechanism.from_matrix(staircase / staircase.sum(axis=1, keepdims=True)),
    }
    truth = np.where(np.arange(LARGE) < LARGE // 2, 1 / np.arange(1, LARGE + 1) ** 1.2, 0)
    print(f"maximum likelihood with intervals, k = m = {LARGE}, {MANY} reports, after counting:")
    slowest = 0.0
    for name, mechanism in mechanisms.items():
        marginal = mechanism.marginal(truth / truth.sum())
        counts = generator.multinomial(MANY, marginal / marginal.sum())

        def run(mechanism: ex.Mechanism = mechanism, counts: Any = counts) -> FrequencyEstimate:
            result = ex.estimate_frequencies(counts, mechanism, method="mle", counts=True)
            result.interval()
            return result

        taken, result = best_of(3, run)
        slowest = max(slowest, taken)
        print(f"  {name:20s} {taken:6.3f} s   likelihood within {result.deficit:.1e}")
    return slowest <= 2.0


if __name__ == "__main__":
    passed = [counting_and_solving(), large_likelihood()]
    sys.exit(0 if all(passed) else 1)
