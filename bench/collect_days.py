"""Many simulated reports from a store through an export by day and Spark to estimates.

    python bench/collect_days.py [--reports 1000000] [--days 10] [--folder .]

The store is filled directly, without HTTP: `bench/collect.py` measures that. `extremal collect export --by-day` and
Spark (two threads, 2 GB) are what a user runs. Prints sizes, times and the largest memory of the export, and compares
the counts with those that were drawn. Everything is deleted afterwards; 10^8 reports need 5 GB of disk.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex
from extremal.collect.study import FILE, day_number, new_study, today

CHUNK = 1_000_000  # reports drawn at a time
TRUTH = {"drugs": [0.9, 0.1], "party": [0.5, 0.3, 0.2], "days": [0.4, 0.3, 0.15, 0.1, 0.05]}


def questionnaire() -> ex.Questionnaire:
    return ex.Questionnaire({name: ex.randomized_response(len(shares), 1) for name, shares in TRUTH.items()})


def filled(file: Path, asked: ex.Questionnaire, reports: int, days: int) -> dict[str, np.ndarray[Any, Any]]:
    """Draw reports into a store, in the order of their ids; how often each was drawn."""
    made = {name: np.array(TRUTH[name]) @ m.matrix for name, m in asked.questions.items()}
    kinds = list(itertools.product(*(range(len(shares)) for shares in made.values())))
    chances = np.array([np.prod([shares[x] for shares, x in zip(made.values(), kind, strict=True)]) for kind in kinds])
    contents = [json.dumps(kind, separators=(",", ":")) for kind in kinds]
    generator, first = np.random.default_rng(), day_number(today()) - days + 1
    drawn = np.zeros(len(kinds), dtype=np.int64)
    connection = sqlite3.connect(file, isolation_level=None)
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-65536"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")
    for start in range(0, reports, CHUNK):
        number = min(CHUNK, reports - start)
        keys = np.empty((number, 2), dtype=">u8")
        keys[:, 0] = (np.arange(start, start + number, dtype=np.float64) / reports * 2.0**63).astype(np.uint64)
        keys[:, 1] = generator.integers(0, 1 << 63, number, dtype=np.uint64)
        codes = generator.choice(len(kinds), number, p=chances / chances.sum())
        drawn += np.bincount(codes, minlength=len(kinds))
        connection.executemany(
            "INSERT INTO reports VALUES (?, ?, ?)",
            _rows(keys.tobytes(), generator.integers(0, days, number), codes, first, contents),
        )
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    table = drawn.reshape([len(shares) for shares in made.values()])
    return {name: table.sum(axis=tuple(set(range(len(made))) - {place})) for place, name in enumerate(made)}


def _rows(keys: bytes, days: Any, codes: Any, first: int, contents: list[str]) -> Iterator[tuple[bytes, int, str]]:
    for place, (day, code) in enumerate(zip(days.tolist(), codes.tolist(), strict=True)):
        yield keys[16 * place : 16 * place + 16], first + day, contents[code]


def counted_by_spark(days: Path, asked: ex.Questionnaire) -> dict[str, dict[Any, int]]:
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    try:
        frame = spark.read.parquet(str(days))
        return {name: ex.count_reports(frame, name, m) for name, m in asked.questions.items()}
    finally:
        spark.stop()


def size(path: Path) -> str:
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return f"{sum(one.stat().st_size for one in files) / 1e6:,.1f} MB in {len(files)} files"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--folder", default=".")
    options = parser.parse_args()
    asked = questionnaire()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        study, days = Path(place) / "study", Path(place) / "days"
        new_study(study, asked)
        began = time.monotonic()
        drawn = filled(study / FILE, asked, options.reports, options.days)
        print(f"store: {size(study / FILE)}, filled in {time.monotonic() - began:.0f} s", flush=True)
        began = time.monotonic()
        command = [sys.executable, "-m", "extremal", "collect", "export", str(study), str(days), "--by-day"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        took, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"export: {size(days)}, {took:.0f} s, {options.reports / took:,.0f} reports/s, "
            f"{used.ru_utime + used.ru_stime:.0f} s of the processor, "
            f"{used.ru_maxrss / 1024:.0f} MB of memory",
            flush=True,
        )
        began = time.monotonic()
        counts = counted_by_spark(days, asked)
        took = time.monotonic() - began
        print(f"Spark: {took:.0f} s with its start, {options.reports * len(counts) / took:,.0f} values/s", flush=True)
    for name, mechanism in asked.questions.items():
        if [counts[name][label] for label in mechanism.outputs] != drawn[name].tolist():
            sys.exit(f"the counts of {name} are not those that were drawn")
        found = ex.estimate_frequencies(counts[name], mechanism)
        away = float(np.max(np.abs(found.estimate - np.array(TRUTH[name])) / found.standard_error))
        print(f"{name}: {found.estimate.round(5).tolist()}, at most {away:.1f} standard errors from the truth")


if __name__ == "__main__":
    main()
