"""The combinations of frequencies that a mechanism identifies, with names for people.

Inputs that share a row are only seen together; rows that depend linearly on others are only seen in combinations. Where
nothing is lost the combinations are the inputs themselves and no matrix is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.estimate.channels.channel import Channel, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label

_NAMED = 3  # inputs of a sum that are spelled out


@dataclass(frozen=True, eq=False)
class Combinations:
    """What is estimated: `names`, and how each is made of the rows' probabilities (None: each is its own)."""

    names: tuple[Label, ...]
    matrix: Floats | None
    plain: bool

    @classmethod
    def of(cls, mechanism: Mechanism, channel: Channel) -> Combinations:
        basis = channel.combinations()
        if basis is None and mechanism.row_of is None:
            return cls(mechanism.inputs, None, True)
        rows = _row_names(mechanism)
        if basis is None:
            return cls(tuple(rows), None, False)
        return cls(tuple(_name(coefficients, rows) for coefficients in basis), basis, False)

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def deficient(self) -> bool:
        """The rows themselves are not identified."""
        return self.matrix is not None

    def of_rows(self, p: Floats) -> Floats:
        return p if self.matrix is None else np.asarray(self.matrix @ p)

    def range(self) -> tuple[Floats, Floats]:
        """The smallest and the largest value that each can have on the simplex."""
        if self.matrix is None:
            return np.zeros(self.count), np.ones(self.count)
        return self.matrix.min(axis=1), self.matrix.max(axis=1)

    def squares(self, p: Floats) -> Floats:
        """E a_X² for X drawn from p: the second moment of each combination of a value that is not randomised."""
        return p if self.matrix is None else np.asarray(self.matrix**2 @ p)

    def rows(self, coefficients: Floats) -> Floats:
        """Coefficients of the combinations (one row each) as coefficients of the mechanism's rows."""
        return coefficients if self.matrix is None else np.asarray(coefficients @ self.matrix)


def _row_names(mechanism: Mechanism) -> list[Any]:
    """For each row the label of its input, or the sum of its inputs' labels."""
    if mechanism.row_of is None:
        return list(mechanism.inputs)
    order = np.argsort(mechanism.row_of, kind="stable")
    sizes = np.bincount(mechanism.row_of, minlength=mechanism.row_classes)
    ends = np.cumsum(sizes)
    names = []
    for size, end in zip(sizes.tolist(), ends.tolist(), strict=True):
        members = [mechanism.input_labels[x] for x in order[end - size : end][: _NAMED + 1].tolist()]
        names.append(members[0] if size == 1 else _sum([str(v) for v in members], size))
    return names


def _sum(terms: list[str], size: int) -> str:
    if size <= _NAMED:
        return " + ".join(terms)
    return f"{' + '.join(terms[: _NAMED - 1])} + {size - _NAMED + 1} more"


def _name(coefficients: Floats, rows: list[Any]) -> Any:
    used = np.flatnonzero(coefficients).tolist()
    if len(used) == 1 and coefficients[used[0]] == 1:
        return rows[used[0]]
    terms = [_term(float(coefficients[i]), rows[i], first=i == used[0]) for i in used]
    if len(terms) <= _NAMED:
        return "".join(terms)
    return f"{''.join(terms[: _NAMED - 1])} + {len(terms) - _NAMED + 1} more"


def _term(coefficient: float, name: Any, first: bool) -> str:
    size = "" if abs(coefficient) == 1 else f"{abs(coefficient):.4g}·"
    sign = ("−" if coefficient < 0 else "") if first else (" − " if coefficient < 0 else " + ")
    return f"{sign}{size}{name}"
