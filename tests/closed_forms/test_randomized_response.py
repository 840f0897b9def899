"""What randomised response does to a prior."""

from __future__ import annotations

import pytest

import extremal as ex


def test_p1_randomised_response_changes_a_non_uniform_prior() -> None:
    prior = [0.5, 0.3, 0.2]
    marginal = ex.randomized_response(3, 1).marginal(prior)
    assert marginal == pytest.approx([0.39402922, 0.32119416, 0.28477662])
    assert marginal != pytest.approx(prior, abs=0.05)
    assert ex.randomized_response(3, 1).marginal([1 / 3] * 3) == pytest.approx([1 / 3] * 3)
