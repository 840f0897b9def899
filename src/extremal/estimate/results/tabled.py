"""What every result has: the words of statsmodels, a summary with the same head, data frames, a picture, a notebook.

A result says what it is about (`labels`), its points (`estimate`), their `standard_error` and `covariance`, and limits
(`interval`); the rest follows. Points are shown moved into their limits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, MissingDependency
from extremal.estimate.results import plot
from extremal.exact.weights import Floats
from extremal.tables import aligned, shortened, wrapped
from extremal.tables import html as html_table

MOST_SHOWN = 40  # rows of a summary; the rest is counted
_WIDEST = 28  # characters of a label: a row of the widest table stays within 120


class Tabled(ABC):
    """Estimates in a table."""

    n: int

    # -- what a result says itself

    @property
    @abstractmethod
    def labels(self) -> tuple[Any, ...]:
        """What each row is about."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in a few words."""

    @property
    def points(self) -> Floats:
        """One number for each row; `estimate`, flattened."""
        return np.ravel(self.estimate)  # type: ignore[attr-defined]

    @property
    @abstractmethod
    def standard_error(self) -> Floats:
        """Of each point."""

    @property
    @abstractmethod
    def covariance(self) -> Floats:
        """Of the points."""

    @abstractmethod
    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Confidence limits, (low, high) for each."""

    def shown_within(self, limits: Floats) -> Floats:
        """The points that belong beside these limits: each moved into its own."""
        return np.asarray(np.clip(self.points, limits[:, 0], limits[:, 1]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know, in sentences."""
        return ()

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words; empty for a simple sample."""
        return ""

    column = "estimate"  # what the points are called in tables

    # -- what follows

    @property
    def shown(self) -> Floats:
        """The points of tables, frames and plots, each inside its 95% interval."""
        return self.shown_within(self._limits())

    @property
    def nobs(self) -> int:
        """`n`, by the name that statsmodels gives it."""
        return self.n

    @property
    def params(self) -> Any:
        """The points by label, a pandas Series."""
        return pandas().Series(self.points, index=self._index)

    @property
    def bse(self) -> Any:
        """Standard errors by label, a pandas Series."""
        return pandas().Series(np.ravel(self.standard_error), index=self._index)

    def cov_params(self) -> Any:
        """The covariance by label, a pandas DataFrame."""
        return pandas().DataFrame(self.covariance, index=self._index, columns=self._index)

    def conf_int(self, alpha: float = 0.05) -> Any:
        """`interval(1 − alpha)` by label, a pandas DataFrame (as statsmodels has it)."""
        limits = self._limits(1 - alpha)
        return pandas().DataFrame(limits, index=self._index, columns=[0, 1])

    def to_frame(self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas") -> Any:
        """A data frame with a row for each point; `library` is "pandas", "polars" or "pyarrow"."""
        limits = self._limits(level, simultaneous)
        columns = {
            **self._keys(),
            "shown": self.shown_within(limits).tolist(),
            "low": limits[:, 0].tolist(),
            "high": limits[:, 1].tolist(),
            "estimate": self.points.tolist(),
            "standard_error": np.ravel(self.standard_error).tolist(),
        }
        return as_frame(columns, library)

    def summary(self, level: float = 0.95, simultaneous: bool = False) -> str:
        """A table for a terminal: what it is, how many reports, points with their limits, notes."""
        header, body, more = self._cells(level, simultaneous)
        return framed(self.head, aligned(header, body, left=1).split("\n") + more, self._below())

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None) -> Any:
        """Points with intervals: a matplotlib figure, new or that of the given Axes."""
        limits = self._limits(level, simultaneous)
        rows = plot.Bars("", self.labels, self.shown_within(limits), limits)
        return plot.plot([rows], self.head, self.column.replace("_", " "), level, simultaneous, ax)

    @property
    def head(self) -> str:
        """The first line of every summary: what it is, of how many reports, drawn how."""
        return head(f"Estimate: {self.title}", self.n, self.sample)

    def _repr_html_(self) -> str:
        header, body, more = self._cells(0.95, simultaneous=False)
        return html_table(header, body, self.head, [*more, *self._below()])

    def __str__(self) -> str:
        return self.summary()

    def _limits(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """`interval`, a row for each point."""
        return np.reshape(self.interval(level, simultaneous), (-1, 2))

    @property
    def _index(self) -> Any:
        """The labels as a pandas Series has them."""
        return list(self.labels)

    def _keys(self) -> dict[str, list[Any]]:
        """The columns of a frame that say what a row is about."""
        return {"input": list(self.labels)}

    def _named(self, label: Any) -> str:
        """A label as tables show it."""
        return short(label)

    def _below(self) -> list[str]:
        return [f"Note: {note}" for note in self.notes]

    def _cells(self, level: float, simultaneous: bool) -> tuple[list[str], list[list[str]], list[str]]:
        """Header and rows of the table, and how many rows it leaves out."""
        limits = self._limits(level, simultaneous)
        rows = zip(
            self.labels[:MOST_SHOWN],
            self.shown_within(limits),
            limits,
            np.ravel(self.standard_error),
            strict=False,
        )
        body = [
            [self._named(label), f"{point:.4f}", f"{low:.4f} to {high:.4f}", f"{error:.4f}"]
            for label, point, (low, high), error in rows
        ]
        return ["", self.column.replace("_", " "), interval_name(level, simultaneous), "s.e."], body, self._left_out()

    def _left_out(self) -> list[str]:
        left_out = len(self.labels) - MOST_SHOWN
        return [f"… {left_out} more: use to_frame()"] if left_out > 0 else []


def head(title: str, n: int | str, sample: str = "") -> str:
    """The first line of a summary: what it is (an estimate, a test), of what, from how many reports, drawn how.

    >>> head("Estimate: frequencies of 3 inputs", 400, "weights, 20 clusters")
    'Estimate: frequencies of 3 inputs; n = 400 reports (weights, 20 clusters)'
    """
    return f"{title}; n = {n} reports{f' ({sample})' if sample else ''}"


def framed(first: str, lines: list[str], below: list[str]) -> str:
    """The head, a table between two rules, and sentences."""
    rule = "─" * max(map(len, lines))
    return "\n".join([first, rule, *lines, rule, *map(wrapped, below)])


def interval_name(level: float, simultaneous: bool) -> str:
    return f"{'simultaneous ' if simultaneous else ''}{100 * level:.4g}% interval"


def short(label: object) -> str:
    return shortened(" × ".join(map(str, label)) if isinstance(label, tuple) else label, _WIDEST)


def as_frame(columns: dict[str, list[Any]], library: str) -> Any:
    if library not in ("pandas", "polars", "pyarrow"):
        raise InvalidParameter('library must be "pandas", "polars" or "pyarrow"', parameter="library", value=library)
    try:
        if library == "pandas":
            return pandas().DataFrame(columns)
        if library == "polars":
            import polars

            return polars.DataFrame(columns)
        import pyarrow

        return pyarrow.table(columns)
    except ModuleNotFoundError:
        raise MissingDependency(f"a {library} frame needs {library}", hint="pip install 'extremal[frames]'") from None


def pandas() -> Any:
    """The library, or an error that says how to get it."""
    try:
        import pandas as library
    except ModuleNotFoundError:
        raise MissingDependency("a pandas frame needs pandas", hint="pip install 'extremal[frames]'") from None
    return library
