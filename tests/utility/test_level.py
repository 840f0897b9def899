"""The privacy that a mechanism reaches within a distortion."""

from __future__ import annotations

import math

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.utility import LevelAtDistortion


def test_level_is_infinite_above_the_distortion() -> None:
    utility = LevelAtDistortion([0.5, 0.3, 0.2], "0.1")
    assert utility(ex.hamming(3, 0.2)) == math.inf
    assert utility == LevelAtDistortion([0.5, 0.3, 0.2], 0.1)
    assert repr(utility).startswith("LevelAtDistortion(SourceClass([Prior([0.5, 0.3, 0.2])]), 0.1)")
    with pytest.raises(InvalidParameter, match="LevelAtDistortion takes a mechanism with 3 inputs"):
        utility(np.eye(3))
    assert not hasattr(utility, "of")  # a level is decided on weights, not on columns as they are read
