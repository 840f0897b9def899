"""A memory under attack. Killed 500 times without warning while it writes, by sixteen processes at once, and on a disk
that fills up: nothing that was given out is lost, changed or doubled. Tampered with 200 times: nothing is believed.

Every report is drawn from 1,000 labels, so that one made twice would show. Run with `make audit`.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import extremal as ex

KILLS, TAMPERED, PROCESSES = 500, 200, 16
M = ex.randomized_response(1000, 1)


def write(path: Path, start: int, out: int) -> None:
    """Store reports and say so, for ever."""
    with ex.Memory(path, limit=1) as memory:
        os.write(out, b"ready\n")
        for person in range(start, 10**9):
            os.write(out, f"{person} {memory.report(person, 'q', person % 1000, M)}\n".encode())


def started(action: Callable[[int], None]) -> tuple[int, Any]:
    """A process that does this, and what it says."""
    read, out = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        try:
            action(out)
        finally:
            os._exit(1)
    os.close(out)
    return process, os.fdopen(read, "rb")


def acknowledged(path: Path, start: int) -> dict[int, int]:
    """What a writer had said when it was killed at a random moment."""
    chance = random.SystemRandom()
    writer, said = started(lambda out: write(path, start, out))
    with said:
        said.readline()
        lines = [said.readline().decode() for _ in range(chance.randrange(6))]
        time.sleep(chance.uniform(0, 0.02))
        os.kill(writer, signal.SIGKILL)
        lines += said.read().decode().splitlines(keepends=True)
    _, status = os.waitpid(writer, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    return {int(a): int(b) for a, b in (line.split() for line in lines if line.endswith("\n"))}


def stored(path: Path) -> tuple[dict[int, int], int, bool]:
    """The reports in the file, how many rows they are, and whether file and account are whole."""
    with ex.Memory(path, limit=1) as memory:
        whole = memory._database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = memory._database.execute("SELECT person, report FROM reports").fetchall()
        kept = {int(person): json.loads(report) for person, report in rows}
        return kept, len(rows), whole and all(memory.spent(person) == 1 for person in kept)


def killed(folder: Path) -> int:
    path, said = folder / "memory.db", dict[int, int]()
    for _ in range(KILLS):
        said |= acknowledged(path, max(said, default=-1) + 1)
    kept, rows, whole = stored(path)
    lost = sum(kept.get(person) != report for person, report in said.items())
    unseen, doubled = len(kept.keys() - said.keys()), rows - len(kept)
    print(
        f"{KILLS} kills, {len(said):,} reports given out: {lost} lost or changed, {doubled} doubled, {unseen} stored "
        f"and not yet given out; file and account {'whole' if whole else 'DAMAGED'}"
    )
    return lost + doubled + (not whole) + (unseen > KILLS)


def together(folder: Path) -> int:
    """Sixteen processes open a memory that is not there yet and ask the same people."""
    path, people = folder / "together.db", range(100)

    def ask(out: int) -> None:
        order = list(people)
        random.SystemRandom().shuffle(order)
        with ex.Memory(path, limit=1) as memory:
            told = {person: memory.report(person, "q", os.getpid() % 1000, M) for person in order}
        os.write(out, json.dumps(told).encode())

    running = [started(ask) for _ in range(PROCESSES)]
    heard = []
    for process, said in running:
        with said:
            heard.append(said.read())
        os.waitpid(process, 0)
    answers = [json.loads(text) for text in heard if text]
    differ = sum(len({one[str(person)] for one in answers}) != 1 for person in people) if answers else len(people)
    print(
        f"{len(answers)} of {PROCESSES} processes answered about {len(people)} people: {differ} were told differently"
    )
    return differ + (len(answers) != PROCESSES)


def full(folder: Path) -> int:
    """No file may grow beyond a size; afterwards everything that was given out is there."""
    given = wrong = 0
    for number, size in enumerate((40_000, 60_000, 100_000, 300_000)):
        path = folder / f"full{number}.db"
        ex.Memory(path, limit=1).close()

        def ask(out: int, path: Path = path, size: int = size) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            with ex.Memory(path) as memory:
                for person in range(2_000):
                    try:
                        os.write(out, f"{person} {memory.report(person, 'q', 1, M)}\n".encode())
                    except OSError:
                        break

        process, said = started(ask)
        with said:
            told = dict(map(int, line.split()) for line in said)
        os.waitpid(process, 0)
        kept, _, whole = stored(path)
        given += len(told)
        wrong += sum(kept.get(person) != report for person, report in told.items()) + (not whole)
    print(f"disks full after {given} reports in 4 memories: {wrong} lost or changed")
    return wrong


def tamperings(chance: random.Random) -> list[tuple[str, Callable[[Path, Path], None]]]:
    """Ways of changing a memory behind its back; `older` holds a copy from before the last reports."""

    def edited(statement: str) -> Callable[[Path, Path], None]:
        def change(path: Path, _older: Path) -> None:
            with closing(sqlite3.connect(path)) as database, database:
                database.execute(statement)
            database.close()

        return change

    def bent(name: str) -> Callable[[Path, Path], None]:
        def change(path: Path, _older: Path) -> None:
            file = path.with_name(path.name + name)
            data = bytearray(file.read_bytes())
            for _ in range(chance.randint(1, 8)):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            file.write_bytes(data)

        return change

    def cut(path: Path, _older: Path) -> None:
        path.write_bytes(path.read_bytes()[: -4096 * chance.randint(1, 3)])

    def put_back(path: Path, older: Path) -> None:
        shutil.copy(older / path.name, path)

    def without(name: str) -> Callable[[Path, Path], None]:
        return lambda path, _older: path.with_name(path.name + name).unlink()

    someone = f"person = '{chance.randrange(300)}'"
    field = chance.choice(["person", "question", "mechanism", "report", "epsilon"])
    value = chance.choice(["'0'", "'-5'", "'x'", "'1/0'", "person || '7'", "'\"a\"'", "'[]'", "''", "1e999"])
    return [
        ("field", edited(f"UPDATE OR REPLACE reports SET {field} = {value} WHERE {someone}")),
        ("wave", edited(f"UPDATE reports SET wave = wave + {chance.randint(1, 9)} WHERE {someone}")),
        ("tag", edited(f"UPDATE reports SET tag = randomblob(32) WHERE {someone}")),
        ("deleted", edited(f"DELETE FROM reports WHERE {someone}")),
        ("moved", edited("UPDATE reports SET person = person || 'x' WHERE " + someone)),
        ("inserted", edited("INSERT INTO reports SELECT person || 'x', question, wave, mechanism, report, epsilon, tag "
                            f"FROM reports WHERE {someone}")),
        ("limit", edited(f"UPDATE state SET most = {chance.choice(['NULL', '99', '0'])}")),
        ("state", edited(f"UPDATE state SET rows = rows - {chance.randint(1, 9)}")),
        ("changes", edited("UPDATE state SET changes = changes + 1")),
        ("table", edited(f"DROP TABLE {chance.choice(['state', 'reports'])}")),
        ("bytes", bent("")),
        ("guard", bent(".guard")),
        ("cut", cut),
        ("older", put_back),
        ("gone", without("")),
        ("no guard", without(".guard")),
    ]  # fmt: skip


def tampered(folder: Path) -> int:
    """Each time another report about somebody, or a report past the limit, would be a success of the attacker."""
    chance, believed, refused, harmless = random.Random(9), [], 0, 0
    home, older = folder / "home", folder / "older"
    path = home / "memory.db"
    home.mkdir()
    with ex.Memory(path, limit=1) as memory:
        memory.reports(range(300), "q", [0] * 300, M)
    shutil.copytree(home, older)
    with ex.Memory(path, limit=1) as memory:
        said = memory.reports(range(330), "q", [0] * 330, M)
    for number in range(TAMPERED):
        work = folder / f"work{number}"
        shutil.copytree(home, work)
        kinds = tamperings(chance)
        name, change = kinds[number % len(kinds)]
        change(work / path.name, older)
        try:
            with ex.Memory(work / path.name) as memory:
                again = memory.reports(range(330), "q", [1] * 330, M)
                rich = memory.limit != 1
            if again != said or rich:
                believed.append(name)
            else:
                harmless += 1  # bytes that SQLite does not read, or the older of the guard's two counters
        except (ex.ExtremalError, OSError):
            refused += 1
        shutil.rmtree(work)
    print(f"{TAMPERED} tampered files: {refused} refused, {harmless} with all reports kept, {len(believed)} believed")
    for name in sorted(set(believed)):
        print("   ", name)
    return len(believed)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return int(sum(part(Path(folder)) for part in (killed, together, full, tampered)) > 0)


if __name__ == "__main__":
    sys.exit(main())
