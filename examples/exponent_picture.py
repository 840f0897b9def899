"""Draws the picture of docs/estimate/hypothesis_tests.md: python examples/exponent_picture.py [folder].

The best test at α = 0.05 misses with probability e^{−n·D(M₀‖M₁)+o(n)}. Lines: −log(miss)/n with the miss probability
that `ex.test_hypotheses` prints (below 1e-15 and with more than two ratios an upper bound). Points: the share of misses
among simulated data sets, while they are common enough to be seen. Dotted: the second-order approximation
D + √(V/n)·Φ⁻¹(α) + log(n)/(2n), V the variance of log M₀/M₁ (Strassen 1962).
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

import extremal as ex
from extremal.estimate.hypothesis_tests.likelihood_ratio import log_ratios
from extremal.estimate.hypothesis_tests.tails import on_grid
from extremal.plotting import COLOURS, MARKERS, figure, save

P0, P1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
SIZES = (20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120)
SIMULATED, SEED = 100_000, 20_261_115


def exponent(m: ex.Mechanism, n: int) -> tuple[float, float | None]:
    """−log(miss)/n, exact and simulated; None when fewer than 50 of the simulated data sets were missed."""
    expected = np.floor(n * m.marginal(P0)).astype(int)
    expected[0] += n - expected.sum()
    found = ex.test_hypotheses(expected, m, P0, P1, counts=True)
    m0, m1 = m.marginal(P0), m.marginal(P1)
    drawn = np.random.default_rng([SEED, n]).multinomial(n, m1, size=SIMULATED)
    missed = int(np.count_nonzero(drawn @ on_grid(log_ratios(m0, m1), n)[0] < found.critical))
    return -math.log(found.missed) / n, -math.log(missed / SIMULATED) / n if missed >= 50 else None


def second_order(m: ex.Mechanism, n: int) -> float:
    m0, m1 = m.marginal(P0), m.marginal(P1)
    logs = np.log(m0 / m1)
    mean = float(m0 @ logs)
    spread = math.sqrt(float(m0 @ (logs - mean) ** 2))
    return mean + spread / math.sqrt(n) * NormalDist().inv_cdf(0.05) + math.log(n) / (2 * n)


def picture() -> object:
    drawn, axis = figure()
    mechanisms = {"binary, ε = 1": ex.binary(P0, P1, 1), "randomised response, ε = 1": ex.randomized_response(3, 1)}
    for i, (name, m) in enumerate(mechanisms.items()):
        limit = ex.error_exponent(m, P0, P1).stein
        exact, simulated = zip(*(exponent(m, n) for n in SIZES), strict=True)
        axis.plot(SIZES, exact, color=COLOURS[i], marker=".", label=f"{name}")
        seen = [(n, s) for n, s in zip(SIZES, simulated, strict=True) if s is not None]
        axis.plot(*zip(*seen, strict=True), MARKERS[i], color=COLOURS[i], mfc="none", ms=9, label="simulated")
        axis.plot(SIZES, [second_order(m, n) for n in SIZES], ":", color=COLOURS[i], label="second order")
        axis.axhline(limit, color=COLOURS[i], linestyle="--", label=f"D(M₀‖M₁) = {limit:.4f}")
        print(f"{name}: limit {limit:.5f}; " + ", ".join(f"n={n}: {e:.5f}" for n, e in zip(SIZES, exact, strict=True)))
    axis.set(xscale="log", xlabel="number of reports n", ylabel="−log P(miss) / n at α = 0.05", ylim=(0, None))
    axis.legend(frameon=False, fontsize=9)
    return drawn


def main(folder: Path) -> None:
    print(save(picture(), folder / "type_two_exponent.png"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images")
