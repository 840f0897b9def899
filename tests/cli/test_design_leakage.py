"""`extremal design --privacy pml|lip`."""

import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main


def test_pml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "q.json"
    arguments = [
        "design",
        "--privacy",
        "pml",
        "--epsilon",
        "0.5",
        "--prior",
        "0.5,0.3,0.2",
        "--inputs",
        "a,b,c",
        "-o",
        str(file),
        "--json",
    ]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(0.296845174168, abs=1e-9)
    assert found["gap"] < 1e-9
    assert any("region 2 of 3" in note for note in found["notes"])
    assert main(["verify", str(tmp_path / "q.certificate.json")]) == 0
    assert ex.load(file).inputs == ("a", "b", "c")


def test_lip_asymmetric(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["design", "--privacy", "lip", "--epsilon", "0.5", "--lower", "1", "--prior", "0.5,0.3,0.2"]
    assert main([*arguments, "--p0", "0.5,0.3,0.2", "--p1", "0.2,0.3,0.5", "--utility", "KL"]) == 0
    text = capsys.readouterr().out
    assert "KL under LIP(epsilon=0.5" in text
    assert "lower=1.0" in text


@pytest.mark.parametrize("notion", ["pml", "lip"])
def test_the_prior_is_needed(notion: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "--privacy", notion, "--epsilon", "1", "--p0", "0.5,0.5", "--p1", "0.2,0.8"]) == 2
    assert f"{notion} needs the prior that it promises under" in capsys.readouterr().err
