"""Limits and last resorts of the kernel: what is too large, too wide, or not for it to say."""

from __future__ import annotations

import json
import math
import sys
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb

import extremal as ex
from extremal.certificate import (
    Agreements,
    Certificate,
    Chords,
    ChosenPrior,
    Concave,
    Dual,
    Groups,
    Listed,
    NotKnown,
    Order,
    Refused,
    Sets,
    Squares,
    YesNo,
    enclosure,
    limits,
    statement,
)
from extremal.certificate.arithmetic import workload_cost
from extremal.certificate.arithmetic.enclosures import LARGEST_BITS, lower, upper
from extremal.errors import InvalidParameter, MalformedFile, TooLarge
from extremal.exact import polytope
from extremal.mechanism.files import content_digest
from extremal.mechanism.structures import ProjectiveSets
from extremal.mechanism.structures.colourings import coloured
from extremal.optimize.problem import certify, extended
from extremal.problem import QuestionsGoal, problem_of
from support.proofs.hostile import crafted, hashed
from support.refusals import falsely_claiming

ZERO, ONE = Fraction(0), Fraction(1)
P, Q, WITH_ZERO = ["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"], ["0.6", "0", "0.4"]
PAIR, RESPONSE = ex.KL(P, Q), ex.randomized_response(3, 1)


def even(k: int) -> list[str]:
    return [f"1/{k}"] * k


@pytest.mark.parametrize("k", [100, 1000])
def test_a_design_that_is_small_for_its_inputs_is_verified_from_its_file(k: int, tmp_path: Path) -> None:
    """Sets are counted, never listed, and alike inputs are one class: neither costs what a list of them would."""
    path = ex.design(ex.LDP(1), ex.Frequencies(k)).certificate.save(tmp_path / "c.json")
    assert ex.verify(path).exit_code == 0


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    seven = ex.Average([ex.KL([f"{i + x}/{3 * i + 3}" for x in range(3)], P) for i in range(1, 8)])
    with pytest.raises(Refused, match="too many distributions"):
        Dual((ZERO,) * 3, Chords(trees=((-1,),))).bound(ex.LDP(1), seven)
    listed = Squares(tuple((-1,) * i for i in range(21)), Dual((), Listed()))
    with pytest.raises(Refused, match="too many columns"):
        listed.bound(ex.LDP(1), ex.Frequencies(21))
    monkeypatch.setattr(polytope, "MOST_RAYS", 2)
    with pytest.raises(Refused, match="too many extreme rays"):
        Dual((ZERO,) * 3, Listed()).bound(ex.MetricPrivacy(1, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]), PAIR)


def test_inputs_that_cannot_occur_are_rays_of_their_own() -> None:
    notion = ex.PML(1, WITH_ZERO)
    free = Dual((ZERO,) * 3, Listed()).bound(notion, ex.TotalVariation(P, Q))
    assert free >= ex.design(notion, ex.TotalVariation(P, Q)).value
    assert Dual((ZERO,) * 3, Listed((), True)).bound(notion, ex.MutualInformation(WITH_ZERO)) > 0


def test_at_level_0_all_of_the_budget_is_spent() -> None:
    assert Dual((ZERO,) * 3, Chords((ONE,))).bound(ex.PML(0, P), PAIR) == 0


def test_orders_0_and_1_are_those_of_kullback_and_leibler() -> None:
    for order, same in ((1, ex.KL(P, Q)), (0, ex.ReverseKL(P, Q))):
        assert enclosure(ex.AlphaDivergence(P, Q, order), RESPONSE) == enclosure(same, RESPONSE)


def test_many_open_symbols_are_bounded_by_the_lightest() -> None:
    weights = [50_000 + (1 << x) for x in range(15)]  # all sums of some of them differ
    prior = [f"{w}/{sum(weights)}" for w in weights]
    double = tuple(Fraction(2 * w, sum(weights)) for w in weights)
    for notion in (ex.PML(1, prior), ex.LIP("0.3", prior)):
        proof = Dual(double, Sets((2 * ONE,), ((0,),) * 15))
        assert proof.bound(notion, ex.MutualInformation(prior)) == 2
        with pytest.raises(Refused):
            Dual((ZERO,) * 15, proof.reason).bound(notion, ex.MutualInformation(prior))
        with pytest.raises(Refused, match="said to be empty"):
            Dual(double, Sets((), ((-2,),) * 15)).bound(notion, ex.MutualInformation(prior))


