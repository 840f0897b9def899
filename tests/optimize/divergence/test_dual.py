"""The dual vector that is lifted from a few knots to any alphabet."""

from __future__ import annotations

import numpy as np

import extremal as ex
from extremal.testing.designs import check


def test_the_dual_proof_is_lifted_to_large_alphabets() -> None:
    generator = np.random.default_rng(2)
    p0, p1 = generator.dirichlet(np.ones(1_000)), generator.dirichlet(np.ones(1_000))
    found = ex.design(ex.LDP(2), ex.KL(p0, p1), proofs=["lines"])
    assert [proof.kind for proof in found.certificate.proofs] == ["lines"]
    check(found, tolerance=1e-9)


def test_older_names_of_proofs_are_understood() -> None:
    for name, kind in (("dual", "lines"), ("theorem", "partition")):
        found = ex.design(ex.LDP(2), ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), proofs=[name])
        assert [proof.kind for proof in found.certificate.proofs] == [kind]
