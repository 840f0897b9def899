"""Proofs as values: every kind, made by the solvers, checked, spoiled field by field, stored, pickled."""

from __future__ import annotations

import pickle
from dataclasses import fields
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import KINDS, Concave, Dual, Listed, OnePrior, Proof, Reason, Refused, proof_from_json
from extremal.certificate.proof import Value
from extremal.errors import MalformedFile
from extremal.optimize import Design
from extremal.optimize.hypotheses import columns
from extremal.testing.designs import check
from support.proofs.examples import shares_of_questions
from support.refusals import check_refusals

P, P0, P1 = [0.5, 0.3, 0.2], [0.7, 0.2, 0.1], [0.2, 0.3, 0.5]
LINE, TRIANGLE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 1, 1.5], [1, 0, 1.2], [1.5, 1.2, 0]]
PAIR, MANY = ex.SourceClass([P, [0.3, 0.4, 0.3]]), np.random.default_rng(3).dirichlet(np.ones(9), 2)
INFORMATION, BOTH = ex.MutualInformation(P), ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)])
TEN = np.random.default_rng(5).dirichlet(np.ones(10), 3)
HUNDRED = np.random.default_rng([100, 4]).dirichlet(np.ones(100), 2)
EIGHT = np.random.default_rng(8).dirichlet(np.ones(17), 8)
SEVEN = np.arange(1, 8) / 28, np.arange(7, 0, -1) / 28
ZIPF = [1 / x for x in range(1, 41)]

TEN_OF_FIVE = np.random.default_rng(6).dirichlet(np.ones(10), 5)


def by_groups(utility: ex.Utility) -> Design:
    """As where a tree over sets has too many nodes."""
    with patch.object(columns, "MOST_NODES", 0):
        return ex.design(ex.LDP(1), utility)


