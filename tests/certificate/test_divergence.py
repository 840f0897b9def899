"""The proofs about f-divergences under ε-LDP: accepted as made, refused when changed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate.proof import Dual, Proof, Theorem, proof_from_json, texts
from extremal.testing.designs import accepted, check_refusals, spoiled

DIVERGENCES: list[Any] = [
    ex.KL,
    ex.ReverseKL,
    ex.SymmetricKL,
    ex.TotalVariation,
    ex.ChiSquared,
    ex.SquaredHellinger,
    ex.JensenShannon,
    lambda p, q: ex.AlphaDivergence(p, q, "1.7"),
    lambda p, q: ex.HockeyStick(p, q, "1.2"),
]


def instance(generator: np.random.Generator, index: int) -> tuple[Any, float]:
    """Dirichlet pairs, with ties, zeros, and nearly equal ones among them."""
    k = int(generator.integers(2, 9 if index % 8 else 11))
    p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
    match index % 5:
        case 1:
            p0[0] = p1[0] = min(p0[0], p1[0])  # a tie P₀(x) = P₁(x)
        case 2:
            p0[: k // 2], p1[k - 1] = 0.0, 0.0
        case 3:
            p1 = p0 * (1 + 1e-4 * generator.standard_normal(k))
        case 4:
            p0[1 : k // 2 + 1], p1[1 : k // 2 + 1] = p0[0], p1[0]  # equal ratios
    p0, p1 = p0 / p0.sum(), p1 / p1.sum()
    epsilon = float(np.exp(generator.uniform(np.log(0.01), np.log(8))))
    return DIVERGENCES[index % len(DIVERGENCES)](p0, p1), epsilon


@pytest.mark.parametrize("divergence", [ex.KL, ex.TotalVariation])
def test_the_verifier_refuses_what_was_changed(divergence: Any) -> None:
    p0, p1 = [0.4, 0.3, 0.2, 0.1], [0.1, 0.15, 0.3, 0.45]
    found = ex.design(ex.LDP(2.5), divergence(p0, p1))
    check_refusals(found, divergence(p0, [0.1, 0.2, 0.3, 0.4]), ex.randomized_response(4, 2.4))
    for index, proof in enumerate(found.certificate.proofs):
        if isinstance(proof, Dual):
            lowered = texts([float(proof.alpha[0]) - 1e-3, *map(float, proof.alpha[1:])])
            changed: Proof = dataclasses.replace(proof, alpha=lowered)
        else:
            assert isinstance(proof, Theorem)
            changed = dataclasses.replace(proof, at=repr(float(proof.at) * (1 + 1e-4)))
        proofs = tuple(changed if i == index else p for i, p in enumerate(found.certificate.proofs))
        assert not ex.verify(dataclasses.replace(found.certificate, proofs=proofs))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "theorem", "at": "nan", "edges": [0, 4]}, "finite and not negative"),
        ({"kind": "theorem", "at": "0.1", "edges": [0, 3]}, "must increase from 0"),
        ({"kind": "theorem", "at": "0.1", "edges": [0, 2, 2, 4]}, "must increase from 0"),
        ({"kind": "dual", "alpha": ["0.1"], "slack": "1e-12"}, "one finite entry for each input"),
        ({"kind": "dual", "alpha": ["inf"] * 4, "slack": "1e-12"}, "one finite entry for each input"),
        ({"kind": "dual", "alpha": ["0.1"] * 4, "slack": "-1"}, "slack must be positive"),
        ({"kind": "patterns", "alpha": ["0.1"], "mix": ["1"]}, "one finite entry for each input"),
        ({"kind": "dual"}, "does not hold"),
    ],
)
def test_malformed_proofs_are_refused(change: dict[str, Any], message: str) -> None:
    found = ex.design(ex.LDP(2.5), ex.KL([0.4, 0.3, 0.2, 0.1], [0.1, 0.15, 0.3, 0.45]))
    proof = proof_from_json({**change, "bound": repr(found.upper_bound)})
    outcome = ex.verify(dataclasses.replace(found.certificate, proofs=(proof,)))
    assert not outcome
    assert message in outcome.reasons[-1]


def test_proofs_of_another_problem_are_refused() -> None:
    found = ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]))
    information = ex.MutualInformation([0.5, 0.5])
    m = found.mechanism
    for proof in found.certificate.proofs:
        wrong = ex.certificate.Certificate(
            m, information, information(m), 1.0, (dataclasses.replace(proof, claimed=1.0),)
        )
        assert not ex.verify(wrong)


def test_the_verifier_accepts_a_thousand_designs_and_refuses_each_corruption() -> None:
    generator = np.random.default_rng(11)
    for index in range(1000):
        utility, epsilon = instance(generator, index)
        found = ex.design(ex.LDP(epsilon), utility, proofs=["theorem"])
        assert ex.verify(found), (index, utility.name, epsilon)
        if index % 20 or found.value < 1e-9:
            continue
        weights = found.mechanism.weights.copy()
        weights[0, 0], weights[0, -1] = weights[0, 0] + 2**40, weights[0, -1] - 2**40
        moved = dataclasses.replace(ex.Mechanism.from_weights(weights), privacy=found.mechanism.privacy)
        tightened = {"bound tightened", "bound and claims tightened", "another mechanism"}
        damaged = {what: certificate for what, certificate in spoiled(found, other=moved) if what in tightened}
        assert set(damaged) == tightened
        assert not any(accepted(certificate) for certificate in damaged.values()), (index, utility.name, epsilon)
