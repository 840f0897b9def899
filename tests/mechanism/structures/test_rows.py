"""Rows refuse what is no distribution."""

import numpy as np
import pytest

from extremal.errors import InvalidParameter
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import Rows


def test_rows_that_do_not_sum_are_refused() -> None:
    quarter = DENOMINATOR // 4
    with pytest.raises(
        InvalidParameter,
        match=r"each row of weights must sum to the denominator exactly; got sum\(weights\[1\]\)=.*off by 1 units",
    ):
        Rows(np.array([[quarter, 3 * quarter], [quarter, 3 * quarter + 1]]))
    with pytest.raises(InvalidParameter, match="weights must not be negative"):
        Rows(np.array([[-1, DENOMINATOR + 1]]))
    with pytest.raises(InvalidParameter, match="every output must have some weight; got unused output=1"):
        Rows(np.array([[DENOMINATOR, 0], [DENOMINATOR, 0]]))