def test_sets_that_are_too_light_or_too_heavy_have_no_vertex_below() -> None:
    weights = [50_000 + (1 << x) for x in range(15)]
    prior, total = [f"{w}/{sum(weights)}" for w in weights], sum(weights)
    double, information = tuple(Fraction(2 * w, total) for w in weights), ex.MutualInformation(prior)
    heavy = Dual(tuple(3 * a for a in double), Sets((6 * ONE,), ((0,),) * 15))
    assert heavy.bound(ex.PML(4, prior), information) == 6  # one symbol alone is more than a report holds
    trees = ((-1, -1, -2, 0), (-1, -1, -2, 0), *((-1, -1, -2, 0, 0),) * 13)
    light = Dual(double, Sets((2 * ONE,), trees))
    assert light.bound(ex.PML("0.01", prior), information) == 2  # without two of them too little is left
    with pytest.raises(Refused, match="said to be empty"):
        light.bound(ex.PML("0.2", prior), information)


def test_reports_that_are_not_listed_have_no_value_here() -> None:
    with pytest.raises(NotKnown, match="too many to list"):
        enclosure(ex.MutualInformation(even(40)), ex.subset_selection(40, 1))


def test_costs_that_are_not_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    simplex, corner = ex.CDF(ex.SourceClass.simplex(3)), ChosenPrior((ONE, 2 * ONE, ONE), ())
    with monkeypatch.context() as patch:
        patch.setattr(workload_cost, "slope_of", lambda *_: [arb.pos_inf()] * 3)
        with pytest.raises(NotKnown, match="slope"):
            enclosure(simplex, RESPONSE, corner)
    with monkeypatch.context() as patch:
        patch.setattr(workload_cost, "MOST_ENTRIES", 1)
        with pytest.raises(NotKnown, match="3 × 3 weights is too large"):
            enclosure(simplex, RESPONSE, corner)

    def singular(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(workload_cost, "_by_rows", singular)
    with pytest.raises(NotKnown, match="cannot be inverted"):
        enclosure(ex.CDF(P), RESPONSE)


def test_groups_have_one_weight_and_a_bound_each() -> None:
    uneven = ex.Average([PAIR, ex.Average([PAIR, PAIR])])
    with pytest.raises(Refused, match="same weight"):
        Groups((0, 0, 0), (Order(ONE, (ONE,)),)).bound(ex.LDP(1), uneven)
    apart = ex.Average([ex.KL(["1", "0"], ["0", "1"])] * 2)
    infinite = Dual((ZERO,) * 2, Listed((), True))
    assert Groups((0, 1), (infinite, infinite)).bound(ex.LDP(1), apart) == math.inf


def test_a_verification_is_shown() -> None:
    found = ex.verify(ex.randomized_response(2, 1))
    assert "\nprivacy     proved\nvalue       nothing claimed" in str(found)
    assert found._repr_html_().startswith("<pre>mechanism")


def test_what_is_verified(tmp_path: Path) -> None:
    assert ex.verify(RESPONSE.save(tmp_path / "m.json")).privacy == "proved"
    with pytest.raises(InvalidParameter, match="verify takes"):
        ex.verify(3)
    undecided = falsely_claiming(RESPONSE, ex.PML(1, ["1/2", "1/2"]))
    assert ex.verify(undecided).privacy == "not proven"


def test_a_value_that_no_precision_encloses_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["extremal.certificate.verify"], "value_of", lambda *_: arb(0, arb.pos_inf()))
    assert ex.verify(Certificate(RESPONSE, PAIR, 0.1, math.inf)).value == "not proven"


def test_a_bound_beyond_doubles_is_infinite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Concave, "prove", lambda *_: Fraction(10**400))
    assert certify(RESPONSE, PAIR, [Concave(ONE)]).bound == math.inf


def test_no_proof_is_added_to_what_says_too_little() -> None:
    good = certify(RESPONSE, PAIR, [])
    assert extended(good, ()) is good
    assert extended(good, [Dual((ONE,) * 3, Listed())]).proofs
    with pytest.raises(InvalidParameter, match="says too little"):
        extended(replace(good, utility=None), [Concave(ONE)])


def test_the_worst_prior_of_a_class_is_in_its_file(tmp_path: Path) -> None:
    found = ex.design(ex.LDP(1), ex.Mean([0, 1, 3], ex.SourceClass([P, Q])))
    path = found.certificate.save(tmp_path / "c.json")
    assert ex.verify(path)
    content = json.loads(path.read_text())
    assert set(content["worst_prior"]) == {"prior", "mix"}
    del content["value"]
    content["hash"] = content_digest({k: v for k, v in content.items() if k != "hash"})
    path.write_text(json.dumps(content))
    with pytest.raises(MalformedFile, match="fields of a certificate"):
        ex.verify(path)


