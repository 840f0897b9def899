"""`extremal tradeoff`: the optimum and the closed forms over a grid of ε."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from extremal.atomic import write_atomically
from extremal.cli.choices import add_privacy_arguments, add_utility_arguments, privacy, source, utility
from extremal.cli.printing import add_printing, drawn, plain, said
from extremal.cli.reading import refuse_written
from extremal.errors import InvalidParameter
from extremal.progress import ProgressLine
from extremal.studies import distortion_tradeoff, tradeoff

MOST_LEVELS = 1000  # each of which is a design
EPILOG = """\
examples:
  extremal tradeoff --p0 0.5,0.3,0.2 --p1 0.1,0.2,0.7 --epsilons 0.1:10:12 --plot curve.png
  extremal tradeoff --goal frequencies --k 100 --epsilons 0.5:4:4
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "tradeoff",
        help="compute the optimum and the closed forms over a range of ε",
        description="Show what the best mechanism and the closed forms keep at each privacy level; with --goal, n "
        "times the mean squared error of each.",
        epilog=EPILOG,
    )
    add_privacy_arguments(verb)
    add_utility_arguments(verb)
    verb.add_argument(
        "--epsilons", default="0.1:10:10", metavar="E", help="FROM:TO:COUNT (evenly in log ε) or a comma-separated list"
    )
    verb.add_argument("--csv", metavar="FILE", help="also write the table as CSV")
    add_printing(verb, plot="also draw it")
    verb.add_argument(
        "--distortion",
        metavar="D,D,…",
        nargs="?",
        const="",
        help="smallest ε at these distortions (none given: a grid)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    refuse_written(options, "plot", "csv")
    if options.distortion is not None:
        return _over_distortions(options)
    with ProgressLine() as line:
        wanted = utility(options)
        curve = tradeoff(lambda epsilon: privacy(options, epsilon), wanted, _grid(options.epsilons), progress=line)
    drawn(options, curve.plot)
    _write(curve, options)
    table = {
        "epsilons": curve.epsilons,
        "values": curve.values,
        "gaps": [d.gap for d in curve.designs],
        "left_out": curve.left_out,
    }
    return said(options, plain(table, str), curve)


def _over_distortions(options: argparse.Namespace) -> int:
    """ε* against the distortion."""
    wanted = [part.strip() for part in options.distortion.split(",")] if options.distortion else None
    table = distortion_tradeoff(source(options, "a distortion needs a prior"), wanted)
    drawn(options, table.plot)
    _write(table, options)
    return said(options, plain({**table.columns(), "jump": table.jump}, str), table)


def _write(table: Any, options: argparse.Namespace) -> None:
    if options.csv:
        write_atomically(Path(options.csv), table.to_frame().to_csv(index=False).encode(), options.overwrite)


def _grid(text: str) -> list[float]:
    try:
        if ":" in text:
            first, last, count = text.split(":")
            if int(count) > MOST_LEVELS:
                raise ValueError
            return [float(f"{e:.6g}") for e in np.geomspace(float(first), float(last), int(count))]
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameter(
            f"--epsilons must be FROM:TO:COUNT or a list, at most {MOST_LEVELS:,} in all",
            parameter="--epsilons",
            value=text,
            hint="0.1:10:12",
        ) from None
