"""What others use, by sampling: n·MSE of simulated reports against what is stated, within 3%, and the audit of each.

Three (k, ε) for each mechanism. For frequencies enough rounds that the standard error of the mean is below 0.7%; for
means of ordered answers 400,000 reports with the decoder of each. What is stated is what was published, or equals it
(the tests compare the two); for the Bloom filter, whose authors give no formula, what its moments say (the tests add
them up over the list of all reports of small filters).
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import extremal as ex
from extremal.closed_forms import FORMS, Setting
from extremal.closed_forms.set_systems import LISTED, hadamard_shape
from extremal.estimate.expected import frequency_variance
from extremal.release.audit import audit
from extremal.simulate import Simulation
from support.means import mean_decoder, mean_variance

SETTINGS = [(100, 0.5), (300, 1.0), (300, 2.0)]
ORDERED_SETTINGS = [(50, 0.5), (101, 1.0), (101, 3.0)]
N, SQUARES, MEANS, TOLERANCE = 500, 45_000, 400_000, 0.03
AUDITS = 1e-7  # how likely a good sampler is refused, in each audit
MAKERS: dict[str, Any] = {
    "randomised response": ex.randomized_response,
    "unary encoding (optimised)": ex.unary_encoding,
    "unary encoding (symmetric)": lambda k, epsilon: ex.unary_encoding(k, epsilon, optimised=False),
    "local hashing": ex.local_hashing,
    "Hadamard response": ex.hadamard_response,
    "projective geometry": ex.projective_geometry,
    "Bloom filter": lambda k, epsilon: ex.bloom_filter(k, 2 * epsilon, once=epsilon),
}
ORDERED = ("stochastic rounding", "piecewise", "hybrid", "square wave", "hierarchical")


def published(name: str, k: int, epsilon: float) -> float | None:
    """n·Σ Var at equally likely answers, from the probabilities a and b that a report holds the truth and another; for
    Hadamard response from B blocks, where its reports are not listed (where they are, ours are weighted better)."""
    e = math.exp(epsilon)
    if name == "Hadamard response":
        blocks, width = hadamard_shape(k, epsilon)
        if k * blocks * width <= LISTED:
            return None
        mass = np.bincount(np.arange(k) % blocks) / k
        in_block = (2 + mass[np.arange(k) % blocks] * (e - 1)) / (2 * blocks - 1 + e)
        return float((((2 * blocks - 1 + e) / (e - 1)) ** 2 * in_block - 1 / k**2).sum())
    pairs = {
        "randomised response": (e / (e + k - 1), 1 / (e + k - 1)),
        "unary encoding (optimised)": (0.5, 1 / (e + 1)),
        "unary encoding (symmetric)": (math.sqrt(e) / (math.sqrt(e) + 1), 1 / (math.sqrt(e) + 1)),
        "local hashing": (e / (e + round(e)), 1 / (round(e) + 1)),
    }
    if name not in pairs:
        return None
    a, b = pairs[name]
    held = b + (a - b) / k
    return k * held * (1 - held) / (a - b) ** 2


def simulated(mechanism: ex.Mechanism, rounds: int) -> float:
    """n·MSE at the uniform prior."""
    total = 0.0
    for i in range(rounds):
        x = np.random.default_rng(i).integers(mechanism.k, size=N)
        found = ex.estimate_frequencies(Simulation(i).privatize(mechanism, x).reports, mechanism)
        total += N * float(((found.estimate - 1 / mechanism.k) ** 2).sum())
    return total / rounds


def simulated_mean(mechanism: ex.Mechanism) -> float:
    """n·MSE of the mean of evenly spaced answers −1..1, by the decoder of least variance."""
    v = np.linspace(-1, 1, mechanism.k)
    x = np.random.default_rng(7).integers(mechanism.k, size=MEANS)
    reports = np.asarray(Simulation(7).privatize(mechanism, x).reports)
    return float((mean_decoder(mechanism, v)[reports] ** 2).mean())


def main() -> int:
    bad = 0
    for name in (*MAKERS, *ORDERED):
        for k, epsilon in SETTINGS if name in MAKERS else ORDERED_SETTINGS:
            mechanism = MAKERS[name](k, epsilon) if name in MAKERS else FORMS[name].make(Setting(k, epsilon))
            if name in MAKERS:
                stated = frequency_variance(mechanism)
                found = simulated(mechanism, SQUARES // k)
                formula = published(name, k, epsilon)
                said = "" if formula is None else f", stated/published {stated / formula:.5f}"
                bad += formula is not None and abs(stated / formula - 1) > 1e-3
            else:
                stated, found, said = mean_variance(mechanism, np.linspace(-1, 1, k)), simulated_mean(mechanism), ""
            ratio, passed = found / stated, bool(audit(mechanism, draws=50_000, confidence=1 - AUDITS))
            tight = not ex.LDP(epsilon * (1 - 1e-9)).holds(mechanism)
            bad += abs(ratio - 1) > TOLERANCE or not passed or not tight
            print(
                f"{name:28} k={k} ε={epsilon}: n·MSE {found:.5g}, simulated/stated {ratio:.4f}{said}, "
                f"{'tight' if tight else 'NOT TIGHT'}, audit {'passes' if passed else 'REFUSED'}",
                flush=True,
            )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
