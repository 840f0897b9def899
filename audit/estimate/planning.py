"""Do surveys reach what was planned? Everything fixed in advance.

* Precision: 20 plans (mechanisms, shares, ε and levels) with the n that `ex.plan` returns. 400 surveys of each are
  simulated at the planned shares, or at the worst ones, and estimated as the plan says. The mean half-width of the
  widest cell must be the planned one within 4 standard errors and the length that one report more or less makes
  (expected counts are rounded to whole ones). It may be smaller by at most 5% at the worst shares, where the plan takes
  the widest of neighbouring counts, and where an interval next to the expected one is cut at 0 or 1. The interval must
  hold the truth with the planned level, less 4 standard errors.
* Power: 20 plans of `ex.plan_test`; 20,000 data sets of each under either hypothesis. Rejections under the alternative
  must be as frequent as planned within 4 standard errors, and under the hypothesis at most as frequent as the level.
* What must be caught: plans with 20% fewer people than needed, in both.

Run with `make audit`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import extremal as ex
from extremal.studies import Plan, TestPlan
from support.surveys.simulated import simulated_rejections, simulated_surveys

SURVEYS, TESTS, SEED, ERRORS, SLACK = 400, 20_000, 20_261_115, 4.0, 0.05
SKEWED, FIVE, RARE = [0.7, 0.2, 0.1], [0.35, 0.25, 0.2, 0.15, 0.05], [0.96, 0.01, 0.01, 0.01, 0.01]
OLD = ex.Mechanism.from_matrix([[0.6, 0.2, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]])


def precision_plans() -> Iterator[tuple[str, Plan, Any, Any]]:
    """Name, plan, shares and workload."""
    for epsilon, half_width in ((0.5, 0.08), (1, 0.05), (2, 0.03), (4, 0.02)):
        yield f"3 answers, ε = {epsilon}", ex.plan(prior=SKEWED, epsilon=epsilon, half_width=half_width), SKEWED, None
    for epsilon in (1, 3):
        yield f"5 answers, ε = {epsilon}", ex.plan(prior=FIVE, epsilon=epsilon, half_width=0.04), FIVE, None
        yield f"rare answers, ε = {epsilon}", ex.plan(prior=RARE, epsilon=epsilon, half_width=0.03), RARE, None
    yield "3 answers, 99%", ex.plan(prior=SKEWED, epsilon=1, half_width=0.05, level=0.99), SKEWED, None
    yield "3 answers, 80%", ex.plan(prior=SKEWED, epsilon=1, half_width=0.03, level=0.8), SKEWED, None
    yield "given n", ex.plan(prior=FIVE, epsilon=2, n=3000), FIVE, None
    yield "given n, ε solved", ex.plan(prior=SKEWED, n=3000, half_width=0.05), SKEWED, None
    for m in (ex.randomized_response(5, 1), ex.subset_selection(5, 0.5), ex.Mechanism.from_matrix(np.eye(5))):
        yield f"given mechanism, {m.m} reports", ex.plan(m, prior=FIVE, half_width=0.05), FIVE, None
    yield "given mechanism without claim", ex.plan(OLD, prior=SKEWED, half_width=0.05), SKEWED, None
    worst = ex.plan(k=4, epsilon=1, half_width=0.05)
    yield "4 answers, worst shares", worst, [worst.value, *[(1 - worst.value) / 3] * 3], None
    for workload in (ex.CDF(SKEWED), ex.Mean([0, 1, 5], SKEWED), ex.Mean(list(range(5)), FIVE)):
        prior = SKEWED if workload.k == 3 else FIVE
        yield workload.name, ex.plan(workload=workload, epsilon=1, half_width=0.05), prior, workload


def precision() -> bool:
    passed = True
    for i, (name, plan, prior, workload) in enumerate(precision_plans()):
        good, said = _reached(plan, prior, workload, plan.n, i)
        caught = i != 0 or not _reached(plan, prior, workload, round(plan.n * 0.8), i)[0]
        passed &= good and caught
        print(
            f"{'ok  ' if good else 'FAIL'} {name:<30} n = {plan.n:>6}  {said}{'' if caught else '  NOT CAUGHT'}",
            flush=True,
        )
    return passed


def _reached(plan: Plan, prior: Any, workload: Any, n: int, i: int) -> tuple[bool, str]:
    generator = np.random.default_rng([SEED, i])
    seen = simulated_surveys(plan.mechanism, prior, n, plan.widest, plan.level, SURVEYS, generator, workload)
    mean, error = seen.mean_half_width
    one = plan.half_width / math.sqrt(n) if workload is None else 0.0
    cut = workload is None and not 2 * plan.half_width < plan.value < 1 - 2 * plan.half_width
    slack = SLACK * plan.half_width if cut or plan.goal.where.startswith("whatever") else 0.0
    fits = plan.half_width - slack - ERRORS * error - one <= mean <= plan.half_width + ERRORS * error + one
    holds = seen.coverage >= plan.level - ERRORS * math.sqrt(plan.level * (1 - plan.level) / SURVEYS)
    said = f"planned ±{plan.half_width:.5f}, seen ±{mean:.5f} (s.e. {error:.1e}), coverage {seen.coverage:.4f}"
    return fits and holds, said


def power_plans() -> Iterator[tuple[TestPlan, Any, Any]]:
    pairs = (([0.5, 0.5], [0.4, 0.6]), (SKEWED, [0.6, 0.25, 0.15]), (FIVE, [0.2] * 5))
    for p0, p1 in pairs:
        for epsilon in (0.5, 1, 2, 4):
            yield ex.plan_test(p0=p0, p1=p1, epsilon=epsilon, power=0.8), p0, p1
    for power in (0.5, 0.9, 0.99):
        yield (
            ex.plan_test(p0=SKEWED, p1=[0.6, 0.25, 0.15], epsilon=1, power=power, alpha=0.01),
            SKEWED,
            [0.6, 0.25, 0.15],
        )
    yield ex.plan_test(p0=SKEWED, p1=[0.6, 0.25, 0.15], epsilon=1, n=300), SKEWED, [0.6, 0.25, 0.15]
    yield ex.plan_test(p0=SKEWED, p1=[0.6, 0.25, 0.15], n=500, power=0.8), SKEWED, [0.6, 0.25, 0.15]
    for m in (ex.randomized_response(3, 1), OLD, ex.subset_selection(3, 2)):
        yield ex.plan_test(m, p0=SKEWED, p1=[0.6, 0.25, 0.15], power=0.8), SKEWED, [0.6, 0.25, 0.15]


def power() -> bool:
    passed = True
    for i, (plan, p0, p1) in enumerate(power_plans()):
        good, said = _powerful(plan, p0, p1, plan.n, i)
        caught = i != 0 or not _powerful(plan, p0, p1, round(plan.n * 0.8), i)[0]
        passed &= good and caught
        last = "" if caught else "  NOT CAUGHT"
        print(f"{'ok  ' if good else 'FAIL'} ε = {plan.epsilon:<6.4g} n = {plan.n:>5}  {said}{last}", flush=True)
    return passed


def _powerful(plan: TestPlan, p0: Any, p1: Any, n: int, i: int) -> tuple[bool, str]:
    generator = np.random.default_rng([SEED, 1, i])
    false, found = simulated_rejections(plan.mechanism, p0, p1, n, plan.alpha, TESTS, generator)
    error = ERRORS * math.sqrt(plan.power * (1 - plan.power) / TESTS)
    level = plan.level + ERRORS * math.sqrt(plan.level * (1 - plan.level) / TESTS)
    said = f"planned {plan.power:.4f}, seen {found:.4f}; false alarms at most {plan.level:.4f}, seen {false:.4f}"
    return abs(found - plan.power) <= error and false <= level, said


if __name__ == "__main__":
    start = time.perf_counter()
    fine = [precision(), power()]
    print(f"{'passed' if all(fine) else 'FAILED'} in {time.perf_counter() - start:.0f} s")
    sys.exit(0 if all(fine) else 1)
