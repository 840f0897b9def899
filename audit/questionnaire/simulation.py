"""Simulated surveys with several questions: bias, variance and coverage of every question under every strategy.

    python -m audit.questionnaire.simulation [surveys]

Answers are dependent and skewed: two latent classes of people. Six questions ask for shares, one for a mean, and one is
asked only after an answer to a filter. For each strategy 100,000 people are asked: the estimates are compared with the
truth, and their variance, as the reports show it, with what the mechanism states at the true shares; for a question
about shares that is never above the cost that the summary states. Then many surveys of 200 and of 1,200 people are
drawn: their squared error is compared with the stated variance, and their 95% intervals with the truth. The coverage of
a question is the mean over its answers, or that of its mean.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd

import extremal as ex
from extremal.questionnaire import OnlyIf
from extremal.release.privatize import privatize_column
from extremal.release.sampling.words import CipherWords

SIZES = {"a": 2, "b": 2, "c": 3, "d": 5, "e": 2, "f": 11}
ASKED: dict[str, Any] = {**SIZES, "mean": ex.Mean(range(11)), "filter": 2, "behind": OnlyIf("filter", 1, 2)}
SKIPPED = 2  # the code of "(skipped)" among the answers of the question behind the filter
EPSILON = 4
PEOPLE = 100_000
SURVEYED = (200, 1200)
AT_ONCE = 250  # surveys that are drawn and estimated together: 300,000 rows
SHARE = 0.3  # of the first latent class
SIGMAS = 5.0  # of a bias that is called one: 3e-5 in all for about fifty numbers
ERRORS = 4.0  # standard errors of a simulated number that are allowed: 3e-3 in all for about fifty numbers
LEAST_COVERAGE = 0.945
CLOSE = 0.02  # relative: a variance that is not as stated


class People:
    """Records of two latent classes, and the true shares of every question."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        sizes = {**SIZES, "mean": 11, "filter": 2, "behind": 2}
        self.laws = {name: self.rng.dirichlet(np.ones(k), size=2) for name, k in sizes.items()}
        classes = np.array([1 - SHARE, SHARE])
        self.shares = {name: classes @ law for name, law in self.laws.items()}
        reached = classes * self.laws["filter"][:, 1]
        self.shares["behind"] = np.append(reached @ self.laws["behind"], 1 - reached.sum())

    def drawn(self, n: int) -> pd.DataFrame:
        """The codes of n people's answers."""
        kind = (self.rng.random(n) < SHARE).astype(int)
        drawn = {}
        for name, law in self.laws.items():
            both = np.array([self.rng.choice(law.shape[1], size=n, p=law[c]) for c in (0, 1)])
            drawn[name] = both[kind, np.arange(n)]
        drawn["behind"] = np.where(drawn["filter"] == 1, drawn["behind"], SKIPPED)
        return pd.DataFrame(drawn)


def reports(asked: ex.Questionnaire, frame: pd.DataFrame, words: CipherWords) -> pd.DataFrame:
    """Reports from a seed: an experiment, not a release."""
    made: dict[str, Any] = {}
    if asked.joint is not None:
        drawn = asked.joint.draw(frame[list(asked.joint.names)].to_numpy(dtype=np.int64), words)
        made = {name: pd.Series(values, dtype=object) for name, values in drawn.items()}
    alone = {name: m for name, m in asked.questions.items() if name not in made}
    return pd.DataFrame(made | {name: privatize_column(m, frame[name], source=words) for name, m in alone.items()})


def statistics(asked: ex.Questionnaire, name: str) -> np.ndarray:
    """What is estimated of a question, as rows that weigh its shares."""
    goal = asked.goals.get(name)
    return np.eye(asked.questions[name].k) if goal is None else np.asarray(goal.rows, dtype=float)


def stated(asked: ex.Questionnaire, name: str, shares: np.ndarray) -> float:
    """n × the total variance at the true shares, with least squares for equal shares, for n who are asked."""
    matrix, rows = asked.questions[name].matrix, statistics(asked, name)
    weighted = matrix / matrix.mean(axis=0)
    decoder = rows @ np.linalg.solve(weighted @ matrix.T, weighted)
    return float(((decoder**2 @ (shares @ matrix)) - (rows @ shares) ** 2).sum())


def of_many(asked: ex.Questionnaire, strategy: str, people: People) -> int:
    """How many questions are biased, or have another variance than stated, from 100,000 people."""
    failed = 0
    drawn = reports(asked, people.drawn(PEOPLE), CipherWords(bytes(32)))
    for name, one in asked.estimate(drawn).items():
        truth = statistics(asked, name) @ people.shares[name]
        bias = float(np.abs((one.estimate - truth) / one.standard_error).max())
        seen, there = one.n * float((one.standard_error**2).sum()), stated(asked, name, people.shares[name])
        chance = float(asked.chance(name))
        failed += bias > SIGMAS or abs(seen / there - 1) > CLOSE
        cost = ""
        if name in SIZES:
            most = SIZES[name] * asked.budget.costs[strategy].variances[name]  # type: ignore[union-attr]
            failed += there / chance > most * (1 + 1e-9)
            cost = f" (≤ {most:.3f})"
        both = f"n × variance {seen / chance:.3f}, stated {there / chance:.3f}{cost}, ratio {seen / there:.4f}"
        print(f"  {name:6} n = {PEOPLE:,}: |bias|/s.e. {bias:.2f}, {both}", flush=True)
    return failed


def of_surveys(asked: ex.Questionnaire, n: int, surveys: int, people: People) -> int:
    """How many questions have intervals that cover too rarely, or a squared error that is not as stated."""
    inside: dict[str, list[np.ndarray]] = {name: [] for name in asked.questions}
    errors: dict[str, list[float]] = {name: [] for name in asked.questions}
    words = CipherWords(n.to_bytes(32, "little"))
    for start in range(0, surveys, AT_ONCE):
        count = min(AT_ONCE, surveys - start)
        drawn = reports(asked, people.drawn(count * n), words)
        drawn["survey"] = np.repeat(np.arange(count), n)
        for name, found in asked.estimate(drawn, by="survey").items():
            truth = statistics(asked, name) @ people.shares[name]
            for one in found.values():
                low, high = one.interval().T
                inside[name].append((low <= truth) & (truth <= high))
                errors[name].append(one.n * float(((one.estimate - truth) ** 2).sum()))
    failed = 0
    for name in asked.questions:
        covers, ratios = np.array(inside[name]), np.array(errors[name]) / stated(asked, name, people.shares[name])
        each = covers.mean(axis=1)
        covered, doubt = float(each.mean()), float(each.std()) / len(each) ** 0.5
        ratio, spread = float(ratios.mean()), float(ratios.std()) / len(ratios) ** 0.5
        failed += covered + ERRORS * doubt < LEAST_COVERAGE or abs(ratio - 1) > ERRORS * spread
        said = f"coverage {covered:.4f} ± {doubt:.4f} (least of an answer {covers.mean(axis=0).min():.4f})"
        print(f"  {name:6} n = {n:5}: {said}, squared error / stated {ratio:.4f} ± {spread:.4f}", flush=True)
    return failed


def main(surveys: int) -> int:
    people, failed = People(1), 0
    for strategy in ("joint", "sample", "split"):
        asked = ex.Questionnaire.within(EPSILON, ASKED, strategy)
        print(strategy, flush=True)
        failed += of_many(asked, strategy, people)
        for n in SURVEYED:
            failed += of_surveys(asked, n, surveys, people)
    print("as stated" if not failed else f"NOT as stated: {failed}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
