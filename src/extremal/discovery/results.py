"""What a discovery says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from extremal.estimate.results.tabled import as_frame
from extremal.exact.weights import Floats
from extremal.tables import aligned, number

MOST_SHOWN = 40  # rows of a table; the rest is counted


@dataclass(frozen=True)
class Discovered:
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

    labels: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    candidates: tuple[str, ...]
    level: float
    n: int
    confirming: int

    def __len__(self) -> int:
        return len(self.labels)

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each label."""
        numbers = {"estimate": self.estimate, "low": self.low, "high": self.high}
        return as_frame({"label": list(self.labels), **{k: v.tolist() for k, v in numbers.items()}}, library)

    def __str__(self) -> str:
        rows = zip(self.labels, self.estimate, self.low, self.high, strict=True)
        body = [[label, number(p, 4), number(a, 4), number(b, 4)] for label, p, a, b in rows]
        more = f"\n… and {len(self) - MOST_SHOWN} more" if len(self) > MOST_SHOWN else ""
        last = (
            f"{len(self)} of {len(self.candidates)} candidates confirmed by {self.confirming:,} of {self.n:,} devices; "
            f"{100 * self.level:g}% for no false label and all limits together"
        )
        return f"{aligned(['label', 'share', 'low', 'high'], body[:MOST_SHOWN], left=1)}{more}\n{last}"
