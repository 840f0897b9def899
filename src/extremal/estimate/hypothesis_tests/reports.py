"""Reports as counts and codes for the tests, read in the same way as for estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from extremal.columns import distinct
from extremal.columns.column import refuse_lazy, refuse_missing
from extremal.columns.frames import pick
from extremal.errors import InvalidParameter, TooLarge, UnknownLabel
from extremal.estimate.channels.channel import ListedReports
from extremal.estimate.reports.counts import refuse_counted_rows
from extremal.estimate.reports.degrees import Degrees
from extremal.estimate.reports.described import group_codes
from extremal.estimate.reports.files import named_files, read_columns
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.sampling import DrawnSample, hidden_variances, moved_share
from extremal.estimate.reports.tally import NO_REPORT, Batch, Reports, Tally, refuse_no_mechanism
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

Codes = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]

MOST_OUTPUTS = 1 << 24  # each has a counter of 8 bytes, and a probability under each hypothesis


def significance(alpha: Any, parameter: str = "alpha") -> float:
    """A probability of error, strictly between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 < alpha < 1:
        raise InvalidParameter(
            f"{parameter} must lie strictly between 0 and 1",
            parameter=parameter,
            value=alpha,
            hint="0.05 for tests; confidence is level=0.95 elsewhere.",
        )
    return float(alpha)


def refuse_uncountable(mechanism: Any, parameter: str = "mechanism") -> None:
    """Raise unless it is a mechanism with outputs that can be counted one by one."""
    refuse_no_mechanism(mechanism, parameter)
    if mechanism.m > MOST_OUTPUTS:
        raise TooLarge("a test counts every output by itself, up to 2^24", parameter="m", value=mechanism.m)


def counted(given: Reports) -> Counts:
    """How often each output was reported, in the order of the outputs; with `by`, one row for each group."""
    refuse_uncountable(given.mechanism)
    tallies = given.tallies(ListedReports(given.mechanism))
    rows = [_row(found, given.mechanism.m) for found in tallies.values()]
    return np.stack(rows) if given.by is not None else rows[0]


@dataclass(frozen=True, eq=False)
class Surveyed:
    """Reports of a sample that is not simple.

    Attributes:
        codes: of the values that occur, for each respondent: a report's, or a pair's.
        values: what each code stands for: positions of outputs (or of groups), a row for each code.
        drawn: how the respondents were sampled.
    """

    codes: Codes
    values: Codes
    drawn: DrawnSample

    @classmethod
    def of(cls, columns: Sequence[Codes], drawn: DrawnSample) -> Surveyed:
        """From the positions of one column, or of several together."""
        values, codes = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        return cls(codes.ravel(), values, drawn)

    @property
    def n(self) -> int:
        """How many reports."""
        return int(self.codes.size)

    @property
    def shares(self) -> Floats:
        """By weight, of each value that occurs."""
        return self.drawn.shares(self.codes, len(self.values))

    @property
    def noise(self) -> float:
        """Σw²/(Σw)²."""
        w = self.drawn.weights
        return float(w @ w / w.sum() ** 2)

    def association_degrees(self, axis: int, scores: Floats) -> Degrees:
        """Of means of products of anything unrelated with these centred scores of a column's positions."""
        return self.drawn.association_degrees(scores[self.values[:, axis]][self.codes])

    def deviations(self, scores: Floats) -> Floats:
        """Of the mean of scores, a row for each value that occurs: a row for each unit, squares add up to the
        variance."""
        return self.drawn.of_labels(self.codes, len(self.values)) @ scores

    def plausible_deviations(self, every: Floats, outputs: Codes, told: Floats, null: float, far: float) -> Floats:
        """The same and more rows, with which each score has at least the variance that it would have `far` standard
        errors away, on the side of its mean under the null hypothesis: units that happen to be alike may hide part.

        Args:
            every: scores of all reports.
            outputs: which of them occur.
            told: the range of each score's mean given the answers over that of the score.
            null: the mean under the null hypothesis.
            far: standard errors.
        """
        scores, drawn = every[outputs], self.drawn
        found = self.deviations(scores)
        mean, variance = self.shares @ scores, (found**2).sum(axis=0)
        end = np.where(mean < null, every.max(axis=0), every.min(axis=0)) - mean
        gaps = end[:, None] - (drawn.strata_apart(self.codes, len(self.values)) @ scores).T
        hidden = hidden_variances(gaps, drawn.noise, drawn.together, told)
        s = moved_share(variance, far, end, hidden)
        more = np.maximum((1 - s) * (variance + s * hidden) - variance, 0.0)
        return np.vstack([found, np.diag(np.sqrt(more))])


def surveyed(given: Reports, sample: Sample) -> Surveyed:
    """Reports beside how each was drawn; with `by`, pairs of a report and its group."""
    refuse_uncountable(given.mechanism)
    batch = given.batch(sample)
    columns = [coded(listed(batch), given.mechanism)]
    groups = given.groups()
    if groups is not None:
        codes = [group_codes(column, batch.codes.size)[0] for column in groups]
        columns.append(np.unique(np.stack(codes), axis=1, return_inverse=True)[1].ravel())
    return Surveyed.of(columns, batch.drawn)


