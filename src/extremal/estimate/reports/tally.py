"""Reports → how often each occurs, from any container, by group and with weights.

Accepted: a list or other iterable, NumPy array, pandas, polars or pyarrow column, a data frame with the name of its
column, a plan of an engine (counted there), a mapping from report to count, or a file. Labels are matched strictly
(True is not 1, "1" is not 1), a missing report is refused, and nothing is ever dropped in silence. Whatever the
container, one batch at a time becomes integer codes and is counted with `bincount`. Counts are matched by label,
columns of pandas by their index.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns.column import Simulated, distinct, refuse_lazy, refuse_missing
from extremal.columns.engines import engine_of
from extremal.columns.frames import column_of, is_frame, is_name, pick, refuse_other_orders
from extremal.columns.lists import Codes, plain
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.channels.channel import Channel, Encoder, ListedReports
from extremal.estimate.reports.counts import (
    OTHER_MECHANISM,
    counted_reports,
    given_counts,
    refuse_counted_rows,
    refuse_uncounted,
    whole_counts,
)
from extremal.estimate.reports.degrees import Degrees
from extremal.estimate.reports.described import Joint, group_codes
from extremal.estimate.reports.files import column_names, named_files, only_column, read_columns
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.sampling import FINITE, DrawnSample, Sampling
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

FLOATS = "Beside missing values pandas makes whole numbers floats: use .astype('Int64')."
NO_REPORT = "Leave out those who did not report."
FEWEST = 2  # reports: one says nothing about its own spread
MOST_REPORTS = 1 << 53  # beyond this, counts are no longer exact as floats


@dataclass
class Tally:
    """How many reports, and the sums of their weights and squared weights, by the channel's key."""

    counts: dict[Hashable, int] = field(default_factory=dict)
    weights: dict[Hashable, float] = field(default_factory=dict)
    squares: dict[Hashable, float] = field(default_factory=dict)
    dropped: int = 0
    sampling: Sampling | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of_counts(cls, counts: Iterable[tuple[Any, int]], encoder: Encoder, dropped: int = 0) -> Tally:
        """From pairs of a report and how often it occurred."""
        found = cls(dropped=dropped)
        for label, count in counts:
            if count:
                found.add(_encoded(encoder, label), count)
        return found

    def add(self, key: Hashable, count: int, weight: float | None = None, square: float | None = None) -> None:
        """`count` more reports, with the sums of their weights and squared weights if they have any."""
        self.counts[key] = self.counts.get(key, 0) + count
        if weight is not None and square is not None:
            self.weights[key] = self.weights.get(key, 0.0) + weight
            self.squares[key] = self.squares.get(key, 0.0) + square

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def effective_n(self) -> float:
        """Kish's (Σw)²/Σw²: n without weights."""
        return sum(self.weights.values()) ** 2 / sum(self.squares.values()) if self.weights else float(self.n)

    def independent(self, channel: Channel | ListedReports, sampled: Floats, words: str = "") -> Sampling:
        """How the statistic deviates if every report was drawn by itself: n/(n − 1) Σ_y g_y (s_y − s)(s_y − s)ᵀ/n, a
        column for each report that occurs; g are shares by squared weight."""
        keys, g = self.shares(squared=True)
        whole = channel.statistic(*self.shares())
        apart = np.column_stack([channel.statistic([key], np.ones(1)) for key in keys]) - whole[:, None]
        n, noise = self.n, 1 / self.effective_n
        scale = np.sqrt(g * noise * n / max(n - 1, 1))
        population = round(n / float(sampled[0])) if sampled[0] > 0 else None
        return Sampling(
            apart * scale,
            np.zeros(g.size, np.intp),
            sampled,
            np.array([noise]),
            np.zeros((whole.size, 1)),
            np.zeros(1),
            Degrees(max(n - 1.0, 1.0)),
            words,
            population,
        )

    def shares(self, squared: bool = False) -> tuple[list[Hashable], Floats]:
        """The keys, and what share of the (squared) weight each has."""
        amounts = (self.squares if squared else self.weights) or self.counts
        values = np.array(list(amounts.values()), dtype=np.float64)
        return list(amounts), values / values.sum()


