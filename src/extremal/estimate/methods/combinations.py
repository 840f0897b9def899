"""The combinations of frequencies that a mechanism identifies, with names for people.

Inputs that share a row are only seen together; rows that depend linearly on others are only seen in combinations. Where
nothing is lost the combinations are the inputs themselves and no matrix is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import NotIdentified
from extremal.estimate.channels.channel import Channel
from extremal.exact import as_prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.utility.fisher import by_row

_NAMED = 3  # inputs of a sum that are spelled out
_LISTED = 6  # combinations that an error names


@dataclass(frozen=True, eq=False)
class Combinations:
    """What is estimated from the reports of a mechanism.

    Attributes:
        mechanism, channel: both sides of it.
        names: of what is estimated.
        matrix: how each is made of the rows' probabilities; None if each is its own.
        plain: whether these are the inputs themselves.
        deficient: whether the rows themselves are not identified.
    """

    mechanism: Mechanism
    channel: Channel
    names: tuple[Label, ...]
    matrix: Floats | None
    plain: bool
    deficient: bool = False

    @classmethod
    def of(cls, mechanism: Mechanism, channel: Channel) -> Combinations:
        """All that the mechanism identifies."""
        basis = channel.combinations()
        if basis is None and mechanism.row_of is None:
            return cls(mechanism, channel, mechanism.inputs, None, True)
        rows = _row_names(mechanism)
        names = rows if basis is None else [_name(coefficients, rows) for coefficients in basis]
        return cls(mechanism, channel, tuple(names), basis, False, basis is not None)

    @classmethod
    def inputs(cls, mechanism: Mechanism, channel: Channel, merge: bool = False) -> Combinations:
        """The inputs themselves; with `merge` the combinations of them, where they are not identified.

        Raises:
            NotIdentified: the reports do not determine every frequency; the message says what they determine.
        """
        found = cls.of(mechanism, channel)
        if found.plain:
            return found
        if found.count == 1:
            raise NotIdentified(
                "the reports must depend on the input: every input of this mechanism makes the same reports",
                parameter="k",
                value=mechanism.k,
            )
        if not merge:
            more = f" and {found.count - _LISTED} more" if found.count > _LISTED else ""
            raise NotIdentified(
                f"the reports do not determine every frequency, only {found.count} combinations of the "
                f"{mechanism.k}: {', '.join(map(str, found.names[:_LISTED]))}{more}",
                hint="Pass merge=True to estimate these.",
            )
        return found

    @property
    def count(self) -> int:
        return len(self.names)

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


def row_prior(mechanism: Mechanism, prior: Any) -> Floats:
    """The prior of the rows: uniform over inputs unless given."""
    r = mechanism.row_classes
    if prior is None:
        sizes = np.ones(r) if mechanism.row_of is None else np.bincount(mechanism.row_of, minlength=r)
        return np.asarray(sizes / sizes.sum())
    return by_row(mechanism, as_prior(prior, inputs=mechanism.input_labels).values)


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
