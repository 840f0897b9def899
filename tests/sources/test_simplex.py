"""Every prior."""

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, InvalidPrior


def test_membership_asks_for_a_prior() -> None:
    assert [0.5, 0.5] in ex.SourceClass.simplex(2)
    with pytest.raises(InvalidPrior):
        _ = [0.5, 0.6] in ex.SourceClass.simplex(2)
    with pytest.raises(InvalidParameter, match="k must be at least 2"):
        ex.SourceClass.simplex(1)


def test_the_largest_value_is_the_worst_case_and_the_uniform_prior_a_member() -> None:
    assert np.isclose(ex.SourceClass.simplex(2).worst_case([1, 5])[0], 5)
    assert ex.SourceClass.simplex(3).member().weights == (1, 1, 1)
    assert hash(ex.SourceClass.simplex(3)) == hash(ex.SourceClass.simplex(3))
    assert ex.SourceClass.simplex(3).first_priors([0, 2, 1])[0].weights == (0, 1, 0)
