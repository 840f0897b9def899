"""How fast reports are made: ratios against peers in the same run, a hundred million codes in one call, Parquet to
Parquet.

Peers randomise NumPy integer codes with k-ary randomised response at ε = 1, each through the interface it offers:
multi-freq-ldpy (a compiled function of one value), pure-ldp (a method of one value). The plain line is randomised
response in float NumPy on PCG64, neither exact nor secure. Every line is the best of many repetitions, all contestants
taking turns. Run with `make bench-all`; BENCH_ROWS=1e7 makes the file smaller.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from timing import best_of

import extremal as ex
from extremal.release import sample_codes

EPSILON, CODES, PEER_CODES, ROUNDS = 1.0, 3_000_000, 250_000, 8
ROWS = int(float(os.environ.get("BENCH_ROWS", "1e8")))
LABELS = [f"answer number {i}" for i in range(10)]

CHILD = """
import json, re, sys, time
from extremal.cli import main
started = time.perf_counter()
code = main(sys.argv[1:])
seconds = time.perf_counter() - started
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
print(json.dumps({"code": code, "seconds": seconds, "cpu": time.process_time(), "peak": peak}))
"""


def rates(contestants: dict[str, tuple[Callable[[], Any], int, int]]) -> dict[str, float]:
    """Million values a second of each (run, values, repetitions a round), the best of all rounds.

    Everybody runs in every round, so that a busy machine slows all of them alike.
    """
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(ROUNDS):
        for name, (run, _, repeats) in contestants.items():
            best[name] = min(best[name], best_of(repeats, run)[0])
    return {name: count / best[name] / 1e6 for name, (_, count, _) in contestants.items()}


def plain(codes: np.ndarray, k: int, generator: np.random.Generator) -> np.ndarray:  # type: ignore[type-arg]
    truth = generator.random(codes.size) < np.e**EPSILON / (np.e**EPSILON + k - 1)
    other = generator.integers(0, k - 1, size=codes.size)
    other += other >= codes
    return np.where(truth, codes, other)


def codes_bench(k: int) -> list[tuple[str, float, float]]:
    """(what, measured ratio, required ratio)."""
    generator = np.random.default_rng(k)
    codes, m = generator.integers(0, k, size=CODES), ex.randomized_response(k, EPSILON)
    few = codes[:PEER_CODES].tolist()
    client = DEClient(epsilon=EPSILON, d=k, index_mapper=lambda value: value)
    measured = rates(
        {
            "extremal, NumPy": (lambda: sample_codes(m, codes, compiled=False), CODES, 5),
            "extremal, numba": (lambda: sample_codes(m, codes, compiled=True), CODES, 5),
            "float NumPy, not exact, not secure": (lambda: plain(codes, k, generator), CODES, 5),
            "multi-freq-ldpy": (lambda: [GRR_Client(x, k, EPSILON) for x in few], PEER_CODES, 2),
            "pure-ldp": (lambda: [client.privatise(x) for x in few], PEER_CODES, 2),
        }
    )
    for name, value in measured.items():
        print(f"  k={k:<4d} {name:36s} {value:8.1f} M values/s")
    ours, fast = measured["extremal, NumPy"], measured["extremal, numba"]
    return [
        (f"k={k}: NumPy / multi-freq-ldpy", ours / measured["multi-freq-ldpy"], 25),
        (f"k={k}: NumPy / pure-ldp", ours / measured["pure-ldp"], 40),
        (f"k={k}: numba / multi-freq-ldpy", fast / measured["multi-freq-ldpy"], 100),
        (f"k={k}: numba / pure-ldp", fast / measured["pure-ldp"], 100),
        (f"k={k}: NumPy / float NumPy", ours / measured["float NumPy, not exact, not secure"], 1 / 1.5),
    ]


def one_large_call() -> None:
    codes = np.random.default_rng(1).integers(0, 10, size=100_000_000)
    m = ex.randomized_response(10, EPSILON)
    for compiled in (False, True):
        seconds, _ = best_of(2, lambda c=compiled: sample_codes(m, codes, compiled=c))  # type: ignore[misc]
        print(
            f"  1e8 codes in one call, {'numba' if compiled else 'NumPy'}: {seconds:.2f} s, {100 / seconds:.0f} M "
            "values/s"
        )


def write_survey(path: Path) -> None:
    generator, names = np.random.default_rng(2), pa.array(LABELS)
    schema = pa.schema({"id": pa.int64(), "answer": pa.string()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, ROWS, 1_000_000):
            count = min(1_000_000, ROWS - start)
            answers = names.take(pa.array(generator.integers(0, 10, size=count)))
            writer.write_table(
                pa.table({"id": pa.array(np.arange(start, start + count)), "answer": answers}, schema=schema)
            )


def file_bench() -> list[tuple[str, float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        source, target, stored = (Path(folder) / name for name in ("in.parquet", "out.parquet", "m.json"))
        write_survey(source)
        ex.randomized_response(10, EPSILON, inputs=LABELS).save(stored)
        arguments = ["privatize", str(source), "--column", "answer", "--mechanism", str(stored), "-o", str(target)]
        ran = subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=True)
        found = json.loads(ran.stdout.splitlines()[-1])
        speed, each = ROWS / found["seconds"] / 1e6, ROWS / found["cpu"] / 1e6
        print(
            f"  Parquet to Parquet, {ROWS:,} rows with strings: {found['seconds']:.1f} s, {speed:.2f} M rows/s, peak "
            f"{found['peak']:.0f} MB"
        )
        print(f"    ({each:.2f} M rows a second of processor time, the start of Python included)")
        return [("Parquet, M rows/s", speed, 3), ("Parquet, 500 MB / peak memory", 500 / found["peak"], 1)]


def main() -> int:
    results = codes_bench(10) + codes_bench(100)
    one_large_call()
    results += file_bench()
    for name, value, required in results:
        print(f"  {'ok ' if value >= required else 'NO '} {name:32s} {value:7.2f}   (required {required:.3g})")
    return int(any(value < required for _, value, required in results))


if __name__ == "__main__":
    sys.exit(main())
