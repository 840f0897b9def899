"""`extremal reproduce NAME …`: figures and tables of the papers, as pictures and CSV files."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from extremal.cli.progress import ProgressLine
from extremal.errors import InvalidParameter
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
        help="figures and tables of the papers, and beyond them",
        description="Compute figures and tables of the three papers again; without a name, list them.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.add_argument("names", nargs="*", metavar="NAME", help="of a figure, or all")
    verb.add_argument("-o", "--output", metavar="FOLDER", default="reproduced", help="where to write (reproduced/)")
    verb.add_argument("--format", metavar="F,F", default="png,svg", help="of the pictures (png,svg)")
    verb.add_argument("--overwrite", action="store_true", help="replace existing files")
    verb.add_argument("--json", action="store_true", help="print one JSON object")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the figures, or make them."""
    if not options.names:
        return _list(options.json)
    formats = [part.strip() for part in options.format.split(",") if part.strip()]
    chosen = _chosen(options.names)
    written: dict[str, list[str]] = {}
    with ProgressLine() as line:
        for number, figure in enumerate(chosen, 1):
            name = f"{figure.name} ({number} of {len(chosen)})"
            paths = figure.write(Path(options.output), formats, options.overwrite, partial(line.share, name))
            written[figure.name] = [str(path) for path in paths]
    if options.json:
        print(json.dumps({"written": written}, ensure_ascii=False))
        return 0
    for name, paths_ in written.items():
        caption = next(path for path in paths_ if path.endswith(f"{name}.txt"))
        print(f"{Path(caption).read_text(encoding='utf-8')}  {'  '.join(paths_)}\n")
    return 0


def _list(as_json: bool) -> int:
    if as_json:
        print(json.dumps({f.name: {"title": f.title, "seconds": f.seconds} for f in FIGURES.values()}))
    else:
        print(
            aligned(
                ["name", "figure", "about"], [[f.name, f.title, f"{f.seconds} s"] for f in FIGURES.values()], left=2
            )
        )
    return 0


def _chosen(names: list[str]) -> list[Figure]:
    if ALL in names:
        return list(FIGURES.values())
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise InvalidParameter(
            "names must be figures", parameter="NAME", value=unknown[0], hint="`extremal reproduce` lists them."
        )
    return [FIGURES[name] for name in dict.fromkeys(names)]
