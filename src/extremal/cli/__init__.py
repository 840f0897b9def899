"""The command line: one file for each verb.

Exit codes are stable: 0 done, 1 the claim is false, 2 bad or malformed input, 3 nothing is false but something is not
proven. `--json` prints one JSON object on standard output.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from extremal import __version__
from extremal.cli import audit, compare, design, device, estimate, privatize, theory, tradeoff, verify
from extremal.errors import ExtremalError

DONE, FALSE, BAD_INPUT = 0, 1, 2

VERBS = (design, verify, compare, tradeoff, theory, privatize, device, estimate, audit)

DESCRIPTION = """\
extremal: provably optimal local privacy.

Say what you want to learn and how private it must be; get the best local
randomiser, a proof that it is private, an exact sampler, and the estimates.
"""

EPILOG = """\
exit codes:  0 done   1 the claim is false   2 bad or malformed input
             3 nothing is false, but something is not proven
help on one: extremal VERB --help
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line; every verb module adds itself with `add_to`."""
    top = argparse.ArgumentParser(
        prog="extremal", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"extremal {__version__}")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_to(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; an expected error is one line on standard error and exit code 2."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except ExtremalError as error:
        print(f"extremal: {error}", file=sys.stderr)
    except OSError as error:
        print(f"extremal: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
    return BAD_INPUT
