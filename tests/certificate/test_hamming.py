"""Proofs that choose a prior of a class: it must be one."""

from __future__ import annotations

import extremal as ex
from extremal.testing.designs import with_proof


def test_a_prior_outside_the_class_is_refused() -> None:
    d = ex.smallest_epsilon(ex.SourceClass.ball([0.5, 0.3, 0.2], 0.05), 0.3)
    assert ex.verify(d)
    result = ex.verify(with_proof(d, prior=("1/3", "1/3", "1/3")))
    assert not result
    assert "the prior of a proof must lie in the class" in result.reasons[-1]
    assert "a mixture must have one weight" in ex.verify(with_proof(d, mix=("1",))).reasons[-1]
