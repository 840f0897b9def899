"""What every proof is: a frozen value that yields a bound, written to JSON from its fields and registered by its class.

`bound(privacy, utility)` is above every private mechanism's value (below, for a cost), whatever numbers the proof
holds: they are choices, never claims. What does not check raises `Refused`. The exact arithmetic of a proof runs at a
working precision that is set here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from extremal.certificate.numbers import READERS, list_from, to_plain
from extremal.errors import MalformedFile
from extremal.privacy import Notion
from extremal.utility import Utility

WORKING_BITS = 256

Number = Fraction
Numbers = tuple[Fraction, ...]
Counts = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
Lines = tuple[tuple[Fraction, Fraction], ...]
Multipliers = tuple[tuple[int, int, int, Fraction], ...]
Trees = tuple[tuple[int, ...], ...]
Whole = int
Wholes = tuple[int, ...]
Table = tuple[tuple[int, ...], ...]
Proofs = tuple["Proof", ...]

PROOFS: dict[str, type[Proof]] = {}
"""Every kind of proof, by the name that files give it."""


@dataclass(frozen=True)
class Proof:
    """Base of the kinds of proof."""

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        PROOFS[cls.kind] = cls

    def bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        """The bound that this proves, rounded to the safe side; infinite when it proves nothing.

        Raises:
            Refused: a precondition fails or a step is not proved.
            NotKnown: the kernel has no enclosure of the utility.
        """
        from flint import ctx

        with ctx.workprec(WORKING_BITS):
            return self._bound(privacy, utility)

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **{f.name: to_plain(getattr(self, f.name)) for f in fields(self)}}


def proof_from_json(content: Any, depth: int = 0) -> Proof:
    """The proof in a parsed file: all of its fields, and nothing else.

    Raises:
        MalformedFile: not a proof, of an unknown kind, with other fields, or nested deeper than two.
    """
    kind = content.get("kind") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in PROOFS or depth > 2:
        raise MalformedFile("a proof must be of a known kind", parameter="kind", value=str(kind)[:60])
    form = PROOFS[kind]
    if set(content) != {"kind", *(f.name for f in fields(form))}:
        raise MalformedFile(
            f"a proof by {kind} has other fields", parameter="fields", value=sorted(map(str, content))[:8]
        )
    read: dict[str, Any] = {}
    for f in fields(form):
        try:
            given = content[f.name]
            if f.type == "Proofs":
                read[f.name] = tuple(proof_from_json(one, depth + 1) for one in list_from(given))
            else:
                read[f.name] = proof_from_json(given, depth + 1) if f.type == "Proof" else READERS[str(f.type)](given)
        except (ValueError, TypeError) as error:
            raise MalformedFile(
                f"a proof by {kind} has a field that cannot be read ({error})", parameter=f.name
            ) from None
    return form(**read)
