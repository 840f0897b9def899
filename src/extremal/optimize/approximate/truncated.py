"""Proofs for small δ from those of ε-LDP: what a column has above e^ε times its least entry is cut off.

With u_x = max_z (q_x − e^ε·q_z)⁺ the rest q − u lies in the cone of ε-LDP, μ is subadditive, and over all reports u_x
adds up to at most (k−1)δ. So a dual vector α of ε-LDP proves, for every sum of column values and every workload,

    OPT(ε, δ) ≤ OPT(ε, 0) + min(1, (k−1)δ)·Σ_x (μ(e_x) − α_x)⁺,

where revealing with probability δ gains δ·Σ_x (μ(e_x) − α_x): the bound tends to that of δ = 0 at the right rate, but
for a factor of k − 1 at most (`truncated` in docs/design/proofs.md).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from extremal.certificate import Chords, Concave, Dual, Listed, Proof, Sets, Squares, Truncated
from extremal.exact.weights import Floats
from extremal.optimize.information.bounds import fluid_prices
from extremal.optimize.information.trees import proof_by_search
from extremal.privacy import LDP
from extremal.utility import MutualInformation, Utility
from extremal.utility.curve import InformationCurve


def truncated(proofs: tuple[Proof, ...], plain: LDP, utility: Utility) -> tuple[Proof, ...]:
    """The proofs of an ε-LDP design that prove something with δ, too."""
    found: list[Proof] = []
    for proof in proofs:
        if isinstance(proof, Concave) and isinstance(utility, MutualInformation):
            proof = proof_by_search(utility, plain, concave_prices(proof, utility, plain.epsilon), math.inf) or proof
        dual = proof.dual if isinstance(proof, Squares) else proof
        if isinstance(dual, Dual) and dual.reason == Listed((), True):
            continue  # the inputs themselves prove as much with δ as without
        if isinstance(proof, Dual) and isinstance(proof.reason, (Listed, Chords, Sets)):
            found.append(replace(proof, reason=Truncated(proof.reason)))
        elif isinstance(proof, Squares) and isinstance(proof.dual.reason, Listed):
            found.append(replace(proof, dual=replace(proof.dual, reason=Truncated(proof.dual.reason))))
    return tuple(found)


def concave_prices(proof: Concave, utility: MutualInformation, epsilon: float) -> Floats:
    """α = a/(e^ε − 1) of the prices a that a proof by concavity has: φ(P(T)) ≤ V + a(T), (e^ε − 1)·V ≤ Σa."""
    curve, prior = InformationCurve(epsilon), utility.prior.values
    if proof.lines:
        prices = np.stack([float(a) + float(b) * prior for a, b in proof.lines]).max(axis=0)
    elif proof.value:
        prices = fluid_prices(prior, curve, float(proof.value))
    else:  # randomised response: every single input at its worth
        worth = curve.value(prior)
        prices = worth - float(worth.sum()) / (curve.c + np.count_nonzero(prior))
    return np.where(prior > 0, prices, 0.0) / curve.c
