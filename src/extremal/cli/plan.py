"""`extremal plan`: how many people, how private, how precise or how powerful, given the others."""

from __future__ import annotations

import argparse
from typing import Any

from extremal.cli.printing import add_printing, drawn, plain, said, written
from extremal.cli.reading import PRIOR_HELP, answers, prior, questionnaire_in, refuse_written, width
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism, load
from extremal.sources import SourceClass
from extremal.studies import Plan, TestPlan, plan, plan_test
from extremal.utility import CDF, Mean, Workload


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "plan",
        help="how many people a survey needs, at which ε, for which precision or power",
        description="Compute a sample size, a privacy level or a precision: give all but one of --n, --epsilon (or "
        "--mechanism) and --half-width. With --p0 and --p1 a test is planned, with --power in place of --half-width.",
        epilog="examples:\nextremal plan --k 4 --epsilon 1 --half-width 0.05\n"
        "extremal plan --questionnaire questions.json --n 1200\n"
        "extremal plan --p0 0.5,0.5 --p1 0.4,0.6 --epsilon 1 --power 0.8",
    )
    verb.add_argument("--mechanism", metavar="FILE", help="the mechanism to use (default: the best at --epsilon)")
    verb.add_argument(
        "--questionnaire", metavar="FILE", help="plan for several questions: the half-width of each, or the people"
    )
    verb.add_argument("--k", type=int, help="number of different answers")
    verb.add_argument("--inputs", metavar="A,B,…", help="the answers, comma-separated or a range 0-10, instead of --k")
    verb.add_argument("--epsilon", help="privacy level in nats")
    verb.add_argument("--n", type=int, help="number of people")
    verb.add_argument(
        "--half-width", type=width, metavar="H", help="largest half-width of an interval: 0.05 for ±5 points"
    )
    verb.add_argument("--prior", help=f"expected shares (default: the worst case): {PRIOR_HELP}")
    verb.add_argument("--cdf", action="store_true", help="plan for cumulative shares: of each answer and all before it")
    verb.add_argument("--mean", metavar="V,V,…", help="plan for the mean of these numbers, one for each answer")
    verb.add_argument("--level", type=float, help="confidence level (default 0.95)")
    verb.add_argument("--p0", help="null hypothesis of a test")
    verb.add_argument("--p1", help="alternative hypothesis of a test")
    verb.add_argument("--alpha", type=float, help="significance level of a test (default 0.05)")
    verb.add_argument("--power", type=float, help="power of a test: probability of rejecting --p0 when --p1 is true")
    verb.add_argument("-o", "--output", metavar="FILE", help="write the mechanism")
    add_printing(verb, plot="draw curves over n and ε")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    refuse_written(options, "plot", "output")
    if options.questionnaire is not None:
        return _questions(options)
    mechanism = None if options.mechanism is None else load(options.mechanism)
    found = _precision(options, mechanism) if options.p0 is None else _test(options, mechanism)
    drawn(options, found.plot)
    if options.output:
        found.mechanism.save(options.output, overwrite=options.overwrite)
    return said(options, plain(_fields(found)), written(found, options.plot, options.output))


def _questions(options: argparse.Namespace) -> int:
    others = ("mechanism", "k", "inputs", "epsilon", "prior", "mean", "p0", "p1", "alpha", "power", "output", "plot")
    _refuse(options, "a questionnaire is planned by --n or --half-width, and --level", *others)
    level = 0.95 if options.level is None else options.level
    found = questionnaire_in(options.questionnaire).plan(n=options.n, half_width=options.half_width, level=level)
    content = {"n": found.n, "solved": found.solved, "level": found.level, "half_widths": found.half_widths}
    return said(options, plain(content), str(found))


def _precision(options: argparse.Namespace, mechanism: Mechanism | None) -> Plan:
    _refuse(options, "--p0 and --p1 plan a test", "p1", "alpha", "power")
    shares = None if options.prior is None else prior(options.prior, "--prior")
    inputs = None if options.inputs is None else answers(options.inputs)
    k = options.k
    if mechanism is not None and k is None:
        k = mechanism.k
    elif inputs is not None:
        k = len(inputs)
    return plan(
        mechanism,
        k=options.k,
        epsilon=options.epsilon,
        n=options.n,
        half_width=options.half_width,
        prior=shares if not (options.cdf or options.mean) else None,
        level=0.95 if options.level is None else options.level,
        inputs=inputs,
        workload=_workload(options, shares, k),
    )


def _workload(options: argparse.Namespace, shares: Any, k: int | None) -> Workload | None:
    """The workload that is wanted instead of shares; without a prior, at the worst one."""
    values = None if options.mean is None else [part.strip() for part in options.mean.split(",")]
    if options.cdf and values is not None:
        raise InvalidParameter("give either --cdf or --mean", parameter="--mean", value=options.mean)
    if values is not None:
        return Mean(values, _worst(len(values)) if shares is None else shares)
    return CDF(_worst(k) if shares is None else shares) if options.cdf else None


def _worst(k: int | None) -> SourceClass:
    """Every prior."""
    if k is None:
        raise InvalidParameter("--cdf needs the number of answers", parameter="--k", value=None, hint="Give --k 10.")
    return SourceClass.simplex(k)


def _test(options: argparse.Namespace, mechanism: Mechanism | None) -> TestPlan:
    _refuse(options, "a test needs --p0, --p1 and --power", "k", "inputs", "half_width", "prior", "level", "mean")
    if options.p1 is None:
        raise InvalidParameter("a test needs an alternative", parameter="--p1", value=None, hint="Give --p1 0.4,0.6.")
    return plan_test(
        mechanism,
        p0=prior(options.p0, "--p0"),
        p1=prior(options.p1, "--p1"),
        epsilon=options.epsilon,
        n=options.n,
        alpha=0.05 if options.alpha is None else options.alpha,
        power=options.power,
    )


def _refuse(options: argparse.Namespace, why: str, *names: str) -> None:
    """Raise on options that belong to the other kind of plan."""
    for name in names:
        if getattr(options, name) is not None:
            raise InvalidParameter(why, parameter=f"--{name.replace('_', '-')}", value=getattr(options, name))


def _fields(found: Plan | TestPlan) -> dict[str, Any]:
    names = ["solved", "n", "epsilon", "wanted", "without_privacy"]
    names += ["half_width", "value"] if isinstance(found, Plan) else ["power", "alpha", "critical", "exact"]
    fields = {name: getattr(found, name) for name in [*names, "level"]} | {"mechanism": found.mechanism.hash}
    if isinstance(found, Plan):
        fields["widest"] = found.widest if isinstance(found.widest, (str, int)) else str(found.widest)
    return fields