def test_a_file_has_an_allowance_and_what_is_beyond_is_not_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same claims: proved where they were made, too large where the file may not cost so much, never refuted."""
    design = ex.design(ex.LDP(1), PAIR)
    path = design.certificate.save(tmp_path / "c.json")
    assert ex.verify(path).exit_code == 0
    monkeypatch.setattr(limits, "SMALL_WORK", 10)
    few = ex.verify(path)
    assert (few.privacy, few.value, few.optimality, few.exit_code) == ("proved", "not proven", "not proven", 3)
    assert "too large to check here: the value" in few.reasons[1]
    assert ex.verify(design).exit_code == 0
    monkeypatch.setattr(limits, "SMALL_WORK", 100)
    some = ex.verify(path)
    assert (some.value, some.optimality) == ("proved", "not proven")
    assert "too large to check here: the proofs" in some.reasons[-1]
    coupled = RESPONSE.claiming(ex.LDP("0.9", "0.5")).save(tmp_path / "m.json")
    monkeypatch.setattr(limits, "PER_PAIR", 1)
    assert ex.verify(coupled).reasons == ("LDP(epsilon=0.9, delta=0.5) holds",)  # a look at all pairs, but no level
    monkeypatch.setattr(limits, "SMALL_WORK", 5)
    assert ex.verify(coupled).privacy == "not proven"


def test_orders_and_numbers_of_proofs_have_a_limit(tmp_path: Path) -> None:
    """An order of 10^12 once ended the interpreter: a number with as many digits as its exponent says."""
    good = ex.design(ex.LDP(1), ex.AlphaDivergence(P, Q, 3)).certificate.to_json()
    path = tmp_path / "c.json"
    for order, verdicts in (("1000000000000", ("not proven", "not proven")), ("1000000", ("not proven", "not proven"))):
        path.write_text(json.dumps(hashed({**good, "utility": {**good["utility"], "alpha": order}})))
        found = ex.verify(path)
        assert (found.value, found.optimality) == verdicts
    path.write_text(json.dumps(hashed({**good, "proofs": good["proofs"] * 65})))
    found = ex.verify(path)
    assert found.optimality == "not proven"
    assert "at most 64 proofs" in found.reasons[-1]


def test_ends_beyond_all_doubles_are_safe() -> None:
    huge, tiny = arb(2) ** (1 << 20), arb(2) ** -(1 << 20)
    assert upper(huge) == math.inf
    assert lower(huge) == Fraction(1 << LARGEST_BITS)
    assert upper(-huge) == -Fraction(1 << LARGEST_BITS)
    assert upper(tiny) == Fraction(1, 1 << LARGEST_BITS)
    assert lower(tiny) == 0 == upper(-tiny)


def test_a_finite_value_is_never_called_infinite(tmp_path: Path) -> None:
    """391 digits: no double, and no infinity either."""
    goal = ex.AlphaDivergence(P, Q, 1500)
    with pytest.raises(TooLarge, match="the value must be a double"):
        ex.design(ex.LDP(2), goal)
    claimed = Certificate(ex.randomized_response(3, 2), goal, math.inf, math.inf)
    for found in (ex.verify(claimed), ex.verify(claimed.save(tmp_path / "c.json"))):
        assert found.value == "refuted"


def test_a_bound_is_the_decimal_that_is_written(tmp_path: Path) -> None:
    """Below the value by less than half a unit: a double that was read from it would hide the lie."""
    found = ex.design(ex.LDP.from_ratio(3), ex.TotalVariation(["1/2", "1/2", "0"], ["0", "1/2", "1/2"])).certificate
    assert found.value == 0.25 <= found.bound
    assert ex.verify(replace(found, bound=math.nextafter(0.25, 0))).optimality == "refuted"
    for bound in ("0.2499999999999999999999", "0.24999999999999999", "1_0", " 0.25 ", "\u0660.25", "0.250", "25e-2"):
        path = tmp_path / "c.json"
        path.write_text(json.dumps(hashed({**found.to_json(), "bound": bound})))
        with pytest.raises(MalformedFile, match="a double as it prints"):
            ex.verify(path)


@pytest.mark.parametrize("kind", [ProjectiveSets(7, 3 << 60, 2, 3), ProjectiveSets(5, 3 << 60, 2, 3)])
def test_a_cost_of_reports_that_are_not_listed_is_not_proven(kind: ProjectiveSets) -> None:
    for goal in (ex.Hamming(even(kind.r)), ex.Distortion(even(kind.r), [[0] * kind.m] * kind.r)):
        with pytest.raises(NotKnown):
            enclosure(goal, ex.Mechanism.from_structure(kind))


def test_hostile_files_are_decided_or_refused(tmp_path: Path) -> None:
    """A sample of the audit: none raises anything but that the file is malformed."""
    path = tmp_path / "hostile.json"
    quick = (
        "order 1",
        "gamma",
        "groups",
        "means",
        "a mean of 10",
        "one long entry among 100",
        "points over 2^3",
        "a question",
    )
    quick += ("points over 2^3", "a question")
    chosen = [(name, content) for name, content in crafted() if name.startswith(quick)]
    assert len(chosen) >= 30
    for name, content in chosen:
        path.write_text(json.dumps(hashed(content)))
        with suppress(MalformedFile):
            assert ex.verify(path).exit_code in (0, 1, 3), name


def test_every_kind_of_proof_has_an_estimate() -> None:
    """From sizes alone, and larger for more: nothing is computed."""
    ball = problem_of(ex.PML(1, ex.SourceClass.ball(P, "0.1")))
    pure, coupled, goal = problem_of(ex.LDP(1)), problem_of(ex.LDP(1, "0.1")), problem_of(PAIR)
    shares = problem_of(ex.Frequencies(3))
    listed = Dual((ZERO,) * 3, Listed())
    for one, more, privacy, about in (
        (listed, listed, ball, goal),
        (listed, listed, coupled, goal),
        (Dual((ZERO,) * 3, Listed((), True)), Dual((ZERO,) * 3, Listed((), True)), pure, goal),
        (Dual((ZERO,) * 3, Chords((ONE,))), Dual((ZERO,) * 3, Chords((ONE, ONE * 2))), pure, goal),
        (Order(ONE, (ONE,)), Order(ONE, (ONE, ONE * 2)), pure, goal),
        (Concave(ONE, ((ONE, ONE),)), Concave(ONE, ((ONE, ONE),) * 2), pure, problem_of(ex.MutualInformation(P))),
        (Dual((ZERO,) * 3, Sets((ONE,), ((0,),))), Dual((ZERO,) * 3, Sets((ONE,), ((-1, 0),))), pure, goal),
        (Squares(((), (-1,), (-1, -1)), listed), Squares(((), (-1,), (-1, -1)), listed), pure, shares),
        (YesNo((2,) * 2), YesNo((2,) * 12), pure, QuestionsGoal((2, 2), (ONE, ONE), True)),
        (Agreements((3,), (0,), ()), Agreements((3,), (0,), (ONE,)), pure, shares),
    ):
        assert 0 <= limits.work_of_proofs((one,), privacy, about) <= limits.work_of_proofs((more,), privacy, about)
        twice = limits.work_of_proofs((Groups((0, 0), (more, more)),), privacy, about)
        assert twice == 2 * limits.work_of_proofs((more,), privacy, about)
    assert limits.work_of_value(problem_of(ex.Hamming(P)), RESPONSE) > 0
    assert limits.work_of_value(shares, RESPONSE) > 0
    asked = ex.Questionnaire.within(4, {"a": 2, "b": 2}, "joint")
    for made in (asked.certificate(), asked.certificate(tables=True)):
        assert limits.work_of_value(problem_of(made.utility), made.mechanism) > 0


def test_many_reports_with_two_weights_are_added_up_from_a_file(tmp_path: Path) -> None:
    """10,000 sets of 400 rows: a list of them would be too much for a file, their sums take a second."""
    generator = np.random.default_rng(3)
    labels = np.array([generator.permutation(np.arange(400) % 5) for _ in range(2000)])
    structure = coloured(labels, np.ones(2000), ex.LDP(1).exponential)
    certificate = certify(ex.Mechanism.from_structure(structure, ex.LDP(1)), ex.CDF(400), [])
    assert str(ex.verify(certificate.save(tmp_path / "c.json")).value) == "proved"
    more = ex.Mechanism.from_structure(coloured(np.vstack([labels] * 2), np.ones(4000), ex.LDP(1).exponential))
    goal = problem_of(ex.CDF(400))
    assert limits.work_of_value(goal, certificate.mechanism) < limits.work_of_value(goal, more) < limits.LARGE_WORK


def test_intervals_in_words() -> None:
    assert statement.relative_gap(1.0, math.inf) == math.inf
    assert statement.relative_gap(-1.0, 0.0) == math.inf
    assert "does not tell" in statement.how_good(math.inf, (1.0, math.inf))
    assert statement.how_good(2e-5, (1.0, 1.00002)).startswith("within 2.0e-05 of the optimum: bound proved")
    long = ["x" * 200, "y", "z"]
    assert statement.described(long).startswith("(" + "x" * 45 + "…, y, …: 3 entries, SHA-256 ")
