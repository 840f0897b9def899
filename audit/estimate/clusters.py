"""Surveys of few clusters by simulation: coverage of intervals, and size of tests.

1. Intervals of a share, 3 to 12 clusters, equal and unequal, with and without an effect of the cluster, at 80, 95 and
   99%; and of five shares together. Coverage is at least the level less 0.01.
2. Every test that takes a sample, at 0.05, with 12 to 40 clusters: rejected in at most 5.5% under the hypothesis. The
   same reports as if drawn one by one must be rejected too often.

Both with a margin of 3.5 standard errors of the simulation. Run with
`python -m audit.estimate.clusters [surveys] [tests]`; `tests` leaves the intervals out.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd

import extremal as ex

LEVELS = (0.8, 0.95, 0.99)
SHARE = 0.25
FIVE = np.array([0.4, 0.3, 0.1, 0.1, 0.1])


def randomised(values: np.ndarray, mechanism: ex.Mechanism, generator: np.random.Generator) -> np.ndarray:
    ends = np.cumsum(mechanism.matrix, axis=1)[values]
    return np.asarray((generator.random((len(values), 1)) > ends).sum(axis=1))


def sizes(count: int, size: int, unequal: bool, generator: np.random.Generator) -> np.ndarray:
    return generator.integers(max(2, size // 2), 3 * size // 2 + 1, count) if unequal else np.full(count, size)


def shares(count: int, effect: float | None, p: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Of each cluster: Dirichlet around p with this many people's worth of agreement; None: p itself."""
    return np.tile(p, (count, 1)) if effect is None else generator.dirichlet(effect * p, count)


def drawn(
    count: int, size: int, unequal: bool, effect: float | None, p: np.ndarray, m: ex.Mechanism, generator: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Reports and clusters of one survey."""
    cluster = np.repeat(np.arange(count), sizes(count, size, unequal, generator))
    return answered(cluster, effect, p, m, generator), cluster


def answered(cluster: np.ndarray, effect: float | None, p: np.ndarray, m: ex.Mechanism, generator: Any) -> np.ndarray:
    """Reports of people in these clusters."""
    ends = np.cumsum(shares(int(cluster.max()) + 1, effect, p, generator), axis=1)[cluster]
    values = (generator.random((cluster.size, 1)) > ends).sum(axis=1)
    return randomised(np.minimum(values, p.size - 1), m, generator)


def intervals(surveys: int) -> bool:
    good = True
    for count in (3, 4, 6, 12):
        for effect, unequal, epsilon in ((None, False, 1.0), (8.0, False, 3.0), (8.0, True, 1.0), (30.0, True, 3.0)):
            generator = np.random.default_rng([count, int(effect or 0), int(unequal)])
            two, five = ex.randomized_response(2, epsilon), ex.randomized_response(5, epsilon)
            p, held, family = np.array([1 - SHARE, SHARE]), np.zeros(3), 0
            for _ in range(surveys):
                reports, cluster = drawn(count, 120 // count + 8, unequal, effect, p, two, generator)
                result = ex.estimate_frequencies(reports, two, cluster=cluster)
                for i, level in enumerate(LEVELS):
                    low, high = result.interval(level)[1]
                    held[i] += low <= SHARE <= high
                reports, cluster = drawn(count, 120 // count + 8, unequal, effect, FIVE, five, generator)
                limits = ex.estimate_frequencies(reports, five, cluster=cluster).interval(simultaneous=True)
                family += bool(((limits[:, 0] <= FIVE) & (limits[:, 1] >= FIVE)).all())
            found = [*(held / surveys), family / surveys]
            wanted = [*LEVELS, 0.95]
            enough = all(
                f >= w - 0.01 - 3.5 * np.sqrt(w * (1 - w) / surveys) for f, w in zip(found, wanted, strict=True)
            )
            good &= enough
            print(
                f"  {count:2d} {'unequal' if unequal else 'equal  '} clusters, effect {effect or 'none'!s:5s} "
                f"ε={epsilon:g}: "
                f"80% {found[0]:.3f}  95% {found[1]:.3f}  99% {found[2]:.3f}  five together 95% {found[3]:.3f}"
                f"{'' if enough else '   TOO LOW'}",
                flush=True,
            )
    return good


def sizes_of_tests(surveys: int) -> bool:
    good = True
    three, two = ex.randomized_response(3, 2.0), ex.randomized_response(2, 2.0)
    p = np.array([0.5, 0.3, 0.2])
    for count in (12, 20, 40):
        generator = np.random.default_rng([7, count])
        rejected: dict[str, int] = {}
        naive = 0
        for _ in range(surveys):
            reports, cluster = drawn(count, 12, True, 10.0, p, three, generator)
            other = (generator.random(count) < 0.5).astype(int)[cluster]  # groups are whole clusters
            within = generator.integers(0, 2, cluster.size)
            again = answered(cluster, 10.0, np.array([0.6, 0.4]), two, generator)
            sample = ex.Sample(cluster=cluster)
            later = answered(cluster, 10.0, p, three, generator)  # the same shares a year later
            frame = pd.DataFrame({"y": reports, "y2": later, "z": again, "x": generator.normal(size=count)[cluster]})
            answers = {
                "test_distribution": bool(ex.test_distribution(reports, three, p, sample=sample)),
                "test_hypotheses": bool(ex.test_hypotheses(reports, three, p, [0.2, 0.3, 0.5], sample=sample)),
                "test_homogeneity, clusters": other.min() < other.max()
                and bool(ex.test_homogeneity(reports, three, other, sample=sample)),
                "test_homogeneity, people": bool(ex.test_homogeneity(reports, three, within, sample=sample)),
                "test_independence": bool(ex.test_independence(frame, {"y": three, "z": two}, sample=sample)),
                "estimate_change, test": bool(ex.estimate_change(frame, "y", "y2", three, sample=sample).test()),
            }
            try:
                fit = ex.regress("z ~ x", frame, two, sample=sample)
                answers["regress, a coefficient"] = bool(fit.pvalues["x"] <= 0.05)
            except ex.errors.NotIdentified:
                answers["regress, a coefficient"] = False
            for name, answer in answers.items():
                rejected[name] = rejected.get(name, 0) + answer
            naive += bool(ex.test_distribution(reports, three, p, draws=199))
        for name, number in rejected.items():
            enough = number / surveys <= 0.055 + 3.5 * np.sqrt(0.05 * 0.95 / surveys)
            good &= enough
            print(
                f"  {count} clusters, {name:28s} {number / surveys:.4f}{'' if enough else '   TOO OFTEN'}", flush=True
            )
        print(f"  {count} clusters, test_distribution without them  {naive / surveys:.4f}", flush=True)
        good &= naive / surveys > 0.1
    return good


def main() -> int:
    surveys = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    good = True
    if "tests" not in sys.argv:
        print(f"intervals, {surveys} surveys each")
        good = intervals(surveys)
    print(f"tests at 0.05, {surveys} surveys each")
    return int(not (sizes_of_tests(surveys) and good))


if __name__ == "__main__":
    sys.exit(main())
