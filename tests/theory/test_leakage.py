"""Leakage as a random variable, disclosure of attributes, and majorisation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.testing import epsilons, mechanisms, priors
from extremal.theory import disclosable, leakage_distribution, majorizes, randomized_response_leakage


@given(mechanisms(k=3), priors(k=3, zeros=False))
def test_the_leakage_is_the_definition_and_its_averages_are_ordered(m: ex.Mechanism, prior: list[object]) -> None:
    found, q = leakage_distribution(m, prior), m.matrix
    p = np.array([float(v) for v in prior])  # type: ignore[arg-type]
    marginal = p @ q
    expected = np.log(q.max(axis=0) / marginal)
    assert sorted(found.leakage) == pytest.approx(sorted(expected.tolist()), abs=1e-12)
    assert found.level == pytest.approx(ex.PML(1, prior).level(m), abs=1e-9)
    assert math.fsum(found.probability) == pytest.approx(1, abs=1e-12)
    assert found.maximal_leakage == pytest.approx(math.log(q.max(axis=0).sum()), abs=1e-12)
    assert found.mean <= found.maximal_leakage + 1e-12 <= found.level + 2e-12
    assert found.min_entropy_leakage <= found.maximal_leakage + 1e-12
    assert found.tail(found.level) == 0.0
    assert found.tail(-1) == pytest.approx(1, abs=1e-12)
    middle = found.level / 2
    assert found.tail(middle) == pytest.approx(marginal[expected > middle].sum(), abs=1e-9) or any(
        abs(e - middle) < 1e-9 for e in expected
    )
    # Markov's inequality for e^ℓ, whose mean is e to the maximal leakage
    assert found.tail(middle) <= math.exp(found.maximal_leakage - middle) + 1e-9


def test_table_of_reports() -> None:
    found = leakage_distribution(ex.randomized_response(3, 1), [0.5, 0.3, 0.2])
    assert str(found).splitlines()[1].split()[0] == "2"
    assert list(found.to_frame()["report"]) == [2, 1, 0]


@given(priors(k=4, zeros=False), epsilons(0.05, 2))
def test_nothing_below_the_min_entropy_is_disclosed(prior: list[object], epsilon: float) -> None:
    p = [float(v) for v in prior]  # type: ignore[arg-type]
    groups = {"a": [0, 1], "b": [2, 3]}
    masses = {u: sum(p[x] for x in xs) for u, xs in groups.items()}
    named = disclosable(prior, groups, epsilon)
    assert set(named) == {u for u, mass in masses.items() if mass >= math.exp(-epsilon)}
    if epsilon < -math.log(max(masses.values())):
        assert named == ()
    assert disclosable(prior, ["a", "a", "b", "b"], epsilon) == named


def test_what_may_be_disclosed_can_be_disclosed() -> None:
    """P(U=u) ≥ e^−ε is tight: the mechanism that reports whether U = u leaks −log P(U=u)."""
    prior = [0.5, 0.3, 0.2]
    m = ex.Mechanism.from_matrix([[1, 0], [0, 1], [0, 1]])
    assert leakage_distribution(m, prior).level == pytest.approx(math.log(2))
    assert disclosable(prior, ["u", "v", "v"], "0.6932") == ("u", "v")
    with pytest.raises(InvalidParameter, match="one value for each input"):
        disclosable(prior, {"u": [0]}, 1)


@given(priors(k=4), st.integers(0, 3), st.integers(0, 3), st.fractions(0, 1))
def test_moving_probability_to_a_rarer_symbol_is_majorised(prior: list[object], i: int, j: int, share: object) -> None:
    """A T-transform; and GSO Proposition 1: the leakage of randomised response does not rise along it."""
    moved = list(prior)
    moved[i], moved[j] = (
        share * prior[i] + (1 - share) * prior[j],  # type: ignore[operator]
        share * prior[j] + (1 - share) * prior[i],  # type: ignore[operator]
    )
    if i == j:
        moved = list(prior)
    assert majorizes(prior, moved)
    assert majorizes(moved, prior) == (sorted(moved) == sorted(prior))  # type: ignore[type-var]
    if min(prior) > 0:  # type: ignore[type-var, operator]
        assert randomized_response_leakage(moved, 1) <= randomized_response_leakage(prior, 1) + 1e-12


def test_majorisation_is_only_a_partial_order() -> None:
    first, second = ["0.5", "0.25", "0.25"], ["0.4", "0.4", "0.2"]
    assert not majorizes(first, second)
    assert not majorizes(second, first)
    with pytest.raises(InvalidParameter, match="the same length"):
        majorizes([0.5, 0.5], first)
