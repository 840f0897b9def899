"""Proofs about a distortion: what they are about, and what is not whole."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import extremal as ex
from extremal.certificate import Refused
from extremal.certificate.proof import DistortionDual, HammingPrior


def test_proofs_of_another_kind_are_refused() -> None:
    utility = ex.Distortion([0.5, 0.5], [[0, 1], [1, 0]])
    good = DistortionDual(("0", "0"), mix=("1",), flows=())
    apart = ex.MetricPrivacy(1, [[0, math.inf], [math.inf, 0]])
    assert good.bound(apart, utility) == 0.0
    for proof, notion, what, message in [
        (good, ex.LDP(1), ex.KL([0.5, 0.5], [0.4, 0.6]), "this proof is about a distortion"),
        (replace(good, alpha=("0",)), ex.LDP(1), utility, "one entry for each input"),
        (good, ex.LDP(1, 0.1), utility, "no check is known for this notion"),
        (replace(good, flows=((0, 0, 1, "1"),)), apart, utility, "multipliers must be ≥ 0"),
        (
            replace(good, shares=((0, 0, "-1"),)),
            ex.PML(1, ex.SourceClass([[0.5, 0.5], [0.1, 0.9]])),
            utility,
            "weights must be ≥ 0",
        ),
    ]:
        with pytest.raises(Refused, match=message):
            proof.bound(notion, what)
    with pytest.raises(Refused, match="a prior proves Hamming distortion under ε-LDP"):
        HammingPrior(mix=("1",)).bound(apart, ex.Hamming([0.5, 0.5]))
