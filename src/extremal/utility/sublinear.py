"""Any sublinear column function from the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, SumOfColumns, UserUtility, Utility, registered

_TRIALS, _SLACK = 64, 1e-9  # random columns on which homogeneity and subadditivity are tried


@registered
class Sublinear(SumOfColumns):
    """U(Q) = Σ_y μ(q_y) for a function μ of columns that is homogeneous and subadditive (KOV Definition 1).

    Both properties are tried on random columns, which catches mistakes and proves nothing; optimality found for it is
    reported as unverified.

    Guarantee: the value is a sum of floats; nothing about its optimum is proved, and `ex.verify` says so.

    Args:
        k: number of inputs.
        mu: takes a k×n array of columns, returns n values.

    >>> import extremal as ex
    >>> largest = ex.Sublinear(3, lambda columns: columns.max(axis=0))
    >>> round(largest(ex.randomized_response(3, 1)), 12)
    1.728350654297
    """

    name = "Sublinear"
    of_user = True

    def __init__(self, k: int, mu: Callable[[Floats], Any]) -> None:
        self.k = as_count(k, "k", 2)
        if not callable(mu):
            raise InvalidParameter("mu must be a function of columns", parameter="mu", value=mu)
        self._mu = mu
        # Fixed columns: a check, not a release.
        columns = np.random.default_rng(0).dirichlet(np.ones(self.k), size=2 * _TRIALS).T
        values = self._call(columns)
        left, right = values[:_TRIALS], values[_TRIALS:]
        both = self._call(columns[:, :_TRIALS] + columns[:, _TRIALS:])
        scale = np.abs(left) + np.abs(right) + 1e-300
        if (both - left - right > _SLACK * scale).any():
            raise InvalidParameter(
                "mu must be subadditive: μ(a+b) ≤ μ(a) + μ(b)",
                parameter="mu(a+b)",
                value=float((both - left - right).max()),
            )
        if (np.abs(self._call(3 * columns) - 3 * values) > _SLACK * np.abs(values) + 1e-300).any():
            raise InvalidParameter("mu must be homogeneous: μ(ca) = c·μ(a) for c > 0", parameter="mu", value=mu)

    def _call(self, columns: Floats) -> Floats:
        values = np.asarray(self._mu(columns), dtype=np.float64)
        if values.shape != (columns.shape[1],) or not np.isfinite(values).all():
            raise InvalidParameter(
                "mu must return one finite value for each column",
                parameter="mu(columns).shape",
                value=values.shape,
                hint="Use axis=0.",
            )
        return values

    def _values(self, reading: Reading) -> Floats:
        columns = reading.base + reading.excess if reading.masses is None else _columns(reading)
        return self._call(columns if reading.row_of is None else columns[reading.row_of])

    def to_json(self) -> dict[str, Any]:
        """The size and a mark that μ itself is a Python function, which no file holds."""
        return {"utility": self.name, "k": self.k, "mu": f"user function {getattr(self._mu, '__qualname__', 'mu')}"}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Utility:
        return UserUtility(content, as_count(content["k"], "k", 2))

    def __repr__(self) -> str:
        return f"Sublinear({self.k}, {getattr(self._mu, '__qualname__', 'mu')})"


def _columns(reading: Reading) -> Floats:
    """Columns by levels written out; only a function that must see whole columns needs this."""
    rows = reading.k if reading.row_of is None else int(reading.row_of.max()) + 1
    inside = [(reading.masses(unit) * reading.excess).sum(axis=0) for unit in np.eye(rows)] if reading.masses else []
    return np.asarray(reading.base + np.array(inside))
