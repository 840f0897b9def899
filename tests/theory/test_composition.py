"""Several reports about one value: the product, its level without the product, and what notions give together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.testing import epsilons, mechanisms, pml_mechanisms
from extremal.theory import compose, composed_level, dominates, pml_composed_bound, privacy_profile


def _several(seed: int, count: int) -> list[list[ex.Mechanism]]:
    generator = np.random.default_rng(seed)
    found = []
    for i in range(count):
        k = int(generator.integers(2, 4))
        shapes = [int(m) for m in generator.integers(2, 4, size=2 + i % 5)]
        found.append([ex.Mechanism.from_matrix(generator.dirichlet(2 * np.ones(m), size=k)) for m in shapes])
    return found


def test_levels_of_two_to_six_mechanisms_are_those_of_the_explicit_product() -> None:
    for several in _several(1, 15):
        product = compose(*several)
        assert product.m == math.prod(m.m for m in several)
        assert composed_level(several) == pytest.approx(ex.LDP(0).level(product), rel=1e-12)
        for delta in ("0.01", "0.1"):
            assert composed_level(several, delta) == pytest.approx(ex.LDP(0, delta).level(product), abs=1e-11)


def test_the_product_is_the_product() -> None:
    for several in _several(2, 5):
        expected = several[0].matrix
        for m in several[1:]:
            expected = (expected[:, :, None] * m.matrix[:, None, :]).reshape(expected.shape[0], -1)
        assert compose(*several).matrix == pytest.approx(expected, abs=1e-15)


@given(epsilons(0.01, 2), st.integers(2, 5))
def test_equal_pure_reports_add_up_exactly(epsilon: float, n: int) -> None:
    m = ex.randomized_response(3, epsilon)
    assert composed_level([m] * n) == pytest.approx(n * ex.LDP(0).level(m), rel=1e-12)
    assert composed_level([ex.LDP(epsilon)] * n) >= composed_level([m] * n) * (1 - 1e-15)


def test_levels_need_not_add_up_when_the_worst_pairs_differ() -> None:
    first = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1))
    second = ex.Mechanism.from_partition([0, 1, 1], ex.LDP(1))
    assert composed_level([first, second]) == pytest.approx(2, rel=1e-12)  # inputs 0 and 2 differ in both
    third = ex.Mechanism.from_partition([0, 1, 0], ex.LDP(1))
    assert composed_level([first, second, third]) == pytest.approx(2, rel=1e-12)  # no pair differs in all three


def test_a_hundred_equal_reports_at_a_small_delta() -> None:
    """Two ratios, 101 sums: against the binomial sum in floats; far below the sum of the levels."""
    epsilon, n, delta = 0.1, 100, 1e-6
    found = composed_level([ex.randomized_response(2, epsilon)] * n, delta)
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    loss = [
        (math.comb(n, i) * p**i * (1 - p) ** (n - i), math.comb(n, i) * (1 - p) ** i * p ** (n - i))
        for i in range(n + 1)
    ]
    assert sum(max(a - math.exp(found) * b, 0) for a, b in loss) == pytest.approx(delta, rel=1e-6)
    assert found < 5 < n * epsilon
    assert composed_level([ex.LDP(epsilon)] * n, delta) == pytest.approx(found, rel=1e-12)


def test_notions_bound_every_choice_of_mechanisms_and_the_quaternary_ones_attain_it() -> None:
    generator = np.random.default_rng(3)
    for _ in range(10):
        n = int(generator.integers(2, 4))
        levels = [round(float(e), 2) for e in generator.uniform(0.2, 1.5, size=n)]
        deltas = [round(float(d), 3) for d in generator.uniform(0, 0.05, size=n)]
        total = round(sum(deltas) + 0.05, 3)
        bound = composed_level([ex.LDP(e, d) for e, d in zip(levels, deltas, strict=True)], total)
        best = composed_level([ex.quaternary(e, d) for e, d in zip(levels, deltas, strict=True)], total)
        assert best <= bound * (1 + 1e-12)
        assert best == pytest.approx(bound, abs=1e-9)
        assert composed_level([ex.randomized_response(4, e) for e in levels], total) <= bound


def test_basic_composition_is_the_bound_without_delta() -> None:
    assert composed_level([ex.LDP("0.5"), ex.LDP("0.3")]) == 0.8
    assert composed_level([ex.LDP("0.5", "0.1"), ex.LDP("0.3")]) == math.inf
    assert composed_level([ex.LDP.from_ratio(3), ex.LDP.from_ratio(2)]) >= math.log(6)


def test_composition_respects_domination() -> None:
    strong, weak = ex.randomized_response(2, 2), ex.randomized_response(2, 1)
    assert dominates(compose(strong, strong), compose(weak, weak))
    assert not dominates(compose(weak, weak), compose(strong, strong))
    assert dominates(compose(weak, weak), weak)


@given(mechanisms())
def test_a_profile_is_the_definition_and_its_inverse(m: ex.Mechanism) -> None:
    profile, q = privacy_profile(m), m.matrix
    deltas = [profile.delta(e) for e in (0, 0.5, 1, 2)]
    for epsilon, found in zip((0, 0.5, 1, 2), deltas, strict=True):
        expected = max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a in q for b in q)
        assert found == pytest.approx(expected, abs=1e-12)
        assert ex.LDP(epsilon, min(found, 0.999999)).holds(m) or found >= 0.999999
    assert deltas == sorted(deltas, reverse=True)
    if 0 < deltas[1] < 0.99:
        assert profile.epsilon(deltas[1]) <= 0.5 + 1e-12
        assert profile.epsilon(deltas[1] * 0.999) > 0.5 - 1e-2


def test_profile_table_and_picture() -> None:
    profile = privacy_profile(ex.randomized_response(3, 1))
    assert str(profile).splitlines()[-1].split() == ["1", "0"]
    assert list(profile.to_frame([0.0, 1.0])["δ"])[1] == 0.0
    assert profile.plot(privacy_profile(ex.quaternary(0.5, 0.1))).axes[0].get_ylabel() == "smallest δ"


@given(pml_mechanisms(), st.integers(2, 3))
def test_pml_levels_composed_stay_below_their_bound(m: ex.Mechanism, n: int) -> None:
    claim = m.privacy
    assert isinstance(claim, ex.PML)
    joint = m.weights[:, :].astype(float) / m.denominator
    product = joint
    for _ in range(n - 1):
        product = (product[:, :, None] * joint[:, None, :]).reshape(m.k, -1)
    prior = claim.prior.values
    reached = float(np.log(product.max(axis=0) / (prior @ product)).max())
    assert reached <= pml_composed_bound([claim] * n) + 1e-9
    assert reached <= -math.log(min(prior)) + 1e-9


def test_pml_composition_is_attained_by_extreme_lift_vectors() -> None:
    """Two reports of 0.1 under (.45, .33, .22): 0.2111225489 is reached, 0.6666 is what LDP levels would say."""
    claim = ex.PML("0.1", [0.45, 0.33, 0.22])
    bound = pml_composed_bound([claim, claim])
    assert bound == pytest.approx(0.2111225489, abs=5e-11)
    first, second = ([math.exp(0.1), math.exp(0.1), 0], [math.exp(0.1), 0, math.exp(0.1)])
    for lift, x in ((first, 2), (second, 1)):
        lift[x] = (1 - sum(p * v for p, v in zip(claim.prior.values, lift, strict=True))) / claim.prior.values[x]
    reached = 0.0
    for a in (first, second):
        for b in (first, second):
            product = np.array(a) * np.array(b)
            reached = max(reached, float(np.log(product.max() / (claim.prior.values @ product))))
    assert reached == pytest.approx(bound, rel=1e-12)
    many = pml_composed_bound([claim] * 60)  # too many products to list
    assert bound < many <= -math.log(0.22) + 1e-12
    wide = ex.PML("0.01", ["1/20"] * 20)
    assert pml_composed_bound([wide, wide]) < -math.log(0.05)


def test_pml_levels_do_not_add_up() -> None:
    """Under PML the second report is about the posterior: two reports may leak more than twice what one leaks."""
    claim = ex.PML("0.05", [0.5, 0.3, 0.2])
    m = ex.pml_high_privacy([0.5, 0.3, 0.2], "0.05")
    twice = compose(m, m)
    assert claim.level(twice) > 2 * 0.05
    assert claim.level(twice) <= composed_level([claim, claim])


@given(pml_mechanisms(), st.integers(0, 2**10))
def test_pml_survives_pre_and_post_processing(m: ex.Mechanism, seed: int) -> None:
    """U → X → Y: what leaks about U is at most what leaks about X, whatever U is."""
    claim = m.privacy
    assert isinstance(claim, ex.PML)
    generator = np.random.default_rng(seed)
    prior = claim.prior.values
    given_x = generator.dirichlet(np.ones(3), size=m.k)  # P(u|x)
    joint = (prior[:, None] * given_x).T  # P(u, x)
    of_u = joint.sum(axis=1)
    channel = (joint / of_u[:, None]) @ m.matrix
    leak = np.log(channel.max(axis=0) / (of_u @ channel)).max()
    assert leak <= claim.epsilon + 1e-9
    after = m.then(generator.dirichlet(np.ones(2), size=m.m).tolist())
    assert ex.PML(1, claim.prior).level(after) <= claim.epsilon * (1 + 1e-12) + 1e-12


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="at least one report"):
        composed_level([])
    with pytest.raises(InvalidParameter, match="give mechanisms, or ex.LDP notions"):
        composed_level([ex.LDP(1), ex.randomized_response(2, 1)])
    with pytest.raises(InvalidParameter, match="the same inputs in the same order"):
        compose(ex.randomized_response(2, 1), ex.randomized_response(3, 1))
    with pytest.raises(TooLarge, match="inputs × reports of a product"):
        compose(*[ex.randomized_response(10, 1)] * 6)
    with pytest.raises(InvalidParameter, match="give at least one mechanism"):
        compose()
    with pytest.raises(InvalidParameter, match="the same prior"):
        composed_level([ex.PML(0.1, [0.5, 0.5]), ex.PML(0.1, [0.4, 0.6])])
