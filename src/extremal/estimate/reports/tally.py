"""Reports → how often each occurs, from any container, by stratum and with weights.

Accepted: a list or other iterable, NumPy array, pandas, polars or pyarrow column, a data frame with the name of its
column, a plan of an engine (counted there), a mapping from report to count, or a file. Labels are matched strictly
(True is not 1, "1" is not 1), a missing report is refused, and nothing is ever dropped in silence. Whatever the
container, one batch at a time becomes integer codes and is counted with `bincount`. Counts are matched by label,
columns of pandas by their index.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns.column import distinct, refuse_lazy, refuse_missing
from extremal.columns.engines import engine_of
from extremal.columns.frames import is_frame, pick
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.channels.channel import Channel, Floats
from extremal.estimate.reports.clusters import Sampled
from extremal.estimate.reports.counted import aligned, refuse_uncounted, whole_counts
from extremal.estimate.reports.counting import OTHER_MECHANISM, counted_reports
from extremal.estimate.reports.files import named_files, read_batches
from extremal.estimate.reports.sampling import Sampling
from extremal.mechanism import Mechanism

NO_REPORT = "Leave out those who did not report."
LEAST_WEIGHT = 1e-100  # squares of weights, and sums of 2^53 of them, stay within what floats hold
MOST_REPORTS = 1 << 53  # beyond this, counts are no longer exact as floats


@dataclass
class Tally:
    """How many reports, and the sums of their weights and squared weights, by the channel's key."""

    counts: dict[Hashable, int] = field(default_factory=dict)
    weights: dict[Hashable, float] = field(default_factory=dict)
    squares: dict[Hashable, float] = field(default_factory=dict)
    dropped: int = 0
    sampling: Sampling | None = None

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def effective_n(self) -> float:
        """Kish's (Σw)²/Σw²: n without weights."""
        return sum(self.weights.values()) ** 2 / sum(self.squares.values()) if self.weights else float(self.n)

    def shares(self, squared: bool = False) -> tuple[list[Hashable], Floats]:
        """The keys, and what share of the (squared) weight each has."""
        amounts = (self.squares if squared else self.weights) or self.counts
        values = np.array(list(amounts.values()), dtype=np.float64)
        return list(amounts), values / values.sum()


Tallies = dict[Any, Tally]


def tally(
    reports: Any,
    mechanism: Mechanism,
    channel: Channel,
    *,
    column: str | None,
    weights: Any,
    by: Any,
    counts: bool | str,
    check_hash: bool,
    drop: bool = False,
    sampled: Sampled | None = None,
) -> Tallies:
    """Count `reports` by stratum; without `by` the only stratum is None."""
    tallies: Tallies = {}
    dropped = 0
    if column is not None and weights is None and by is None and not counts and sampled is None and engine_of(reports):
        reports, dropped = counted_reports(reports, column, mechanism)
        if dropped and not drop:
            raise InvalidParameter("reports must not be missing", parameter=column, value=None, hint=NO_REPORT)
    if isinstance(reports, Mapping) or counts is True:
        if weights is not None or by is not None or sampled is not None:
            raise InvalidParameter(
                "a vector or mapping of counts can have neither weights nor strata nor clusters",
                parameter="by" if weights is None else "weights",
                hint='Give raw reports, or a data frame with column="…" and counts="…".',
            )
        tallies[None] = _counted(reports, mechanism, channel)
        tallies[None].dropped = dropped
    else:
        refuse_uncounted(reports, column, counts, mechanism)
        for batch in _batches(reports, mechanism, column, weights, by, check_hash, counts):
            _add(tallies, channel, batch, drop)
            if sampled is not None:
                tallies[None].sampling = sampled.sums(channel, reports, batch, drop)
    total = sum(t.n for t in tallies.values())
    if total == 0:
        raise InvalidParameter("there must be at least one report", parameter="reports", value=[])
    if total > MOST_REPORTS:
        raise InvalidParameter("there may be at most 2^53 reports", parameter="number of reports", value=total)
    return tallies


