"""Whatever numbers a proof holds, what the kernel accepts is not beyond an optimum that was found in another way.

Some two thousand lies here, of which `make test` tells the first hundred; a hundred thousand in `make audit`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from extremal.certificate import KINDS, NotKnown, Proof, Refused
from extremal.certificate.proof import Value
from support.proofs.adversaries import (
    ATTACKS,
    classes,
    costs,
    coupled_chords,
    rays_and_lines,
)
from support.proofs.lies import varied
from support.proofs.workload_attacks import coupled_workloads, lifted_workloads, workloads

ROUNDS = {costs: 40, classes: 20, workloads: 30, coupled_chords: 10, coupled_workloads: 10, lifted_workloads: 10}
FEW, USUAL, VARIATIONS = 5, 80, 3


def named(value: Value) -> set[str]:
    """The kinds of a proof and of all that it is made of."""
    inner = [getattr(value, f.name) for f in dataclasses.fields(value)]
    parts = [v for field in inner for v in (field if isinstance(field, tuple) else (field,)) if isinstance(v, Value)]
    return {value.kind, *(kind for part in parts for kind in named(part))}


def _told(attack: Any, rounds: int) -> int:
    """How many lies were told in so many rounds, none of them believed."""
    told = 0
    for seed in range(rounds):
        random = np.random.default_rng(seed)
        for number, lie in enumerate(varied(random, attack(random), VARIATIONS)):
            assert not lie.is_believed(), (seed, number, lie)
            told += 1
    return told


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_no_lie_is_believed(attack: Any) -> None:
    assert _told(attack, FEW) >= FEW


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_no_lie_among_many_is_believed(attack: Any) -> None:
    rounds = ROUNDS.get(attack, USUAL)
    assert _told(attack, rounds) >= 2 * rounds


def test_every_kind_of_proof_is_attacked() -> None:
    told = (lie for attack in ATTACKS for seed in range(12) for lie in attack(np.random.default_rng(seed)))
    assert {kind for lie in told for kind in named(lie.proof)} == set(KINDS)


def test_a_lie_that_a_checker_lets_pass_would_be_seen() -> None:
    lie = next(lie for seed in range(50) for lie in rays_and_lines(np.random.default_rng(seed)))
    object.__setattr__(lie, "optimum", 2 * float(lie.proof.bound(lie.privacy, lie.utility)))
    assert lie.is_believed()


def test_a_proof_about_something_else_is_a_bound_or_is_refused_and_breaks_nothing() -> None:
    """Every kind on notions and utilities of other proofs: a file may put together what it likes."""
    random = np.random.default_rng(7)
    told = [lie for attack in ATTACKS for _ in range(4) for lie in attack(random)]
    tried: set[str] = set()
    for lie in told:
        for other in (told[i] for i in random.integers(len(told), size=6)):
            for privacy, utility in ((other.privacy, lie.utility), (lie.privacy, other.utility)):
                try:
                    assert lie.proof.bound(privacy, utility) is not None
                except (Refused, NotKnown):
                    tried.add(lie.proof.kind)
    assert tried == {lie.proof.kind for lie in told}
    assert tried == {kind for kind, form in KINDS.items() if issubclass(form, Proof)}
