"""Column generation: a valid answer from the start."""

from __future__ import annotations

import numpy as np
import pytest

from extremal.optimize.information.columns import ColumnGeneration
from extremal.utility.curve import InformationCurve


def test_column_generation_starts_with_a_valid_answer() -> None:
    prior, curve = np.random.default_rng(6).dirichlet(np.ones(9)), InformationCurve(1.0)
    run = ColumnGeneration(curve, prior, np.ones(9, dtype=np.int64), np.inf, 1e-9)
    assert run.found.lower == pytest.approx(curve.response(prior), rel=1e-12)
    assert run.found.dual.bound >= run.found.lower
