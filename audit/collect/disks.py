"""A disk that is full, and one that is read-only, under a running collector.

    python -m audit.collect.disks

A small file system in memory (`mount -t tmpfs`, so this needs root) holds a study. Lists are sent until the disk is
full: what does not fit must be refused with 503, the page must still be served, and once there is room the same lists
must be taken. Everything acknowledged must be stored. A study on a read-only disk must be refused at the start.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from extremal.collect.schema import REPORTS
from extremal.collect.study import open_study

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.servers import start, until
from support.studies import asked, study_in, uploads

SMALL, LARGE = "1m", "64m"
LIST, LISTS = 1_000, 40


@contextlib.contextmanager
def mounted(place: Path, size: str) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


def answer(address: str, listed: Any) -> int:
    headers = {"content-type": "application/json"}
    body = None if listed is None else json.dumps(listed).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=60) as found:
            return int(found.status)
    except urllib.error.HTTPError as error:
        return error.code


def full_disk(place: Path) -> list[str]:
    """What went wrong."""
    study_in(place / "study")[2].engine.dispose()
    process, port = start(place / "study")
    address = f"http://127.0.0.1:{port}/api"
    given = [uploads(asked(), LIST) for _ in range(LISTS)]
    first = [answer(f"{address}/reports", listed) for listed in given]
    page = answer(f"{address}/study", None)
    subprocess.run(["mount", "-o", f"remount,size={LARGE}", str(place)], check=True)
    later = until(lambda: answer(f"{address}/reports", given[-1]) in (200, 201))
    second = [answer(f"{address}/reports", listed) for listed in given]
    process.terminate()
    said = process.communicate()[1].strip()
    _, store = open_study(place / "study")
    with store:
        sound = store.check().sound
        with store.reading() as connection:
            there = {bytes(row.id).hex() for row in connection.execute(REPORTS.select())}
    print(f"full disk: {first.count(201)} lists stored, {first.count(503)} refused; with room: {sorted(set(second))}")
    print(f"the server said: {said}")
    wrong = {
        "no list was refused": 503 not in first,
        "another answer than 201 and 503": bool(set(first) - {201, 503}),
        "the page was not served": page != 200,
        "it did not go on when there was room": not later or bool(set(second) - {200, 201}),
        "something acknowledged is lost": not {one["id"] for listed in given for one in listed} <= there,
        "the store is damaged": not sound,
        "the log does not say why": "cannot be written" not in said,
    }
    return [text for text, happened in wrong.items() if happened]


def read_only(place: Path) -> list[str]:
    study_in(place / "study")[2].engine.dispose()
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    command = [sys.executable, "-m", "extremal", "collect", "serve", str(place / "study"), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    print(f"read-only disk: exit code {done.returncode}, {done.stderr.strip()}")
    return [] if done.returncode == 2 and "Traceback" not in done.stderr else ["a read-only disk is not refused"]


def main() -> int:
    if os.geteuid() != 0:
        print("not run: mounting a small disk needs root")
        return 0
    wrong = []
    for look, size in ((full_disk, SMALL), (read_only, LARGE)):
        with tempfile.TemporaryDirectory() as folder, mounted(Path(folder), size):
            wrong += look(Path(folder))
    print("; ".join(wrong) or "refused and survived")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
