"""Leakage as a random variable, regions, disclosure, majorisation, wrong priors, and f-information as a utility."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.testing import epsilons, mechanisms, pml_mechanisms, priors
from extremal.theory import disclosable, f_information, leakage_distribution, majorizes, randomized_response_leakage


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


P = [0.5, 0.3, 0.2]


@pytest.mark.parametrize("case_id", ["pml_regions_and_rr_N3_0.5", "pml_regions_and_rr_N5_0.3"])
def test_reference(reference: dict[str, Any], case_id: str) -> None:
    case = reference[case_id]
    prior, expected = case["inputs"]["P"], case["expected"]
    regions = ex.theory.pml_regions(prior)
    boundaries = [float(b) for b in expected["region_boundaries_eps_k"]]
    assert [r.start for r in regions.regions] == pytest.approx(boundaries, rel=1e-12)
    assert regions.epsilon_max == pytest.approx(float(expected["eps_max"]), rel=1e-12)
    leaks = max(float(v) for v in expected["PML_of_RR_eps_r_1_per_output"])
    assert ex.theory.randomized_response_leakage(prior, 1) == pytest.approx(leaks, rel=1e-12)


def test_a_table_of_regions() -> None:
    regions = ex.theory.pml_regions([0.4, 0.3, 0.3])
    assert [r.number for r in regions.regions] == [1, 2, 3]
    assert regions.at(0.1).number == 1
    assert regions.at(5).number == 3
    assert regions.disclosed(1) == (0,)
    assert regions.disclosed("0.916") == ()
    assert regions.disclosed(2) == (0, 1, 2)
    assert list(regions.to_frame()["may rule out"]) == [0, 1, 2]
    assert [r.nameable for r in regions.regions] == [0, 0, 3]
    with_zero = ex.theory.pml_regions([0.5, 0.5, 0])
    assert [r.number for r in with_zero.regions] == [1, 2]


@given(priors(zeros=False), epsilons(0.01, 5))
def test_a_report_rules_out_no_more_than_its_region_allows(prior: list[Any], epsilon: float) -> None:
    """GSO Lemma 2, on the optimal mechanism itself; and what it names with certainty may be named."""
    found = ex.design(ex.PML(epsilon, prior), ex.TotalVariation(prior, prior[::-1]))
    regions = ex.theory.pml_regions(prior)
    weights = found.mechanism.weights
    ruled_out = (weights <= 2**20).sum(axis=0)  # rounding puts a few units where a zero is meant
    assert ruled_out.max() <= regions.at(epsilon).number - 1 or epsilon >= regions.epsilon_max
    for column in weights.T:
        if (column > 0).sum() == 1:
            assert int(column.argmax()) in regions.disclosed(epsilon)


@given(priors(zeros=False, largest=6), st.floats(0, 1), epsilons(0.1, 3))
def test_proposition_1_randomised_response_leaks_less_for_a_majorised_prior(
    prior: list[Any], share: float, epsilon: float
) -> None:
    """GSO Proposition 1 (Schur-convexity): a mixture with the uniform prior is majorised by the prior."""
    p = np.array([float(x) for x in prior])
    flatter = (1 - share) * p + share / p.size
    leaks = ex.theory.randomized_response_leakage
    assert leaks(flatter, epsilon) <= leaks(p, epsilon) * (1 + 1e-12)


@given(priors(), epsilons(0.05, 8))
def test_equation_8_is_the_level_of_randomised_response(prior: list[Any], epsilon: float) -> None:
    level = ex.PML(1, prior).level(ex.randomized_response(len(prior), epsilon))
    assert ex.theory.randomized_response_leakage(prior, epsilon) == pytest.approx(level, rel=1e-9, abs=1e-9)


class TestWrongPrior:
    @given(pml_mechanisms())
    def test_leakage_grows_with_the_distance(self, m: ex.Mechanism) -> None:
        table = ex.theory.wrong_prior(m, radii=[0, 0.01, 0.05, 0.2])
        assert list(table.levels) == sorted(table.levels)
        assert table.levels[0] == table.claimed <= m.privacy.epsilon
        assert table.levels[-1] <= ex.LDP(1).level(m) * (1 + 1e-12)

    def test_no_prior_at_that_distance_leaks_more(self) -> None:
        m = ex.design(ex.PML(0.5, P), ex.MutualInformation(P)).mechanism
        table = ex.theory.wrong_prior(m, {"uniform": ["1/3"] * 3}, radii=[0.1])
        generator, seen = np.random.default_rng(0), 0.0
        for _ in range(300):
            q = generator.dirichlet(np.ones(3))
            distance = np.abs(q - P).sum() / 2
            q = np.array(P) + (q - P) * min(1.0, 0.1 / distance)
            seen = max(seen, ex.PML(1, P).level(m, prior=q / q.sum()))
        assert 0.6 < seen <= table.levels[0] + 1e-12
        assert table.others["uniform"] == pytest.approx(ex.PML(1, P).level(m, prior=["1/3"] * 3))

    def test_table_frame_and_picture(self) -> None:
        table = ex.theory.wrong_prior(ex.pml_binary([0.55, 0.45], 0.7), {"even": [0.5, 0.5], "sure": [1, 0]})
        assert "within 0.05 in total variation" in str(table)
        assert "even" in str(table)
        assert len(table.to_frame()) == len(table.radii) + 2
        axis = table.plot().axes[0]
        assert axis.get_xlabel().startswith("total-variation distance")
        assert "nats" in axis.get_ylabel()

    def test_a_mechanism_without_a_prior_is_refused(self) -> None:
        with pytest.raises(ex.errors.InvalidParameter, match="the mechanism must claim PML or LIP"):
            ex.theory.wrong_prior(ex.randomized_response(3, 1))


def test_boundaries_are_exact() -> None:
    """At ε_j itself the next region begins; one float below it does not."""
    for edge, number in zip(ex.PML(1, P).region_boundaries[1:], (2, 3), strict=True):
        assert ex.theory.pml_regions(P).at(repr(edge)).number == number
        assert ex.theory.pml_regions(P).at(repr(math.nextafter(edge, 0))).number == number - 1


PRIOR = [0.5, 0.3, 0.2]


@pytest.mark.parametrize("divergence", [ex.KL, ex.ChiSquared, ex.SquaredHellinger, ex.TotalVariation])
def test_it_is_the_divergence_from_independence(divergence: type[ex.KL]) -> None:
    generator = np.random.default_rng(1)
    for _ in range(10):
        q = generator.dirichlet(np.ones(4), size=3)
        joint = np.array(PRIOR)[:, None] * q
        apart = np.outer(PRIOR, joint.sum(axis=0))
        expected = divergence(joint.ravel(), apart.ravel())(np.eye(12))
        assert f_information(PRIOR, divergence)(q) == pytest.approx(expected, abs=1e-12)


def test_the_closed_form_of_region_1_is_optimal_for_every_f() -> None:
    """GSO Theorem 3: in the high-privacy region one mechanism is best for every utility."""
    best = ex.pml_high_privacy(PRIOR, "0.2")
    for divergence in (ex.ChiSquared, ex.SquaredHellinger, ex.TotalVariation):
        utility = f_information(PRIOR, divergence)
        assert ex.design(ex.PML("0.2", PRIOR), utility).value == pytest.approx(utility(best), rel=1e-9)


def test_under_ldp_it_agrees_with_information_and_obeys_data_processing() -> None:
    design = ex.design(ex.LDP(1), f_information(PRIOR, ex.KL))
    assert design.value == pytest.approx(ex.design(ex.LDP(1), ex.MutualInformation(PRIOR)).value, rel=1e-9)
    m = ex.randomized_response(3, 2)
    merged = m.then({0: "a", 1: "a", 2: "b"})
    assert f_information(PRIOR)(merged) <= f_information(PRIOR)(m)
    assert math.isfinite(f_information(PRIOR)(ex.Mechanism.from_matrix(np.eye(3))))


def test_floats_that_were_computed_majorise_up_to_their_rounding() -> None:
    """Averaging two entries is majorised, whatever the floats; what differs by more than rounding is told apart."""
    generator = np.random.default_rng(57)
    for _ in range(400):
        p = generator.dirichlet(np.ones(int(generator.integers(2, 8))))
        i, j = generator.choice(p.size, size=2, replace=False)
        share, q = generator.uniform(), p.copy()
        q[i], q[j] = share * p[i] + (1 - share) * p[j], (1 - share) * p[i] + share * p[j]
        assert ex.theory.majorizes(p, q)
        assert not ex.theory.majorizes(q, p) or np.sort(p) == pytest.approx(np.sort(q), abs=1e-15)
    assert ex.theory.majorizes(np.array([3, 2, 1]) / 6, np.array([2.5, 2.5, 1]) / 6)
    close = [0.5 + 1e-12, 0.3, 0.2 - 1e-12]
    assert not ex.theory.majorizes([0.5, 0.3, 0.2], close)
    assert ex.theory.majorizes(close, [0.5, 0.3, 0.2])
    third, little = Fraction(1, 3), Fraction(1, 10**30)
    assert not ex.theory.majorizes([third] * 3, [third + little, third, third - little])
