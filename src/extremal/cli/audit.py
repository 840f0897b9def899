"""`extremal audit FILE`: draw reports and bound from below the ε that they deliver."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from extremal.cli.printing import add_printing, plain, said
from extremal.cli.reading import questionnaire_in
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.mechanism.files import parse, read
from extremal.privacy import Notion
from extremal.questionnaire.release import questions_apart
from extremal.release.audit import Audit, audit
from extremal.release.sampling.loops import Codes
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
    verb.add_argument("file", help="a file of a mechanism, or of a questionnaire: its joint mechanism on records")
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
    if parse(Path(options.file)).get("format") != "extremal-questionnaire":
        mechanism, claim = read(options.file)
        found = _audited(options, mechanism, claim, options.confidence)
        said(options, _outcome(found), f"{options.file}: {found.summary()}")
        return 0 if found else 1
    asked = questionnaire_in(options.file)
    parts = questions_apart(asked.questions, asked.joint)
    if asked.joint is not None:
        together = Mechanism.from_structure(asked.joint.structure, asked.joint.privacy)
        parts = {", ".join(asked.joint.names): together, **parts}
    each = 1 - (1 - options.confidence) / len(parts)  # so that all limits hold together
    of_parts = {name: _audited(options, m, None, each) for name, m in parts.items()}
    text = "\n".join(f"{name}: {one.summary()}" for name, one in of_parts.items())
    said(options, {name: _outcome(one) for name, one in of_parts.items()}, f"{options.file}\n{text}")
    return 0 if all(of_parts.values()) else 1


def _audited(options: argparse.Namespace, mechanism: Mechanism, claim: Notion | None, confidence: float) -> Audit:
    def sample(codes: Codes) -> Codes:
        return sample_codes(mechanism, codes, compiled=options.compiled)

    return audit(mechanism, options.draws, confidence, claim=claim, sample=sample)


def _outcome(found: Audit) -> dict[str, Any]:
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
    return dict(plain(outcome))
