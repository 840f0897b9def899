"""Simulated surveys with several questions: bias, variance and coverage of every question under every strategy.

    python -m audit.questionnaire.simulation [repetitions]

Answers are dependent and skewed: two latent classes of people. For each strategy the estimates from 100,000 people are
compared with the truth, and from 200 and 1,200 people the errors with what is stated and the intervals with the truth.
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


def main(repetitions: int) -> int:
    rng = np.random.default_rng(1)
    law = laws(rng)
    truth = {name: (1 - SHARE) * law[name][0] + SHARE * law[name][1] for name in SIZES}
    failed = 0
    for strategy in ("joint", "sample", "split"):
        asked = ex.Questionnaire.within(EPSILON, SIZES, strategy)
        found = asked.estimate(reports(asked, records(rng, law, PEOPLE), 7))
        worst = max(float(np.abs((e.estimate - truth[n]) / e.standard_error).max()) for n, e in found.items())
        failed += worst > SIGMAS
        print(f"{strategy:7} n = {PEOPLE:,}: largest |bias|/s.e. {worst:.2f}", flush=True)
        for n in (200, 1200):
            inside: dict[str, list[float]] = {name: [] for name in SIZES}
            errors: dict[str, list[float]] = {name: [] for name in SIZES}
            for r in range(repetitions):
                some = asked.estimate(reports(asked, records(rng, law, n), 1000 * n + r))
                for name, one in some.items():
                    limits = one.interval()
                    inside[name].append(float(((limits[:, 0] <= truth[name]) & (truth[name] <= limits[:, 1])).mean()))
                    errors[name].append(float(n * ((one.estimate - truth[name]) ** 2).sum()))
            for name in SIZES:
                covered, k = float(np.mean(inside[name])), SIZES[name]
                costs = asked.budget.costs[strategy].variances[name]  # type: ignore[union-attr]
                # only those who were asked count: what is known of the shares beforehand is worth so much more
                stated = k * costs - float(((truth[name] - 1 / k) ** 2).sum()) / float(asked.chance(name))
                room = 4 * float(np.std(inside[name])) / repetitions**0.5
                failed += covered + room < LEAST_COVERAGE
                seen = float(np.mean(errors[name]))
                print(f"  {name} n = {n:5}: coverage {covered:.4f}, n × MSE {seen:.3f}, stated {stated:.3f}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 400))
