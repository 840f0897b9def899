"""What a discovery says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from extremal.estimate.results.heavy import LabelList


@dataclass(frozen=True, kw_only=True)
class Discovered(LabelList):
    """Strings that devices hold beyond doubt, the most frequent first. `str()` is a table for the terminal.

    Made by `HeavyHitters.discover`.

    Attributes:
        labels: the strings.
        estimate: of their shares, unbiased, from the devices that confirm.
        low, high: limits that hold together for all candidates.
        candidates: the strings that were handed over to be confirmed, by how frequent the finding devices made them.
        level: the probability that every label is held by some device and all limits hold.
        n, confirming: how many devices reported, and how many of them confirm.
    """

    candidates: tuple[str, ...]
    confirming: int

    key: ClassVar[str] = "label"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return "strings that devices hold"

    @property
    def notes(self) -> tuple[str, ...]:
        """How many were confirmed, and with which probability."""
        found = f"{len(self)} of {len(self.candidates)} candidates confirmed"
        by = f"by {self.confirming:,} of {self.n:,} devices"
        return (f"{found} {by}; {100 * self.level:g}% for no false label and all limits together",)
