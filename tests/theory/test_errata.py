"""The page of errata has a row for each, its tests exist, and corrected statements hold on random instances."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms.balance import balanced_subset
from extremal.errors import InvalidParameter
from extremal.exact import as_prior
from extremal.privacy.cones.lift import lift_box, vertices
from extremal.theory import binary_threshold, binary_threshold_for, rr_threshold
from extremal.utility.curve import InformationCurve

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "errata.md"
ERRATA = [*(f"E{i}" for i in range(1, 18)), *(f"P{i}" for i in range(1, 14)), *(f"H{i}" for i in range(1, 11))]
ROWS_ONLY = {"E13", "P12", "H7", "H8"}  # an experiment, typography


def test_every_erratum_has_a_row_and_every_test_it_names_exists() -> None:
    rows = re.findall(r"^\| ([EPH]\d+) \|(.*)\|$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert [name for name, _ in rows] == ERRATA
    written = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)", written))
    for name, row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert set(named) <= defined, name
        assert bool(named) != (name in ROWS_ONLY), name


def test_erratum_e1_without_ties_one_bit_is_optimal_for_small_epsilon() -> None:
    generator = np.random.default_rng(1)
    for _ in range(15):
        p0, p1 = generator.dirichlet(np.ones(4)), generator.dirichlet(np.ones(4))
        epsilon = round(min(binary_threshold(p0, p1), 5) * 0.99, 6)
        for divergence in (ex.KL, ex.ChiSquared, ex.SquaredHellinger):
            best = ex.design(ex.LDP(epsilon), divergence(p0, p1)).value
            assert divergence(p0, p1)(ex.binary(p0, p1, epsilon)) == pytest.approx(best, rel=1e-11)


def test_erratum_e3_with_distinct_ratios_it_is_optimal_from_some_epsilon_on() -> None:
    generator = np.random.default_rng(3)
    for _ in range(10):
        k = int(generator.integers(3, 6))
        p0, p1 = generator.dirichlet(2 * np.ones(k)), generator.dirichlet(2 * np.ones(k))
        start = rr_threshold(ex.KL(p0, p1))
        assert start < 40
        for epsilon in (start + 0.1, start + 2):
            best = ex.design(ex.LDP(epsilon), ex.KL(p0, p1)).value
            assert ex.KL(p0, p1)(ex.randomized_response(k, epsilon)) == pytest.approx(best, rel=1e-11)


def test_erratum_e6_a_unique_balanced_set_is_optimal_for_small_epsilon() -> None:
    """Random priors have one most balanced partition, and a positive threshold; the uniform one on three symbols has
    three, and none."""
    generator = np.random.default_rng(6)
    for _ in range(4):
        prior = generator.dirichlet(np.ones(3))
        epsilon = 0.02
        assert balanced_subset(as_prior(prior)).proven
        best = ex.design(ex.LDP(epsilon), ex.MutualInformation(prior), tolerance=1e-12).value
        one_bit = ex.MutualInformation(prior)(ex.binary_for_information(prior, epsilon))
        assert one_bit == pytest.approx(best, rel=1e-10)
    assert binary_threshold_for(ex.MutualInformation(["1/3"] * 3)) == 0.0


@pytest.mark.parametrize("prior", [["0.35", "0.35", "0.3"], ["0.3", "0.3", "0.25", "0.15"], ["0.26"] * 3 + ["0.22"]])
def test_erratum_e6_a_unique_balanced_set_is_not_necessary(prior: list[str]) -> None:
    """Two or more most balanced sets, none of mass ½, and one bit is optimal for small ε all the same."""
    p = [Fraction(x) for x in prior]
    masses = [sum(p[x] for x in range(len(p)) if s >> x & 1) for s in range(1, 2 ** len(p) - 1)]
    nearest = min(abs(mass - Fraction(1, 2)) for mass in masses)
    assert nearest > 0
    assert sum(abs(mass - Fraction(1, 2)) == nearest for mass in masses) > 2  # a set and its complement are one
    best = ex.design(ex.LDP(0.05), ex.MutualInformation(prior), tolerance=1e-12).value
    assert ex.MutualInformation(prior)(ex.binary_for_information(prior, 0.05)) == pytest.approx(best, rel=1e-10)


def test_erratum_e14_randomised_response_is_not_universal() -> None:
    u = ex.TotalVariation([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    assert u(ex.randomized_response(3, 3)) == pytest.approx(0.5 * math.expm1(3) / (math.exp(3) + 2), rel=1e-13)
    assert u(ex.binary([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], 3)) == pytest.approx(0.5 * math.tanh(1.5), rel=1e-13)
    for epsilon in (1, 5, 20):
        bit = u(ex.binary([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], epsilon))
        assert u(ex.randomized_response(3, epsilon)) < bit == pytest.approx(ex.design(ex.LDP(epsilon), u).value)


def test_erratum_e15_an_optimal_mechanism_that_is_no_staircase() -> None:
    e = math.e
    rows = np.array([[e, 1], [(1 + e) / 2, (1 + e) / 2], [1, e]]) / (1 + e)
    m, u = ex.Mechanism.from_matrix(rows), ex.TotalVariation([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    assert u(m) == pytest.approx(ex.design(ex.LDP(1), u).value, rel=1e-12)
    with pytest.raises(InvalidParameter, match="weights must be c and e"):
        ex.theory.staircase_weights(m, 1)


def test_erratum_e16_the_factor_of_equation_60() -> None:
    z, epsilon = 0.3, 1e-4
    curve = InformationCurve(epsilon)
    factor = float(math.exp(epsilon) * curve.value(z) - curve.value(1 - z)) / math.expm1(epsilon) / epsilon**2
    assert factor == pytest.approx((0.5 + (1 - 2 * z) / 6) * z * (1 - z), rel=1e-3)
    assert factor > 1.1 * 0.5 * z * (1 - z)  # as printed


def test_erratum_e17_the_region_of_one_bit_is_a_parallelogram() -> None:
    assert len(ex.theory.error_region(ex.randomized_response(2, 1)).vertices) == 4


def test_p11_the_number_of_lift_vectors_falls_again() -> None:
    prior, counts = as_prior(["1/5"] * 5), []
    for region in ex.theory.pml_regions(prior).regions[:4]:
        middle = (region.start + region.stop) / 2
        counts.append(len(vertices(lift_box(ex.PML(middle, prior)))))
    assert counts == [5, 20, 30, 20]


def test_p13_the_program_has_exponentially_many_columns() -> None:
    generator = np.random.default_rng(13)
    for n in (6, 9, 12):
        prior = generator.dirichlet(5 * np.ones(n))
        assert len(vertices(lift_box(ex.PML(math.log(2), prior)))) > 2**n / 4


def test_h9_the_formula_of_the_conclusion_is_not_for_permutation_invariant_classes() -> None:
    source, distortion = ex.SourceClass.permutation_invariant(["0.9", "0.05", "0.05"]), 0.8
    never_first = [[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]
    assert distortion < ex.Hamming(source)(never_first) == pytest.approx(0.9)  # D(1)
    assert math.log(2 * (1 - distortion) / distortion) < 0 == ex.smallest_epsilon(source, distortion).value


def test_h10_zero_columns_cost_at_least_their_inputs() -> None:
    prior, generator = [0.5, 0.3, 0.2], np.random.default_rng(10)
    needed = ex.theory.distortion.thresholds(ex.SourceClass.ordered([prior]))
    for zeros in (1, 2):
        for _ in range(20):
            rows = np.zeros((3, 3))
            rows[:, : 3 - zeros] = generator.dirichlet(np.ones(3 - zeros), size=3)
            assert ex.Hamming(prior)(rows) >= needed[zeros] - 1e-12
    with pytest.raises(InvalidParameter, match="zero_columns"):
        ex.hamming(3, 0.3, zero_columns=2)
