"""Answers to a questionnaire that differ in one person's record, in every container and file, released blindly.

One question leads to another, one may be left out, one is asked apart from the others and may be left out too. A
neighbour's record differs in any of them: an answer, one more or one less, the keys of its line. The draws do not
depend on the record and the words are the same, so that whatever is released must be the same, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.questionnaire import OnlyIf, Questionnaire
from extremal.questionnaire import joint as joint_module
from extremal.questionnaire.records import NO_ANSWER
from extremal.release.sampling import sampler
from extremal.release.sampling.joint import draw_records
from support.files.neighbours import KEY, FixedWords, constant
from support.files.views import Views, views

Record = dict[str, Any]

MANY, AGES = ["few", "a long answer that takes many bytes", "more"], ["10", "20", "30"]
SKIPS: dict[str, Any] = {
    "smokes": ["no", "yes"],
    "many": OnlyIf("smokes", "yes", MANY),
    "age": AGES,
}
APART, COUNT = (*("left", "right"), NO_ANSWER), (1, 2, 70_000)

WHOLE: Record = {"smokes": "yes", "many": "few", "age": "10", "party": "left", "count": 1}
WRITTEN_AT = re.compile(rb"\d\d [A-Z][a-z][a-z] (\d\d)?\d\d ?\d\d:\d\d(:\d\d)?")  # when a library wrote a file


def questionnaires() -> dict[str, Questionnaire]:
    """With questions asked jointly, and with mechanisms of their own at ε = 0."""
    joint = ex.Questionnaire.within(1, SKIPS, "joint", optional=["age"])
    apart = ex.Questionnaire({"party": constant(APART), "count": constant(COUNT)})
    return {"joint": joint, "apart": apart}


def record(random: Random) -> Record:
    """One person's answers; None is not answered, or not asked."""
    smokes = random.choice(["no", "yes"])
    many = random.choice(MANY) if smokes == "yes" else None
    return {
        "smokes": smokes,
        "many": many,
        "age": random.choice([*AGES, None]),
        "party": random.choice(["left", "right", None]),
        "count": random.choice(COUNT),
    }


def pair(random: Random) -> tuple[list[Record], list[Record]]:
    """Records of up to 30 people after one that has everything, and the same with one person's changed."""
    one = [WHOLE, *(record(random) for _ in range(random.randint(1, 30)))]
    other, person = list(one), random.choice([1, random.randrange(1, len(one))])
    while other[person] == one[person]:
        other[person] = record(random)
    return one, other


def _frames() -> dict[str, Callable[[list[Record]], Any]]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    def pandas(records: list[Record]) -> Any:
        return pd.DataFrame([{"id": i, **one} for i, one in enumerate(records)])

    def polars(records: list[Record]) -> Any:
        return pl.DataFrame([{"id": i, **one} for i, one in enumerate(records)], infer_schema_length=None)

    def named(records: list[Record]) -> dict[str, list[Any]]:
        return {"id": list(range(len(records))), **{name: [one[name] for one in records] for name in records[0]}}

    kinds = dict.fromkeys(("smokes", "many", "age", "party"), pa.string())
    return {
        "pandas": pandas,
        "pandas nullable": lambda r: pandas(r).convert_dtypes(),
        "pandas objects": lambda r: pandas(r).astype(object),
        "polars": polars,
        "pyarrow": lambda r: pa.table({n: pa.array(v, kinds.get(n)) for n, v in named(r).items()}),
    }


def _lines(records: list[Record]) -> str:
    """A line each, what is missing without its key, as a page sends it."""
    kept = ({"id": i, **{n: v for n, v in one.items() if v is not None}} for i, one in enumerate(records))
    return "".join(json.dumps(one) + "\n" for one in kept)


def _files(folder: Path, records: list[Record]) -> list[Path]:
    import pandas as pd
    import pyarrow.feather as feather
    import pyreadstat

    frames = _frames()
    plain, arrow = frames["pandas"](records), frames["pyarrow"](records)
    plain.to_csv(folder / "a.csv", index=False)
    (folder / "a.jsonl").write_text(_lines(records), encoding="utf-8")
    plain.to_parquet(folder / "a.parquet")
    feather.write_feather(arrow, folder / "a.feather")
    texts = [name for name in records[0] if name != "count"]
    filled = plain.assign(**{n: pd.Series([r[n] or "" for r in records], dtype=object) for n in texts})
    pyreadstat.write_sav(filled, str(folder / "a.sav"))
    pyreadstat.write_dta(filled, str(folder / "a.dta"))
    return [folder / f"a.{ending}" for ending in ("csv", "jsonl", "parquet", "feather", "sav", "dta")]


@contextmanager
def _blindly() -> Iterator[None]:
    """Draw for the first record whatever the record is, with the same words at every call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_module, "draw_records", lambda s, codes, w: draw_records(s, np.zeros_like(codes), w))
        for module in (sampler, joint_module):
            patch.setattr(module, "SecureWords", FixedWords)
        yield


def released(asked: Questionnaire, records: list[Record], folder: Path) -> dict[str, Views]:
    """All that can be seen of what is released, by the name of the way."""
    found: dict[str, Views] = {}
    names = list(asked.questions)
    mine = [{name: one[name] for name in names} for one in records]
    with _blindly():
        for name, make in _frames().items():
            found[name] = views(asked.privatize(make(mine)))
            found[f"{name}, keyed"] = views(asked.privatize(make(mine), row_id="id", release_key=KEY))
        lazy = asked.privatize(_frames()["polars"](mine).lazy(), row_id="id", release_key=KEY)
        found["polars, lazy"] = {"schema": repr(lazy.collect_schema()).encode(), **views(lazy.collect())}
        for path in _files(folder, mine):
            target = path.with_stem("out")
            asked.privatize_file(path, target, overwrite=True)
            found[path.name] = {"bytes": WRITTEN_AT.sub(b"", target.read_bytes())}
    return found
