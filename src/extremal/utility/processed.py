"""Any convex function of mechanisms that obeys data processing, from the user."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.utility.utility import Floats, UserUtility, Utility, registered

_TRIALS, _SLACK = 40, 1e-9  # random mechanisms on which both properties are tried


@registered
class ConvexUtility(Utility):
    """U(Q) for a function of the matrix that is convex and never rises when reports are processed (KOV Theorem 21).

    Convex: U(λQ + (1−λ)Q') ≤ λU(Q) + (1−λ)U(Q') for mechanisms with the same outputs. Data processing: U(QW) ≤ U(Q) for
    every stochastic W. Some staircase mechanism with at most k reports is then best under ε-LDP, and `ex.design` tries
    them all, for at most 5 inputs. Both properties are tried on random mechanisms, which catches mistakes and proves
    nothing: optimality is reported as unverified.

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
        for _ in range(_TRIALS):
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

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Utility:
        return UserUtility(content, as_count(content["k"], "k", 2))

    def __repr__(self) -> str:
        return f"ConvexUtility({self.k}, {getattr(self._function, '__qualname__', 'function')})"
