"""`extremal tradeoff`: over ε, and over distortions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main


def test_values_over_epsilon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = ["--p0", "0.5,0.3,0.2", "--p1", "0.1,0.2,0.7"]
    assert (
        main(
            [
                "tradeoff",
                *pair,
                "--epsilons",
                "0.5,2",
                "--plot",
                str(tmp_path / "t.png"),
                "--csv",
                str(tmp_path / "t.csv"),
            ]
        )
        == 0
    )
    assert "optimum" in capsys.readouterr().out
    assert (tmp_path / "t.csv").read_text().startswith("epsilon,optimum")
    assert main(["tradeoff", *pair, "--epsilons", "1:2:2", "--json"]) == 0
    assert '"gaps"' in capsys.readouterr().out
    assert main(["tradeoff", *pair, "--epsilons", "a:b"]) == 2
    assert "--epsilons must be FROM:TO:COUNT or a list" in capsys.readouterr().err
    assert main(["tradeoff"]) == 2


def test_what_others_use_for_a_goal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["tradeoff", "--goal", "frequencies", "--k", "20", "--epsilons", "0.5,2"]
    assert main([*given, "--plot", str(tmp_path / "t.png")]) == 0
    shown = capsys.readouterr().out
    for name in ("unary encoding", "local hashing", "Hadamard response", "projective geometry response"):
        assert name in shown
    assert "left out (does not identify what is wanted): stochastic rounding" in shown
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["values"]["hybrid"][0] == "inf"
    assert found["left_out"] == {"stochastic rounding": "does not identify what is wanted"}


def test_the_smallest_epsilon_over_distortions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
