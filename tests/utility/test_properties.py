"""What the theorems say about every utility: sublinear columns, data processing, relabelling, convexity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.testing import matrices, mechanisms
from extremal.utility import SumOfColumns, Utility

P0, P1, P2 = [0.4, 0.3, 0.2, 0.1], [0.1, 0.15, 0.3, 0.45], [0.25, 0.25, 0.25, 0.25]
SLACK = 1e-12  # float evaluation of values of order one

NAMED = ("KL", "ReverseKL", "SymmetricKL", "TotalVariation", "ChiSquared", "SquaredHellinger", "JensenShannon")
UTILITIES: dict[str, Callable[[], Utility]] = {
    **{
        name: (lambda name=name: getattr(ex, name)(P0, P1))
        for name in (
            "KL",
            "ReverseKL",
            "SymmetricKL",
            "TotalVariation",
            "ChiSquared",
            "SquaredHellinger",
            "JensenShannon",
        )
    },
    "alpha": lambda: ex.AlphaDivergence(P0, P1, 1.7),
    "hockey stick": lambda: ex.HockeyStick(P0, P1, 1.3),
    "user f": lambda: ex.FDivergence(P0, P1, lambda x: x**4 - 4 * x + 3),
    "information": lambda: ex.MutualInformation(P0),
    "average": lambda: ex.Average([ex.KL(P0, P1), ex.MutualInformation(P2)]),
    "worst case": lambda: ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)]),
    "pairwise": lambda: ex.PairwiseDivergence([P0, P1, P2], divergence=ex.SquaredHellinger),
    "pairwise worst": lambda: ex.PairwiseDivergence([P0, P1, P2], worst_case=True),
    "sublinear": lambda: ex.Sublinear(4, lambda c: c.max(axis=0)),
}
POSITIVE = st.lists(st.integers(1, 40), min_size=4, max_size=4)


@pytest.mark.parametrize("name", UTILITIES)
def test_columns_are_sublinear(name: str) -> None:
    """KOV Definition 1, Sections 3.1 and 4.1."""
    utility = UTILITIES[name]()
    if not isinstance(utility, SumOfColumns):
        assert name in ("worst case", "pairwise worst")
        return

    @given(POSITIVE, POSITIVE, st.floats(0.01, 100))
    def check(a: list[int], b: list[int], c: float) -> None:
        x, y = np.array(a, dtype=float), np.array(b, dtype=float)
        values = utility.column_values(np.array([x, y, x + y, c * x]).T)
        scale = np.abs(values).sum() + 1
        assert values[2] <= values[0] + values[1] + SLACK * scale
        assert values[3] == pytest.approx(c * values[0], rel=1e-9, abs=SLACK * scale * c)

    check()


@pytest.mark.parametrize("name", UTILITIES)
def test_post_processing_never_helps(name: str) -> None:
    """Data processing, KOV Proposition 17."""
    utility = UTILITIES[name]()

    @given(matrices(k=4, m=4), matrices(k=4, m=3))
    def check(q: Any, w: Any) -> None:
        before, after = utility(q), utility(q @ w)
        assert after <= before * (1 + SLACK) + SLACK

    check()


@pytest.mark.parametrize("name", UTILITIES)
def test_convex_in_the_mechanism(name: str) -> None:
    utility = UTILITIES[name]()
    if name in ("worst case", "pairwise worst"):
        with pytest.raises(AttributeError):
            utility.column_values  # noqa: B018
        return

    @given(matrices(k=4, m=3), matrices(k=4, m=3), st.floats(0, 1))
    def check(q: Any, r: Any, t: float) -> None:
        ends = [utility(q), utility(r)]
        bound = (t * ends[0] if t else 0) + ((1 - t) * ends[1] if t < 1 else 0)
        assert utility(t * q + (1 - t) * r) <= bound * (1 + SLACK) + SLACK

    check()


@pytest.mark.parametrize("name", UTILITIES)
def test_renaming_reports_changes_nothing(name: str) -> None:
    utility = UTILITIES[name]()

    @given(matrices(k=4, m=4), st.permutations(range(4)))
    def check(q: Any, order: list[int]) -> None:
        assert utility(q[:, order]) == pytest.approx(utility(q), rel=1e-9, abs=1e-15)

    check()


@given(mechanisms(k=4), st.permutations(range(4)))
def test_relabelling_inputs_with_their_priors_changes_nothing(m: ex.Mechanism, order: list[int]) -> None:
    moved = ex.Mechanism.from_weights(m.weights[order])
    p0, p1 = np.array(P0)[order], np.array(P1)[order]
    assert ex.SquaredHellinger(p0, p1)(moved) == pytest.approx(ex.SquaredHellinger(P0, P1)(m), rel=1e-9, abs=1e-15)
    assert ex.MutualInformation(p0)(moved) == pytest.approx(ex.MutualInformation(P0)(m), rel=1e-9, abs=1e-15)


@given(st.floats(0.05, 20))
def test_supporting_lines_touch_from_below(x: float) -> None:
    """f(z) ≥ s·z − c with equality at x: what bounds and prices are made of."""
    z = np.logspace(-2, 2, 60)
    for name in UTILITIES:
        utility = UTILITIES[name]()
        if not isinstance(utility, ex.utility.Divergence):
            continue
        slope, constant = utility.line(np.array([x]))
        values = utility.excess(z - 1, z)
        assert (values >= slope * z - constant - 1e-6 * (1 + np.abs(values))).all(), name
        assert slope * x - constant == pytest.approx(
            utility.excess(np.array([x - 1]), np.array([x])), rel=1e-9, abs=1e-9
        )
