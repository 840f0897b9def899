"""`extremal theory`: answers, exit codes, JSON and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main

PAIR = ["--p0", "0.5,0.3,0.2", "--p1", "0.1,0.2,0.7"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    ex.randomized_response(3, 2).save("strong.json")
    ex.randomized_response(3, 1).save("weak.json")
    ex.quaternary(1, "0.1").save("four.json")
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, object]:
    assert main(["theory", *arguments, "--json"]) == code
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


def test_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    answer = _json(capsys, "thresholds", *PAIR)
    assert answer["universal"] == pytest.approx(0.8873031950009)
    assert answer["binary_up_to"] == pytest.approx(answer["response_from"], abs=1e-12)
    assert main(["theory", "thresholds", *PAIR, "--utility", "TotalVariation"]) == 0
    assert "up to ε = inf" in capsys.readouterr().out
    assert _json(capsys, "thresholds", *PAIR, "--utility", "TotalVariation")["response_from"] == "inf"


def test_converses_and_their_picture(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    arguments = ["theory", "converses", "--prior", "0.5,0.5", "--epsilon", "1", "--plot", "bounds.png"]
    assert main(arguments) == 0
    assert "Theorem 13" in capsys.readouterr().out
    assert (files / "bounds.png").read_bytes().startswith(b"\x89PNG")
    answer = _json(capsys, "converses", *PAIR, "--epsilon", "1")
    assert {b["name"] for b in answer["bounds"]} >= {"Corollary 9", "chord"}  # type: ignore[attr-defined]


def test_regions_contain_each_other(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    assert main(["theory", "region", "four.json", "--epsilon", "1", "--delta", "0.1", "--plot", "r.png"]) == 0
    assert "ε = 1, δ = 0.1 contains four.json" in capsys.readouterr().out
    assert (files / "r.png").exists()
    assert main(["theory", "region", "weak.json", *PAIR]) == 0
    assert main(["theory", "region"]) == 2
    assert "a mechanism or --epsilon" in capsys.readouterr().err


def test_dominance_has_exit_code_one_when_false(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    assert _json(capsys, "dominates", "strong.json", "weak.json")["dominates"] is True
    assert _json(capsys, "dominates", "weak.json", "strong.json", code=1)["margin"] > 0  # type: ignore[operator]
    assert main(["theory", "dominates", "weak.json", "strong.json"]) == 1
    assert "weak.json does not dominate strong.json" in capsys.readouterr().out
    assert main(["theory", "dominates", "strong.json", "weak.json"]) == 0
    assert "strong.json dominates weak.json" in capsys.readouterr().out
    assert main(["theory", "dominates", "strong.json", "four.json"]) == 2


def test_profiles_and_composition(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    assert main(["theory", "profile", "strong.json", "weak.json", "--plot", "p.png"]) == 0
    assert (files / "p.png").exists()
    answer = _json(capsys, "profile", "weak.json") if capsys.readouterr() else {}
    assert answer["weak.json"]["delta"][-1] == 0.0  # type: ignore[index]
    assert _json(capsys, "compose", "weak.json", "strong.json")["epsilon"] == pytest.approx(3)
    assert _json(capsys, "compose", "weak.json", "--times", "4", "--delta", "0.1")["epsilon"] < 4  # type: ignore[operator]
    assert main(["theory", "compose", "weak.json"]) == 0


def test_exponents_and_staircases(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    assert _json(capsys, "exponent", "weak.json", *PAIR)["stein"] == pytest.approx(
        ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])(ex.randomized_response(3, 1))
    )
    assert _json(capsys, "staircase", "weak.json")["patterns"] == [2, 3, 5]
    assert main(["theory", "exponent", "weak.json", "--p0", "0.5,0.3,0.2"]) == 2
    assert "a distribution is needed; got --p1=None" in capsys.readouterr().err


def test_shuffled_reports_and_their_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ex.randomized_response(10, 2).save(tmp_path / "m.json")
    claim = tmp_path / "central.json"
    assert (
        main(["theory", "shuffled", str(path), "--n", "1e6", "--delta", "1e-8", "--claim", str(claim), "--json"]) == 0
    )
    content = json.loads(capsys.readouterr().out)
    low, high = content["epsilon"]
    assert 0.0091623280 < low <= high < 0.0091623330
    assert content["generic"] > 0.0175
    assert main(["verify", str(claim), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["proved"]
    assert found["claim"]["n"] == 1_000_000
    assert main(["theory", "shuffled", str(path), "--n", "1000000"]) == 0
    assert "no shuffler" in capsys.readouterr().out
    assert main(["theory", "shuffled", str(path), "--n", "1.5"]) == 2
    assert "whole number" in capsys.readouterr().err


def test_the_mechanism_for_a_shuffle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "best.json"
    options = ["--n", "20000", "--epsilon", "0.05", "--delta", "1e-6", "--utility", "Frequencies", "--k", "6"]
    assert main(["theory", "shuffle-target", *options, "--save", str(saved)]) == 0
    assert "local ε" in capsys.readouterr().out
    assert ex.load(saved).k == 6
