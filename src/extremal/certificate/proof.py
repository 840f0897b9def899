"""A proof is a value: it bounds what any private mechanism can reach, whatever made it.

`bound(privacy, utility)` is above every private mechanism's value for a utility, below for a cost. A checker never
trusts a number in the proof: it may only use it as a choice (a dual vector, a partition, a grid). What does not check
raises `Refused`. Numbers are kept as the text that files hold, floats as they print, so that a proof read from a file
equals the one that was written. A class registers itself in `PROOFS` by its kind; solvers construct it, files store
its fields, `verify` asks it for its bound.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from extremal.certificate import (
    chords,
    class_rays,
    distortion,
    dual,
    hamming,
    information_bounds,
    information_prices,
    leakage_class,
    leakage_divergence,
    leakage_information,
    leakage_symmetric,
    leakage_vertices,
    patterns,
    rays,
    theorem,
)
from extremal.certificate.refused import Refused
from extremal.errors import ExtremalError
from extremal.privacy import PML, Notion
from extremal.utility import Utility

Checker = Callable[[dict[str, Any], Notion, Utility], float]
Texts = tuple[str, ...]

PROOFS: dict[str, type[Proof]] = {}
"""The kinds of proof by name, filled by the classes below."""


def texts(numbers: Iterable[Any]) -> Texts:
    """Floats as they print.

    >>> texts([0.1, 2])
    ('0.1', '2.0')
    """
    return tuple(repr(float(number)) for number in numbers)


@dataclass(frozen=True)
class Proof:
    """What every kind has in common.

    Attributes:
        claimed: the bound that a certificate says this proves; None before anyone claimed one.
    """

    kind: ClassVar[str] = ""
    check: ClassVar[Checker]

    claimed: float | None = field(default=None, kw_only=True)

    def __init_subclass__(cls, kind: str = "", check: Checker | None = None) -> None:
        super().__init_subclass__()
        if kind:
            cls.kind = kind
            PROOFS[kind] = cls
        if check is not None:
            cls.check = staticmethod(check)

    def bound(self, privacy: Notion, utility: Utility) -> float:
        """A bound on what any mechanism that satisfies `privacy` can reach.

        Raises:
            Refused: the proof is about something else, or not whole.
        """
        try:
            return self._bound(privacy, utility)
        except Refused:
            raise
        except (ExtremalError, KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise Refused(str(error)) from error

    def _bound(self, privacy: Notion, utility: Utility) -> float:
        return type(self).check(self._content(), privacy, utility)

    def _content(self) -> dict[str, Any]:
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "claimed"}
        return {name: _plain(value) for name, value in own.items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        """The kind, the fields that are set, and the claimed bound."""
        claim = {} if self.claimed is None else {"bound": repr(self.claimed)}
        return {"kind": self.kind, **self._content(), **claim}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Proof:
        own = {f.name: _frozen(content[f.name]) for f in fields(cls) if f.name in content and f.name != "claimed"}
        return cls(**own, claimed=float(content["bound"]) if "bound" in content else None)


@dataclass(frozen=True)
class ChosenPrior:
    """A prior of a source class: weights on the priors that describe it, or the probabilities themselves."""

    mix: Texts | None = None
    prior: Texts | None = None


@dataclass(frozen=True)
class Unreadable(Proof):
    """A proof of an unknown kind, or one that is not whole: it is kept as it was found, and proves nothing."""

    kind: ClassVar[str] = "an unknown method"

    content: str
    reason: str

    def _bound(self, privacy: Notion, utility: Utility) -> float:
        raise Refused(self.reason)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.content)
        return found


def proof_from_json(content: dict[str, Any]) -> Proof:
    """The proof in a parsed file; what cannot be read is `Unreadable` and will be refused."""
    kind = content.get("kind")
    if kind not in PROOFS:
        return Unreadable(json.dumps(content), f"it is of the unknown kind {kind!r}")
    try:
        return PROOFS[kind].from_json(content)
    except (KeyError, TypeError, ValueError) as error:
        return Unreadable(json.dumps(content), f"it must have the fields of {kind}: {error}")


def _plain(value: Any) -> Any:
    """A field as JSON holds it."""
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Proof):
        return value.to_json()
    if isinstance(value, ChosenPrior):
        return {name: list(found) for name, found in vars(value).items() if found is not None}
    return value


def _frozen(value: Any) -> Any:
    """A field as it is kept."""
    if isinstance(value, list):
        return tuple(_frozen(entry) for entry in value)
    if isinstance(value, dict):
        own = {name: _frozen(entry) for name, entry in value.items()}
        return proof_from_json(value) if "kind" in value else ChosenPrior(**own)
    return value


@dataclass(frozen=True)
class Patterns(Proof, kind="patterns", check=patterns.check):
    """A dual vector against every staircase pattern (ε-LDP, small alphabets)."""

    alpha: Texts
    mix: Texts


@dataclass(frozen=True)
class Rays(Proof, kind="rays", check=rays.check):
    """A dual vector against every extreme ray (metric privacy, small alphabets)."""

    alpha: Texts
    mix: Texts


@dataclass(frozen=True)
class ClassRays(Proof, kind=class_rays.KIND, check=class_rays.check):
    """A dual vector against every extreme ray (PML for a class of priors, small alphabets)."""

    alpha: Texts
    mix: Texts


@dataclass(frozen=True)
class LeakageVertices(Proof, kind=leakage_vertices.KIND, check=leakage_vertices.check):
    """A dual vector against every extreme lift vector (PML, LIP, small alphabets)."""

    alpha: Texts
    mix: Texts


@dataclass(frozen=True)
class LeakageSimplex(Proof, kind=leakage_vertices.SIMPLEX, check=leakage_vertices.check_simplex):
    """The lift vectors form a simplex: one mechanism is best for every utility (PML, LIP)."""


@dataclass(frozen=True)
class LeakageSymmetric(Proof, kind=leakage_symmetric.KIND, check=leakage_symmetric.check):
    """All extreme lift vectors are worth the same (information, uniform prior, PML)."""


@dataclass(frozen=True)
class LeakageChords(Proof, kind=leakage_divergence.KIND, check=leakage_divergence.check):
    """A dual vector for an f-divergence, bounded on chords of f (PML, LIP)."""

    alpha: Texts


@dataclass(frozen=True)
class LeakageKnapsack(Proof, kind=leakage_information.KIND, check=leakage_information.check):
    """A dual vector for information, bounded by a knapsack search that may stop at `target` (PML, LIP)."""

    alpha: Texts
    target: str | None = None


@dataclass(frozen=True)
class OnePrior(Proof, kind=leakage_class.KIND):
    """A proof for one prior of a class bounds the class: what is private for all is private for each (PML)."""

    proof: Proof

    def _bound(self, privacy: Notion, utility: Utility) -> float:
        if not isinstance(privacy, PML):
            raise Refused("a class of priors belongs to PML", parameter="privacy", value=privacy)
        return self.proof.bound(privacy.under(privacy.source.member()), utility)


@dataclass(frozen=True)
class Theorem(Proof, kind="theorem", check=theorem.check):
    """Bins of likelihood ratios, whose best partition is found again (f-divergences, ε-LDP)."""

    edges: tuple[int, ...]
    at: str


@dataclass(frozen=True)
class Dual(Proof, kind="dual", check=dual.check):
    """A dual vector, bounded over supporting lines of f (f-divergences, ε-LDP)."""

    alpha: Texts
    slack: str


@dataclass(frozen=True)
class Chords(Proof, kind="chords", check=chords.check):
    """Nodes of f and a dual vector, with multipliers where the metric is no tree (f-divergences, metric privacy)."""

    steps: Texts
    alpha: Texts
    flows: tuple[tuple[int, int, int, str], ...] | None = None


@dataclass(frozen=True)
class HammingPrior(Proof, kind="hamming", check=hamming.check):
    """A prior of the class, or nothing where ε ≥ 0 is all that is claimed (Hamming distortion, ε-LDP)."""

    mix: Texts | None = None
    prior: Texts | None = None
    zero: bool | None = None
    inside: ChosenPrior | None = None


@dataclass(frozen=True)
class DistortionDual(Proof, kind="distortion", check=distortion.check):
    """A prior of the class and a dual vector, with multipliers of the cone's inequalities (expected distortion)."""

    alpha: Texts
    mix: Texts | None = None
    prior: Texts | None = None
    flows: tuple[tuple[int, int, int, str], ...] | None = None
    shares: tuple[tuple[int, int, str], ...] | None = None


@dataclass(frozen=True)
class Fluid(Proof, kind="fluid", check=information_bounds.fluid):
    """Prices by the tangent of φ up to its contact (information, ε-LDP)."""

    contact: str


@dataclass(frozen=True)
class Affine(Proof, kind="affine", check=information_bounds.affine):
    """Prices that grow linearly with the probability (information, ε-LDP)."""

    slope: str


@dataclass(frozen=True)
class Convex(Proof, kind="convex", check=information_bounds.convex):
    """Prices that are the largest of several lines (information, ε-LDP)."""

    value: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Response(Proof, kind="response", check=information_bounds.response):
    """Randomised response is optimal when merging the two smallest symbols does not pay (information, ε-LDP)."""


@dataclass(frozen=True)
class Prices(Proof, kind="prices", check=information_prices.check):
    """A price for each symbol, checked against every set by branch and bound (information, ε-LDP)."""

    value: str
    slack: str
    prices: Texts
