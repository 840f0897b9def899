import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, InvalidPrior
from extremal.testing import mechanisms, priors


@pytest.mark.parametrize("case_id", ["pml_regions_and_rr_N3_0.5", "pml_regions_and_rr_N5_0.3"])
def test_reference_regions_and_leakage_of_randomised_response(reference: dict[str, Any], case_id: str) -> None:
    """GSO eq (7), Section IV-B, to 1e-12; the last region, N, is erratum P2."""
    case, expected = reference[case_id], reference[case_id]["expected"]
    prior = case["arguments"]["prior"]
    notion = ex.PML(case["arguments"]["epsilon"], prior)
    assert notion.region_boundaries == pytest.approx([float(e) for e in expected["region_boundaries_eps_k"]], rel=1e-12)
    assert notion.epsilon_max == pytest.approx(float(expected["eps_max"]), rel=1e-12)
    m = ex.randomized_response(len(prior), case["arguments"]["epsilon_r"])
    assert notion.leakage(m) == pytest.approx([float(e) for e in expected["PML_of_RR_eps_r_1_per_output"]], rel=1e-12)
    assert notion.level(m) == notion.leakage(m).max()
    assert m.marginal(prior) == pytest.approx([float(e) for e in expected["output_marginal_RR_eps_r_1"]], rel=1e-12)


@pytest.mark.parametrize(
    "case_id",
    [
        "pml_binary_0.55_eps0.3",
        "pml_binary_0.55_eps0.7",
        "pml_high_privacy_N3_0.2",
        "pml_uniform_N3_0.3",
        "pml_uniform_N3_0.8",
        "pml_uniform_N4_log(3)",
    ],
)
def test_reference_mechanisms_have_their_leakage(reference: dict[str, Any], case_id: str) -> None:
    case = reference[case_id]
    notion = ex.PML(case["arguments"]["epsilon"], case["arguments"]["prior"])
    m = ex.Mechanism.from_matrix(case["expected"]["mechanism_rows_x_cols_y"], notion)
    assert notion.level(m) == pytest.approx(float(case["arguments"]["epsilon"]), rel=1e-12)
    if "PML" in case["expected"]:
        assert notion.leakage(m) == pytest.approx([float(e) for e in case["expected"]["PML"]], rel=1e-12)
    if "region_k" in case["expected"]:
        assert notion.region == case["expected"]["region_k"]


def test_regions_reach_the_last_one() -> None:
    """Erratum P2: [ε_{N−1}, ε_max] is region N; as printed, ε = 1 for (.5,.3,.2) lies in no region."""
    assert [ex.PML(e, [0.5, 0.3, 0.2]).region for e in (0.1, 0.3, 1, 5)] == [1, 2, 3, 3]
    assert ex.PML(1, [0.5, 0.5, 0.0]).region_boundaries == pytest.approx([0, math.log(2)])


@given(mechanisms(k=3), priors(k=3))
def test_leakage_is_the_definition(m: ex.Mechanism, prior: list[Any]) -> None:
    p = np.array([float(x) for x in prior])
    q = m.matrix
    marginal = p @ q
    expected = [math.log(q[p > 0, y].max() / marginal[y]) if marginal[y] > 0 else 0.0 for y in range(m.m)]
    assert ex.PML(1, prior).leakage(m) == pytest.approx(expected, rel=1e-9, abs=2e-9)


@given(mechanisms(k=3), priors(k=3, zeros=False), priors(k=3, zeros=False), st.floats(0, 1))
def test_a_class_is_as_private_as_its_worst_prior(
    m: ex.Mechanism, first: list[Any], second: list[Any], mix: float
) -> None:
    levels = [ex.PML(1, p).level(m) for p in (first, second)]
    assert ex.PML(1, ex.SourceClass([first, second])).level(m) == max(levels)
    between = [float(a) * mix + float(b) * (1 - mix) for a, b in zip(first, second, strict=True)]
    assert ex.PML(1, between).level(m) <= max(levels) * (1 + 1e-12) + 1e-12


@given(mechanisms(k=3), priors(k=3, zeros=False), st.sampled_from([0.0, 0.05, 0.3, 1.0]))
def test_a_ball_and_all_permutations_against_their_vertices(m: ex.Mechanism, prior: list[Any], radius: float) -> None:
    for source in (ex.SourceClass.ball(prior, radius), ex.SourceClass.permutation_invariant(prior)):
        by_vertices = ex.SourceClass(source.vertices())
        assert ex.PML(1, source).level(m) == ex.PML(1, by_vertices).level(m)


def test_what_leaks_when_the_prior_is_wrong() -> None:
    prior = [0.5, 0.3, 0.2]
    m = ex.randomized_response(3, 1)
    notion = ex.PML(1, prior)
    assert notion.level(m, prior=[0.1, 0.1, 0.8]) > notion.level(m)
    assert notion.leakage(m, prior=[0.1, 0.1, 0.8])[0] > notion.leakage(m)[0]
    with pytest.raises(
        InvalidParameter, match=r"the prior must have 3 entries, one for each input; got len\(prior\)=2"
    ):
        notion.level(m, prior=[0.5, 0.5])


def test_an_input_that_never_occurs_does_not_count() -> None:
    identity = ex.Mechanism.from_weights([[4, 0, 0], [0, 4, 0], [0, 0, 4]], 4)
    notion = ex.PML(1, [0.5, 0.5, 0])
    assert notion.level(identity) == pytest.approx(math.log(2))
    assert notion.leakage(identity).tolist()[2] == 0


def test_a_class_has_no_single_prior() -> None:
    with pytest.raises(InvalidParameter, match="this notion is about a class of priors, not one"):
        _ = ex.PML(1, ex.SourceClass.simplex(3)).prior
    assert ex.PML(1, ex.SourceClass.simplex(3)).k == 3
    with pytest.raises(InvalidPrior, match="prior must sum to 1"):
        ex.PML(1, [0.5, 0.6])


def test_names() -> None:
    assert repr(ex.PML(0.1, [0.5, 0.5])) == "PML(epsilon=0.1, prior=[0.5, 0.5])"
    assert repr(ex.PML(0.1, ex.SourceClass.simplex(2))) == "PML(epsilon=0.1, source=SourceClass.simplex(2))"


def test_tiny_priors() -> None:
    prior = [1e-12, 0.5, 0.5 - 1e-12]
    m = ex.randomized_response(3, 1)
    expected = math.log(math.e / (1 + (math.e - 1) * 1e-12))
    assert ex.PML(1, prior).level(m) == pytest.approx(expected, rel=1e-14)
    identity = ex.Mechanism.from_weights([[4, 0], [0, 4]], 4)
    assert ex.PML(1, ["1e-60", 1]).level(identity) == pytest.approx(60 * math.log(10))


def test_every_prior_on_a_million_inputs_is_decided_from_one_column() -> None:
    everything, m = ex.SourceClass.simplex(10**6), ex.randomized_response(10**6, 1)
    assert ex.PML(1, everything).holds(m)
    assert not ex.PML("0.999999", everything).holds(m)
    small = ex.randomized_response(4, 1)
    assert ex.PML("0.9", ex.SourceClass.simplex(4)).refused_outputs(small) == [0, 1, 2, 3]
