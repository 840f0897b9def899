"""A memory, killed 200 times without warning while it writes: nothing that was given out is lost, nothing is doubled.

Every report is drawn from 1,000 labels, so that one made twice would show. Run with `make audit`.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import extremal as ex

KILLS = 200
WRITER = """
import sys, extremal as ex
m = ex.randomized_response(1000, 1)
with ex.Memory(sys.argv[1], limit=1) as memory:
    print("ready", flush=True)
    for person in range(int(sys.argv[2]), 10**9):
        print(person, memory.report(person, "q", person % 1000, m), flush=True)
"""


def acknowledged(path: Path, start: int) -> dict[int, int]:
    """What a writer had printed when it was killed at a random moment."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(random.SystemRandom().uniform(0, 0.1))
        writer.send_signal(signal.SIGKILL)
        lines = writer.stdout.read().decode().splitlines(keepends=True)
    return {int(a): int(b) for a, b in (line.split() for line in lines if line.endswith("\n"))}


def main() -> int:
    said: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        for _ in range(KILLS):
            said |= acknowledged(path, len(said))
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