def listed(batch: Batch) -> list[Any]:
    """The reports themselves, those that are missing left out."""
    return [batch.labels[code] for code in batch.codes[batch.kept].tolist()]


def _row(found: Tally, m: int) -> Counts:
    row = np.zeros(m, dtype=np.int64)
    for key, count in found.counts.items():
        row[cast(int, key)] = count
    return row


def coded(values: Any, mechanism: Mechanism, parameter: str = "reports") -> Codes:
    """Each report as its position among the outputs; a missing or unknown one is refused by its position."""
    codes, labels = distinct(values, parameter)
    refuse_missing(codes, parameter, NO_REPORT)
    where = np.zeros(max(1, len(labels)), dtype=np.intp)
    for code in np.unique(codes).tolist():
        try:
            where[code] = mechanism.output_labels.code(labels[code], parameter)
        except UnknownLabel:
            raise UnknownLabel(
                f"{parameter}[{int(np.argmax(codes == code))}] must be an output of the mechanism",
                parameter=parameter,
                hint=f"{_some(mechanism)} Were these reports made by another mechanism?",
            ) from None
    return where[codes]


def _some(mechanism: Mechanism) -> str:
    first = [repr(label) for label, _ in zip(mechanism.output_labels, range(6), strict=False)]
    return f"Outputs: {', '.join(first)}{', …' if mechanism.m > 6 else ''}."


def surveyed_pairs(source: Any, columns: Mapping[str, Mechanism | None], sample: Sample) -> Surveyed:
    """Two columns of a data frame beside how each row was drawn."""
    if named_files(source, "frame") is not None:
        raise InvalidParameter(
            "a sample cannot be read from a file", parameter="frame", hint="Read the file into a data frame."
        )
    (batch,) = _batches(source, columns, check_hash=False)
    found = _coded_pair(batch, columns, {name: {} for name in columns})
    drawn = sample.beside(source).drawn(found[0].size)
    refuse_counted_rows(source, _told(batch, columns), bool(drawn.notes))
    return Surveyed.of(found, drawn)


def crossed(source: Any, columns: Mapping[str, Mechanism | None], check_hash: bool) -> Counts:
    """The table of two columns of a data frame or of files; a privatised column has a row for each output."""
    names = list(columns)
    publics: dict[str, dict[Any, int]] = {name: {} for name in names}
    cells: dict[tuple[int, int], int] = {}
    for batch in _batches(source, columns, check_hash):
        found = _coded_pair(batch, columns, publics)
        refuse_counted_rows(source, _told(batch, columns))
        pairs, numbers = np.unique(np.stack(found), axis=1, return_counts=True)
        for i, j, count in zip(*pairs.tolist(), numbers.tolist(), strict=True):
            cells[i, j] = cells.get((i, j), 0) + count
    sizes = [len(publics[name]) if m is None else m.m for name, m in columns.items()]
    if not cells:
        raise InvalidParameter("there must be at least one report", parameter="frame", value=[])
    table = np.zeros(sizes, dtype=np.int64)
    for (i, j), count in cells.items():
        table[i, j] = count
    return table


def _coded_pair(
    batch: Mapping[str, Any], columns: Mapping[str, Mechanism | None], publics: dict[str, dict[Any, int]]
) -> list[Codes]:
    """Codes of two columns of one length."""
    found = [
        _public(batch[name], name, publics[name]) if m is None else coded(batch[name], m, name)
        for name, m in columns.items()
    ]
    sizes = tuple(codes.size for codes in found)
    if len(set(sizes)) > 1:
        raise InvalidParameter("both columns must be of one length", parameter="lengths", value=sizes)
    return found


def _told(batch: Mapping[str, Any], columns: Mapping[str, Mechanism | None]) -> dict[Any, tuple[Any, int | None]]:
    """Each column with how many values it can take."""
    return {name: (batch[name], None if m is None else m.m) for name, m in columns.items()}


def notes_of(given: Reports, n: int, survey: Surveyed | None = None) -> tuple[str, ...]:
    """Sentences on how n reports were read."""
    return given.look_alike(n) + (() if survey is None else survey.drawn.notes)


def _public(values: Any, name: str, known: dict[Any, int]) -> Codes:
    """Codes of a public column; `known` grows from batch to batch."""
    codes, labels = distinct(values, name)
    refuse_missing(codes, name, NO_REPORT)
    where = np.zeros(max(1, len(labels)), dtype=np.intp)
    for code in np.unique(codes).tolist():
        where[code] = known.setdefault(labels[code], len(known))
    return where[codes]


def _batches(source: Any, columns: Mapping[str, Mechanism | None], check_hash: bool) -> Iterator[Mapping[str, Any]]:
    paths = named_files(source, "frame")
    if paths is None:
        refuse_lazy(source, "frame", "frame must be in memory")
        yield {name: pick(source, name, "columns") for name in columns}
        return
    made = {name: m for name, m in columns.items() if m is not None}
    for path in paths:
        yield from read_columns(path, made, columns, check_hash, "frame")
