"""`extremal reproduce NAME …`: figures and tables of the papers, as pictures and CSV files."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from extremal.cli.printing import add_printing, said
from extremal.errors import InvalidParameter
from extremal.progress import ProgressLine
from extremal.reproduce import FIGURES, Figure
from extremal.tables import aligned

ALL = "all"

EPILOG = """\
examples:
  extremal reproduce                              what there is
  extremal reproduce kov-fig3 gso-fig1 -o out/
  extremal reproduce all -o out/ --format pdf
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "reproduce",
        help="recompute the figures and tables of the papers",
        description="Recompute figures and tables of the three papers; without a name, list them.",
        epilog=EPILOG,
    )
    verb.add_argument("names", nargs="*", metavar="NAME", help="name of a figure, or all")
    verb.add_argument("-o", "--output", metavar="FOLDER", default="reproduced", help="where to write (reproduced/)")
    verb.add_argument("--format", metavar="F,F", default="png,svg", help="formats of the pictures (default: png,svg)")
    add_printing(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the figures, or make them."""
    if not options.names:
        known = {f.name: {"title": f.title, "seconds": f.seconds} for f in FIGURES.values()}
        rows = [[f.name, f.title, f"{f.seconds} s"] for f in FIGURES.values()]
        return said(options, known, aligned(["name", "figure", "about"], rows, left=2))
    formats = [part.strip() for part in options.format.split(",") if part.strip()]
    chosen = _chosen(options.names)
    made: dict[str, list[str]] = {}
    with ProgressLine() as line:
        for number, figure in enumerate(chosen, 1):
            name = f"{figure.name} ({number} of {len(chosen)})"
            paths = figure.write(Path(options.output), formats, options.overwrite, partial(line.share, name))
            made[figure.name] = [str(path) for path in paths]
    return said(options, {"written": made}, "\n".join(_told(name, paths) for name, paths in made.items()))


def _told(name: str, paths: list[str]) -> str:
    caption = next(path for path in paths if path.endswith(f"{name}.txt"))
    return f"{Path(caption).read_text(encoding='utf-8')}  {'  '.join(paths)}\n"


def _chosen(names: list[str]) -> list[Figure]:
    if ALL in names:
        return list(FIGURES.values())
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        known = [name for name in FIGURES if name.split("-")[0] == unknown[0].split("-")[0]] or list(FIGURES)
        raise InvalidParameter(
            "there is no such figure or table here; drawings without numbers are not reproduced",
            parameter="NAME",
            value=unknown[0],
            hint=f"Choose from {', '.join(known)}.",
        )
    return [FIGURES[name] for name in dict.fromkeys(names)]
