"""A table of two questions, and what is asked of one: shares, margins, conditional shares, odds ratios."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.intervals.levels import checked_level, each, quantile
from extremal.estimate.intervals.score import score_limits
from extremal.estimate.methods.likelihood import project_onto_simplex
from extremal.estimate.results.display import as_frame, short
from extremal.estimate.results.functions import FunctionEstimate, fieller
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label
from extremal.tables import preformatted


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two columns.

    Attributes:
        name: of the column.
        inputs: its labels.
        influence: b(y), what a report contributes to each input: a row for each input, a column for each report.
        moments: E b_x(Y)² given each input.
        matrix: the probabilities of reports given each input; None if there are too many reports to list.
    """

    name: Any
    inputs: tuple[Label, ...]
    influence: Floats
    moments: Floats
    matrix: Floats | None


@dataclass(frozen=True, eq=False)
class CrosstabEstimate:
    """Joint frequencies, from `ex.estimate_crosstab`: rows are inputs of the first column, columns of the second.

    Attributes:
        first, second: the two columns.
        table: shares of the pairs of reports, by weight.
        n: number of pairs.
        squares: shares of the pairs by squared weight; as `table` without weights.
        effective_n: Kish's (Σw)²/Σw²; n without weights.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> found = ex.estimate_crosstab({"a": [0, 1, 0, 0], "b": [0, 1, 1, 0]}, {"a": m, "b": None})
    >>> found.n, found.estimate.shape
    (4, (2, 2))
    """

    first: Side
    second: Side
    table: Floats = field(repr=False)
    n: int
    squares: Floats = field(repr=False)
    effective_n: float

    @cached_property
    def estimate(self) -> Floats:
        """The unbiased joint frequencies L₁ F L₂ᵀ; entries may be negative."""
        return self._mean(self.table)

    def _mean(self, table: Floats, power: int = 1) -> Floats:
        """What pairs of reports in these shares contribute to each cell, to a power."""
        return np.asarray(self.first.influence**power @ table @ (self.second.influence**power).T)

    def _moments(self, p: Floats) -> Floats:
        """The expected square of one pair's contribution to each cell when the answers are distributed as p."""
        return np.asarray(self.first.moments @ p @ self.second.moments.T)

    @property
    def _own(self) -> Floats:
        """The same when the answers are those of the cell."""
        return np.outer(np.diagonal(self.first.moments), np.diagonal(self.second.moments))

    def _worth(self, function: Floats) -> Floats:
        """What each pair of reports contributes to a linear function of the cells."""
        return np.asarray((self.first.influence.T @ function @ self.second.influence).ravel())

    def _expected(self) -> Floats | None:
        """The shares of the pairs of reports at the nearest joint distribution; None where they are not listed."""
        if self.first.matrix is None or self.second.matrix is None:
            return None
        return np.asarray((self.first.matrix.T @ self.plausible @ self.second.matrix).ravel())

    @cached_property
    def plausible(self) -> Floats:
        """The nearest joint distribution."""
        return project_onto_simplex(self.estimate.ravel()).reshape(self.estimate.shape)

    @cached_property
    def _unit(self) -> Floats:
        """The variance of one pair's contribution to each cell: the larger of the fitted and the seen."""
        p = self.plausible
        fitted = self._moments(p) - p**2
        seen = self._mean(self.squares, 2) + self.estimate**2 - 2 * self._mean(self.squares) * self.estimate
        return np.asarray(np.maximum(np.maximum(fitted, seen), 0.0))

    @property
    def standard_error(self) -> Floats:
        """Of each joint frequency."""
        return np.sqrt(self._unit / self.effective_n)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Score limits: an array of shape (rows, columns, 2)."""
        p = self.plausible.ravel()
        own, whole = self._own.ravel(), self._moments(self.plausible).ravel()
        others = np.where(p < 1, (whole - own * p) / np.maximum(1 - p, 1e-9), 0.0)
        level = each(level, p.size if simultaneous else 1)
        limits = score_limits(
            self.estimate.ravel(),
            self.effective_n,
            quantile(level),
            (np.zeros(p.size), np.ones(p.size)),
            p,
            self._unit.ravel(),
            (np.maximum(others, 0.0), whole, own),
        )
        return limits.reshape(*self.estimate.shape, 2)

    @property
    def shown(self) -> Floats:
        """The nearest joint distribution, each entry moved into its 95% interval."""
        limits = self.interval()
        return np.asarray(np.clip(self.plausible, limits[..., 0], limits[..., 1]))

    # -- functions

    def linear(self, coefficients: Any) -> FunctionEstimate:
        """Σ a_xz p_xz for a matrix of coefficients."""
        a = np.asarray(coefficients, dtype=np.float64)
        if a.shape != self.estimate.shape:
            raise InvalidParameter(
                f"coefficients must be a matrix of shape {self.estimate.shape}",
                parameter="coefficients.shape",
                value=a.shape,
            )
        value = float((a * self.estimate).sum())
        return FunctionEstimate(value, value, float(np.sqrt(self._covariance([a])[0, 0])))

    def conditional(self, given: Any) -> tuple[Floats, Floats]:
        """Shares of one column's answers within each answer of the column `given`, and their standard errors.

        Each is a ratio p_xz/p_z with a first-order standard error; `share` has Fieller's limits of one of them.
        """
        axis = self._axis(given)
        base = self.estimate.sum(axis=1 - axis, keepdims=True)
        if (base <= 0).any():
            raise InvalidParameter(
                "every answer of the given column must be estimated as positive", parameter="given", value=given
            )
        shares, errors = self.estimate / base, np.zeros(self.estimate.shape)
        for index in np.ndindex(*self.estimate.shape):
            a, b = self._pair(index, axis)
            errors[index] = np.sqrt(self._covariance([(a - shares[index] * b) / base.ravel()[index[axis]]])[0, 0])
        return shares, errors

    def share(self, x: Label, z: Label, given: Any) -> FunctionEstimate:
        """The share of the cell (x, z) among those with its answer to `given`, with Fieller's limits within [0, 1]."""
        axis, index = self._axis(given), self._index(x, z)
        a, b = self._pair(index, axis)
        top, bottom = float((a * self.estimate).sum()), float((b * self.estimate).sum())
        covariance = self._covariance([a, b])
        value = top / bottom if bottom > 0 else float("nan")
        slope = np.array([1.0, -value]) / bottom if bottom > 0 else np.zeros(2)
        return FunctionEstimate(
            value,
            value,
            float(np.sqrt(max(float(slope @ covariance @ slope), 0.0))),
            partial(fieller, top, bottom, covariance, (0.0, 1.0)) if bottom > 0 else lambda _: (0.0, 1.0),
        )

    def odds_ratio(
        self, rows: tuple[Label, Label] | None = None, columns: tuple[Label, Label] | None = None
    ) -> FunctionEstimate:
        """p₁₁p₂₂/(p₁₂p₂₁) of two answers each (the only two by default); limits from its logarithm."""
        r, c = rows or self._both(self.first), columns or self._both(self.second)
        cells = [self._index(r[i], c[j]) for i in (0, 1) for j in (0, 1)]
        values = np.array([self.estimate[cell] for cell in cells])
        if (values <= 0).any():
            raise InvalidParameter(
                "an odds ratio needs four frequencies that are estimated as positive",
                parameter="smallest",
                value=float(values.min()),
                hint="Collect more reports, or merge answers.",
            )
        ratio = float(values[0] * values[3] / (values[1] * values[2]))
        gradient = np.array([1.0, -1.0, -1.0, 1.0]) / values
        variance = float(gradient @ self._covariance([self._cell(cell) for cell in cells]) @ gradient)
        error = float(np.sqrt(variance))
        return FunctionEstimate(ratio, ratio, ratio * error, partial(_log_limits, ratio, error))

    # -- showing

    def to_frame(self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas") -> Any:
        """A data frame with a row for each pair of answers."""
        limits = self.interval(level, simultaneous)
        shown = np.clip(self.plausible, limits[..., 0], limits[..., 1])
        rows = [(x, z) for x in self.first.inputs for z in self.second.inputs]
        columns: dict[str, list[Any]] = {
            str(self.first.name): [x for x, _ in rows],
            str(self.second.name): [z for _, z in rows],
            "shown": shown.ravel().tolist(),
            "low": limits[..., 0].ravel().tolist(),
            "high": limits[..., 1].ravel().tolist(),
            "estimate": self.estimate.ravel().tolist(),
            "standard_error": self.standard_error.ravel().tolist(),
        }
        return as_frame(columns, library)

    def summary(self, level: float = 0.95) -> str:
        """The table of shares with margins of error, for a terminal."""
        limits = self.interval(level)
        shown = np.clip(self.plausible, limits[..., 0], limits[..., 1])
        width = max(16, *(len(short(z)) + 2 for z in self.second.inputs))
        left = max(20, *(len(short(x)) for x in self.first.inputs))
        head = str(self.first.name).ljust(left) + "".join(short(z).rjust(width) for z in self.second.inputs)
        lines = [f"Joint shares of {self.n} pairs of reports ({100 * level:.4g}% limits below each)", head]
        for i, x in enumerate(self.first.inputs):
            lines.append(short(x).ljust(left) + "".join(f"{v:.3f}".rjust(width) for v in shown[i]))
            lines.append(" " * left + "".join(f"{a:.3f}–{b:.3f}".rjust(width) for a, b in limits[i]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return preformatted(self.summary())

    def __repr__(self) -> str:
        return f"CrosstabEstimate({self.first.name!r} × {self.second.name!r}, {self.estimate.shape}, n={self.n})"

    # -- inside

    def _covariance(self, functions: list[Floats]) -> Floats:
        """Of these linear functions: at the fitted distribution or over the reports, whichever has the larger trace."""
        b = np.stack([self._worth(a) for a in functions])
        seen = _moment(b, self.squares.ravel(), b @ self.table.ravel()) / self.effective_n
        share = self._expected()
        if share is None:
            return seen
        fitted = _moment(b, share, b @ share) / self.effective_n
        return seen if np.trace(seen) >= np.trace(fitted) else fitted

    def _axis(self, given: Any) -> int:
        names = [self.first.name, self.second.name]
        if given not in names:
            raise InvalidParameter("given must be one of the two columns", parameter="given", value=given)
        return names.index(given)

    def _index(self, x: Label, z: Label) -> tuple[int, int]:
        for label, side in ((x, self.first), (z, self.second)):
            if label not in side.inputs:
                raise InvalidParameter(f"{side.name!r} has no such answer", parameter="answer", value=label)
        return self.first.inputs.index(x), self.second.inputs.index(z)

    def _both(self, side: Side) -> tuple[Label, Label]:
        if len(side.inputs) != 2:
            raise InvalidParameter(
                f"{side.name!r} has {len(side.inputs)} answers: say which two", parameter="rows or columns", value=None
            )
        return side.inputs[0], side.inputs[1]

    def _cell(self, index: tuple[int, int]) -> Floats:
        a = np.zeros(self.estimate.shape)
        a[index] = 1.0
        return a

    def _pair(self, index: tuple[int, ...], axis: int) -> tuple[Floats, Floats]:
        whole = np.zeros(self.estimate.shape)
        whole[(index[0], slice(None)) if axis == 0 else (slice(None), index[1])] = 1.0
        return self._cell((index[0], index[1])), whole


@dataclass(frozen=True, eq=False)
class PairEstimate(CrosstabEstimate):
    """Joint frequencies from pairs of reports that were made together: `table` lists the pairs, and `pairs` has their
    probabilities given each pair of answers (the second counts fastest)."""

    pairs: Floats = field(repr=False)

    @cached_property
    def _decoder(self) -> Floats:
        """Least squares at equally likely pairs of answers: unbiased whatever they are."""
        weighted = self.pairs / self.pairs.mean(axis=0)
        return np.asarray(np.linalg.solve(weighted @ self.pairs.T, weighted))

    def _cells(self, values: Floats) -> Floats:
        return np.asarray(values.reshape(len(self.first.inputs), len(self.second.inputs)))

    def _mean(self, table: Floats, power: int = 1) -> Floats:
        return self._cells(self._decoder**power @ table)

    def _moments(self, p: Floats) -> Floats:
        return self._cells(self._decoder**2 @ (p.ravel() @ self.pairs))

    @property
    def _own(self) -> Floats:
        return self._cells(np.einsum("cy,cy->c", self._decoder**2, self.pairs))

    def _worth(self, function: Floats) -> Floats:
        return np.asarray(function.ravel() @ self._decoder)

    def _expected(self) -> Floats:
        return np.asarray(self.plausible.ravel() @ self.pairs)


def _moment(b: Floats, w: Floats, centre: Floats) -> Floats:
    """Σ w (b − centre)(b − centre)ᵀ for shares w."""
    across = np.outer(b @ w, centre)
    return np.asarray((b * w) @ b.T - across - across.T + np.outer(centre, centre))


def _log_limits(ratio: float, error: float, level: float) -> tuple[float, float]:
    reach = np.exp(quantile(checked_level(level)) * error)
    return float(ratio / reach), float(ratio * reach)
