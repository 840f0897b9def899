"""`extremal design`: the best mechanism, its certificate, and a few lines that explain it."""

from __future__ import annotations

import argparse
from pathlib import Path

from extremal.cli.choices import add_privacy_arguments, add_utility_arguments, privacy, source, utility
from extremal.cli.printing import add_printing, drawn, said
from extremal.cli.printing import written as listed
from extremal.cli.reading import answers, refuse_unwritable, refuse_written
from extremal.errors import InvalidParameter
from extremal.optimize import Design, smallest_epsilon
from extremal.optimize.design import TIME_LIMIT, design, level_of
from extremal.progress import ProgressLine


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "design",
        help="find the optimal mechanism for a goal, with a proof",
        description="Find the optimal mechanism for a goal under a privacy constraint, and prove that it is optimal.",
        epilog="examples:\n"
        "extremal design --goal frequencies --inputs never,once,often --epsilon 1 -o question.json\n"
        "extremal design --p0 0.5,0.3,0.2 --p1 0.2,0.3,0.5 --epsilon 1 -o question.json",
    )
    add_privacy_arguments(verb)
    verb.add_argument("--epsilon", help="privacy level in nats")
    verb.add_argument(
        "--distortion", metavar="D", help="instead of --epsilon: the smallest ε with a false report at most this often"
    )
    add_utility_arguments(verb)
    verb.add_argument(
        "--inputs", metavar="A,B,…", help="labels of the inputs, comma-separated or a range 0-10, instead of --k"
    )
    verb.add_argument("--max-outputs", type=int, metavar="N", help="at most this many different reports")
    verb.add_argument("--tolerance", type=float, default=1e-9, help="relative gap at which to stop (default 1e-9)")
    verb.add_argument("--report-bits", type=int, metavar="N", help="at most 2^N different reports")
    verb.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        default=TIME_LIMIT,
        help=f"return the best so far after this long (default {TIME_LIMIT:g})",
    )
    verb.add_argument("-o", "--output", metavar="FILE", help="write the mechanism here, and its certificate beside it")
    add_printing(verb, plot="draw the mechanism, or what each pair of --hypotheses gets")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    refuse_written(options, "plot")
    refuse_unwritable(options, "output")
    inputs = answers(options.inputs) if options.inputs else None
    if inputs and options.k is None:
        options.k = str(len(inputs))
    if inputs and options.values is None and all(isinstance(label, int) for label in inputs):
        options.values = ",".join(map(str, inputs))  # answers 0-10 stand for their numbers
    with ProgressLine() as line:
        if options.distortion is not None:
            return _shown(_smallest_epsilon(options, inputs), options)
        found = design(
            privacy(options),
            utility(options),
            inputs=inputs,
            max_outputs=options.max_outputs,
            tolerance=options.tolerance,
            time_limit=options.time_limit,
            progress=line,
            report_bits=options.report_bits,
        )
    return _shown(found, options)


def _smallest_epsilon(options: argparse.Namespace, inputs: list[str] | list[int] | None) -> Design:
    """The smallest ε within --distortion."""
    if options.epsilon is not None:
        raise InvalidParameter(
            "give either --epsilon or --distortion", parameter="--distortion", value=options.distortion
        )
    return smallest_epsilon(source(options, "a distortion needs a prior"), options.distortion, inputs=inputs)


def _shown(found: Design, options: argparse.Namespace) -> int:
    written = []
    if options.output:
        found.save(options.output, overwrite=options.overwrite)
        output = Path(options.output)
        written = [str(path) for path in (output, output.with_suffix(".certificate.json")) if path.exists()]
    written += drawn(options, found.plot)
    fields = {**_fields(found), **({"written": written} if written else {})}
    return said(options, fields, listed(found.summary(), *written))


def _fields(found: Design) -> dict[str, object]:
    claim = found.mechanism.privacy
    return {
        "utility": found.utility.name,
        "value": found.value,
        "lower_bound": found.lower_bound,
        "upper_bound": found.upper_bound,
        "gap": found.gap,
        "method": found.method,
        "inputs": found.mechanism.k,
        "outputs": found.mechanism.m,
        "privacy": None if claim is None else claim.to_json(),
        "level": level_of(found.mechanism),
        "hash": found.mechanism.hash,
        "notes": list(found.notes),
    }
