"""Proofs as values: every kind, made by the solvers, checked, spoiled field by field, stored, pickled."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import PROOFS, Proof, Refused
from extremal.certificate.proof import Fluid, OnePrior, Patterns, Unreadable, proof_from_json, texts
from extremal.optimize.information.bounds import convex
from extremal.testing.designs import check, check_refusals
from extremal.utility.curve import InformationCurve

P, P0, P1 = [0.5, 0.3, 0.2], [0.7, 0.2, 0.1], [0.2, 0.3, 0.5]
LINE, TRIANGLE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 1, 1.5], [1, 0, 1.2], [1.5, 1.2, 0]]
PAIR, MANY = ex.SourceClass([P, [0.3, 0.4, 0.3]]), np.random.default_rng(3).dirichlet(np.ones(9), 2)
INFORMATION, BOTH = ex.MutualInformation(P), ex.WorstCase([ex.KL(P0, P1), ex.KL(P1, P0)])
ZIPF = [1 / x for x in range(1, 41)]

DESIGNS = {
    "theorem": lambda: ex.design(ex.LDP(1), ex.KL(P0, P1), proofs=["theorem"]),
    "dual": lambda: ex.design(ex.LDP(1), ex.KL(P0, P1), proofs=["dual"]),
    "patterns": lambda: ex.design(ex.LDP(1), BOTH),
    "hamming": lambda: ex.design(ex.LDP(0.1), ex.Hamming(PAIR)),
    "hamming of a ball": lambda: ex.design(ex.LDP(1), ex.Hamming(ex.SourceClass.ball(P, 0.1))),
    "smallest ε": lambda: ex.smallest_epsilon(PAIR, 0.61),  # at the boundary, where `inside` is read
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
}
LOOSE = {"one prior of the class": 1.0, "fluid": 1e-2}  # what is proved there is a bound, not the optimum


@pytest.fixture(scope="module", params=list(DESIGNS))
def design(request: pytest.FixtureRequest) -> ex.Design:
    found: ex.Design = DESIGNS[request.param]()
    check(found, LOOSE.get(request.param, 1e-9))
    return found


def test_every_kind_is_made_by_some_design() -> None:
    made = {proof.kind for make in DESIGNS.values() for proof in make().certificate.proofs}
    assert made == set(PROOFS) - {"convex"}  # which wins only next to uniform priors of many symbols, below


def test_convex_prices_are_a_proof_of_their_own() -> None:
    prior = np.linspace(1, 1.02, 40) / np.linspace(1, 1.02, 40).sum()
    utility, privacy = ex.MutualInformation(prior), ex.LDP(2)
    believed, proof = convex(utility.prior.values, InformationCurve(2.0))
    assert proof.kind == "convex"
    assert proof.bound(privacy, utility) == pytest.approx(believed, rel=1e-9)
    assert proof.bound(privacy, utility) >= ex.design(privacy, utility, tolerance=1e-3).value


def test_no_spoiled_certificate_is_accepted(design: ex.Design) -> None:
    check_refusals(design)


def test_a_design_pickles_and_verifies_after_it(design: ex.Design) -> None:
    again = pickle.loads(pickle.dumps(design))
    assert ex.verify(again)
    assert ex.verify(again).reasons == ex.verify(design).reasons
    assert again.summary() == design.summary()
    assert again.certificate.proofs == design.certificate.proofs


def test_a_proof_is_its_json(design: ex.Design) -> None:
    for proof in design.certificate.proofs:
        assert proof_from_json(proof.to_json()) == proof
        assert proof.bound(design.mechanism.privacy, design.utility) == pytest.approx(proof.claimed, rel=1e-9)


def test_what_cannot_be_read_is_kept_and_refused() -> None:
    for content, why in (
        ({"kind": "hearsay", "bound": "1.0"}, "unknown kind 'hearsay'"),
        ({"kind": "dual", "alpha": ["0.0"]}, "the fields of dual"),
        ({}, "unknown kind None"),
        ({"kind": "fluid", "contact": "0.1", "bound": "large"}, "the fields of fluid"),
    ):
        proof = proof_from_json(content)
        assert isinstance(proof, Unreadable)
        assert proof.to_json() == content
        with pytest.raises(Refused, match=why):
            proof.bound(ex.LDP(1), INFORMATION)


def test_a_proof_for_one_prior_is_about_pml() -> None:
    with pytest.raises(Refused, match="belongs to PML"):
        OnePrior(Fluid("0.1")).bound(ex.LDP(1), INFORMATION)


def test_registered_by_class() -> None:
    assert PROOFS["patterns"] is Patterns
    assert all(issubclass(kind, Proof) and kind.kind == name for name, kind in PROOFS.items())
    assert texts(np.array([0.1, 1.0])) == ("0.1", "1.0")
