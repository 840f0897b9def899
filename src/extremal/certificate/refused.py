"""How a check ends when it does not succeed."""

from __future__ import annotations

from typing import Any

from extremal.errors import ExtremalError

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
