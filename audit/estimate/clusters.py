"""Surveys of few clusters by simulation: coverage of intervals, and size of tests.

1. Intervals of a share, 3 to 12 clusters, equal and unequal, with and without an effect of the cluster, at 80, 95 and
   99%; and of five shares together. Coverage is at least the level less 0.01.
2. The same for clusters of very unequal sizes, `UNEVEN`: every share, all of them together, a workload, a mean, a table
   of two questions, a conditional share; and for four clusters pooled with people drawn one by one.
3. Rare answers in clusters whose people are alike to a correlation of up to 0.2, where many surveys show clusters that
   agree: limits of the share, and the size of `test_distribution`; strata that agree; weights that go with the answer.
4. Every test that takes a sample, at 0.05, with 8 to 40 clusters: rejected in at most 5.5% under the hypothesis. The
   same reports as if drawn one by one must be rejected too often.

All with a margin of 3.5 standard errors of the simulation. Run with
`python -m audit.estimate.clusters [surveys] [intervals] [uneven] [pooled] [hidden] [tests]`; without a word all.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import extremal as ex

LEVELS = (0.8, 0.95, 0.99)
SHARE = 0.25
FIVE = np.array([0.4, 0.3, 0.1, 0.1, 0.1])
UNEVEN = (  # sizes of clusters, answers of which each has a share, ε
    ([20, 60, 180], 2, 4.0),
    ([10, 20, 30, 60, 120, 240], 3, 3.0),
    ([20, 20, 40, 40, 80, 80], 3, 3.0),
    ([5, 5, 5, 5, 10, 10, 20, 20, 40, 60, 80, 100], 3, 3.0),
    ([10] * 6 + [20] * 3 + [60] * 3, 2, 4.0),
)
UNEVEN_TESTS = {
    "8 equal": [25] * 8,
    "12 of 5 to 100": [5, 5, 5, 5, 10, 10, 20, 20, 40, 60, 80, 100],
    "20 of 10 to 35": [10] * 5 + [15] * 5 + [20] * 5 + [35] * 5,
    "20 of 5 to 80": [5] * 10 + [10] * 5 + [80] * 5,
}
ALIKE = (  # clusters, people in each, share, correlation, ε
    (3, 30, 0.2, 0.2, 6.0),
    (6, 30, 0.05, 0.05, 6.0),
    (6, 30, 0.05, 0.2, 6.0),
    (6, 30, 0.1, 0.2, 2.0),
    (12, 30, 0.05, 0.02, 6.0),
    (12, 30, 0.05, 0.2, 6.0),
    (12, 30, 0.2, 0.2, 6.0),
    (40, 25, 0.02, 0.1, 6.0),
)
AGREE = (((40, 20), (40_000, 4_000), (0.05, 0.9)), ((40, 40), (40_000, 8_000), (0.04, 0.9)))  # reports, people, shares
INFORMATIVE = (((100, 900), (5.0, 1.0), (0.5, 0.02)), ((30, 270), (10.0, 1.0), (0.5, 0.0)))  # people, weights, shares
SAYING = np.random.default_rng(5)
POOLED = ((4, 100, 100, 0.1), (4, 250, 300, 0.05), (3, 100, 300, 0.1), (6, 100, 200, 0.1))  # clusters of, singles, ICC
AGREEMENT = 10.0  # of a cluster: Dirichlet around the shares with ten people's worth


def randomised(values: np.ndarray, mechanism: ex.Mechanism, generator: np.random.Generator) -> np.ndarray:
    ends = np.cumsum(mechanism.matrix, axis=1)[values]
    return np.asarray((generator.random((len(values), 1)) > ends).sum(axis=1))


def sizes(count: int, size: int, unequal: bool, generator: np.random.Generator) -> np.ndarray:
    return generator.integers(max(2, size // 2), 3 * size // 2 + 1, count) if unequal else np.full(count, size)


def shares(count: int, effect: float | None, p: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Of each cluster: Dirichlet around p with this many people's worth of agreement; None: p itself."""
    return np.tile(p, (count, 1)) if effect is None else generator.dirichlet(effect * p, count)


