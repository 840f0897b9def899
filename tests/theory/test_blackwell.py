"""Blackwell's order: a map or a test, each checked in rationals (KOV Theorems 18, 20)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.theory import canonical_form, dominates, equivalent, error_region
from extremal.theory.blackwell import TOLERANCE, Dominance, _mapped, _rational, _separation


def _checked(found: Dominance, first: ex.Mechanism, second: ex.Mechanism) -> None:
    """The witness again, with other code."""
    q1 = [[Fraction(int(w), first.denominator) for w in row] for row in first.weights]
    q2 = [[Fraction(int(w), second.denominator) for w in row] for row in second.weights]
    if found:
        assert found.map is not None
        assert found.rational is not None
        assert all(sum(row) == 1 and min(row) >= 0 for row in found.rational)
        for row, wanted in zip(q1, q2, strict=True):
            reached = [sum(q * w[y] for q, w in zip(row, found.rational, strict=True)) for y in range(second.m)]
            assert sum(abs(a - b) for a, b in zip(reached, wanted, strict=True)) / 2 <= (found.deficiency or 0)
        assert (found.deficiency or 0) <= TOLERANCE
        after = first.then(found.map.matrix.tolist())
        assert after.matrix == pytest.approx(
            second.matrix[:, [second.outputs.index(y) for y in found.map.outputs]], abs=1e-11
        )
        return
    assert found.test is not None
    gain = found.test.gain
    with_second = sum(g * q for row, qs in zip(gain, q2, strict=True) for g, q in zip(row, qs, strict=True))
    with_first = sum(
        max(sum(gain[x][y] * q1[x][z] for x in range(first.k)) for y in range(second.m)) for z in range(first.m)
    )
    assert with_second == found.test.second > found.test.first == with_first


@pytest.mark.parametrize("pairs", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_theorem_20_program_and_region_inclusion_agree(pairs: int) -> None:
    generator = np.random.default_rng(20)
    agreed = dominated = 0
    for i in range(pairs):
        outputs, others = (int(n) for n in generator.integers(2, 6, size=2))
        first = ex.Mechanism.from_matrix(generator.dirichlet(np.ones(outputs), size=2))
        if i % 2:
            second = first.then(generator.dirichlet(np.ones(others), size=first.m).tolist())
        else:
            second = ex.Mechanism.from_matrix(generator.dirichlet(3 * np.ones(others), size=2))
        found = dominates(first, second)
        agreed += bool(found) == error_region(first).contains(error_region(second))
        dominated += bool(found)
        if i % 10 < 2:
            _checked(found, first, second)
    assert agreed == pairs
    assert pairs // 2 <= dominated < pairs


@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_theorem_18_the_quaternary_mechanism_dominates_private_ones(count: int) -> None:
    generator = np.random.default_rng(18)
    for _ in range(count):
        epsilon, delta = round(float(generator.uniform(0.1, 3)), 3), round(float(generator.uniform(0, 0.4)), 3)
        m = _private(generator, epsilon, delta)
        assert ex.LDP(epsilon, delta).holds(m)
        assert dominates(ex.quaternary(epsilon, delta), m)


def _private(generator: np.random.Generator, epsilon: float, delta: float) -> ex.Mechanism:
    """A random row pair, mixed with its mean until it is just (ε,δ)-LDP."""
    rows = generator.dirichlet(np.ones(int(generator.integers(2, 6))), size=2)
    mean, low, high = rows.mean(axis=0), 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        mixed = share * rows + (1 - share) * mean
        spent = max(np.maximum(mixed[i] - np.exp(epsilon) * mixed[1 - i], 0).sum() for i in (0, 1))
        low, high = (share, high) if spent <= delta else (low, share)
    share = low * (1 - 1e-12)
    return ex.Mechanism.from_matrix(share * rows + (1 - share) * mean, ex.LDP(epsilon, delta))


def test_more_inputs_maps_and_separating_tests_are_both_right() -> None:
    generator = np.random.default_rng(21)
    answers = []
    for i in range(40):
        k, outputs = int(generator.integers(3, 6)), int(generator.integers(2, 6))
        first = ex.Mechanism.from_matrix(generator.dirichlet(np.ones(outputs), size=k))
        if i % 2:
            second = first.then(generator.dirichlet(np.ones(3), size=first.m).tolist())
        else:
            second = ex.Mechanism.from_matrix(generator.dirichlet(np.ones(3), size=k))
        found = dominates(first, second)
        _checked(found, first, second)
        answers.append(bool(found))
        assert bool(found) == bool(i % 2)


def test_randomised_response_at_a_higher_level_simulates_the_lower_one() -> None:
    for k in (2, 3, 5):
        strong, weak = ex.randomized_response(k, 2), ex.randomized_response(k, "0.7")
        found = dominates(strong, weak)
        _checked(found, strong, weak)
        assert found
        assert not dominates(weak, strong)
        assert "does not dominate" in str(dominates(weak, strong))
        assert not equivalent(strong, weak)


def test_a_divergence_never_rises_along_the_order() -> None:
    generator = np.random.default_rng(22)
    for _ in range(60):
        p0, p1 = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(3))
        first = ex.Mechanism.from_matrix(generator.dirichlet(np.ones(4), size=3))
        second = ex.Mechanism.from_matrix(generator.dirichlet(np.ones(3), size=3))
        if ex.KL(p0, p1)(second) > ex.KL(p0, p1)(first) + 1e-9:
            assert not dominates(first, second)


def test_merging_proportional_outputs_is_an_equivalence_that_changes_no_utility() -> None:
    """KOV Section 2.2: permuting outputs and merging proportional ones keep utility and level."""
    generator = np.random.default_rng(23)
    for _ in range(20):
        k = int(generator.integers(2, 5))
        base = generator.dirichlet(np.ones(3), size=k)
        split = np.hstack([base[:, :1] * 0.3, base[:, 1:], base[:, :1] * 0.7])
        m, whole = ex.Mechanism.from_matrix(split), ex.Mechanism.from_matrix(base)
        merged = canonical_form(m)
        assert merged.m == 3
        assert equivalent(m, whole)
        assert equivalent(merged, whole)
        assert merged.matrix == pytest.approx(canonical_form(whole).matrix, abs=1e-15)
        prior = generator.dirichlet(np.ones(k))
        assert ex.MutualInformation(prior)(merged) == pytest.approx(ex.MutualInformation(prior)(m), abs=1e-15)
        assert ex.LDP(0).level(merged) == pytest.approx(ex.LDP(0).level(m), rel=1e-13)


def test_a_claim_survives_merging() -> None:
    m = ex.binary([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], 1)
    assert canonical_form(m).privacy == m.privacy


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="the same inputs in the same order"):
        dominates(ex.randomized_response(2, 1), ex.randomized_response(3, 1))
    with pytest.raises(TooLarge, match="too many entries"):
        dominates(ex.randomized_response(60, 1), ex.randomized_response(60, 1))


def test_a_wrong_proposal_of_the_program_is_refused() -> None:
    """What the solver says plays no part: a map that misses by 1e-9 and a gain that does not separate are dropped."""
    strong, weak = ex.randomized_response(3, 2), ex.randomized_response(3, 1)
    exact1, exact2 = _rational(strong), _rational(weak)
    found = dominates(strong, weak)
    assert found.map is not None
    proposal = found.map.matrix
    assert _mapped(proposal, strong, weak, exact1, exact2) is not None
    tilted = proposal.copy()
    tilted[0, 0] -= 1e-9
    tilted[0, 1] += 1e-9
    assert _mapped(tilted, strong, weak, exact1, exact2) is None
    gain = np.array([[float(g) for g in row] for row in dominates(weak, strong).test.gain])  # type: ignore[union-attr]
    assert _separation(gain, exact2, exact1) is not None
    assert _separation(gain, exact1, exact2) is None
    assert _separation(np.zeros((3, 3)), exact2, exact1) is None
