"""`extremal privatize IN --column C --mechanism M.json -o OUT`: a file of values → a file of reports."""

from __future__ import annotations

import argparse

from extremal.cli.printing import add_printing, said
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism, load
from extremal.privacy import LDP
from extremal.progress import ProgressLine
from extremal.questionnaire import Questionnaire
from extremal.release.engines.key import ReleaseKey
from extremal.release.engines.spark_files import privatize_with_spark
from extremal.release.files import privatize_file
from extremal.tables import number


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "privatize",
        help="randomise columns of a Parquet, CSV or Feather file",
        description="Randomise columns of a Parquet, CSV or Feather file, exactly by the\nmechanism's weights, in "
        "bounded memory.",
        epilog="Repeat --column and --mechanism for several columns; they go together in order.\n"
        "With --engine spark the output is a folder of Parquet files, and --row-id names\na column of unique ids.\n"
        "exit codes:  0 done   2 bad input; nothing is left under the output name",
    )
    verb.add_argument("file", help="the file to read")
    verb.add_argument("--column", action="append", required=True, metavar="NAME", help="a column to randomise")
    verb.add_argument("--mechanism", action="append", required=True, metavar="FILE", help="its mechanism file")
    verb.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write, of the same format")
    verb.add_argument(
        "--engine", choices=["files", "spark"], default="files", help="spark: for data too large for one machine"
    )
    verb.add_argument("--master", metavar="URL", help="of the Spark cluster (default: local[*])")
    verb.add_argument("--row-id", metavar="NAME", help="a column of unique ids, for spark")
    verb.add_argument("--release-key", metavar="FILE", help="a saved key, for spark (default: a fresh one)")
    add_printing(verb)
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
    rows = _with_spark(options, chosen) if options.engine == "spark" else _by_batches(options, chosen)
    hashes = {column: mechanism.hash for column, mechanism in chosen.items()}
    return said(options, {"rows": rows, "output": options.output, "columns": hashes}, _told(options, chosen, rows))


def _told(options: argparse.Namespace, chosen: dict[str, Mechanism], rows: int) -> str:
    """The columns, what each promises, and all of them together."""
    lines = [f"{options.output}: {rows:,} rows"]
    for column, mechanism in chosen.items():
        claim = f"{mechanism.privacy!r}" if mechanism.privacy is not None else "no privacy claimed"
        lines.append(f"  {column}: {claim}, mechanism {mechanism.hash[:12]}")
    claims = [mechanism.privacy for mechanism in chosen.values()]
    if len(claims) > 1 and all(isinstance(claim, LDP) and not claim.delta for claim in claims):
        lines.append(f"  all columns together, about one person: ε = {number(Questionnaire(chosen).epsilon)}")
    return "\n".join(lines)


def _by_batches(options: argparse.Namespace, chosen: dict[str, Mechanism]) -> int:
    for name in ("row_id", "master", "release_key"):
        if getattr(options, name) is not None:
            raise InvalidParameter(
                "this is for --engine spark", parameter=f"--{name.replace('_', '-')}", value=getattr(options, name)
            )
    with ProgressLine() as line:
        return privatize_file(options.file, options.output, chosen, overwrite=options.overwrite, progress=line.rows)


def _with_spark(options: argparse.Namespace, chosen: dict[str, Mechanism]) -> int:
    if options.row_id is None:
        raise InvalidParameter(
            "Spark may run a task twice, and needs ids to repeat its reports", parameter="--row-id", value=None
        )
    if options.overwrite:
        raise InvalidParameter("a folder is never replaced", parameter="--overwrite", value=True)
    return privatize_with_spark(
        options.file,
        options.output,
        chosen,
        row_id=options.row_id,
        master=options.master or "local[*]",
        release_key=None if options.release_key is None else ReleaseKey.load(options.release_key),
    )
