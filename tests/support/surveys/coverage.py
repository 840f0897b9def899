"""Do 95% intervals hold the truth 95% of the time? Configurations fixed in advance, and a test that can say no.

A configuration is a mechanism, a true distribution, a number of reports and a method. Reports are simulated as
multinomial counts (seeded; nothing here releases anything). For every cell the number of intervals that hold the truth
is binomial; with a Bonferroni correction over all cells of all configurations, the test rejects when a cell's coverage
is significantly below 0.94 or above 0.96.

Excluded beforehand, by one rule: configurations where the rarest report is expected fewer than 50 times. Whole-numbered
counts that small make the coverage of every interval without randomisation jump by up to φ(1.96)/√50 ≈ 0.8 points, and
more with fewer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from extremal.closed_forms import randomized_response
from extremal.estimate import estimate_frequencies
from extremal.mechanism import Mechanism
from extremal.privacy import LDP
from support.random_mechanisms import random_ldp_matrix

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
LOWEST, HIGHEST = 0.94, 0.96
FEWEST = 50  # expected number of the rarest report
SIZES, EPSILONS, REPORTS = (2, 3, 5, 10, 20, 50), (0.5, 1.0, 2.0, 4.0), (1_000, 10_000, 100_000, 1_000_000)
SHAPES = ("uniform", "skewed", "boundary", "tiny")
MECHANISMS = ("response", "windows", "staircase")
METHODS = ("unbiased", "mle")
SEED = 20_250_301


@dataclass(frozen=True)
class Configuration:
    """One line of the audit."""

    kind: str
    k: int
    epsilon: float
    n: int
    shape: str
    method: str
    index: int

    @cached_property
    def mechanism(self) -> Mechanism:
        if self.kind == "response":
            return randomized_response(self.k, self.epsilon)
        if self.kind == "windows":
            # Coprime: invertible.
            length = max(d for d in range(1, max(2, self.k // 3 + 1)) if math.gcd(d, self.k) == 1)
            return Mechanism.from_windows(self.k, length, LDP(self.epsilon))
        generator = np.random.default_rng([SEED, self.index])
        copies = [random_ldp_matrix(generator, self.k, self.epsilon) for _ in range(6)]
        matrix = np.hstack([randomized_response(self.k, self.epsilon).matrix, *copies]) / 7  # more outputs than inputs
        return Mechanism.from_matrix(matrix, LDP(self.epsilon))

    @cached_property
    def truth(self) -> Floats:
        x = np.arange(1, self.k + 1)
        p: Floats
        if self.shape == "uniform":
            p = np.ones(self.k)
        elif self.shape == "skewed":
            p = np.asarray(x**-1.5, dtype=np.float64)
        elif self.shape == "boundary":
            p = np.where(x <= (self.k + 1) // 2, 1.0, 0.0)  # the other half is empty
        else:
            p = np.where(x < self.k, 1.0, 1e-4 * (self.k - 1))  # the last cell about 1e-4
        return np.asarray(p / p.sum())

    @property
    def rarest(self) -> float:
        """Expected number of the rarest report."""
        return float(self.n * self.mechanism.marginal(self.truth).min())

    def coverage(self, repeats: int, shrink: float = 1.0) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How many of `repeats` intervals hold the truth, for each cell: unbounded ones, and those cut to [0, 1].

        `shrink` multiplies the standard errors: what a wrong formula would do. Only unbounded intervals are counted
        then.
        """
        generator = np.random.default_rng([SEED, self.index, repeats])
        marginal = self.mechanism.marginal(self.truth)
        held, held_bounded = np.zeros(self.k, dtype=np.int64), np.zeros(self.k, dtype=np.int64)
        for counts in generator.multinomial(self.n, marginal / marginal.sum(), size=repeats):
            result = estimate_frequencies(counts, self.mechanism, self.method, counts=True)  # type: ignore[call-overload]
            limits = result.interval(LEVEL, bounded=False)
            reach = shrink * (limits[:, 1] - limits[:, 0]) / 2
            held += np.abs(result.centre - self.truth) <= reach
            if shrink == 1:
                bounded = result.interval(LEVEL)
                held_bounded += (bounded[:, 0] <= self.truth) & (self.truth <= bounded[:, 1])
        return held, held_bounded

    def __str__(self) -> str:
        return f"{self.kind:9s} k={self.k:<2d} ε={self.epsilon:<3g} n={self.n:<7d} {self.shape:8s} {self.method}"


def configurations(count: int) -> tuple[list[Configuration], list[Configuration]]:
    """`count` configurations to be tested, and those passed over on the way because of few expected reports."""
    tested: list[Configuration] = []
    excluded: list[Configuration] = []
    for configuration in _drawn():
        if len(tested) == count:
            break
        (tested if configuration.rarest >= FEWEST else excluded).append(configuration)
    return tested, excluded


def _drawn() -> Iterator[Configuration]:
    """The grid in an order fixed by the seed; mechanisms and methods take turns."""
    grid = list(product(SIZES, EPSILONS, REPORTS, SHAPES))
    order = np.random.default_rng(SEED).permutation(len(grid)).tolist()
    turns = list(product(MECHANISMS, METHODS))
    for position, index in enumerate(order):
        k, epsilon, n, shape = grid[index]
        kind, method = turns[position % len(turns)]
        yield Configuration(kind, k, epsilon, n, shape, method, index)


def significance(held: npt.NDArray[np.int64], repeats: int) -> tuple[Floats, Floats]:
    """p-values of each cell: for coverage below LOWEST, and for coverage above HIGHEST."""
    from scipy.special import bdtr, bdtrc

    at_most = np.asarray(bdtr(held, repeats, LOWEST), dtype=np.float64)
    # bdtrc(j, …) is P(X > j), with P(X > −1) = 1.
    at_least = np.where(held > 0, bdtrc(np.maximum(held - 1, 0), repeats, HIGHEST), 1.0)
    return at_most, np.asarray(at_least, dtype=np.float64)
