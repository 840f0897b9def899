"""Ten million strings through each route of `ex.HeavyHitters`: rows a second, and whether the frequent ones are found.

Zipf 1.1 over 1,000 words of 4 to 12 letters, ε = 4. Seconds are of the processor, with Spark (whose workers are
other processes) by the clock. Node runs the script that devices run, a report at a time.
Run alone: python bench/strings.py [ROWS [ROUTE…]]
"""

from __future__ import annotations

import os
import resource
import string
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

import extremal as ex
from extremal.release.device import script

WORDS, SURE = 1000, 10  # words, and how many of the first must be found


def column(rows: int) -> tuple[Any, list[str]]:
    draw = np.random.default_rng(3)
    letters = np.array(list(string.ascii_lowercase))
    words = ["".join(letters[draw.integers(26, size=n)]) for n in draw.integers(4, 13, size=WORDS).tolist()]
    shares = np.arange(1, WORDS + 1) ** -1.1
    place = draw.choice(WORDS, size=rows, p=shares / shares.sum())
    return pa.table({"id": np.arange(rows), "word": pa.array(words).take(pa.array(place))}), words


def listed(protocol: Any, table: Any) -> Any:
    return protocol.privatize(table["word"].to_pylist())


def arrow(protocol: Any, table: Any) -> Any:
    return protocol.privatize(table, column="word", row_id="id")["word"]


def polars(protocol: Any, table: Any) -> Any:
    import polars as pl

    frame: Any = pl.from_arrow(table)
    return protocol.privatize(frame.lazy(), column="word", row_id="id").collect()["word"].to_numpy()


def duckdb(protocol: Any, table: Any) -> Any:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        relation = connection.from_arrow(table)
        made = protocol.privatize(relation, column="word", row_id="id", connection=connection)
        return made.to_arrow_table()["word"].to_numpy()


def spark(protocol: Any, table: Any) -> Any:
    import pyarrow.parquet as pq
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    folder = tempfile.mkdtemp()
    pq.write_table(table, f"{folder}/in.parquet")
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(f"{folder}/in.parquet")
    protocol.privatize(frame, column="word", row_id="id").write.parquet(f"{folder}/out.parquet")
    return pq.read_table(f"{folder}/out.parquet")["word"].to_numpy()


def node(protocol: Any, table: Any) -> Any:
    folder = Path(tempfile.mkdtemp())
    (folder / "randomiser.js").write_bytes(script("randomiser.js"))
    (folder / "package.json").write_text('{"type": "module"}')
    protocol.save(folder / "words.json")
    csv.write_csv(
        table.select(["word"]), folder / "in.txt", csv.WriteOptions(include_header=False, quoting_style="none")
    )
    (folder / "reports.js").write_text(NODE)
    subprocess.run(["node", str(folder / "reports.js")], cwd=folder, check=True)
    return np.fromfile(folder / "out.bin", dtype="<f8").astype(np.int64)  # below 2^53: exact


NODE = """
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { loadHeavyHitters, secureWords } from "./randomiser.js";
const protocol = await loadHeavyHitters(readFileSync("words.json", "utf8"));
const [out, words] = [createWriteStream("out.bin"), secureWords()];
let reports = [];
const flush = () => { out.write(Buffer.from(new Float64Array(reports).buffer)); reports = []; };
for await (const word of createInterface({ input: createReadStream("in.txt") })) {
  reports.push(protocol.draw(word, words));
  if (reports.length === 65536) flush();
}
flush();
out.end();
"""

ROUTES = {route.__name__: route for route in (listed, arrow, polars, duckdb, spark, node)}


def seconds_of(name: str) -> float:
    """Seconds of the processor so far, of Node too; with Spark by the clock."""
    if name == "spark":
        return perf_counter()
    node_took = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + node_took.ru_utime + node_took.ru_stime


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    table, words = column(rows)
    bad = 0
    for name in sys.argv[2:] or ROUTES:
        protocol = ex.HeavyHitters(4, max_bytes=12, alphabet=string.ascii_lowercase)
        protocol.privatize(["warm"] * 100)
        start = seconds_of(name)
        reports = ROUTES[name](protocol, table)
        seconds = seconds_of(name) - start
        start = process_time()
        found = protocol.discover(reports)
        false = set(found.labels) - set(words)
        bad += len(false) + len(set(words[:SURE]) - set(found.labels)) + (len(reports) != rows)
        print(
            f"{name:8} {len(reports):,} reports in {seconds:.1f} s ({rows / seconds / 1e6:.3f} M/s); "
            f"discovered {len(found)} words in {process_time() - start:.1f} s, {len(false)} false",
            flush=True,
        )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
