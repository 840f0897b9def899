"""Simulated surveys with several questions: bias, variance and coverage of every question under every strategy.

    python -m audit.questionnaire.simulation [repetitions]

Answers are dependent and skewed: two latent classes of people. For each strategy 100,000 people are asked: the
estimates are compared with the truth, and their variance, as the reports show it, with what the mechanism states at the
true shares, which is never above the cost that the summary states. From 200 and 1,200 people, again and again, the
intervals are compared with the truth.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import extremal as ex
from extremal.release.privatize import privatize_column
from extremal.release.sampling.words import CipherWords

SIZES = {"a": 2, "b": 2, "c": 3, "d": 5, "e": 2, "f": 11}
EPSILON = 4
PEOPLE = 100_000
SHARE = 0.3  # of the first latent class
SIGMAS = 5.0  # of a bias that is called one
LEAST_COVERAGE = 0.945
CLOSE = 0.02  # relative: a variance that is not as stated


def laws(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """For each question the shares of its answers in both classes."""
    return {name: rng.dirichlet(np.ones(k), size=2) for name, k in SIZES.items()}


def records(rng: np.random.Generator, law: dict[str, np.ndarray], n: int) -> pd.DataFrame:
    kind = (rng.random(n) < SHARE).astype(int)
    both = {name: np.array([rng.choice(k, size=n, p=law[name][c]) for c in (0, 1)]) for name, k in SIZES.items()}
    return pd.DataFrame({name: drawn[kind, np.arange(n)] for name, drawn in both.items()})


def reports(asked: ex.Questionnaire, frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Reports from a seed: an experiment, not a release."""
    words = CipherWords(seed.to_bytes(32, "little"))
    if asked.joint is None:
        return pd.DataFrame({n: privatize_column(m, frame[n], source=words) for n, m in asked.questions.items()})
    drawn = asked.joint.draw(frame[list(asked.joint.names)].to_numpy(dtype=np.int64), words)
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in drawn.items()})


def stated(mechanism: ex.Mechanism, chance: float, p: np.ndarray) -> float:
    """n × the total variance of the shares at p, with least squares for equal shares among those who are asked."""
    matrix = mechanism.matrix
    weighted = matrix / matrix.mean(axis=0)
    decoder = np.linalg.solve(weighted @ matrix.T, weighted)
    return float(((decoder**2 @ (p @ matrix)) - p**2).sum() / chance)


def of_many(asked: ex.Questionnaire, strategy: str, frame: pd.DataFrame, truth: dict[str, np.ndarray]) -> int:
    """How many questions are biased, or have another variance than stated."""
    failed = 0
    for name, one in asked.estimate(reports(asked, frame, 7)).items():
        bias = float(np.abs((one.estimate - truth[name]) / one.standard_error).max())
        chance, k = float(asked.chance(name)), SIZES[name]
        # How many were asked is known: by that number, and not by the one that was expected.
        seen = one.n / chance * float((one.standard_error**2).sum())
        there = stated(asked.questions[name], chance, truth[name])
        cost = k * asked.budget.costs[strategy].variances[name]  # type: ignore[union-attr]
        failed += bias > SIGMAS or abs(seen / there - 1) > CLOSE or there > cost * (1 + 1e-9)
        both = f"n × variance {seen:.3f}, stated {there:.3f} (≤ {cost:.3f})"
        print(f"  {name} n = {len(frame):,}: |bias|/s.e. {bias:.2f}, {both}")
    return failed


def main(repetitions: int) -> int:
    rng = np.random.default_rng(1)
    law = laws(rng)
    truth = {name: (1 - SHARE) * law[name][0] + SHARE * law[name][1] for name in SIZES}
    failed = 0
    for strategy in ("joint", "sample", "split"):
        asked = ex.Questionnaire.within(EPSILON, SIZES, strategy)
        print(strategy, flush=True)
        failed += of_many(asked, strategy, records(rng, law, PEOPLE), truth)
        for n in (200, 1200):
            inside: dict[str, list[float]] = {name: [] for name in SIZES}
            for r in range(repetitions):
                for name, one in asked.estimate(reports(asked, records(rng, law, n), 1000 * n + r)).items():
                    limits = one.interval()
                    inside[name].append(float(((limits[:, 0] <= truth[name]) & (truth[name] <= limits[:, 1])).mean()))
            for name in SIZES:
                covered = float(np.mean(inside[name]))
                error = float(np.std(inside[name])) / repetitions**0.5
                failed += covered + 4 * error < LEAST_COVERAGE
                print(f"  {name} n = {n:5}: coverage {covered:.4f} ± {error:.4f}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 400))
