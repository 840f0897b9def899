"""`extremal tradeoff`: the optimum and the closed forms over a grid of ε."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from extremal.atomic import write_atomically
from extremal.cli.progress import ProgressLine
from extremal.cli.reading import add_privacy_arguments, add_utility_arguments, privacy, refuse_written, source, utility
from extremal.errors import InvalidParameter
from extremal.plotting import save
from extremal.studies import distortion_tradeoff, tradeoff

EPILOG = """\
examples:
  extremal tradeoff --p0 0.5,0.3,0.2 --p1 0.1,0.2,0.7 --epsilons 0.1:10:12 --plot curve.png
  extremal tradeoff --goal frequencies --k 100 --epsilons 0.5:4:4
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "tradeoff",
        help="the optimum and the closed forms over a range of ε",
        description="What the best mechanism and the closed forms keep at each privacy level; with --goal, n times the "
        "mean squared error that each has.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_privacy_arguments(verb)
    add_utility_arguments(verb)
    verb.add_argument(
        "--epsilons", default="0.1:10:10", metavar="E", help="FROM:TO:COUNT (evenly in log ε) or a comma-separated list"
    )
    verb.add_argument("--plot", metavar="FILE", help="also draw it (png, pdf or svg)")
    verb.add_argument("--csv", metavar="FILE", help="also write the table as CSV")
    verb.add_argument("--overwrite", action="store_true", help="replace existing files")
    verb.add_argument("--json", action="store_true", help="print the table as JSON")
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
    if options.plot:
        save(curve.plot(), options.plot, options.overwrite)
    if options.csv:
        _write(curve.to_frame(), options)
    if options.json:
        table = {
            "epsilons": curve.epsilons,
            "values": {name: _finite(row) for name, row in curve.values.items()},
            "gaps": [d.gap for d in curve.designs],
            "left_out": curve.left_out,
        }
        print(json.dumps(table, ensure_ascii=False))
    else:
        print(curve)
    return 0


def _over_distortions(options: argparse.Namespace) -> int:
    """ε* against the distortion."""
    wanted = [part.strip() for part in options.distortion.split(",")] if options.distortion else None
    table = distortion_tradeoff(source(options, "a distortion needs a prior"), wanted)
    if options.plot:
        save(table.plot(), options.plot, options.overwrite)
    if options.csv:
        _write(table.to_frame(), options)
    if options.json:
        finite = {name: _finite(values) for name, values in table.columns().items()}
        print(json.dumps({**finite, "jump": table.jump}, ensure_ascii=False))
    else:
        print(table)
    return 0


def _finite(row: Iterable[float | None]) -> list[float | str | None]:
    """JSON has no infinity: it becomes the string "inf"."""
    return [v if v is None or math.isfinite(v) else str(v) for v in row]


def _write(frame: Any, options: argparse.Namespace) -> None:
    write_atomically(Path(options.csv), frame.to_csv(index=False).encode(), options.overwrite)


def _grid(text: str) -> list[float]:
    try:
        if ":" in text:
            first, last, count = text.split(":")
            return [float(f"{e:.6g}") for e in np.geomspace(float(first), float(last), int(count))]
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameter(
            "--epsilons must be FROM:TO:COUNT or a list", parameter="--epsilons", value=text, hint="0.1:10:12"
        ) from None