LISTED = {"kind": "one prior", "prior": [], "mix": [], "proof": {"kind": "concave", "value": "1", "lines": []}}
EMPTY = {"kind": "dual", "alpha": [], "mix": [], "prices": []}
DESIGNS = {
    "order": lambda: ex.design(ex.LDP(1), ex.KL(P0, P1), proofs=["order"]),
    "order of many": lambda: ex.design(ex.LDP(1), ex.KL(*np.random.default_rng(3).dirichlet(np.ones(4097), 2))),
    "chords of a pair": lambda: ex.design(ex.LDP(1), ex.KL(P0, P1), proofs=["chords"]),
    "patterns": lambda: ex.design(ex.LDP(1), BOTH),
    "hamming": lambda: ex.design(ex.LDP(0.1), ex.Hamming(PAIR)),
    "hamming of a ball": lambda: ex.design(ex.LDP(1), ex.Hamming(ex.SourceClass.ball(P, 0.1))),
    "smallest ε": lambda: ex.smallest_epsilon(PAIR, 0.61),  # at the boundary of the class
    "smallest ε is 0": lambda: ex.smallest_epsilon(PAIR, 0.9),
    "distortion, LDP": lambda: ex.design(ex.LDP(1), ex.Distortion(P, LINE)),
    "distortion, PML": lambda: ex.design(ex.PML(0.5, P), ex.Distortion(P, LINE)),
    "distortion, PML for a class": lambda: ex.design(ex.PML(0.5, PAIR), ex.Distortion(P, LINE)),
    "distortion, LIP": lambda: ex.design(ex.LIP(0.5, P), ex.Distortion(P, LINE)),
    "distortion, metric": lambda: ex.design(ex.MetricPrivacy(1, LINE), ex.Distortion(P, LINE)),
    "chords": lambda: ex.design(ex.MetricPrivacy(1, LINE), ex.KL(P0, P1)),
    "chords with flows": lambda: ex.design(ex.MetricPrivacy(1, TRIANGLE), ex.KL(P0, P1)),
    "rays": lambda: ex.design(ex.MetricPrivacy(1, TRIANGLE), INFORMATION),
    "class rays": lambda: ex.design(ex.PML(0.5, PAIR), BOTH),
    "one prior of the class": lambda: ex.design(ex.PML(0.5, ex.SourceClass(list(MANY))), ex.MutualInformation(MANY[0])),
    "leakage chords": lambda: ex.design(ex.PML(0.8, P), ex.KL(P0, P1)),
    "leakage knapsack": lambda: ex.design(ex.PML(0.8, P), INFORMATION),
    "leakage symmetric": lambda: ex.design(ex.PML(0.8, ["1/4"] * 4), ex.MutualInformation(["1/4"] * 4)),
    "leakage vertices": lambda: ex.design(ex.PML(0.8, P), BOTH),
    "leakage simplex": lambda: ex.design(ex.PML(0.1, P), INFORMATION),
    "fluid": lambda: ex.design(ex.LDP(1), ex.MutualInformation([z / sum(ZIPF) for z in ZIPF]), time_limit=1),
    "affine": lambda: ex.design(ex.LDP(0.5), ex.MutualInformation(["1/14"] * 14)),
    "response": lambda: ex.design(ex.LDP(4), INFORMATION),
    "prices": lambda: ex.design(ex.LDP(0.5), INFORMATION),
    "directions": lambda: ex.design(ex.LDP(1), ex.PairwiseDivergence(list(TEN))),
    "directions of a worst case": lambda: ex.design(ex.LDP(1), ex.PairwiseDivergence(list(TEN), worst_case=True)),
    "partition of a mean": lambda: ex.design(ex.LDP(1), ex.PairwiseDivergence(list(TEN[:2]))),
    "partitions mixed": lambda: ex.design(ex.LDP(4), ex.PairwiseDivergence(list(HUNDRED), worst_case=True)),
    "groups": lambda: by_groups(ex.Average([ex.KL(*EIGHT[i : i + 2]) for i in range(0, 8, 2)])),
    "sets of divergences": lambda: ex.design(ex.LDP(1), ex.PairwiseDivergence(list(TEN_OF_FIVE))),
    "chords of coupled columns": lambda: ex.design(ex.LDP(1, "0.05"), ex.TotalVariation(*SEVEN)),
    "inputs revealed": lambda: ex.design(ex.LDP(1, "0.05"), ex.MutualInformation(SEVEN[0])),
    "coupled rays": lambda: ex.design(ex.LDP(1, "0.05"), ex.KL(P0, P1)),
    "coupled rays of a worst case": lambda: ex.design(ex.LDP(1, "0.05"), BOTH),
    "coupled columns": lambda: ex.design(ex.LDP(1, "0.05"), ex.CDF(P)),
    "coupled columns of merged inputs": lambda: ex.design(ex.LDP(1, "0.05"), ex.CDF(7, [1, 3])),
    "statistics of the inputs": lambda: ex.design(ex.LDP(1, "0.05"), ex.CDF([0.5, 0, 0.5])),
    "listed columns": lambda: ex.design(ex.LDP(1), ex.CDF(P)),
    "listed counts": lambda: ex.design(ex.LDP(1), ex.Frequencies(5)),
    "line sweep": lambda: ex.design(ex.LDP(1), ex.Mean([0, 1, 5], P)),
    "matrix inequality": lambda: ex.design(ex.LDP(1), ex.CDF(19)),
    "yes/no questions": lambda: ex.design(ex.LDP(2), shares_of_questions(2, 2, 2, 2)),
    "questions": lambda: ex.design(ex.LDP(1), shares_of_questions(2, 3, 3)),
}
LOOSE = {
    "groups": 1.0,
    "inputs revealed": 1.0,
    "statistics of the inputs": 1.0,
    "one prior of the class": 1.0,
    "fluid": 1e-2,
    "matrix inequality": 1e-2,
    "questions": 0.1,
}  # what is proved there is a bound, not the optimum


