"""What `design` and `tradeoff` read about distortion: classes of sources, losses and distances from files, and the
smallest ε."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from extremal.cli.arguments import prior
from extremal.errors import InvalidParameter, MalformedFile
from extremal.optimize.design import Design
from extremal.optimize.distortion.smallest_epsilon import smallest_epsilon
from extremal.plotting import save
from extremal.sources import SourceClass
from extremal.studies.distortion import distortion_tradeoff


def add_source_arguments(verb: argparse.ArgumentParser) -> None:
    """--source, --ball: a class of sources instead of the one --prior."""
    verb.add_argument(
        "--source",
        metavar="P;P;…",
        help="several priors, separated by semicolons: the worst case over their mixtures counts",
    )
    verb.add_argument("--ball", metavar="RADIUS", help="all priors within this total variation of --prior")


def add_design_arguments(verb: argparse.ArgumentParser) -> None:
    """--distortion (the smallest ε within it), --distances (any loss) and --metric (distances of metric privacy)."""
    add_source_arguments(verb)
    verb.add_argument(
        "--distortion", metavar="D", help="instead of --epsilon: the smallest ε with a false report at most this often"
    )
    verb.add_argument(
        "--distances",
        metavar="FILE",
        help="matrix of losses, a row for each input (CSV or JSON), for --utility Distortion",
    )
    verb.add_argument(
        "--metric",
        metavar="FILE",
        help="matrix of distances between inputs (CSV or JSON; inf allowed), for --privacy metric",
    )


def add_tradeoff_arguments(verb: argparse.ArgumentParser) -> None:
    """--distortion D,D,…: ε* at each, with the bounds of the paper."""
    add_source_arguments(verb)
    verb.add_argument(
        "--distortion",
        metavar="D,D,…",
        nargs="?",
        const="",
        help="smallest ε at these distortions (none given: a grid)",
    )


def source(options: argparse.Namespace) -> Any:
    """The prior, or the class of sources, asked for."""
    if options.source is not None:
        return SourceClass([prior(text.strip(), "--source") for text in options.source.split(";")])
    if options.prior is None:
        raise InvalidParameter(
            "a distortion needs a prior", parameter="--prior", value=None, hint="Give --prior 0.5,0.3,0.2 or --source."
        )
    centre = prior(options.prior, "--prior")
    return centre if options.ball is None else SourceClass.ball(centre, options.ball)


def matrix(path: str, parameter: str) -> list[list[float]]:
    """A matrix from a file: JSON, or one row a line with commas or blanks between."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        rows = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
        )
        read = [[float(entry) for entry in row] for row in rows]
    except (ValueError, TypeError) as error:
        raise MalformedFile(
            f"{parameter} must be a matrix of numbers", parameter=parameter, value=path, hint=str(error)
        ) from error
    if not read or len({len(row) for row in read}) != 1 or any(math.isnan(entry) for row in read for entry in row):
        raise MalformedFile(f"{parameter} must be a matrix with rows of equal length", parameter=parameter, value=path)
    return read


def design_within(options: argparse.Namespace) -> Design:
    """The smallest ε within --distortion."""
    if options.epsilon is not None:
        raise InvalidParameter(
            "give either --epsilon or --distortion", parameter="--distortion", value=options.distortion
        )
    return smallest_epsilon(
        source(options), options.distortion, inputs=options.inputs.split(",") if options.inputs else None
    )


def tradeoff(options: argparse.Namespace) -> int:
    """Print, and draw, ε* against the distortion."""
    wanted = [part.strip() for part in options.distortion.split(",")] if options.distortion else None
    table = distortion_tradeoff(source(options), wanted)
    if getattr(options, "plot", None):
        save(table.plot(), options.plot)
    if getattr(options, "json", False):
        finite = {name: [v if math.isfinite(v) else str(v) for v in values] for name, values in table.columns().items()}
        print(json.dumps({**finite, "jump": table.jump}, ensure_ascii=False))
    else:
        print(table)
    return 0
