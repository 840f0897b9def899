"""A table of two questions, and what is asked of one: shares, margins, conditional shares, odds ratios."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import NEGLIGIBLE, Flags
from extremal.estimate.intervals.bounded import gaffke_limits, moved_within
from extremal.estimate.intervals.levels import checked_level, each, quantile
from extremal.estimate.intervals.score import score_limits
from extremal.estimate.methods.likelihood import project_onto_simplex
from extremal.estimate.reports.degrees import Degrees
from extremal.estimate.reports.sampling import OneReport, Sampling
from extremal.estimate.results import plot
from extremal.estimate.results.fit import MOST_ENUMERATED, MOST_VALUES
from extremal.estimate.results.functions import FunctionEstimate
from extremal.estimate.results.shares import Share, share_limits
from extremal.estimate.results.tabled import Tabled, as_frame, framed, interval_name, pandas, short
from extremal.exact import matrix_in_order
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label
from extremal.mechanism.structures.structure import refuse_large
from extremal.tables import aligned, preformatted


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two columns.

    Attributes:
        name: of the column.
        inputs: its labels.
        influence: b(y), what a report contributes to each input: a row for each input, a column for each report.
        moments: E b_x(Y)² given each input.
        matrix: the probabilities of reports given each input; None if there are too many reports to list.
        extremes: the smallest and the largest contribution that a report can make to each input, seen or not.
    """

    name: Any
    inputs: tuple[Label, ...]
    influence: Floats
    moments: Floats
    matrix: Floats | None
    extremes: Floats


