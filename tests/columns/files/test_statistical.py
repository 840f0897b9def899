"""SPSS and Stata files: codes with value labels in, reports with value labels out, estimates from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.cli import main
from extremal.columns.files import statistical
from extremal.release.files import privatize_file

pyreadstat = pytest.importorskip("pyreadstat")

LABELS = {"drugs": {1: "no", 2: "yes"}, "party": {1: "left", 2: "centre", 3: "right"}}


def written(path: Path, n: int = 600) -> Path:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "drugs": rng.choice([1.0, 2.0], n, p=[0.7, 0.3]),
            "party": rng.choice([1.0, 2.0, 3.0], n),
            "sick": rng.choice(11, n).astype(float),
            "region": rng.choice(["north", "south"], n),
        }
    )
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    write(frame, str(path), column_labels={"drugs": "Drugs?"}, variable_value_labels=LABELS)
    return path


def stored(path: Path) -> tuple[Any, Any]:
    found: tuple[Any, Any] = (pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav)(str(path))
    return found


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_from_answers_to_estimates(ending: str, tmp_path: Path) -> None:
    source, target = written(tmp_path / f"a{ending}"), tmp_path / f"r{ending}"
    texts = ex.randomized_response(["no", "yes"], 3)
    numbers = ex.randomized_response(range(11), 3)
    sets = ex.subset_selection(["left", "centre", "right"], "0.5")
    assert privatize_file(source, target, {"drugs": texts, "sick": numbers, "party": sets}) == 600
    frame, about = stored(target)
    before, _ = stored(source)
    assert about.variable_value_labels["drugs"] == {1: "no", 2: "yes"}  # the codes that the column had
    assert about.column_names_to_labels["drugs"] == "Drugs?"
    assert frame["region"].tolist() == before["region"].tolist()
    assert set(frame["sick"]) <= set(range(11))
    assert frame["drugs"].tolist() != before["drugs"].tolist()
    for name, mechanism in (("drugs", texts), ("sick", numbers), ("party", sets)):
        found = ex.estimate_frequencies(target, mechanism, column=name)
        assert found.n == 600
    share = float((before["drugs"] == 1).mean())
    assert abs(ex.estimate_frequencies(target, texts, column="drugs").estimate[0] - share) < 0.2
    with pytest.raises(ex.errors.InvalidParameter, match="randomised before"):
        privatize_file(target, tmp_path / f"twice{ending}", {"drugs": texts})
    with pytest.raises(ex.errors.InvalidParameter, match="come from this mechanism"):
        ex.estimate_frequencies(target, ex.randomized_response(["no", "yes"], 2), column="drugs")


@pytest.mark.parametrize("strategy", ["joint", "split"])
def test_a_questionnaire_on_a_survey_file(strategy: str, tmp_path: Path) -> None:
    source, file = written(tmp_path / "a.sav", 900), str(tmp_path / "q.json")
    asked = ex.Questionnaire.within(
        6, {"drugs": ["no", "yes"], "party": ["left", "centre", "right"], "sick": range(11)}, strategy
    )
    asked.save(file)
    reports = str(tmp_path / "r.sav")
    assert main(["questionnaire", "privatize", file, str(source), "-o", reports]) == 0
    assert main(["questionnaire", "estimate", file, reports, "--by", "region", "--csv", str(tmp_path / "e.csv")]) == 0
    assert set(pd.read_csv(tmp_path / "e.csv")["group"]) == {"north", "south"}
    before, _ = stored(source)
    found = asked.estimate(reports)["drugs"]
    assert abs(found.estimate[1] - (before["drugs"] == 2).mean()) < 5 * found.standard_error[1]


def test_what_is_no_such_file_or_value_is_refused(tmp_path: Path) -> None:
    m = ex.randomized_response(["no", "maybe"], 1)
    with pytest.raises(ex.errors.UnknownLabel) as error:
        privatize_file(written(tmp_path / "a.sav"), tmp_path / "r.sav", {"drugs": m})
    assert "yes" not in str(error.value)
    assert not (tmp_path / "r.sav").exists()
    (tmp_path / "b.sav").write_bytes(b"no such file")
    with pytest.raises(ex.errors.MalformedFile, match="whole SPSS/Stata file"):
        privatize_file(tmp_path / "b.sav", tmp_path / "r.sav", {"drugs": m})
    with pytest.raises(ex.errors.InvalidParameter, match="two formats"):
        privatize_file(tmp_path / "a.sav", tmp_path / "r.dta", {"drugs": ex.randomized_response(["no", "yes"], 1)})
    assert statistical.hashes(tmp_path / "a.sav") == {}
