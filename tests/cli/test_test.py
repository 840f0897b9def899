"""`extremal test`."""

import json
from pathlib import Path

import numpy as np
import pytest

import extremal as ex
from extremal.cli import main
from extremal.columns.files.note import digest

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
N = ex.randomized_response(2, 1)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    M.save(tmp_path / "m.json")
    N.save(tmp_path / "n.json")
    rows = [("a", "n", 0), ("b", "s", 1), ("a", "n", 0), ("c", "s", 1)] * 50
    lines = "\n".join(f"{a},{r},{d}" for a, r, d in rows)
    (tmp_path / "r.csv").write_text(f"answer,region,drinks\n{lines}\n")
    note = {"version": "1.0", "columns": {"answer": M.hash, "drinks": N.hash}, "sha256": digest(tmp_path / "r.csv")}
    (tmp_path / "r.csv.extremal.json").write_text(json.dumps(note))
    return str(tmp_path / "r.csv"), str(tmp_path / "m.json"), str(tmp_path / "n.json")


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["test", *arguments, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def test_hypotheses_from_a_file_and_from_counts_agree(
    files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    reports, m, _ = files
    pair = ["--mechanism", m, "--p0", "0.8,0.1,0.1", "--p1", "1/3,1/3,1/3"]
    found = run(["hypotheses", reports, "--column", "answer", *pair], capsys)
    assert found == run(["hypotheses", "--counts", "100,50,50", *pair], capsys)
    direct = ex.test_hypotheses([100, 50, 50], M, [0.8, 0.1, 0.1], ["1/3"] * 3, counts=True)
    assert found["p_value"] == direct.p_value
    assert (found["rejected"], found["mechanism"], found["n"]) == (bool(direct), M.hash, 200)
    assert main(["test", "hypotheses", "--counts", "100,50,50", *pair]) == 0
    assert "Test: likelihood ratio, H₀ against H₁; n = 200 reports" in capsys.readouterr().out


def test_several_hypotheses_are_a_bayes_test(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    several = ["--p0", "0.8,0.1,0.1", "--p0", "uniform:3", "--p0", "0.5,0.25,0.25", "--prior", "0.2,0.3,0.5"]
    found = run(["hypotheses", "--counts", "100,50,50", "--mechanism", files[1], *several], capsys)
    direct = ex.test_hypotheses(
        [100, 50, 50], M, [[0.8, 0.1, 0.1], ["1/3"] * 3, [0.5, 0.25, 0.25]], counts=True, prior=[0.2, 0.3, 0.5]
    )
    assert found["decision"] == direct.decision
    assert found["posterior"] == pytest.approx(direct.posterior.tolist())


def test_what_the_hypothesis_excludes_is_null_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = str(ex.Mechanism.from_matrix([[1, 0], [0, 1]]).save(tmp_path / "plain.json"))
    found = run(["distribution", "--counts", "3,1", "--mechanism", plain, "--p", "1,0"], capsys)
    assert (found["statistic"], found["p_value"], found["rejected"]) == (None, 0.0, True)


def test_distribution_homogeneity_independence(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    reports, m, n = files
    found = run(["distribution", reports, "--column", "answer", "--mechanism", m, "--p", "0.1,0.1,0.8"], capsys)
    assert found["rejected"]
    by = ["homogeneity", reports, "--column", "answer", "--mechanism", m, "--by", "region", "--draws", "99"]
    assert run(by, capsys)["rejected"]
    assert run([*by, "--by", "drinks"], capsys)["freedom"] == 2  # the same two groups by both names
    pair = ["independence", reports, "--columns", f"answer={m}", "--columns"]
    public = run([*pair, "region"], capsys)
    private = run([*pair, f"drinks={n}"], capsys)
    assert public["statistic"] == pytest.approx(private["statistic"])  # the same table, of Pearson's statistic
    assert private["mechanism"] == {"answer": M.hash, "drinks": N.hash}
    assert np.isclose(float(str(public["statistic"])), 200.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hypotheses", "--counts", "1,2,3", "--p0", "uniform:3"], "needs an alternative"),
        (["hypotheses", "--counts", "1,2,3", "--p0", "uniform:3", "--p0", "1,0,0", "--p1", "0,1,0"], "several times"),
        (["hypotheses", "--p0", "uniform:3", "--p1", "1,0,0"], "either files or --counts"),
        (["distribution", "--counts", "1,2,x", "--p", "uniform:3"], "whole numbers"),
        (["distribution", "--counts", "1,2", "--p", "uniform:3"], "3 entries"),
        (["distribution", "absent.csv", "--p", "uniform:3"], "No such file"),
        (["distribution", "--counts", "1,2,3", "--p", "uniform:3", "--alpha", "1e-6"], "draws=999999"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    files: tuple[str, str, str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", *arguments, "--mechanism", files[1]]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_reports_of_another_mechanism_are_refused(
    files: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = str(ex.randomized_response(3, 1, inputs=["a", "b", "c"]).save(tmp_path / "other.json"))
    arguments = ["independence", files[0], "--columns", f"answer={other}", "--columns", "region"]
    assert main(["test", *arguments]) == 2
    assert "must come from this mechanism" in capsys.readouterr().err
    assert main(["test", *arguments, "--no-hash-check"]) == 0
    assert main(["test", "independence", files[0], "--columns", f"region={other}", "--columns", "answer"]) == 2
