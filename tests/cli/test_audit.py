import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main
from extremal.mechanism import files


def test_an_honest_mechanism_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ex.randomized_response(5, 1).save(tmp_path / "m.json")
    assert main(["audit", str(path), "--draws", "100000", "--confidence", "0.999999"]) == 0
    assert "no leak found: at least ε = 0.9" in capsys.readouterr().out


@pytest.mark.parametrize("kernel", ["--compiled", "--no-compiled"])
def test_a_false_claim_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str], kernel: str) -> None:
    """The file claims ε = 1 and delivers 1.05: planted, with a hash that fits."""
    path = ex.randomized_response(10, 1.05).save(tmp_path / "m.json")
    content = json.loads(path.read_text())
    content["privacy"]["epsilon"] = "1"
    content["hash"] = files.content_digest({k: v for k, v in content.items() if k != "hash"})
    path.write_text(json.dumps(content))
    assert main(["audit", str(path), "--json", "--confidence", "0.999999", kernel]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["refused"] is True
    assert found["delivered"] > found["allowed"] == 1
    assert found["misfits"] == []


def test_json_without_a_finite_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ex.Mechanism.from_weights([[1, 0], [0, 1]], 1).save(tmp_path / "m.json")
    assert main(["audit", str(path), "--draws", "1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["allowed"] is None


def test_a_broken_file_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.json"
    path.write_text("{}")
    assert main(["audit", str(path)]) == 2
    assert "must be a mechanism file" in capsys.readouterr().err


@pytest.mark.parametrize("strategy", ["joint", "split"])
def test_a_questionnaire_is_audited_on_records_or_part_by_part(
    strategy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ex.Questionnaire.within(2, {"a": 2, "b": 3}, strategy).save(tmp_path / "q.json")
    assert main(["audit", str(path), "--draws", "20000", "--confidence", "0.999999", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == (["a, b"] if strategy == "joint" else ["a", "b"])
    assert sum(part["allowed"] for part in found.values()) == pytest.approx(2)
    assert not any(part["refused"] for part in found.values())
