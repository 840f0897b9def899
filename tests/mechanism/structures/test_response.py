"""Randomised response refuses what is none."""

import numpy as np
import pytest

from extremal.errors import InvalidParameter
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import RandomizedResponse


def test_weights_that_are_no_response_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="must sum"):
        RandomizedResponse(3, 5, 7)
    with pytest.raises(InvalidParameter, match="rows must be a whole number from 2 to 16,777,216; got rows=1"):
        RandomizedResponse(1, 0, DENOMINATOR)
    with pytest.raises(InvalidParameter, match="0 ≤ low < high"):
        RandomizedResponse(2, DENOMINATOR // 2, DENOMINATOR // 2)


def test_it_is_recognised_in_its_rows_and_in_no_others() -> None:
    response = RandomizedResponse(3, DENOMINATOR // 4, DENOMINATOR // 2)
    found = RandomizedResponse.recognised(response.rows())
    assert found is not None
    assert found.to_json() == response.to_json()
    assert RandomizedResponse.recognised(response.rows()[[1, 0, 2]]) is None
    assert RandomizedResponse.recognised(np.array([[DENOMINATOR]])) is None
    tilted = response.rows()
    tilted[2, :2] += [1, -1]
    assert RandomizedResponse.recognised(tilted) is None
