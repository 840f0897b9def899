"""`extremal compare`: the closed forms side by side."""

from __future__ import annotations

import argparse

from extremal.cli.choices import GOALS, add_utility_arguments, spoken_of, utility
from extremal.cli.printing import add_printing, drawn, plain, said
from extremal.cli.reading import prior, refuse_written
from extremal.errors import InvalidParameter
from extremal.studies.compare import compare
from extremal.utility import Workload


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "compare",
        help="compare the closed-form mechanisms with each other and with the best",
        description="List every applicable closed form at ε, with its level under each notion and its value under the "
        "chosen utilities; with --goal, how many respondents each needs for the precision of the best mechanism.",
        epilog="example:  extremal compare --prior 0.5,0.3,0.2 --epsilon 1 --plot forms.png",
    )
    add_utility_arguments(verb, several=True)
    verb.add_argument("--epsilon", required=True, help="privacy level in nats")
    add_printing(verb, plot="also draw it")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    refuse_written(options, "plot")
    if options.goal:
        return _respondents(options)
    names = options.utility or spoken_of(options)
    if not names:
        raise InvalidParameter(
            "say what mechanisms are compared by",
            parameter="--goal",
            value=None,
            hint="Give --goal frequencies --k 4 (also cdf, ranges, mean); or --p0 and --p1; or --prior.",
        )
    source = prior(options.prior, "--prior") if options.prior else None
    table = compare([utility(options, name) for name in names], epsilon=options.epsilon, prior=source)
    drawn(options, table.plot)
    shown = ("name", "reports", "levels", "values")
    rows = [{key: getattr(row, key) for key in shown} for row in table.rows]
    return said(options, plain({"epsilon": table.epsilon, "rows": rows}, str), table)


def _respondents(options: argparse.Namespace) -> int:
    """--goal: what is estimated decides, and people are what is counted."""
    wanted = utility(options, GOALS[options.goal])
    if not isinstance(wanted, Workload):
        raise InvalidParameter("people are counted for what is estimated", parameter="--goal", value=options.goal)
    table = compare(wanted, epsilon=options.epsilon).respondents()
    drawn(options, table.plot)
    rows = [vars(row) for row in table.rows]
    return said(options, plain({"epsilon": table.epsilon, "bound": table.bound, "rows": rows}, str), table)
