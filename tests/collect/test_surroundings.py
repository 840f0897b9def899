"""What stands around the collector: a survey tool, the demonstration, the compose file, and clients that break."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import httpx2 as httpx
import pytest

from extremal.collect.store import Store
from extremal.collect.study import FILE
from support.servers import serving
from support.studies import asked, study_in, uploads

ROOT = Path(__file__).parents[2]


def test_a_survey_of_surveyjs_randomises_on_completion(npm: Path, node: list[str], tmp_path: Path) -> None:
    study_in(tmp_path / "study")[2].engine.dispose()
    script = str(files("extremal.release").joinpath("randomiser.js"))
    with serving(tmp_path / "study") as (_, address):
        command = [*node, str(Path(__file__).parent / "surveyjs.mjs"), str(npm), script, address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {"statuses": [201, 200], "left": {}, "completed": "completed"}
    with Store.opened(tmp_path / "study" / FILE) as store:
        assert store.tallied() == 1


@pytest.mark.slow
def test_the_demonstration_runs_to_its_end() -> None:
    command = [
        sys.executable,
        str(ROOT / "examples" / "demo.py"),
        "--people",
        "25",
        "--seconds",
        "1",
        "--port",
        "0",
        "--once",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "/analyst/" in done.stdout
    assert "25 simulated people have reported" in done.stdout


def test_the_compose_file_starts_what_there_is() -> None:
    """Its commands are those of the command line; the tests of PostgreSQL start the same as plain processes."""
    from extremal.cli import parser

    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    command = re.search(r"command: \[(.*)\]", text)
    assert command is not None
    words = [word.strip().strip('"') for word in command[1].split(",")]
    options = parser().parse_args(words)
    assert (options.study, options.host, options.port) == ("/study", "0.0.0.0", 8000)
    assert options.store.startswith("postgresql://")
    named = re.search(r"dockerfile: (\S+)", text)
    assert named is not None
    assert (ROOT / named[1]).is_file()


def test_broken_and_slow_clients_harm_nobody(tmp_path: Path) -> None:
    """Half a head, half a body, a wrong length, garbage and a sudden end; meanwhile others are served."""
    study_in(tmp_path / "study")[2].engine.dispose()
    given = uploads(asked(), 2)
    body = json.dumps(given[0]).encode()
    head = b"POST /api/reports HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n"
    broken = [
        b"POST /api/rep",
        head + f"content-length: {len(body) + 50}\r\n\r\n".encode() + body,
        head + f"content-length: {len(body) - 9}\r\n\r\n".encode() + body,
        head + b"transfer-encoding: chunked\r\n\r\n5\r\nhel",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ]
    with serving(tmp_path / "study") as (process, address):
        port = int(address.rpartition(":")[2])
        sockets = []
        for data in broken * 20:
            one = socket.create_connection(("127.0.0.1", port), 5)
            one.sendall(data)
            sockets.append(one)
        assert httpx.post(f"{address}/api/reports", json=given[1]).status_code == 201
        for one in sockets[::2]:
            one.close()
        time.sleep(0.2)
        assert httpx.post(f"{address}/api/reports", json=given[1]).status_code == 200
        for one in sockets[1::2]:
            one.close()
        assert process.poll() is None
    with Store.opened(tmp_path / "study" / FILE) as store:
        assert (store.tallied(), store.check().sound) == (1, True)


@pytest.mark.slow
def test_a_head_has_limits(tmp_path: Path) -> None:
    """A connection that says nothing is closed, and so is one whose head does not end; others are served."""
    study_in(tmp_path / "study")[2].engine.dispose()
    with serving(tmp_path / "study") as (_, address):
        port = int(address.rpartition(":")[2])
        silent = socket.create_connection(("127.0.0.1", port), 30)
        endless = socket.create_connection(("127.0.0.1", port), 5)
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            endless.sendall(b"GET /api/study HTTP/1.1\r\n" + 1_000 * (b"x-more: " + b"a" * 10_000 + b"\r\n"))
        assert httpx.get(f"{address}/api/study", headers={"x-some": "a" * 8_000}).status_code == 200
        with contextlib.suppress(ConnectionResetError):
            assert silent.recv(1) == b""  # after ten seconds, not thirty
        silent.close()
        endless.close()
