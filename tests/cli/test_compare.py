"""`extremal compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extremal.cli import main


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--prior", "0.5,0.3,0.2", "--epsilon", "1", "--plot", str(tmp_path / "c.png")]) == 0
    assert "randomised response" in capsys.readouterr().out
    assert (tmp_path / "c.png").exists()
    assert (
        main(["compare", "--prior", "uniform:2", "--p0", "0.7,0.3", "--p1", "0.4,0.6", "--epsilon", "1", "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["rows"][0]["values"].keys() == {"KL", "MutualInformation"}
    (tmp_path / "p.json").write_text("[0.25, 0.75]")
    (tmp_path / "p.txt").write_text("0.25\n0.75\n")
    for name in ("p.json", "p.txt"):
        assert main(["compare", "--prior", f"@{tmp_path / name}", "--epsilon", "1", "--utility", "Hamming"]) == 0
        assert "Hamming" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "1"], "say what mechanisms are compared by"),
        (["--epsilon", "-1", "--prior", "0.5,0.5"], "epsilon must not be negative"),
        (["--epsilon", "1", "--prior", "0.5,0.6"], "prior must sum to 1"),
        (["--epsilon", "1", "--prior", "uniform:x"], "--prior must be uniform:K"),
        (["--epsilon", "1", "--utility", "KL"], "KL needs two distributions"),
        (["--epsilon", "1", "--utility", "Hamming"], "Hamming needs a prior"),
        (["--epsilon", "1", "--prior", "@nowhere.json"], "No such file"),
    ],
)
def test_command_line_errors(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_goal_counts_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["compare", "--goal", "cdf", "--k", "6", "--epsilon", "1"]
    assert main([*asked, "--plot", str(tmp_path / "people.png")]) == 0
    shown = capsys.readouterr().out
    assert "best mechanism" in shown
    assert "no 1-LDP mechanism has n·MSE below" in shown
    assert max(map(len, shown.splitlines())) <= 120
    assert main([*asked, "--plot", str(tmp_path / "people.png")]) == 2
    assert main([*asked, "--plot", str(tmp_path / "people.png"), "--overwrite", "--json"]) == 0
    captured = capsys.readouterr().out
    found = json.loads(captured[captured.index("{") :])
    assert found["rows"][0]["value"] >= found["bound"]
    assert all(row["people"] == "inf" or row["people"] >= 1 for row in found["rows"])


@pytest.mark.parametrize(
    ("goal", "more"),
    [
        ("frequencies", ["--k", "7"]),
        ("cdf", ["--prior", "0.5,0.3,0.2"]),
        ("ranges", ["--k", "4"]),
        ("mean", ["--k", "4", "--values", "0,1,5,2"]),
    ],
)
def test_a_goal_is_designed_for(goal: str, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "--goal", goal, "--epsilon", "1", *more]) == 0
    shown = capsys.readouterr().out
    assert "at n = 1,000" in shown
    assert "people" in shown
