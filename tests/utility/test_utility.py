"""What holds for every registered utility: the theorems (sublinear columns, data processing, relabelling, convexity),
how it is stored, and who may verify it."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.problem.reading import goal_from_json
from extremal.testing import matrices, mechanisms
from extremal.utility import (
    DIVERGENCES,
    UTILITIES,
    ConvexFunction,
    Divergence,
    LevelAtDistortion,
    SumOfColumns,
    Utility,
)
from extremal.utility.utility import OfColumns, registered

P0, P1, P2 = [0.4, 0.3, 0.2, 0.1], [0.1, 0.15, 0.3, 0.45], [0.25, 0.25, 0.25, 0.25]
SLACK = 1e-12  # float evaluation of values of order one

LOSSES = np.abs(np.subtract.outer(range(4), range(4)))
EXAMPLES: dict[str, Utility] = {
    **{name: kind(P0, P1, **kind.parameters) for name, kind in DIVERGENCES.items()},
    "MutualInformation": ex.MutualInformation(P0),
    "Hamming": ex.Hamming(P0),
    "Frequencies": ex.Frequencies(P0),
    "CDF": ex.CDF(P0),
    "Ranges": ex.Ranges(P0),
    "Mean": ex.Mean([0, 1, 5, 2], P0),
    "Distortion": ex.Distortion(P0, LOSSES, outputs=["a", "b", "c", "d"]),
    "LevelAtDistortion": LevelAtDistortion(P0, 0.3),
    "FDivergence": ex.FDivergence(P0, P1, lambda x: x**4 - 4 * x + 3),
    "Workload": ex.Workload([[1, 0, -1, 0], [0, 0.5, 0, 2]], P0),
    "ConvexUtility": ex.ConvexUtility(4, lambda matrix: matrix.max(axis=0).sum()),
    "Sublinear": ex.Sublinear(4, lambda c: c.max(axis=0)),
    "Average": ex.Average([ex.KL(P0, P1), ex.MutualInformation(P2)]),
    "WorstCase": ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)]),
}
"""One of each registered class; a new divergence is here by itself."""
VARIANTS: dict[str, Utility] = {
    **EXAMPLES,
    "alpha 1.7": ex.AlphaDivergence(P0, P1, 1.7),
    "hockey stick 1.3": ex.HockeyStick(P0, P1, 1.3),
    "pairwise": ex.PairwiseDivergence([P0, P1, P2], divergence=ex.SquaredHellinger),
    "pairwise worst": ex.PairwiseDivergence([P0, P1, P2], worst_case=True),
}
LOOKING_AT_COLUMNS = [name for name, utility in VARIANTS.items() if isinstance(utility, OfColumns)]
DIVERGENCES = [name for name, utility in VARIANTS.items() if isinstance(utility, Divergence)]
STORED = [name for name, utility in VARIANTS.items() if not utility.of_user]
POSITIVE = st.lists(st.integers(1, 40), min_size=4, max_size=4)


@pytest.mark.parametrize("name", LOOKING_AT_COLUMNS)
def test_columns_are_sublinear(name: str) -> None:
    """KOV Definition 1, Sections 3.1 and 4.1."""
    utility = VARIANTS[name]
    if not isinstance(utility, SumOfColumns):
        assert isinstance(utility, ex.WorstCase)
        return

    @given(POSITIVE, POSITIVE, st.floats(0.01, 100))
    def check(a: list[int], b: list[int], c: float) -> None:
        x, y = np.array(a, dtype=float), np.array(b, dtype=float)
        values = utility.column_values(np.array([x, y, x + y, c * x]).T)
        scale = np.abs(values).sum() + 1
        assert values[2] <= values[0] + values[1] + SLACK * scale
        assert values[3] == pytest.approx(c * values[0], rel=1e-9, abs=SLACK * scale * c)

    check()


@pytest.mark.parametrize("name", LOOKING_AT_COLUMNS)
def test_post_processing_never_helps(name: str) -> None:
    """Data processing, KOV Proposition 17."""
    utility = VARIANTS[name]

    @given(matrices(k=4, m=4), matrices(k=4, m=3))
    def check(q: Any, w: Any) -> None:
        before, after = utility(q), utility(q @ w)
        assert after <= before * (1 + SLACK) + SLACK

    check()


@pytest.mark.parametrize("name", LOOKING_AT_COLUMNS)
def test_convex_in_the_mechanism(name: str) -> None:
    utility = VARIANTS[name]
    if isinstance(utility, ex.WorstCase):
        with pytest.raises(AttributeError):
            utility.column_values  # noqa: B018
        return

    @given(matrices(k=4, m=3), matrices(k=4, m=3), st.floats(0, 1))
    def check(q: Any, r: Any, t: float) -> None:
        ends = [utility(q), utility(r)]
        bound = (t * ends[0] if t else 0) + ((1 - t) * ends[1] if t < 1 else 0)
        assert utility(t * q + (1 - t) * r) <= bound * (1 + SLACK) + SLACK

    check()


@pytest.mark.parametrize("name", LOOKING_AT_COLUMNS)
def test_renaming_reports_changes_nothing(name: str) -> None:
    utility = VARIANTS[name]

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


@pytest.mark.parametrize("name", DIVERGENCES)
@given(x=st.floats(0.05, 20))
def test_supporting_lines_touch_from_below(name: str, x: float) -> None:
    """f(z) ≥ s·z − c with equality at x: what bounds and prices are made of."""
    z = np.logspace(-2, 2, 60)
    utility = VARIANTS[name]
    slope, constant = utility.line(np.array([x]))
    values = utility.excess(z - 1, z)
    assert (values >= slope * z - constant - 1e-6 * (1 + np.abs(values))).all()
    assert slope * x - constant == pytest.approx(utility.excess(np.array([x - 1]), np.array([x])), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_f_is_normalised_and_its_derivative_and_limits_are_its_own(name: str) -> None:
    f = VARIANTS[name].f
    x = np.geomspace(0.02, 50, 97)
    x = x[[all(abs(t / kink - 1) > 1e-3 for kink in f.kinks or ()) for t in x]]
    step = 1e-5 * x
    quotient = (f.excess(x + step - 1, x + step) - f.excess(x - step - 1, x - step)) / (2 * step)
    assert f.derivative(x) == pytest.approx(quotient, rel=1e-5, abs=1e-6)
    one = np.array([1.0])
    assert f.excess(one - 1, one) == pytest.approx(0, abs=1e-12)
    left, right = f.derivative(one * (1 - 1e-7)), f.derivative(one * (1 + 1e-7))
    assert left <= 1e-5
    assert right >= -1e-5  # 0 is a slope at 1

    def at(t: float) -> float:
        return float(f.excess(np.array([t - 1]), np.array([t]))[0])

    if math.isfinite(f.at_zero):
        assert at(1e-16) == pytest.approx(f.at_zero, abs=1e-6)
    else:
        assert at(1e-100) > 1.5 * at(1e-50) > 20
    if math.isfinite(f.slope_at_infinity):
        assert at(1e14) / 1e14 == pytest.approx(f.slope_at_infinity, abs=1e-6)
    elif name != "FDivergence":
        assert at(1e100) / 1e100 > 1.5 * at(1e50) / 1e50 > 20


@pytest.mark.parametrize("name", DIVERGENCES)
def test_the_same_divergence_between_other_hypotheses(name: str) -> None:
    utility = VARIANTS[name]
    other = utility.between([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    assert (other.k, type(other), other.f) == (3, type(utility), utility.f)
    assert other.between(P0, P1) == utility
    assert utility.p0.tolist() == P0  # unchanged
    m = ex.randomized_response(4, 1)
    assert other.between(P0, P1)(m) == utility(m)


def test_every_registered_utility_has_an_example() -> None:
    assert {type(utility).__name__ for utility in EXAMPLES.values()} == set(UTILITIES)
    assert all(kind.name == name for name, kind in UTILITIES.items())


@pytest.mark.parametrize("name", STORED)
def test_stored_made_again_and_pickled(name: str) -> None:
    utility = VARIANTS[name]
    labels = ["a", "b", "c", "d"]
    m = ex.Mechanism.from_matrix(ex.hamming(4, 0.3).matrix, inputs=labels, outputs=labels)
    again = pickle.loads(pickle.dumps(utility))
    assert (type(again), again, hash(again), repr(again)) == (type(utility), utility, hash(utility), repr(utility))
    assert again(m) == utility(m)
    assert (again.verifiable, again.unit, again.is_cost) == (utility.verifiable, utility.unit, utility.is_cost)
    stated = goal_from_json(json.loads(json.dumps(utility.to_json())))
    assert stated is not None
    assert (stated.name, stated.k, stated.is_cost) == (utility.name, utility.k, utility.is_cost)
    assert utility.to_json()["utility"] == utility.name
    assert utility.name in repr(utility)


@pytest.mark.parametrize("name", VARIANTS)
def test_what_can_be_verified_is_known_by_its_type(name: str) -> None:
    utility = VARIANTS[name]
    assert utility.verifiable == (name not in ("FDivergence", "Sublinear", "ConvexUtility"))
    mine = type("Mine", (type(utility),), {})
    changed = object.__new__(mine)
    changed.__dict__.update(utility.__dict__)
    assert changed == utility  # whatever its JSON says
    assert not changed.verifiable


def test_of_a_user_function_a_file_keeps_the_name() -> None:
    for utility in (
        EXAMPLES["FDivergence"],
        EXAMPLES["Sublinear"],
        ex.Average([EXAMPLES["FDivergence"], ex.KL(P0, P1)]),
    ):
        assert goal_from_json(json.loads(json.dumps(utility.to_json()))) is None
    assert not ex.Average([EXAMPLES["FDivergence"], ex.KL(P0, P1)]).verifiable


def test_what_no_file_can_hold_is_refused() -> None:
    for content in ({"utility": "Nothing"}, {}, None):
        with pytest.raises(ex.errors.MalformedFile, match="utility must be one that a file can hold"):
            goal_from_json(content)


def test_names_are_given_once() -> None:
    with pytest.raises(TypeError, match="two utilities are called KL"):
        registered(type("KL", (ex.KL,), {}))


def test_a_class_of_ones_own_brings_its_f() -> None:
    with pytest.raises(TypeError, match="must give its own f as a ConvexFunction, not override excess"):
        type("Mine", (ex.KL,), {"excess": ex.ChiSquared.excess})

    class Quartic(ConvexFunction):
        at_zero, slope_at_infinity = 3.0, np.inf

        def excess(self, delta: Any, x: Any) -> Any:
            return x**4 - 1 - 4 * delta

        def derivative(self, x: Any) -> Any:
            return 4 * (x**3 - 1)

    own = Divergence(P0, P1, Quartic())
    m = ex.randomized_response(4, 1)
    assert own(m) == pytest.approx(EXAMPLES["FDivergence"](m), rel=1e-9)
    assert not own.verifiable
    found = ex.design(ex.LDP(1), own)
    assert not ex.verify(found)
    assert "unverified" in ex.verify(found).reasons[-1]


def test_units_and_labels() -> None:
    named = {name for name, utility in EXAMPLES.items() if utility.unit == "nats"}
    assert {"KL", "ReverseKL", "SymmetricKL", "JensenShannon", "MutualInformation"} <= named
    assert EXAMPLES["KL"].label == "KL (nats)"
    assert EXAMPLES["MutualInformation"].label == "Mutual Information (nats)"
    assert EXAMPLES["TotalVariation"].label == "Total Variation"
    assert ex.Average([ex.KL(P0, P1), ex.TotalVariation(P0, P1)]).unit == ""
