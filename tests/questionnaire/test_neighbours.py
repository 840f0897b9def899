"""Answers to a questionnaire that differ in one person's record are released alike, gaps and keys included."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from support.files.neighbours import different
from support.files.questionnaires import pair, questionnaires, released

pytest.importorskip("pyreadstat")


@pytest.mark.filterwarnings("ignore")  # of libraries, about the columns that they are given
@pytest.mark.parametrize("name", questionnaires())
def test_records_of_neighbours_are_released_alike(name: str, tmp_path: Path) -> None:
    asked, random = questionnaires()[name], Random(32)
    for number in range(3):
        seen = []
        for side, records in enumerate(pair(random)):
            folder = tmp_path / f"{number}-{side}"
            folder.mkdir()
            seen.append(released(asked, records, folder))
        assert {way: different(seen[0][way], seen[1][way]) for way in seen[0]} == {way: [] for way in seen[0]}
