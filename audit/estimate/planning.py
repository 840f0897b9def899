"""Do surveys reach what was planned? Everything fixed in advance.

* Precision: 20 plans (mechanisms, shares, ε and levels) with the n that `ex.plan` returns. 400 surveys of each are
  simulated at the planned shares, or at the worst ones, and estimated as the plan says. The mean half-width of the
  widest cell must be the planned one within 4 standard errors and the length that one report more or less makes
  (expected counts are rounded to whole ones); for workloads, what the larger of two estimates of a variance is above
  each. It may be smaller by at most 5% at the worst shares, where the plan takes the widest of neighbouring counts, and
  where an interval next to the expected one is cut at 0 or 1. The interval must hold the truth with the planned level,
  less 4 standard errors.
* Power: 20 plans of `ex.plan_test`; 20,000 data sets of each under either hypothesis. Rejections under the alternative
  must be as frequent as planned within 4 standard errors, and under the hypothesis at most as frequent as the level.
* Samples: plans with weights to 4:1, 2 to 30 strata (a finite population too) and clusters of 10 to 60 people with
  intraclass correlations of 0.02 to 0.2, for an assurance of 0.9. 400 surveys of each, answers of a cluster beta and
  binomial. They must reach the half-width as often as stated, less 0.03 and 3 standard errors.
* What must be caught: plans with 20% fewer people than needed, in all three.

Run with `make audit`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import extremal as ex
from extremal.studies import Plan, TestPlan
from support.surveys.simulated import simulated_rejections, simulated_samples, simulated_surveys

SURVEYS, TESTS, SEED, ERRORS, SLACK = 400, 20_000, 20_261_115, 4.0, 0.05
MISSED, SURE = 0.03, 3.0  # of a stated probability, and standard errors beyond
SKEWED, FIVE, RARE = [0.7, 0.2, 0.1], [0.35, 0.25, 0.2, 0.15, 0.05], [0.96, 0.01, 0.01, 0.01, 0.01]
OLD = ex.Mechanism.from_matrix([[0.6, 0.2, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]])


Design = Callable[[int], ex.Sample]
ROUNDING = 1e-9  # of a half-width


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
    one = _moved(plan, prior, workload, n)
    cut = workload is None and not 2 * plan.half_width < plan.value < 1 - 2 * plan.half_width
    slack = SLACK * plan.half_width if cut or plan.goal.where.startswith("whatever") else 0.0
    fits = plan.half_width - slack - ERRORS * error - one <= mean <= plan.half_width + ERRORS * error + one
    holds = seen.coverage >= plan.level - ERRORS * math.sqrt(plan.level * (1 - plan.level) / SURVEYS)
    said = f"planned ±{plan.half_width:.5f}, seen ±{mean:.5f} (s.e. {error:.1e}), coverage {seen.coverage:.4f}"
    return fits and holds, said


def _moved(plan: Plan, prior: Any, workload: Any, n: int) -> float:
    """By how much the mean may differ: the length that one report makes; for workloads, of which the larger of the
    fitted and the seen variance counts, a quarter of the relative scatter of the seen one (half of that in V)."""
    if workload is None:
        return plan.half_width / math.sqrt(n)
    found = ex.estimate_workload(dict.fromkeys(plan.mechanism.outputs, 1), plan.mechanism, workload)
    influence = found.fit.inverse.influence(found.fit.combinations.matrix)
    assert influence is not None
    q, b = plan.mechanism.marginal(prior), influence[found.labels.index(plan.widest)]
    apart = b - q @ b
    return float(plan.half_width * math.sqrt((q @ apart**4 / (q @ apart**2) ** 2 - 1) / n) / 4)


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


def strata(count: int, weights: bool = False, finite: bool = False) -> Design:
    """Equal strata; with weights 1 to 4 by stratum, or half to a sixth of everybody in them."""

    def people(n: int) -> ex.Sample:
        codes = np.arange(n) * count // n
        sizes = {h: int(c) * (2 + 2 * (h % 3)) for h, c in enumerate(np.bincount(codes))} if finite else None
        return ex.Sample(strata=codes, weights=1.0 + codes % 4 if weights else None, population=sizes)

    return people


def clusters(size: int, weights: bool = False, count: int = 1) -> Design:
    """Clusters of one size, in so many strata; with weights 1 to 4 of people."""

    def people(n: int) -> ex.Sample:
        codes = np.arange(n) // size
        layers = codes * count // (codes[-1] + 1) if count > 1 else None
        return ex.Sample(cluster=codes, strata=layers, weights=1.0 + np.arange(n) % 4 if weights else None)

    return people


def weighted(n: int) -> ex.Sample:
    """Weights 1, 2, 3, 4 in equal parts."""
    return ex.Sample(weights=1.0 + np.arange(n) % 4)


def oversampled(n: int) -> ex.Sample:
    """A fifth of the people with four times the weight."""
    return ex.Sample(weights=np.where(np.arange(n) % 5 == 0, 4.0, 1.0))


def sample_plans() -> Iterator[tuple[str, Design, float, float, float, float | None]]:
    """Name, sample of n people, ε, share, half-width and intraclass correlation."""
    for epsilon, share, half in ((1, 0.3, 0.1), (4, 0.3, 0.05), (6, 0.05, 0.03), (6, 0.5, 0.04)):
        yield "weights 1 to 4", weighted, epsilon, share, half, None
        yield "a fifth with 4", oversampled, epsilon, share, half, None
        for count in (2, 10, 30):
            yield f"{count} strata", strata(count), epsilon, share, half, None
        yield "8 strata, weights", strata(8, weights=True), epsilon, share, half, None
        yield "5 strata, finite", strata(5, finite=True), epsilon, share, half, None
    for size, epsilon, share, half, alike in (
        (20, 6, 0.1, 0.05, 0.05),
        (20, 6, 0.05, 0.05, 0.2),
        (20, 3, 0.3, 0.08, 0.05),
        (10, 6, 0.3, 0.06, 0.1),
        (20, 1, 0.3, 0.1, 0.05),
        (10, 3, 0.05, 0.08, 0.02),
        (25, 3, 0.15, 0.06, 0.2),
        (10, 6, 0.15, 0.064, 0.1),
        (60, 6, 0.05, 0.09, 0.2),
        (50, 6, 0.3, 0.12, 0.05),
        (25, 6, 0.5, 0.05, 0.1),
    ):
        yield f"clusters of {size}", clusters(size), epsilon, share, half, alike
    yield "clusters of 20, weights", clusters(20, weights=True), 6, 0.1, 0.05, 0.1
    yield "clusters of 10, 4 strata", clusters(10, count=4), 3, 0.3, 0.08, 0.05


def samples() -> bool:
    passed = True
    for i, (name, people, epsilon, share, half, alike) in enumerate(sample_plans()):
        m, prior = ex.randomized_response(["no", "yes"], epsilon), [1 - share, share]
        plan = ex.plan(m, prior=prior, half_width=half, sample=people(1200), intraclass=alike, assurance=0.9)

        widths = [
            simulated_samples(m, prior, people(n), SURVEYS, np.random.default_rng([SEED, 2, i]), alike)
            for n in ((plan.n,) if i else (plan.n, round(plan.n * 0.8)))
        ]
        seen, *fewer = (float(np.mean(one <= half + ROUNDING)) for one in widths)
        least = plan.assurance - MISSED - SURE * math.sqrt(plan.assurance * (1 - plan.assurance) / SURVEYS)
        caught = all(one < least for one in fewer)
        passed &= seen >= least and caught
        print(
            f"{'ok  ' if seen >= least else 'FAIL'} {name:<24} ε = {epsilon} share {share:<4} ρ = {alike or 0:<4} "
            f"±{half:<5} n = {plan.n:>5}  stated {plan.assurance:.3f} seen {seen:.3f}; expected ±{plan.half_width:.4f} "
            f"seen ±{widths[0].mean():.4f}{'' if caught else '  NOT CAUGHT'}",
            flush=True,
        )
    return passed


if __name__ == "__main__":
    start = time.perf_counter()
    fine = [precision(), power(), samples()]
    print(f"{'passed' if all(fine) else 'FAILED'} in {time.perf_counter() - start:.0f} s")
    sys.exit(0 if all(fine) else 1)
