"""Proofs put together from parts of others prove nothing false: 2,000 here, a million in `make audit`."""

from __future__ import annotations

from collections import Counter

from extremal.certificate import KINDS
from support.proofs.comparison import kernel_says
from support.proofs.examples import examples, kinds_of
from support.proofs.recombination import Recombiner

RECOMBINATIONS, SEED = 2000, 11


def test_no_recombination_undercuts_a_mechanism() -> None:
    recombiner = Recombiner(examples(), SEED)
    said: Counter[str] = Counter()
    for _ in range(RECOMBINATIONS):
        tried = recombiner.next()
        bound = kernel_says(tried.proof, tried.about.privacy, tried.about.utility)
        said["refused" if isinstance(bound, str) else "bound"] += 1
        assert isinstance(bound, str) or not tried.about.is_undercut(bound), (tried.about.name, tried.proof)
    assert said["bound"] > RECOMBINATIONS / 20  # it is not refused for its form alone


def test_every_proof_and_reason_is_recombined() -> None:
    kinds = {kind for example in examples() for proof in example.proofs for kind in kinds_of(proof)}
    assert kinds == set(KINDS)


def test_an_undercut_would_be_seen() -> None:
    for example in examples():
        if example.proofs and example.low > 0:
            assert example.is_undercut(example.high * 2 if example.utility.is_cost else example.low / 2)
