"""An upper bound, with where it comes from and the ε for which it is proven."""

from __future__ import annotations

from dataclasses import dataclass

EVERY = "every ε"


@dataclass(frozen=True)
class Bound:
    """An upper bound on the optimum at one ε.

    Attributes:
        name: short, for tables and legends.
        value: the bound.
        statement: what is claimed, in symbols.
        source: where it comes from.
        proven: the ε for which it is proven, in words.
        holds_here: True where that includes this ε, None where the statement says "small (large) enough" only.
        erratum: what was wrong as printed, or "".

    Reference: the `source` of each; made by `ex.theory.converses`.

    >>> import extremal as ex
    >>> ex.theory.converses(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 0.5).tightest.proven
    'ε ≤ 0.887303'
    """

    name: str
    value: float
    statement: str
    source: str
    proven: str = EVERY
    holds_here: bool | None = True
    erratum: str = ""
