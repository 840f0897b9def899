"""What utilities refuse, and how they are stored and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.utility import SumOfColumns

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
    with pytest.raises(ex.InvalidParameter, match=message):
        make()


def test_distortion_follows_labels() -> None:
    steps = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    m = ex.Mechanism.from_weights([[3, 1, 0], [1, 2, 1], [0, 1, 3]], 4, inputs=["a", "b", "c"], outputs=["c", "b", "a"])
    u = ex.Distortion([0.5, 0.25, 0.25], steps)
    assert u(m) == pytest.approx(0.5 * (0.75 * 2 + 0.25) + 0.25 * 0.5 + 0.25 * (0.75 * 2 + 0.25))
    assert u(m.matrix) == pytest.approx(0.5 * 0.25 + 0.25 * 0.5 + 0.25 * 0.25)
    wide = ex.Distortion([0.5, 0.5], [[0, 1, 5], [1, 0, 5]], outputs=["x", "y", "z"])
    assert wide(ex.Mechanism.from_weights([[1, 3], [3, 1]], 4, outputs=["y", "x"])) == pytest.approx(0.25)
    positional = ex.Distortion([0.5, 0.5], [[0, 1, 5], [1, 0, 5]])
    assert positional(ex.Mechanism.from_weights([[3, 1], [1, 3]], 4)) == pytest.approx(0.25)
    assert positional([[0.75, 0.25, 0], [0.25, 0.75, 0]]) == pytest.approx(0.25)
    assert repr(wide).startswith("Distortion(")


def test_hamming_is_the_worst_prior() -> None:
    m = ex.Mechanism.from_weights([[3, 1], [2, 2]], 4)
    assert ex.Hamming([0.5, 0.5])(m) == pytest.approx(0.375)
    assert ex.Hamming(ex.SourceClass.simplex(2))(m) == pytest.approx(0.5)
    assert ex.Hamming(ex.SourceClass.simplex(2))(m.matrix) == pytest.approx(0.5)
    assert ex.Hamming([0.5, 0.5]).is_cost
    blocks = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1))
    assert ex.Hamming([0.2, 0.3, 0.5])(blocks) == pytest.approx(
        1 - 0.2 * blocks.matrix[0, 0] - 0.3 * blocks.matrix[1, 1]
    )
    big = ex.randomized_response(10_000, 3)
    assert ex.Hamming(np.full(10_000, 1e-4))(big) == pytest.approx(1 - np.exp(3) / (9_999 + np.exp(3)), rel=1e-9)


def test_erratum_h6_the_printed_utility_is_not_super_additive() -> None:
    """KSS Section II-A: U(Q) = min_P Σ P_i D_i cannot be maximised; U = min_P Σ P_i(1−D_i) is 1 − Hamming."""
    source = ex.SourceClass([[1, 0], [0, 1]])
    truthful = ex.Mechanism.from_weights([[4, 0], [0, 4]], 4)
    assert 1 - ex.Hamming(source)(truthful) == 1
    assert 1 - ex.Hamming(source)(ex.randomized_response(2, 1)) < 1


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


def test_user_functions_agree_with_the_named_ones() -> None:
    m = ex.randomized_response(2, 1)
    for f, named in [
        (lambda x: x * np.log(x), ex.KL(P, Q)),
        (lambda x: -np.log(x), ex.ReverseKL(P, Q)),
        (lambda x: np.abs(x - 1) / 2, ex.TotalVariation(P, Q)),
        (lambda x: (np.sqrt(x) - 1) ** 2, ex.SquaredHellinger(P, Q)),
    ]:
        user = ex.FDivergence(P, Q, f)
        assert user(m) == pytest.approx(named(m), rel=1e-9)
        assert user.at_zero == pytest.approx(named.at_zero, rel=1e-6, abs=1e-6)
        if named.name != "KL":  # x log x grows too slowly for a float to see that its slope is infinite
            assert user.slope_at_infinity == pytest.approx(named.slope_at_infinity, rel=1e-4, abs=1e-4)
    derivative = ex.FDivergence(
        P, Q, lambda x: (x - 1) ** 2, derivative=lambda x: 2 * (x - 1), at_zero=1, slope_at_infinity=np.inf
    )
    assert derivative.derivative(np.array([3.0]))[0] == 4
    assert isinstance(derivative, SumOfColumns)
