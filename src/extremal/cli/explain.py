"""`extremal explain FILE`: what a report lets someone believe, for an ethics board or a respondent."""

from __future__ import annotations

import argparse
from pathlib import Path

from extremal.atomic import write_atomically
from extremal.cli.printing import add_printing, said, written
from extremal.cli.reading import PRIOR_HELP, prior, refuse_written
from extremal.mechanism import load


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "explain",
        help="say what a report discloses, in plain sentences",
        description="Say what a report lets someone believe, answer by answer, with bounds rounded outwards.",
        epilog="example:  extremal explain question.json --prior 0.9,0.1 --html page.html",
    )
    verb.add_argument("file", help="a mechanism file")
    verb.add_argument("--prior", help=f"what someone believes before: {PRIOR_HELP}")
    verb.add_argument("--html", metavar="FILE", help="write one self-contained page that can be printed")
    verb.add_argument("--title", default="What a report discloses", help="title of the page")
    add_printing(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    refuse_written(options, "html")
    mechanism = load(options.file)
    explained = mechanism.explain(None if options.prior is None else prior(options.prior, "--prior"))
    if options.html:
        write_atomically(Path(options.html), explained.html(options.title).encode("utf-8"), options.overwrite)
    rows = [
        {"answer": b.answer, "before": str(b.before), "at_least": str(b.least), "at_most": str(b.most)}
        for b in explained.beliefs
    ]
    content = {"beliefs": rows, "sentences": explained.sentences()}
    return said(options, content, written(explained, options.html))
