"""Do intervals hold in surveys of every size? From 20 reports, up to 1,000 cells, rare reports, weights, three levels.

`support.surveys.coverage` asks whether standard errors are right where reports are many. Here the intervals that
users see are counted, at 80, 95 and 99%, and only one side matters: they must not hold less often than they say. The
rule, fixed in advance: with a Bonferroni correction over all cells, levels and configurations, no cell may be covered
significantly less often than

* the level itself, where intervals are exact (randomised response, subset selection, yes/no questions);
* the level less 1 point, where every report is expected at least 50 times;
* the level less 6 points otherwise, and with weights: 20 reports are 20 reports.

Families of simultaneous intervals are held to the same rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from extremal.closed_forms import geometric, quaternary, randomized_response, subset_selection
from extremal.estimate import FrequencyEstimate, estimate_frequencies
from extremal.mechanism import Mechanism
from support.random_mechanisms import random_ldp_matrix

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

LEVELS = (0.8, 0.95, 0.99)
FEW = 50  # expected number of the rarest report
SHORTFALL, SHORTFALL_FEW = 0.01, 0.06
HEAVY, HEAVY_SHARE = 100.0, 0.05
SEED = 20_260_115


@dataclass(frozen=True)
class Survey:
    """One line of the audit."""

    kind: str
    k: int
    epsilon: float
    n: int
    shape: str
    method: str
    weighted: bool = False

    @cached_property
    def mechanism(self) -> Mechanism:
        if self.kind == "response":
            return randomized_response(self.k, self.epsilon)
        if self.kind == "subsets":
            return subset_selection(self.k, self.epsilon)
        if self.kind == "geometric":
            return geometric(self.k, self.epsilon)
        if self.kind == "quaternary":
            return quaternary(self.epsilon, 0.1)
        if self.kind == "two versions":  # of one question, the second far less private
            halves = [randomized_response(self.k, e).matrix / 2 for e in (self.epsilon, self.epsilon + 5)]
            return Mechanism.from_matrix(np.hstack(halves))
        if self.kind == "erasure":
            return Mechanism.from_matrix(np.hstack([0.3 * np.eye(self.k), np.full((self.k, 1), 0.7)]))
        generator = np.random.default_rng([SEED, self.k])
        copies = [random_ldp_matrix(generator, self.k, self.epsilon) for _ in range(3)]
        return Mechanism.from_matrix(np.hstack([randomized_response(self.k, self.epsilon).matrix, *copies]) / 4)

    @cached_property
    def truth(self) -> Floats:
        x = np.arange(1, self.k + 1)
        if self.shape == "one":
            p = np.where(x == 1, 1.0, 0.0)
        elif self.shape == "rare":
            p = np.where(x == 1, 1 - 0.01 * (self.k - 1), 0.01) if self.k <= 50 else np.where(x == 1, self.k / 2, 0.5)
        elif self.shape == "zipf":
            p = x**-1.5
        else:
            p = np.ones(self.k)
        return np.asarray(p / p.sum())

    @cached_property
    def marginal(self) -> Floats:
        q = self.mechanism.marginal(self.truth)
        return np.asarray(q / q.sum())

    def allowed(self, level: float) -> float:
        """The coverage that no cell may fall significantly below."""
        if self.kind in ("response", "subsets") and not self.weighted:
            return level
        few = self.weighted or self.n * self.marginal[self.marginal > 0].min() < FEW
        return level - (SHORTFALL_FEW if few else SHORTFALL)

    def coverage(self, repeats: int, shrink: float = 1.0) -> tuple[Counts, Counts]:
        """How many intervals hold the truth: a row for each level and a column for each cell; and how many families.

        `shrink` pulls limits towards the estimate: what a wrong formula would do.
        """
        generator = np.random.default_rng([SEED, self.k, self.n, int(10 * self.epsilon), repeats])
        held, families = np.zeros((len(LEVELS), self.k), dtype=np.int64), np.zeros(len(LEVELS), dtype=np.int64)
        for _ in range(repeats):
            result = self._result(generator)
            for i, level in enumerate(LEVELS):
                held[i] += self._holds(result, level, False, shrink)
                families[i] += bool(self._holds(result, level, True, shrink).all())
        return held, families

    def _result(self, generator: np.random.Generator) -> FrequencyEstimate:
        if not self.weighted:
            counts = generator.multinomial(self.n, self.marginal)
            if self.kind == "subsets":
                held = {label: int(c) for label, c in zip(self.mechanism.outputs, counts, strict=True) if c}
                return estimate_frequencies(held, self.mechanism, self.method)  # type: ignore[call-overload, no-any-return]
            return estimate_frequencies(counts, self.mechanism, self.method, counts=True)  # type: ignore[call-overload, no-any-return]
        reports = generator.choice(self.marginal.size, size=self.n, p=self.marginal)
        weights = np.where(generator.random(self.n) < HEAVY_SHARE, HEAVY, 1.0)
        return estimate_frequencies(reports, self.mechanism, self.method, weights=weights)  # type: ignore[call-overload, no-any-return]

    def _holds(
        self, result: FrequencyEstimate, level: float, simultaneous: bool, shrink: float
    ) -> npt.NDArray[np.bool_]:
        limits = result.interval(level, simultaneous)
        if shrink != 1:
            at = np.clip(result.centre, limits[:, 0], limits[:, 1])[:, None]
            limits = at + shrink * (limits - at)
        return np.asarray((limits[:, 0] <= self.truth + 1e-12) & (self.truth - 1e-12 <= limits[:, 1]))

    def __str__(self) -> str:
        weights = " weights 1:100" if self.weighted else ""
        return (
            f"{self.kind:12s} k={self.k:<4d} ε={self.epsilon:<3g} n={self.n:<6d} {self.shape:7s} {self.method}{weights}"
        )


def surveys() -> list[Survey]:
    """The configurations, fixed once and for all."""
    return list(_listed())


def _listed() -> Iterator[Survey]:
    for k, epsilon, n, shape in product((2, 5, 20, 100), (0.5, 2.0, 5.0), (20, 100, 1_000), ("zipf", "one")):
        yield Survey("response", k, epsilon, n, shape, "unbiased")
    for epsilon, n, shape in ((1.0, 31_053, "rare"), (2.0, 1_000, "zipf"), (5.0, 50, "zipf"), (5.0, 1_000, "one")):
        yield Survey("response", 1_000, epsilon, n, shape, "unbiased")
    for n, shape in product((20, 100, 1_000), ("zipf", "one")):
        yield Survey("subsets", 8, 1.0, n, shape, "unbiased")
    rare = (("quaternary", 2, 1.0), ("quaternary", 2, 0.5), ("two versions", 5, 1.0), ("erasure", 4, 1.0))
    for (kind, k, epsilon), n, method in product(rare, (20, 50, 100, 1_000), ("unbiased", "mle")):
        yield Survey(kind, k, epsilon, n, "rare", method)
    for n, shape, method in product((20, 100, 1_000, 10_000), ("zipf", "uniform"), ("unbiased", "mle")):
        yield Survey("staircase", 6, 3.0, n, shape, method)
    for n, method in product((100, 10_000), ("unbiased", "mle")):
        yield Survey("staircase", 50, 3.0, n, "zipf", method)
    for n in (20, 1_000, 100_000):
        yield Survey("geometric", 8, 2.0, n, "zipf", "unbiased")
    for (kind, k), n in product((("response", 3), ("response", 100), ("staircase", 6)), (100, 200, 1_000)):
        yield Survey(kind, k, 2.0, n, "zipf", "unbiased", weighted=True)