def named(value: Value) -> set[str]:
    """The kinds of a proof and of all that it is made of."""
    inner = [getattr(value, f.name) for f in fields(value)]
    parts = [v for field in inner for v in (field if isinstance(field, tuple) else (field,)) if isinstance(v, Value)]
    return {value.kind, *(kind for part in parts for kind in named(part))}


@pytest.fixture(scope="module", params=list(DESIGNS))
def design(request: pytest.FixtureRequest) -> Design:
    found: Design = DESIGNS[request.param]()
    check(found, LOOSE.get(request.param, 1e-9))
    return found


def test_every_kind_is_made_by_some_design() -> None:
    made = {kind for make in DESIGNS.values() for proof in make().certificate.proofs for kind in named(proof)}
    assert made == set(KINDS)


def test_no_spoiled_certificate_is_accepted(design: Design) -> None:
    check_refusals(design, unique_dual=False)


def test_a_design_pickles_and_verifies_after_it(design: Design) -> None:
    again = pickle.loads(pickle.dumps(design))
    assert ex.verify(again)
    assert ex.verify(again).reasons == ex.verify(design).reasons
    assert again.summary() == design.summary()
    assert again.certificate.proofs == design.certificate.proofs


def test_a_proof_is_its_json(design: Design) -> None:
    for proof in design.certificate.proofs:
        again = proof_from_json(proof.to_json())
        assert again == proof
        assert hash(again) == hash(proof)
        assert again.bound(design.mechanism.privacy, design.utility) == proof.bound(
            design.mechanism.privacy, design.utility
        )


@pytest.mark.parametrize(
    "content",
    [
        {"kind": "hearsay", "bound": "1.0"},
        {"kind": "dual", "alpha": ["0.0"]},
        {},
        [],
        "dual",
        {"kind": ["dual"]},
        {"kind": "concave", "value": "large", "lines": []},
        {"kind": "concave", "value": "1", "lines": [["0", "1", "2"]]},
        {"kind": "listed", "tree": [], "revealed": False},
        {"kind": "order", "value": "0", "ends": "1", "mix": []},
        {
            "kind": "dual",
            "alpha": [],
            "mix": [],
            "prices": [],
            "reason": {"kind": "concave", "value": "1", "lines": []},
        },
        {"kind": "dual", "alpha": [], "mix": [], "prices": [], "reason": {"kind": "listed", "tree": [], "revealed": 0}},
        {"kind": "dual", "alpha": [], "mix": [], "prices": [], "reason": []},
        {"kind": "groups", "groups": [0], "proofs": [{"kind": "listed", "tree": [], "revealed": False}]},
        {"kind": "squares", "z": [], "diagonal": [], "classes": [], "merged": [], "dual": LISTED},
    ],
    ids=str,
)
def test_what_cannot_be_read_is_malformed(content: object) -> None:
    with pytest.raises(MalformedFile):
        proof_from_json(content)


def test_proofs_within_proofs_end() -> None:
    proof: Proof = Dual((Fraction(0),) * 3, Listed())
    for _ in range(2):  # below which there is the reason
        proof = OnePrior((), (Fraction(1), Fraction(0)), proof)
    assert proof_from_json(proof.to_json()) == proof
    with pytest.raises(MalformedFile):
        proof_from_json(OnePrior((), (), proof).to_json())


def test_a_proof_for_one_prior_is_about_a_class() -> None:
    with pytest.raises(Refused, match="no class of priors"):
        OnePrior((), (), Concave(Fraction(1))).bound(ex.LDP(1), INFORMATION)


def test_registered_by_class() -> None:
    assert KINDS["dual"] is Dual
    assert sum(issubclass(kind, Proof) for kind in KINDS.values()) == 9
    assert sum(issubclass(kind, Reason) for kind in KINDS.values()) == 5
    assert all(kind.kind == name for name, kind in KINDS.items())
