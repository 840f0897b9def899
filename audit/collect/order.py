"""Guess the order of arrival from everything that a collector leaves on disk.

    python -m audit.collect.order [--uploads 10000]

Known uploads are sent one by one to a running server, whose output is kept. The attack reads the files as bytes, with
the server running and after it has ended: where each id stands in the database (its page, its place inside the page,
among free pages), in the WAL and in the log. Every place is turned into a guess of the order, and the rank correlation
with the true order is printed; by chance it is within ±0.03 for 10,000 uploads. The same attack on a store that is not
settled shows that it finds an order where there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from extremal.collect.study import new_study, open_study
from extremal.collect.uploads import UploadReader
from extremal.collect.writing import Writer

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.servers import start
from support.studies import asked, records, upload

PAGE = 4096  # bytes of an SQLite page
LIMIT = 0.03
AT_ONCE = 16


def places(data: bytes, ids: list[bytes]) -> dict[bytes, list[int]]:
    """Where each id stands in some bytes."""
    wanted = set(ids)
    found: dict[bytes, list[int]] = {key: [] for key in ids}
    for start_at in range(max(len(data) - 15, 0)):
        piece = data[start_at : start_at + 16]
        if piece in wanted:
            found[piece].append(start_at)
    return found


def guesses(name: str, found: dict[bytes, list[int]], ids: list[bytes]) -> dict[str, np.ndarray]:
    """Ways to read an order out of places; ids that are not there get the middle rank or, in a log, come first."""
    seen = np.array([bool(found[key]) for key in ids])
    if not seen.any():
        return {}
    first = np.array([found[key][0] if found[key] else -1 for key in ids])
    last = np.array([found[key][-1] if found[key] else -1 for key in ids])
    times = np.array([len(found[key]) for key in ids])
    page, offset = last // PAGE, last % PAGE
    rank_in_page = np.zeros(len(ids))
    for one in np.unique(page):
        members = np.flatnonzero(page == one)
        rank_in_page[members] = np.argsort(np.argsort(-offset[members])) / max(len(members) - 1, 1)
    return {
        f"{name}: first place": first,
        f"{name}: last place": last,
        f"{name}: page": page,
        f"{name}: place inside the page": rank_in_page,
        f"{name}: how many copies": times,
        f"{name}: whether it is there": seen,
    }


def correlations(folder: Path, ids: list[bytes], extra: dict[str, bytes]) -> dict[str, float]:
    found: dict[str, float] = {}
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    for name, data in {**files, **extra}.items():
        for how, guess in guesses(name, places(data, ids), ids).items():
            if len(np.unique(guess)) > 1:
                found[how] = float(spearmanr(guess, np.arange(len(ids)))[0])
    return found


async def send(port: int, bodies: list[bytes]) -> None:
    """One after the other on some connections, so that the true order is known to a few places."""
    queue = iter(bodies)

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in queue:
            head = "POST /api/reports HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        writer.close()

    await asyncio.gather(*(one() for _ in range(AT_ONCE)))


def shown(title: str, found: dict[str, float]) -> float:
    worst = max(found.items(), key=lambda item: abs(item[1]), default=("nothing found", 0.0))
    print(f"{title}: {len(found)} guesses, largest rank correlation {worst[1]:+.4f} ({worst[0]})")
    return abs(worst[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, default=10_000)
    options = parser.parse_args()
    questionnaire = asked()
    uploads = [upload(questionnaire, record) for record in records(questionnaire, options.uploads)]
    ids = [bytes.fromhex(one["id"]) for one in uploads]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "study"
        new_study(folder, questionnaire)
        shutil.copytree(folder, Path(place) / "unsettled")
        process, port = start(folder)
        asyncio.run(send(port, [json.dumps(one).encode() for one in uploads]))
        time.sleep(6)  # it is idle, and settles
        running = shown("running, idle", correlations(folder, ids, {}))
        process.terminate()
        out, err = process.communicate()
        log = (out + err).encode()
        hexadecimal = {"log": b"".join(bytes.fromhex(key) for key in _hex_in(log))}
        ended = shown("ended", correlations(folder, ids, hexadecimal))
        print(f"the server's output: {len(log)} bytes, ids in it: {len(_hex_in(log))}")

        study, store = open_study(Path(place) / "unsettled")
        reader, writer = UploadReader(study), Writer(study, store)
        for start_at in range(0, len(uploads), AT_ONCE):
            writer.write([reader.read(json.dumps(one).encode()) for one in uploads[start_at : start_at + AT_ONCE]])
        power = shown("power: a store that is not settled", correlations(Path(place) / "unsettled", ids, {}))
        writer.end()
        store.engine.dispose()
    failed = max(running, ended) > LIMIT or power < 10 * LIMIT
    print("FAILED" if failed else f"within ±{LIMIT}")
    return int(failed)


def _hex_in(log: bytes) -> list[str]:
    import re

    return re.findall(r"\b[0-9a-f]{32}\b", log.decode())


if __name__ == "__main__":
    sys.exit(main())