@dataclass(frozen=True, eq=False)
class Reports:
    """Reports as a caller gives them: where they are, what made them, how they are read.

    Attributes:
        source: a container, a data frame or plan, a mapping from report to count, or the path of a file.
        mechanism: what made them.
        column: of the reports in a frame or file.
        by: groups that are counted each by itself: a column, its name, or several names.
        counts: True if `source` holds counts, or the column that says how often each row occurred.
        drop: whether missing reports are left out and counted; else they are refused.
        check_hash: refuse a file that does not record the mechanism's hash.
    """

    source: Any
    mechanism: Mechanism
    column: str | None = None
    by: Any = None
    counts: bool | str = False
    drop: bool = False
    check_hash: bool = True

    def __post_init__(self) -> None:
        refuse_no_mechanism(self.mechanism)
        if isinstance(self.by, (list, tuple)) and not self.by:
            raise InvalidParameter(
                "by must name a column, or give the group of each report", parameter="by", value=self.by
            )

    def tally(self, encoder: Encoder) -> Tally:
        """All reports together, for what needs no more than counts."""
        return self.tallies(encoder)[None]

    def tallies(self, encoder: Encoder, weights: Any = None) -> dict[Any, Tally]:
        """A tally for each group of `by`; without it the only group is None."""
        found: dict[Any, Tally] = {}
        if self._in_engine and weights is None:
            found[None] = self._counted_there(encoder)
        elif self._counted:
            if weights is not None or self.by is not None:
                self._refuse_columns("by" if weights is None else "weights")
            found[None] = Tally.of_counts(given_counts(self.source, self.mechanism), encoder)
        else:
            for batch in self._batches(Sample(weights=weights)):
                batch.add_to(found, encoder, self.drop)
        for one in _refuse_number(found).values():
            one.notes += self.look_alike(one.n)
        return found

    def _counted_there(self, encoder: Encoder) -> Tally:
        """The tally of a plan, whose engine counts."""
        counts, missing = counted_reports(self.source, str(self.column), self.mechanism)
        if missing and not self.drop:
            raise InvalidParameter("reports must not be missing", parameter=self.column, value=None, hint=NO_REPORT)
        return Tally.of_counts(counts.items(), encoder, missing)

    def sampled(self, channel: Channel | ListedReports, sample: Sample) -> dict[Any, Tally]:
        """The tallies, with what an estimate needs to know of the sample."""
        if sample.simple:
            return self.tallies(channel, sample.weights)
        if self.by is not None:
            raise InvalidParameter(
                "by cannot be combined with more of a sample than weights",
                parameter="by",
                hint="Shares within groups that may share clusters: ex.estimate_crosstab(frame, {column: mechanism, "
                "by: None}, sample=…).conditional(by).",
            )
        if sample.independent:
            found = self.tallies(channel)
            one = found[None]
            one.sampling = one.independent(channel, sample.sampled([None], np.array([one.n])), FINITE)
            return found
        batch = self.batch(sample)
        found = {}
        batch.add_to(found, channel, self.drop)
        one = _refuse_number(found)[None]
        one.notes += self.look_alike(one.n)
        used, codes = np.unique(batch.codes[batch.kept], return_inverse=True)
        columns = [channel.statistic([_encoded(channel, batch.labels[code])], np.ones(1)) for code in used.tolist()]
        one.sampling = batch.drawn.sampling(codes, used.size, np.column_stack(columns))
        return found

    def batch(self, sample: Sample) -> Batch:
        """All reports in memory, beside how each was drawn."""
        if self._counted:
            self._refuse_columns("sample" if sample.weights is None else "weights")
        if isinstance(self.counts, str):
            raise InvalidParameter(
                "counts have no clusters or strata", parameter="counts", hint="Give the raw reports."
            )
        (batch,) = self._batches(sample)
        if not self.drop:
            refuse_missing(batch.codes, "reports", NO_REPORT)
        return batch

    @property
    def _counted(self) -> bool:
        return isinstance(self.source, Mapping) or self.counts is True

    @property
    def _in_engine(self) -> bool:
        """Whether nothing is needed but counts of one column of a plan."""
        return self.column is not None and self.by is None and not self.counts and engine_of(self.source) is not None

    def _refuse_columns(self, parameter: str) -> None:
        raise InvalidParameter(
            "a vector or mapping of counts can have neither weights nor strata nor clusters",
            parameter=parameter,
            hint='Give raw reports; with groups or weights alone, a data frame with column="…" and counts="…".',
        )

    def _batches(self, sample: Sample) -> Iterator[Batch]:
        """Each piece of raw reports."""
        refuse_uncounted(self.source, self.counts, self.mechanism)
        paths = named_files(self.source, "reports")
        if paths is None:
            yield self._in_memory(sample)
            return
        for path in paths:
            yield from self._in_file(path, sample)

    def _in_file(self, path: Path, sample: Sample) -> Iterator[Batch]:
        if self.counts or not sample.simple:
            raise InvalidParameter(
                f"{'counts' if self.counts else 'strata and clusters'} cannot be read from a file",
                parameter="reports",
                value=str(path),
                hint="Read the file into a data frame.",
            )
        weights, groups = column_names(sample.weights, "weights"), column_names(self.by, "by")
        column = only_column(path) if self.column is None else self.column
        made = {column: self.mechanism}
        for batch in read_columns(path, made, [*weights, *groups], self.check_hash, "reports"):
            drawn = Sample(_typed(batch[weights[0]])) if weights else Sample()
            found = Batch.of(batch[column], drawn, [batch[name] for name in groups] if groups else None)
            self._refuse_counted(found, batch[column])
            yield found

    def _in_memory(self, sample: Sample) -> Batch:
        source = self.source
        if isinstance(source, Simulated):
            raise InvalidParameter(
                "simulated reports are no release", parameter="reports", value="Simulated", hint="Give its `reports`."
            )
        refuse_lazy(
            source, "reports", "with weights, strata or clusters, or without column=, reports must be in memory"
        )
        framed = is_frame(source)
        if framed and self.column is None:
            raise InvalidParameter(
                "a data frame needs the name of the column of reports",
                parameter="column",
                value=None,
                hint='Give column="answer".',
            )
        reports, groups = pick(source, self.column, "column") if framed else source, self.groups()
        refuse_other_orders(source, {**sample.columns, **{f"by[{i}]": one for i, one in enumerate(groups or [])}})
        batch = Batch.of(
            reports,
            sample.beside(source),
            groups,
            pick(source, self.counts, "counts") if isinstance(self.counts, str) else None,
        )
        self._refuse_counted(batch, reports)
        return batch

    def _refuse_counted(self, batch: Batch, reports: Any) -> None:
        """Raise for a table of counts that would be read as raw reports."""
        if self.counts:
            return
        columns: dict[Any, tuple[Any, int | None]] = {
            "reports" if self.column is None else self.column: (reports, self.mechanism.m)
        }
        names = self.by if isinstance(self.by, (list, tuple)) else [self.by]
        for i, group in enumerate(batch.groups or []):
            named = is_frame(self.source) and is_name(names[i])
            columns[names[i] if named else f"by[{i}]"] = (group, None)
        refuse_counted_rows(self.source, columns, bool(batch.notes))

    def look_alike(self, n: int) -> tuple[str, ...]:
        """A note where reports could be counts: as many whole numbers as outputs, given as numbers."""
        labels = self.mechanism.output_labels
        numbers = not self._counted and not self.counts and not is_frame(self.source) and self.by is None
        if not (numbers and n == self.mechanism.m > 2 and labels.numbered):
            return ()
        return (f"There are as many reports as outputs, {n}, and both are whole numbers: for counts pass counts=True.",)

    def groups(self) -> list[Any] | None:
        """The columns of `by`: several by their names in a frame, or one."""
        if self.by is None:
            return None
        if isinstance(self.by, list) and self.by and not isinstance(self.by[0], (str, int, float, bool, tuple)):
            return [column_of(self.source, one, f"by[{i}]") for i, one in enumerate(self.by)]  # columns themselves
        if is_frame(self.source) and isinstance(self.by, (list, tuple)):
            return [pick(self.source, name, "by") for name in self.by]
        return [column_of(self.source, self.by, "by")]


