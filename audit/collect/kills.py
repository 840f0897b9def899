"""Kill the collector again and again while reports come, and count what it acknowledged: lost, doubled, altered.

    python -m audit.collect.kills [--kills 40] [--reports 40000] [--seconds 420] [--postgresql]

Clients send reports, single ones and lists, each with a content of its own, and remember which were acknowledged. The
server is killed with SIGKILL at random moments and started again; clients send what was not acknowledged again, as
devices do. With `--postgresql` the database is also killed (`pg_ctl stop -m immediate`) every fifth time. kill -9 does
not show that a commit survives a power failure: that is synchronous=FULL, which a test holds.

At the end every acknowledged report must be stored once with its content; what is stored beyond must be something that
was sent; and `check` must find the store sound.
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
from pathlib import Path
from typing import Any

import extremal as ex
from extremal.collect.service import Service, serve
from extremal.collect.store import REPORTS, Store
from extremal.collect.study import new_study, open_study

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.servers import Database

CLIENTS = 24
LARGEST_LIST = 2_000  # reports of one upload
RUNS = (0.02, 0.5)  # seconds that a server lives
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
            size = 1 if random.random() < 0.4 else random.randint(2, LARGEST_LIST)
            uploads = [self._upload() for _ in range(size)]
            body = json.dumps(uploads[0] if size == 1 else uploads).encode()
            while not await self._posted(body):
                await asyncio.sleep(0.05)
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


async def run(folder: Path, clients: Clients, kills: int, seconds: float, database: Database | None) -> int:
    """Kill at random moments until both numbers are reached, or time is over; how many kills there were."""
    end = time.monotonic() + seconds
    url = database.url if database else None
    working = [asyncio.create_task(clients.client()) for _ in range(CLIENTS)]
    done = 0
    while True:
        process, clients.port = await asyncio.to_thread(started, folder, url)
        if done >= kills or time.monotonic() > end:
            if time.monotonic() > end:
                clients.wanted = min(clients.wanted, len(clients.acknowledged))
            await asyncio.gather(*working)
            process.kill()
            process.join()
            break
        if all(task.done() for task in working):  # enough reports, not enough kills
            clients.wanted += clients.wanted // 5
            working = [asyncio.create_task(clients.client()) for _ in range(CLIENTS)]
        await asyncio.sleep(random.uniform(*RUNS))
        if database and done % 5 == 4:
            await asyncio.to_thread(database.stop, "immediate")
            await asyncio.to_thread(database.start)
            await asyncio.sleep(0.2)
        process.kill()
        process.join()
        done += 1
    return done


def stored(store: Store) -> list[tuple[str, str]]:
    with store.reading() as connection:
        return [(bytes(row.id).hex(), row.content) for row in connection.execute(REPORTS.select())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--reports", type=int, default=40_000)
    parser.add_argument("--seconds", type=float, default=420.0, help="after which no more kills are begun")
    parser.add_argument("--postgresql", action="store_true")
    options = parser.parse_args()
    FORKED.set_forkserver_preload(["extremal.collect.service"])
    asked = questionnaire()
    database = Database() if options.postgresql else None
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "study"
        new_study(folder, asked)
        clients = Clients(asked, options.reports)
        try:
            kills = asyncio.run(run(folder, clients, options.kills, options.seconds, database))
            _, store = open_study(folder, database.url if database else None)
            with store:
                found, checked = stored(store), store.check()
        finally:
            if database:
                database.end()
    kept = dict(found)
    lost = sum(key not in kept for key in clients.acknowledged)
    altered = sum(clients.sent.get(key) != content for key, content in found)
    doubled = len(found) - len(kept) + len(found) - len({content for _, content in found})
    print(
        f"{kills} kills, {len(clients.acknowledged):,} reports acknowledged, {len(found):,} stored: "
        f"{lost} lost, {doubled} doubled, {altered} altered; store {'sound' if checked.sound else 'DAMAGED'}; "
        f"answers {dict(sorted(clients.answers.items()))}; {time.monotonic() - began:.0f} s"
    )
    return 1 if lost or doubled or altered or not checked.sound else 0


if __name__ == "__main__":
    sys.exit(main())
