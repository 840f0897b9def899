"""Error regions: KOV Theorem 19, the reference corners, and what erratum E12 corrects."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.testing import epsilons, mechanisms
from extremal.theory import error_region, error_region_of
from extremal.theory.error_regions import Polygon


def test_the_lower_boundary_of_the_reference(reference: dict[str, Any]) -> None:
    case = reference["ldp_quaternary_eps1_delta0.1"]
    expected = np.array([[float(v) for v in p] for p in case["expected"]["error_region_lower_boundary_PMD_PFA"]])
    arguments = case["arguments"]["epsilon"], case["arguments"]["delta"]
    assert np.array(error_region(ex.quaternary(*arguments)).lower) == pytest.approx(expected, abs=1e-15)
    assert np.array(error_region_of(*arguments).lower) == pytest.approx(expected, abs=1e-15)


@given(mechanisms(k=2), st.floats(0.1, 3), st.sampled_from([0, "0.01", "0.1", "0.3"]))
def test_theorem_19_private_exactly_when_the_region_lies_inside(m: ex.Mechanism, epsilon: float, delta: Any) -> None:
    assert error_region_of(epsilon, delta).contains(error_region(m)) == ex.LDP(epsilon, delta).holds(m)


@given(mechanisms(k=2), st.integers(0, 2**12))
def test_every_test_lies_in_the_region(m: ex.Mechanism, seed: int) -> None:
    rule = np.random.default_rng(seed).random(m.m)  # says 1 with this probability
    q = m.matrix
    missed, alarm = float(q[1] @ (1 - rule)), float(q[0] @ rule)
    corners = error_region(m).vertices
    for (a, b), (c, d) in zip(corners, [*corners[1:], corners[0]], strict=True):
        assert (c - a) * (alarm - b) - (d - b) * (missed - a) >= -1e-12


def test_erratum_e12_the_printed_inequalities_contain_a_pair_that_no_test_reaches() -> None:
    """(1, 1) satisfies both printed inequalities; the complementary ones exclude it, and then the region is that of the
    quaternary mechanism."""
    e, delta = np.e, 0.1
    alarm = missed = 1.0
    assert alarm + e * missed >= 1 - delta
    assert e * alarm + missed >= 1 - delta
    assert not (alarm + e * missed <= e + delta)
    corrected, of_mechanism = error_region_of(1, "0.1"), error_region(ex.quaternary(1, "0.1"))
    assert max(a + b for a, b in corrected.vertices) < 1.6
    assert corrected.contains(of_mechanism)
    assert of_mechanism.contains(corrected)  # up to the rounding of the weights
    generator = np.random.default_rng(12)
    for _ in range(100):  # the corrected region holds every mechanism of the notion, complements included
        epsilon, d = round(float(generator.uniform(0.1, 3)), 3), round(float(generator.uniform(0, 0.4)), 3)
        m = ex.quaternary(epsilon, d).then(generator.dirichlet(np.ones(3), size=ex.quaternary(epsilon, d).m).tolist())
        for a, b in error_region(m).vertices:
            assert b + np.exp(epsilon) * a <= np.exp(epsilon) + d + 1e-12
            assert b + np.exp(epsilon) * a >= 1 - d - 1e-12


@given(epsilons(0.05, 4), epsilons(0.05, 4), st.sampled_from([0, "0.1"]), st.sampled_from([0, "0.1"]))
def test_regions_of_notions_are_ordered_like_their_quaternary_mechanisms(
    first: float, second: float, delta: Any, other: Any
) -> None:
    claimed = error_region_of(first, delta).contains(error_region_of(second, other))
    shown = error_region(ex.quaternary(first, delta)).contains(error_region(ex.quaternary(second, other)))
    assert claimed == shown


def test_ratios_known_exactly_are_compared_exactly() -> None:
    three, third = ex.LDP.from_ratio(3, "0.1"), ex.LDP.from_ratio("7/3")
    from extremal.theory.error_regions import PrivacyRegion

    assert PrivacyRegion(three).contains(PrivacyRegion(third))
    # (1−δ₂)(1+E₁) = (1−δ₁)(1+E₂): the knees coincide
    assert PrivacyRegion(ex.LDP.from_ratio(3, "0.2")).contains(PrivacyRegion(ex.LDP.from_ratio(4)))
    assert not PrivacyRegion(ex.LDP.from_ratio(3, "0.2")).contains(PrivacyRegion(ex.LDP.from_ratio("4.01")))


def test_corners_are_exact_and_equal_ratios_are_one_edge() -> None:
    m = ex.Mechanism.from_weights([[4, 2, 1, 1], [2, 1, 1, 4]], 8)
    assert error_region(m) == Polygon(
        (
            (Fraction(0), Fraction(1)),
            (Fraction(3, 8), Fraction(1, 4)),
            (Fraction(1, 2), Fraction(1, 8)),
            (Fraction(1), Fraction(0)),
        )
    )


def test_total_variation_is_the_least_sum_of_errors() -> None:
    generator = np.random.default_rng(3)
    for _ in range(30):
        k = int(generator.integers(2, 6))
        p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
        m = ex.randomized_response(k, 1)
        least = min(a + b for a, b in error_region(m, p0, p1).lower)
        assert 1 - least == pytest.approx(ex.TotalVariation(p0, p1)(m), abs=1e-14)


def test_bad_input_and_pictures() -> None:
    with pytest.raises(InvalidParameter, match="defined for two inputs; got mechanism.k=3. Give p0 and p1"):
        error_region(ex.randomized_response(3, 1))
    with pytest.raises(InvalidParameter, match="give both p0 and p1, or neither"):
        error_region(ex.randomized_response(2, 1), [0.5, 0.5])
    drawn = error_region_of(1, 0.1).plot(error_region(ex.randomized_response(2, 1)), labels=["notion"])
    axis = drawn.axes[0]
    assert [t.get_text() for t in axis.get_legend().get_texts()] == ["notion", "error region"]
    assert "missed detection" in axis.get_xlabel()
