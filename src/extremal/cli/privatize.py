"""`extremal privatize IN --column C --mechanism M.json -o OUT`: a file of values → a file of reports."""

from __future__ import annotations

import argparse
import json

from extremal.cli.progress import ProgressLine
from extremal.errors import InvalidParameter
from extremal.mechanism import load
from extremal.release.files import privatize_file


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "privatize",
        help="randomise columns of a Parquet, CSV or Feather file",
        description="Randomise columns of a Parquet, CSV or Feather file, exactly by the\nmechanism's weights, in "
        "bounded memory.",
        epilog="Repeat --column and --mechanism for several columns; they go together in order.\n"
        "exit codes:  0 done   2 bad input; nothing is left under the output name",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.add_argument("file", help="the file to read")
    verb.add_argument("--column", action="append", required=True, metavar="NAME", help="a column to randomise")
    verb.add_argument("--mechanism", action="append", required=True, metavar="FILE", help="its mechanism file")
    verb.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write, of the same format")
    verb.add_argument("--overwrite", action="store_true", help="replace the output file if it exists")
    verb.add_argument("--json", action="store_true", help="print the outcome as JSON")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if len(options.column) != len(options.mechanism):
        raise InvalidParameter(
            "every --column needs its --mechanism",
            parameter="columns and mechanisms",
            value=[len(options.column), len(options.mechanism)],
        )
    if len(set(options.column)) != len(options.column):
        raise InvalidParameter("a column can be randomised once", parameter="column", value=options.column)
    chosen = {column: load(path) for column, path in zip(options.column, options.mechanism, strict=True)}
    with ProgressLine() as line:
        rows = privatize_file(options.file, options.output, chosen, overwrite=options.overwrite, progress=line.rows)
    hashes = {column: mechanism.hash for column, mechanism in chosen.items()}
    if options.json:
        print(json.dumps({"rows": rows, "output": options.output, "columns": hashes}, ensure_ascii=False))
    else:
        print(f"{options.output}: {rows:,} rows")
        for column, mechanism in chosen.items():
            claim = f"{mechanism.privacy!r}" if mechanism.privacy is not None else "no privacy claimed"
            print(f"  {column}: {claim}, mechanism {mechanism.hash[:12]}")
    return 0