@dataclass(frozen=True, eq=False)
class Batch:
    """A piece of the input as codes, with what goes with each report.

    Attributes:
        codes, labels: labels[codes[i]] is report i; negative where it is missing.
        sample: how the respondents were sampled.
        groups: columns of the groups to be counted by themselves.
        repeats: how often each report occurred.
    """

    codes: Codes
    labels: Sequence[Any]
    sample: Sample
    groups: list[Any] | None
    repeats: npt.NDArray[np.int64] | None

    @classmethod
    def of(cls, reports: Any, sample: Sample, groups: list[Any] | None, counts: Any = None) -> Batch:
        """Refuses counts that do not go with the reports."""
        codes, labels = distinct(reports, "reports")
        repeats = None if counts is None else whole_counts(counts, codes.size)
        return cls(codes, labels, sample, groups, repeats)

    @cached_property
    def kept(self) -> Any:
        """Which reports are not missing."""
        return self.codes >= 0

    @cached_property
    def drawn(self) -> DrawnSample:
        """How those whose report is not missing were sampled; refuses weights that do not go with the reports."""
        return self.sample.drawn(self.codes.size, self.kept)

    @property
    def _weighted(self) -> bool:
        return not self.sample.empty and self.drawn.weighted

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether weights look like counts; beside counts they are weights."""
        return self.drawn.notes if self._weighted and self.repeats is None else ()

    def add_to(self, tallies: dict[Any, Tally], encoder: Encoder, drop: bool) -> None:
        """Count the reports; the missing ones are left out with `drop`, else refused."""
        if not drop:
            refuse_missing(self.codes, "reports", NO_REPORT)
        groups, names = _group_names(self.groups, self.codes.size)
        if len(names) == 1:
            tallies.setdefault(names[0], Tally()).dropped += int(np.count_nonzero(~self.kept))
        numbers, amounts, squares = self._sums(groups, len(names))
        occur = np.flatnonzero(numbers.any(axis=0)).tolist()
        keys = {j: _encoded(encoder, self.labels[j]) for j in occur}
        for i, name in enumerate(names):
            into = tallies.setdefault(name, Tally())
            into.notes = self.notes
            for j in np.flatnonzero(numbers[i]).tolist():
                sums = () if amounts is None else (float(amounts[i, j]), float(squares[i, j]))
                into.add(keys[j], int(numbers[i, j]), *sums)

    def _sums(self, groups: Codes | None, count: int) -> tuple[Any, Any, Any]:
        """How often each label occurs in each group, and the sums of weights and of squared weights, if there are."""
        shape = (count, len(self.labels))
        cells = self.codes if groups is None else groups * len(self.labels) + self.codes
        if not self.kept.all():
            cells = cells[self.kept]

        def summed(amounts: Any) -> Any:
            return np.bincount(cells, weights=amounts, minlength=shape[0] * shape[1]).reshape(shape)

        repeats = None if self.repeats is None else self.repeats[self.kept]
        numbers = summed(repeats).astype(np.int64)  # below 2^53 the floats of `bincount` are exact
        if not self._weighted:
            return numbers, None, None
        w = self.drawn.weights
        times = w if repeats is None else w * repeats
        return numbers, summed(times), summed(times * w)


def _typed(column: Any) -> Any:
    """Weights of a file; a file of text has no types."""
    if not isinstance(column, list):
        return column
    try:
        return [None if value is None else float(value) for value in column]
    except ValueError:
        return column


def refuse_no_mechanism(mechanism: Any, parameter: str = "mechanism") -> None:
    """Raise unless it is a mechanism."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            f"{parameter} must be a Mechanism",
            parameter=parameter,
            value=type(mechanism).__name__,
            hint="Mechanism.from_matrix makes one of a matrix, ex.load reads one from a file.",
        )


def _refuse_number(tallies: dict[Any, Tally]) -> dict[Any, Tally]:
    total = sum(t.n for t in tallies.values())
    if total == 0:
        raise InvalidParameter("there must be at least one report", parameter="reports", value=[])
    if total > MOST_REPORTS:
        raise InvalidParameter("there may be at most 2^53 reports", parameter="number of reports", value=total)
    return tallies


def _encoded(encoder: Encoder, label: Any) -> Hashable:
    try:
        return encoder.encode(label)
    except UnknownLabel:
        value = plain(label)
        whole = isinstance(value, float) and value.is_integer() and encoder.labels.find(int(value)) is not None
        more = FLOATS if whole else OTHER_MECHANISM
        raise UnknownLabel.hidden("report", value, encoder.labels.shown(), more=more) from None


def _group_names(columns: list[Any] | None, n: int) -> tuple[Codes | None, Sequence[Any]]:
    """The group of each report as a code, and the names of the groups; tuples when there are several columns."""
    return (None, (None,)) if columns is None else group_codes(Joint(tuple(columns)), n)
