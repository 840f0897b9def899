"""Keyed release inside engines: rows a second for randomised response, k = 10, ids 0..n−1, one column, counted.

Each engine is asked for the counts of the reports, so that every report is made and no row is collected; beside it the
same question about the true values (the engine alone). DuckDB and, when it is installed, Spark are measured with a
function that only passes its Arrow vectors on, too, round by round in turn: the transport's own limit; and DuckDB with
one thread, because threads that call Python get in each other's way. A machine with other work to do makes every
wall-clock figure a floor; the second column, rows by the processor time of all processes together, depends on it less.
The memory of the driver is that of its process at its largest, after a tenth of the rows and after all of them.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
M = ex.randomized_response(10, 1)


def processor_seconds() -> float:
    """Processor time of this process and of all that descend from it."""
    ticks, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        ticks[int(path.parent.name)], parents[int(path.parent.name)] = sum(map(int, fields[11:15])), int(fields[1])
    total = 0
    for process, used in ticks.items():
        above = process
        while above not in (os.getpid(), 0, 1):
            above = parents.get(above, 0)
        total += used if above == os.getpid() else 0
    return total / os.sysconf("SC_CLK_TCK")


def show(actions: dict[str, Callable[[], Any]], times: int = 3) -> None:
    """The best of some rounds, in turn."""
    best = dict.fromkeys(actions, (float("inf"), float("inf")))
    for _ in range(times):
        for name, action in actions.items():
            used, start = processor_seconds(), time.perf_counter()
            action()
            wall, used = time.perf_counter() - start, processor_seconds() - used
            best[name] = (min(best[name][0], wall), min(best[name][1], used))
    for name, (wall, used) in best.items():
        print(f"{name:<44} {ROWS / wall / 1e6:8.2f} M rows/s {ROWS / used / 1e6:8.2f} M rows/CPU-s", flush=True)


def largest_memory(process: int | str = "self") -> int:
    """MB that a process has had at most."""
    found = re.search(r"VmHWM:\s+([0-9]+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) // 1024 if found else 0


def main() -> int:
    import duckdb
    import polars as pl

    values = np.random.default_rng(1).integers(0, 10, ROWS)
    frame = pl.DataFrame({"id": np.arange(ROWS), "answer": values})
    lazy = ex.privatize(frame.lazy(), {"answer": M}, row_id="id", check_ids=False)
    arrow = frame.to_arrow()

    def in_duckdb(threads: int) -> tuple[Any, Any, Any]:
        """The true values, those that a function passed on, and reports."""
        con = duckdb.connect(config={"threads": threads})
        con.create_function(
            "passed", lambda _, values: values, ["BIGINT", "BIGINT"], "BIGINT", type="arrow", null_handling="special"
        )
        table = con.from_arrow(arrow)
        through = table.project("id, passed(id, answer) AS answer")
        return table, through, ex.privatize(table, {"answer": M}, row_id="id", check_ids=False, connection=con)

    table, through, relation = in_duckdb(os.cpu_count() or 1)
    _, through_one, relation_one = in_duckdb(1)
    show(
        {
            "polars, counting alone": lambda: ex.count_reports(frame.lazy(), "answer", M),
            "polars LazyFrame, keyed": lambda: ex.count_reports(lazy, "answer", M),
            "polars DataFrame, keyed": lambda: ex.privatize(frame, {"answer": M}, row_id="id", check_ids=False),
            "DuckDB, counting alone": lambda: ex.count_reports(table, "answer", M),
            "DuckDB, Arrow vectors passed on": lambda: ex.count_reports(through, "answer", M),
            "DuckDB relation, keyed": lambda: ex.count_reports(relation, "answer", M),
            "DuckDB, one thread, vectors passed on": lambda: ex.count_reports(through_one, "answer", M),
            "DuckDB relation, one thread, keyed": lambda: ex.count_reports(relation_one, "answer", M),
        }
    )
    if importlib.util.find_spec("pyspark") is None:
        return 0
    return subprocess.run([sys.executable, __file__, str(ROWS), "spark"], check=False).returncode


def spark() -> int:
    """In a process of its own, so that its memory is that of Spark's driver."""
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import arrow_udf

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.driver.host": "127.0.0.1"}
    session = SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    gateway = session.sparkContext._gateway.proc.pid

    def passed(ids: pa.Array, values: pa.Array) -> pa.Array:  # noqa: ARG001 - it must cross, too
        return values

    passed.__annotations__ = {"ids": pa.Array, "values": pa.Array, "return": pa.Array}

    def plans(rows: int) -> tuple[Any, Any]:
        frame = session.range(rows).selectExpr("id", "id % 10 AS answer")
        through = frame.withColumn("answer", arrow_udf(passed, "long")("id", "answer"))
        return through, ex.privatize(frame, {"answer": M}, row_id="id")

    ex.count_reports(plans(ROWS // 10)[1], "answer", M)
    before = largest_memory()
    through, plan = plans(ROWS)
    show(
        {
            "Spark, Arrow batches passed on": lambda: ex.count_reports(through, "answer", M),
            "Spark, keyed": lambda: ex.count_reports(plan, "answer", M),
        }
    )
    print(f"driver: {before} MB after {ROWS // 10:,} rows, {largest_memory()} MB after {ROWS:,}; ", end="")
    print(f"Java (heap of at most 1 GB): {largest_memory(gateway)} MB")
    session.stop()
    return 0


if __name__ == "__main__":
    sys.exit(spark() if sys.argv[2:] == ["spark"] else main())
