"""`extremal design --distortion`, losses and distances from files, and the tradeoff table."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main

LINE = "0,1,2\n1,0,1\n2,1,0\n"


def test_smallest_epsilon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "m.json"
    options = [
        "design",
        "--distortion",
        "0.45",
        "--source",
        "0.45,0.45,0.1;0.6,0.2,0.2",
        "--inputs",
        "a,b,c",
        "-o",
        str(target),
        "--json",
    ]
    assert main(options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(0.663294, abs=1e-6)
    assert main(["verify", str(tmp_path / "m.certificate.json")]) == 0
    assert main(["design", "--distortion", "0.3", "--prior", "0.5,0.3,0.2", "--ball", "0.1"]) == 0
    assert "LevelAtDistortion" in capsys.readouterr().out


def test_losses_and_metrics_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv, listed = tmp_path / "d.csv", tmp_path / "d.json"
    csv.write_text(LINE)
    listed.write_text("[[0, 1, 2], [1, 0, 1], [2, 1, 0]]")
    values = []
    for file in (csv, listed):
        command = ["design", "--epsilon", "1", "--prior", "0.5,0.3,0.2", "--distances", str(file), "--json"]
        assert main(command) == 0
        values.append(json.loads(capsys.readouterr().out)["value"])
        assert main([*command, "--privacy", "metric", "--metric", str(file)]) == 0
        assert json.loads(capsys.readouterr().out)["privacy"]["notion"] == "MetricPrivacy"
    assert values[0] == values[1] == pytest.approx(0.46894142137)
    assert main(["compare", "--epsilon", "1", "--prior", "0.5,0.3,0.2", "--utility", "Hamming"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "0.5,0.5"], "a privacy level is needed"),
        (["--distortion", "0.1"], "a distortion needs a prior"),
        (["--distortion", "0.1", "--epsilon", "1", "--prior", "0.5,0.5"], "give either --epsilon or --distortion"),
        (["--distortion", "0", "--prior", "0.5,0.5"], "no finite epsilon keeps the distortion at 0"),
        (
            ["--epsilon", "1", "--privacy", "metric", "--prior", "0.5,0.5"],
            "metric privacy needs the distances between inputs",
        ),
        (["--epsilon", "1", "--prior", "0.5,0.5", "--utility", "Distortion"], "Distortion needs a matrix of losses"),
        (
            ["--epsilon", "1", "--prior", "0.5,0.5", "--distances", "words.csv"],
            "--distances must be a matrix of numbers",
        ),
        (
            ["--epsilon", "1", "--prior", "0.5,0.5", "--distances", "ragged.csv"],
            "--distances must be a matrix with rows of equal length",
        ),
        (["--epsilon", "1", "--prior", "0.5,0.5", "--distances", "missing.csv"], "missing.csv"),
    ],
)
def test_bad_input(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.csv").write_text("a,b\nc,d\n")
    Path("ragged.csv").write_text("1,2\n3\n")
    assert main(["design", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_tradeoff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> str:
        assert main(["tradeoff", *arguments]) == 0
        return capsys.readouterr().out

    picture, table = tmp_path / "p.png", tmp_path / "t.csv"
    given = ("--prior", "0.5,0.3,0.2", "--distortion")
    shown = run(*given, "0.1,0.3,0.5", "--plot", str(picture), "--csv", str(table))
    assert shown.splitlines()[1].split()[:2] == ["0.1", "2.89037"]
    assert picture.stat().st_size > 10_000
    assert table.read_text().startswith("distortion,epsilon")
    found = json.loads(run(*given, "--json"))
    assert found["jump"] == pytest.approx([0.5, math.log(5 / 3)], abs=1e-6)
    assert len(found["epsilon"]) == 43
    assert ex.smallest_epsilon([0.5, 0.3, 0.2], 0.1).value == pytest.approx(2.890372, abs=1e-6)
