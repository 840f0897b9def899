"""Spark in local mode: a task that runs again, a repartition or another evaluation leaves the reports as they were."""

import operator
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.cli import main
from extremal.questionnaire import OnlyIf
from extremal.release.engines.keyed import KeyedColumn
from extremal.release.files import privatize_file

pyspark = pytest.importorskip("pyspark", reason="pyspark is an extra: pip install 'extremal[spark]'")
N = 3_000
LETTERS = ex.randomized_response(4, 1, inputs=list("abcd"))
SETS = ex.subset_selection(40, 1)
CHOSEN = {"answer": LETTERS, "number": SETS}


pytestmark = [
    pytest.mark.usefixtures("java"),
    pytest.mark.filterwarnings("ignore"),  # Spark's own start-up warns of this and that
]


@pytest.fixture(scope="module")
def session(java: str) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers are this Python
    made = (
        SparkSession.builder.master("local[1,2]")  # one worker; a task may fail once
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # short work: start soon
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.codegen.wholeStage", "false")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    generator = np.random.default_rng(6)
    return pd.DataFrame(
        {"id": np.arange(N), "answer": generator.choice(list("abcd"), N), "number": generator.integers(0, 40, N)}
    )


def collected(frame: Any) -> list[tuple[Any, ...]]:
    return sorted((row["id"], row["answer"], tuple(row["number"])) for row in frame.collect())


def test_evaluations_agree_after_a_repartition_and_differ_under_another_key(session: Any, data: pd.DataFrame) -> None:
    key, frame = ex.ReleaseKey.new(), session.createDataFrame(data)
    plan = ex.privatize(frame, CHOSEN, row_id="id", release_key=key)
    first = collected(plan)
    assert first == collected(plan)
    assert first == collected(ex.privatize(frame.repartition(7, "number"), CHOSEN, row_id="id", release_key=key))
    eager = ex.privatize(data, CHOSEN, row_id="id", release_key=key)
    assert [row[1] for row in first] == eager["answer"].tolist()
    assert [row[2] for row in first] == [tuple(v) for v in eager["number"]]
    assert collected(ex.privatize(frame, CHOSEN, row_id="id")) != first


def test_counts_of_every_kind_of_label_are_those_of_the_collected_and_of_the_eager_frame(
    session: Any, all_kinds: Any
) -> None:
    frame, mechanisms = all_kinds
    chosen = {name: mechanisms[name] for name in ("text", "truth", "integer", "sets of text", "bits", "point")}
    key = ex.ReleaseKey.new()
    plan = ex.privatize(session.createDataFrame(frame), chosen, row_id="id", release_key=key)
    whole, eager = plan.toArrow(), ex.privatize(frame, chosen, row_id="id", release_key=key)
    for name, m in chosen.items():
        counts = ex.count_reports(plan, name, m)
        assert sum(counts.values()) == len(frame)
        assert counts == ex.count_reports(whole, name, m) == ex.count_reports(eager, name, m)
    inside = ex.estimate_frequencies(plan, chosen["bits"], column="bits")
    outside = ex.estimate_frequencies(whole, chosen["bits"], column="bits")
    np.testing.assert_allclose(inside.estimate, outside.estimate, rtol=0, atol=1e-12)


def test_a_killed_task_that_is_tried_again_makes_the_same_reports(
    session: Any, data: pd.DataFrame, tmp_path: Path
) -> None:
    from pyspark.sql.functions import pandas_udf

    key, mark = ex.ReleaseKey.new(), str(tmp_path / "died")
    plan = ex.privatize(session.createDataFrame(data).repartition(3), CHOSEN, row_id="id", release_key=key)
    expected = collected(plan)

    def dies_once(ids: pd.Series) -> pd.Series:
        import os
        import signal

        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return ids
        os.kill(os.getpid(), signal.SIGKILL)
        return ids

    dies_once.__annotations__ = {"ids": pd.Series, "return": pd.Series}
    dying = plan.withColumn("id", pandas_udf(dies_once, "long")("id"))
    assert collected(dying) == expected
    assert Path(mark).exists()


def test_the_secret_is_not_in_the_plan_and_repeated_ids_are_found_when_asked(
    session: Any, data: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = session.createDataFrame(pd.concat([data, data.head(1)]))
    key = ex.ReleaseKey.new()
    plan = ex.privatize(frame, CHOSEN, row_id="id", release_key=key)  # looking would shuffle all ids
    plan.explain(True)
    secret = KeyedColumn(LETTERS, "answer", key).shipped()[2]
    text = capsys.readouterr().out
    assert "answer" in text
    assert secret.hex()[:16] not in text.lower()
    assert repr(secret[:8])[2:-1] not in text
    with pytest.raises(ex.errors.InvalidParameter, match="every row needs an id of its own"):
        ex.privatize(frame, CHOSEN, row_id="id", check_ids=True)


def test_an_unknown_value_stops_the_evaluation(session: Any, data: pd.DataFrame) -> None:
    plan = ex.privatize(session.createDataFrame(data.head(5).assign(answer="e")), {"answer": LETTERS}, row_id="id")
    with pytest.raises(Exception, match="a value of type str that is no label"):
        plan.collect()


def test_nothing_that_was_noted_about_a_column_stays(session: Any, data: pd.DataFrame) -> None:
    frame = session.createDataFrame(data.head(5)).withMetadata("answer", {"values": "a, b"})
    released = ex.privatize(frame, {"answer": LETTERS}, row_id="id")
    assert frame.schema["answer"].metadata == {"values": "a, b"}
    assert released.schema["answer"].metadata == {}


def test_the_command_line_writes_a_folder(
    session: Any, data: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data.to_parquet(tmp_path / "in.parquet")
    LETTERS.save(tmp_path / "m.json")
    ex.ReleaseKey.new().save(tmp_path / "key")
    out, rest = str(tmp_path / "out"), ["--column", "answer", "--mechanism", str(tmp_path / "m.json")]
    spark = ["--engine", "spark", "--row-id", "id", "--release-key", str(tmp_path / "key")]
    assert main(["privatize", str(tmp_path / "in.parquet"), *rest, "-o", out, *spark]) == 0
    assert f"{N:,} rows" in capsys.readouterr().out
    key = ex.ReleaseKey.load(tmp_path / "key")
    expected = ex.privatize(data, {"answer": LETTERS}, row_id="id", release_key=key)
    assert pd.read_parquet(out).sort_values("id")["answer"].tolist() == expected["answer"].tolist()
    assert main(["estimate", out, *rest]) == 0  # the note that Spark wrote names the mechanism
    assert f"{N} reports" in capsys.readouterr().out
    privatize_file(tmp_path / "in.parquet", tmp_path / "once.parquet", {"answer": LETTERS})
    for arguments, message in (
        ([str(tmp_path / "once.parquet"), *rest, "-o", f"{out}2", *spark], "column 'answer' was randomised before"),
        ([str(tmp_path / "in.parquet"), *rest, "-o", out, *spark], "the output folder must not exist yet"),
        ([out, *rest, "-o", f"{out}2", *spark], "column 'answer' was randomised before"),
        ([str(tmp_path / "in.parquet"), *rest, "-o", f"{out}2", *spark[:2]], "needs ids to repeat its reports"),
        ([str(tmp_path / "in.parquet"), *rest, "-o", f"{out}2", *spark, "--overwrite"], "a folder is never replaced"),
        ([str(tmp_path / "in.parquet"), *rest, "-o", f"{out}2.parquet", *spark[2:4]], "this is for --engine spark"),
        ([str(tmp_path / "gone.parquet"), *rest, "-o", f"{out}2", *spark], "Spark could not do this"),
        ([str(tmp_path / "in.json"), *rest, "-o", f"{out}2", *spark], "Spark reads Parquet, CSV or TSV here"),
    ):
        assert main(["privatize", *arguments]) == 2
        assert message in capsys.readouterr().err
    data.head(9).assign(answer="my secret").to_csv(tmp_path / "wrong.csv", index=False)
    assert main(["privatize", str(tmp_path / "wrong.csv"), *rest, "-o", f"{out}2", *spark]) == 2
    said = capsys.readouterr().err
    assert "a value of type str that is no label" in said
    assert "secret" not in said
    assert {path.name for path in tmp_path.iterdir()} >= {"in.parquet", "out", "wrong.csv"}
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name or path.name.startswith("out2")]


def test_a_questionnaire_in_a_plan(session: Any) -> None:
    """With a skip pattern: who does not smoke has no answer about cigarettes, and the report may have one."""
    given = {"a": ["no", "yes"], "b": OnlyIf("a", "yes", ["x", "y", "z"]), "c": 12}
    asked = ex.Questionnaire.within(4, given, "joint")
    key, n = ex.ReleaseKey.new(), 200
    frame = pd.DataFrame(
        {"id": range(n), "a": ["no", "yes"] * 100, "b": [None, "x", None, "y"] * 50, "c": [3, 7] * 100}
    )
    eager = asked.privatize(frame, row_id="id", release_key=key)
    made = asked.privatize(session.createDataFrame(frame), row_id="id", release_key=key)
    rows = made.collect()
    expected = [tuple(None if x is None or x != x else x for x in row) for row in eager.itertuples(index=False)]
    assert {row["b"] is None for row in rows if row["a"] == "yes"} <= {False}
    assert any(row["b"] is not None for row in rows)
    by_id = operator.itemgetter(0)
    assert sorted((tuple(row) for row in rows), key=by_id) == sorted(expected, key=by_id)
