"""`extremal compare`: the closed forms side by side."""

from __future__ import annotations

import argparse
import json
import math

from extremal.cli.reading import GOALS, add_utility_arguments, prior, refuse_written, spoken_of, utility
from extremal.errors import InvalidParameter
from extremal.plotting import save
from extremal.studies.compare import compare
from extremal.utility import Workload


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "compare",
        help="closed-form mechanisms side by side",
        description="Every applicable closed form at ε, with its level under each notion and its value under the "
        "chosen utilities; with --goal, how many respondents each needs for the precision of the best mechanism.",
        epilog="example:  extremal compare --prior 0.5,0.3,0.2 --epsilon 1 --plot forms.png",
    )
    add_utility_arguments(verb, several=True)
    verb.add_argument("--epsilon", required=True, help="privacy level in nats")
    verb.add_argument("--plot", metavar="FILE", help="also draw it (png, pdf or svg)")
    verb.add_argument("--overwrite", action="store_true", help="replace existing files")
    verb.add_argument("--json", action="store_true", help="print the table as JSON")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    refuse_written(options, "plot")
    if options.goal:
        return _respondents(options)
    names = options.utility or spoken_of(options)
    if not names:
        raise InvalidParameter(
            "there must be something to compare by", parameter="--prior, --p0, --p1", value=None, hint="Give --prior."
        )
    source = prior(options.prior, "--prior") if options.prior else None
    table = compare([utility(options, name) for name in names], epsilon=options.epsilon, prior=source)
    if options.plot:
        save(table.plot(), options.plot, options.overwrite)
    if options.json:
        shown = ("name", "reports", "levels", "values")
        rows = [_row({key: getattr(row, key) for key in shown}) for row in table.rows]
        print(json.dumps({"epsilon": table.epsilon, "rows": rows}, ensure_ascii=False))
    else:
        print(table)
    return 0


def _respondents(options: argparse.Namespace) -> int:
    """--goal: what is estimated decides, and people are what is counted."""
    wanted = utility(options, GOALS[options.goal])
    if not isinstance(wanted, Workload):
        raise InvalidParameter("people are counted for what is estimated", parameter="--goal", value=options.goal)
    table = compare(wanted, epsilon=options.epsilon).respondents()
    if options.plot:
        save(table.plot(), options.plot, options.overwrite)
    if options.json:
        rows = [_row({"row": vars(row)})["row"] for row in table.rows]
        print(json.dumps({"epsilon": table.epsilon, "bound": table.bound, "rows": rows}, ensure_ascii=False))
    else:
        print(table)
    return 0


def _row(row: dict[str, object]) -> dict[str, object]:
    """JSON has no infinity: it becomes the string "inf"."""
    return {
        key: {k: "inf" if isinstance(v, float) and math.isinf(v) else v for k, v in value.items()}
        if isinstance(value, dict)
        else value
        for key, value in row.items()
    }
