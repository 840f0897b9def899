"""Reports to a questionnaire by a key: the same in a frame and in every plan, and the parts of a record fit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import extremal as ex
from extremal.questionnaire import OnlyIf, Questionnaire
from extremal.questionnaire.release import KeyedPart

ASKED: dict[str, Any] = {
    "own": ex.randomized_response(["a", "b"], 1),
    "smokes": ["no", "yes"],
    "cigarettes": OnlyIf("smokes", "yes", ["few", "many"]),
    "age": 3,
    "region": 12,
}


def answers(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    smokes = rng.random(n) < 0.5
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "own": rng.choice(["a", "b"], n),
            "smokes": np.where(smokes, "yes", "no"),
            "cigarettes": [rng.choice(["few", "many"]) if x else None for x in smokes],
            "age": rng.integers(0, 3, n),
            "region": rng.integers(0, 12, n),
            "open": rng.random(n),
        }
    )


def rows(frame: Any) -> list[tuple[Any, ...]]:
    """Rows by id, sets as tuples, None where nothing is."""
    columns = frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_dict("list")
    made = zip(*columns.values(), strict=True)
    return sorted(
        tuple(tuple(x) if isinstance(x, list) else None if x is None or x != x else x for x in row) for row in made
    )


@pytest.mark.parametrize("strategy", ["joint", "sample", "split"])
def test_the_same_reports_in_a_frame_and_in_a_plan(strategy: str) -> None:
    asked, key = Questionnaire.within(4, ASKED, strategy), ex.ReleaseKey.new()
    frame = answers(700)
    eager = asked.privatize(frame, row_id="id", release_key=key)
    assert rows(eager) == rows(asked.privatize(frame.iloc[::-1], row_id="id", release_key=key))
    assert rows(eager) != rows(asked.privatize(frame, row_id="id"))
    plan = asked.privatize(pl.from_pandas(frame).lazy(), row_id="id", release_key=key)
    assert rows(plan.collect()) == rows(eager)
    assert rows(plan.collect(engine="streaming")) == rows(eager)
    for _, row in eager.iterrows():
        asked.check_record({name: row[name] for name in asked.questions})
    found = asked.estimate(eager)
    truth = frame["region"].value_counts(normalize=True).sort_index().to_numpy()
    assert (np.abs(found["region"].estimate - truth) < 6 * found["region"].standard_error).all()


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    asked, key = Questionnaire.within(4, ASKED), ex.ReleaseKey.new()
    frame = answers(300)
    connection = duckdb.connect()
    relation = connection.from_df(frame)
    made = asked.privatize(relation, row_id="id", release_key=key, connection=connection)
    found = [tuple(tuple(x) if isinstance(x, list) else x for x in row) for row in made.order("id").fetchall()]
    assert found == rows(asked.privatize(frame, row_id="id", release_key=key))


def test_what_a_key_is_not_for() -> None:
    asked, frame = Questionnaire.within(4, ASKED), answers(10)
    with pytest.raises(ex.errors.InvalidParameter, match="cannot be randomised"):
        asked.privatize(frame, row_id="age")
    with pytest.raises(ex.errors.InvalidParameter, match="needs row ids"):
        asked.privatize(frame, release_key=ex.ReleaseKey.new())
    with pytest.raises(ex.errors.InvalidParameter, match="id of its own"):
        asked.privatize(frame.assign(id=1), row_id="id")
    with pytest.raises(ex.errors.InvalidParameter, match="must be a ReleaseKey"):
        asked.privatize(frame, row_id="id", release_key="key")
    assert asked.joint is not None
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(KeyedPart(asked.joint, "age", b""))
