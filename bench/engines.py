"""Keyed release inside engines: rows a second for randomised response, k = 10, ids 0..n−1, one column, counted.

Each engine is asked for the counts of the reports, so that every report is made and no row is collected; beside it the
same question about the true values (the engine alone). Spark is measured when it is installed, and beside it a function
that only passes its Arrow batch on: the transport's own limit.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import extremal as ex

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
M = ex.randomized_response(10, 1)


def seconds(action: Callable[[], Any], times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def show(name: str, action: Callable[[], Any]) -> None:
    print(f"{name:<44} {ROWS / seconds(action) / 1e6:8.2f} M rows/s", flush=True)


def main() -> int:
    import duckdb
    import polars as pl

    values = np.random.default_rng(1).integers(0, 10, ROWS)
    frame = pl.DataFrame({"id": np.arange(ROWS), "answer": values})
    show("polars, the engine alone", lambda: ex.count_reports(frame.lazy(), "answer", M))
    lazy = ex.privatize(frame.lazy(), {"answer": M}, row_id="id", check_ids=False)
    show("polars LazyFrame, keyed", lambda: ex.count_reports(lazy, "answer", M))
    show("polars DataFrame, keyed", lambda: ex.privatize(frame, {"answer": M}, row_id="id", check_ids=False))
    con = duckdb.connect()
    table = con.from_arrow(frame.to_arrow())
    show("DuckDB, the engine alone", lambda: ex.count_reports(table, "answer", M))
    relation = ex.privatize(table, {"answer": M}, row_id="id", check_ids=False, connection=con)
    show("DuckDB relation, keyed", lambda: ex.count_reports(relation, "answer", M))
    if importlib.util.find_spec("pyspark") is not None:
        spark()
    return 0


def spark() -> None:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import arrow_udf

    session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = session.range(ROWS).selectExpr("id", "id % 10 AS answer")

    def passed(ids: pa.Array, values: pa.Array) -> pa.Array:  # noqa: ARG001 - it must cross, too
        return values

    passed.__annotations__ = {"ids": pa.Array, "values": pa.Array, "return": pa.Array}
    through = frame.withColumn("answer", arrow_udf(passed, "long")("id", "answer"))
    show("Spark, batches passed on", lambda: ex.count_reports(through, "answer", M))
    plan = ex.privatize(frame, {"answer": M}, row_id="id")
    show("Spark, keyed", lambda: ex.count_reports(plan, "answer", M))
    session.stop()


if __name__ == "__main__":
    sys.exit(main())