@dataclass(frozen=True, eq=False)
class CrosstabEstimate(Tabled):
    """Joint frequencies, from `ex.estimate_crosstab`: rows are inputs of the first column, columns of the second.

    Attributes:
        first, second: the two columns.
        table: shares of the pairs of reports, by weight.
        n: number of pairs.
        squares: shares of the pairs by squared weight; as `table` without weights.
        effective_n: Kish's (Σw)²/Σw²; n without weights.
        cells: which cells of the flattened table occur.
        sampling: how their shares deviate between units, if the sample is more than weights.
        reading: sentences on how the rows were read.

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
    cells: Any = field(default=None, repr=False)
    sampling: Sampling | None = field(default=None, repr=False)
    reading: tuple[str, ...] = field(default=(), repr=False)

    @property
    def labels(self) -> tuple[tuple[Label, Label], ...]:
        """Pairs of answers, row by row."""
        return tuple((x, z) for x in self.first.inputs for z in self.second.inputs)

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"joint shares of {self.first.name} × {self.second.name}"

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words."""
        if self.sampling is not None:
            return self.sampling.words
        return "weights" if self.squares is not self.table else ""

    @cached_property
    def estimate(self) -> Floats:
        """The unbiased joint frequencies L₁ F L₂ᵀ; entries may be negative."""
        return self.mean_of(self.table)

    def mean_of(self, table: Floats, power: int = 1) -> Floats:
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

    def _expected(self, p: Floats) -> Floats | None:
        """The shares of the pairs of reports when the answers are distributed as p; None where they are not listed."""
        if self.first.matrix is None or self.second.matrix is None:
            return None
        return np.asarray((self.first.matrix.T @ p @ self.second.matrix).ravel())

    def _given(self, values: Floats) -> Floats:
        """The mean of a number that each pair of reports has, given each pair of answers."""
        q, r = self.first.matrix, self.second.matrix
        return np.asarray(q @ values.reshape(self.table.shape) @ r.T)  # type: ignore[operator,union-attr]

    @cached_property
    def plausible(self) -> Floats:
        """The nearest joint distribution."""
        return project_onto_simplex(self.estimate.ravel()).reshape(self.estimate.shape)

    @cached_property
    def _unit(self) -> Floats:
        """The variance of one pair's contribution to each cell."""
        return self._spread(self.table)

    def _spread(self, table: Floats) -> Floats:
        """The mean squared distance of contributions from the estimate: the larger of the fitted and the seen one."""
        fitted = self._moments(self.plausible) - self.plausible**2
        seen = self.mean_of(table, 2) + self.estimate**2 - 2 * self.mean_of(table) * self.estimate
        return np.asarray(np.maximum(np.maximum(fitted, seen), 0.0))

    @cached_property
    def _variances(self) -> Floats:
        """Of each cell."""
        if self.sampling is None:
            return self._spread(self.squares) / self.effective_n
        privacy = np.maximum(self._moments(self.spread) - self.spread, 0.0)
        moved = self._moved(self.sampling.deviations)
        return self.sampling.floored(moved, privacy.ravel()).reshape(self.estimate.shape)

    def _moved(self, seen: Floats) -> Floats:
        """What changes of the shares of the pairs that occur, a column each, make of the cells."""
        whole = np.zeros((self.table.size, seen.shape[1]))
        whole[self.cells] = seen
        found = np.einsum(
            "xa,abu,zb->xzu", self.first.influence, whole.reshape(*self.table.shape, -1), self.second.influence
        )
        return np.asarray(found.reshape(-1, seen.shape[1]))

    @property
    def standard_error(self) -> Floats:
        """Of each joint frequency."""
        return np.sqrt(self._variances)

    @property
    def covariance(self) -> Floats:
        """Of the joint frequencies, row by row."""
        refuse_large(self.estimate.size, self.estimate.size, "the covariance")
        return self.covariance_of([self._cell(index) for index in np.ndindex(*self.estimate.shape)])

    def _effective(self, level: float) -> Floats:
        """How many independent pairs of equal weight are as precise, for each cell, in intervals of this level."""
        if not self.sample:
            return np.full(self.estimate.shape, self.effective_n)
        ends = np.einsum("ax,bz->xzab", self.first.extremes, self.second.extremes).reshape(self.estimate.size, -1)
        ends = np.column_stack([ends.min(axis=1), ends.max(axis=1)]) - self.estimate.reshape(-1, 1)
        one = OneReport(self._unit.ravel(), ends, 1 / np.ptp(ends, axis=1))
        apart = None if self.sampling is None else self._moved(self.sampling.apart)
        return self._as_precise(one, self._variances.ravel(), level, apart).reshape(self.estimate.shape)

    def effective(
        self,
        contributions: Floats,
        width: float,
        unit: float,
        variance: float,
        level: float,
        inside: Flags | slice = slice(None),
    ) -> float:
        """The same for the mean of a number that each pair of reports has.

        Args:
            contributions: the numbers.
            width: their range given the answers.
            unit: their variance.
            variance: of the mean.
            level: of the intervals.
            inside: the pairs that can have another number than 0.
        """
        if not self.sample:
            return self.effective_n
        ends = np.array([[contributions.min(), contributions.max()]]) - contributions @ self.table.ravel()
        part = [float(shares.ravel()[inside].sum()) for shares in (self.table, self.squares)]
        told = width / np.maximum(np.ptp(ends, axis=1), width)  # not all reports may have occurred
        one = OneReport(np.array([unit]), ends, told, *part)
        apart = None if self.sampling is None else contributions[None, self.cells] @ self.sampling.apart
        return float(self._as_precise(one, np.array([variance]), level, apart)[0])

    def _as_precise(self, one: OneReport, variance: Floats, level: float, apart: Floats | None) -> Floats:
        if self.sampling is None or apart is None:
            return one.weighted_worth(variance, level, self.effective_n)
        return self.sampling.effective(one, variance, level, apart)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Gaffke's limits while pairs are few and listed, else score limits: an array of shape (rows, columns, 2)."""
        p = self.plausible.ravel()
        own, whole = self._own.ravel(), self._moments(self.plausible).ravel()
        others = np.where(p < 1, (whole - own * p) / np.maximum(1 - p, 1e-9), 0.0)
        level = each(level, p.size if simultaneous else 1)
        if self._few:
            b = np.stack([self._worth(self._cell(index)) for index in np.ndindex(*self.estimate.shape)])
            found = gaffke_limits(b, self._effective(level).reshape(-1, 1) * self.table.ravel(), level)
            limits = moved_within(found, self.estimate.ravel(), np.zeros(p.size), np.ones(p.size))
            return limits.reshape(*self.estimate.shape, 2)
        limits = score_limits(
            self.estimate.ravel(),
            self._effective(level).ravel(),
            quantile(level),
            (np.zeros(p.size), np.ones(p.size)),
            p,
            self._unit.ravel(),
            (np.maximum(others, 0.0), whole, own),
        )
        return limits.reshape(*self.estimate.shape, 2)

    def shown_within(self, limits: Floats) -> Floats:
        """The nearest joint distribution, each entry moved into its limits."""
        flat = limits.reshape(-1, 2)
        return np.asarray(np.clip(self.plausible.ravel(), flat[:, 0], flat[:, 1]))

    @property
    def shown(self) -> Floats:
        """The nearest joint distribution as a table, each entry moved into its 95% interval."""
        return self.shown_within(self.interval()).reshape(self.estimate.shape)

    # -- functions

    def linear(self, coefficients: Any) -> FunctionEstimate:
        """Σ a_xz p_xz for a matrix of coefficients; those of a data frame are taken by its labels."""
        matrix = matrix_in_order(coefficients, "coefficients", self.first.inputs, self.second.inputs)
        a = np.asarray(matrix, dtype=np.float64)
        if a.shape != self.estimate.shape:
            raise InvalidParameter(
                f"coefficients must be a matrix of shape {self.estimate.shape}",
                parameter="coefficients.shape",
                value=a.shape,
            )
        value = float((a * self.estimate).sum())
        error = float(np.sqrt(self.covariance_of([a])[0, 0]))
        limits = None
        if self._expected(self.plausible) is not None and np.ptp(a) > 0:
            limits = partial(self._linear_limits, a, value, error)
        return FunctionEstimate(value, value, error, limits, self.degrees, "linear function", self.n, self.sample)

    @property
    def _few(self) -> bool:
        """Whether every pair's contribution can be looked at."""
        return (
            self._expected(self.plausible) is not None
            and self.n <= MOST_ENUMERATED
            and self.estimate.size * self.table.size <= MOST_VALUES
        )

    def _linear_limits(self, a: Floats, value: float, error: float, level: float) -> tuple[float, float]:
        """As of cells; for score limits, second moments of a pair's contribution where a is least, fitted and
        largest."""
        worth = self._worth(a)
        moments = self._given(worth**2)
        p, flat = self.plausible, a.ravel()
        ends = [float(np.average(moments[a == end], weights=p[a == end] + NEGLIGIBLE)) for end in (a.min(), a.max())]
        fitted, whole = float((a * p).sum()), float((moments * p).sum())
        unit = max(whole - fitted**2, 0.0)
        n = self.effective(worth.ravel(), float(np.ptp(a)), unit, error**2, level)
        one = np.ones(1)
        if self._few:
            found = gaffke_limits(worth.reshape(1, -1), n * self.table.reshape(1, -1), level)
            low, high = moved_within(found, one * value, one * flat.min(), one * flat.max())[0].tolist()
            return float(low), float(high)
        limits = score_limits(
            one * value,
            n,
            quantile(level),
            (one * flat.min(), one * flat.max()),
            one * fitted,
            one * unit,
            (one * ends[0], one * whole, one * ends[1]),
        )
        return float(limits[0, 0]), float(limits[0, 1])

    def conditional(self, given: Any, level: float = 0.95) -> Any:
        """Shares of one column's answers within each answer of the column `given`: a pandas data frame with both
        answers, the share, its standard error and its limits.

        Where nobody is estimated to have given an answer, the share is not a number and its limits are 0 and 1; the
        frame's `attrs["notes"]` says so.
        """
        axis = self._axis(given)
        found = [Share(self, index, axis) for index in np.ndindex(*self.estimate.shape)]
        limits = share_limits(found, checked_level(level))
        values = np.array([one.value for one in found])
        columns: dict[str, list[Any]] = {
            **self._keys(),
            "shown": np.clip(values, limits[:, 0], limits[:, 1]).tolist(),
            "share": values.tolist(),
            "standard_error": [one.error for one in found],
            "low": limits[:, 0].tolist(),
            "high": limits[:, 1].tolist(),
        }
        frame = as_frame(columns, "pandas")
        notes = list(dict.fromkeys(one.note for one in found if one.note))
        if notes:
            frame.attrs["notes"] = notes
        return frame

    def share(self, x: Label, z: Label, given: Any) -> FunctionEstimate:
        """The share of the cell (x, z) among those with its answer to `given`: not a number, from 0 to 1, where nobody
        is estimated to have given it."""
        axis, index = self._axis(given), self._place(x, z)
        return Share(self, index, axis).estimate(f"share of {x} × {z} within its {given}")

    def odds_ratio(
        self, rows: tuple[Label, Label] | None = None, columns: tuple[Label, Label] | None = None
    ) -> FunctionEstimate:
        """p₁₁p₂₂/(p₁₂p₂₁) of two answers each (the only two by default); limits from its logarithm."""
        r, c = rows or self._both(self.first), columns or self._both(self.second)
        cells = [self._place(r[i], c[j]) for i in (0, 1) for j in (0, 1)]
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
        variance = float(gradient @ self.covariance_of([self._cell(cell) for cell in cells]) @ gradient)
        error = float(np.sqrt(variance))
        slope = sum(g * self._cell(cell) for g, cell in zip(gradient.tolist(), cells, strict=True))
        limits = partial(self._odds_limits, ratio, error, np.asarray(slope))
        return FunctionEstimate(ratio, ratio, ratio * error, limits, None, "odds ratio", self.n, self.sample)

    def _odds_limits(self, ratio: float, error: float, slope: Floats, level: float) -> tuple[float, float]:
        """Normal ones of the logarithm, at the number of pairs that is as precise."""
        worth = self._worth(slope)
        table, middle = self.table.ravel(), float(worth @ self.table.ravel())
        unit = float(table @ worth**2) - middle**2
        n = self.effective(worth, float(np.ptp(slope)), unit, error**2, level)
        grown = np.sqrt(unit / n) / error if self.sample else 1.0
        factor = np.exp(quantile(checked_level(level)) * error * grown)
        return float(ratio / factor), float(ratio * factor)

    # -- showing

    def _keys(self) -> dict[str, list[Any]]:
        return {str(self.first.name): [x for x, _ in self.labels], str(self.second.name): [z for _, z in self.labels]}

    def summary(self, level: float = 0.95, simultaneous: bool = False) -> str:
        """The table of shares with margins of error, for a terminal."""
        limits = self.interval(level, simultaneous)
        shown = self.shown_within(limits).reshape(self.estimate.shape)
        body = []
        for i, x in enumerate(self.first.inputs):
            body.append([short(x), *(f"{v:.3f}" for v in shown[i])])
            body.append(["", *(f"{a:.3f}–{b:.3f}" for a, b in limits[i])])
        lines = aligned([str(self.first.name), *map(short, self.second.inputs)], body, left=1).split("\n")
        return framed(self.head, lines, [f"Below each share its {interval_name(level, simultaneous)}.", *self._below()])

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None) -> Any:
        """A row for each answer of the first column, a colour for each of the second: a matplotlib figure."""
        limits = self.interval(level, simultaneous)
        shown = self.shown_within(limits).reshape(self.estimate.shape)
        rows = [
            plot.Bars(str(z), self.first.inputs, shown[:, j], limits[:, j]) for j, z in enumerate(self.second.inputs)
        ]
        return plot.plot(rows, self.head, plot.SHARE, level, simultaneous, ax)

    def _repr_html_(self) -> str:
        return preformatted(self.summary())

    def __repr__(self) -> str:
        return f"CrosstabEstimate({self.first.name!r} × {self.second.name!r}, {self.estimate.shape}, n={self.n})"

    # -- inside

    def covariance_of(self, functions: list[Floats]) -> Floats:
        """Of these linear functions: between units; else each variance the larger of that at the fitted distribution
        and that over the reports, with the correlations of the one that has the larger trace."""
        b = np.stack([self._worth(a) for a in functions])
        if self.sampling is not None:
            return self.sampling.covariance_of(b[:, self.cells] @ self.sampling.deviations, self._noise(functions, b))
        seen = _moment(b, self.squares.ravel(), b @ self.table.ravel()) / self.effective_n
        share = self._expected(self.plausible)
        if share is None:
            return seen
        fitted = _moment(b, share, b @ share) / self.effective_n
        whole = seen if np.trace(seen) >= np.trace(fitted) else fitted
        own, larger = np.diagonal(whole), np.maximum(np.diagonal(seen), np.diagonal(fitted))
        scale = np.sqrt(np.divide(larger, own, out=np.ones_like(own), where=own > 0))
        return np.asarray(whole * np.outer(scale, scale))

    def _noise(self, functions: list[Floats], b: Floats) -> Floats:
        """E Cov(B | X, Z) of one pair, by squared weights; 0 where reports are too many to list."""
        share = self._expected(self.spread)
        if share is None:
            return np.zeros((len(functions), len(functions)))
        flat = np.stack([a.ravel() for a in functions])
        return np.asarray((b * share) @ b.T - (flat * self.spread.ravel()) @ flat.T)

    # -- what `Share` asks

    @cached_property
    def spread(self) -> Floats:
        """The nearest joint distribution by squared weights."""
        found = self.estimate if self.squares is self.table else self.mean_of(self.squares)
        return project_onto_simplex(found.ravel()).reshape(found.shape)

    def functions(self, index: tuple[int, int], axis: int) -> tuple[Floats, Floats]:
        """A cell and its margin, as functions of the cells."""
        margin = np.zeros(self.estimate.shape)
        margin[(index[0], slice(None)) if axis == 0 else (slice(None), index[1])] = 1.0
        return self._cell(index), margin

    def contributions(self, index: tuple[int, int], axis: int) -> tuple[Floats, Floats]:
        """What each pair of reports contributes to a cell and to its margin."""
        parts = [self.first.influence[index[0]], self.second.influence[index[1]]]
        top = np.outer(*parts)
        parts[1 - axis] = np.ones(self.table.shape[1 - axis])
        return top.ravel(), np.outer(*parts).ravel()

    def squares_of(self, index: tuple[int, int], axis: int, r: float) -> Floats:
        """The expected square of what a pair of reports contributes to the cell less r times its margin, given each
        pair of answers."""
        parts = [self.first.moments[index[0]].copy(), self.second.moments[index[1]].copy()]
        parts[1 - axis] += r * r
        parts[1 - axis][index[1 - axis]] -= 2 * r
        return np.outer(*parts)

    def unseen(self, index: tuple[int, int], axis: int) -> Floats:
        """Rows (to the cell, to its margin) that hold all that pairs of reports can contribute between them, where not
        all are listed."""
        if self._expected(self.plausible) is not None:
            return np.zeros((0, 2))
        ends = [self.first.extremes[:, index[0]], self.second.extremes[:, index[1]]]
        return np.array([(own * other, own) for own in ends[axis] for other in ends[1 - axis]])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know, in sentences."""
        return self.reading if self.degrees is None else (*self.reading, *self.degrees.notes)

    @property
    def degrees(self) -> Degrees | None:
        """Of freedom of its standard errors, where units are few enough to matter."""
        return None if self.sampling is None else self.sampling.degrees

    def _axis(self, given: Any) -> int:
        names = [self.first.name, self.second.name]
        if given not in names:
            raise InvalidParameter("given must be one of the two columns", parameter="given", value=given)
        return names.index(given)

    @property
    def _index(self) -> Any:
        return pandas().MultiIndex.from_tuples(self.labels, names=[self.first.name, self.second.name])

    def _place(self, x: Label, z: Label) -> tuple[int, int]:
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


@dataclass(frozen=True, eq=False)
class PairEstimate(CrosstabEstimate):
    """Joint frequencies from pairs of reports that were made together: `table` lists the pairs, and `pairs` has their
    probabilities given each pair of answers (the second counts fastest)."""

    pairs: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @cached_property
    def _decoder(self) -> Floats:
        """Least squares at equally likely pairs of answers: unbiased whatever they are."""
        weighted = self.pairs / self.pairs.mean(axis=0)
        return np.asarray(np.linalg.solve(weighted @ self.pairs.T, weighted))

    def _shaped(self, values: Floats) -> Floats:
        return np.asarray(values.reshape(len(self.first.inputs), len(self.second.inputs)))

    def mean_of(self, table: Floats, power: int = 1) -> Floats:
        return self._shaped(self._decoder**power @ table)

    def _moments(self, p: Floats) -> Floats:
        return self._shaped(self._decoder**2 @ (p.ravel() @ self.pairs))

    @property
    def _own(self) -> Floats:
        return self._shaped(np.einsum("cy,cy->c", self._decoder**2, self.pairs))

    def _worth(self, function: Floats) -> Floats:
        return np.asarray(function.ravel() @ self._decoder)

    def _expected(self, p: Floats) -> Floats:
        return np.asarray(p.ravel() @ self.pairs)

    def contributions(self, index: tuple[int, int], axis: int) -> tuple[Floats, Floats]:
        cell, margin = self.functions(index, axis)
        return self._worth(cell), self._worth(margin)

    def squares_of(self, index: tuple[int, int], axis: int, r: float) -> Floats:
        top, bottom = self.contributions(index, axis)
        return self._given((top - r * bottom) ** 2)

    def _given(self, values: Floats) -> Floats:
        return self._shaped(self.pairs @ values)


def _moment(b: Floats, w: Floats, centre: Floats) -> Floats:
    """Σ w (b − centre)(b − centre)ᵀ for shares w."""
    across = np.outer(b @ w, centre)
    return np.asarray((b * w) @ b.T - across - across.T + np.outer(centre, centre))
