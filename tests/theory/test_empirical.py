"""Empirical information and correlation against definitions written out."""

import math

import numpy as np
import pytest

import extremal as ex
from extremal.theory import correlation, empirical_correlation, empirical_information

PRIOR = [0.3, 0.2, 0.2, 0.2, 0.1]


def test_empirical_information_is_the_plug_in_value() -> None:
    generator = np.random.default_rng(3)
    x, y = generator.integers(0, 3, 500), generator.integers(0, 4, 500)
    value = 0.0
    for a in range(3):
        for b in range(4):
            f = np.mean((x == a) & (y == b))
            value += f * math.log(f / (np.mean(x == a) * np.mean(y == b)))
    assert empirical_information(x, y) == pytest.approx(value, abs=1e-13)
    assert empirical_information(x, y, corrected=True) == pytest.approx(value - 6 / 1000, abs=1e-13)
    letters = np.array(list("abc"))[x]
    assert empirical_information(letters, y) == pytest.approx(value, abs=1e-13)


def test_the_printed_formula_is_not_information() -> None:
    """Erratum P8: with the size of the alphabet in place of the sample size the value is far below 0."""
    m = ex.pml_high_privacy(PRIOR, 0.1)
    p = np.array(PRIOR)
    f = 1000 * p[:, None] * m.matrix
    printed = (f / 5 * np.log(5 * f / np.outer(f.sum(1), f.sum(0)))).sum()
    assert printed < -1000
    assert ex.MutualInformation(PRIOR)(m) == pytest.approx(0.0275649, abs=1e-7)


def test_correlation_against_numpy_on_a_large_sample() -> None:
    m = ex.randomized_response(4, 1.5)
    p = np.array([0.4, 0.3, 0.2, 0.1])
    joint = (p[:, None] * m.matrix).ravel()
    counts = np.round(joint * 10**7).astype(int)
    x, y = np.repeat(np.arange(16) // 4, counts), np.repeat(np.arange(16) % 4, counts)
    assert correlation(m, p) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)
    assert empirical_correlation(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-11)
    assert correlation(m, p, inputs=[1, 2, 3, 9], outputs=[0, 5, 5, 5]) == pytest.approx(
        np.corrcoef(np.array([1, 2, 3, 9])[x], np.array([0, 5, 5, 5])[y])[0, 1], abs=1e-6
    )


@pytest.mark.parametrize("epsilon", [0.02, 0.05, 0.1])
def test_the_printed_high_privacy_mechanism_is_negatively_correlated(epsilon: float) -> None:
    """Erratum P9."""
    m = ex.pml_high_privacy(PRIOR, epsilon)
    assert correlation(m, PRIOR) == pytest.approx(1 - math.exp(epsilon), rel=1e-12)
    assert correlation(m, PRIOR, outputs=[5, 4, 3, 2, 1]) == pytest.approx(math.expm1(epsilon), rel=1e-12)


def test_bad_input() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="must be pairs"):
        empirical_information([1, 2], [1])
    with pytest.raises(ex.errors.InvalidParameter, match="must be pairs"):
        empirical_correlation([], [])
    with pytest.raises(ex.errors.InvalidParameter, match="must be one column"):
        empirical_information([[1, 2]], [1])
    with pytest.raises(ex.errors.InvalidParameter, match="an entry for each"):
        correlation(ex.randomized_response(3, 1), [0.5, 0.5])
    assert math.isnan(empirical_correlation([1, 1], [1, 2]))
