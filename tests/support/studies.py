"""Studies for tests and audits: a questionnaire, uploads to it, and a store with both."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import polars

import extremal as ex
from extremal.collect.store import Store
from extremal.collect.study import NewStudy, Study, new_study, open_study
from extremal.collect.uploads import UploadReader
from extremal.collect.writing import Arrival

ANSWERS = {"drugs": ["no", "yes"], "party": ["left", "centre", "right"], "days": range(5)}


def asked() -> ex.Questionnaire:
    """Three questions under one budget, some of them asked of each person."""
    return ex.Questionnaire.within(4, ANSWERS)


def records(questionnaire: ex.Questionnaire, number: int, seed: int = 0) -> list[dict[str, Any]]:
    """What simulated people report; the questionnaire draws with the system's randomness."""
    generator = np.random.default_rng(seed)
    columns = {
        name: [m.inputs[int(x)] for x in generator.integers(0, m.k, number)]
        for name, m in questionnaire.questions.items()
    }
    reports = questionnaire.privatize(polars.DataFrame(columns))
    found: list[dict[str, Any]] = reports.to_dicts()
    return found


def upload(questionnaire: ex.Questionnaire, record: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a device sends."""
    return {"id": secrets.token_hex(16), "questionnaire": questionnaire.hash, "reports": record, **more}


def uploads(questionnaire: ex.Questionnaire, number: int) -> list[dict[str, Any]]:
    return [upload(questionnaire, record) for record in records(questionnaire, number)]


def study_in(
    folder: Path, questionnaire: ex.Questionnaire | None = None, **options: Any
) -> tuple[NewStudy, Study, Store]:
    """A new study, opened."""
    made = new_study(folder, questionnaire or asked(), **options)
    study, store = open_study(folder)
    return made, study, store


def arrival(study: Study, *given: dict[str, Any]) -> Arrival:
    """Uploads as the writer takes them."""
    return UploadReader(study).read(json.dumps(list(given)).encode())
