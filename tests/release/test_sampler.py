"""The sampler draws from the weights: a chi-square test accepts it and refuses one that is slightly off."""

import numpy as np
import pytest
from scipy.stats import chisquare

import extremal as ex
from extremal.release import sample_codes

DRAWS = 200_000
REFUSE_BELOW = 1e-6  # per test: a correct sampler fails once in a million runs


def _p_value(m: ex.Mechanism, x: int, probabilities: np.ndarray) -> float:  # type: ignore[type-arg]
    counts = np.bincount(sample_codes(m, np.full(DRAWS, x)), minlength=m.m)
    return float(chisquare(counts, probabilities * DRAWS).pvalue)


@pytest.mark.parametrize(
    "m", [ex.randomized_response(5, 1), ex.Mechanism.from_partition([0, 1, 1, 2], ex.LDP(2)), ex.Mechanism.from_windows(7, 3, ex.LDP(1))]
)
def test_frequencies_follow_the_weights(m: ex.Mechanism) -> None:
    for x in range(m.k):
        assert _p_value(m, x, m.matrix[x]) > REFUSE_BELOW


def test_a_tilted_row_is_noticed() -> None:
    m = ex.randomized_response(5, 1)
    tilted = m.matrix[0] * np.array([1.05, 1, 1, 1, 1])
    assert _p_value(m, 0, tilted / tilted.sum()) < REFUSE_BELOW


def test_two_calls_differ() -> None:
    m = ex.randomized_response(5, 1)
    codes = np.zeros(1000, dtype=np.intp)
    assert not np.array_equal(sample_codes(m, codes), sample_codes(m, codes))


def test_unknown_values_are_named() -> None:
    m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    with pytest.raises(ex.UnknownLabel, match=r"values\[1\] must be one of the mechanism's labels; got values\[1\]='maybe'"):
        m.privatize(["no", "maybe"])
