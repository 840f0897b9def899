"""Limits for finite populations: the law of the reports is enumerated here by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import extremal as ex
from extremal.estimate.intervals.finite import _drawn, finite_limits

LEVELS = (0.8, 0.95, 0.99)


@pytest.mark.parametrize(("population", "n", "epsilon"), [(12, 12, 6.0), (30, 30, 1.0), (40, 15, 3.0)])
def test_limits_of_a_census_and_of_a_finite_population_hold(population: int, n: int, epsilon: float) -> None:
    m = ex.randomized_response(2, epsilon)
    a, b = m.matrix[1, 1], m.matrix[0, 1]
    limits = finite_limits(np.arange(n + 1), n, population, 0.95, np.full(n + 1, a), np.full(n + 1, b))
    for members in range(0, population + 1, 3):
        chances = np.zeros(n + 1)
        for k in range(max(0, n - population + members), min(n, members) + 1):
            drawn = hypergeom.pmf(k, population, members, n)
            both = np.convolve(binom.pmf(np.arange(k + 1), k, a), binom.pmf(np.arange(n - k + 1), n - k, b))
            chances += drawn * both
        truth = members / population
        held = (limits[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= limits[:, 1])
        assert chances[held].sum() >= 0.95
    result = ex.estimate_frequencies(["no"] * 9 + ["yes"] * 3, ex.randomized_response(["no", "yes"], 6), population=12)
    assert result.exact
    assert result.interval()[1] == pytest.approx([0.25, 0.25])


def law_of_a_census(kept: float, members: int, n: int) -> np.ndarray:
    """Of how many of n people report yes when so many of them are members."""
    return np.convolve(
        binom.pmf(np.arange(members + 1), members, kept), binom.pmf(np.arange(n - members + 1), n - members, 1 - kept)
    )


@pytest.mark.parametrize(("n", "population"), [(400, 400), (2000, 2000), (400, 500)])
def test_a_large_finite_population_is_covered_with_the_rare_errors_of_little_noise(n: int, population: int) -> None:
    """Before, above 300 reports, 95% intervals of a census held with probability 0.88, 80% intervals with 0.75."""
    m = ex.randomized_response([0, 1], 6)
    kept = float(m.matrix[1, 1])
    for members in (20, population // 4):
        drawn = hypergeom.pmf(np.arange(n + 1), population, members, n)
        chance = sum(drawn[k] * law_of_a_census(kept, k, n) for k in np.flatnonzero(drawn > 1e-5).tolist())
        seen = np.flatnonzero(chance > 1e-5)
        limits = [
            [ex.estimate_frequencies({0: n - y, 1: y}, m, population=population).interval(level)[1] for level in LEVELS]
            for y in seen.tolist()
        ]
        truth = members / population
        held = (np.array(limits)[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= np.array(limits)[..., 1])
        assert (chance[seen] @ held >= LEVELS).all()


def test_large_populations_are_affordable_and_end_at_the_infinite_one() -> None:
    m = ex.randomized_response([0, 1], 2)
    infinite = ex.estimate_frequencies({0: 600, 1: 400}, m)
    widths = [
        float(np.ptp(ex.estimate_frequencies({0: 600, 1: 400}, m, population=size).interval()[1]))
        for size in (1000, 2000, 10**6, 10**10)
    ]
    assert widths == sorted(widths)
    assert widths[2:] == pytest.approx([float(np.ptp(infinite.interval()[1]))] * 2, rel=0.03)


def law_of_three(mechanism: ex.Mechanism, people: tuple[int, ...]) -> np.ndarray:
    """Of the counts of the first two reports of these people."""
    size = sum(people) + 1
    found = np.zeros((size, size))
    found[0, 0] = 1.0
    for kind, many in enumerate(people):
        first, second, third = mechanism.matrix[kind].tolist()
        for _ in range(many):
            more = third * found
            more[1:] += first * found[:-1]
            more[:, 1:] += second * found[:, :-1]
            found = more
    return found


@pytest.mark.parametrize(
    ("epsilon", "values", "people"),
    [(6, [0, 1, 2], (5, 1, 4)), (4, [0, 1, 3.7], (4, 5, 1)), (2, [0, 1, 2], (10, 0, 0))],
)
def test_the_mean_of_a_census_is_covered(epsilon: float, values: list[float], people: tuple[int, ...]) -> None:
    m, n = ex.randomized_response(3, epsilon), sum(people)
    law, held = law_of_three(m, people), np.zeros(len(LEVELS))
    truth = float(np.dot(values, people)) / n
    for first, second in np.argwhere(law > 1e-4).tolist():
        counts = [first, second, n - first - second]
        found = ex.estimate_workload(counts, m, ex.Mean(values), counts=True, sample=ex.Sample(population=n))
        for place, level in enumerate(LEVELS):
            low, high = found.interval(level)[0]
            held[place] += law[first, second] * (low - 1e-9 <= truth <= high + 1e-9)
    assert (held >= np.array(LEVELS) - 2e-3).all()  # what was left out


def test_the_mean_of_a_finite_population_is_not_wider_than_its_noise() -> None:
    """Where reports tell that nearly everybody is in the middle, it is not tested at the two ends."""
    m = ex.randomized_response(3, 6)
    for population in (2000, 4000):
        sample = ex.Sample(population=population)
        found = ex.estimate_workload([10, 1980, 10], m, ex.Mean([0, 1, 2]), counts=True, sample=sample)
        half = float(np.ptp(found.interval()[0])) / 2
        assert 1.9 < half / float(found.standard_error[0]) < 3.5  # 12 at the two ends


def test_differences_of_censuses_are_covered() -> None:
    m, n = ex.randomized_response([0, 1], 6), 40
    kept, held, truths = float(m.matrix[1, 1]), 0.0, (4, 12)
    parts = [
        {
            y: (float(chance), ex.estimate_frequencies({0: n - y, 1: y}, m, population=n))
            for y, chance in enumerate(law_of_a_census(kept, members, n))
            if chance > 1e-3
        }
        for members in truths
    ]
    for one, first in parts[0].values():
        for other, second in parts[1].values():
            low, high = first.difference(second).interval(0.95)[1]
            held += one * other * (low - 1e-9 <= (truths[0] - truths[1]) / n <= high + 1e-9)
    assert held >= 0.95


def test_strata_of_which_everybody_was_asked_are_one_census() -> None:
    m, reports = ex.randomized_response([0, 1], 6), [0] * 250 + [1] * 150
    strata = ["a", "b"] * 200
    found = ex.estimate_frequencies(reports, m, strata=strata, population={"a": 200, "b": 200})
    census = ex.estimate_frequencies(reports, m, population=400)
    assert found.exact
    assert found.interval().tolist() == census.interval().tolist()
    assert not ex.estimate_frequencies(reports, m, strata=strata, population={"a": 200, "b": 201}).exact


def test_who_is_drawn_is_hypergeometric() -> None:
    """However many are counted, none and all of them included."""
    for x, n, people, first, last in (
        (3, 7, 20, 0, 20),
        (1, 1, 5, 0, 5),
        (900, 2000, 50_000, 20_000, 25_000),
        (5, 9, 10, 2, 8),
    ):
        counted = np.arange(first, last + 1)
        expected = hypergeom.sf(x - 1, people, counted, n)
        assert _drawn(x, n, people, counted) == pytest.approx(expected, abs=1e-12)
