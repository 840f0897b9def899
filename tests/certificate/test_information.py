"""The proofs about information: each holds, and each is refused when one number is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import flint
import numpy as np
import pytest
from extremal.certificate.information_curve import Curve, entropy_excess, log_excess
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.certificate import Refused
from extremal.certificate.proof import Prices, proof_from_json, texts
from extremal.exact.interval import Interval
from extremal.optimize.information.bounds import affine, convex, fluid
from extremal.utility.curve import InformationCurve

CASES = {
    "prices": ([0.31, 0.27, 0.2, 0.12, 0.1], 0.8),
    "response": ([0.5, 0.3, 0.2], 2),
    "affine": (["1/7"] * 7, 0.5),
    "fluid": (np.random.default_rng(0).dirichlet(np.ones(60)), 0.5),
}


def proved(kind: str, content: dict[str, Any], privacy: Any, utility: Any) -> float:
    """The bound of the proof that a file with this content holds."""
    return proof_from_json({"kind": kind, **content}).bound(privacy, utility)


WHOLE = {"contact": "1", "slope": "1", "value": "1", "lines": [["1", "1"]], "slack": "0", "prices": ["1", "1"]}


def made(kind: str) -> ex.Design:
    prior, epsilon = CASES[kind]
    found = ex.design(ex.LDP(epsilon), ex.MutualInformation(prior))
    assert found.certificate.proofs[0].kind == kind
    assert ex.verify(found)
    return found


@pytest.mark.parametrize("kind", CASES)
def test_a_tightened_bound_is_refused(kind: str) -> None:
    certificate = made(kind).certificate
    proof = replace(certificate.proofs[0], claimed=certificate.bound * (1 - 1e-6))
    assert not ex.verify(replace(certificate, proofs=(proof,), bound=certificate.bound * (1 - 1e-6)))
    assert not ex.verify(replace(certificate, bound=certificate.bound * (1 - 1e-6)))


@pytest.mark.parametrize("kind", CASES)
def test_another_prior_is_refused(kind: str) -> None:
    certificate = made(kind).certificate
    values = ex.MutualInformation(CASES[kind][0]).prior.values.copy()
    values[0], values[-1] = values[0] * 0.99, values[-1] + values[0] * 0.01
    assert not ex.verify(replace(certificate, utility=ex.MutualInformation(values)))


@pytest.mark.parametrize("kind", CASES)
def test_a_moved_weight_is_refused(kind: str) -> None:
    certificate = made(kind).certificate
    weights = certificate.mechanism.weights.copy()
    weights[0, 0] -= 1 << 40
    weights[0, 1] += 1 << 40
    moved = ex.Mechanism.from_weights(weights)
    result = ex.verify(replace(certificate, mechanism=replace(moved, privacy=certificate.mechanism.privacy)))
    assert not result


def test_a_lowered_price_is_refused() -> None:
    certificate = made("prices").certificate
    for x in range(5):
        (proof,) = certificate.proofs
        assert isinstance(proof, Prices)
        prices = [float(a) for a in proof.prices]
        prices[x] -= 1e-6
        assert not ex.verify(replace(certificate, proofs=(replace(proof, prices=texts(prices)),)))


def test_a_raised_price_costs_what_it_adds() -> None:
    certificate = made("prices").certificate
    (proof,), utility = certificate.proofs, certificate.utility
    assert utility is not None
    assert isinstance(proof, Prices)
    raised = replace(proof, prices=texts(float(a) + 1e-3 for a in proof.prices))
    assert raised.bound(ex.LDP(0.8), utility) > certificate.bound + 1e-4


@given(st.integers(0, 10**6))
def test_whatever_the_choices_the_bound_holds(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k, epsilon = int(generator.integers(2, 8)), float(generator.choice([0.01, 0.4, 1.5, 5.0]))
    prior = generator.dirichlet(np.ones(k))
    utility, privacy, curve = ex.MutualInformation(prior), ex.LDP(epsilon), InformationCurve(epsilon)
    optimum = ex.design(privacy, utility).value
    contact, slope, scale = generator.uniform(0, curve.c), generator.uniform(-2, 2) * curve.top, generator.uniform(0, 2)
    proofs: dict[str, dict[str, Any]] = {
        "fluid": {"contact": repr(contact)},
        "affine": {"slope": repr(slope)},
        "convex": {
            "value": repr(optimum * scale),
            "lines": [[repr(0.0), repr(slope)], [repr(optimum / k), repr(slope / 2)]],
        },
        "response": {},
        "prices": {
            "value": repr(optimum * scale),
            "slack": "0.0",
            "prices": [repr(a) for a in (generator.normal(size=k) * curve.top * prior).tolist()],
        },
    }
    for kind, proof in proofs.items():
        assert proved(kind, proof, privacy, utility) >= optimum * (1 - 1e-12), kind


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3, 8])
def test_the_checkers_lose_next_to_nothing(epsilon: float) -> None:
    prior = np.random.default_rng(5).dirichlet(np.ones(40))
    curve, utility, privacy = InformationCurve(epsilon), ex.MutualInformation(prior), ex.LDP(epsilon)
    for bound in (fluid, affine, convex):
        value, proof = bound(prior, curve)
        checked = proof.bound(privacy, utility)
        assert value * (1 - 1e-13) <= checked <= value * (1 + 2e-11)


@given(st.floats(0, 1e4))
def test_intervals_enclose_the_functions(d: float) -> None:
    with flint.ctx.workprec(4000):  # digits enough for d² next to the smallest float
        x = flint.arb(d)
        exact = {entropy_excess: (1 + x) * (1 + x).log() - x, log_excess: x - (1 + x).log()}
        for function, value in exact.items():
            enclosed = function(Interval.of(d))
            assert flint.arb(float(enclosed.lo)) <= value
            assert value <= flint.arb(float(enclosed.hi))
            assert enclosed.hi - enclosed.lo <= 1e-13 * enclosed.hi + 1e-300


def test_the_curve_is_enclosed() -> None:
    for epsilon in (1e-6, 0.01, 1.0, 20.0):
        curve, z = Curve.of(ex.LDP(epsilon)), np.linspace(0, 1, 101)
        value = InformationCurve(epsilon).value(z)
        enclosed = curve.value(Interval.of(z))
        slack = 1e-14 * InformationCurve(epsilon).top
        assert (enclosed.lo <= value + slack).all()
        assert (value - slack <= enclosed.hi).all()


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("fluid", {"contact": "-1"}, "contact must be finite and not negative"),
        ("affine", {"slope": "inf"}, "a slope must be finite"),
        ("convex", {"value": "1", "lines": []}, "lines with finite offsets"),
        ("prices", {"prices": ["1", "2"], "value": "1", "slack": "0"}, "one finite price for each input"),
    ],
)
def test_malformed_proofs_are_refused(kind: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        proved(kind, change, ex.LDP(1), ex.MutualInformation([0.5, 0.3, 0.2]))


@pytest.mark.parametrize("kind", ["fluid", "affine", "convex", "response", "prices"])
def test_proofs_about_another_problem_are_refused(kind: str) -> None:
    with pytest.raises(Refused, match="about mutual information under ε-LDP"):
        proved(kind, WHOLE, ex.LDP(1), ex.KL([0.5, 0.5], [0.4, 0.6]))
    with pytest.raises(Refused, match="about mutual information under ε-LDP"):
        proved(kind, WHOLE, ex.LDP(1, delta=0.1), ex.MutualInformation([0.5, 0.5]))


def test_many_equal_symbols_are_checked_by_their_number() -> None:
    prior = ["1/60"] * 20 + ["2/60"] * 20
    found = ex.design(ex.LDP(1), ex.MutualInformation(prior))
    assert found.certificate.proofs[0].kind == "prices"
    assert found.gap < 1e-9
    assert ex.verify(found)
