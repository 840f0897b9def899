"""The small version of part 2 of audit/estimate/interval_coverage.py: intervals hold, and narrower ones are caught."""

import pytest
from scipy.special import bdtr

from support.surveys.small_surveys import LEVELS, Survey, surveys

REPEATS, LEVEL = 150, 0.01
CHOSEN = (
    Survey("response", 5, 2.0, 20, "zipf", "unbiased"),
    Survey("subsets", 8, 1.0, 100, "one", "unbiased"),
    Survey("two versions", 5, 1.0, 100, "rare", "mle"),
    Survey("erasure", 4, 1.0, 50, "rare", "unbiased"),
    Survey("staircase", 6, 3.0, 100, "zipf", "mle"),
    Survey("response", 3, 2.0, 200, "zipf", "unbiased", weighted=True),
)


@pytest.mark.parametrize(
    "survey", [CHOSEN[0], *(pytest.param(survey, marks=pytest.mark.slow) for survey in CHOSEN[1:])], ids=str
)
def test_intervals_of_small_surveys_hold(survey: Survey) -> None:
    held, families = survey.coverage(REPEATS)
    tests = len(CHOSEN) * len(LEVELS) * (survey.k + 1)
    for i, level in enumerate(LEVELS):
        assert bdtr(held[i].min(), REPEATS, survey.allowed(level)) >= LEVEL / tests
        assert bdtr(families[i], REPEATS, survey.allowed(level)) >= LEVEL / tests


def test_limits_pulled_in_by_half_are_caught() -> None:
    survey = Survey("response", 5, 2.0, 1_000, "zipf", "unbiased")
    held, _ = survey.coverage(REPEATS, shrink=0.5)
    assert bdtr(held[1].min(), REPEATS, survey.allowed(0.95)) < 1e-6


def test_the_surveys_reach_the_sizes_that_they_must_and_are_held_to_their_rule() -> None:
    listed = surveys()
    assert {s.k for s in listed} >= {2, 100, 1_000}
    assert min(s.n for s in listed) == 20
    assert any(s.weighted for s in listed)
    assert any(s.mechanism.m > s.k for s in listed if s.k <= 6)
    assert Survey("response", 5, 2.0, 20, "zipf", "unbiased").allowed(0.95) == 0.95
    assert Survey("erasure", 4, 1.0, 50, "rare", "mle").allowed(0.95) == pytest.approx(0.89)
    assert Survey("staircase", 6, 3.0, 10_000, "uniform", "mle").allowed(0.95) == pytest.approx(0.94)
