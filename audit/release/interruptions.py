"""CSV files and their notes: 200 runs killed at random moments, fresh and over an older file, and 50 pairs of runs that
write the same file at once. Data and note never disagree, and data is whole or absent. Run with `make audit`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import extremal as ex
from support.files.interruptions import cleared, kill_after, start, state

KILLS, PAIRS, ROWS = 200, 50, 60_000


def main(kills: int = KILLS, pairs: int = PAIRS, rows: int = ROWS) -> int:
    random, wrong = Random(6), []
    killed: Counter[str] = Counter()
    met: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.csv").write_text("x,y\n" + "no,1\nyes,2\n" * (rows // 2))
        made = [ex.randomized_response(2, epsilon, inputs=["no", "yes"]) for epsilon in (1, 2)]
        paths = [m.save(folder / f"{i}.json") for i, m in enumerate(made)]
        started = time.monotonic()
        start(folder, paths[0]).wait()
        whole = time.monotonic() - started
        for number in range(kills):
            over = number % 2
            if not over:
                cleared(folder)
            elif state(folder) not in (made[0].hash, made[1].hash):
                cleared(folder)
                start(folder, paths[0]).wait()
            alive = kill_after(
                start(folder, paths[1], *(["--overwrite"] if over else [])), whole * random.uniform(0.5, 1.05)
            )
            try:
                found = state(folder)
                killed[("replacing, " if over else "fresh, ") + ("killed" if alive else "ended")] += 1
                if over and found not in (made[0].hash, made[1].hash):
                    wrong.append(f"kill {number}: the older file lost its note ({found})")
                if not over and found == "data":
                    wrong.append(f"kill {number}: data without its note")
            except AssertionError as error:
                wrong.append(f"kill {number}: {error}")
        for number in range(pairs):
            over = ["--overwrite"] if number % 2 else []
            cleared(folder)
            running = [start(folder, path, *over) for path in paths]
            codes = [run.wait() for run in running]
            try:
                found = state(folder)
                met[f"{codes.count(0)} of 2 succeeded"] += 1
                winners = [m.hash for m, code in zip(made, codes, strict=True) if code == 0]
                if found not in winners or (not over and len(winners) != 1):
                    wrong.append(f"pair {number}: exit codes {codes}, found {found}")
            except AssertionError as error:
                wrong.append(f"pair {number}: {error}")
    print(f"{kills} kills: {dict(killed)}")
    print(f"{pairs} pairs: {dict(met)}")
    print(f"data and note disagree, or are lost: {len(wrong)}")
    for line in wrong[:20]:
        print("   ", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
