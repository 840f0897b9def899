"""Every converse holds for the optimum; where the paper prints another statement, that one fails."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms.balance import balanced_subset
from extremal.errors import InvalidParameter
from extremal.exact import as_prior
from extremal.theory import converses, low_privacy_coefficient
from extremal.utility.curve import InformationCurve
from support.divergences import WITHOUT_PARAMETERS as DIVERGENCES


def _pairs(seed: int, count: int, largest: int = 6) -> Any:
    generator = np.random.default_rng(seed)
    for _ in range(count):
        k = int(generator.integers(2, largest + 1))
        shape = float(generator.choice([0.3, 1.0, 5.0]))
        epsilon = round(float(np.exp(generator.uniform(np.log(0.02), np.log(8)))), 4)
        yield generator.dirichlet(shape * np.ones(k)), generator.dirichlet(shape * np.ones(k)), epsilon


def test_every_proven_bound_is_above_the_optimum() -> None:
    for p0, p1, epsilon in _pairs(1, 12):
        for utility in (*(d(p0, p1) for d in DIVERGENCES), ex.HockeyStick(p0, p1, 1.2), ex.MutualInformation(p0)):
            table = converses(utility, epsilon)
            assert table.optimum is not None
            for bound in table.bounds:
                if bound.holds_here:
                    assert table.optimum <= bound.value * (1 + 1e-9), (bound.name, utility, epsilon)


def test_some_bounds_are_attained() -> None:
    """A bound that is never met could be anything: these are met on some instance."""
    p0, p1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
    for utility, epsilon, name in (
        (ex.TotalVariation(p0, p1), 2, "Corollary 11"),
        (ex.KL(p0, p1), 0.8, "binary is optimal"),
        (ex.KL([1, 0, 0], [0, 1, 0]), 1, "chord"),
        (ex.MutualInformation(["1/6"] * 6), 1, "affine"),
        (ex.MutualInformation(["1/4"] * 4), 0.1, "best single set"),
    ):
        table = converses(utility, epsilon)
        bound = next(b for b in table.bounds if b.name == name)
        assert bound.value == pytest.approx(table.optimum, rel=1e-9)


def test_erratum_e4_the_printed_corollary_10_is_violated_by_the_optimum() -> None:
    """P₀ = (.9,.1), P₁ = (.7,.3), δ = 0.1, ε = 8: the printed bound, even read for D alone, is below the optimum."""
    p0, p1, epsilon, slack = [0.9, 0.1], [0.7, 0.3], 8, 0.1
    a, b = np.array(p0), np.array(p1)
    printed_coefficient = float(((1 - a) * np.log(b / a)).sum())
    whole = float((a * np.log(a / b)).sum())
    best = ex.design(ex.LDP(epsilon), ex.KL(p0, p1)).value
    assert printed_coefficient == pytest.approx(0.9636, abs=1e-4)
    assert low_privacy_coefficient(p0, p1) == pytest.approx(0.6990, abs=1e-4)
    assert whole - (1 - slack) * printed_coefficient * math.exp(-epsilon) == pytest.approx(0.11603082405, abs=1e-10)
    assert best == pytest.approx(0.11608760525, abs=1e-10)
    corrected = next(b for b in converses(ex.KL(p0, p1), epsilon, slack=slack).bounds if b.name == "Corollary 10")
    assert best <= corrected.value
    # As printed, for the symmetrised divergence, it fails for every pair: the left side tends to J, the right one to D.
    symmetric = ex.design(ex.LDP(epsilon), ex.SymmetricKL(p0, p1)).value
    assert symmetric > whole


def test_erratum_e4_the_corrected_corollary_10_holds_for_large_epsilon() -> None:
    generator = np.random.default_rng(10)
    for _ in range(15):
        k = int(generator.integers(2, 5))
        p0, p1 = generator.dirichlet(3 * np.ones(k)), generator.dirichlet(3 * np.ones(k))
        assert low_privacy_coefficient(p0, p1) >= 0
        for utility in (ex.KL(p0, p1), ex.SymmetricKL(p0, p1)):
            table = converses(utility, 16)
            bound = next(b for b in table.bounds if b.name == "Corollary 10")
            assert table.optimum is not None
            assert table.optimum <= bound.value


def test_corollary_10_coefficients_of_the_reference(reference: dict[str, Any]) -> None:
    case = reference["ldp_cor10_coefficient"]
    (p0, p1), expected = case["arguments"].values(), case["expected"]
    a, b = (np.array([float(v) for v in p]) for p in (p0, p1))
    found = low_privacy_coefficient(p0, p1)
    assert found == pytest.approx(float(expected["correct_g"]), abs=1e-12)
    assert found == pytest.approx(float(expected["numeric_coefficient_eps40_minus"]), abs=1e-12)
    assert float(((1 - a) * np.log(b / a)).sum()) == pytest.approx(float(expected["paper_G"]), abs=1e-12)
    whole = next(b for b in converses(ex.KL(p0, p1), 3).bounds if b.name == "no privacy")
    assert whole.value == pytest.approx(float(expected["D_KL_P0_P1"]), abs=1e-14)


def test_erratum_e8_the_printed_expansion_lacks_a_square() -> None:
    """BIN = (e^ε−1)²/(e^ε+1)·(P₀(T)−P₁(T))² + …: the ratio tends to 1 with the square only."""
    p0, p1, epsilon = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], 1e-4
    gap, scale = 0.5, math.expm1(epsilon) * math.tanh(epsilon / 2)
    one_bit = ex.KL(p0, p1)(ex.binary(p0, p1, epsilon))
    assert one_bit / (scale * gap) == pytest.approx(0.5, abs=1e-3)  # as printed, not 1
    assert one_bit / (scale * gap**2) == pytest.approx(1, abs=1e-3)


def test_erratum_e8_corollary_9_holds_at_every_level_without_slack() -> None:
    largest = 0.0
    for p0, p1, epsilon in _pairs(9, 60):
        distance = np.abs(p0 - p1).sum() / 2
        bound = 2 * math.expm1(epsilon) * math.tanh(epsilon / 2) * distance**2
        best = ex.design(ex.LDP(epsilon), ex.SymmetricKL(p0, p1)).value
        assert best <= bound
        largest = max(largest, best / bound)
    assert largest > 0.9  # and not by much


def test_theorem_7_holds_with_a_far_smaller_factor() -> None:
    for p0, p1, epsilon in _pairs(7, 40):
        best, one_bit = ex.design(ex.LDP(epsilon), ex.KL(p0, p1)).value, ex.KL(p0, p1)(ex.binary(p0, p1, epsilon))
        assert best <= (math.exp(epsilon) + 1) * one_bit <= 2 * (math.exp(epsilon) + 1) ** 2 * one_bit


def test_erratum_e9_the_set_is_the_most_balanced_one_not_the_least() -> None:
    """Section 4.2 prints arg max |P(A) − ½|, which is the whole alphabet: no information at all."""
    generator = np.random.default_rng(29)
    for _ in range(30):
        k = int(generator.integers(2, 7))
        prior = generator.dirichlet(np.ones(k))
        balance = balanced_subset(as_prior(prior))
        curve = InformationCurve(0.5)
        masses = np.array([prior[[i for i in range(k) if j >> i & 1]].sum() for j in range(2**k)])
        printed, right = masses[np.abs(masses - 0.5).argmax()], masses[np.abs(masses - 0.5).argmin()]
        assert abs(float(balance.probability) - 0.5) == pytest.approx(abs(right - 0.5), abs=1e-12)
        assert curve.binary(float(printed)) == pytest.approx(0, abs=1e-12)
        assert curve.binary(float(right)) == pytest.approx(max(curve.binary(float(m)) for m in masses), rel=1e-12)


def test_erratum_e10_the_printed_derivative_of_lemma_27() -> None:
    z, epsilon = 0.3, 0.8
    e, c = math.exp(epsilon), math.expm1(epsilon)
    true = float(InformationCurve(epsilon).slope(z))
    step = 1e-6
    numeric = float(InformationCurve(epsilon).value(z + step) - InformationCurve(epsilon).value(z - step)) / (2 * step)
    assert true == pytest.approx(numeric, abs=1e-8) == pytest.approx(0.171171, abs=1e-6)
    assert e * z - c - c * math.log(z * c + 1) == pytest.approx(-0.941599, abs=1e-6)  # as printed


def test_erratum_e11_theorem_13_and_lemma_27_hold_beyond_one() -> None:
    """The paper asks for ε ≤ 1; the statements hold at every ε, heavy symbols included."""
    generator = np.random.default_rng(13)
    for i in range(60):
        k, epsilon = int(generator.integers(2, 7)), round(float(generator.uniform(1.01, 12)), 3)
        prior = generator.dirichlet(np.ones(k) * (0.2 if i % 2 else 1.0))
        curve, t = InformationCurve(epsilon), float(balanced_subset(as_prior(prior)).probability)
        masses = np.array([prior[[x for x in range(k) if j >> x & 1]].sum() for j in range(2**k)])
        sides = float(curve.value(t) + curve.value(1 - t))
        assert float(curve.value(np.minimum(masses, 1)).max()) <= sides * (1 + 1e-9)
        best = ex.design(ex.LDP(epsilon), ex.MutualInformation(prior)).value
        one_bit = ex.MutualInformation(prior)(ex.binary_for_information(prior, epsilon))
        assert best <= (1 + math.exp(epsilon)) * k / (math.exp(epsilon) + k - 1) * one_bit * (1 + 1e-9)


def test_corollary_15_needs_its_slack() -> None:
    """Uniform on three symbols: without δ eq 21 is below the optimum for small ε, which is 2ε/9 above one bit."""
    third, epsilon = ["1/3"] * 3, 0.1
    best = ex.design(ex.LDP(epsilon), ex.MutualInformation(third)).value
    assert best > 0.5 * (2 / 9) * epsilon**2
    bound = next(b for b in converses(ex.MutualInformation(third), epsilon).bounds if b.name == "Corollary 15")
    assert best <= bound.value


def test_corollaries_15_and_16_hold_where_they_say() -> None:
    generator = np.random.default_rng(15)
    for _ in range(10):
        prior = generator.dirichlet(3 * np.ones(int(generator.integers(2, 5))))
        for epsilon, name in ((0.01, "Corollary 15"), (25, "Corollary 16")):
            table = converses(ex.MutualInformation(prior), epsilon)
            assert table.optimum is not None
            assert table.optimum <= next(b for b in table.bounds if b.name == name).value


def test_corollary_16_coefficient_of_the_reference(reference: dict[str, Any]) -> None:
    """Erratum E5: what is left after (k−1)·ε·e^−ε is of order e^−ε, not e^−2ε."""
    case = reference["ldp_cor16_coefficient"]
    prior, expected = np.array([float(v) for v in case["arguments"]["prior"]]), case["expected"]
    k, entropy = prior.size, -float((prior * np.log(prior)).sum())
    coefficient = -((k - 1) + k * entropy + float(np.log(prior).sum()))
    assert coefficient == pytest.approx(float(expected["coefficient_of_exp_minus_eps"]), abs=1e-12)
    assert entropy == pytest.approx(float(expected["H"]), abs=1e-14)
    kept = ex.MutualInformation(prior)(ex.randomized_response(k, 20))
    assert kept == pytest.approx(float(expected["I_RR_eps20"]), abs=1e-13)
    assert abs((kept - entropy + (k - 1) * 20 * math.exp(-20)) * math.exp(20) - coefficient) < 1e-4


def test_tables_pictures_and_bad_input() -> None:
    table = converses(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 0.5)
    assert max(len(line) for line in str(table).splitlines()) <= 120
    assert next(iter(table.to_frame()["bound"])) == "binary is optimal"
    drawn = table.plot([0.2, 1.0, 4.0])
    assert drawn.axes[0].get_xlabel() == "ε (nats)"
    assert converses(ex.KL([0.5, 0.5], [0.4, 0.6]), 1, optimum=False).optimum is None
    with pytest.raises(InvalidParameter, match="a positive epsilon and a slack"):
        converses(ex.KL([0.5, 0.5], [0.4, 0.6]), 0)
    with pytest.raises(InvalidParameter, match="converses are known for"):
        converses(ex.Hamming([0.5, 0.5]), 1)
