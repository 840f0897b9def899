"""A memory, killed 200 times without warning while it writes: nothing that was given out is lost, nothing is doubled.

Every report is drawn from 1,000 labels, so that one made twice would show. Run with `make audit`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import extremal as ex

KILLS = 200
M = ex.randomized_response(1000, 1)


def write(path: Path, start: int, out: int) -> None:
    """Store reports and say so, for ever."""
    with ex.Memory(path, limit=1) as memory:
        os.write(out, b"ready\n")
        for person in range(start, 10**9):
            os.write(out, f"{person} {memory.report(person, 'q', person % 1000, M)}\n".encode())


def acknowledged(path: Path, start: int) -> dict[int, int]:
    """What a writer had said when it was killed at a random moment."""
    chance = random.SystemRandom()
    read, out = os.pipe()
    writer = os.fork()
    if writer == 0:
        os.close(read)
        try:
            write(path, start, out)
        finally:
            os._exit(1)
    os.close(out)
    with os.fdopen(read, "rb") as said:
        said.readline()
        lines = [said.readline().decode() for _ in range(chance.randrange(6))]
        time.sleep(chance.uniform(0, 0.02))
        os.kill(writer, signal.SIGKILL)
        lines += said.read().decode().splitlines(keepends=True)
    _, status = os.waitpid(writer, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    return {int(a): int(b) for a, b in (line.split() for line in lines if line.endswith("\n"))}


def main() -> int:
    said: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        for _ in range(KILLS):
            said |= acknowledged(path, max(said, default=-1) + 1)
        with ex.Memory(path, limit=1) as memory:
            whole = memory._database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            rows = memory._database.execute("SELECT person, report FROM reports").fetchall()
            stored = {json.loads(person): json.loads(report) for person, report in rows}
            spent = all(memory.spent(person) == 1 for person in stored)
    lost = sum(stored.get(person) != report for person, report in said.items())
    unseen, doubled = len(stored.keys() - said.keys()), len(rows) - len(stored)
    print(
        f"{KILLS} kills, {len(said):,} reports given out: {lost} lost or changed, {doubled} doubled, {unseen} stored "
        f"and not yet given out; file {'whole' if whole else 'DAMAGED'}, ε {'counted' if spent else 'MISCOUNTED'}"
    )
    return int(lost > 0 or doubled > 0 or not whole or not spent or unseen > KILLS)


if __name__ == "__main__":
    sys.exit(main())
