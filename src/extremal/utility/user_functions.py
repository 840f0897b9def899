"""Functions from the user: a sublinear one of columns, or a convex one of mechanisms that obeys data processing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, SumOfColumns, Utility, registered

_TRIALS = 64  # random columns on which homogeneity and subadditivity are tried
_MATRICES = 40  # random mechanisms on which convexity and data processing are tried
_SLACK = 1e-9  # relative: the user's floats may be off by many roundings


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

    def __repr__(self) -> str:
        return f"Sublinear({self.k}, {getattr(self._mu, '__qualname__', 'mu')})"


def _columns(reading: Reading) -> Floats:
    """Columns by levels written out; only a function that must see whole columns needs this."""
    rows = reading.k if reading.row_of is None else int(reading.row_of.max()) + 1
    inside = [(reading.masses(unit) * reading.excess).sum(axis=0) for unit in np.eye(rows)] if reading.masses else []
    return np.asarray(reading.base + np.array(inside))


@registered
class ConvexUtility(Utility):
    """U(Q) for a function of the matrix that is convex and never rises when reports are processed (KOV Theorem 21).

    Convex: U(λQ + (1−λ)Q') ≤ λU(Q) + (1−λ)U(Q') for mechanisms with the same outputs. Data processing: U(QW) ≤ U(Q) for
    every stochastic W. Some staircase mechanism with at most k reports is then best under ε-LDP, and `ex.design` tries
    them all, for at most 5 inputs. Both properties are tried on random mechanisms, which catches mistakes and proves
    nothing: optimality is reported as unverified. KOV Theorem 21 asks for convexity alone; its optimum is then some
    corner of the ε-LDP matrices with at most k reports, which need not be a staircase, so it is not looked for here.

    Guarantee: the value is a float; `ex.verify` says what of it and of its optimum is proved.

    Args:
        k: number of inputs.
        function: takes a k×m array of probabilities with rows that sum to 1, any m; returns a number.

    Reference: docs/design/index.md.

    >>> import extremal as ex
    >>> guess = ex.ConvexUtility(3, lambda matrix: matrix.max(axis=0).sum())
    >>> d = ex.design(ex.LDP(1), guess)
    >>> round(d.value, 9) == round(ex.design(ex.LDP(1), ex.Sublinear(3, lambda q: q.max(axis=0))).value, 9)
    True
    """

    name = "ConvexUtility"
    of_user = True

    def __init__(self, k: int, function: Callable[[Floats], Any]) -> None:
        self.k = as_count(k, "k", 2)
        if not callable(function):
            raise InvalidParameter("function must take a matrix", parameter="function", value=function)
        self._function = function
        least = 1e-6 * abs(self.of_matrix(np.eye(self.k)))  # of what revealing is worth: values below are rounding
        generator = np.random.default_rng(0)  # fixed matrices: a check, not a release
        for _ in range(_MATRICES):
            outputs, concentration = int(generator.integers(1, 2 * self.k + 1)), generator.choice([0.3, 1.0, 5.0])
            one, other = generator.dirichlet(np.full(outputs, concentration), (2, self.k))
            processing = generator.dirichlet(np.full(int(generator.integers(1, outputs + 2)), 0.5), outputs)
            first, second = self.of_matrix(one), self.of_matrix(other)
            slack = _SLACK * (abs(first) + abs(second) + least)
            if self.of_matrix((one + other) / 2) > (first + second) / 2 + slack:
                raise InvalidParameter("function must be convex in the matrix", parameter="function", value=function)
            if self.of_matrix(one @ processing) > first + slack:
                raise InvalidParameter(
                    "function must not rise when reports are processed: U(QW) ≤ U(Q)",
                    parameter="function",
                    value=function,
                    hint="Without that the best mechanism need not be a staircase, and none is looked for.",
                )

    def of_matrix(self, matrix: Floats) -> float:
        """The value of a k×m matrix."""
        value = float(self._function(matrix))
        if not math.isfinite(value):
            raise InvalidParameter("function must return a finite number", parameter="function(matrix)", value=value)
        return value

    def __call__(self, mechanism: Mechanism | Any) -> float:
        matrix = mechanism.matrix if isinstance(mechanism, Mechanism) else np.asarray(mechanism, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != self.k:
            raise InvalidParameter(
                f"the mechanism must have {self.k} inputs, as {self.name} has", parameter="k", value=matrix.shape
            )
        return self.of_matrix(matrix)

    def to_json(self) -> dict[str, Any]:
        """The size and a mark that the function itself is a Python function, which no file holds."""
        name = getattr(self._function, "__qualname__", "function")
        return {"utility": self.name, "k": self.k, "function": f"user function {name}"}

    def __repr__(self) -> str:
        return f"ConvexUtility({self.k}, {getattr(self._function, '__qualname__', 'function')})"
