"""`extremal verify FILE`: is the claim in this mechanism file true?"""

from __future__ import annotations

import argparse
import json

from extremal.certificate import verify
from extremal.mechanism.files import read


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "verify",
        help="decide the privacy claim of a mechanism file, exactly",
        description="Decide the privacy claim of a mechanism file in integer arithmetic, with no solver and no floating point.",
        epilog="exit codes:  0 the claim holds   1 it is false, or nothing is claimed   2 malformed file or hash mismatch",
    )
    verb.add_argument("file", help="a mechanism file written by Mechanism.save")
    verb.add_argument("--json", action="store_true", help="print the outcome as JSON")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    mechanism, claim = read(options.file)
    outcome = verify(options.file)
    if options.json:
        found = {
            "holds": bool(outcome),
            "privacy": outcome.privacy,
            "optimality": outcome.optimality,
            "reasons": list(outcome.reasons),
            "claim": None if claim is None else claim.to_json(),
            "inputs": mechanism.k,
            "outputs": mechanism.m,
        }
        print(json.dumps(found, ensure_ascii=False))
    else:
        print(f"{options.file}: {mechanism.k} inputs, {mechanism.m} outputs")
        for reason in outcome.reasons:
            print(f"  {'ok ' if outcome else 'NO '} {reason}")
    return 0 if outcome else 1
