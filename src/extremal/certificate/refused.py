"""What a checker raises when a proof does not hold."""

from __future__ import annotations

from extremal.errors import ExtremalError


class Refused(ExtremalError, ValueError):
    """A proof does not prove what it should."""
