"""The small version of audit/estimate/interval_coverage.py: the same test on fewer surveys, and a wrong standard
error must fail it."""

import numpy as np
import pytest

from support.surveys.coverage import FEWEST, configurations, significance

REPEATS, LEVEL = 600, 0.01


@pytest.mark.parametrize("count", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_coverage_is_nominal_and_a_standard_error_20_percent_too_small_is_caught(count: int) -> None:
    tested, excluded = configurations(count)
    assert all(c.rarest >= FEWEST for c in tested)
    assert all(c.rarest < FEWEST for c in excluded)
    cells = sum(c.k for c in tested)
    caught = 0
    for configuration in tested:
        held, bounded = configuration.coverage(REPEATS)
        below, above = significance(held, REPEATS)
        assert min(below.min(), above.min(), significance(bounded, REPEATS)[0].min()) >= LEVEL / (3 * cells), str(
            configuration
        )
        wrong, _ = significance(configuration.coverage(REPEATS, shrink=0.8)[0], REPEATS)
        caught += bool(wrong.min() < LEVEL / (3 * cells))
    # A cell that covers 0.883 instead of 0.95 is 5.9 standard errors below 0.94; few configurations have only two
    # cells.
    assert caught >= 5 * count // 6


def test_the_binomial_test_knows_its_tails() -> None:
    low, high = significance(np.array([0, 900, 950, 1000]), 1000)
    assert low[0] == pytest.approx(0, abs=1e-300)
    assert high[0] == 1
    assert low[1] < 1e-6
    assert low[2] > 0.5
    assert high[2] > 0.5
    assert high[3] < 1e-15


def test_the_configurations_never_change() -> None:
    tested, excluded = configurations(100)
    assert len(tested) == 100
    assert (str(tested[0]), str(excluded[0])) == (str(configurations(1)[0][0]), str(configurations(100)[1][0]))
    assert {c.k for c in tested} == {2, 3, 5, 10, 20, 50}
    assert {c.shape for c in tested} == {"uniform", "skewed", "boundary", "tiny"}
    assert {c.kind for c in tested} == {"response", "windows", "staircase"}
