"""Coverage of intervals: exact for a yes/no question, simulated for the rest, every cell of every configuration tested.

1. A yes/no question by enumeration, nothing simulated: ε 0.2–5, n 20–1,000, 401 truths, levels 80, 95 and 99%. Never
   below nominal; mean width at most that of Clopper and Pearson's interval, mapped the same way.
2. Surveys of every size: k to 1,000, n from 20, rare reports with more outputs than inputs, weights 1:100, three
   levels, by the rule in `support.surveys.small_surveys`. Limits pulled in by 30% must be caught.
3. Standard errors, where reports are many: 100 configurations fixed in advance × 2,000 simulated surveys.

In part 3, intervals as centre ± z·s.e. must cover with probability in [0.94, 0.96] (a Bonferroni-corrected binomial
test over all cells, level 0.05); the same intervals cut to [0, 1] must cover with at least 0.94. Configurations
excluded beforehand are listed with the reason, and run for information. At the end, standard errors that are 20% too
small must be caught in every configuration. Run with `make audit`.

`python -m audit.estimate.interval_coverage table` runs the lines of part 2 that docs/estimate/intervals.md shows, and
prints them as it does.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import extremal as ex
from extremal.estimate.intervals.binomial import beta_limits, mapped
from support.surveys.coverage import FEWEST, Configuration, configurations, significance
from support.surveys.small_surveys import LEVELS, Survey, surveys

CONFIGURATIONS, REPEATS, LEVEL = 100, 2_000, 0.05
SMALL_REPEATS, MANY_CELLS = 200, 100
TABLE = (  # kind, k, ε, n, shares, method, whether weighted
    ("response", 2, 5.0, 20, "zipf", "unbiased", False),
    ("response", 1000, 2.0, 1000, "zipf", "unbiased", False),
    ("response", 1000, 5.0, 50, "zipf", "unbiased", False),
    ("response", 1000, 5.0, 1000, "one", "unbiased", False),
    ("quaternary", 2, 1.0, 20, "rare", "unbiased", False),
    ("quaternary", 2, 1.0, 20, "rare", "mle", False),
    ("two versions", 5, 1.0, 1000, "rare", "unbiased", False),
    ("two versions", 5, 1.0, 1000, "rare", "mle", False),
    ("response", 3, 2.0, 100, "zipf", "unbiased", True),
    ("response", 3, 2.0, 200, "zipf", "unbiased", True),
    ("response", 3, 2.0, 1000, "zipf", "unbiased", True),
    ("response", 100, 2.0, 100, "zipf", "unbiased", True),
    ("response", 100, 2.0, 1000, "zipf", "unbiased", True),
)


def line(configuration: Configuration, held: np.ndarray, bounded: np.ndarray) -> str:
    share, cut = held / REPEATS, bounded / REPEATS
    return (
        f"  {configuration!s:58s} rarest {configuration.rarest:8.0f}   mean {share.mean():.4f}   "
        f"cells {share.min():.4f} to {share.max():.4f}   cut to [0, 1]: {cut.min():.4f} to {cut.max():.4f}"
    )


def yes_no_question() -> bool:
    """Part 1."""
    from scipy.stats import binom

    truths, good = np.linspace(0, 1, 401), True
    print("yes/no question, exact: smallest coverage over 401 truths, and mean width over that of Clopper and Pearson")
    for level in LEVELS:
        smallest, ratios = 1.0, []
        for epsilon in (0.2, 0.5, 1.0, 2.0, 3.0, 5.0):
            mechanism = ex.randomized_response(2, epsilon)
            a, b = mechanism.matrix[1, 1], mechanism.matrix[0, 1]
            for n in (20, 50, 100, 200, 500, 1_000):
                x = np.arange(n + 1)
                ours = np.array(
                    [ex.estimate_frequencies([n - c, c], mechanism, counts=True).interval(level)[1] for c in x.tolist()]
                )
                low = beta_limits(np.minimum(x, np.floor(n * a)), n, level)[:, 0]
                high = beta_limits(np.maximum(x, np.ceil(n * b)), n, level)[:, 1]
                peer = mapped(low, high, np.asarray(a), np.asarray(b))
                weight = binom.pmf(x, n, (b + (a - b) * truths)[:, None])
                held = (ours[:, 0] <= truths[:, None]) & (truths[:, None] <= ours[:, 1])
                smallest = min(smallest, float((weight * held).sum(axis=1).min()))
                widths = [weight @ (limits[:, 1] - limits[:, 0]) for limits in (ours, peer)]
                ratios.append(float(widths[0].mean() / widths[1].mean()))
                good &= bool((widths[0] <= widths[1] + 1e-9).all())
        good &= smallest >= level
        print(f"  {level:.0%}: smallest {smallest:.6f}   width {min(ratios):.3f} to {max(ratios):.3f}", flush=True)
    return good


def repeats_of(survey: Survey) -> int:
    return SMALL_REPEATS if survey.k < MANY_CELLS else SMALL_REPEATS // 5


def shown_lines() -> int:
    """The lines of part 2 that the page shows; exits 1 when one is too low."""
    lines = [Survey(*row) for row in TABLE]
    tests, listed, good = sum(len(LEVELS) * (one.k + 1) for one in lines), set(map(str, surveys())), True
    print("| mechanism | k | ε | n | shares | method | " + " | ".join(f"{level:.0%}" for level in LEVELS) + " |")
    print("|" + "---|" * (6 + len(LEVELS)))
    for survey in lines:
        good &= str(survey) in listed  # none that was picked for its result
        repeats = repeats_of(survey)
        held, families = survey.coverage(repeats)
        cells = [f"{held[i].min() / repeats:.3f} ({families[i] / repeats:.3f})" for i in range(len(LEVELS))]
        for i, level in enumerate(LEVELS):
            tail = binomial_tail(np.append(held[i], families[i]), repeats, survey.allowed(level)).min()
            good &= bool(tail >= LEVEL / tests)
        method = f"{survey.method}{', weights 1:100' if survey.weighted else ''}"
        print(
            f"| {survey.kind} | {survey.k:,} | {survey.epsilon:g} | {survey.n:,} | {survey.shape} | {method} | "
            f"{' | '.join(cells)} |",
            flush=True,
        )
    return int(not good)


def every_size() -> bool:
    """Part 2."""
    listed = surveys()
    tests = sum(len(LEVELS) * (survey.k + 1) for survey in listed)
    print(f"surveys of every size ({len(listed)} × {SMALL_REPEATS}, {tests} tests):")
    worst, caught, catchable = 1.0, 0, 0
    for survey in listed:
        repeats = repeats_of(survey)
        held, families = survey.coverage(repeats)
        p_values = [
            binomial_tail(np.append(held[i], families[i]), repeats, survey.allowed(level)).min()
            for i, level in enumerate(LEVELS)
        ]
        worst = min(worst, *map(float, p_values))
        shown = "   ".join(
            f"{level:.0%}: {held[i].min() / repeats:.3f} (all {families[i] / repeats:.3f})"
            for i, level in enumerate(LEVELS)
        )
        print(f"  {survey!s:62s} {shown}{'' if min(p_values) >= LEVEL / tests else '   TOO LOW'}", flush=True)
        if survey.kind == "response" and survey.k == 5 and survey.n == 1_000 and survey.shape == "zipf":
            catchable += 1
            narrow, _ = survey.coverage(repeats, shrink=0.7)
            caught += bool(binomial_tail(narrow[1], repeats, survey.allowed(LEVELS[1])).min() < LEVEL / tests)
    print(
        f"smallest p-value {worst:.2e}, rejected below {LEVEL / tests:.2e}; limits pulled in by 30%: caught in "
        f"{caught} of {catchable}"
    )
    return worst >= LEVEL / tests and caught == catchable


def binomial_tail(held: np.ndarray, repeats: int, coverage: float) -> np.ndarray:
    """P(at most this many hold | coverage)."""
    from scipy.special import bdtr

    return np.asarray(bdtr(held, repeats, coverage))


def main() -> int:
    if sys.argv[1:] == ["table"]:
        return shown_lines()
    good = yes_no_question()
    good &= every_size()
    return int(not good) or many_reports()


def many_reports() -> int:
    """Part 3."""
    started = time.perf_counter()
    tested, excluded = configurations(CONFIGURATIONS)
    print(
        f"excluded beforehand, rarest report expected fewer than {FEWEST} times ({len(excluded)}), run for information:"
    )
    for configuration in excluded:
        print(line(configuration, *configuration.coverage(REPEATS)))
    print(f"tested ({len(tested)} × {REPEATS}):")
    low, high, low_bounded, means, extremes = [], [], [], [], []
    for configuration in tested:
        held, bounded = configuration.coverage(REPEATS)
        below, above = significance(held, REPEATS)
        low.append(below)
        high.append(above)
        low_bounded.append(significance(bounded, REPEATS)[0])
        means.append(held.mean() / REPEATS)
        extremes += [held.min() / REPEATS, held.max() / REPEATS]
        print(line(configuration, held, bounded), flush=True)
    cells = sum(len(p) for p in low)
    threshold = LEVEL / (3 * cells)
    smallest = [float(np.concatenate(p).min()) for p in (low, high, low_bounded)]
    caught = 0
    for configuration in tested:
        below, _ = significance(configuration.coverage(REPEATS, shrink=0.8)[0], REPEATS)
        caught += bool(below.min() < threshold)
    print(
        f"{cells} cells; configurations' mean coverage {min(means):.4f} to {max(means):.4f}, "
        f"single cells {min(extremes):.4f} to {max(extremes):.4f}\n"
        f"smallest p-values: coverage < 0.94 {smallest[0]:.2e}, > 0.96 {smallest[1]:.2e}, cut to [0, 1] < 0.94 "
        f"{smallest[2]:.2e}; "
        f"rejected below {threshold:.2e}\n"
        f"standard errors 20% too small: caught in {caught} of {len(tested)} configurations; "
        f"{time.perf_counter() - started:.0f} s"
    )
    return int(min(smallest) < threshold or caught < len(tested))


if __name__ == "__main__":
    sys.exit(main())
