"""Certificates of shuffled reports: a mechanism, n, ε and δ, decided again from the weights alone.

The claim is that n shuffled reports of the mechanism are (ε,δ)-differentially private. Its verifier searches nothing
but the contour of each integral, which cannot make a bound false: it bounds δ at the claimed ε for every pair of inputs
and every data set, and compares. A claim is *proved* if the bound is at most δ, *refuted* if some data sets have a
larger δ, and *not proven* between.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, ctx, fmpq

from extremal.certificate.verify import Verdict, Verification
from extremal.errors import MalformedFile, PrivacyViolation
from extremal.exact.numbers import decimal_text
from extremal.exact.written import refuse_other_fields, written_fraction
from extremal.mechanism import Mechanism
from extremal.mechanism.files import check_version, content_digest, from_json, refuse_changed, to_json
from extremal.mechanism.writing import write_once
from extremal.privacy import Notion
from extremal.theory.shuffle.accounting import data_sets, exponential, lower_delta, ranked, screened, upper_delta
from extremal.theory.shuffle.binary import BinaryReports
from extremal.theory.shuffle.contour import BITS
from extremal.theory.shuffle.pairs import pairs_of

FORMAT = "extremal-shuffled"
VERSION = (1, 0)
FIELDS = ("format", "version", "mechanism", "n", "epsilon", "delta", "hash")
NUMBER = re.compile(r"[1-9]\d{0,12}", re.ASCII)  # of people
LARGEST_EPSILON = 700  # e^700 is near the largest double


@dataclass(frozen=True, eq=False)
class ShuffleClaim:
    """n shuffled reports of a mechanism are (ε,δ)-differentially private; made by `Shuffled.claim`, read by `ex.load`.

    >>> import extremal as ex
    >>> ShuffleClaim(ex.randomized_response(3, 1), 1000, Fraction("0.2"), Fraction("1e-6")).verify().privacy
    <Verdict.PROVED: 'proved'>

    Attributes:
        mechanism: with exact weights.
        n: people.
        epsilon, delta: exact.
        local: what a file claims of the mechanism itself, undecided; None where the mechanism has its claim.
    """

    mechanism: Mechanism
    n: int
    epsilon: Fraction
    delta: Fraction
    local: Notion | None = None

    def verify(self) -> Verification:
        """Decide the claim in balls, from the weights alone; that of the mechanism itself before."""
        if self.local is not None and not self.local.holds(self.mechanism):
            reason = f"{self.local!r} is false: the level is {self.local.level(self.mechanism)!r}"
            return Verification(Verdict.REFUTED, Verdict.NOTHING, Verdict.NOTHING, (reason,))
        with ctx.workprec(BITS):
            verdict, reason = self._decided()
        return Verification(verdict, Verdict.NOTHING, Verdict.NOTHING, (reason,))

    def _decided(self) -> tuple[Verdict, str]:
        pairs, ratio = pairs_of(self.mechanism.structure), exponential(self.epsilon)
        goal, target = arb(fmpq(self.delta.numerator, self.delta.denominator)), float(self.delta)
        said = f"(ε = {float(self.epsilon):.10g}, δ = {target:g})"
        binary = BinaryReports.of(self.mechanism)
        if binary is not None and self.n > 1 and binary.at_most(self.n, ratio, goal):
            return Verdict.PROVED, f"{self.n:,} shuffled reports are {said}-private: every data set was gone through"
        for pair in ranked(pairs):
            if screened(pair, self.n, ratio) <= goal:
                continue
            if not any(upper_delta(pair, self.n, ratio, target, quick) <= goal for quick in (True, False)):
                break
        else:
            kinds = f"{len(pairs)} kind{'s' * (len(pairs) != 1)} of pairs of inputs"
            return Verdict.PROVED, f"{self.n:,} shuffled reports are {said}-private: bounded for {kinds}"
        for classes in data_sets(pairs):
            if lower_delta(classes, self.n, ratio) > goal:
                return Verdict.REFUTED, f"{self.n:,} shuffled reports are not {said}-private: two data sets show it"
        return Verdict.NOT_PROVEN, f"no bound proves {said} for {self.n:,} shuffled reports, and no data sets refute it"

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": ".".join(str(part) for part in VERSION),
            "mechanism": to_json(self.mechanism),
            "n": str(self.n),
            "epsilon": decimal_text(self.epsilon),
            "delta": decimal_text(self.delta),
        }

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write a JSON file that `extremal verify` decides and `ex.load` reads."""
        content = self._content()
        return write_once(Path(path), {**content, "hash": content_digest(content)}, overwrite)

    def __str__(self) -> str:
        return f"{self.n:,} shuffled reports are ({float(self.epsilon):.10g}, {float(self.delta):g})-private"


def is_shuffle_claim(content: dict[str, Any]) -> bool:
    return content.get("format") == FORMAT


def read_claim(content: dict[str, Any], source: str) -> ShuffleClaim:
    """The claim that a parsed file makes, undecided.

    Raises:
        MalformedFile: not such a file, corrupted, or of a newer major version.
    """
    check_version(content, source, FORMAT, VERSION, "a file of shuffled reports")
    refuse_other_fields(content, FIELDS, "a claim about shuffled reports")
    refuse_changed(content)
    inside, n = content["mechanism"], content["n"]
    if not isinstance(inside, dict):
        raise MalformedFile("a claim needs a mechanism", parameter="mechanism", value=type(inside).__name__)
    if not isinstance(n, str) or NUMBER.fullmatch(n) is None:
        raise MalformedFile("n must be a string of at most 13 digits", parameter="n", value=str(n)[:60])
    epsilon, delta = (written_fraction(content[name], name) for name in ("epsilon", "delta"))
    for name, fits in (("epsilon", 0 <= epsilon <= LARGEST_EPSILON), ("delta", 0 < delta < 1)):
        if not fits:
            required = f"0 ≤ ε ≤ {LARGEST_EPSILON} and 0 < δ < 1 are required"
            raise MalformedFile(required, parameter=name, value=content[name])
    mechanism, local = from_json(inside, source)
    return ShuffleClaim(mechanism, int(n), epsilon, delta, local)


def proved_claim(content: dict[str, Any], source: str) -> ShuffleClaim:
    """The claim of a file, if it is proved.

    Raises:
        PrivacyViolation: it is refuted, or not proven.
    """
    claim = read_claim(content, source)
    found = claim.verify()
    if not found:
        raise PrivacyViolation(found.reasons[0], parameter="epsilon", value=float(claim.epsilon))
    return claim if claim.local is None else replace(claim, mechanism=claim.mechanism.claiming(claim.local), local=None)
