"""How fast a collector takes reports, each acknowledged after fsync: single uploads, and lists.

    python bench/collect.py [--seconds 20] [--store postgresql://… | --postgresql]

Server and clients run on this machine, in processes of their own; `--postgresql` starts a database for the run, with
its defaults. Prints uploads per second with the latencies of requests.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex

CONNECTIONS = 64
LISTS_AT_ONCE = 8
REPORTS_IN_A_LIST = 10_000


def questionnaire() -> ex.Questionnaire:
    return ex.Questionnaire.within(4, {"drugs": ["no", "yes"], "party": ["l", "c", "r"], "days": range(5)})


def reports(asked: ex.Questionnaire, number: int) -> list[dict[str, Any]]:
    """Reports of simulated people, as devices send them."""
    generator = np.random.default_rng()
    columns = {name: [m.inputs[x] for x in generator.integers(0, m.k, number)] for name, m in asked.questions.items()}
    import pandas

    made = asked.privatize(pandas.DataFrame(columns))
    return json.loads(made.to_json(orient="records"))


def started(folder: Path, *options: str) -> tuple[subprocess.Popen[str], int]:
    """A server on a free port."""
    command = [sys.executable, "-m", "extremal", "collect", "serve", str(folder), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline() if process.stdout else ""
    found = re.search(r"127\.0\.0\.1:(\d+)", line)
    if not found:
        process.kill()
        raise RuntimeError("the server did not start")
    return process, int(found[1])


def request(body: bytes) -> bytes:
    head = "POST /api/reports HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def connection(port: int, bodies: list[bytes], until: float, times: list[float], statuses: list[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for body in bodies:
        if time.monotonic() > until:
            break
        began = time.perf_counter()
        writer.write(request(body))
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
        await reader.readexactly(length)
        times.append(time.perf_counter() - began)
        statuses.append(int(head[9:12]))
    writer.close()


async def load(port: int, bodies: list[list[bytes]], seconds: float) -> tuple[float, np.ndarray[Any, Any], list[int]]:
    times: list[float] = []
    statuses: list[int] = []
    began = time.monotonic()
    await asyncio.gather(*(connection(port, own, began + seconds, times, statuses) for own in bodies))
    return time.monotonic() - began, np.array(times), statuses


def measure(port: int, asked: ex.Questionnaire, seconds: float, size: int) -> None:
    connections = CONNECTIONS if size == 1 else LISTS_AT_ONCE
    made = reports(asked, 20_000)
    number = int(seconds * (4_000 if size == 1 else 80_000) / size / connections) + 2
    end = f'","questionnaire":"{asked.hash}","reports":'
    texts = [end + json.dumps(one, separators=(",", ":")) + "}" for one in made]
    bodies = []
    for _ in range(connections):
        own = []
        for i in range(number):
            some = [f'{{"id":"{secrets.token_hex(16)}{texts[(i * size + j) % len(texts)]}' for j in range(size)]
            own.append((some[0] if size == 1 else f"[{','.join(some)}]").encode())
        bodies.append(own)
    wall, times, statuses = asyncio.run(load(port, bodies, seconds))
    stored = size * sum(status == 201 for status in statuses)
    other = {status: statuses.count(status) for status in set(statuses) - {201}}
    low, high = 1000 * np.quantile(times, [0.5, 0.99])
    title = "single uploads" if size == 1 else f"lists of {size:,}"
    print(
        f"{title}: {stored / wall:,.0f} reports/s, p50 {low:.0f} ms, p99 {high:.0f} ms "
        f"({stored:,} stored; other answers: {other or 'none'})"
    )


@contextlib.contextmanager
def own_database() -> Iterator[str]:
    """The address of a PostgreSQL that lives as long as the run, as the tests start it."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.servers import Database

    database = Database()
    try:
        yield database.url
    finally:
        database.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--store")
    where.add_argument("--postgresql", action="store_true")
    options = parser.parse_args()
    asked = questionnaire()
    store = own_database() if options.postgresql else contextlib.nullcontext(options.store)
    with tempfile.TemporaryDirectory(dir=".") as folder, store as url:
        file = asked.save(Path(folder) / "q.json")
        study = Path(folder) / "study"
        subprocess.run(
            [sys.executable, "-m", "extremal", "collect", "new", str(study), "--questionnaire", str(file)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        more = ["--store", url] if url else []
        process, port = started(study, *more)
        try:
            for size in (1, 1_000, REPORTS_IN_A_LIST):
                measure(port, asked, options.seconds, size)
        finally:
            process.terminate()
            process.wait(60)
        subprocess.run([sys.executable, "-m", "extremal", "collect", "check", str(study), *more], check=True)


if __name__ == "__main__":
    main()
