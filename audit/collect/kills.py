"""Kill the collector again and again while reports come, and count what it acknowledged: lost, doubled, altered.

    python -m audit.collect.kills [--kills 40] [--reports 40000] [--postgresql]

Clients send reports, single ones and lists, each with a content of its own, and remember which were acknowledged. The
server is killed with SIGKILL and started again; clients send what was not acknowledged again, as devices do. Each
server dies at a random moment: after a random number of reports of its own, while others are being read, written and
answered; every eighth within a few milliseconds of its start, while it settles the file. With `--postgresql` the
database is also killed (`pg_ctl stop -m immediate`) every fifth time. kill -9 does not show that a commit survives a
power failure: that is synchronous=FULL, which a test holds.

A study takes at most a hundred kills; then its store is compared, and a new one begins, so that the time goes into
kills and not into the settling of an ever larger file. Every acknowledged report must be stored once with its content;
what is stored beyond must be something that was sent; and `check` must find the store sound.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import re
import secrets
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import extremal as ex
from extremal.collect.schema import REPORTS
from extremal.collect.server import serve
from extremal.collect.service import Service
from extremal.collect.store import Store
from extremal.collect.study import new_study, open_study

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.servers import Database

CLIENTS = 24
SINGLE = 0.4  # share of uploads with one report
LONG, LONG_LIST = 0.02, 2_000  # share of uploads that are long lists, and their length
SHORT_LIST = 150  # reports of the others, at most
LONGEST_LIFE = 5.0  # seconds of a server, however few reports it took
AT_THE_START = 8  # every which kill comes while the server starts
OF_ONE_STUDY = 100  # kills
FEWEST = 500  # reports for each kill, so that every server dies under load
FORKED = multiprocessing.get_context("forkserver")


def questionnaire() -> ex.Questionnaire:
    """One report of 28 bits: no two of a run are equal, so that a mix-up shows."""
    return ex.Questionnaire({f"part {i}": ex.randomized_response(128, 1) for i in range(4)})


def serve_study(folder: Path, url: str | None, told: Any) -> None:
    """The server's process: what `extremal collect serve` runs, forked from one that has imported everything."""
    study, store = open_study(folder, url)
    serve(Service(study, store), "127.0.0.1", 0, told.send)


def started(folder: Path, url: str | None) -> tuple[Any, int]:
    told, telling = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=serve_study, args=(folder, url, telling))
    process.start()
    telling.close()
    return process, told.recv() if told.poll(60) else 0


class Clients:
    """What was sent, and what was acknowledged."""

    def __init__(self, asked: ex.Questionnaire, wanted: int) -> None:
        self.asked, self.wanted = asked, wanted
        self.sent: dict[str, str] = {}
        self.acknowledged: set[str] = set()
        self.port = 0
        self.answers: dict[int, int] = {}

    def _upload(self) -> dict[str, Any]:
        number, key = len(self.sent), secrets.token_hex(16)
        parts = {f"part {i}": (number >> (7 * i)) & 127 for i in range(4)}
        self.sent[key] = json.dumps(list(parts.values()), separators=(",", ":"))
        return {"id": key, "questionnaire": self.asked.hash, "reports": parts}

    async def client(self) -> None:
        while len(self.acknowledged) < self.wanted:
            size = _size()
            uploads = [self._upload() for _ in range(size)]
            body = json.dumps(uploads[0] if size == 1 else uploads).encode()
            while not await self._posted(body):
                await asyncio.sleep(0.02)
            self.acknowledged.update(one["id"] for one in uploads)

    async def _posted(self, body: bytes) -> bool:
        head = "POST /api/reports HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\nconnection: close\r\n"
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            async with asyncio.timeout(20):
                answer = await reader.read()
            writer.close()
        except (OSError, TimeoutError):
            return False
        found = re.match(rb"HTTP/1\.1 (\d+)", answer)
        status = int(found[1]) if found else 0
        self.answers[status] = self.answers.get(status, 0) + 1
        whole = b"\r\n\r\n" in answer and answer.endswith(b"}")
        return status in (200, 201) and whole


