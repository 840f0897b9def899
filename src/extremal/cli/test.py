"""`extremal test QUESTION …`: hypotheses about the inputs, tested on a file of reports or on counts."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from extremal.cli.printing import add_printing, plain, said
from extremal.cli.reading import PRIOR_HELP, prior
from extremal.errors import InvalidParameter
from extremal.estimate import (
    BayesTest,
    LikelihoodRatioTest,
    TestResult,
    test_distribution,
    test_homogeneity,
    test_hypotheses,
    test_independence,
)
from extremal.estimate.hypothesis_tests.resampling import DRAWS
from extremal.mechanism import Mechanism, load

EPILOG = """\
examples:
  extremal test distribution reports.csv --mechanism m.json --p 0.5,0.3,0.2
  extremal test distribution --counts 500,300,200 --mechanism m.json --p uniform:3
  extremal test hypotheses reports.csv --mechanism m.json --p0 0.9,0.1 --p1 0.7,0.3
  extremal test homogeneity reports.csv --mechanism m.json --by region
  extremal test independence reports.csv --columns answer=m.json --columns region
exit codes:  0 done, whatever was decided   2 bad input, or reports of another mechanism
"""


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The verb and its questions."""
    verb = verbs.add_parser(
        "test",
        help="test hypotheses about the inputs: distribution, homogeneity, independence",
        description="Test hypotheses about the inputs from a Parquet, Feather or CSV file written by `extremal\n"
        "privatize`, or from counts. The probability of a false alarm is held at every number of reports.",
        epilog=EPILOG,
    )
    questions = verb.add_subparsers(title="questions", metavar="QUESTION", required=True)

    asked = _question(questions, "hypotheses", _hypotheses, "one distribution against another, or which of several")
    _reading(asked, counts=True)
    asked.add_argument("--p0", required=True, action="append", metavar="P", help=f"H0; repeated: several. {PRIOR_HELP}")
    asked.add_argument("--p1", metavar="P", help="the alternative")
    asked.add_argument("--prior", metavar="P", help="probabilities of several hypotheses; default: equal")

    asked = _question(questions, "distribution", _distribution, "do the inputs follow a given distribution?")
    _reading(asked, counts=True)
    asked.add_argument("--p", required=True, metavar="P", help=PRIOR_HELP)
    _drawing(asked)

    asked = _question(questions, "homogeneity", _homogeneity, "do groups have the same distribution?")
    _reading(asked, counts=False)
    asked.add_argument("--by", required=True, metavar="COLUMN", action="append", help="the group; may be repeated")
    _drawing(asked)

    asked = _question(questions, "independence", _independence, "are two columns independent?")
    asked.add_argument("file", nargs="+", help="a file of reports; several are taken together")
    asked.add_argument(
        "--columns",
        required=True,
        action="append",
        metavar="NAME[=FILE]",
        help="twice: a column and its mechanism file, or the name alone of a public column",
    )
    asked.add_argument("--no-hash-check", action="store_true", help="take reports that do not record their mechanism")
    _drawing(asked)


def _question(questions: Any, name: str, run: Any, explain: str) -> argparse.ArgumentParser:
    asked: argparse.ArgumentParser = questions.add_parser(name, help=explain, description=explain)
    asked.add_argument("--alpha", type=float, default=0.05, help="significance; default: 0.05")
    add_printing(asked, overwrite=False)
    asked.set_defaults(run=run)
    return asked


def _reading(asked: argparse.ArgumentParser, counts: bool) -> None:
    asked.add_argument("file", nargs="*" if counts else "+", help="a file of reports; several are taken together")
    if counts:
        asked.add_argument("--counts", metavar="N,N,…", help="instead of a file: how often each output was reported")
    asked.add_argument("--mechanism", required=True, metavar="FILE", help="what the reports were made with")
    asked.add_argument("--column", help="the column of reports; not needed when one column was randomised")
    asked.add_argument("--no-hash-check", action="store_true", help="take reports that do not record their mechanism")


def _drawing(asked: argparse.ArgumentParser) -> None:
    asked.add_argument("--draws", type=int, default=DRAWS, help=f"draws behind the p-value; default: {DRAWS}")


def _reports(options: argparse.Namespace) -> dict[str, Any]:
    """The reports, and how they are to be read."""
    counts = getattr(options, "counts", None)
    if bool(options.file) == (counts is not None):
        raise InvalidParameter(
            "give either files or --counts",
            parameter="--counts",
            value=counts,
            hint="extremal test … reports.csv, or --counts 40,60.",
        )
    if counts is not None:
        parts = [part.strip() for part in counts.split(",")]
        if not all(part.isdecimal() for part in parts):
            raise InvalidParameter("--counts must be whole numbers", parameter="--counts", value=counts)
        return {"reports": [int(part) for part in parts], "counts": True}
    return {
        "reports": [Path(file) for file in options.file],
        "column": options.column,
        "check_hash": not options.no_hash_check,
    }


def _hypotheses(options: argparse.Namespace) -> int:
    mechanism, reading = load(options.mechanism), _reports(options)
    hypotheses = [prior(text, "--p0") for text in options.p0]
    more: dict[str, Any] = {}
    if options.prior is not None:
        more["prior"] = prior(options.prior, "--prior")
    if options.p1 is not None and len(hypotheses) > 1:
        raise InvalidParameter(
            "give --p0 and --p1, or --p0 several times", parameter="--p1", value=options.p1, hint="Leave --p1 out."
        )
    if options.p1 is None and len(hypotheses) == 1:
        raise InvalidParameter("one hypothesis needs an alternative", parameter="--p1", value=None, hint="Give --p1.")
    reports = reading.pop("reports")
    p0, p1 = (hypotheses, None) if options.p1 is None else (hypotheses[0], prior(options.p1, "--p1"))
    found = test_hypotheses(reports, mechanism, p0, p1, options.alpha, **reading, **more)
    return _told(options, found, mechanism.hash)


def _distribution(options: argparse.Namespace) -> int:
    mechanism, reading = load(options.mechanism), _reports(options)
    reports = reading.pop("reports")
    p = prior(options.p, "--p")
    found = test_distribution(reports, mechanism, p, options.alpha, draws=options.draws, **reading)
    return _told(options, found, mechanism.hash)


def _homogeneity(options: argparse.Namespace) -> int:
    mechanism, reading = load(options.mechanism), _reports(options)
    reports = reading.pop("reports")
    by = options.by[0] if len(options.by) == 1 else options.by
    found = test_homogeneity(reports, mechanism, by, options.alpha, draws=options.draws, **reading)
    return _told(options, found, mechanism.hash)


def _independence(options: argparse.Namespace) -> int:
    columns: dict[str, Mechanism | None] = {}
    for text in options.columns:
        name, _, path = text.partition("=")
        columns[name] = load(path) if path else None
    files = [Path(file) for file in options.file]
    found = test_independence(files, columns, options.alpha, draws=options.draws, check_hash=not options.no_hash_check)
    return _told(options, found, {name: m.hash for name, m in columns.items() if m is not None})


def _told(
    options: argparse.Namespace, found: TestResult | LikelihoodRatioTest | BayesTest, mechanism: str | Mapping[str, str]
) -> int:
    content = asdict(found) | ({} if isinstance(found, BayesTest) else {"rejected": bool(found)})
    return said(options, plain(content | {"mechanism": mechanism}), found.summary())
