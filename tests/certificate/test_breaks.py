"""False optima that floats with allowances once let pass, and honest designs that they spoiled: each as a statement
about the kernel, against fifty digits or another program where a truth is needed."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import extremal as ex
from extremal.certificate import (
    Certificate,
    Chords,
    Contradiction,
    Dual,
    Listed,
    NotKnown,
    Order,
    Refused,
    Sets,
    Verdict,
    enclosure,
    proof_from_json,
    verify,
)
from extremal.errors import MalformedFile
from extremal.mechanism.files import content_digest
from extremal.optimize.design import finished
from extremal.optimize.problem import Solution, certify
from extremal.testing.designs import check
from extremal.utility.distortion import LevelAtDistortion

P0, P1 = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
LINE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def decimals(numbers: Any) -> tuple[Fraction, ...]:
    return tuple(Fraction(repr(float(x))) for x in numbers)


def written(path: Path, content: dict[str, Any]) -> Path:
    content = {k: v for k, v in content.items() if k != "hash"}
    path.write_text(json.dumps({**content, "hash": content_digest(content)}))
    return path


def ratios(utility: Any) -> list[Fraction]:
    """The different likelihood ratios, in order."""
    p0, p1 = utility.pair.p0, utility.pair.p1
    return sorted({p0.fraction(x) / p1.fraction(x) for x in range(utility.k)})


def around(utility: Any) -> tuple[Fraction, ...]:
    """Ends next to each likelihood ratio."""
    tiny = Fraction(1, 10**150)
    return tuple(r * (1 + s * tiny) for r in ratios(utility) for s in (-1, 1))


def test_b1_a_certificate_without_a_utility_proves_nothing(tmp_path: Path) -> None:
    constant = ex.Mechanism.from_matrix([[0.5, 0.5]] * 3, privacy=ex.LDP(1))
    content = {**Certificate(constant, ex.KL(P0, P1), 1e9, 1e9).to_json(), "utility": None}
    outcome = verify(written(tmp_path / "c.json", content))
    assert (outcome.exit_code, outcome.privacy, outcome.optimality) == (3, Verdict.PROVED, Verdict.NOT_PROVEN)


def test_b1_the_words_user_function_in_a_label_switch_nothing_off(tmp_path: Path) -> None:
    labels = ["user function", "b"]
    utility = ex.Distortion([0.5, 0.5], [[0, 1], [1, 0]], outputs=labels)
    m = ex.Mechanism.from_matrix([[0.5, 0.5]] * 2, privacy=ex.LDP(1), outputs=labels)
    outcome = verify(Certificate(m, utility, 1e9, 1e9).save(tmp_path / "c.json"))
    assert (outcome.value, outcome.exit_code) == (Verdict.REFUTED, 1)


def test_b2_a_negative_node_is_refused() -> None:
    utility, privacy, zero = ex.JensenShannon(P0, P1), ex.MetricPrivacy(1, LINE), (Fraction(0),) * 3
    with pytest.raises(Refused, match="nodes must increase"):
        Dual(zero, Chords((Fraction(-(10**9)), Fraction("6.4")))).bound(privacy, utility)
    assert (
        Dual(zero, Chords((Fraction(0), Fraction("6.4")))).bound(privacy, utility) >= ex.design(privacy, utility).value
    )


@pytest.mark.parametrize("k", [20, 100])
def test_b3_ratios_that_floats_cannot_tell_apart_are_ordered_exactly(k: int) -> None:
    large, small, p = Fraction(1, 10**19), Fraction(1, 10**25), Fraction(1, k)
    changes = [large, *[small] * (k // 2 - 1), *[-small] * (k // 2 - 1), -large]
    utility, privacy = ex.KL([p + d for d in changes], [p] * k), ex.LDP(30)
    found = check(ex.design(privacy, utility))
    assert len(ratios(utility)) == 4
    reached, _ = enclosure(utility, ex.randomized_response(k, 30))
    assert found.upper_bound >= float(reached)
    with mp.workdps(80):
        masses = [mp.mpf(1) / k + mp.mpf(d.numerator) / d.denominator for d in changes]
        e = mp.exp(30)
        full = sum(
            (1 + (e - 1) * m) / (e + k - 1) * mp.log((1 + (e - 1) * m) / (1 + (e - 1) * mp.mpf(1) / k)) for m in masses
        )
    assert found.upper_bound >= float(full) * (1 - 1e-12)


@pytest.mark.parametrize("apart", ["1e-16", "1e-20", "1e-30", "1e-100"])
def test_b3_hypotheses_next_to_each_other(apart: str) -> None:
    d, third = Fraction(apart), Fraction(1, 3)
    utility, privacy = ex.TotalVariation([third + d, third, third - d], [third] * 3), ex.LDP(1)
    found = check(ex.design(privacy, utility))
    assert found.value == pytest.approx(math.tanh(0.5) * float(d), rel=1e-12)
    utility, privacy = ex.KL([third + d, third, third - d], [third] * 3), ex.LDP(8)
    low, high = enclosure(utility, ex.randomized_response(3, 8))
    close = Order(Fraction(high), around(utility)).bound(privacy, utility)
    assert low <= close
    with pytest.raises(Refused, match="ends must increase"):
        Order(Fraction(high), around(utility)[::-1]).bound(privacy, utility)
    wide = Order(Fraction(high), (Fraction(1, 2), Fraction(2))).bound(privacy, utility)
    assert wide >= 100 * close  # a cell of all symbols, its ends far outside of their ratios


def test_b4_prices_below_the_optimum_have_no_tree() -> None:
    utility, privacy = ex.MutualInformation([0.10998, 0.283096, 0.236253, 0.219959, 0.150712]), ex.LDP(2)
    (honest,) = ex.design(privacy, utility).certificate.proofs
    assert isinstance(honest, Dual)
    assert isinstance(honest.reason, Sets)
    assert honest.bound(privacy, utility) > 0.4662
    for share in ("0.98", "0.9999", "0.999999999"):
        with pytest.raises(Refused):
            replace(honest, alpha=tuple(a * Fraction(share) for a in honest.alpha)).bound(privacy, utility)


@pytest.mark.parametrize("tiny", ["1e-6", "1e-12", "1e-16", "1e-20", "1e-30", "1e-300"])
def test_b5_ratios_near_0(tiny: str) -> None:
    t, prior = Fraction(tiny), [Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)]
    first = [t, Fraction(6, 10) - t, Fraction(4, 10)]
    utility, privacy = ex.ReverseKL(first, prior), ex.PML(1, prior)
    nodes = sorted({t / 2, t, 2 * t, *decimals(np.geomspace(1e-12, 4, 200))})
    with mp.workdps(50):
        best = mp.mpf(0)
        for above in itertools.product((0, 1), repeat=3):
            for j in range(3):
                rest = (1 - sum(_mpf(prior[x]) * mp.e for x in range(3) if above[x])) / _mpf(prior[j])
                if above[j] or not 0 <= rest <= mp.e:
                    continue
                q = [mp.e if above[x] else rest if x == j else mp.mpf(0) for x in range(3)]
                m0, m1 = (sum(_mpf(w) * v for w, v in zip(p, q, strict=True)) for p in (first, prior))
                best = max(best, m0 - m1 - m1 * mp.log(m0 / m1))
        proved = Dual((Fraction(0),) * 3, Chords(tuple(nodes))).bound(privacy, utility)
        assert isinstance(proved, Fraction)
        assert _mpf(proved) >= best * (1 - mp.mpf(10) ** -45)


def _mpf(number: Fraction) -> Any:
    return mp.mpf(number.numerator) / number.denominator


def test_b5_a_hockey_stick_with_a_kink_next_to_0() -> None:
    utility = ex.HockeyStick(P1, P0, Fraction(1, 10**18))
    assert 0 <= Dual((Fraction(0),) * 3, Chords((Fraction(1, 10**18),))).bound(ex.PML(1, P0), utility) < 1


@pytest.mark.parametrize("alpha", [["1.7e308", "0", "0"], ["-1.7e308", "1.7e308", "0"], ["1e308", "-1e308", "1e-308"]])
def test_b6_huge_numbers_prove_nothing_false(alpha: list[str]) -> None:
    numbers, information = tuple(Fraction(a) for a in alpha), ex.MutualInformation(P0)
    for proof in (Dual(numbers, Listed()), Dual(numbers, Chords((Fraction("0.2"), Fraction(1), Fraction(5))))):
        assert proof.bound(ex.LDP(1), ex.KL(P0, P1)) > 0.05
    for privacy in (ex.PML(0.1, P0), ex.LIP(1, P0), ex.PML(0.1, ex.SourceClass([P0, [0.3, 0.4, 0.3]]))):
        assert Dual(numbers, Listed()).bound(privacy, information) > ex.design(privacy, information).value
    small = (Fraction(-(10**308)), Fraction(10**308), Fraction(0))
    with pytest.raises(Refused):
        Dual(small, Sets((Fraction(1, 2),), ((0,),))).bound(ex.LDP(1), information)


@pytest.mark.parametrize(
    "bad", ["nan", "NaN", "inf", "-inf", "1e401", "1" * 401, "1/3", "0x1", 1.5, None, True, [], ""], ids=repr
)
def test_b6_what_is_no_number_is_malformed(bad: Any) -> None:
    with pytest.raises(MalformedFile):
        proof_from_json({**Dual((Fraction(0),) * 3, Listed()).to_json(), "alpha": [bad, "0", "0"]})


@pytest.mark.parametrize("scale", [1, 1000, 10**6])
def test_b7_a_map_in_metres(scale: int) -> None:
    side, diagonal = 600 * scale, Fraction("848.528") * scale
    square = [
        [0, side, diagonal, side],
        [side, 0, side, diagonal],
        [diagonal, side, 0, side],
        [side, diagonal, side, 0],
    ]
    privacy = ex.MetricPrivacy(1, np.array([[Fraction(d) for d in row] for row in square], dtype=object))
    found = check(ex.design(privacy, ex.MutualInformation([0.25] * 4)))
    assert found.value == pytest.approx(math.log(4), rel=1e-12)
    told = check(ex.design(privacy, ex.KL([0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7])))
    assert told.value == pytest.approx(0.6 * math.log(7), rel=1e-12)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-8", "1e-6", "1e-3", "50", "100"])
def test_b8_small_and_large_epsilon(epsilon: str) -> None:
    random = np.random.default_rng(1)
    for _ in range(5):
        p0, p1 = random.dirichlet(np.ones(4)), random.dirichlet(np.ones(4))
        found = check(ex.design(ex.LDP(epsilon), ex.KL(p0, p1)), 1e-6)
        low, high = enclosure(found.utility, found.mechanism)
        assert low <= Fraction(found.upper_bound)
        assert abs(Fraction(found.value) - Fraction(low)) <= abs(Fraction(high)) * Fraction(1, 10**15)


def test_b8_small_epsilon_against_fifty_digits() -> None:
    """KL at ε → 0 is ε²/2·max over sets of (P₀(T) − P₁(T))²·…: the full program of two symbols in closed form."""
    for epsilon in ("1e-9", "1e-6", "1e-4"):
        found = check(ex.design(ex.LDP(epsilon), ex.KL([0.7, 0.3], [0.4, 0.6])), 1e-6)
        with mp.workdps(60):
            e = mp.exp(mp.mpf(epsilon))
            first, second = ((mp.mpf(1) + (e - 1) * mp.mpf(p) / 10) / (e + 1) for p in (7, 4))
            value = first * mp.log(first / second) + (1 - first) * mp.log((1 - first) / (1 - second))
        assert found.upper_bound >= float(value) * (1 - 1e-15)
        assert found.value == pytest.approx(float(value), rel=1e-6)


def test_b10_a_search_over_lifts_that_lies_is_refused() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        p = random.dirichlet(np.ones(6))
        found = ex.design(ex.PML(1, p), ex.MutualInformation(p))
        (honest,) = found.certificate.proofs
        assert isinstance(honest, Dual)
        assert isinstance(honest.reason, Sets)
        share = 1 - Fraction(1, 10 ** int(random.integers(3, 7)))
        lies = (
            replace(honest, alpha=tuple(a * share for a in honest.alpha)),
            Dual(
                tuple(a * share for a in honest.alpha),
                replace(honest.reason, trees=tuple((0,) for _ in honest.reason.trees)),
            ),
        )
        for lie in lies:
            with pytest.raises(Refused):
                lie.bound(found.mechanism.privacy, found.utility)


def test_b11_a_large_order_is_finite() -> None:
    utility = ex.AlphaDivergence([0.5, 0.5], [0.9, 0.1], 900)
    found = ex.design(ex.LDP(1), utility)
    low, _ = enclosure(utility, found.mechanism)
    assert 0 < low < math.inf
    assert ex.verify(found)


def test_b12_the_distance_of_a_pair_is_its_own() -> None:
    """Two distances with one double, and a ratio between the two that they allow: each pair is held to its own."""
    near, far = Fraction(1), 1 + Fraction(1, 10**17)
    privacy = ex.MetricPrivacy(1, np.array([[0, far, far], [far, 0, near], [far, near, 0]], dtype=object))
    low, high, whole = 10**17, 271828182845904524, 1 << 61  # e·low is 271828182845904523.54
    for x, z, holds in ((0, 1, True), (2, 0, True), (1, 2, False), (2, 1, False)):
        first = [(low + high) // 2] * 3
        first[x], first[z] = high, low
        m = ex.Mechanism.from_weights([[w, whole - w] for w in first], whole)
        assert privacy.holds(m) is holds
        assert (privacy.level(m) <= 1) is holds


def test_b13_simplex_of_two_inputs() -> None:
    infinite = ex.design(ex.PML(2, [Fraction(5, 13), Fraction(8, 13)]), ex.KL([Fraction(3, 4), Fraction(1, 4)], [0, 1]))
    assert (infinite.value, infinite.gap) == (math.inf, 0.0)
    assert ex.verify(infinite)
    privacy, utility = (
        ex.PML(1, [Fraction(8, 11), Fraction(3, 11)]),
        ex.SquaredHellinger([0, 1], [Fraction(1, 2), Fraction(1, 2)]),
    )
    with mp.workdps(50):
        lifts = [(mp.mpf(11) / 8, mp.mpf(0)), ((1 - 3 * mp.e / 11) * 11 / 8, mp.e)]
        values = [(mp.sqrt(b) - mp.sqrt((a + b) / 2)) ** 2 for a, b in lifts]
        second = 1 / lifts[1][1]
        best = (1 - second * lifts[1][0]) / lifts[0][0] * values[0] + second * values[1]
    found = check(ex.design(privacy, utility), 1e-9)
    assert found.upper_bound >= float(best) * (1 - 1e-15)
    assert found.value == pytest.approx(float(best), rel=1e-9)


def test_b14_a_class_of_ones_own_is_not_certified_as_its_parent() -> None:
    class Fake(ex.KL):  # type: ignore[misc, name-defined]
        def column_values(self, columns: Any) -> Any:
            return -columns.sum(axis=0)

    utility, proof = Fake([0.5, 0.5], [0.9, 0.1]), Dual((Fraction(1), Fraction(1)), Listed())
    with pytest.raises(NotKnown):
        enclosure(utility, ex.randomized_response(2, 1))
    with pytest.raises(NotKnown):
        proof.bound(ex.LDP(1), utility)
    assert verify(Certificate(ex.randomized_response(2, 1), utility, 1.0, 1.0, (proof,))).exit_code == 3


def test_b15_a_distortion_that_is_exceeded_by_one_weight_is_exceeded() -> None:
    whole = 1 << 62
    m = ex.Mechanism.from_weights([[whole // 2 - 1, whole // 2 + 1, 0], [0, whole, 0], [0, 0, whole]])
    utility = LevelAtDistortion(ex.SourceClass([[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]]), Fraction(1, 4))
    assert enclosure(utility, m) == (math.inf, math.inf)


def test_m1_a_value_above_its_bound_is_refuted() -> None:
    utility, m = ex.KL([0.7, 0.3], [0.4, 0.6]), ex.randomized_response(2, 1)
    low, _ = enclosure(utility, m)
    proof = Order(Fraction(low), around(utility))
    outcome = verify(Certificate(m, utility, float(low), float(low) * (1 - 1e-9), (proof,)))
    assert (outcome.optimality, outcome.exit_code) == (Verdict.REFUTED, 1)
    good = certify(m, utility, [proof])
    assert verify(good)
    assert good.bound >= good.value


def test_m1_a_design_that_contradicts_its_proof_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Order, "bound", lambda *_: Fraction(1, 100))
    with pytest.raises(Contradiction, match="the proof contradicts the value"):
        ex.design(ex.LDP(1), ex.KL([0.7, 0.3], [0.4, 0.6]), proofs=["order"])


def test_m1_a_design_whose_proof_is_refused_is_never_returned() -> None:
    utility, m = ex.KL([0.7, 0.3], [0.4, 0.6]), ex.randomized_response(2, 1)
    with pytest.raises(Contradiction, match="a proof of this design is refused"):
        finished(utility, Solution(m, 1.0, "a guess", (Order(Fraction(-1), (Fraction(1),)),)))


def test_m1_a_bound_that_a_user_function_beats_is_none() -> None:
    utility, m = ex.FDivergence([0.7, 0.3], [0.4, 0.6], lambda x: (x - 1) ** 2), ex.randomized_response(2, 1)
    found = finished(utility, Solution(m, utility(m) * 0.999, "a guess"))
    assert (found.value, found.upper_bound, found.gap) == (utility(m), math.inf, math.inf)


def test_equal_hypotheses_have_gap_0() -> None:
    equal = ex.KL([0.3, 0.3, 0.4], [0.3, 0.3, 0.4])
    for privacy in (ex.LDP(1), ex.PML(1, P0), ex.LIP(1, P0), ex.MetricPrivacy(1, LINE)):
        found = check(ex.design(privacy, equal))
        assert (found.value, found.upper_bound, found.gap) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("epsilon", [5, 10, 40, 100])
def test_metric_total_variation_at_large_epsilon(epsilon: int) -> None:
    random = np.random.default_rng(epsilon)
    for k in (3, 6):
        line = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
        at = random.random((k, 2))
        plane = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
        for apart in (line, plane):
            p0, p1 = random.dirichlet(np.ones(k)), random.dirichlet(np.ones(k))
            found = check(ex.design(ex.MetricPrivacy(epsilon, apart), ex.TotalVariation(p0, p1)), 1e-8)
            assert found.upper_bound <= 1


@pytest.mark.parametrize("mass", ["0", "1e-300", "1e-30"])
def test_masses_of_0_and_next_to_it(mass: str) -> None:
    tiny = Fraction(mass)
    utility = ex.KL([tiny, Fraction(1, 2), Fraction(1, 2) - tiny], [Fraction(1, 2), Fraction(1, 2) - tiny, tiny])
    check(ex.design(ex.LDP(1), utility))
    check(ex.design(ex.MetricPrivacy(1, LINE), utility), 1e-8)
