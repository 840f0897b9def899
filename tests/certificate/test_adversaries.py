"""Whatever numbers a proof holds, what the kernel accepts is not beyond an optimum that was found in another way.

Some two thousand lies here; a hundred thousand in `make audit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extremal.certificate import PROOFS
from extremal.testing.proofs.adversaries import (
    ATTACKS,
    classes,
    costs,
    coupled_chords,
    rays_and_lines,
)
from extremal.testing.proofs.lies import varied
from extremal.testing.proofs.workload_attacks import coupled_workloads, workloads

ROUNDS = {costs: 40, classes: 20, workloads: 30, coupled_chords: 10, coupled_workloads: 10}
USUAL, VARIATIONS = 80, 3


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_no_lie_is_believed(attack: Any) -> None:
    told = 0
    for seed in range(ROUNDS.get(attack, USUAL)):
        random = np.random.default_rng(seed)
        for number, lie in enumerate(varied(random, attack(random), VARIATIONS)):
            assert not lie.is_believed(), (seed, number, lie)
            told += 1
    assert told >= 2 * ROUNDS.get(attack, USUAL)


def test_every_kind_of_proof_is_attacked() -> None:
    attacked = {
        lie.proof.kind for attack in ATTACKS for seed in range(12) for lie in attack(np.random.default_rng(seed))
    }
    assert attacked == set(PROOFS)


def test_a_lie_that_a_checker_lets_pass_would_be_seen() -> None:
    lie = next(lie for seed in range(50) for lie in rays_and_lines(np.random.default_rng(seed)))
    object.__setattr__(lie, "optimum", 2 * float(lie.proof.bound(lie.privacy, lie.utility)))
    assert lie.is_believed()