@dataclass(frozen=True)
class Batch:
    """A piece of the input: reports and what goes with each."""

    reports: Any
    weights: Any
    strata: list[Any] | None
    counts: Any = None


def _batches(
    reports: Any,
    mechanism: Mechanism,
    column: str | None,
    weights: Any,
    by: Any,
    check_hash: bool,
    counts: bool | str,
) -> Iterator[Batch]:
    """Each piece of the input."""
    paths = named_files(reports, "reports")
    if paths is not None:
        if counts:
            raise InvalidParameter(
                "counts cannot be read from a file",
                parameter="counts",
                value=counts,
                hint="Read the file into a data frame.",
            )
        for path in paths:
            for values, batch_weights, strata in read_batches(path, mechanism, column, weights, by, check_hash):
                yield Batch(values, batch_weights, strata)
    else:
        yield _in_memory(reports, column, weights, by, counts)


def _in_memory(reports: Any, column: str | None, weights: Any, by: Any, counts: bool | str) -> Batch:
    if type(reports).__name__ == "Simulated":
        raise InvalidParameter(
            "simulated reports are no release", parameter="reports", value="Simulated", hint="Give its `reports`."
        )
    refuse_lazy(reports, "reports", "with weights, strata or clusters, or without column=, reports must be in memory")
    framed = is_frame(reports)
    if framed and column is None:
        raise InvalidParameter(
            "a data frame needs the name of the column of reports", parameter="column", value=None, hint="column=…"
        )
    strata = None
    if by is not None:
        named = isinstance(by, str) or (framed and isinstance(by, (list, tuple)))
        strata = (
            [pick(reports, name, "by") for name in ([by] if isinstance(by, str) else by)]
            if named
            else [aligned(by, reports, "by")]
        )
    return Batch(
        pick(reports, column, "column") if framed else reports,
        pick(reports, weights, "weights") if isinstance(weights, str) else aligned(weights, reports, "weights"),
        strata,
        pick(reports, counts, "counts") if isinstance(counts, str) else None,
    )


def _counted(reports: Any, mechanism: Mechanism, channel: Channel) -> Tally:
    if isinstance(reports, Mapping):
        labels, numbers = list(reports), list(reports.values())
    elif is_frame(reports):
        raise InvalidParameter(
            "counts=True takes a vector or a mapping",
            parameter="reports",
            value=type(reports).__name__,
            hint='For a data frame name its columns: column="…", counts="…".',
        )
    elif hasattr(reports, "index") and hasattr(reports, "to_numpy"):  # a pandas series: its index holds the labels
        labels, numbers = list(reports.index), reports.to_numpy().tolist()
    else:
        labels, numbers = list(mechanism.outputs), np.asarray(reports).tolist()
        if not isinstance(numbers, list) or len(numbers) != len(labels):
            found = len(numbers) if isinstance(numbers, list) else numbers
            raise InvalidParameter(
                f"counts must have {len(labels)} entries, one for each output", parameter="len(reports)", value=found
            )
    whole = whole_counts(numbers)
    found = Tally()
    for label, count in zip(labels, whole.tolist(), strict=True):
        if count:
            key = _encoded(channel, label.item() if isinstance(label, np.generic) else label)
            found.counts[key] = found.counts.get(key, 0) + count
    return found


