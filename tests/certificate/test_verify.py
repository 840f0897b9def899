"""What `verify` says about certificates whose optimality nobody can check, and about labels that look like one."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.mechanism.files import content_digest
from support.refusals import falsely_claiming

P0, P1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]


def rewritten(path: Path, **changes: Any) -> Path:
    """A certificate file with some fields replaced and a hash that fits."""
    content = {**json.loads(path.read_text()), **changes}
    content["hash"] = content_digest({k: v for k, v in content.items() if k != "hash"})
    path.write_text(json.dumps(content))
    return path


def test_an_output_label_changes_nothing(tmp_path: Path) -> None:
    losses = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    utility = ex.Distortion(P0, losses, outputs=["a", "b", "user function"])
    found = ex.design(ex.LDP(1), utility)
    assert utility.verifiable
    assert ex.verify(found).optimality == "proved"
    for forged in (
        dataclasses.replace(found.certificate, value=0.9),
        dataclasses.replace(found.certificate, proofs=()),
        dataclasses.replace(found.certificate, value=0.9, bound=0.9, proofs=()),
    ):
        assert not ex.verify(forged)
        assert ex.verify(forged).exit_code in (1, 3)
    path = found.certificate.save(tmp_path / "c.json")
    assert ex.verify(path)
    assert ex.verify(rewritten(path, proofs=[], value="0.9")).value == "refuted"


def test_a_certificate_that_names_no_utility_is_not_true(tmp_path: Path) -> None:
    path = ex.design(ex.LDP(1), ex.KL(P0, P1)).certificate.save(tmp_path / "c.json")
    outcome = ex.verify(rewritten(path, utility=None, proofs=[], value="9.0", bound="9.0"))
    assert not outcome
    assert (outcome.privacy, outcome.optimality, outcome.exit_code) == ("proved", "not proven", 3)


@pytest.mark.parametrize(
    "utility",
    [
        ex.FDivergence(P0, P1, lambda x: (x - 1) ** 2),
        ex.Sublinear(3, lambda columns: columns.max(axis=0)),
        ex.Average([ex.KL(P0, P1), ex.FDivergence(P0, P1, lambda x: (x - 1) ** 2)]),
    ],
    ids=lambda utility: utility.name,
)
def test_what_a_user_wrote_is_optimised_saved_and_never_verified(utility: Any, tmp_path: Path) -> None:
    found = ex.design(ex.LDP(1), utility)
    path = found.certificate.save(tmp_path / "c.json")
    for outcome in (ex.verify(found), ex.verify(path)):
        assert outcome.exit_code == 3
        assert not outcome


def test_a_class_derived_by_a_user_is_not_verified() -> None:
    class Mine(ex.KL):
        def __call__(self, mechanism: Any) -> float:
            return 2 * super().__call__(mechanism)

    found = ex.design(ex.LDP(1), Mine(P0, P1))
    assert found.value == pytest.approx(2 * ex.KL(P0, P1)(found.mechanism))
    outcome = ex.verify(found)
    assert not outcome
    assert outcome.exit_code == 3


def test_a_false_privacy_claim_is_false_whatever_was_optimised() -> None:
    found = ex.design(ex.LDP(1), ex.FDivergence(P0, P1, lambda x: (x - 1) ** 2))
    weights = np.array(found.mechanism.weights)
    weights[0] = [weights[0].sum() - 1, 1]
    moved = falsely_claiming(ex.Mechanism.from_weights(weights), found.mechanism.privacy)
    outcome = ex.verify(dataclasses.replace(found.certificate, mechanism=moved))
    assert (outcome.privacy, outcome.exit_code, bool(outcome)) == ("refuted", 1, False)
