"""`extremal verify FILE`: are the claims in this mechanism or certificate file true?"""

from __future__ import annotations

import argparse
from pathlib import Path

from extremal.certificate import Verdict, verify
from extremal.certificate.certificate import is_certificate, load_certificate
from extremal.cli.checker import independently
from extremal.cli.printing import add_printing, said
from extremal.mechanism import Mechanism
from extremal.mechanism.files import from_json, parse
from extremal.mechanism.labels import count_text
from extremal.privacy import Notion
from extremal.tables import wrapped

MARKS = {Verdict.PROVED: "ok ", Verdict.REFUTED: "NO ", Verdict.NOT_PROVEN: "?  ", Verdict.NOTHING: "-  "}


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "verify",
        help="decide the claims of a mechanism or certificate file",
        description="Decide privacy in integer arithmetic and derive the optimality bound again, without a solver.",
        epilog="exit codes:\n0 everything claimed is proved\n1 a claim is false or its proof refused\n"
        "2 malformed file or hash mismatch\n3 nothing is false, but something is not proven (a user's function, a "
        "missing proof, no claim)\n70 a defect of this program",
    )
    verb.add_argument("file", help="a mechanism or certificate file")
    verb.add_argument(
        "--independent", action="store_true", help="decide by the checker of `extremal checker`, which shares no line"
    )
    add_printing(verb, overwrite=False)
    verb.set_defaults(run=run)


def _read(file: str) -> tuple[Mechanism, Notion | None]:
    content = parse(Path(file))
    if is_certificate(content):
        certificate, claim = load_certificate(content, file)
        return certificate.mechanism, claim
    return from_json(content, file)


def run(options: argparse.Namespace) -> int:
    if options.independent:
        return independently([options.file], options.json)
    mechanism, claim = _read(options.file)
    outcome = verify(options.file)
    verdicts = {"privacy": outcome.privacy, "value": outcome.value, "optimality": outcome.optimality}
    content = {
        "proved": bool(outcome),
        **{name: str(verdict) for name, verdict in verdicts.items()},
        "reasons": list(outcome.reasons),
        "claim": None if claim is None else claim.to_json(),
        "inputs": mechanism.k,
        "outputs": mechanism.m if mechanism.m < 1 << 63 else count_text(mechanism.m),
    }
    lines = [f"{options.file}: {mechanism.k} inputs, {count_text(mechanism.m)} outputs"]
    lines += [f"  {MARKS[verdict]} {name:<10}  {verdict}" for name, verdict in verdicts.items()]
    lines += [wrapped(reason, " " * 6, " " * 8) for reason in outcome.reasons]
    said(options, content, "\n".join(lines))
    return outcome.exit_code
