"""The truncated geometric mechanism, and the erratum about its printed form."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import extremal as ex


def test_e7_the_printed_geometric_mechanism_is_none(tight: Callable[..., None]) -> None:
    """KOV Section 3.4 with ε^{1/(k−1)} in place of e^{−ε/(k−1)}: negative for ε > 1, wrong level below 1."""
    k, epsilon = 4, 2.0
    a = epsilon ** (1 / (k - 1))
    assert (1 - a) / (1 + a) < 0
    tight(ex.LDP, epsilon, ex.geometric(k, epsilon))
    printed_level = math.log(1 / 0.5)  # of the printed form at ε = 0.5
    assert printed_level > 0.5
    assert ex.LDP(1).level(ex.geometric(k, 0.5)) == pytest.approx(0.5)


def test_the_geometric_mechanism_remapped_is_optimal_for_every_prior() -> None:
    """Ghosh, Roughgarden, Sundararajan (2012): under metric privacy on a line, whatever the prior, the best expected
    distance is that of the geometric mechanism whose reports are read as the best guess."""
    generator = np.random.default_rng(110)
    for k, epsilon in ((3, 0.5), (5, 1.0), (6, 0.3)):
        prior = generator.dirichlet(np.ones(k))
        distances = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
        joint = prior[:, None] * ex.geometric(k, epsilon * (k - 1)).matrix
        remapped = (distances @ joint).min(axis=0).sum()  # each report read as the best guess
        best = ex.design(ex.MetricPrivacy(epsilon, distances.tolist()), ex.Distortion(prior, distances.tolist()))
        assert best.value == pytest.approx(remapped, rel=1e-9)
