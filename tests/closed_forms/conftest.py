"""Shared by the tests of closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extremal as ex

TIGHT = 1e-9  # private at ε, not at ε(1 − 1e-9)


@pytest.fixture(scope="session")
def same() -> Callable[..., None]:
    """A mechanism has the rows of a reference value."""

    def check(m: ex.Mechanism, rows: Any) -> None:
        expected = np.array([[float(v) for v in row] for row in rows])
        assert m.matrix == pytest.approx(expected, rel=1e-12, abs=1e-15)

    return check


@pytest.fixture(scope="session")
def tight() -> Callable[..., None]:
    """A mechanism satisfies the notion at ε and not just below."""

    def check(notion: Callable[[Any], Any], epsilon: float, m: ex.Mechanism) -> None:
        assert notion(epsilon).holds(m)
        assert not notion(epsilon * (1 - TIGHT)).holds(m)

    return check
