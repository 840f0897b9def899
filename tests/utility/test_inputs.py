"""What utilities refuse, and how they are stored and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex

P, Q = [0.7, 0.3], [0.4, 0.6]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.KL(P, [0.2, 0.3, 0.5]), "p1 must have 2 entries"),
        (lambda: ex.KL([0.7, 0.4], Q), "p0 must sum to 1"),
        (lambda: ex.MutualInformation([0.5, float("nan")]), "prior must hold finite"),
        (lambda: ex.HockeyStick(P, Q, -1), "gamma must not be negative"),
        (lambda: ex.AlphaDivergence(P, Q, "x"), "alpha must be a finite number"),
        (lambda: ex.FDivergence(P, Q, lambda x: -((x - 1) ** 2)), "f must be convex; got x="),
        (lambda: ex.FDivergence(P, Q, lambda x: np.sin(x - 1)), "f must be convex"),
        (lambda: ex.FDivergence(P, Q, lambda x: x**2), "f\\(1\\) must be 0; got f\\(1\\)=1.0"),
        (lambda: ex.FDivergence(P, Q, lambda x: np.where(x > 2, np.nan, x - 1)), "f must be finite for x > 0"),
        (lambda: ex.FDivergence(P, Q, 3), "f must be a function"),
        (lambda: ex.FDivergence(P, Q, lambda _: 0.0), "f must be vectorised"),
        (lambda: ex.FDivergence(P, Q, lambda x: x - 1 if x > 1 else 0 * x), "it raised ValueError: The truth value"),
        (lambda: ex.FDivergence(P, Q, lambda _: "x"), "it raised ValueError: could not convert"),
        (lambda: ex.FDivergence(P, Q, lambda x: x.missing), "it raised AttributeError"),
        (lambda: ex.Sublinear(3, lambda c: (c**2).sum(axis=0)), "mu must be"),
        (lambda: ex.Sublinear(3, lambda c: -c.max(axis=0)), "mu must be subadditive"),
        (lambda: ex.Sublinear(3, lambda c: c.max(axis=0) + 1), "mu must be homogeneous"),
        (lambda: ex.Sublinear(3, lambda c: c.max()), "mu must return one finite value for each column"),
        (lambda: ex.Sublinear(3, 5), "mu must be a function"),
        (lambda: ex.Sublinear(1, lambda c: c.max(axis=0)), "k must be at least 2"),
        (lambda: ex.Average([]), "utilities must be a list"),
        (
            lambda: ex.WorstCase([ex.KL(P, Q), ex.MutualInformation([0.2, 0.3, 0.5])]),
            "utilities must be about the same inputs",
        ),
        (lambda: ex.Average([ex.Hamming(P)]), "utilities must be a list of divergences"),
        (lambda: ex.PairwiseDivergence([P]), "at least two distributions are needed"),
        (lambda: ex.Distortion(P, [[0, 1]]), "distances must have 2 rows"),
        (lambda: ex.Distortion(P, [[0, float("nan")], [1, 0]]), "distances must be finite and non-negative"),
        (lambda: ex.Distortion(P, [[0, float("inf")], [1, 0]]), "distances must be finite and non-negative"),
        (lambda: ex.Distortion(P, "ab"), "distances must be a matrix of numbers"),
        (lambda: ex.Distortion(P, [[0, 1], [1, 0]], outputs=["a"]), "outputs must name the columns"),
        (lambda: ex.KL(P, Q)(ex.randomized_response(3, 1)), "the mechanism must have 2 inputs, as KL has; got k=3"),
        (lambda: ex.KL(P, Q)([[0.5, 0.6], [0.5, 0.5]]), "each row must sum to 1"),
        (lambda: ex.KL(P, Q)([[1.5, -0.5], [0.5, 0.5]]), "the array must be finite, non-negative"),
        (lambda: ex.KL(P, Q)("ab"), "a utility takes a mechanism or a row-stochastic array"),
        (lambda: ex.KL(P, Q).column_values([[1, 2, 3]]), "columns must be 2×n"),
        (lambda: ex.Hamming(P)(ex.randomized_response(3, 1)), "the mechanism must have 2 inputs"),
        (lambda: ex.Hamming(P)([[1.0], [1.0]]), "the array must have 2 columns"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        make()


def test_stored_and_named() -> None:
    for u in (
        ex.KL(P, Q),
        ex.AlphaDivergence(P, Q, "1/3"),
        ex.HockeyStick(P, Q, 2),
        ex.MutualInformation(P),
        ex.Average([ex.KL(P, Q)]),
        ex.WorstCase([ex.KL(P, Q)]),
        ex.Hamming(P),
        ex.Distortion(P, [[0, 1], [1, 0]]),
    ):
        assert u.to_json()["utility"] == u.name
        assert u.name in repr(u)
        assert hash(u) == hash(u)
    assert ex.KL(P, Q) == ex.KL(["7/10", "3/10"], Q)
    assert ex.KL(P, Q) != ex.KL(Q, P)
    assert "user function" in ex.FDivergence(P, Q, lambda x: (x - 1) ** 2).to_json()["f"]
    assert "user function" in ex.Sublinear(2, lambda c: c.max(axis=0)).to_json()["mu"]
    assert "Sublinear(2" in repr(ex.Sublinear(2, lambda c: c.max(axis=0)))
