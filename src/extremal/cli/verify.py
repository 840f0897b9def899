"""`extremal verify FILE`: are the claims in this mechanism or certificate file true?"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from extremal.certificate import Verdict, Verification, verify
from extremal.certificate.certificate import is_certificate, load_certificate
from extremal.cli.checker import independently
from extremal.cli.printing import add_printing, said
from extremal.errors import ExtremalError, InvalidParameter
from extremal.mechanism import Mechanism
from extremal.mechanism.files import from_json, parse
from extremal.mechanism.labels import count_text
from extremal.paths import refuse_unusable
from extremal.privacy import Notion
from extremal.tables import wrapped
from extremal.theory.shuffle.claims import is_shuffle_claim, read_claim

MARKS = {Verdict.PROVED: "ok ", Verdict.REFUTED: "NO ", Verdict.NOT_PROVEN: "?  ", Verdict.NOTHING: "-  "}


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "verify",
        help="verify the claims of a mechanism or certificate file",
        description="Verify privacy in integer arithmetic and derive the optimality bound again, without a solver.\n"
        "Of two files, a mechanism and a certificate, it is also verified that they belong together. The certificate "
        "of m.json is m.certificate.json beside it, if there is one.",
        epilog="exit codes:\n0 everything claimed is proved\n1 a claim is false or its proof refused\n"
        "2 malformed file or hash mismatch\n3 nothing is false, but something is not proven (a user's function, a "
        "missing proof, no claim, a gap above --gap, a file too large to check here)\n70 a defect of this program",
    )
    verb.add_argument(
        "files", nargs="+", metavar="FILE", help="a mechanism, a certificate, one of each, or a shuffle claim"
    )
    verb.add_argument(
        "--gap", type=float, metavar="GAP", help="require a proof that the mechanism is within this gap of the optimum"
    )
    verb.add_argument(
        "--independent",
        action="store_true",
        help="use the independent checker, which shares no code (extremal checker)",
    )
    add_printing(verb, overwrite=False)
    verb.set_defaults(run=run)


def _chosen(files: list[str]) -> tuple[str, list[str]]:
    """The file that is decided, and what is to be said of the choice.

    Raises:
        InvalidParameter: more files than a mechanism and a certificate.
        MalformedFile: a file is not whole.
    """
    contents = [parse(Path(file)) for file in files]
    if len(files) == 1:
        path = Path(files[0])
        beside = path.with_name(f"{path.stem}.certificate.json")
        if is_certificate(contents[0]) or not beside.is_file():
            return files[0], []
        if _about(parse(beside)) != contents[0].get("hash"):
            return files[0], [f"{beside} is about another mechanism, and is not used"]
        return str(beside), [f"certificate {beside}, found beside the mechanism file, is about it"]
    kinds = [is_certificate(content) for content in contents]
    if len(files) > 2 or sorted(kinds) != [False, True]:
        raise InvalidParameter(
            "verify takes one file, or a mechanism file and a certificate file", parameter="files", value=files[:4]
        )
    mechanism, certificate = kinds.index(False), kinds.index(True)
    return files[certificate], [f"the certificate {files[certificate]} is about {files[mechanism]}"]


def _with_certificate(files: list[str]) -> list[str]:
    """The files, and the certificate that is found beside a single one; a file that is not whole is for the checker."""
    try:
        return list(dict.fromkeys([*files, _chosen(files)[0]]))
    except ExtremalError:
        return files


def _about(content: dict[str, Any]) -> Any:
    """The hash of the mechanism of a certificate."""
    mechanism = content.get("mechanism")
    return mechanism.get("hash") if isinstance(mechanism, dict) else None


def _belong(files: list[str]) -> bool:
    """Whether a certificate is about the very mechanism file, claim included, that is given with it."""
    by_kind = {is_certificate(content): content for content in (parse(Path(file)) for file in files)}
    return len(files) == 1 or _about(by_kind[True]) == by_kind[False].get("hash")


def _read(file: str) -> tuple[Mechanism, Notion | None, str]:
    """The mechanism, its claim, and its hash."""
    content = parse(Path(file))
    if is_certificate(content):
        certificate, claim = load_certificate(content, file)
        return certificate.mechanism, claim, content["mechanism"]["hash"]
    return (*from_json(content, file), content["hash"])


def _shuffled(options: argparse.Namespace) -> int:
    """A claim about shuffled reports: one verdict, about privacy."""
    file = options.files[0]
    claim = read_claim(parse(Path(file)), file)
    outcome = claim.verify()
    content = {
        "proved": bool(outcome),
        "privacy": str(outcome.privacy),
        "reasons": list(outcome.reasons),
        "claim": {"n": claim.n, "epsilon": str(claim.epsilon), "delta": str(claim.delta)},
        "inputs": claim.mechanism.k,
    }
    lines = [f"{file}: {claim}", f"  {MARKS[outcome.privacy]} privacy     {outcome.privacy}"]
    said(options, content, "\n".join([*lines, *(wrapped(reason, " " * 6, " " * 8) for reason in outcome.reasons)]))
    return outcome.exit_code


def run(options: argparse.Namespace) -> int:
    for file in options.files:
        refuse_unusable(Path(file))
    if options.independent:
        if options.gap is not None:
            raise InvalidParameter(
                "--gap is not asked of the checker that stands alone",
                parameter="--gap",
                value=options.gap,
                hint="Leave --independent or --gap out.",
            )
        return independently(_with_certificate(options.files), options.json)
    if len(options.files) == 1 and is_shuffle_claim(parse(Path(options.files[0]))):
        return _shuffled(options)
    return _decided(options)


def _verified(files: list[str]) -> tuple[str, list[str], Verification]:
    """The file that is decided, what is to be said of the others, and the outcome."""
    file, notes = _chosen(files)
    for other in files:
        _read(other)  # both are whole, or there is no verdict
    outcome = verify(file)
    if _belong(files):
        return file, notes, outcome
    apart = "the certificate is about another mechanism, or another claim, than the mechanism file"
    return file, [], replace(outcome, optimality=Verdict.REFUTED, reasons=(*outcome.reasons, apart), interval=None)


def _is_wide(gap: float | None, asked: float | None) -> bool:
    """Whether a gap was asked for, and none as small is proved."""
    return asked is not None and (gap is None or gap > asked)


def _decided(options: argparse.Namespace) -> int:
    """A mechanism, with its certificate where there is one: verdicts about privacy, value and optimality."""
    file, notes, outcome = _verified(options.files)
    mechanism, claim, digest = _read(file)
    wide = _is_wide(outcome.gap, options.gap)
    content = {
        "proved": bool(outcome) and not wide,
        **_stated(outcome),
        "claim": None if claim is None else claim.to_json(),
        "hash": digest,
        "inputs": mechanism.k,
        "outputs": mechanism.m if mechanism.m < 1 << 63 else count_text(mechanism.m),
    }
    lines = [f"{file}: {mechanism.k} inputs, {count_text(mechanism.m)} outputs", *(f"  {note}" for note in notes)]
    lines += _shown(outcome)
    if wide:
        found = "none is proved" if outcome.gap is None else f"{outcome.gap:.3g}"
        lines.append(f"  ?   gap         above {options.gap:g}: {found}")
    said(options, content, "\n".join(lines))
    return outcome.exit_code or (3 if wide else 0)


def _stated(outcome: Verification) -> dict[str, Any]:
    """A verification as fields of JSON."""
    return {
        **{name: str(getattr(outcome, name)) for name in ("privacy", "value", "optimality")},
        "gap": outcome.gap,
        "interval": None if outcome.interval is None else list(outcome.interval),
        **dict(outcome.subject),
        "reasons": list(outcome.reasons),
    }


def _shown(outcome: Verification) -> list[str]:
    """A verification as lines of a terminal."""
    return [
        *(wrapped(text, f"      {name:<10}  ", " " * 18) for name, text in outcome.subject),
        *(
            f"  {MARKS[verdict]} {name:<10}  {verdict}{f': {words}' if words else ''}"
            for name, verdict, words in outcome.lines()
        ),
        *(wrapped(reason, " " * 6, " " * 8) for reason in outcome.reasons),
    ]
