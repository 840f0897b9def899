"""Files as strangers send them: structured changes of JSON files, and single bytes changed in data files.

`mutated` changes a parsed file in one to three places, as somebody would who knows the format: numbers become huge,
negative, text or nothing, lists longer, empty or nested, fields vanish or change places. The hash is made to fit, so
that the reader is reached.
"""

from __future__ import annotations

import copy
import faulthandler
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from extremal.errors import ExtremalError
from extremal.mechanism.files import content_digest

_STRANGE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    7,
    1 << 20,
    1 << 22,
    (1 << 22) + 1,
    10**8,
    10**12,
    1 << 53,
    -(1 << 53),
    "",
    "0",
    "1",
    "-1",
    "1/3",
    "1/0",
    "1e400",
    "1e-400",
    "nan",
    "inf",
    "0." + "3" * 5000,
    "9" * 5000,
    str(1 << 62),
    str((1 << 62) + 1),
    "\u0661",
    "\ud800",
    "\0",
    "a" * 10_000,
    [],
    {},
    [[]],
    [0, 1],
    ["0", "1"],
    [[0, 1 << 53]] * 50,
    {"range": 5},
    {"range": 10**12},
    {"kind": "rows"},
    {"integer": "7"},
)


def _places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    found = [path] if path else []
    for key, value in list(inside)[:40]:
        found += _places(value, (*path, key))
    return found


def _change(content: Any, random: Random) -> None:
    path = random.choice(_places(content))
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    key, how = path[-1], random.randrange(6)
    value = holder[key]
    if how == 0 and isinstance(value, list) and value:
        holder[key] = value * random.choice((2, 3, 50))
    elif how == 1 and isinstance(value, list) and value:
        holder[key] = value[: random.randrange(len(value))]
    elif how == 2 and isinstance(holder, dict):
        del holder[key]
    elif how == 3 and isinstance(value, str) and value.isdecimal() and len(value) < 4000:
        holder[key] = str(int(value) + random.choice((-1, 1, 1 << 61)))
    elif how == 4 and type(value) is int:
        holder[key] = value + random.choice((-1, 1, 10**6, 10**9, 1 << 50))
    else:
        holder[key] = copy.deepcopy(random.choice(_STRANGE))


def rehashed(content: dict[str, Any]) -> dict[str, Any]:
    """The content with hashes that fit, those of mechanisms inside it too."""
    questions = content.get("questions")
    for holder in (content, *(questions if isinstance(questions, list) else ())):
        if isinstance(holder, dict) and isinstance(holder.get("mechanism"), dict):
            holder["mechanism"] = rehashed(holder["mechanism"])
    content["hash"] = content_digest({key: value for key, value in content.items() if key != "hash"})
    return content


def mutated(content: dict[str, Any], random: Random) -> dict[str, Any]:
    """The content changed in one to three places, its hash made to fit."""
    made = copy.deepcopy(content)
    for _ in range(random.randint(1, 3)):
        _change(made, random)
    return rehashed(made)


def damaged(data: bytes, random: Random) -> bytes:
    """The bytes with one to three of them changed."""
    made = bytearray(data)
    for _ in range(random.randint(1, 3)):
        made[random.randrange(len(made))] ^= random.randrange(1, 256)
    return bytes(made)


@dataclass
class Outcomes:
    """What became of many attempts, each in a child process of its own.

    Attributes:
        clear: read, or refused with a message of the package or the system.
        bare: other exceptions, by what was attempted.
        crashed: ended by a signal, by what was attempted.
        slowest: seconds.
        largest: bytes of memory beyond what the parent had.
    """

    clear: int = 0
    bare: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0

    def attempt(self, attempts: Iterable[tuple[str, Callable[[], Any]]], together: int = 1) -> None:
        """Do each in a forked child, `together` in one, and note how it ended."""
        waiting = list(attempts)
        for start in range(0, len(waiting), together):
            self._in_a_child(waiting[start : start + together])

    def _in_a_child(self, attempts: list[tuple[str, Callable[[], Any]]]) -> None:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            faulthandler.disable()  # a crash here is counted, not printed
            with os.fdopen(writing, "w") as out:
                for name, work in attempts:
                    out.write(f"{_one(work)}\t{name}\n")
                    out.flush()
                usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                out.write(f"memory {usage}\t\n")
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        _, status = os.waitpid(child, 0)
        done = 0
        for outcome, name in lines:
            word, _, rest = outcome.partition(" ")
            if word == "memory":
                self.largest = max(self.largest, int(rest) * 1024)
                continue
            done += 1
            seconds, _, error = rest.partition(" ")
            self.slowest = max(self.slowest, float(seconds))
            if word == "clear":
                self.clear += 1
            else:
                self.bare.append(f"{name}: {error}")
        if os.WIFSIGNALED(status):
            self.crashed.append(f"{attempts[done][0]}: signal {os.WTERMSIG(status)}")


def _one(work: Callable[[], Any], limit: int = 60) -> str:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limit)
    started, word, error = time.monotonic(), "clear", ""
    try:
        work()
    except (ExtremalError, OSError):
        pass
    except BaseException as found:
        word, error = "bare", f"{type(found).__name__}: {str(found)[:150]!r}"
    signal.alarm(0)
    return f"{word} {time.monotonic() - started:.3f} {error}"
