"""What others use, by sampling: n·MSE of simulated reports against what is stated, within 3%, and the audit of each.

Three (k, ε) for each mechanism; enough rounds that the standard error of the mean is below 0.7%. Run with `make audit`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import extremal as ex
from extremal.estimate.variance import frequency_variance
from extremal.release.audit import audit
from extremal.simulate import Simulation

SETTINGS = [(100, 0.5), (300, 1.0), (300, 2.0)]
N, SQUARES, TOLERANCE = 5_000, 45_000, 0.03
MAKERS: dict[str, Any] = {
    "unary encoding (optimised)": ex.unary_encoding,
    "unary encoding (symmetric)": lambda k, epsilon: ex.unary_encoding(k, epsilon, optimised=False),
    "local hashing": ex.local_hashing,
    "Hadamard response": ex.hadamard_response,
    "projective geometry": ex.projective_geometry,
}


def simulated(mechanism: ex.Mechanism, rounds: int) -> float:
    """n·MSE at the uniform prior."""
    total = 0.0
    for i in range(rounds):
        x = np.random.default_rng(i).integers(mechanism.k, size=N)
        found = ex.estimate_frequencies(Simulation(i).privatize(mechanism, x.tolist()).reports, mechanism)
        total += N * float(((found.estimate - 1 / mechanism.k) ** 2).sum())
    return total / rounds


def main() -> int:
    bad = 0
    for name, make in MAKERS.items():
        for k, epsilon in SETTINGS:
            mechanism = make(k, epsilon)
            ratio = simulated(mechanism, SQUARES // k) / frequency_variance(mechanism)
            passed = bool(audit(mechanism, draws=200_000, confidence=1 - 1e-5))
            bad += abs(ratio - 1) > TOLERANCE or not passed
            print(
                f"{name:28} k={k} ε={epsilon}: simulated/stated {ratio:.4f}, audit {'passes' if passed else 'REFUSED'}"
            )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
