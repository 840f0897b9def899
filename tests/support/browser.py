"""Pages in a browser: what they show after they have run, or driven through the pipe of the browser's debugging
protocol, for tests that need tabs. Nothing but the standard library; each tab is a process of the browser's own.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import itertools
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--process-per-tab", "--remote-debugging-pipe"),
)
PATIENCE = 120  # seconds until an answer


class Browser:
    """Sends commands and reads answers, messages that end with a zero byte."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive, self._number, self._rest = send, receive, itertools.count(1), b""
        self._answers: dict[int, dict[str, Any]] = {}

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The result of a command."""
        return self.answer(self.tell(method, session, **parameters))

    def tell(self, method: str, session: str | None = None, **parameters: Any) -> int:
        """Send a command without waiting; its number."""
        number = next(self._number)
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._send, json.dumps(message).encode() + b"\0")
        return number

    def answer(self, number: int) -> dict[str, Any]:
        """The result of a command that was sent; events are passed over, answers to others kept."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if number in self._answers:
                found = self._answers.pop(number)
                assert "error" not in found, found
                return dict(found["result"])
            first, zero, rest = self._rest.partition(b"\0")
            if not zero:
                if select.select([self._receive], [], [], 1)[0]:
                    self._rest += os.read(self._receive, 1 << 16)
                continue
            self._rest = rest
            message = json.loads(first)
            if "id" in message:
                self._answers[message["id"]] = message
        raise TimeoutError(number)

    def tab(self, address: str) -> str:
        """A new tab; the session that commands to it name."""
        target = self.ask("Target.createTarget", url=address)["targetId"]
        session = str(self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        self.ask("Page.enable", session)
        return session

    def value(self, session: str, expression: str) -> Any:
        """What a tab says of an expression; None where the page is between two others."""
        found = self.ask("Runtime.evaluate", session, expression=expression, returnByValue=True)
        return found["result"].get("value")

    def waits_for(self, session: str, expression: str) -> Any:
        """The first value of an expression that is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found := self.value(session, expression):
                return found
            time.sleep(0.05)
        raise TimeoutError(expression)

    def renderers(self) -> int:
        """How many processes show pages."""
        return sum(one["type"] == "renderer" for one in self.ask("SystemInfo.getProcessInfo")["processInfo"])


@contextlib.contextmanager
def opened(chromium: str, profile: Path) -> Iterator[Browser]:
    """A browser, closed at the end."""
    (theirs, mine), (heard, told) = os.pipe(), os.pipe()

    def arranged() -> None:
        copies = os.dup(theirs), os.dup(told)  # either may be 3 or 4
        for wanted, copy in zip((3, 4), copies, strict=True):
            os.dup2(copy, wanted)

    command = [chromium, f"--user-data-dir={profile}", *OPTIONS, "about:blank"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, preexec_fn=arranged, close_fds=False)
    os.close(theirs)
    os.close(told)
    try:
        browser = Browser(mine, heard)
        yield browser
        browser.ask("Browser.close")
        process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(mine)
        os.close(heard)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def shown(chromium: str, folder: Path, profile: Path, page: str, times: int = 1) -> str:
    """What the page is after it has run, each time in a browser of its own; of one server and one profile."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=100000", "--dump-dom"]
    with served(folder) as address:
        command = [chromium, f"--user-data-dir={profile}", *options, f"{address}/{page}"]
        run = functools.partial(subprocess.run, capture_output=True, text=True, check=True, timeout=300)
        return "".join(run(command).stdout for _ in range(times))
