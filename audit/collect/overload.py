"""Ten times more than the collector takes: how much memory it uses, and whether what it acknowledged is there.

    python -m audit.collect.overload [--seconds 20]

First the rate at which lists are taken is measured with two clients; then many clients send lists of the same size as
fast as they can without waiting for room. Refusals (429) are counted. Memory is the largest resident size of the
server's process, from /proc. Clients share the machine with the server, so the server is held back to a tenth of its
time in both: only then can they offer ten times what it takes.

Before that, many connections send a byte of a head or of a body from time to time and never end; meanwhile others must
be served.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import secrets
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from extremal.collect.study import open_study
from support.servers import start
from support.studies import asked, records, study_in, upload

LIST = 5_000
FEW, MANY = 2, 200
SLOW, PAUSE = 1_000, 1.0  # connections that never end, and the seconds between their bytes
SLOWEST = 1.0  # second that another upload may take meanwhile
MOST_MEMORY = 1 << 30  # bytes
SHARE, ROUND = 0.1, 0.05  # of its time in which the server runs, and the seconds in which it stops once
OVERLOAD = 10  # times the calm rate


def memory(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 if found else 0


@contextmanager
def held_back(pid: int) -> Iterator[None]:
    """Let a process run for a share of the time only."""
    done = threading.Event()

    def hold() -> None:
        while not done.wait(SHARE * ROUND):
            os.kill(pid, signal.SIGSTOP)
            done.wait((1 - SHARE) * ROUND)
            os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


async def client(port: int, body: str, end: float, statuses: Counter[int]) -> None:
    head = "POST /api/reports HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\nconnection: close\r\n"
    while time.monotonic() < end:
        own = body.replace("IDIDIDIDIDIDIDID", secrets.token_hex(8)).encode()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{head}content-length: {len(own)}\r\n\r\n".encode() + own)
            answer = await asyncio.wait_for(reader.read(), 60)
            writer.close()
        except (OSError, TimeoutError):
            statuses[0] += 1
            continue
        found = re.match(rb"HTTP/1\.1 (\d+)", answer)
        statuses[int(found[1]) if found else 0] += 1


async def dribble(port: int, end: float, half: bool) -> None:
    """Half a head, or a head and half a body, a byte at a time."""
    head = b"POST /api/reports HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n"
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + (b"" if half else b"content-length: 100000\r\n\r\n"))
        while time.monotonic() < end:
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(PAUSE)
        writer.close()
    except OSError:  # it was cut, as it should be
        return


async def beside_slow_ones(port: int, bodies: list[bytes], seconds: float) -> tuple[Counter[int], float]:
    """The answers to single uploads while others are slow, and the longest time that one took."""
    end = time.monotonic() + seconds
    slow = [asyncio.create_task(dribble(port, end, number % 2 == 0)) for number in range(SLOW)]
    await asyncio.sleep(seconds / 10)
    statuses: Counter[int] = Counter()
    worst = 0.0
    head = "POST /api/reports HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\nconnection: close\r\n"
    for body in bodies:
        if time.monotonic() > end:
            break
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        worst = max(worst, time.monotonic() - began)
        statuses[int(answer[9:12] or 0)] += 1
        await asyncio.sleep(0.01)
    await asyncio.gather(*slow)
    return statuses, worst


async def load(port: int, body: str, clients: int, seconds: float) -> Counter[int]:
    statuses: Counter[int] = Counter()
    end = time.monotonic() + seconds
    await asyncio.gather(*(client(port, body, end, statuses) for _ in range(clients)))
    return statuses


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    questionnaire = asked()
    listed = [
        {**upload(questionnaire, r), "id": f"{i:016x}IDIDIDIDIDIDIDID"}
        for i, r in enumerate(records(questionnaire, LIST))
    ]
    body = json.dumps(listed)
    with tempfile.TemporaryDirectory() as place:
        study_in(Path(place) / "study", questionnaire)[2].engine.dispose()
        process, port = start(Path(place) / "study")
        idle = memory(process.pid)
        singles = [json.dumps(upload(questionnaire, r)).encode() for r in records(questionnaire, 2_000)]
        beside, worst = asyncio.run(beside_slow_ones(port, singles, options.seconds))
        print(f"beside {SLOW:,} slow connections: {dict(beside)}, the slowest took {worst:.2f} s")
        with held_back(process.pid):
            calm = asyncio.run(load(port, body, FEW, options.seconds / 2))
            quiet = memory(process.pid)
            storm = asyncio.run(load(port, body, MANY, options.seconds))
        peak = memory(process.pid)
        process.terminate()
        process.communicate()
        _, store = open_study(Path(place) / "study")
        with store:
            checked = store.check()
    acknowledged = LIST * (calm[201] + storm[201]) + beside[201]
    offered = sum(storm.values()) / options.seconds / max(calm[201] / (options.seconds / 2), 1e-9)
    print(f"idle {idle >> 20} MB, {FEW} clients {quiet >> 20} MB, {MANY} clients {peak >> 20} MB")
    print(f"{FEW} clients: {dict(calm)}; {MANY} clients: {dict(storm)}: {offered:.1f} times the calm rate was offered")
    print(
        f"{acknowledged:,} reports acknowledged, {checked.reports:,} stored, {'sound' if checked.sound else 'DAMAGED'}"
    )
    slow = set(beside) != {201} or worst > SLOWEST
    return int(slow or offered < OVERLOAD or peak > MOST_MEMORY or checked.reports < acknowledged or not checked.sound)


if __name__ == "__main__":
    sys.exit(main())