def _add(tallies: Tallies, channel: Channel, batch: Batch, drop: bool) -> None:
    """Count one batch into `tallies`."""
    codes, labels = distinct(batch.reports, "reports")
    if not drop:
        refuse_missing(codes, "reports", NO_REPORT)
    w = None if batch.weights is None else checked_weights(batch.weights, codes.size)
    repeats = None if batch.counts is None else whole_counts(batch.counts, codes.size)
    groups, names = _strata(batch.strata, codes.size)
    dropped = int(np.count_nonzero(codes < 0)) if drop else 0
    if dropped:
        kept = codes >= 0
        codes, groups = codes[kept], None if groups is None else groups[kept]
        w, repeats = None if w is None else w[kept], None if repeats is None else repeats[kept]
    cells = codes if groups is None else groups * len(labels) + codes
    shape = (len(names), len(labels))
    size = len(names) * len(labels)
    numbers = _summed(cells, repeats, size).reshape(shape)
    amounts = squares = None
    if w is not None:
        times = w if repeats is None else w * repeats
        amounts = np.bincount(cells, weights=times, minlength=size).reshape(shape)
        squares = np.bincount(cells, weights=times * w, minlength=size).reshape(shape)
    keys = {j: _encoded(channel, labels[j]) for j in np.flatnonzero(numbers.any(axis=0)).tolist()}
    for i, name in enumerate(names):
        into = tallies.setdefault(name, Tally())
        into.dropped += dropped if len(names) == 1 else 0
        for j in np.flatnonzero(numbers[i]).tolist():
            key = keys[j]
            into.counts[key] = into.counts.get(key, 0) + int(numbers[i, j])
            if amounts is not None and squares is not None:
                into.weights[key] = into.weights.get(key, 0.0) + float(amounts[i, j])
                into.squares[key] = into.squares.get(key, 0.0) + float(squares[i, j])


def _summed(cells: npt.NDArray[np.intp], repeats: npt.NDArray[np.int64] | None, size: int) -> npt.NDArray[np.int64]:
    """How often each cell occurs, each row `repeats` times: below 2^53 the floats of `bincount` are exact."""
    if repeats is None:
        return np.bincount(cells, minlength=size).astype(np.int64)
    return np.bincount(cells, weights=repeats, minlength=size).astype(np.int64)


def _encoded(channel: Channel, label: Any) -> Hashable:
    try:
        return channel.encode(label)
    except UnknownLabel:
        plain = getattr(label, "item", lambda: label)()
        raise UnknownLabel.hidden("report", plain, channel.labels.shown(), more=OTHER_MECHANISM) from None


def _strata(columns: Iterable[Any] | None, n: int) -> tuple[npt.NDArray[np.intp] | None, Sequence[Any]]:
    """The stratum of each report as a code, and the names of the strata; tuples when there are several columns."""
    if columns is None:
        return None, (None,)
    codes = np.zeros(n, dtype=np.intp)
    names: list[tuple[Any, ...]] = [()]
    for column in columns:
        more, labels = distinct(column, "by")
        refuse_missing(more, "by", NO_REPORT)
        if more.size != n:
            raise InvalidParameter(
                f"by must have {n} entries, one for each report", parameter="len(by)", value=int(more.size)
            )
        plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
        codes = codes * len(plain) + more
        names = [(*name, label) for name in names for label in plain]
    used, codes = np.unique(codes, return_inverse=True)
    chosen = [names[i] for i in used.tolist()]
    return codes, [name[0] if len(name) == 1 else name for name in chosen]


def checked_weights(weights: Any, n: int) -> Floats:
    """Survey weights as floats: finite, positive, one for each report."""
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("weights must be numbers", parameter="weights", value=weights) from None
    if w.shape != (n,):
        raise InvalidParameter(
            f"weights must have {n} entries, one for each report", parameter="weights.shape", value=w.shape
        )
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)))
    extreme = np.flatnonzero((w < LEAST_WEIGHT) | (w > 1 / LEAST_WEIGHT))
    if extreme.size and not bad.size:
        raise InvalidParameter(
            f"weights must lie between {LEAST_WEIGHT:g} and {1 / LEAST_WEIGHT:g}",
            parameter=f"weights[{extreme[0]}]",
            value=float(w[extreme[0]]),
            hint="Divide them all by their mean: only their ratios matter.",
        )
    if bad.size:
        raise InvalidParameter(
            "weights must be finite and positive",
            parameter=f"weights[{bad[0]}]",
            value=float(w[bad[0]]),
            hint="A respondent that does not count must be left out of the reports.",
        )
    return w
