"""The page of coverage has a row for each statement of the papers, and every test it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "coverage.md"
STATEMENTS = 123
PARTLY = {40: "a convex utility without data processing is refused", 107: "is a diagram"}
"""Rows with something missing, and the reason that they must give."""


def test_every_statement_names_tests_that_exist() -> None:
    rows = re.findall(r"^\| (\d+) \|(.*)\|(.*)\|$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert [int(number) for number, _, _ in rows] == list(range(1, STATEMENTS + 1))
    for number, row, missing in rows:
        assert re.search(r"`[\w/]+\.py::test_\w+`", row), number
        assert bool(missing.strip()) == (int(number) in PARTLY), number
        assert PARTLY.get(int(number), "") in missing, number


def test_every_test_that_the_page_names_is_in_its_file() -> None:
    named = set(re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert len(named) > 100
    for file, test in named:
        assert re.search(rf"^\s*def {test}\(", (ROOT / "tests" / file).read_text(encoding="utf-8"), flags=re.M), test
