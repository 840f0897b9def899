"""Information under ε-LDP at scale: agreement with the full program, and gaps and times on large alphabets. Run with
`make audit`.

Priors: Dirichlet(1), Zipf 1.1, ties, next to uniform, one heavy symbol. Every design is verified. Times are CPU seconds
of this process, with wall-clock seconds beside them.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import extremal as ex
from extremal.optimize.rays import best_mixture
from extremal.privacy.cones.staircase import patterns
from extremal.utility.curve import InformationCurve

INSTANCES = 1000
AGREEMENT = 1e-10
Row = tuple[str, float, float]


def prior(kind: str, k: int, generator: np.random.Generator) -> Any:
    weights = {
        "dirichlet": lambda: generator.dirichlet(np.ones(k)),
        "zipf": lambda: 1 / np.arange(1, k + 1) ** 1.1,
        "ties": lambda: generator.integers(1, 4, k).astype(float),
        "near uniform": lambda: 1 + 10.0 ** generator.uniform(-7, -2) * generator.uniform(-1, 1, k),
        "one heavy": lambda: (
            np.append(generator.dirichlet(np.ones(k - 1)) * 0.05, 0.95) if k > 2 else np.array([0.05, 0.95])
        ),
    }[kind]()
    return weights / weights.sum()


def agreement() -> bool:
    """Random priors with k ≤ 10 against the linear program over all 2^k − 2 patterns."""
    generator, kinds = np.random.default_rng(1), ("dirichlet", "zipf", "ties", "near uniform", "one heavy")
    worst = {kind: [0.0, 0.0] for kind in kinds}
    unverified, started = 0, time.perf_counter()
    for index in range(INSTANCES):
        kind = kinds[index % len(kinds)]
        k, epsilon = int(generator.integers(2, 11)), float(np.exp(generator.uniform(np.log(0.01), np.log(8))))
        p = prior(kind, k, generator)
        utility = ex.MutualInformation(p)
        found = ex.design(ex.LDP(epsilon), utility)
        columns = patterns(k, epsilon)
        values = utility.column_values(columns)
        weights = _polished(columns, best_mixture(columns, values[None, :]).weights)
        worst[kind][0] = max(worst[kind][0], abs(found.value / float(values @ weights) - 1))
        worst[kind][1] = max(worst[kind][1], found.gap)
        unverified += not ex.verify(found)
    print(
        f"{INSTANCES} priors, k = 2..10, ε = 0.01..8, in {time.perf_counter() - started:.0f} s; {unverified} not "
        "verified"
    )
    for kind, (difference, gap) in worst.items():
        print(f"  {kind:13s} largest difference {difference:.1e} relative, largest gap {gap:.1e}")
    return unverified == 0 and max(d for d, _ in worst.values()) <= AGREEMENT


def _polished(columns: Any, weights: Any) -> Any:
    """The vertex of the full program, solved for exactly: its solver leaves rows off by 1e-10."""
    used = weights > 1e-12 * weights.max()
    exact = np.zeros_like(weights)
    exact[used] = np.linalg.lstsq(columns[:, used], np.ones(columns.shape[0]), rcond=None)[0]
    return exact if (exact >= -1e-13).all() else weights


def uniform() -> bool:
    worst = 0.0
    for k in (2, 3, 4, 5, 10, 30, 100, 1000, 3000, 10_000):
        for epsilon in (0.01, 0.1, 1, 3, 8):
            found = ex.design(ex.LDP(epsilon), ex.MutualInformation([f"1/{k}"] * k))
            closed = float(InformationCurve(epsilon).rate(np.arange(1, k) / k).max())
            worst = max(worst, abs(found.value / closed - 1), found.gap)
    print(f"uniform priors, k = 2..10,000: largest difference from max ψ(d/k), or gap, {worst:.1e}")
    return worst <= 1e-12


def case(name: str, p: Any, epsilon: float, gap: float, tolerance: float = 1e-9) -> bool:
    cpu, wall = time.process_time(), time.perf_counter()
    found = ex.design(ex.LDP(epsilon), ex.MutualInformation(p), tolerance=tolerance)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    good = found.gap <= gap and bool(ex.verify(found))
    print(
        f"  {name:24s} ε={epsilon:<4g} gap {found.gap:.1e} {cpu:5.1f} s ({wall:5.1f}) {found.mechanism.m:6d} reports, "
        f"{found.method}" + ("" if good else "   FAILS")
    )
    return good


def large() -> bool:
    good = True
    for k in (12, 20, 50, 100, 200):
        for kind in ("dirichlet", "zipf"):
            for epsilon in (0.1, 1, 4, 8):
                good &= case(f"{kind} {k}", prior(kind, k, np.random.default_rng(1000 + k)), epsilon, 1e-9)
    for kind in ("dirichlet", "zipf"):
        for epsilon in (0.1, 1, 4):
            good &= case(f"{kind} 10,000", prior(kind, 10_000, np.random.default_rng(11_000)), epsilon, 1e-9)
        good &= case(f"{kind} 1,000", prior(kind, 1000, np.random.default_rng(2000)), 8, 1e-5)
    for k in (30, 1000, 10_000):
        for noise, gap in ((1e-7, 1e-12), (1e-3, 1e-6)):
            for epsilon in (0.5, 2, 8):
                p = 1 + noise * np.random.default_rng(0).standard_normal(k)
                good &= case(f"uniform {k} ± {noise:g}", p / p.sum(), epsilon, gap, gap)
    return good


def main() -> int:
    return int(not all([agreement(), uniform(), large()]))


if __name__ == "__main__":
    sys.exit(main())
