"""What is said of a certificate, claim by claim, for one that is made by hand: a binary response at e^ε = 3."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.certificate import (
    Certificate,
    Chords,
    Concave,
    Contradiction,
    Dual,
    Listed,
    NotKnown,
    Verdict,
    Verification,
    enclosure,
)
from extremal.certificate.arithmetic.enclosures import value_of
from extremal.errors import MalformedFile
from extremal.mechanism.files import content_digest
from extremal.optimize.problem import certify
from extremal.problem import problem_of
from extremal.utility import LevelAtDistortion
from support.refusals import falsely_claiming


def made(rows: list[list[int]], **given: Any) -> ex.Mechanism:
    return ex.Mechanism.from_weights(rows, sum(rows[0]), **given)


RESPONSE = made([[3, 1], [1, 3]], privacy=ex.LDP.from_ratio(3))
CONSTANT = made([[1, 1], [1, 1]], privacy=ex.LDP.from_ratio(3))
VARIATION, KL = ex.TotalVariation([1, 0], [0, 1]), ex.KL(["0.9", "0.1"], ["0.2", "0.8"])
QUARTER = Fraction(1, 4)
TRUTH = Dual((Fraction(1, 8),) * 2, Chords())  # half of the truth is told wrongly at e^ε = 3
TIGHT, WEAK = Dual((QUARTER, QUARTER), Listed()), Dual((QUARTER, Fraction(0)), Listed())
GOOD = Certificate(RESPONSE, VARIATION, 0.5, 0.5, (TIGHT,))


def said(certificate: Certificate) -> tuple[str, str, str, int]:
    outcome = ex.verify(certificate)
    assert bool(outcome) == (outcome.exit_code == 0)
    return str(outcome.privacy), str(outcome.value), str(outcome.optimality), outcome.exit_code


def test_everything_is_proved() -> None:
    assert said(GOOD) == ("proved", "proved", "proved", 0)
    assert said(replace(GOOD, proofs=(WEAK, TIGHT))) == said(replace(GOOD, proofs=(TIGHT, WEAK))) == said(GOOD)
    assert said(replace(GOOD, bound=0.75)) == said(GOOD)


def test_nothing_claimed_is_not_true() -> None:
    outcome = ex.verify(made([[3, 1], [1, 3]]))
    assert not outcome
    assert [str(v) for v in (outcome.privacy, outcome.value, outcome.optimality)] == ["nothing claimed"] * 3
    assert outcome.exit_code == 3
    assert ex.verify(RESPONSE).exit_code == 0
    assert bool(ex.verify(RESPONSE))


def test_a_false_privacy_claim() -> None:
    false = falsely_claiming(RESPONSE, ex.LDP.from_ratio("299/100"))
    assert ex.verify(false).exit_code == 1
    assert said(replace(GOOD, mechanism=false))[0] == "refuted"


@pytest.mark.parametrize(
    "value", [math.nextafter(0.5, 0), math.nextafter(0.5, 1), 0.4, 0.6, math.nan, math.inf, -math.inf]
)
def test_a_value_next_to_an_exact_one_is_false(value: float) -> None:
    assert said(replace(GOOD, value=value, bound=1.0))[1] == "refuted"


def test_a_value_that_is_no_double_lies_between_its_neighbours() -> None:
    low, high = enclosure(KL, RESPONSE)
    assert 0 < high - low < Fraction(1, 10**40)  # type: ignore[operator]
    below = float(low) if Fraction(float(low)) < low else math.nextafter(float(low), 0)
    inside = (below, math.nextafter(below, 1))
    outside = (math.nextafter(below, 0), math.nextafter(inside[1], 1))
    for value in inside:
        assert said(Certificate(RESPONSE, KL, value, 1.0))[1] == "proved"
    for value in outside:
        assert said(Certificate(RESPONSE, KL, value, 1.0))[1] == "refuted"


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"bound": math.nan}, "refuted"),
        ({"bound": math.nextafter(0.5, 0)}, "refuted"),
        ({"bound": -math.inf}, "refuted"),
        ({"value": 0.6, "bound": 0.55}, "refuted"),
        ({"value": 0.4, "bound": 0.45}, "refuted"),
        ({"value": 0.4, "bound": 0.45, "proofs": ()}, "refuted"),
        ({"value": 0.6, "bound": 0.55, "proofs": ()}, "refuted"),
        ({"proofs": (WEAK,)}, "refuted"),
        ({"proofs": (TIGHT, Dual((QUARTER,), Listed()))}, "refuted"),
        ({"proofs": (TIGHT, Concave(QUARTER))}, "refuted"),
        ({"proofs": ()}, "not proven"),
        ({"bound": math.inf, "proofs": ()}, "proved"),
        ({"mechanism": falsely_claiming(RESPONSE, None)}, "not proven"),
    ],
    ids=str,
)
def test_optimality(changes: dict[str, Any], verdict: str) -> None:
    assert said(replace(GOOD, **changes))[2] == verdict


def test_a_bound_of_nothing_is_trivial_for_a_cost_only() -> None:
    nothing = Certificate(CONSTANT, VARIATION, 0.0, 0.0, (WEAK,))
    assert said(nothing)[1:3] == ("proved", "refuted")
    hamming = ex.Hamming(["0.5", "0.5"])
    cost = Certificate(RESPONSE, hamming, 0.25, 0.0)
    assert said(cost)[1:] == ("proved", "proved", 0)
    assert said(replace(cost, bound=-1.0))[2] == "proved"
    assert said(replace(cost, bound=0.25))[2] == "not proven"
    assert said(replace(cost, bound=0.25, proofs=(TRUTH,)))[2] == "proved"
    assert said(replace(cost, bound=0.25, proofs=(TRUTH, Dual((Fraction(0),) * 2, Chords()))))[2] == "proved"
    assert said(replace(cost, bound=0.2, proofs=(TRUTH,)))[2] == "proved"
    assert said(replace(cost, bound=math.nextafter(0.25, 1), proofs=(TRUTH,)))[2] == "refuted"
    assert said(replace(cost, value=0.2, bound=0.22, proofs=(TRUTH,)))[1:3] == ("refuted", "refuted")


def test_an_infinite_cost_is_not_a_trivial_bound() -> None:
    level = LevelAtDistortion(["0.5", "0.5"], "0.1")  # the response has distortion 1/4
    assert said(Certificate(RESPONSE, level, math.inf, math.inf))[1:3] == ("proved", "not proven")
    enough = LevelAtDistortion(["0.5", "0.5"], "0.25")
    assert said(Certificate(RESPONSE, enough, math.log(3), 0.0))[1] in ("proved", "refuted")
    assert enclosure(enough, RESPONSE)[0] < 1.1
    assert enclosure(level, RESPONSE) == (math.inf, math.inf)


def test_infinite_values() -> None:
    reveal = made([[1, 0], [0, 1]])
    disjoint = ex.KL([1, 0], [0, 1])
    assert enclosure(disjoint, reveal) == (math.inf, math.inf)
    assert said(Certificate(reveal, disjoint, math.inf, math.inf))[1] == "proved"
    assert said(Certificate(reveal, disjoint, 1.0, math.inf))[1] == "refuted"
    assert enclosure(ex.Average([disjoint, VARIATION]), reveal) == (math.inf, math.inf)
    assert enclosure(ex.WorstCase([disjoint, VARIATION]), reveal) == (1, 1)
    assert enclosure(ex.WorstCase([VARIATION, ex.TotalVariation(["0.5", "0.5"], ["0.25", "0.75"])]), reveal) == (
        QUARTER,
        QUARTER,
    )
    assert (
        enclosure(ex.Average([VARIATION, ex.TotalVariation(["0.5", "0.5"], ["0.25", "0.75"])]), reveal)
        == (Fraction(5, 8),) * 2
    )


def test_information_of_inputs_that_share_a_weight() -> None:
    mechanism = made([[3, 1], [1, 3], [1, 3]])
    low, high = enclosure(ex.MutualInformation(["0.5", "0.25", "0.25"]), mechanism)
    assert low <= Fraction(0.75 * math.log(1.5) + 0.25 * math.log(0.5)) + Fraction(1, 10**15)
    assert high >= Fraction(0.75 * math.log(1.5) + 0.25 * math.log(0.5)) - Fraction(1, 10**15)


def test_a_contradiction_is_refuted_and_never_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dual, "prove", lambda *_: Fraction(2, 5))
    assert said(GOOD)[2] == "refuted"
    assert "contradict" in ex.verify(GOOD).reasons[-1]
    with pytest.raises(Contradiction):
        certify(RESPONSE, VARIATION, [TIGHT])


@pytest.mark.parametrize("proved", [Fraction(2, 3), Fraction(5, 7), Fraction(1, 2), Fraction(10, 19)])
def test_a_bound_is_rounded_outward(proved: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dual, "prove", lambda *_: proved)
    bound = certify(RESPONSE, VARIATION, [TIGHT]).bound
    assert Fraction(math.nextafter(bound, 0)) < proved <= Fraction(bound)
    monkeypatch.setattr(Dual, "prove", lambda *_: proved / 4)
    bound = certify(RESPONSE, ex.Hamming(["0.5", "0.5"]), [TRUTH]).bound
    assert Fraction(bound) <= proved / 4 < Fraction(math.nextafter(bound, 1))


def test_a_refused_proof_is_never_certified() -> None:
    with pytest.raises(Contradiction):
        certify(RESPONSE, VARIATION, [Dual((QUARTER,), Listed())])
    assert certify(RESPONSE, VARIATION, [TIGHT]).bound == 0.5


def test_what_the_kernel_does_not_know_is_not_proven() -> None:
    class Mine(ex.TotalVariation):
        pass

    assert said(replace(GOOD, utility=Mine([1, 0], [0, 1])))[1:] == ("not proven", "not proven", 3)
    assert said(replace(GOOD, utility=None))[1:] == ("not proven", "not proven", 3)
    three = ex.TotalVariation(["0.5", "0.5", "0"], ["0", "0.5", "0.5"])
    assert said(replace(GOOD, utility=three))[1:3] == ("not proven", "not proven")
    with pytest.raises(NotKnown):
        value_of(problem_of(three), RESPONSE)
    with pytest.raises(NotKnown):
        enclosure(ex.Hamming(["0.5", "0.5", "0"]), RESPONSE)
    with pytest.raises(NotKnown):
        enclosure(ex.CDF(3), RESPONSE)
    with pytest.raises(NotKnown):
        enclosure(ex.Hamming(["0.5", "0.5"]), made([[3, 1], [1, 3]], outputs=["a", "b"]))


def test_a_proof_about_what_the_kernel_does_not_know_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any) -> Fraction:
        raise NotKnown("nobody knows", parameter="utility")

    monkeypatch.setattr(Concave, "prove", unknown)
    for proofs in ((Concave(QUARTER),), (TIGHT, Concave(QUARTER)), (Concave(QUARTER), TIGHT)):
        assert said(replace(GOOD, proofs=proofs))[1:] == ("proved", "not proven", 3)


P, Q = ["0.5", "0.3", "0.2"], ["0.1", "0.6", "0.3"]


@pytest.mark.parametrize(
    "source",
    [
        ex.SourceClass([P, Q]),
        ex.SourceClass([Q, P]),
        ex.SourceClass.ball(P, "0.15"),
        ex.SourceClass.ball(P, "0.7"),
        ex.SourceClass.permutation_invariant(Q),
        ex.SourceClass.simplex(3),
    ],
    ids=repr,
)
def test_the_worst_cost_of_a_class_is_that_of_an_extreme_prior(source: Any) -> None:
    distances = [["0.1", "1", "3"], ["0.5", "0", "0.25"], ["2", "1", "0"]]
    rows = [[5, 2, 1], [1, 6, 1], [3, 0, 5]]
    mechanism = made(rows)
    losses = [
        sum(Fraction(w, 8) * Fraction(d) for w, d in zip(row, ds, strict=True))
        for row, ds in zip(rows, distances, strict=True)
    ]
    worst = max(sum(p.fraction(x) * losses[x] for x in range(3)) for p in source.vertices())
    cost = ex.Distortion(source, [[float(d) for d in row] for row in distances])
    assert enclosure(cost, mechanism) == (worst, worst)
    told = [1 - Fraction(rows[x][x], 8) for x in range(3)]
    worst = max(sum(p.fraction(x) * told[x] for x in range(3)) for p in source.vertices())
    assert enclosure(ex.Hamming(source), mechanism) == (worst, worst)


def test_a_file_is_whole_or_malformed(tmp_path: Path) -> None:
    path = GOOD.save(tmp_path / "c.json")
    assert ex.verify(path)
    content = json.loads(path.read_text())

    def written(rehash: bool = True, **changes: Any) -> Path:
        new = {**content, **changes}
        if rehash:
            new["hash"] = content_digest({k: v for k, v in new.items() if k != "hash"})
        path.write_text(json.dumps(new))
        return path

    assert ex.verify(written(version="1.7"))
    assert ex.verify(written(bound="inf", proofs=[]))
    for changes in (
        {"version": "2.0"},
        {"version": None},
        {"format": "extremal"},
        {"proofs": {}},
        {"proofs": ["dual"]},
        {"utility": {"utility": "Hearsay"}},
        {"utility": []},
        {"worst_prior": []},
        {"worst_prior": {"prior": []}},
        {"worst_prior": {"prior": [], "mix": [1]}},
        {"value": 0.5},
        {"value": "nan"},
        {"value": "1/2"},
        {"bound": "1e999"},
        {"mechanism": []},
    ):
        with pytest.raises(MalformedFile):
            ex.verify(written(**changes))
    with pytest.raises(MalformedFile, match="hash"):
        ex.verify(written(rehash=False, bound="0.75"))


def test_every_pair_of_verdicts() -> None:
    proved, refuted, unproven, nothing = Verdict
    for verdicts in itertools.product(Verdict, repeat=3):
        outcome = Verification(*verdicts, ())
        claimed = [v for v in verdicts if v is not nothing]
        assert bool(outcome) == (bool(claimed) and set(claimed) == {proved})
        assert outcome.exit_code == (1 if refuted in verdicts else 0 if outcome else 3)
    assert [bool(v) for v in (proved, refuted, unproven, nothing)] == [True, False, False, False]
