"""The better of two closed forms."""

import numpy as np
import pytest

import extremal as ex

PAIR = ([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 8])
@pytest.mark.parametrize(
    "utility", [ex.KL(*PAIR), ex.SquaredHellinger(*PAIR), ex.MutualInformation(PAIR[0])], ids=lambda u: u.name
)
def test_it_is_the_better_one(utility: ex.KL, epsilon: float) -> None:
    found = ex.better_of_two(utility, epsilon, inputs=["a", "b", "c"])
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
    with pytest.raises(ex.InvalidParameter, match="needs two hypotheses or a prior"):
        ex.better_of_two(ex.Hamming(PAIR[0]), 1)
