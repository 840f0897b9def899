"""Files that earlier versions wrote: every mechanism and certificate loads, and is decided as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.certificate import PROOFS, load_certificate
from extremal.errors import MalformedFile

SAVED = Path(__file__).parents[1] / "data" / "saved"
CERTIFICATES = sorted(path for path in SAVED.glob("certificate-*.json") if path.stem != "certificate-user-function")
MECHANISMS = sorted(SAVED.glob("mechanism-*.json"))


def name(path: Path) -> str:
    return path.stem.split("-", 1)[1]


@pytest.mark.parametrize("path", CERTIFICATES, ids=name)
def test_certificates_are_proved(path: Path) -> None:
    outcome = ex.verify(path)
    assert outcome
    assert (outcome.privacy, outcome.optimality) == (True, True)


@pytest.mark.parametrize("path", CERTIFICATES, ids=name)
def test_proofs_are_written_as_they_were_read(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    certificate, claim = load_certificate(content, path.name)
    assert claim is not None
    assert [proof.to_json() for proof in certificate.proofs] == content["proofs"]
    assert certificate.utility is not None
    assert certificate.utility.to_json() == content["utility"]
    for proof in certificate.proofs:
        again = type(proof).from_json(proof.to_json())
        assert again == proof
        assert hash(again) == hash(proof)


def test_there_is_one_of_every_kind() -> None:
    stored = {p["kind"] for path in CERTIFICATES for p in json.loads(path.read_text(encoding="utf-8"))["proofs"]}
    assert stored == set(PROOFS)


@pytest.mark.parametrize("path", MECHANISMS, ids=name)
def test_mechanisms_hold(path: Path) -> None:
    mechanism = ex.load(path)
    outcome = ex.verify(path)
    if name(path) == "no-claim":
        assert mechanism.privacy is None
        assert (outcome.privacy, outcome.optimality) == (None, None)
    else:
        assert outcome
        assert mechanism.privacy.holds(mechanism)
        assert outcome.optimality is None


@pytest.mark.parametrize("path", CERTIFICATES, ids=name)
def test_a_changed_file_is_refused(path: Path, tmp_path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content["bound"] = repr(float(content["bound"]) + 1)
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(MalformedFile, match="hash"):
        ex.verify(changed)
