"""Collectors in processes of their own, for tests and audits."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

STARTING = 60  # seconds in which a database must be there


def start(folder: Path | str, *options: str, port: int = 0) -> tuple[subprocess.Popen[str], int]:
    """`extremal collect serve` on this machine; the process and its port."""
    command = [sys.executable, "-m", "extremal", "collect", "serve", str(folder), "--port", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline() if process.stdout else ""
    found = re.search(r"http://[\w.]+:(\d+)", line)
    if found is None:
        process.kill()
        raise RuntimeError(f"the server did not start: {process.communicate()[1][-2000:]}")
    return process, int(found[1])


@contextlib.contextmanager
def serving(folder: Path | str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, its process and its address; killed at the end if it still runs."""
    process, port = start(folder, *options)
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


class Database:
    """A PostgreSQL server of its own, on a socket of its own, with its defaults; nobody's data but this run's."""

    def __init__(self) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
        self.bin = programs[-1].parent if programs else Path(shutil.which("pg_ctl") or "pg_ctl").parent
        self.folder = Path(tempfile.mkdtemp(prefix="extremal-pg-"))
        self._as = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._as:
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "-D", f"{self.folder}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8")
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(self.bin / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd="/", timeout=STARTING)

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder}"
        log = f"{self.folder}/log"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-m", mode, "-w", "stop")

    def end(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)


def until(condition: object, seconds: float = 30.0) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False
