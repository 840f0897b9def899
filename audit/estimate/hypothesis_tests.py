"""Do the tests keep their levels, and do regression intervals cover? Everything fixed in advance.

* Type I: 100,000 simulated data sets under the hypothesis for every test, small samples among them. Each test
  promises P(reject) ≤ α, so only the upper side can fail: a line fails when so many rejections or more have probability
  below 0.001 over the number of lines at rate α. The band of a test of size exactly α is printed with them.
* Sequential: 100,000 runs under each hypothesis, false decisions at most α and β, by the same rule.
* Intervals of regressions: 2,000 surveys for each of 8 configurations; every coefficient must be covered with
  probability in [0.94, 0.96] by the rule of `support.surveys.coverage` (binomial tests, Bonferroni over all
  coefficients, level 0.05). Configurations have at least 50 expected reports of every kind.
* What must be caught: tests that forget the mechanism, and standard errors 20% too small.

Run with `make audit`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc, bdtrik

import extremal as ex
from support.random_mechanisms import random_ldp_matrix
from support.surveys.coverage import significance

TRIALS, SURVEYS, DRAWS, LEVEL, ALPHA = 100_000, 2_000, 199, 0.001, 0.05
SEED = 20_261_115
P, OTHER = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]

TWO, THREE = ex.randomized_response(2, 1), ex.randomized_response(3, 1)
PLAIN = ex.Mechanism.from_matrix(np.eye(3))
WIDE = ex.Mechanism.from_matrix(
    np.hstack([THREE.matrix, random_ldp_matrix(np.random.default_rng(0), 3, 1.0)]) / 2, ex.LDP(1)
)


def hypotheses(n: int, mechanism: ex.Mechanism, believed: ex.Mechanism | None = None) -> int:
    """Rejections of P against OTHER; the decision depends on the counts only, so each table is tested once."""
    generator = np.random.default_rng([SEED, n])
    drawn = generator.multinomial(n, mechanism.marginal(P), size=TRIALS)
    tables, numbers = np.unique(drawn, axis=0, return_counts=True)
    tested = (bool(ex.test_hypotheses(table, believed or mechanism, P, OTHER, ALPHA, counts=True)) for table in tables)
    return int(sum(k for k, rejected in zip(numbers.tolist(), tested, strict=True) if rejected))


def distribution(n: int, mechanism: ex.Mechanism, trials: int = TRIALS, believed: ex.Mechanism | None = None) -> int:
    generator = np.random.default_rng([SEED, n, 1])
    return sum(
        bool(ex.test_distribution(table, believed or mechanism, P, ALPHA, counts=True, draws=DRAWS))
        for table in generator.multinomial(n, mechanism.marginal(P), size=trials)
    )


def homogeneity(n: int, mechanism: ex.Mechanism) -> int:
    generator, groups, rejections = np.random.default_rng([SEED, n, 2]), np.arange(n) % 3, 0
    for reports in generator.choice(mechanism.m, size=(TRIALS, n), p=mechanism.marginal(P)):
        if reports.min() < reports.max():  # one value only: refused, and not rejected
            rejections += bool(ex.test_homogeneity(reports, mechanism, groups, ALPHA, draws=DRAWS))
    return rejections


def independence(n: int) -> int:
    generator, rejections = np.random.default_rng([SEED, n, 3]), 0
    first = generator.choice(3, size=(TRIALS, n), p=THREE.marginal(P))
    second = generator.choice(2, size=(TRIALS, n), p=TWO.marginal([0.4, 0.6]))
    for a, b in zip(first, second, strict=True):
        if a.min() < a.max() and b.min() < b.max():
            frame = pd.DataFrame({"a": a, "b": b})
            rejections += bool(ex.test_independence(frame, {"a": THREE, "b": TWO}, ALPHA, draws=DRAWS))
    return rejections


def sequential(under: int, trials: int = TRIALS, believed: ex.Mechanism = THREE, alpha: float = ALPHA) -> int:
    """Wrong decisions."""
    generator, wrong = np.random.default_rng([SEED, under, 4]), 0
    marginal = THREE.marginal((P, OTHER)[under])
    for _ in range(trials):
        running = ex.sequential_test(believed, P, OTHER, alpha, alpha)
        while running.decision is None:
            running.update(generator.choice(3, size=200, p=marginal))
        wrong += running.decision != under
    return wrong


def excess(count: int, trials: int, rate: float) -> float:
    """P(so many or more)."""
    return float(bdtrc(count - 1, trials, rate)) if count else 1.0


LINES: dict[str, Callable[[], int]] = {
    "hypotheses    n=12   3 outputs": lambda: hypotheses(12, THREE),
    "hypotheses    n=60   3 outputs": lambda: hypotheses(60, THREE),
    "distribution  n=8    3 outputs": lambda: distribution(8, THREE),
    "distribution  n=500  7 outputs": lambda: distribution(500, WIDE),
    "homogeneity   n=12   3 groups": lambda: homogeneity(12, WIDE),
    "homogeneity   n=120  3 groups": lambda: homogeneity(120, THREE),
    "independence  n=30   both privatised": lambda: independence(30),
    "sequential    false rejections": lambda: sequential(0),
    "sequential    false acceptances": lambda: sequential(1),
}


def type_one() -> bool:
    """Whether every test keeps its level and every wrong one is caught."""
    threshold, fine = LEVEL / len(LINES), True
    low, high = bdtrik(threshold, TRIALS, ALPHA) / TRIALS, bdtrik(1 - threshold, TRIALS, ALPHA) / TRIALS
    print(f"type I at α = {ALPHA:g}, {TRIALS} data sets each; a test of size α lies in {low:.5f} to {high:.5f}")
    for name, run in LINES.items():
        started = time.perf_counter()
        count = run()
        p = excess(count, TRIALS, ALPHA)
        fine &= p >= threshold
        print(
            f"  {name:40s} {count / TRIALS:.5f}   P(so many or more) {p:.2e}   {'held' if p >= threshold else 'BROKEN'}"
            f"   {time.perf_counter() - started:.0f} s",
            flush=True,
        )
    few = 2_000
    wrong = {
        "hypotheses, mechanism forgotten": (hypotheses(60, THREE, PLAIN), TRIALS),
        "distribution, mechanism forgotten": (distribution(500, THREE, few, PLAIN), few),
        "sequential, mechanism forgotten": (sequential(0, few, PLAIN), few),
    }
    for name, (count, trials) in wrong.items():
        p = excess(count, trials, ALPHA)
        fine &= p < threshold
        print(f"  {name:40s} {count / trials:.5f}   {'caught' if p < threshold else 'NOT CAUGHT'}")
    return fine


@dataclass(frozen=True)
class Survey:
    """A regression whose coefficients are known."""

    kind: str
    epsilon: float
    n: int

    def coverage(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """How many of SURVEYS intervals hold each coefficient: as they are, and 20% shorter."""
        generator = np.random.default_rng([SEED, index, 5])
        held: list[np.ndarray] = []
        for _ in range(SURVEYS):
            frame, formula, mechanism, more, truth = self.drawn(generator)
            found = ex.regress(formula, frame, mechanism, **more)
            limits = found.interval(0.95)[: len(truth)]
            away, half = np.abs(limits.mean(axis=1) - truth), (limits[:, 1] - limits[:, 0]) / 2
            held.append(np.stack([away <= half, away <= 0.8 * half]))
        total = np.sum(held, axis=0)
        return total[0], total[1]

    def drawn(self, generator: np.random.Generator) -> tuple[pd.DataFrame, str, object, dict[str, object], np.ndarray]:
        z = generator.normal(size=self.n)
        two, three = ex.randomized_response(2, self.epsilon), ex.randomized_response(3, self.epsilon)

        def reported(m: ex.Mechanism, x: np.ndarray) -> np.ndarray:
            return np.minimum((generator.random((len(x), 1)) > np.cumsum(m.matrix, axis=1)[x]).sum(axis=1), m.m - 1)

        def logistic(u: np.ndarray) -> np.ndarray:
            return np.asarray(1 / (1 + np.exp(-u)))

        if self.kind in ("binary", "weighted"):
            y = reported(two, (generator.random(self.n) < logistic(-0.4 + 0.8 * z)).astype(int))
            frame = pd.DataFrame({"y": y, "z": z})
            more = {"weights": generator.uniform(0.5, 2, size=self.n)} if self.kind == "weighted" else {}
            return frame, "y ~ z", two, more, np.array([-0.4, 0.8])
        if self.kind == "multinomial":
            e = np.exp(np.stack([0 * z, 0.2 + 0.7 * z, -0.1 - 0.4 * z], axis=1))
            x = (generator.random((self.n, 1)) > np.cumsum(e / e.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
            frame = pd.DataFrame({"y": reported(three, np.minimum(x, 2)), "z": z})
            return frame, "y ~ z", three, {}, np.array([0.2, 0.7, -0.1, -0.4])
        if self.kind == "ordered":
            latent = 0.8 * z + generator.logistic(size=self.n)
            y = reported(three, (latent > -0.6).astype(int) + (latent > 0.9))
            return pd.DataFrame({"y": y, "z": z}), "y ~ z", three, {"family": "ordered"}, np.array([0.8, -0.6, 0.9])
        x = (generator.random(self.n) < logistic(-0.3 + 0.6 * z)).astype(int)
        y = 0.5 + 1.0 * x + 0.4 * z + generator.normal(size=self.n)
        frame = pd.DataFrame({"y": y, "x": reported(two, x), "z": z})
        return frame, "y ~ x + z", {"x": two}, {}, np.array([0.5, 1.0, 0.4, 0.0, -0.3, 0.6])

    def __str__(self) -> str:
        return f"{self.kind:12s} ε={self.epsilon:g} n={self.n}"


CONFIGURATIONS = (
    Survey("binary", 1.0, 4_000),
    Survey("binary", 2.0, 1_000),
    Survey("binary", 4.0, 400),
    Survey("weighted", 2.0, 2_000),
    Survey("multinomial", 3.0, 2_000),
    Survey("ordered", 2.0, 2_000),
    Survey("hidden", 2.0, 2_000),
    Survey("hidden", 4.0, 600),
)


def intervals() -> bool:
    """Whether the intervals of all coefficients cover."""
    print(f"95% intervals of coefficients, {SURVEYS} surveys each")
    results: list[tuple[np.ndarray, np.ndarray]] = []
    for index, survey in enumerate(CONFIGURATIONS):
        started = time.perf_counter()
        held, short = survey.coverage(index)
        results.append((held, short))
        shown = " ".join(f"{share:.4f}" for share in held / SURVEYS)
        print(f"  {survey!s:28s} {shown}   {time.perf_counter() - started:.0f} s", flush=True)
    cells = sum(len(held) for held, _ in results)
    threshold = 0.05 / (2 * cells)
    below, above = zip(*(significance(held, SURVEYS) for held, _ in results), strict=True)
    low, high = float(np.concatenate(below).min()), float(np.concatenate(above).min())
    caught = sum(bool(bdtr(short, SURVEYS, 0.94).min() < threshold) for _, short in results)
    print(
        f"{cells} coefficients; smallest p-values: coverage < 0.94 {low:.2e}, > 0.96 {high:.2e}; rejected below "
        f"{threshold:.2e}\nstandard errors 20% too small: caught in {caught} of {len(results)} configurations"
    )
    return min(low, high) >= threshold and caught == len(results)


def main() -> Iterator[bool]:
    yield type_one()
    yield intervals()


if __name__ == "__main__":
    sys.exit(int(not all(list(main()))))
