"""Files that the previous version wrote: every mechanism and certificate loads; privacy and values are decided again,
and proofs of kinds that are gone prove nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.certificate.certificate import load_certificate
from extremal.cli import main
from extremal.errors import MalformedFile

SAVED = Path(__file__).parents[1] / "data" / "saved"
CERTIFICATES = sorted(path for path in SAVED.glob("certificate-*.json") if path.stem != "certificate-user-function")
MECHANISMS = sorted(SAVED.glob("mechanism-*.json"))


def name(path: Path) -> str:
    return path.stem.split("-", 1)[1]


@pytest.mark.parametrize("path", CERTIFICATES, ids=name)
def test_certificates_of_version_1_are_private_and_of_that_value_and_to_be_designed_again(path: Path) -> None:
    outcome = ex.verify(path)
    assert (outcome.privacy, outcome.value) == ("proved", "proved")
    if json.loads(path.read_text(encoding="utf-8"))["bound"] == "0.0":  # no cost is below 0: nothing to prove
        assert outcome.optimality == "proved"
        return
    assert (bool(outcome), outcome.optimality, outcome.exit_code) == (False, "not proven", 3)
    assert "design again" in outcome.reasons[-1]


@pytest.mark.parametrize("path", CERTIFICATES, ids=name)
def test_what_they_were_about_is_read(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    certificate, claim = load_certificate(content, path.name)
    assert claim is not None
    assert certificate.utility is not None
    assert certificate.utility.k == certificate.mechanism.k
    assert certificate.outdated == tuple(proof["kind"] for proof in content["proofs"])
    assert certificate.proofs == ()


def test_the_certificate_of_a_user_function_loads_and_is_unverified(capsys: pytest.CaptureFixture[str]) -> None:
    path = SAVED / "certificate-user-function.json"
    outcome = ex.verify(path)
    assert (outcome.privacy, outcome.value, outcome.optimality) == ("proved", "not proven", "not proven")
    assert "unverified" in outcome.reasons[-1]
    assert main(["verify", str(path)]) == 3
    assert "unverified" in capsys.readouterr().out


@pytest.mark.parametrize("path", MECHANISMS, ids=name)
def test_mechanisms_hold(path: Path) -> None:
    mechanism = ex.load(path)
    outcome = ex.verify(path)
    assert (outcome.value, outcome.optimality) == ("nothing claimed", "nothing claimed")
    if name(path) == "no-claim":
        assert mechanism.privacy is None
        assert outcome.privacy == "nothing claimed"
        assert (bool(outcome), outcome.exit_code) == (False, 3)
    else:
        assert outcome
        assert mechanism.privacy.holds(mechanism)


@pytest.mark.parametrize("path", CERTIFICATES, ids=name)
def test_a_changed_file_is_refused(path: Path, tmp_path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content["bound"] = repr(float(content["bound"]) + 1)
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(MalformedFile, match="hash"):
        ex.verify(changed)
