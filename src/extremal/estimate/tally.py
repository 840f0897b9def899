"""Reports → how often each occurs, from any container, by stratum and with weights.

Accepted: a list or other iterable, NumPy array, pandas, polars or pyarrow column, a data frame with the name of its
column, a mapping from report to count, or a file. Labels are matched strictly (True is not 1, "1" is not 1), a missing
report is refused, and nothing is ever dropped in silence. Whatever the container, one batch at a time becomes integer
codes and is counted with `bincount`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns.column import distinct, refuse_lazy, refuse_missing
from extremal.columns.engines import engine_of
from extremal.columns.frames import pick
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.channels.channel import Channel, Floats
from extremal.estimate.counting import count_reports
from extremal.estimate.files import read_batches
from extremal.mechanism import Mechanism

NO_REPORT = "Leave out those who did not report."
MOST_REPORTS = 1 << 53  # beyond this, counts are no longer exact as floats


@dataclass
class Tally:
    """How many reports, and the sums of their weights and squared weights, by the channel's key."""

    counts: dict[Hashable, int] = field(default_factory=dict)
    weights: dict[Hashable, float] = field(default_factory=dict)
    squares: dict[Hashable, float] = field(default_factory=dict)

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
    counts: bool,
    check_hash: bool,
) -> Tallies:
    """Count `reports` by stratum; without `by` the only stratum is None."""
    tallies: Tallies = {}
    if column is not None and weights is None and by is None and not counts and engine_of(reports) is not None:
        reports = count_reports(reports, column, mechanism)
    if isinstance(reports, Mapping) or counts:
        if weights is not None or by is not None:
            raise InvalidParameter(
                "counts can have neither weights nor strata",
                parameter="by" if weights is None else "weights",
                hint="Give the raw reports.",
            )
        tallies[None] = _counted(reports, mechanism, channel)
    else:
        for values, batch_weights, strata in _batches(reports, mechanism, column, weights, by, check_hash):
            _add(tallies, channel, values, batch_weights, strata)
    total = sum(t.n for t in tallies.values())
    if total == 0:
        raise InvalidParameter("there must be at least one report", parameter="reports", value=[])
    if total > MOST_REPORTS:
        raise InvalidParameter("there may be at most 2^53 reports", parameter="number of reports", value=total)
    return tallies


def _batches(
    reports: Any, mechanism: Mechanism, column: str | None, weights: Any, by: Any, check_hash: bool
) -> Iterator[tuple[Any, Any, list[Any] | None]]:
    """(reports, weights, columns of strata) for each piece of the input."""
    if isinstance(reports, (str, Path)) or (
        isinstance(reports, (list, tuple)) and reports and all(isinstance(r, Path) for r in reports)
    ):
        for path in [reports] if isinstance(reports, (str, Path)) else reports:
            yield from read_batches(Path(path), mechanism, column, weights, by, check_hash)
        return
    refuse_lazy(reports, "reports", "reports must be in memory")
    framed = hasattr(reports, "columns") and hasattr(reports, "shape")
    if framed and column is None:
        raise InvalidParameter(
            "a data frame needs the name of the column of reports", parameter="column", value=None, hint="column=…"
        )
    strata = None
    if by is not None:
        named = isinstance(by, str) or (framed and isinstance(by, (list, tuple)))
        strata = [pick(reports, name, "by") for name in ([by] if isinstance(by, str) else by)] if named else [by]
    yield (
        pick(reports, column, "column") if framed else reports,
        pick(reports, weights, "weights") if isinstance(weights, str) else weights,
        strata,
    )


def _counted(reports: Any, mechanism: Mechanism, channel: Channel) -> Tally:
    if isinstance(reports, Mapping):
        labels, numbers = list(reports), list(reports.values())
    else:
        labels, numbers = list(mechanism.outputs), np.asarray(reports).tolist()
        if not isinstance(numbers, list) or len(numbers) != len(labels):
            found = len(numbers) if isinstance(numbers, list) else numbers
            raise InvalidParameter(
                f"counts must have {len(labels)} entries, one for each output", parameter="len(reports)", value=found
            )
    found = Tally()
    for label, number in zip(labels, numbers, strict=True):
        count = number.item() if isinstance(number, np.generic) else number
        if type(count) is not int or count < 0:
            raise InvalidParameter(
                "counts must be whole and not negative", parameter=f"reports[{label!r}]", value=number
            )
        if count:
            key = channel.encode(label)
            found.counts[key] = found.counts.get(key, 0) + count
    return found


def _add(tallies: Tallies, channel: Channel, values: Any, weights: Any, strata: list[Any] | None) -> None:
    """Count one batch into `tallies`."""
    codes, labels = distinct(values, "reports")
    refuse_missing(codes, "reports", NO_REPORT)
    groups, names = _strata(strata, codes.size)
    cells = codes if groups is None else groups * len(labels) + codes
    shape = (len(names), len(labels))
    numbers = np.bincount(cells, minlength=len(names) * len(labels)).reshape(shape)
    amounts = squares = None
    if weights is not None:
        w = _checked_weights(weights, codes.size)
        amounts = np.bincount(cells, weights=w, minlength=numbers.size).reshape(shape)
        squares = np.bincount(cells, weights=w * w, minlength=numbers.size).reshape(shape)
    keys = {j: _encoded(channel, labels[j]) for j in np.flatnonzero(numbers.any(axis=0)).tolist()}
    for i, name in enumerate(names):
        into = tallies.setdefault(name, Tally())
        for j in np.flatnonzero(numbers[i]).tolist():
            key = keys[j]
            into.counts[key] = into.counts.get(key, 0) + int(numbers[i, j])
            if amounts is not None and squares is not None:
                into.weights[key] = into.weights.get(key, 0.0) + float(amounts[i, j])
                into.squares[key] = into.squares.get(key, 0.0) + float(squares[i, j])


def _encoded(channel: Channel, label: Any) -> Hashable:
    try:
        return channel.encode(label)
    except UnknownLabel as error:
        hint = f"{error.hint or ''} Were these reports made by another mechanism?".strip()
        raise UnknownLabel(
            "reports must be outputs of the mechanism",
            parameter="report",
            value=getattr(label, "item", lambda: label)(),
            hint=hint,
        ) from None


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


def _checked_weights(weights: Any, n: int) -> Floats:
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("weights must be numbers", parameter="weights", value=weights) from None
    if w.shape != (n,):
        raise InvalidParameter(
            f"weights must have {n} entries, one for each report", parameter="weights.shape", value=w.shape
        )
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)))
    if bad.size:
        raise InvalidParameter(
            "weights must be finite and positive",
            parameter=f"weights[{bad[0]}]",
            value=float(w[bad[0]]),
            hint="A respondent that does not count must be left out of the reports.",
        )
    return w
