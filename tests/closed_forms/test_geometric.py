"""The truncated geometric mechanism, and the erratum about its printed form."""

from __future__ import annotations

import math
from collections.abc import Callable

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
