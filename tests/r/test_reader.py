"""The reader in r/ says what the package says: shares, standard errors and covariances of the same files."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.simulate import Simulation

READER = Path(__file__).parents[2] / "r" / "R"
SAME = 1e-12
PEOPLE = 300

MECHANISMS: dict[str, Callable[[], ex.Mechanism]] = {
    **{f"response {k} {e}": lambda k=k, e=e: ex.randomized_response(k, e) for k in (2, 7, 60) for e in (0.1, 1, 2, 4)},
    **{f"subsets {k} {e}": lambda k=k, e=e: ex.subset_selection(k, e) for k in (5, 9, 40, 200) for e in (0.5, 2)},
    **{f"unary {k}": lambda k=k: ex.unary_encoding(k, 1) for k in (8, 9, 33)},
    "symmetric unary": lambda: ex.unary_encoding(12, 3, optimised=False),
    **{f"hashing {k} {e}": lambda k=k, e=e: ex.local_hashing(k, e) for k in (10, 300) for e in (1, 5)},
    **{f"Hadamard {k} {e}": lambda k=k, e=e: ex.hadamard_response(k, e) for k in (12, 300) for e in (1, 4)},
    **{f"projective {k}": lambda k=k: ex.projective_geometry(k, 2) for k in (20, 300)},
    **{f"geometric {k}": lambda k=k: ex.geometric(k, 1.5) for k in (4, 11)},
    **{f"CDF {k}": lambda k=k: ex.design(ex.LDP(1), ex.CDF(k)).mechanism for k in (6, 10)},
    "information": lambda: ex.design(ex.LDP(1), ex.MutualInformation([0.1] * 10)).mechanism,
    "texts": lambda: ex.randomized_response(["no, never", 'a "quoted" one', "ja, öfter"], 1),
    "truth values": lambda: ex.randomized_response([False, True], 1),
    "sets of texts": lambda: ex.subset_selection(["a", "b b", "c", "d", "e", "f", "g"], 1),
    "numbers": lambda: ex.randomized_response([10, 20, -5], 2),
}

QUESTIONNAIRES: dict[str, Callable[[], ex.Questionnaire]] = {
    **{
        f"{strategy} {epsilon}": lambda strategy=strategy, epsilon=epsilon: ex.Questionnaire.within(
            epsilon, {"drugs": ["no", "yes"], "party": ["a", "b", "c"], "sick": range(6)}, strategy=strategy
        )
        for strategy in ("joint", "sample", "split")
        for epsilon in (1, 4)
    },
    "two of four": lambda: ex.Questionnaire.within(
        2, {f"q{i}": ["no", "yes"] for i in range(4)}, strategy="sample", per_person=2
    ),
    "many answers": lambda: ex.Questionnaire.within(3, {"drugs": ["no", "yes"], "age": range(30)}, strategy="joint"),
}


def test_there_are_fifty_files() -> None:
    assert len(MECHANISMS) + len(QUESTIONNAIRES) >= 50


def _run(rscript: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = folder / "run.R"
    lines = [f"for (part in list.files({json.dumps(str(READER))}, full.names = TRUE)) source(part)", code]
    script.write_text("\n".join(lines), encoding="utf-8")
    return subprocess.run([rscript, str(script)], capture_output=True, text=True, check=False, cwd=folder)


def _text(report: Any) -> str:
    """A report as a CSV file has it."""
    if isinstance(report, (tuple, list)):
        plain = [str(part) for part in report]
        return json.dumps(report) if any(" " in part for part in plain) else " ".join(plain)
    return "" if report is None else str(report)


def _write(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*([_text(x) for x in column] for column in columns.values()), strict=True))


def _numbers(*estimates: Any) -> list[Any]:
    return [
        part.tolist()
        for found in estimates
        for part in (found.estimate, found.standard_error, np.asarray(found.covariance))
    ]


OF_MECHANISMS = """
numbers <- function(e) list(e$estimate, e$standard_error, unname(vcov(e)))
asked <- jsonlite::read_json("asked.json")
found <- lapply(asked, function(one) {
  m <- read_mechanism(paste0(one, ".json"))
  data <- utils::read.csv(paste0(one, ".csv"), colClasses = c("character", "numeric"), encoding = "UTF-8")
  c(numbers(estimate_frequencies(data$report, m)), numbers(estimate_frequencies(data$report, m, data$weight)))
})
writeLines(jsonlite::toJSON(found, digits = 17, matrix = "rowmajor"), "found.json")
"""


@pytest.mark.system
def test_mechanisms(rscript: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    expected = []
    for number, make in enumerate(MECHANISMS.values()):
        m = make()
        m.save(tmp_path / f"{number}.json")
        truth = generator.integers(0, m.k, PEOPLE)
        reports = Simulation(seed=number).privatize(m, [m.inputs[x] for x in truth]).reports
        weights = generator.uniform(0.5, 3, PEOPLE).round(3).tolist()
        _write(tmp_path / f"{number}.csv", {"report": list(reports), "weight": weights})
        expected.append(
            _numbers(ex.estimate_frequencies(reports, m), ex.estimate_frequencies(reports, m, weights=weights))
        )
    (tmp_path / "asked.json").write_text(json.dumps([str(i) for i in range(len(expected))]))
    done = _run(rscript, OF_MECHANISMS, tmp_path)
    assert done.returncode == 0, done.stderr
    _assert_same(dict(zip(MECHANISMS, expected, strict=True)), json.loads((tmp_path / "found.json").read_text()))


OF_QUESTIONNAIRES = """
numbers <- function(e) list(e$estimate, e$standard_error, unname(vcov(e)))
asked <- jsonlite::read_json("asked.json")
found <- lapply(asked, function(one) {
  q <- read_questionnaire(paste0(one, ".json"))
  data <- utils::read.csv(paste0(one, ".csv"), colClasses = "character", na.strings = "", check.names = FALSE)
  unlist(lapply(unname(estimate_questionnaire(data, q)), numbers), recursive = FALSE)
})
writeLines(jsonlite::toJSON(found, digits = 17, matrix = "rowmajor"), "found.json")
"""


@pytest.mark.system
def test_questionnaires(rscript: str, tmp_path: Path) -> None:
    import pandas as pd

    generator = np.random.default_rng(8)
    expected = []
    for number, make in enumerate(QUESTIONNAIRES.values()):
        asked = make()
        asked.save(tmp_path / f"{number}.json")
        inputs = {name: list(m.inputs) for name, m in asked.questions.items()}
        frame = pd.DataFrame({name: generator.choice(labels, PEOPLE) for name, labels in inputs.items()})
        reports = asked.privatize(frame)
        columns = {name: [None if x is None or x != x else x for x in reports[name]] for name in inputs}
        _write(tmp_path / f"{number}.csv", columns)
        estimates = asked.estimate(reports)
        expected.append(_numbers(*(estimates[name] for name in inputs)))
    (tmp_path / "asked.json").write_text(json.dumps([str(i) for i in range(len(expected))]))
    done = _run(rscript, OF_QUESTIONNAIRES, tmp_path)
    assert done.returncode == 0, done.stderr
    _assert_same(dict(zip(QUESTIONNAIRES, expected, strict=True)), json.loads((tmp_path / "found.json").read_text()))


def _assert_same(expected: dict[str, list[Any]], found: list[Any]) -> None:
    for (name, numbers), others in zip(expected.items(), found, strict=True):
        for here, there in zip(numbers, others, strict=True):
            difference = np.abs(np.array(here, dtype=float) - np.array(there, dtype=float))
            assert (difference <= SAME * np.maximum(1, np.abs(here))).all(), (name, difference.max())


def test_another_weight_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        _assert_same({"a": [[0.25]]}, [[[0.25 + 2 * SAME]]])


REFUSALS = """
said <- function(code) tryCatch({ code; "nothing" }, error = function(e) conditionMessage(e))
m <- read_mechanism("one.json")
cat(said(read_mechanism("absent.json")), "\\n")
cat(said(read_mechanism("asked.csv")), "\\n")
cat(said(read_questionnaire("one.json")), "\\n")
cat(said(read_mechanism("bloom.json")), "\\n")
cat(said(estimate_frequencies(c("0", "9"), m)), "\\n")
cat(said(estimate_frequencies(c("0", NA), m)), "\\n")
cat(said(estimate_frequencies("0", m)), "\\n")
cat(said(estimate_frequencies(c("0", "1"), m, c(1, -1))), "\\n")
cat(said(read_reports("reports.csv", read_mechanism("other.json"))), "\\n")
print(coef(estimate_frequencies(read_reports("reports.csv", m), m)))
"""


@pytest.mark.system
def test_refusals_say_what_is_wrong_and_quote_no_report(rscript: str, tmp_path: Path) -> None:
    from extremal.cli import main

    ex.randomized_response(3, 1).save(tmp_path / "one.json")
    ex.randomized_response(3, 2).save(tmp_path / "other.json")
    ex.bloom_filter(20, 2).save(tmp_path / "bloom.json")
    (tmp_path / "asked.csv").write_text("a\n0\n1\n2\n1\n")
    made = ["--mechanism", str(tmp_path / "one.json"), "--column", "a", "-o", str(tmp_path / "reports.csv")]
    assert main(["privatize", str(tmp_path / "asked.csv"), *made]) == 0
    done = _run(rscript, REFUSALS, tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert [line.strip() for line in said[:8]] == [
        "no file at absent.json",
        "asked.csv is not JSON",
        "one.json must have the format extremal-questionnaire, got extremal-mechanism",
        "mechanisms of the kind bloom_filter are not read in R: estimate in Python, extremal estimate --json",
        "1 reports are not among those that the mechanism makes: is it the right mechanism?",
        '1 reports are missing: missing = "drop" leaves them out',
        "there must be at least two reports, got 1",
        "weights must be positive and finite",
    ]
    assert "was made by another mechanism" in said[8]
    assert len(said[-1].split()) == 3
