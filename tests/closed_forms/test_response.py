"""Randomised response, one bit, the better of the two, and the quaternary mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.closed_forms import better_of_two
from extremal.testing import epsilons


def test_p1_randomised_response_changes_a_non_uniform_prior() -> None:
    prior = [0.5, 0.3, 0.2]
    marginal = ex.randomized_response(3, 1).marginal(prior)
    assert marginal == pytest.approx([0.39402922, 0.32119416, 0.28477662])
    assert marginal != pytest.approx(prior, abs=0.05)
    assert ex.randomized_response(3, 1).marginal([1 / 3] * 3) == pytest.approx([1 / 3] * 3)


def test_binary_with_ties(reference: dict[str, Any]) -> None:
    """Erratum E1: KOV put ties into T; here the better side is taken."""
    arguments, expected = (
        reference["ldp_thm5_tie_counterexample"]["arguments"],
        reference["ldp_thm5_tie_counterexample"]["expected"],
    )
    p0, p1, epsilon = arguments["p0"], arguments["p1"], arguments["epsilon"]
    assert ex.KL(p0, p1)(ex.binary(p0, p1, epsilon)) == pytest.approx(float(expected["BIN_KL_other_T_1"]), rel=1e-12)
    printed = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(epsilon))
    assert ex.KL(p0, p1)(printed) == pytest.approx(float(expected["BIN_KL_paper_T_1_2"]), rel=1e-12)
    assert ex.KL(p0, p1)(printed) < ex.KL(p0, p1)(ex.binary(p0, p1, epsilon))


PAIR = ([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 8])
@pytest.mark.parametrize(
    "utility", [ex.KL(*PAIR), ex.SquaredHellinger(*PAIR), ex.MutualInformation(PAIR[0])], ids=lambda u: u.name
)
def test_it_is_the_better_one(utility: ex.KL, epsilon: float) -> None:
    found = better_of_two(utility, epsilon, inputs=["a", "b", "c"])
    two = (
        ex.binary(*PAIR, epsilon)
        if isinstance(utility, (ex.KL, ex.SquaredHellinger))
        else ex.binary_for_information(PAIR[0], epsilon)
    )
    assert utility(found) == max(utility(two), utility(ex.randomized_response(3, epsilon)))
    assert ex.LDP(epsilon).holds(found)
    assert found.inputs == ("a", "b", "c")
    assert utility(found) <= ex.design(ex.LDP(epsilon), utility).upper_bound * (1 + 1e-14)  # of floats


def test_it_has_a_row_and_a_curve() -> None:
    utility = ex.KL(*PAIR)
    rows = {row.name: row for row in ex.compare([utility], epsilon=2).rows}
    best = max(rows["binary"].values["KL"], rows["randomised response"].values["KL"])  # type: ignore[type-var]
    assert rows["better of binary and response"].values["KL"] == best
    curve = ex.tradeoff(ex.LDP, utility, [0.5, 2, 5])
    assert np.array_equal(
        curve.ratios["better of the two"], np.maximum(curve.ratios["binary"], curve.ratios["randomised response"])
    )


def test_other_utilities_are_refused() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="needs two hypotheses or a prior"):
        better_of_two(ex.Hamming(PAIR[0]), 1)


@given(epsilons(0.01, 5), st.sampled_from([0, 0.01, 0.3, 0.9]))
def test_quaternary_uses_both_parameters_exactly(epsilon: float, delta: float) -> None:
    m = ex.quaternary(epsilon, delta)
    assert ex.LDP(epsilon, delta).holds(m)
    assert not ex.LDP(epsilon * (1 - 1e-6), delta).holds(m)
    if delta:
        assert not ex.LDP(epsilon, delta * (1 - 1e-9)).holds(m)
        assert m.m == 4
