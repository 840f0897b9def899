"""Plans: evaluated twice, shuffled or cut in pieces they give the same reports, and are counted where they are."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extremal as ex
from extremal.release.engines.keyed import KeyedColumn
from support.files.neighbours import NUMBERS, TEXT, constant, frames
from support.files.views import fingerprint

N = 5_000
LETTERS = ex.randomized_response(4, 1, inputs=list("abcd"))
SETS = ex.subset_selection(40, 1)
CHOSEN = {"answer": LETTERS, "number": SETS}


@pytest.fixture(scope="module")
def data() -> pl.DataFrame:
    generator = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "id": generator.permutation(N) - 100,
            "person": [f"person {i}" for i in range(N)],
            "answer": generator.choice(list("abcd"), N),
            "number": generator.integers(0, 40, N),
            "kept": generator.random(N),
        }
    )


@pytest.fixture(scope="module")
def key() -> ex.ReleaseKey:
    return ex.ReleaseKey.new()


def as_frame(plan: Any) -> pl.DataFrame:
    found: Any = plan.collect() if isinstance(plan, pl.LazyFrame) else pl.from_arrow(plan.to_arrow_table())
    return found.sort("id")


def polars_plans(data: pl.DataFrame, chosen: Any = CHOSEN, **options: Any) -> list[Any]:
    shuffled = data.sample(fraction=1, shuffle=True)
    return [ex.privatize(frame.lazy(), chosen, **options) for frame in (data, shuffled)]


def duckdb_plans(data: pl.DataFrame, chosen: Any = CHOSEN, **options: Any) -> list[Any]:
    con = duckdb.connect()
    made = con.from_arrow(data.to_arrow())
    return [
        ex.privatize(relation, chosen, connection=con, **options)
        for relation in (made, made.order("hash(id)"), made.filter("id % 3 = 0").union(made.filter("id % 3 <> 0")))
    ]


PLANS = pytest.mark.parametrize("plans", [polars_plans, duckdb_plans])


@PLANS
@pytest.mark.parametrize("row_id", ["id", "person"])
def test_evaluations_agree_whatever_the_order_and_differ_under_another_key(
    plans: Any, row_id: str, data: pl.DataFrame, key: ex.ReleaseKey
) -> None:
    expected = ex.privatize(data, CHOSEN, row_id=row_id, release_key=key).sort("id")
    for plan in plans(data, row_id=row_id, release_key=key):
        for _ in range(2):
            found = as_frame(plan)
            assert found["answer"].to_list() == expected["answer"].to_list()
            assert found["number"].to_list() == expected["number"].to_list()
            assert found["kept"].equals(data.sort("id")["kept"])
    other = as_frame(plans(data, row_id=row_id)[0])
    assert 0.3 < (other["answer"] != expected["answer"]).mean() < 0.95


@PLANS
def test_counts_of_every_kind_of_label_are_those_of_the_collected_and_of_the_eager_frame(
    plans: Any, all_kinds: Any, key: ex.ReleaseKey
) -> None:
    frame, mechanisms = all_kinds
    data = pl.from_pandas(frame)
    eager = ex.privatize(data, mechanisms, row_id="id", release_key=key)
    for plan in plans(data, chosen=mechanisms, row_id="id", release_key=key):
        whole = as_frame(plan)
        for name, m in mechanisms.items():
            assert whole[name].to_list() == eager[name].to_list()
            counts = ex.count_reports(plan, name, m)
            assert sum(counts.values()) == data.height
            assert counts == ex.count_reports(whole, name, m) == ex.count_reports(eager, name, m)
            inside = ex.estimate_frequencies(plan, m, column=name)
            outside = ex.estimate_frequencies(whole, m, column=name)
            np.testing.assert_allclose(inside.estimate, outside.estimate, rtol=0, atol=1e-12)


def test_streaming_cuts_a_file_as_it_likes_and_types_stay(tmp_path: Path, data: pl.DataFrame, key: Any) -> None:
    typed = data.with_columns(
        category=pl.col("answer").cast(pl.Categorical), listed=pl.col("answer").cast(pl.Enum(list("abcd")))
    )
    typed.write_parquet(tmp_path / "in.parquet", row_group_size=700)
    plan = ex.privatize(
        pl.scan_parquet(tmp_path / "in.parquet"),
        {"answer": LETTERS, "category": LETTERS, "listed": LETTERS},
        row_id="id",
        release_key=key,
    )
    plan.sink_parquet(tmp_path / "out.parquet")
    written, collected = pl.read_parquet(tmp_path / "out.parquet"), plan.collect(engine="in-memory")
    assert written.equals(collected)
    assert plan.collect_schema()["listed"] == collected["listed"].dtype == typed["listed"].dtype


@PLANS
def test_repeated_and_missing_ids_are_refused(plans: Any, data: pl.DataFrame) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="every row needs an id of its own"):
        plans(pl.concat([data, data.head(1)]), row_id="id")
    with pytest.raises(ex.errors.InvalidParameter, match="every row needs an id of its own"):
        plans(data.with_columns(id=pl.when(pl.col("id") > 5).then(pl.col("id"))), row_id="id")
    assert plans(pl.concat([data, data.head(1)]), row_id="id", check_ids=False)


def test_repeated_ids_of_an_eager_frame_are_refused(data: pl.DataFrame) -> None:
    twice = pl.concat([data, data.head(1)])
    for frame in (twice, twice.to_pandas(), twice.to_arrow()):
        with pytest.raises(ex.errors.InvalidParameter, match="every row needs an id of its own"):
            ex.privatize(frame, CHOSEN, row_id="id")
    assert ex.privatize(twice, CHOSEN, row_id="id", check_ids=False).height == N + 1


@PLANS
def test_bad_calls_are_refused(plans: Any, data: pl.DataFrame) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="row_id must be the name of a column"):
        plans(data, row_id="ID")
    with pytest.raises(ex.errors.InvalidParameter, match="the row id cannot be randomised"):
        plans(data, row_id="number")
    with pytest.raises(ex.errors.InvalidParameter, match="column must be the name of a column"):
        plans(data.drop("answer"), row_id="id")
    with pytest.raises(ex.errors.InvalidParameter, match="release_key must be a ReleaseKey") as error:
        plans(data, row_id="id", release_key=b"secret bytes")
    assert "secret bytes" not in str(error.value)
    for name in ("key", "seed"):
        with pytest.raises(ex.errors.InvalidParameter, match="takes no seed"):
            plans(data, row_id="id", **{name: 1})
    with pytest.raises(ex.errors.InvalidParameter, match="cannot be randomised"):  # no row id
        plans(data)
    with pytest.raises(ex.errors.InvalidParameter, match="a release key needs row ids"):
        plans(data, release_key=ex.ReleaseKey.new())


@PLANS
def test_an_unknown_or_missing_value_stops_the_evaluation(plans: Any, data: pl.DataFrame) -> None:
    for wrong in (pl.lit("e"), pl.lit(None, dtype=pl.String)):
        plan = plans(data.with_columns(answer=wrong), row_id="id")[0]
        with pytest.raises(Exception, match="answer"):
            as_frame(plan)


def test_the_secret_is_in_no_plan(data: pl.DataFrame, tmp_path: Path, key: ex.ReleaseKey) -> None:
    secret = key.save(tmp_path / "key").read_text().splitlines()[1]
    for plan in (polars_plans(data, row_id="id", release_key=key)[0], duckdb_plans(data.head(9), row_id="id")[0]):
        text = repr(plan) + plan.explain()
        assert secret not in text
        assert secret[:16] not in text
    with pytest.raises(pl.exceptions.ComputeError, match="never pickled"):
        polars_plans(data, row_id="id")[0].serialize()


@pytest.mark.parametrize("names", [("^a.*$", "^.*$"), ("*", "id*"), ("a b", 'quo"ted')])
def test_names_are_names_and_no_patterns(names: tuple[str, str], key: ex.ReleaseKey) -> None:
    column, row_id = names
    frame = pl.DataFrame({row_id: [1, 2, 3], column: ["a", "b", "c"], "another": ["x", "y", "z"]})
    expected = ex.privatize(frame, {column: LETTERS}, row_id=row_id, release_key=key)
    plan = ex.privatize(frame.lazy(), {column: LETTERS}, row_id=row_id, release_key=key)
    assert plan.collect().equals(expected)
    assert sum(ex.count_reports(plan, column, LETTERS).values()) == 3
    con = duckdb.connect()
    relation = ex.privatize(
        con.from_arrow(frame.to_arrow()), {column: LETTERS}, row_id=row_id, release_key=key, connection=con
    )
    assert relation.fetchall() == expected.rows()


@pytest.mark.parametrize("together", [True, False])
def test_columns_whose_names_agree_as_text_share_no_words(key: ex.ReleaseKey, together: bool) -> None:
    """In one call or in two; with the same words the reports about equal values would be equal."""
    m, n = ex.randomized_response(1000, 0), 400
    names: list[Any] = [1, "1", 1.0, True, ("1",)]
    frame = pd.DataFrame({0: range(n), **dict.fromkeys(names[:2], 0)})
    found = []
    if together:
        made = ex.privatize(frame, {1: m, "1": m}, row_id=0, release_key=key)
        found = [made[1].tolist(), made["1"].tolist()]
    else:
        for name in names:
            one = pd.DataFrame({"id": range(n), name: [0] * n})
            found.append(ex.privatize(one, {name: m}, row_id="id", release_key=key)[name].tolist())
    for i, one in enumerate(found):
        for other in found[:i]:
            assert sum(a == b for a, b in zip(one, other, strict=True)) < 20  # 0.4 are expected, and with one word 400


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
@pytest.mark.parametrize("row_id", [["id"], {"id": 1}])
def test_a_row_id_that_is_no_name_is_refused(make: Any, row_id: Any) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="row_id must be the name of a column; got type of row_id="):
        ex.privatize(make({"id": [1], "x": ["a"]}), {"x": LETTERS}, row_id=row_id)


@pytest.mark.parametrize("kind", ["DOUBLE", "DATE", "HUGEINT", "BOOLEAN", "INTEGER[]", "INTERVAL", "DECIMAL(5,2)"])
def test_ids_of_a_wrong_type_are_refused_before_duckdb_evaluates_anything(kind: str) -> None:
    con = duckdb.connect()
    relation = con.sql(f"SELECT NULL::{kind} AS id, 'a' AS x WHERE false")
    with pytest.raises(ex.errors.InvalidParameter, match="a column of this type cannot hold ids; got id="):
        ex.privatize(relation, {"x": LETTERS}, row_id="id", connection=con)


def test_objects_in_a_plan_are_refused_before_polars_does() -> None:
    plan = pl.DataFrame({"id": [1], "x": pl.Series(["a"], dtype=pl.Object)}).lazy()
    with pytest.raises(ex.errors.InvalidParameter, match="a plan of polars cannot work on objects; got x='Object'"):
        ex.privatize(plan, {"x": LETTERS}, row_id="id")


def test_a_name_is_one_whoever_spells_it(key: ex.ReleaseKey) -> None:
    m, values = ex.randomized_response(1000, 0), list(range(100))
    one = KeyedColumn(m, np.int64(1), key).reports(values, values)
    assert one == KeyedColumn(m, 1, key).reports(values, values)
    assert one != KeyedColumn(m, "1", key).reports(values, values)


def test_a_relation_of_another_connection_is_refused(data: pl.DataFrame) -> None:
    relation = duckdb.connect().from_arrow(data.to_arrow())
    with pytest.raises(ex.errors.InvalidParameter, match="the relation must belong to the connection"):
        ex.privatize(relation, CHOSEN, row_id="id")
    table = data.to_arrow()
    assert isinstance(table, pa.Table)
    assert as_frame(ex.privatize(duckdb.from_arrow(table), CHOSEN, row_id="id")).height == N


def test_reports_that_are_missing_or_unknown_are_not_counted(data: pl.DataFrame) -> None:
    plan = data.lazy().with_columns(answer=pl.lit(None, dtype=pl.String))
    for frame in (plan, plan.collect(), plan.collect().to_pandas()):
        with pytest.raises(ex.errors.InvalidParameter, match="a report must not be missing"):
            ex.count_reports(frame, "answer", LETTERS)
    with pytest.raises(ex.errors.UnknownLabel):
        ex.count_reports(data.lazy(), "person", LETTERS)
    with pytest.raises(ex.errors.InvalidParameter, match="must be the name of a column"):
        ex.count_reports(data.lazy(), "Answer", LETTERS)
    with pytest.raises(ex.errors.InvalidParameter, match="must be a data frame or a plan"):
        ex.count_reports(["a"], "answer", LETTERS)


SAID = ([0, 1, 0, 0, 2, 1, 3, 0], [0, 1, 2, 0, 2, 1, 3, 0])  # one person answers otherwise
DUCKDB_TYPES = ["VARCHAR", "ENUM", "INTEGER", "BIGINT"]


@pytest.mark.parametrize("labels", [TEXT, NUMBERS], ids=["text", "numbers"])
@pytest.mark.parametrize("kind", list(frames()))
def test_a_keyed_frame_at_epsilon_zero_says_nothing_about_anyone(kind: str, labels: Any, key: ex.ReleaseKey) -> None:
    made = [frames()[kind]([labels[code] for code in said]) for said in SAID]
    seen = {fingerprint(ex.privatize(frame, {"x": constant(labels)}, row_id="id", release_key=key)) for frame in made}
    assert len(seen) == 1


@pytest.mark.parametrize("dtype", ["text", "categorical", "enum"])
def test_a_polars_plan_at_epsilon_zero_says_nothing_about_anyone(dtype: str, key: ex.ReleaseKey) -> None:
    seen = set()
    for said in SAID:
        values = [TEXT[code] for code in said]
        dtypes = {"text": pl.String, "categorical": pl.Categorical, "enum": pl.Enum(list(dict.fromkeys(values)))}
        plan = pl.LazyFrame({"id": range(len(values)), "x": pl.Series(values, dtype=dtypes[dtype])})
        released = ex.privatize(plan, {"x": constant(TEXT)}, row_id="id", release_key=key)
        seen.add((str(released.collect_schema()), fingerprint(released.collect())))
    assert len(seen) == 1


@pytest.mark.parametrize("kind", DUCKDB_TYPES)
def test_a_duckdb_plan_at_epsilon_zero_says_nothing_about_anyone(kind: str, key: ex.ReleaseKey) -> None:
    seen, labels = set(), TEXT if kind in ("VARCHAR", "ENUM") else NUMBERS
    for said in SAID:
        con, values = duckdb.connect(), [labels[code] for code in said]
        listed = ", ".join(f"'{value}'" for value in dict.fromkeys(values))
        con.execute(f"CREATE TABLE people (id BIGINT, x {f'ENUM ({listed})' if kind == 'ENUM' else kind})")
        con.executemany("INSERT INTO people VALUES (?, ?)", list(enumerate(values)))
        plan = con.table("people")
        released = ex.privatize(plan, {"x": constant(labels)}, row_id="id", release_key=key, connection=con)
        seen.add((str(released.types), fingerprint(released.to_arrow_table())))
    assert len(seen) == 1


def test_a_duckdb_type_without_labels_is_refused(data: pl.DataFrame) -> None:
    con = duckdb.connect()
    plan = con.from_arrow(data.to_arrow()).project("id, number::HUGEINT AS number")
    with pytest.raises(
        ex.errors.InvalidParameter, match="a column of this type cannot hold labels; got number='HUGEINT'"
    ):
        ex.privatize(plan, {"number": SETS}, row_id="id", connection=con)


def test_errors_of_plans_do_not_quote_values(data: pl.DataFrame) -> None:
    wrong = data.head(3).with_columns(answer=pl.lit("my secret"))
    for plans in (polars_plans, duckdb_plans):
        with pytest.raises(Exception, match="a value of type str that is no label") as error:
            as_frame(plans(wrong, row_id="id")[0])
        assert "secret" not in str(error.value)
    with pytest.raises(ex.errors.UnknownLabel, match="answer: a value of type str that is no label") as other:
        ex.count_reports(wrong.lazy(), "answer", LETTERS)
    assert "secret" not in str(other.value)


def test_missing_reports_are_left_out_on_request(data: pl.DataFrame) -> None:
    plan = data.lazy().with_columns(answer=pl.when(pl.col("number") < 30).then("answer"))
    whole = plan.collect()
    with pytest.raises(ex.errors.InvalidParameter, match="reports must not be missing"):
        ex.estimate_frequencies(plan, LETTERS, column="answer")
    for name in ("estimate", "n"):
        inside, outside = (
            getattr(ex.estimate_frequencies(frame, LETTERS, column="answer", missing="drop"), name)
            for frame in (plan, whole)
        )
        np.testing.assert_allclose(inside, outside)
