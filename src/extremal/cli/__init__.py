"""The command line: one file for each verb.

Exit codes are stable: 0 done, 1 the claim is false, 2 bad or malformed input, 3 nothing is false but something is not
proven, 70 a defect of extremal, 128 + n ended by signal n. Nothing else exits with 1, so that a script may rely on it.
`--json` prints one JSON object on standard output. Where the terminal or pipe cannot show a character, an escape stands
for it; a reader that closes its pipe does not make finished work fail.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import os
import re
import signal
import sys
import textwrap
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

from extremal import __version__
from extremal.cli import (
    audit,
    checker,
    collect,
    compare,
    design,
    device,
    estimate,
    explain,
    explore,
    plan,
    privatize,
    questionnaire,
    reproduce,
    test,
    theory,
    tradeoff,
    verify,
)
from extremal.errors import ExtremalError

DONE, FALSE, BAD_INPUT, DEFECT, SIGNALLED = 0, 1, 2, 70, 128

DEFECT_FOUND = (
    "extremal: this is a defect of extremal ({0}), nothing you did wrong. Please report it, with the command;\n"
    "extremal: EXTREMAL_TRACEBACK=1 shows where it happened, and may show data."
)

VERBS = (
    design,
    verify,
    checker,
    explain,
    compare,
    tradeoff,
    theory,
    plan,
    questionnaire,
    collect,
    privatize,
    device,
    estimate,
    test,
    audit,
    explore,
    reproduce,
)

DESCRIPTION = """\
extremal: provably optimal local privacy.

Say what you want to learn and how private it must be; get the best local
randomiser, a proof that it is private and optimal, an exact sampler, and
estimates from the reports.
"""

EPILOG = """\
exit codes:  0 done   1 the claim is false   2 bad or malformed input
             3 nothing is false, but something is not proven
             70 a defect of extremal
help on one: extremal VERB --help
"""


class _Help(argparse.HelpFormatter):
    """Lines of descriptions and examples stay apart; only sentences that are too long are broken, so that a command can
    be copied as it stands."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            f"{indent}{line}"
            if line.lstrip().startswith("extremal ")
            else textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent)
            for line in text.splitlines()
        )


class _Parser(argparse.ArgumentParser):
    """One sentence on a mistyped line, and where to read on, instead of every option there is."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **options})

    def error(self, message: str) -> NoReturn:
        typed = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = difflib.get_close_matches(typed[1], re.findall(r"[\w-]+", typed[2]), 1) if typed else []
        meant = f". Did you mean {near[0]}?" if near else "."
        self.exit(BAD_INPUT, f"extremal: {message}{meant} See: {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """The whole command line; every verb module adds itself with `add_to`."""
    top = _Parser(
        prog="extremal", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"extremal {__version__}")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_to(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; an expected error is one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # what stands in for them in a test
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with _ended_by_signals():
        return _run(arguments)


def _options(arguments: list[str]) -> argparse.Namespace:
    """The options of one verb; what it does not know is refused by that verb, whose help knows more."""
    asked: Any = parser()
    top = asked
    options, unknown = top.parse_known_args(arguments)
    for word in itertools.takewhile(lambda word: not word.startswith("-"), arguments):
        verbs = [action.choices for action in asked._actions if isinstance(action, argparse._SubParsersAction)]
        if not verbs or word not in verbs[0]:
            break
        asked = verbs[0][word]
    if unknown:
        known = [flag for action in asked._actions for flag in action.option_strings]
        near = difflib.get_close_matches(unknown[0], known, 1)
        meant = f". Did you mean {near[0]}?" if near else "."
        asked.exit(
            BAD_INPUT, f"extremal: unrecognized arguments: {' '.join(unknown)}{meant} See: {asked.prog} --help\n"
        )
    found: argparse.Namespace = options
    return found


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = _options(list(sys.argv[1:] if arguments is None else arguments))
        outcome = int(options.run(options))
        sys.stdout.flush()
    except BrokenPipeError:
        # Verbs print when everything else is done: who closed the pipe did not want to read it.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except ExtremalError as error:
        if isinstance(error, ArithmeticError):  # a design that contradicts its own proof: never the user's doing
            return _said(DEFECT_FOUND.format(type(error).__name__), DEFECT)
        return _said(f"extremal: {error}", BAD_INPUT)
    except OSError as error:
        return _said(f"extremal: {error.strerror or error}: {error.filename or ''}".rstrip(": "), BAD_INPUT)
    except MemoryError:
        return _said("extremal: there is not enough memory for this.", BAD_INPUT)
    except KeyboardInterrupt:
        return _said("extremal: interrupted.", SIGNALLED + signal.SIGINT)
    except _Ended as error:
        return _said(f"extremal: ended by {error.signal.name}.", SIGNALLED + error.signal)
    except Exception as error:
        if os.environ.get("EXTREMAL_TRACEBACK"):
            raise
        return _said(DEFECT_FOUND.format(type(error).__name__), DEFECT)
    return outcome


def _said(text: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr)
    return code


class _Ended(BaseException):
    """A signal asks the process to end; what is half done is cleaned up on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = signal.Signals(number)


def _end(number: int, _frame: FrameType | None) -> None:
    raise _Ended(number)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the run as Ctrl-C does: temporary files are removed."""
    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        with contextlib.suppress(AttributeError, ValueError):  # not on this system; not in the main thread
            number = getattr(signal, name)
            before[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
