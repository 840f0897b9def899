"""`extremal estimate`."""

import hashlib
import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    M.save(tmp_path / "m.json")
    rows = [
        f"{answer},{region},{weight}"
        for answer, region, weight in [("a", "n", 1), ("b", "s", 2), ("a", "s", 1), ("c", "n", 3)] * 50
    ]
    (tmp_path / "r.csv").write_text("answer,region,weight\n" + "\n".join(rows) + "\n")
    digest = hashlib.sha256((tmp_path / "r.csv").read_bytes()).hexdigest()
    (tmp_path / "r.csv.extremal.json").write_text(json.dumps({"columns": {"answer": M.hash}, "sha256": digest}))
    return str(tmp_path / "r.csv"), str(tmp_path / "m.json")


def test_summary_and_json(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    reports, mechanism = files
    assert main(["estimate", reports, "--mechanism", mechanism]) == 0
    assert "n = 200 reports" in capsys.readouterr().out
    assert main(["estimate", reports, "--mechanism", mechanism, "--json", "--method", "mle", "--level", "0.9"]) == 0
    found = json.loads(capsys.readouterr().out)
    direct = ex.estimate_frequencies({"a": 100, "b": 50, "c": 50}, M, method="mle")
    assert [row["estimate"] for row in found["inputs"]] == pytest.approx(direct.estimate.tolist())
    assert found["inputs"][0]["interval"] == pytest.approx(direct.interval(0.9)[0].tolist())
    assert (found["n"], found["mechanism"], found["level"]) == (200, M.hash, 0.9)


def test_strata_weights_and_picture(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports, mechanism = files
    picture = tmp_path / "p.png"
    arguments = [
        "estimate",
        reports,
        "--mechanism",
        mechanism,
        "--by",
        "region",
        "--weights",
        "weight",
        "--json",
        "--plot",
        str(picture),
    ]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)["estimates"]
    assert {one["stratum"]: one["n"] for one in found} == {"n": 100, "s": 100}
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["estimate", reports, "--mechanism", mechanism, "--by", "region", "--by", "weight", "--json"]) == 0
    assert ["s", "2"] in [one["stratum"] for one in json.loads(capsys.readouterr().out)["estimates"]]


def test_another_mechanism_is_bad_input(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = str(ex.randomized_response(3, 1, inputs=["a", "b", "c"]).save(tmp_path / "other.json"))
    assert main(["estimate", files[0], "--mechanism", other]) == 2
    assert "must come from this mechanism" in capsys.readouterr().err
    assert main(["estimate", files[0], "--mechanism", other, "--column", "answer", "--no-hash-check"]) == 0
    assert main(["estimate", "absent.csv", "--mechanism", other]) == 2
    assert "No such file" in capsys.readouterr().err


def test_no_precision_to_speak_of_is_null_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = ex.Mechanism.from_matrix([[1, 0], [0, 1]])
    m.save(tmp_path / "m.json")
    (tmp_path / "r.csv").write_text("x\n0\n0\n0\n")
    assert (
        main(
            [
                "estimate",
                str(tmp_path / "r.csv"),
                "--mechanism",
                str(tmp_path / "m.json"),
                "--column",
                "x",
                "--no-hash-check",
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["n_without_privacy"] is None