def drawn(
    count: int, size: int, unequal: bool, effect: float | None, p: np.ndarray, m: ex.Mechanism, generator: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Reports and clusters of one survey."""
    cluster = np.repeat(np.arange(count), sizes(count, size, unequal, generator))
    return answered(cluster, effect, p, m, generator), cluster


def answered(cluster: np.ndarray, effect: float | None, p: np.ndarray, m: ex.Mechanism, generator: Any) -> np.ndarray:
    """Reports of people in these clusters."""
    ends = np.cumsum(shares(int(cluster.max()) + 1, effect, p, generator), axis=1)[cluster]
    values = (generator.random((cluster.size, 1)) > ends).sum(axis=1)
    return randomised(np.minimum(values, p.size - 1), m, generator)


def enough(found: Any, wanted: Any, surveys: int) -> bool:
    """Whether coverage may be what is wanted, less 0.01."""
    return all(f >= w - 0.01 - 3.5 * np.sqrt(w * (1 - w) / surveys) for f, w in zip(found, wanted, strict=True))


def intervals(surveys: int) -> bool:
    good = True
    for count in (3, 4, 6, 12):
        for effect, unequal, epsilon in ((None, False, 1.0), (8.0, False, 3.0), (8.0, True, 1.0), (30.0, True, 3.0)):
            generator = np.random.default_rng([count, int(effect or 0), int(unequal)])
            two, five = ex.randomized_response(2, epsilon), ex.randomized_response(5, epsilon)
            p, held, family = np.array([1 - SHARE, SHARE]), np.zeros(3), 0
            for _ in range(surveys):
                reports, cluster = drawn(count, 120 // count + 8, unequal, effect, p, two, generator)
                result = ex.estimate_frequencies(reports, two, cluster=cluster)
                for i, level in enumerate(LEVELS):
                    low, high = result.interval(level)[1]
                    held[i] += low <= SHARE <= high
                reports, cluster = drawn(count, 120 // count + 8, unequal, effect, FIVE, five, generator)
                limits = ex.estimate_frequencies(reports, five, cluster=cluster).interval(simultaneous=True)
                family += bool(((limits[:, 0] <= FIVE) & (limits[:, 1] >= FIVE)).all())
            found = [*(held / surveys), family / surveys]
            holds = enough(found, [*LEVELS, 0.95], surveys)
            good &= holds
            print(
                f"  {count:2d} {'unequal' if unequal else 'equal  '} clusters, effect {effect or 'none'!s:5s} "
                f"ε={epsilon:g}: "
                f"80% {found[0]:.3f}  95% {found[1]:.3f}  99% {found[2]:.3f}  five together 95% {found[3]:.3f}"
                f"{'' if holds else '   TOO LOW'}",
                flush=True,
            )
    return good


def asked(frame: pd.DataFrame, m: ex.Mechanism, p: np.ndarray, yes: float) -> dict[str, list[tuple[Any, Any]]]:
    """Of each kind of estimate its intervals at every level, with the truth; `yes` is the share of a public answer."""
    sample, values = ex.Sample(cluster="cluster"), np.arange(p.size)
    shares = ex.estimate_frequencies(frame, m, column="report", sample=sample)
    work = ex.estimate_workload(frame, m, ex.Mean(values), column="report", sample=sample)
    table = ex.estimate_crosstab(frame, {"report": m, "public": None}, sample=sample)
    joint = np.outer(p, [1 - yes, yes])
    return {
        "shares": [(shares.interval(level), p) for level in LEVELS],
        "together": [(shares.interval(level, simultaneous=True), p) for level in LEVELS],
        "workload": [(work.interval(level), np.array([p @ values])) for level in LEVELS],
        "mean": [(shares.mean(values).interval(level), p @ values) for level in LEVELS],
        "table": [(table.interval(level), joint) for level in LEVELS],
        "conditional": [(table.share(0, 1, "public").interval(level), p[0]) for level in LEVELS],
    }


def uneven(surveys: int) -> bool:
    good = True
    for sizes_of, k, epsilon in UNEVEN:
        generator = np.random.default_rng([len(sizes_of), k])
        m, p = ex.randomized_response(k, epsilon), np.array([0.5, 0.3, 0.1])[:k] / np.array([0.5, 0.3, 0.1])[:k].sum()
        cluster = np.repeat(np.arange(len(sizes_of)), sizes_of)
        held: dict[str, np.ndarray] = {}
        for _ in range(surveys):
            frame = pd.DataFrame({"report": answered(cluster, AGREEMENT, p, m, generator), "cluster": cluster})
            frame["public"] = (generator.random(cluster.size) < 0.6).astype(int)
            for name, limits in asked(frame, m, p, 0.6).items():
                inside = [(np.asarray(at)[..., 0] <= truth) & (truth <= np.asarray(at)[..., 1]) for at, truth in limits]
                once = [one.all() if name == "together" else one.mean() for one in inside]
                held[name] = held.get(name, np.zeros(3)) + once
        print(f"  clusters of {', '.join(map(str, sizes_of))}; {k} answers, ε={epsilon:g}")
        for name, number in held.items():
            holds = enough(number / surveys, LEVELS, surveys)
            good &= holds
            words = "  ".join(f"{level:.0%} {one:.3f}" for level, one in zip(LEVELS, number / surveys, strict=True))
            print(f"    {name:12s} {words}{'' if holds else '   TOO LOW'}", flush=True)
    return good


def pooled(surveys: int) -> bool:
    good = True
    two, weak = ex.randomized_response(2, 5.0), ex.randomized_response(2, 1.0)
    p = np.array([0.7, 0.3])
    for count, size, single, alike in POOLED:
        generator, held = np.random.default_rng([count, size]), np.zeros(3)
        cluster = np.repeat(np.arange(count), size)
        for _ in range(surveys):
            reports = answered(cluster, (1 - alike) / alike, p, two, generator).tolist()
            alone = randomised((generator.random(single) < p[1]).astype(int), weak, generator).tolist()
            both = ex.pool([(reports, two), (alone, weak)], sample=[ex.Sample(cluster=cluster), None])
            for i, level in enumerate(LEVELS):
                low, high = both.interval(level)[1]
                held[i] += low <= p[1] <= high
        holds = enough(held / surveys, LEVELS, surveys)
        good &= holds
        words = "  ".join(f"{level:.0%} {one:.3f}" for level, one in zip(LEVELS, held / surveys, strict=True))
        print(f"  {count} clusters of {size} and {single} drawn one by one: {words}{'' if holds else '   TOO LOW'}")
    return good


def hidden(surveys: int) -> bool:
    good = True
    for count, size, share, alike, epsilon in ALIKE:
        cluster, p = np.repeat(np.arange(count), size), np.array([1 - share, share])
        words = f"{count} clusters of {size}, a share of {share:g}, correlation {alike:g}, ε={epsilon:g}"
        m, generator = ex.randomized_response(2, epsilon), np.random.default_rng([count, int(100 * share)])
        draw = partial(answered, cluster, (1 - alike) / alike, p, m, generator)
        good &= held(words, p, m, ex.Sample(cluster=cluster), draw, surveys)
    m = ex.randomized_response(2, 6)
    for numbers, people, each in AGREE:
        sample = ex.Sample(strata=np.repeat([0, 1], numbers), population=dict(enumerate(people)))
        words = f"strata of {numbers[0]} and {numbers[1]}, shares {each[0]:g} and {each[1]:g}"
        share, draw = float(np.average(each, weights=people)), partial(said, np.repeat(each, numbers), m)
        good &= held(words, np.array([1 - share, share]), m, sample, draw, surveys)
    for numbers, weights, each in INFORMATIVE:
        sample = ex.Sample(weights=np.repeat(weights, numbers))
        words = (
            f"{numbers[0]} of weight {weights[0]:g}, {numbers[1]} of {weights[1]:g}, shares {each[0]:g}, {each[1]:g}"
        )
        share, draw = float(np.average(each, weights=np.multiply(numbers, weights))), np.repeat(each, numbers)
        good &= held(words, np.array([1 - share, share]), m, sample, partial(said, draw, m), surveys)
    return good


def said(chance: np.ndarray, m: ex.Mechanism) -> np.ndarray:
    """Reports of people who say yes with these probabilities."""
    return randomised((SAYING.random(chance.size) < chance).astype(int), m, SAYING)


def held(words: str, p: np.ndarray, m: ex.Mechanism, sample: ex.Sample, draw: Any, surveys: int) -> bool:
    """Whether limits hold, and the true distribution is rejected rarely; both printed."""
    inside, rejected, tested = np.zeros(3), 0, 0
    for _ in range(surveys):
        reports = draw()
        found = ex.estimate_frequencies(reports, m, sample=sample)
        limits = np.array([found.interval(level)[1] for level in LEVELS])
        inside += (limits[:, 0] <= p[1]) & (p[1] <= limits[:, 1])
        if np.ptp(reports):  # identical reports are not tested
            rejected, tested = rejected + bool(ex.test_distribution(reports, m, p, sample=sample)), tested + 1
    good = enough(inside / surveys, LEVELS, surveys)
    good &= rejected / tested <= 0.055 + 3.5 * np.sqrt(0.05 * 0.95 / tested)
    rates = "  ".join(f"{level:.0%} {one:.3f}" for level, one in zip(LEVELS, inside / surveys, strict=True))
    print(f"  {words}: {rates}  rejected {rejected / tested:.4f}{'' if good else '   WRONG'}", flush=True)
    return bool(good)


def sizes_of_tests(surveys: int) -> bool:
    good = True
    designs: dict[str, Any] = {f"{count} of 6 to 18": count for count in (12, 20, 40)} | UNEVEN_TESTS
    for words, design in designs.items():
        generator = np.random.default_rng([7, design if isinstance(design, int) else sum(design)])
        rejected: dict[str, list[bool]] = {}
        naive = 0
        for _ in range(surveys):
            each = sizes(design, 12, True, generator) if isinstance(design, int) else design
            found, plain = decided(np.repeat(np.arange(len(each)), each), generator)
            naive += plain
            for name, answer in found.items():
                rejected.setdefault(name, []).append(answer)
        for name, answers in rejected.items():
            rate, n = float(np.mean(answers)), len(answers)
            rare = rate <= 0.055 + 3.5 * np.sqrt(0.05 * 0.95 / n)
            good &= rare
            print(f"  {words} clusters, {name:28s} {rate:.4f}{'' if rare else '   TOO OFTEN'}", flush=True)
        print(f"  {words} clusters, test_distribution without them  {naive / surveys:.4f}", flush=True)
        good &= naive / surveys > 0.1
    return good


def decided(cluster: np.ndarray, generator: np.random.Generator) -> tuple[dict[str, bool], bool]:
    """Whether each test rejects a true hypothesis at 0.05; and whether the first does without the clusters."""
    three, two, p = ex.randomized_response(3, 2.0), ex.randomized_response(2, 2.0), np.array([0.5, 0.3, 0.2])
    count, sample = int(cluster.max()) + 1, ex.Sample(cluster=cluster)
    reports = answered(cluster, AGREEMENT, p, three, generator)
    later = answered(cluster, AGREEMENT, p, three, generator)  # the same shares a year later
    again = answered(cluster, AGREEMENT, np.array([0.6, 0.4]), two, generator)
    other = (generator.permutation(count) % 2)[cluster]  # groups are whole clusters
    within = generator.integers(0, 2, cluster.size)
    covariates = {name: generator.normal(size=count)[cluster] for name in ("x", "u", "v")}
    frame = pd.DataFrame({"y": reports, "y2": later, "z": again, **covariates})
    answers = {
        "test_distribution": bool(ex.test_distribution(reports, three, p, sample=sample)),
        "test_hypotheses": bool(ex.test_hypotheses(reports, three, p, [0.2, 0.3, 0.5], sample=sample)),
        "test_homogeneity, clusters": bool(ex.test_homogeneity(reports, three, other, sample=sample)),
        "test_homogeneity, people": bool(ex.test_homogeneity(reports, three, within, sample=sample)),
        "test_independence": bool(ex.test_independence(frame, {"y": three, "z": two}, sample=sample)),
        "estimate_change, test": bool(ex.estimate_change(frame, "y", "y2", three, sample=sample).test()),
    }
    for name, formula in (("regress, one covariate", "z ~ x"), ("regress, three covariates", "z ~ x + u + v")):
        try:
            answers[name] = bool(ex.regress(formula, frame, two, sample=sample).pvalues["x"] <= 0.05)
        except ex.errors.NotIdentified:
            continue
    return answers, bool(ex.test_distribution(reports, three, p, draws=199))


def main() -> int:
    surveys = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    parts = {"intervals": intervals, "uneven": uneven, "pooled": pooled, "hidden": hidden, "tests": sizes_of_tests}
    good = True
    for name, part in parts.items():
        if len(sys.argv) <= 2 or name in sys.argv[2:]:
            print(f"{name}, {surveys} surveys each")
            good &= part(surveys)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
