"""Several hypotheses, robust classes and (ε,δ)-LDP: against enumeration, at the sizes and with the gaps promised.

1. 300 instances of three hypotheses, k = 2..10, means and worst cases of six divergences, ε from 0.1 to 5, some with
   zeros and ties: column generation against the program over all patterns (at most 1e-9 apart, relatively).
2. 200 instances of (ε,δ)-LDP, k = 2..5, against the program over all rays, written for another solver (1e-9), and
   never below "reveal with probability δ, else the best ε-mechanism".
3. 100 instances of two balls: no pair of their vertices gets less than the design's value (1e-9); 100 of two lists: the
   worst pair gets the optimum over all patterns.
4. Three hypotheses on 40 inputs, mean and worst case: gap at most 1e-9, and the seconds of the processor.
5. (ε,δ) with k = 6: exact, and its seconds; k = 20: the certified gap.
6. The instances of the page: 0.783 of the worst case by randomised response on five hypotheses, 2.0% above revealing.
7. Estimation under (ε,δ), 40 instances, k = 2..5: the gap (at most 1e-5), never above revealing.

Every certificate is verified without a solver. Run with `make audit`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.optimize import linprog

import extremal as ex
from extremal.optimize.hypotheses.columns import best_mixture
from extremal.optimize.hypotheses.goals import Goals
from extremal.optimize.problem import Problem
from extremal.optimize.rays import best_mixture as over_all_patterns
from extremal.optimize.rays import parts_of
from extremal.privacy.cones.coupled import couplings, rays
from extremal.privacy.cones.staircase import patterns

CLOSE = 1e-9
KINDS = (ex.KL, ex.ChiSquared, ex.TotalVariation, ex.SquaredHellinger, ex.JensenShannon, ex.ReverseKL)


def said(what: str, good: bool, started: float) -> bool:
    print(f"{'ok  ' if good else 'FAIL'} {what}; {time.process_time() - started:.1f} s of the processor", flush=True)
    return good


def listed(utility: Any, epsilon: float) -> float:
    """The optimum by listing all patterns."""
    columns = patterns(utility.k, epsilon)
    values = np.array([part.column_values(columns) for part in parts_of(utility)])
    best = over_all_patterns(columns, values)
    return float((values @ best.weights).min())


def three_hypotheses(count: int) -> bool:
    started, worst, incomplete = time.process_time(), 0.0, 0
    for seed in range(count):
        generator = np.random.default_rng(seed)
        k, epsilon = int(generator.integers(2, 11)), float(np.round(10 ** generator.uniform(-1, 0.7), 3))
        priors = generator.dirichlet(np.full(k, generator.choice([0.3, 1, 5])), 3)
        if seed % 5 == 0:
            priors = np.round(priors, 1) + np.eye(1, k)
            priors /= priors.sum(axis=1, keepdims=True)
        utility = ex.PairwiseDivergence(list(priors), KINDS[seed % len(KINDS)], worst_case=bool(seed % 2))
        found = best_mixture(Problem(ex.LDP(epsilon), utility), Goals.of(utility, epsilon))
        truth = listed(utility, epsilon)
        worst = max(worst, abs(found.value - truth) / truth if truth else abs(found.value))
        incomplete += not found.complete
    return said(
        f"{count} of three hypotheses: largest difference to enumeration {worst:.1e}, not closed: {incomplete}",
        worst <= CLOSE and not incomplete,
        started,
    )


def revealing(privacy: ex.LDP, utility: Any) -> Any:
    plain = ex.design(ex.LDP(privacy.epsilon), utility).mechanism.matrix
    return np.hstack([(1 - privacy.delta) * plain, privacy.delta * np.eye(utility.k)])


def with_delta(count: int) -> bool:
    started, worst, gaps, least, most, verified = time.process_time(), 0.0, 0.0, np.inf, 0.0, 0
    for seed in range(count):
        generator = np.random.default_rng(10_000 + seed)
        k = 2 + seed % 4
        pair = generator.dirichlet(np.full(k, generator.choice([0.6, 1, 4])), 2)
        epsilon, delta = round(float(generator.uniform(0.2, 3)), 3), round(float(generator.uniform(0.01, 0.4)), 3)
        utility: Any = (ex.KL, ex.TotalVariation, ex.SquaredHellinger, ex.JensenShannon, ex.ChiSquared)[seed % 5](*pair)
        if seed % 7 == 0:
            utility = ex.MutualInformation(pair[0])
        privacy = ex.LDP(epsilon, delta)
        found = ex.design(privacy, utility)
        columns = rays(k, epsilon)
        coupled, values = couplings(columns, epsilon), utility.column_values(columns)
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False}
        worth = values / values.max()
        limits = np.full(len(coupled), delta)
        answer = linprog(-worth, coupled, limits, columns, np.ones(k), method="highs-ds", options=options)
        truth = float(-answer.fun * values.max())
        worst, gaps = max(worst, abs(found.value - truth) / truth), max(gaps, found.gap)
        above = found.value / utility(revealing(privacy, utility))
        least, most, verified = min(least, above), max(most, above), verified + bool(ex.verify(found))
    what = (
        f"{count} instances of (ε,δ): largest difference to the rays {worst:.1e}, largest gap {gaps:.1e}, value over "
        f"that of revealing {least:.12f} to {most:.4f}, {verified} verified"
    )
    return said(what, worst <= CLOSE and least >= 1 - 1e-12 and verified == count, started)


def balls(count: int) -> bool:
    started, pairs, worst, gaps = time.process_time(), 0, np.inf, 0.0
    for seed in range(count):
        generator = np.random.default_rng(20_000 + seed)
        k = int(generator.integers(2, 6))
        p, q = generator.dirichlet(np.full(k, generator.choice([0.4, 1, 4])), 2)
        apart = np.abs(p - q).sum() / 2
        first, second = generator.dirichlet([1, 1]) * apart * generator.uniform(0.05, 0.9)
        classes = ex.SourceClass.ball(p, repr(float(first))), ex.SourceClass.ball(q, repr(float(second)))
        kind, epsilon = KINDS[seed % len(KINDS)], round(float(generator.uniform(0.2, 3)), 3)
        found = ex.design(ex.LDP(epsilon), ex.RobustDivergence(*classes, kind))
        gaps = max(gaps, found.gap)
        for a in classes[0].vertices():
            for b in classes[1].vertices():
                worst, pairs = min(worst, kind(a, b)(found.mechanism) / found.value), pairs + 1
    what = f"{count} pairs of balls, {pairs} of vertices: the least gets {worst:.9f} of the value, gap {gaps:.1e}"
    return said(what, worst >= 1 - CLOSE and gaps <= CLOSE, started)


def lists(count: int) -> bool:
    started, worst, gaps = time.process_time(), 0.0, 0.0
    for seed in range(count):
        generator = np.random.default_rng(30_000 + seed)
        k, epsilon = int(generator.integers(2, 8)), round(float(generator.uniform(0.2, 3)), 3)
        first, second = (list(generator.dirichlet(np.ones(k), int(generator.integers(2, 4)))) for _ in range(2))
        kind = KINDS[seed % len(KINDS)]
        found = ex.design(ex.LDP(epsilon), ex.RobustDivergence(first, second, kind))
        at_worst = min(kind(p, q)(found.mechanism) for p in first for q in second)
        truth = listed(ex.WorstCase([kind(p, q) for p in first for q in second]), epsilon)
        worst, gaps = max(worst, abs(at_worst - truth) / truth), max(gaps, found.gap)
    what = f"{count} pairs of lists: largest difference of the worst pair to enumeration {worst:.1e}, gap {gaps:.1e}"
    return said(what, worst <= CLOSE and gaps <= CLOSE, started)


def forty_inputs() -> bool:
    good = True
    for seed in range(3):
        priors = list(np.random.default_rng(seed).dirichlet(np.ones(40), 3))
        for worst_case in (False, True):
            started = time.process_time()
            found = ex.design(ex.LDP(1), ex.PairwiseDivergence(priors, worst_case=worst_case))
            seconds = time.process_time() - started
            name, reports = found.utility.name, found.mechanism.m
            what = f"m = 3, k = 40, {name}: gap {found.gap:.1e} in {seconds:.1f} s, {reports} reports"
            good &= said(what, found.gap <= CLOSE and bool(ex.verify(found)), started)
    return good


def large_with_delta() -> bool:
    good = True
    for k, kind, most in ((6, ex.KL, CLOSE), (6, ex.MutualInformation, CLOSE), (20, ex.KL, 0.1)):
        priors = np.random.default_rng(k).dirichlet(np.full(k, 2.0), 2)
        utility: Any = kind(priors[0]) if kind is ex.MutualInformation else kind(*priors)
        started = time.process_time()
        found = ex.design(ex.LDP(1, "0.05"), utility)
        seconds = time.process_time() - started
        what = f"(ε,δ) = (1, 0.05), k = {k}, {utility.name}: certified gap {found.gap:.1e} in {seconds:.1f} s"
        good &= said(what, found.gap <= most and bool(ex.verify(found)), started)
    return good


def instances() -> bool:
    started = time.process_time()
    priors = [[0.1 + 0.5 * (x == i) for x in range(5)] for i in range(5)]
    utility = ex.PairwiseDivergence(priors, worst_case=True)
    best = ex.design(ex.LDP("0.5"), utility)
    share = utility(ex.randomized_response(5, 0.5)) / best.value
    good = said(f"five hypotheses: randomised response reaches {share:.4f}", abs(share - 0.783) < 5e-4, started)
    more = ex.design(
        ex.LDP(1), ex.PairwiseDivergence([[0.5, 0.1, 0.4], [0.2, 0.3, 0.5], [0.7, 0.2, 0.1]], worst_case=True)
    )
    good &= said(f"three inputs, {more.mechanism.m} reports, gap {more.gap:.1e}", more.mechanism.m == 4, started)
    privacy, pair = ex.LDP("1.4945", "0.317"), ex.KL([0.191, 0.286, 0.523], [0.453, 0.285, 0.262])
    found = ex.design(privacy, pair)
    above = found.value / pair(revealing(privacy, pair)) - 1
    return good & said(f"{above:.2%} above revealing, gap {found.gap:.1e}", abs(above - 0.0204) < 1e-4, started)


def estimation(count: int) -> bool:
    started, gaps, least, verified = time.process_time(), 0.0, np.inf, 0
    saved: list[float] = []
    for seed in range(count):
        generator = np.random.default_rng(40_000 + seed)
        k = 2 + seed % 4
        prior = generator.dirichlet(np.full(k, 4.0))
        goals: tuple[Any, ...] = (ex.Frequencies(prior), ex.CDF(prior), ex.Mean(np.arange(k), prior), ex.Ranges(prior))
        utility = goals[seed // 4 % 4]
        privacy = ex.LDP(round(float(generator.uniform(0.2, 3)), 3), round(float(generator.uniform(0.001, 0.3)), 4))
        found = ex.design(privacy, utility)
        saved.append(utility(revealing(privacy, utility)) / found.value - 1)
        gaps, least, verified = max(gaps, found.gap), min(least, saved[-1]), verified + bool(ex.verify(found))
    what = (
        f"{count} estimation goals under (ε,δ): largest gap {gaps:.1e}, people saved against revealing {least:.1e} to "
        f"{max(saved):.2%}, {verified} verified"
    )
    return said(what, gaps <= 1e-5 and least >= -1e-12 and verified == count, started)


def main() -> int:
    checks = (
        instances(),
        forty_inputs(),
        large_with_delta(),
        three_hypotheses(300),
        with_delta(200),
        balls(100),
        lists(100),
        estimation(40),
    )
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
