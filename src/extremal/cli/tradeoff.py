"""`extremal tradeoff`: the optimum and the closed forms over a grid of ε."""

from __future__ import annotations

import argparse
import json

import numpy as np

from extremal.cli import distortion
from extremal.cli.arguments import PRIVACIES, add_utility_arguments, utility
from extremal.cli.progress import ProgressLine
from extremal.errors import InvalidParameter
from extremal.plotting import save
from extremal.studies import tradeoff


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "tradeoff",
        help="the optimum and the closed forms over a range of ε",
        description="What the best mechanism and the closed forms keep at each privacy level.",
        epilog="example:  extremal tradeoff --p0 0.5,0.3,0.2 --p1 0.1,0.2,0.7 --epsilons 0.1:10:12 --plot curve.png",
    )
    add_utility_arguments(verb, several=False)
    verb.add_argument("--privacy", choices=tuple(PRIVACIES), default="ldp", help="privacy notion (default ldp)")
    verb.add_argument(
        "--epsilons", default="0.1:10:10", metavar="E", help="FROM:TO:COUNT (evenly in log ε) or a comma-separated list"
    )
    verb.add_argument("--plot", metavar="FILE", help="also draw it (png, pdf or svg)")
    verb.add_argument("--csv", metavar="FILE", help="also write the table as CSV")
    verb.add_argument("--json", action="store_true", help="print the table as JSON")
    distortion.add_tradeoff_arguments(verb)
    verb.set_defaults(run=run, delta="0", lower=None)


def run(options: argparse.Namespace) -> int:
    if options.distortion is not None:
        return distortion.tradeoff(options)
    name = options.utility or ("KL" if options.p0 else "MutualInformation" if options.prior else None)
    if name is None:
        raise InvalidParameter(
            "say what you want to learn", parameter="--utility", value=None, hint="Give --p0 and --p1, or --prior."
        )

    def notion(epsilon: float) -> object:
        return PRIVACIES[options.privacy](argparse.Namespace(**{**vars(options), "epsilon": epsilon}))

    with ProgressLine() as line:
        curve = tradeoff(notion, utility(name, options), _grid(options.epsilons), progress=line)  # type: ignore[arg-type]
    if options.plot:
        save(curve.plot(), options.plot)
    if options.csv:
        curve.to_frame().to_csv(options.csv, index=False)
    if options.json:
        print(
            json.dumps(
                {"epsilons": curve.epsilons, "values": curve.values, "gaps": [d.gap for d in curve.designs]},
                ensure_ascii=False,
            )
        )
    else:
        print(curve)
    return 0


def _grid(text: str) -> list[float]:
    try:
        if ":" in text:
            first, last, count = text.split(":")
            return [float(f"{e:.6g}") for e in np.geomspace(float(first), float(last), int(count))]
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameter(
            "--epsilons must be FROM:TO:COUNT or a list", parameter="--epsilons", value=text, hint="0.1:10:12"
        ) from None
