"""PML for every prior of a class: what holds for all, what it costs, and pilot samples."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Chords, Dual, OnePrior
from extremal.certificate.arithmetic.cones import cone_of
from extremal.exact import polytope
from extremal.problem import problem_of
from extremal.testing.designs import check
from support.refusals import check_refusals, with_proof

P = [0.5, 0.3, 0.2]
CLASSES = (
    ex.SourceClass([P, [0.4, 0.4, 0.2]]),
    ex.SourceClass.ball(P, 0.05),
    ex.SourceClass.permutation_invariant(P),
    ex.SourceClass.ordered([P, ["1/3", "1/3", "1/3"]]),
)


@pytest.mark.parametrize("source", CLASSES, ids=lambda s: s.kind)
@pytest.mark.parametrize("utility", [ex.MutualInformation(P), ex.KL(P, [0.2, 0.3, 0.5])], ids=lambda u: u.name)
def test_it_holds_for_every_prior_and_costs_something(source: Any, utility: Any) -> None:
    found = check(ex.design(ex.PML(0.5, source), utility))
    for prior in source.vertices():
        assert ex.PML(0.5, prior).holds(found.mechanism)
    assert found.value < ex.design(ex.PML(0.5, P), utility).value
    assert found.value > ex.design(ex.LDP(0.5), utility).value
    assert "holds for every prior" in found.summary()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_whole_simplex_is_local_differential_privacy(k: int) -> None:
    rows = list(cone_of(problem_of(ex.PML(0.7, ex.SourceClass.simplex(k))), k).rays())
    assert len(rows) == 2**k - 2
    utility = ex.MutualInformation(np.arange(1, k + 1) / (k * (k + 1) / 2))
    found = check(ex.design(ex.PML(0.7, ex.SourceClass.simplex(k)), utility))
    assert found.value == pytest.approx(ex.design(ex.LDP(0.7), utility).value, rel=1e-9)


def test_one_prior_twice_gives_the_lift_vectors() -> None:
    source = ex.SourceClass([P, P])
    columns = polytope.as_columns(list(cone_of(problem_of(ex.PML(0.5, source)), 3).rays()))
    lifts = columns / (np.array(P) @ columns)
    assert lifts.shape[1] == 5  # as in GSO Fig. 1 at ε = 0.5
    utility = ex.MutualInformation(P)
    assert ex.design(ex.PML(0.5, source), utility).value == pytest.approx(
        ex.design(ex.PML(0.5, P), utility).value, rel=1e-9
    )


def test_worst_case_over_a_class() -> None:
    pair = [ex.KL(P, [0.2, 0.3, 0.5]), ex.KL([0.2, 0.3, 0.5], P)]
    found = check(ex.design(ex.PML(0.5, CLASSES[1]), ex.WorstCase(pair)))
    assert found.value <= min(ex.design(ex.PML(0.5, CLASSES[1]), u).upper_bound for u in pair)


def test_a_class_too_large_to_list_gets_a_mechanism_that_holds_and_an_honest_gap() -> None:
    p = np.arange(1, 12) / 66
    source = ex.SourceClass.ball(p, 0.01)
    utility = ex.TotalVariation(p, p[::-1])
    found = ex.design(ex.PML(0.5, source), utility)
    assert ex.verify(found)
    assert 0 < found.gap < 0.1
    assert ex.PML(0.5, source).holds(found.mechanism)
    assert "smaller ε" in found.method
    worst = source.worst_case(-found.mechanism.matrix[:, 0])[1]
    assert ex.PML(0.5, worst).holds(found.mechanism)
    everything = ex.design(ex.PML(0.5, ex.SourceClass.simplex(11)), utility)
    assert ex.LDP(0.5).holds(everything.mechanism)
    (proof,) = found.certificate.proofs
    assert isinstance(proof, OnePrior)
    assert isinstance(proof.proof, Dual)
    assert isinstance(proof.proof.reason, Chords)
    assert not ex.verify(with_proof(found, proof=dataclasses.replace(proof.proof, alpha=(Fraction(0),) * 11)))
    stranger = tuple(Fraction(w) for w in range(11, 0, -1))
    assert not ex.verify(with_proof(found, prior=stranger))  # not in the ball
    check_refusals(found, ex.TotalVariation(p, p))


def test_level_zero_and_infinite_utilities() -> None:
    assert ex.design(ex.PML(0, CLASSES[1]), ex.MutualInformation(P)).mechanism.row_classes == 1
    several, endless = ex.SourceClass([P, [0.4, 0.4, 0.2]]), ex.KL([0.5, 0.5, 0], [0, 0.5, 0.5])
    for utility in (endless, ex.Average([endless, ex.KL(P, [0.2, 0.3, 0.5])])):
        assert check(ex.design(ex.PML(3, several), utility)).value == math.inf
    least = min(Fraction(str(P[0])), Fraction("0.4"))  # certainty about input 0 is allowed when e^ε times this is 1
    assert math.isfinite(check(ex.design(ex.PML(math.log(1 / least) - 1e-3, several), endless)).value)
    assert check(ex.design(ex.PML(math.log(1 / least) + 1e-3, several), endless)).value == math.inf
    other = ex.KL(P, [0.2, 0.3, 0.5])
    mixed = check(ex.design(ex.PML(3, several), ex.WorstCase([endless, other])))
    assert mixed.value == pytest.approx(check(ex.design(ex.PML(3, several), other)).value, rel=1e-9)
    ball = ex.SourceClass.ball([0.1] * 10, 0.1)  # too many rays to list: the proof is about one prior
    endless, other = ex.KL([0.1] * 10, [0] * 5 + [0.2] * 5), ex.KL([0.1] * 10, [0.05] * 5 + [0.15] * 5)
    check(ex.design(ex.PML(2, ball), ex.WorstCase([endless, other])))


class TestPilotSamples:
    def test_the_radius_is_the_smaller_of_two_bounds(self) -> None:
        few = ex.SourceClass.from_counts([500, 300, 200], 0.95)
        assert few.priors[0].weights == (5, 3, 2)
        union = math.sqrt((math.log(6) + math.log(20)) / 2000)
        assert float(few.radius) == pytest.approx(union, abs=2e-6)  # type: ignore[attr-defined]
        assert float(few.radius) >= union  # type: ignore[attr-defined]
        many = ex.SourceClass.from_counts([10] * 1000, 0.95)
        mean = math.sqrt(999 / 10_000) / 2 + math.sqrt(math.log(20) / 20_000)
        assert float(many.radius) == pytest.approx(mean, abs=2e-6)  # type: ignore[attr-defined]
        assert float(ex.SourceClass.from_counts([1, 0], 0.999).radius) == 1  # type: ignore[attr-defined]
        assert float(ex.SourceClass.from_counts([1] * 1200, 0.9).radius) < 1  # type: ignore[attr-defined]

    @pytest.mark.parametrize("prior", [P, [0.9, 0.06, 0.04], [0.25] * 4], ids=str)
    def test_coverage(self, prior: list[float]) -> None:
        """The true prior lies in the ball at least as often as promised; a ball of a third of the radius misses it far
        too often."""
        generator, misses, narrow = np.random.default_rng(3), 0, 0
        trials, n, confidence = 1500, 400, 0.9
        for counts in generator.multinomial(n, prior, size=trials):
            source = ex.SourceClass.from_counts(counts.tolist(), confidence)
            distance = np.abs(counts / n - prior).sum() / 2
            misses += distance > float(source.radius)  # type: ignore[attr-defined]
            narrow += distance > float(source.radius) / 3  # type: ignore[attr-defined]
        assert misses <= trials * (1 - confidence)
        assert narrow > trials * (1 - confidence)

    def test_an_estimated_prior_still_carries_a_guarantee(self) -> None:
        truth, generator = [0.5, 0.3, 0.2], np.random.default_rng(8)
        counts = generator.multinomial(2000, truth)
        source = ex.SourceClass.from_counts(counts.tolist(), 0.99)
        found = check(ex.design(ex.PML(0.5, source), ex.MutualInformation(counts / 2000)))
        assert ex.PML(0.5, truth).holds(found.mechanism)

    @pytest.mark.parametrize(
        ("counts", "confidence", "message"),
        [
            ([5], 0.9, "at least 2 symbols"),
            ([0, 0], 0.9, "with some observations"),
            ([1, -1], 0.9, r"counts\[1\] must be at least 0"),
            ([1, 0.5], 0.9, r"counts\[1\] must be a whole number"),
            ([1, 1], 1, "confidence must lie between 0 and 1"),
            ([1, 1], 0, "confidence must lie between 0 and 1"),
        ],
    )
    def test_bad_counts(self, counts: list[Any], confidence: float, message: str) -> None:
        with pytest.raises(ex.errors.InvalidParameter, match=message):
            ex.SourceClass.from_counts(counts, confidence)