def _size() -> int:
    """How many reports an upload has."""
    drawn = random.random()
    if drawn < SINGLE:
        return 1
    return LONG_LIST if drawn > 1 - LONG else random.randint(2, SHORT_LIST)


async def run(folder: Path, clients: Clients, kills: int, database: Database | None) -> None:
    """Kill at random moments while reports come; at the end every client has its answer."""
    url = database.url if database else None
    each = clients.wanted / kills
    working = [asyncio.create_task(clients.client()) for _ in range(CLIENTS)]
    for number in range(kills):
        if all(task.done() for task in working):  # enough reports, not enough kills
            clients.wanted = len(clients.acknowledged) + int(each)
            working = [asyncio.create_task(clients.client()) for _ in range(CLIENTS)]
        process, clients.port = await asyncio.to_thread(started, folder, url)
        if number % AT_THE_START:
            await _some(clients, random.uniform(0, 2.2 * each))
        if database and number % 5 == 4:
            await asyncio.to_thread(database.stop, "immediate")
            await asyncio.to_thread(database.start)
        await asyncio.sleep(random.uniform(0, 0.03))
        process.kill()
        process.join()
    process, clients.port = await asyncio.to_thread(started, folder, url)
    await asyncio.gather(*working)
    process.kill()
    process.join()


async def _some(clients: Clients, number: float) -> None:
    """Until so many more reports are acknowledged."""
    before, end = len(clients.acknowledged), time.monotonic() + LONGEST_LIFE
    number = min(number, clients.wanted - before)
    while len(clients.acknowledged) < before + number and time.monotonic() < end:
        await asyncio.sleep(0.002)


def stored(store: Store) -> list[tuple[str, str]]:
    with store.reading() as connection:
        return [(bytes(row.id).hex(), row.content) for row in connection.execute(REPORTS.select())]


def of_one_study(kills: int, reports: int, database: Database | None) -> Counter[str]:
    """What a study with so many kills holds against what was acknowledged."""
    asked = questionnaire()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "study"
        new_study(folder, asked)
        clients = Clients(asked, reports)
        asyncio.run(run(folder, clients, kills, database))
        _, store = open_study(folder, database.url if database else None)
        with store:
            found, checked = stored(store), store.check()
    kept = dict(found)
    return Counter(
        {
            "kills": kills,
            "acknowledged": len(clients.acknowledged),
            "stored": len(found),
            "lost": sum(key not in kept for key in clients.acknowledged),
            "doubled": len(found) - len(kept) + len(found) - len({content for _, content in found}),
            "altered": sum(clients.sent.get(key) != content for key, content in found),
            "unsound": int(not checked.sound),
            **{f"answers {status}": number for status, number in clients.answers.items()},
        }
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--reports", type=int, default=40_000)
    parser.add_argument("--postgresql", action="store_true")
    options = parser.parse_args()
    FORKED.set_forkserver_preload(["extremal.collect.server"])
    database = Database() if options.postgresql else None
    began, total = time.monotonic(), Counter[str]()
    try:
        while (left := options.kills - total["kills"]) > 0:
            kills = min(left, OF_ONE_STUDY)
            missing = max(options.reports - total["acknowledged"], 1)
            total += of_one_study(kills, max(missing * kills // left, FEWEST * kills), database)
            print(f"{time.monotonic() - began:.0f} s: {dict(total)}", flush=True)
    finally:
        if database:
            database.end()
    print(
        f"{total['kills']} kills, {total['acknowledged']:,} reports acknowledged, {total['stored']:,} stored: "
        f"{total['lost']} lost, {total['doubled']} doubled, {total['altered']} altered; "
        f"{total['unsound']} stores damaged"
    )
    return int(any(total[name] for name in ("lost", "doubled", "altered", "unsound")))


if __name__ == "__main__":
    sys.exit(main())
