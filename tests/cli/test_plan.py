"""`extremal plan`: precision and power, pictures and mechanisms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main


def test_people_for_a_precision(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extremal.studies.planning.planned.POINTS", 3)
    picture, file = tmp_path / "p.png", tmp_path / "m.json"
    asked = ["plan", "--inputs", "no,yes", "--epsilon", "1", "--half-width", "0.05"]
    assert main([*asked, "--plot", str(picture), "-o", str(file)]) == 0
    said = capsys.readouterr().out
    wanted = ex.plan(inputs=["no", "yes"], epsilon=1, half_width=0.05)
    assert said.startswith(f"Plan: {wanted.n:,} people")
    assert picture.stat().st_size > 10_000
    assert ex.load(file).hash == wanted.mechanism.hash
    assert main([*asked, "-o", str(file)]) == 2
    assert main(["plan", "--mechanism", str(file), "--n", str(wanted.n), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["half_width"] == wanted.half_width
    assert found["solved"] == "half_width"


def test_means_and_distribution_functions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--mean", "0,1,2", "--epsilon", "1", "--n", "500", "--json"]) == 0
    worst = ex.plan(workload=ex.Mean([0, 1, 2], ex.SourceClass.simplex(3)), epsilon=1, n=500)
    assert json.loads(capsys.readouterr().out)["half_width"] == pytest.approx(worst.half_width)
    assert main(["plan", "--cdf", "--prior", "uniform:3", "--epsilon", "1", "--n", "500", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["widest"] == ex.plan(workload=ex.CDF(3), epsilon=1, n=500).widest
    assert main(["plan", "--cdf", "--inputs", "a,b", "--epsilon", "1", "--n", "500"]) == 0
    assert "≤ a" in capsys.readouterr().out
    assert main(["plan", "--cdf", "--epsilon", "1", "--n", "500"]) == 2
    assert "--k" in capsys.readouterr().err
    assert main(["plan", "--cdf", "--mean", "0,1", "--epsilon", "1", "--n", "500"]) == 2


def test_a_distribution_function_by_a_given_mechanism(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = ex.randomized_response(3, 1).save(tmp_path / "m.json")
    assert main(["plan", "--cdf", "--mechanism", str(file), "--n", "500", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mechanism"] == ex.load(file).hash


def test_people_for_a_power(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["plan", "--p0", "0.5,0.5", "--p1", "0.4,0.6", "--epsilon", "1"]
    assert main([*asked, "--power", "0.8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == ex.plan_test(p0=[0.5, 0.5], p1=[0.4, 0.6], epsilon=1, power=0.8).n
    assert main([*asked, "--n", "100", "--alpha", "0.01"]) == 0
    assert "α = 0.01" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--k", "3", "--epsilon", "1"], "give two of"),
        (["--p0", "0.5,0.5", "--epsilon", "1", "--n", "10"], "--p1"),
        (["--p0", "0.5,0.5", "--p1", "0.4,0.6", "--k", "2", "--n", "10"], "--k"),
        (["--k", "3", "--epsilon", "1", "--power", "0.8"], "plan a test"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *options]) == 2
    assert said in capsys.readouterr().err
