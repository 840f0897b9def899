"""The smallest ε within a Hamming distortion: the reference values, the full linear program, and certificates that are
refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.testing.designs import check
from extremal.utility import LevelAtDistortion
from support.refusals import check_refusals

REFERENCE = 1e-10  # required of the reference values; they are met to about 1e-15


def least_distortion(priors: np.ndarray, epsilon: float) -> float:
    """The full M×M linear program at ε, by another solver interface: min over ε-LDP Q of the worst expected
    distortion."""
    k, e = priors.shape[1], math.exp(epsilon)
    variables = k * k + k + 1  # Q, the least entry of each column, the worst case
    rows, right = [], []
    for x in range(k):
        for y in range(k):
            for sign, other in ((-1.0, 1.0), (1.0, -e)):  # l_y ≤ Q(y|x) ≤ E·l_y
                row = np.zeros(variables)
                row[x * k + y], row[k * k + y] = sign, other
                rows.append(row)
                right.append(0.0)
    for p in priors:  # 1 − Σ p(x)Q(x|x) ≤ t
        row = np.zeros(variables)
        row[[x * k + x for x in range(k)]], row[-1] = -p, -1.0
        rows.append(row)
        right.append(-1.0)
    sums = np.zeros((k, variables))
    for x in range(k):
        sums[x, x * k : (x + 1) * k] = 1.0
    cost = np.zeros(variables)
    cost[-1] = 1.0
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return float(
        linprog(cost, np.array(rows), np.array(right), sums, np.ones(k), method="highs-ds", options=options).fun
    )


def classes(reference: dict[str, Any]) -> list[tuple[str, list[list[str]], str, float]]:
    found = []
    for name, case in reference.items():
        if name.startswith("hamming") and "class_vertices" in case["arguments"]:
            value = case["expected"].get("eps_star_exact", case["expected"].get("eps_star"))
            found.append((name, case["arguments"]["class_vertices"], case["arguments"]["distortion"], float(value)))
    return found


def test_every_reference_value(reference: dict[str, Any]) -> None:
    cases = classes(reference)
    assert len(cases) == 7
    for name, priors, distortion, expected in cases:
        d = ex.smallest_epsilon(ex.SourceClass(priors), distortion)
        assert abs(d.value - expected) <= REFERENCE, name
        check(d)
        assert LevelAtDistortion(ex.SourceClass(priors), distortion).worst_distortion(d.mechanism) <= Fraction(
            distortion
        ), name


def test_permutation_invariant_and_mechanism(reference: dict[str, Any]) -> None:
    case = reference["hamming_permutation_invariant_M3_D0.3"]
    d = ex.smallest_epsilon(ex.SourceClass.permutation_invariant([0.5, 0.3, 0.2]), "0.3")
    assert abs(d.value - float(case["expected"]["eps_star"])) <= REFERENCE
    np.testing.assert_allclose(d.mechanism.matrix, np.array(case["expected"]["mechanism"], dtype=float), atol=1e-12)
    check(d)
    assert d.method == "randomised response (KSS Theorem 1)"


@pytest.mark.parametrize("ordered", [True, False])
def test_random_classes_against_the_full_linear_program(ordered: bool) -> None:
    generator = np.random.default_rng(16)
    for _ in range(100):
        k, count = int(generator.integers(2, 7)), int(generator.integers(1, 4))
        priors = generator.dirichlet(np.full(k, generator.choice([0.5, 1.0, 3.0])), size=count)
        if ordered:
            priors = -np.sort(-priors, axis=1)
        source = ex.SourceClass.ordered(list(priors)) if ordered else ex.SourceClass(list(priors))
        distortion = float(np.max(1 - priors.max(axis=1)) * generator.uniform(0.05, 0.99))
        d = ex.smallest_epsilon(source, distortion)
        check(d)
        assert ex.Hamming(source)(d.mechanism) <= distortion + 1e-15
        if d.value > 0:  # the full program needs more than D just below ε*, and no more at it: bisection would end here
            assert least_distortion(priors, d.value) <= distortion + 1e-9 * distortion
            assert least_distortion(priors, d.value - 1e-7) > distortion


@given(st.integers(2, 5), st.integers(0, 10**6), st.integers(1, 19))
def test_the_dual_question_is_the_inverse(k: int, seed: int, twentieths: int) -> None:
    """The least distortion at ε*(D) is D, as long as ε* > 0."""
    generator = np.random.default_rng(seed)
    source = ex.SourceClass(list(generator.dirichlet(np.ones(k), size=2)))
    distortion = twentieths / 20 * (1 - max(p.values.max() for p in source.priors))
    d = ex.smallest_epsilon(source, distortion)
    if d.value > 0.01:
        inverse = ex.design(ex.LDP(d.value), ex.Hamming(source))
        check(inverse)
        assert inverse.value == pytest.approx(distortion, rel=1e-12)


def test_single_prior_has_the_closed_form() -> None:
    """min over n with S_n > 1−D of log((n−1)(1−D)/(S_n−1+D))."""
    generator = np.random.default_rng(3)
    for _ in range(20):
        k = int(generator.integers(2, 9))
        prior = generator.dirichlet(np.ones(k))
        distortion = float((1 - prior.max()) * generator.uniform(0.02, 0.99))
        sums = np.cumsum(np.sort(prior)[::-1])
        expected = min(
            math.log(n * (1 - distortion) / (s - 1 + distortion))
            for n, s in enumerate(sums)
            if n and s > 1 - distortion
        )
        assert ex.smallest_epsilon(prior, distortion).value == pytest.approx(expected, abs=1e-11)


def test_jump_to_zero() -> None:
    source = ex.SourceClass.ordered([[0.5, 0.3, 0.2], [0.6, 0.2, 0.2]])
    just_below = ex.smallest_epsilon(source, "0.499999999999")
    assert just_below.value == pytest.approx(math.log(5 / 3), abs=1e-9)
    at = ex.smallest_epsilon(source, "0.5")
    assert (at.value, at.gap, at.mechanism.m, at.method) == (0.0, 0.0, 1, "constant rows")
    assert ex.verify(at)
    assert ex.smallest_epsilon(ex.SourceClass([["1", "0"], ["0", "1"]]), "0.5").value == 0.0  # report a coin
    thirds = ex.smallest_epsilon(ex.SourceClass.simplex(3), "2/3")  # no multiples of 2^-62: the truth is rounded up
    assert 0 < thirds.value <= 1e-9  # the least level that notions have
    assert ex.verify(thirds)


def test_classes_of_every_shape_agree_with_their_vertices() -> None:
    prior = [0.5, 0.3, 0.2]
    ball = ex.SourceClass.ball(prior, 0.1)
    cone = ex.SourceClass.from_inequalities([[-1, 1, 0], [0, -1, 1], [1, 0, 0]], [0, 0, "0.8"])
    for source in (ball, ex.SourceClass.permutation_invariant(prior), cone):
        for distortion in ("0.1", "0.35", "0.55"):
            d, listed = (
                ex.smallest_epsilon(source, distortion),
                ex.smallest_epsilon(ex.SourceClass(source.vertices()), distortion),
            )
            assert d.value == pytest.approx(listed.value, abs=1e-12)
            check(d)
    big = ex.SourceClass.ball(np.full(30, 1 / 30), 0.2)  # vertices are not listed: generated
    d = ex.smallest_epsilon(big, 0.5)
    check(d)
    assert d.value <= ex.smallest_epsilon(ex.SourceClass.simplex(30), 0.5).value + 1e-12


def test_large_alphabet() -> None:
    generator = np.random.default_rng(0)
    source = ex.SourceClass.ordered([np.sort(generator.dirichlet(np.full(300, a)))[::-1] for a in (0.5, 1, 2)])
    check(ex.smallest_epsilon(source, 0.4))
    check(ex.design(ex.LDP(4), ex.Hamming(source)))


@pytest.mark.parametrize("distortion", ["0.1", "0.45"])
def test_spoiled_certificates_are_refused(distortion: str) -> None:
    source = ex.SourceClass.ordered([["0.45", "0.45", "0.1"], ["0.6", "0.2", "0.2"]])
    d = ex.smallest_epsilon(source, distortion)
    several = distortion == "0.1"  # there reporting everything is best, and every prior proves it
    check_refusals(d, LevelAtDistortion([0.8, 0.1, 0.1], distortion), unique_dual=not several)
    check_refusals(ex.design(ex.LDP(1), ex.Hamming(source)), ex.Hamming([0.8, 0.1, 0.1]))


def test_files_hold_the_certificate(tmp_path: Any) -> None:
    d = ex.smallest_epsilon(
        ex.SourceClass([["1/3", "1/3", "1/3"], ["0.2", "0.3", "0.5"]]), "0.3", inputs=["a", "b", "c"]
    )
    d.save(tmp_path / "m.json")
    assert ex.verify(tmp_path / "m.certificate.json")
    assert set(d.mechanism.outputs) <= {"a", "b", "c"}
    assert "worst-case distortion" in d.summary()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.smallest_epsilon([0.5, 0.5], 0), "no finite epsilon keeps the distortion at 0; got distortion=0.0"),
        (lambda: ex.smallest_epsilon(ex.SourceClass.simplex(2), 0), "no finite epsilon keeps the distortion at 0"),
        (lambda: ex.smallest_epsilon([0.5, 0.5], -0.1), "distortion must lie between 0 and 1; got distortion=-0.1"),
        (lambda: ex.smallest_epsilon([0.5, 0.5], float("nan")), "distortion must be finite"),
        (lambda: ex.smallest_epsilon([0.5, 0.5], "1e-60"), "so little distortion needs an epsilon above 100"),
        (lambda: ex.smallest_epsilon([0.5, 0.6], 0.1), "source_class must sum to 1"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_no_distortion_is_possible_without_privacy_when_one_symbol_is_sure() -> None:
    assert ex.smallest_epsilon([1, 0], 0).value == 0.0


def test_large_epsilon_keeps_its_digits() -> None:
    """At ε = 20 the distortion is 1e-8, computed from 1 − x directly; a class that allows none costs nothing."""
    source = ex.SourceClass([["0.25", "0.5", "0.25", "0"], ["0.4", "0", "0.6", "0"], ["0.1", "0.2", "0.3", "0.4"]])
    d = ex.design(ex.LDP(20), ex.Hamming(source))
    check(d)
    assert d.value == pytest.approx(3 / (3 + math.exp(20)), rel=1e-9)
    sure = ex.design(ex.LDP(1), ex.Hamming(ex.SourceClass([[1, 0], [1, 0]])))
    assert (sure.value, sure.gap) == (0.0, 0.0)


def test_a_distortion_is_met_in_integers_or_not_at_all() -> None:
    """2^-49 above D is above D: next to a jump of ε* it would count for everything."""
    prior, constant = ["0.5", "0.3", "0.2"], [[1.0, 0.0]] * 3
    above = Fraction(1, 2) - Fraction(1, 1 << 49)
    always_first = ex.Mechanism.from_matrix(constant, ex.LDP(0), outputs=[0, 1])
    assert LevelAtDistortion(prior, Fraction(1, 2))(always_first) == 0.0
    assert LevelAtDistortion(prior, above)(always_first) == math.inf
    found = check(ex.smallest_epsilon(prior, above))
    assert found.value > 0.4
    for source in (prior, ex.SourceClass([prior, ["0.4", "0.4", "0.2"]]), ex.SourceClass.simplex(3)):
        for distortion in ("1/3", "1/7", "0.45", "1e-9"):
            within = ex.smallest_epsilon(source, distortion)
            assert LevelAtDistortion(source, distortion).worst_distortion(within.mechanism) <= Fraction(distortion)
            check(within)


@pytest.mark.parametrize("distortion", [0.05, 0.15, 0.25, 0.28, 0.31])
def test_two_inputs_whose_probability_is_known_to_an_interval(distortion: float) -> None:
    """KSS with M = 2 and p from 0.7 to 0.8: both ends decide, and a grid over the first error finds the same level."""
    found = ex.smallest_epsilon(ex.SourceClass.ordered([["0.7", "0.3"], ["0.8", "0.2"]]), str(distortion)).value
    first = np.linspace(0, min(1, distortion / 0.8), 200_001)
    second = np.minimum(1, np.minimum((distortion - 0.7 * first) / 0.3, (distortion - 0.8 * first) / 0.2))
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.maximum(np.log((1 - first) / second), np.log((1 - second) / first))
    levels = np.where(first + second >= 1, 0, levels)  # reports that say nothing, or the opposite
    assert found == pytest.approx(float(np.nanmin(np.maximum(levels, 0))), abs=1e-4)
