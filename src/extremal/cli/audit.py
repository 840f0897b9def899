"""`extremal audit FILE`: draw reports and bound from below the ε that they deliver."""

from __future__ import annotations

import argparse

from extremal.cli.printing import add_printing, plain, said
from extremal.errors import InvalidParameter
from extremal.mechanism.files import read
from extremal.release.audit import audit
from extremal.release.sampling.sampler import sample_codes

MOST_DRAWS = 1 << 27  # for one input


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "audit",
        help="audit a mechanism: draw reports and bound ε from below",
        description="Draw reports from a mechanism file and bound from below the epsilon that\n"
        "they deliver (Clopper-Pearson, corrected for multiplicity).",
        epilog="exit codes:  0 nothing found   1 refused: more is delivered than claimed, or\n"
        "             reports do not follow the weights   2 bad file",
    )
    verb.add_argument("file", help="a mechanism file written by Mechanism.save")
    verb.add_argument(
        "--draws", type=int, default=1_000_000, metavar="N", help="draws for each audited input (default: 1000000)"
    )
    verb.add_argument(
        "--confidence", type=float, default=0.999, metavar="P", help="joint confidence of all limits (default: 0.999)"
    )
    verb.add_argument(
        "--compiled",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="use numba, or do not (default: by size)",
    )
    add_printing(verb, overwrite=False)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if not 1 <= options.draws <= MOST_DRAWS:
        raise InvalidParameter(f"--draws must be from 1 to {MOST_DRAWS:,}", parameter="--draws", value=options.draws)
    mechanism, claim = read(options.file)
    found = audit(
        mechanism,
        options.draws,
        options.confidence,
        claim=claim,
        sample=lambda codes: sample_codes(mechanism, codes, compiled=options.compiled),
    )
    outcome = {
        "refused": not found,
        "delivered": max(found.delivered, 0.0),
        "allowed": found.allowed,
        "draws": found.draws,
        "inputs": list(found.inputs),
        "limits": found.limits,
        "confidence": found.confidence,
        "misfits": list(found.misfits),
    }
    said(options, plain(outcome), f"{options.file}: {found.summary()}")
    return 0 if found else 1
