"""What every proof is: a frozen value that yields a bound; and how a check ends when it does not succeed.

`bound(privacy, goal)` is above every private mechanism's value (below, for a cost), whatever numbers the proof holds:
they are choices, never claims. What does not check raises `Refused`. Values are written to JSON from their fields, read
by the fields' types, and registered by their class under the kind that files give it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, TypeGuard, get_type_hints

from flint import ctx

from extremal.certificate.reading import list_from, to_plain
from extremal.errors import ExtremalError, MalformedFile
from extremal.problem import Goal, Privacy, problem_of

WORKING_BITS = 256  # of balls: four times what the last digit of a double needs, so that sums of millions lose none
DEEPEST = 3  # `one prior` of `squares` of `dual` by a reason

Bound = Fraction | float  # a float only when it is infinite


TOO_LARGE = "too large to check here"
"""How a reason begins when a limit of size, not a fault of the file, leaves a claim undecided."""


class Refused(ExtremalError, ValueError):
    """A proof does not prove what it should: a precondition fails, or an inequality is false or undecided."""

    def __init__(self, requirement: str, parameter: str, value: Any) -> None:
        super().__init__(requirement, parameter=parameter, value=value)


class NotKnown(ExtremalError, ValueError):
    """The kernel has no rule for this: a user's function, a utility or a structure that it cannot enclose."""

    def __init__(self, requirement: str, parameter: str | None = None, value: Any = None) -> None:
        super().__init__(requirement, parameter=parameter, value=value)


class Contradiction(ExtremalError, ArithmeticError):
    """A design and its proof disagree: a defect of this package, never of its user."""


KINDS: dict[str, type[Value]] = {}
"""Every proof and every reason, by the name that files give it."""


@dataclass(frozen=True)
class Value:
    """Base of what a file can name."""

    kind: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            KINDS[cls.kind] = cls

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **{f.name: to_plain(getattr(self, f.name)) for f in fields(self)}}

    def parts(self) -> list[Value]:
        """The proofs and reasons that it holds."""
        held = [getattr(self, f.name) for f in fields(self)]
        return [one for value in held for one in (value if isinstance(value, tuple) else (value,)) if _is_value(one)]

    def work(self, privacy: Privacy, goal: Goal) -> int:
        """What checking this costs, from sizes alone, in the units of `certificate.limits`; here, that of its parts."""
        return sum(part.work(privacy, goal) for part in self.parts())


def _is_value(one: object) -> TypeGuard[Value]:
    return isinstance(one, Value)


class Proof(Value):
    """A bound on what any private mechanism is worth."""

    @property
    def label(self) -> str:
        """Its kind in words, with the reason where it has one."""
        return self.kind

    def bound(self, privacy: object, goal: object) -> Bound:
        """The bound that this proves, rounded to the safe side; infinite when it proves nothing.

        Args:
            privacy: a notion, or what it states.
            goal: a utility, or what it states.

        Raises:
            Refused: a precondition fails or a step is not proved.
            NotKnown: a user's notion or function, which no proof is about.
        """
        notion, wanted = problem_of(privacy), problem_of(goal)
        if notion is None or wanted is None:
            user = privacy if notion is None else goal
            raise NotKnown("the kernel knows no rule for a user's class", "class", type(user).__name__)
        with ctx.workprec(WORKING_BITS):
            return self.prove(notion, wanted)

    @abstractmethod
    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        """`bound`, at a precision that was set."""


@cache
def _hints(form: type) -> dict[str, Any]:
    hints = get_type_hints(form, include_extras=True)
    return {f.name: hints[f.name] for f in fields(form)}


def fields_from_json(form: type, content: Any, depth: int = 0) -> Any:
    """The value of a class from the object of its fields: all of them, and nothing else."""
    hints = _hints(form)
    if not isinstance(content, dict) or set(content) != set(hints):
        raise MalformedFile(f"{form.__name__} has other fields", parameter="fields", value=str(content)[:60])
    read = {}
    for name, hint in hints.items():
        try:
            read[name] = _field(hint, content[name], depth)
        except (ValueError, TypeError) as error:
            raise MalformedFile(f"{form.__name__} has a field that cannot be read ({error})", parameter=name) from None
    return form(**read)


def _field(hint: Any, value: Any, depth: int) -> Any:
    """A field by its type: the reader that it is annotated with, or a value or values within this one."""
    if hint == tuple[Proof, ...]:
        return tuple(value_from_json(part, Proof, depth + 1) for part in list_from(value))
    return value_from_json(value, hint, depth + 1) if isinstance(hint, type) else hint.__metadata__[0](value)


def value_from_json(content: Any, base: type[Value], depth: int = 0) -> Any:
    """The proof or reason in a parsed file.

    Raises:
        MalformedFile: of an unknown kind or the other base, with other fields, or nested deeper than `DEEPEST`.
    """
    kind = content.get("kind") if isinstance(content, dict) else None
    form = KINDS.get(kind) if isinstance(kind, str) else None
    if form is None or not issubclass(form, base) or depth > DEEPEST:
        raise MalformedFile(
            f"a {base.__name__.lower()} must be of a known kind", parameter="kind", value=str(kind)[:60]
        )
    return fields_from_json(form, {name: value for name, value in content.items() if name != "kind"}, depth)


def proof_from_json(content: Any) -> Proof:
    """The proof in a parsed file."""
    proof: Proof = value_from_json(content, Proof)
    return proof
