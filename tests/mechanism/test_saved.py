"""Mechanism files that were written before: every one loads, and its claim is decided again."""

from __future__ import annotations

from pathlib import Path

import pytest

import extremal as ex

MECHANISMS = sorted((Path(__file__).parents[1] / "data" / "saved").glob("mechanism-*.json"))


@pytest.mark.parametrize("path", MECHANISMS, ids=lambda path: path.stem)
def test_mechanisms_hold(path: Path) -> None:
    mechanism = ex.load(path)
    outcome = ex.verify(path)
    assert (outcome.value, outcome.optimality) == ("nothing claimed", "nothing claimed")
    if path.stem == "mechanism-no-claim":
        assert mechanism.privacy is None
        assert outcome.privacy == "nothing claimed"
        assert (bool(outcome), outcome.exit_code) == (False, 3)
    else:
        assert outcome
        assert mechanism.privacy.holds(mechanism)
