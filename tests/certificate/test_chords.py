"""Proofs by chords and by listed rays, under metric privacy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Refused
from extremal.certificate.proof import Chords, Rays


def line(k: int, step: str = "0.1") -> list[list[float]]:
    return [[round(abs(i - j) * float(step), 6) for j in range(k)] for i in range(k)]


def pair(k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    p, q = np.random.default_rng(seed).dirichlet(np.ones(k), size=2)
    return p, q


def test_nodes_that_do_not_cover_are_refused() -> None:
    p, q = pair(5, 2)
    utility, notion = ex.KL(p, q), ex.MetricPrivacy(2, line(5))
    (proof,) = ex.design(notion, utility).certificate.proofs
    assert isinstance(proof, Chords)
    for changed, message in [
        (replace(proof, steps=proof.steps[1:]), "the nodes must increase and cover every ratio"),
        (replace(proof, steps=(*proof.steps[:-1], "0")), "the nodes must increase"),
        (replace(proof, alpha=proof.alpha[1:]), "one entry for each input"),
    ]:
        with pytest.raises(Refused, match=message):
            changed.bound(notion, utility)
    with pytest.raises(Refused, match="chords prove f-divergences under metric privacy"):
        proof.bound(ex.LDP(1), utility)
    with pytest.raises(Refused, match="rays are listed for metric privacy"):
        Rays(proof.alpha, ("1",)).bound(ex.LDP(1), utility)
    with pytest.raises(Refused, match="one finite entry for each input"):
        Rays(("0",), ("1",)).bound(notion, utility)
