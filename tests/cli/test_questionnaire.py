"""`extremal questionnaire`: from a budget to estimates."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import extremal as ex
from extremal.cli import main


def test_from_a_budget_to_estimates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, answers, reports = (str(tmp_path / name) for name in ("q.json", "answers.csv", "reports.csv"))
    questions = ["drugs=no,yes", "party=3"]
    asked = ["questionnaire", "make", *questions, "--epsilon", "40", "--strategy", "split", "--importance", "drugs=2"]
    assert main([*asked, "-o", file]) == 0
    assert "Questionnaire: 2 questions; ε = 40 per person" in capsys.readouterr().out
    assert main([*asked, "-o", file]) == 2
    pd.DataFrame({"drugs": ["no", "yes", "no"] * 30, "party": [0, 1, 2] * 30}).to_csv(answers, index=False)
    assert main(["questionnaire", "privatize", file, answers, "-o", reports]) == 0
    assert "90 rows, ε = 40 per person" in capsys.readouterr().out
    assert main(["questionnaire", "estimate", file, reports, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["answer"] for row in found["drugs"]] == ["no", "yes"]
    assert found["drugs"][0]["estimate"] == pytest.approx(2 / 3, abs=0.01)
    assert main(["questionnaire", "estimate", file, reports]) == 0
    assert "party" in capsys.readouterr().out
    assert main(["questionnaire", "privatize", file, answers, "-o", reports, "--overwrite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"] == 40
    assert main(["questionnaire", "show", file, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["hash"] == ex.load(file).hash
    assert sum(shown["questions"].values()) == pytest.approx(40)


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_a_joint_questionnaire_goes_through_files(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, answers, reports = (str(tmp_path / name) for name in ("q.json", f"answers.{ending}", f"reports.{ending}"))
    asked = ["drugs=no,yes", "party=3", "sick=0-10", "partners=0-3", "--goal", "partners=mean"]
    assert main(["questionnaire", "make", *asked, "--epsilon", "20", "--per-person", "2", "-o", file]) == 0
    assert "joint (chosen)" in capsys.readouterr().out
    n = 600
    frame = pd.DataFrame(
        {
            "drugs": ["no", "yes", "no"] * (n // 3),
            "party": [0, 1, 2] * (n // 3),
            "sick": [10, 0] * (n // 2),
            "partners": [0, 3, 3] * (n // 3),
        }
    )
    write = {"csv": lambda p: frame.to_csv(p, index=False), "parquet": frame.to_parquet, "feather": frame.to_feather}
    write[ending](answers)
    assert main(["questionnaire", "privatize", file, answers, "-o", reports]) == 0
    capsys.readouterr()
    assert main(["questionnaire", "estimate", file, reports, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["drugs"][0]["estimate"] == pytest.approx(2 / 3, abs=0.2)
    assert found["sick"][0]["estimate"] == pytest.approx(1 / 2, abs=0.2)
    assert found["partners"][0]["answer"] == "mean"
    assert found["partners"][0]["estimate"] == pytest.approx(2, abs=0.6)
    assert main(["questionnaire", "crosstab", file, reports, "drugs", "party", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] > 50
    assert main(["questionnaire", "estimate", file, reports, "--by", "party"]) == 2
    assert main(["plan", "--questionnaire", file, "--half-width", "0.1"]) == 0
    assert "half-width of the widest" in capsys.readouterr().out


def test_estimates_by_an_open_column_as_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, answers, reports = (str(tmp_path / name) for name in ("q.json", "answers.csv", "reports.csv"))
    questions = {"a": ["no", "yes"], "b": ["no", "yes"], "c": ex.Mean(range(3))}
    ex.Questionnaire.within(30, questions, texts={"a": ("A?", ["Nein", "Ja"])}).save(file)
    frame = {"a": ["no", "yes"] * 60, "b": ["no", "no", "yes"] * 40, "region": ["n", "s", "s"] * 40}
    frame["c"] = [0, 2, 2] * 40
    pd.DataFrame(frame).to_csv(answers, index=False)
    assert main(["questionnaire", "privatize", file, answers, "-o", reports]) == 0
    table, book = tmp_path / "out.csv", tmp_path / "out.xlsx"
    command = ["questionnaire", "estimate", file, reports, "--by", "region", "--csv", str(table), "--excel", str(book)]
    assert main(command) == 0
    found = pd.read_csv(table)
    assert set(found["group"]) == {"n", "s"}
    assert dict(zip(found["question"] + "." + found["answer"], found["text"].fillna(""), strict=True)) == {
        "a.no": "Nein",
        "a.yes": "Ja",
        "b.no": "",
        "b.yes": "",
        "c.mean": "",
    }
    assert found.query("question == 'c'")["estimate"].tolist() == pytest.approx([0, 2], abs=0.02)
    assert found.query("question == 'b' and group == 's' and answer == 'yes'")["estimate"].item() == pytest.approx(
        0.5, abs=0.02
    )
    assert len(pd.read_excel(book)) == len(found) == 10
    assert main(command) == 2
    capsys.readouterr()
    assert main(["questionnaire", "crosstab", file, reports, "a", "region"]) == 0
    assert "n = 120" in capsys.readouterr().out


def test_from_mechanisms_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mechanism = ex.randomized_response(2, 1, inputs=["no", "yes"]).save(tmp_path / "m.json")
    plain = ex.Mechanism.from_weights([[1, 0], [0, 1]], 1).save(tmp_path / "plain.json")
    file, page = str(tmp_path / "q.json"), str(tmp_path / "p.html")
    named = [f"q{i}={mechanism}" for i in range(6)]
    assert main(["questionnaire", "make", *named, "-o", file]) == 0
    capsys.readouterr()
    assert main(["questionnaire", "show", file]) == 0
    assert "ε = 6 per person" in capsys.readouterr().out
    asked = ["questionnaire", "explain", file, "--prior", "q0=0.9,0.1", "--html", page]
    assert main(asked) == 0
    assert "ε = 6 per person" in capsys.readouterr().out
    assert "ε = 6 per person" in Path(page).read_text(encoding="utf-8")
    assert main(asked) == 2
    assert main(["questionnaire", "explain", file, "--json"]) == 0
    assert "6 per person" in json.loads(capsys.readouterr().out)["guarantee"]
    assert main(["questionnaire", "make", f"sure={plain}", "-o", str(tmp_path / "s.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["make", "a", "-o", "x.json"], "NAME="),
        (["make", "a=2", "a=3", "--epsilon", "1", "-o", "x.json"], "each name once"),
        (["make", "a=m.json", "--strategy", "split", "-o", "x.json"], "--epsilon"),
        (["make", "a=9-3", "--epsilon", "1", "-o", "x.json"], "goes upwards"),
        (["make", "a=2", "--goal", "b=mean", "--epsilon", "1", "-o", "x.json"], "--goal must be of a question"),
        (["make", "a=x,y", "--goal", "a=mean", "--epsilon", "1", "-o", "x.json"], "answers that are numbers"),
        (["make", "a=2", "--goal", "a=mode", "--epsilon", "1", "-o", "x.json"], "mean or cdf"),
        (["make", "a=q.json", "-o", "x.json"], "needs a mechanism file"),
        (["show", "m.json"], "must be a questionnaire"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    m = ex.randomized_response(2, 1)
    m.save("m.json")
    ex.Questionnaire({"a": m}).save("q.json")
    assert main(["questionnaire", *arguments]) == 2
    assert said in capsys.readouterr().err
