"""Counts of reports: made in the engine that holds them, given as numbers, or refused where they pass for reports.

A table of counts looks like a column of reports and would be read without an error and give wrong answers; counts are
matched by label, whatever their order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns.arrays import numbers, refuse_other_types
from extremal.columns.column import distinct
from extremal.columns.engines import Engine, engine_of
from extremal.columns.frames import is_frame, names_of, pick, refuse_absent
from extremal.columns.lists import Codes, plain
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.exact import pandas_index
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.mechanism.report_labels import BitLabels

LISTED = 1 << 16  # reports up to which those that never occur are listed, too
MOST_COMPARED = 1 << 20  # outputs up to which an index is compared with all of them, in less than a second
OTHER_MECHANISM = "Were these reports made by another mechanism?"
COUNT_NAMES = frozenset({"n", "n_obs", "n_reports", "nobs", "count", "counts", "count()", "count(*)", "count_star()"})
COUNT_NAMES |= {"cnt", "freq", "frequency", "frequencies", "size", "len", "times", "total", "0"}
"""What libraries and people call a column of counts; pandas calls it 0 where it has no name."""
COUNTS_FROM = 10  # mean of whole-number weights from which they are taken for counts
FEW_ROWS = 10  # fewer are a table of counts where there are counts beside them: nobody asks so few
COINCIDENCES = 5  # pairs of equal rows that people must be expected to have: none occurs with probability e⁻⁵


def count_reports(frame: Any, column: str, mechanism: Mechanism) -> dict[Label, int]:
    """Count how often each report occurs in a column: a dict from report to count, as `estimate_frequencies` takes it.

    A plan (polars LazyFrame, DuckDB relation, Spark frame) is counted by its engine; no row is collected, only one
    number for each different report (by hashing nearly all differ). Reports that never occur are listed with 0 if there
    are at most 2^16 in all; words of bits are not.

    Guarantee: the counts are of the stored reports; no row leaves the engine.

    Raises:
        InvalidParameter: no such column, or a report is missing.
        UnknownLabel: a report that the mechanism never makes.

    Reference: Counts are sufficient for the shares: E. Lehmann, G. Casella, Theory of Point Estimation (1998),
    Section 1.6.

    >>> import polars, extremal as ex
    >>> m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    >>> count_reports(polars.LazyFrame({"answer": ["no", "no", "no"]}), "answer", m)
    {'no': 3, 'yes': 0}
    """
    counts, missing = counted_reports(frame, column, mechanism)
    if missing:
        raise InvalidParameter(
            "a report must not be missing", parameter=column, value=None, hint="Leave out those who did not report."
        )
    return counts


def counted_reports(frame: Any, column: str, mechanism: Mechanism) -> tuple[dict[Label, int], int]:
    """The counts of `count_reports`, and how many reports are missing."""
    engine, labels = engine_of(frame), mechanism.output_labels
    if engine is not None:
        found = _counted_there(engine, frame, column, mechanism)
    else:
        found = _counted_in_memory(frame, column, mechanism)
    missing = 0
    listed = labels.count <= LISTED and not isinstance(labels, BitLabels)
    counts: dict[Label, int] = dict.fromkeys(mechanism.outputs, 0) if listed else {}
    for value, number in found:
        if value is None:
            missing += number
            continue
        code = labels.find(value)
        if code is None:
            raise UnknownLabel.hidden(column, value, labels.shown(), more=OTHER_MECHANISM)
        counts[labels[code]] = counts.get(labels[code], 0) + number
    return counts, missing


def _counted_there(engine: Engine, frame: Any, column: str, mechanism: Mechanism) -> list[tuple[Any, int]]:
    names = engine.names(frame)
    refuse_absent(column, names)
    found = engine.counted(frame, column)
    if all(number == 1 for _, number in found):
        amounts = {name: [value for value, _ in engine.counted(frame, name)] for name in names if _is_count_name(name)}
        refuse_counted_rows(amounts, {column: ([value for value, _ in found], mechanism.m)})
    return found


def _counted_in_memory(frame: Any, column: str, mechanism: Mechanism) -> list[tuple[Any, int]]:
    if names_of(frame) is None:
        raise InvalidParameter("frame must be a data frame or a plan", parameter="frame", value=type(frame).__name__)
    values = pick(frame, column, "column")
    refuse_counted_rows(frame, {column: (values, mechanism.m)})
    codes, labels = distinct(values, column)
    numbers = np.bincount(codes + 1, minlength=len(labels) + 1).tolist()
    missing = [(None, numbers[0])] if numbers[0] else []
    return missing + [(plain(label), number) for label, number in zip(labels, numbers[1:], strict=False) if number]


def given_counts(reports: Any, mechanism: Mechanism) -> list[tuple[Any, int]]:
    """Reports with positive counts, from a mapping, a series with the outputs as its index, or a number for each
    output."""
    if isinstance(reports, Mapping):
        labels, given = list(reports), list(reports.values())
    elif is_frame(reports):
        raise InvalidParameter(
            "counts=True takes a vector or a mapping",
            parameter="reports",
            value=type(reports).__name__,
            hint='For a data frame name its columns: column="…", counts="…".',
        )
    elif hasattr(reports, "index") and hasattr(reports, "to_numpy"):  # a pandas series: its index holds the labels
        labels, given = list(reports.index), reports.to_numpy().tolist()
    else:
        labels = list(mechanism.outputs)
        given = list(reports) if isinstance(reports, (list, tuple)) else np.asarray(reports).tolist()
        if not isinstance(given, list) or len(given) != len(labels):
            found = len(given) if isinstance(given, list) else given
            raise InvalidParameter(
                f"counts must have {len(labels)} entries, one for each output", parameter="len(reports)", value=found
            )
    return [(plain(label), count) for label, count in zip(labels, whole_counts(given).tolist(), strict=True) if count]


def whole_counts(given: Any, size: int | None = None) -> npt.NDArray[np.int64]:
    """Counts as integers: whole and not negative; 5.0 is a whole number, NaN and True are not.

    >>> whole_counts([3, 5.0]).tolist()
    [3, 5]
    """
    refuse_other_types(given, "counts", "whole numbers")
    values = np.asarray(given)
    if values.ndim != 1 or (size is not None and values.size != size):
        raise InvalidParameter(
            f"counts must have {size} entries, one for each row" if size is not None else "counts must be one column",
            parameter="counts.shape",
            value=values.shape,
        )
    if values.dtype.kind not in "iuf":
        values = numbers(given, "counts")
    good = values >= 0
    if values.dtype.kind == "f":
        good &= (values == np.floor(values)) & (values < 2.0**62)
    bad = np.flatnonzero(~good)
    if bad.size:
        raise InvalidParameter(
            "counts must be whole and not negative",
            parameter=f"counts[{int(bad[0])}]",
            value=float(values[bad[0]]),
            hint="A cell without reports has the count 0.",
        )
    return values.astype(np.int64)


def refuse_uncounted(reports: Any, counts: bool | str, mechanism: Mechanism) -> None:
    """Raise for what is a table of counts but would be read as raw reports."""
    if isinstance(reports, (set, frozenset)):
        raise InvalidParameter(
            "reports must be a sequence: a set holds each only once", parameter="reports", value="set"
        )
    if isinstance(counts, str):
        if not is_frame(reports):
            raise InvalidParameter(
                "counts may be a name only for data frames", parameter="counts", value=counts, hint="counts=True"
            )
    elif not is_frame(reports):
        _refuse_value_counts(reports, mechanism)


def refuse_counted_rows(frame: Any, columns: Mapping[Any, tuple[Any, int | None]], counted: bool = False) -> None:
    """Raise where rows are the cells of a table of counts: each combination of the columns stands once, beside a column
    that is called like counts or weights that can only be counts.

    Args:
        frame: where the columns are from; anything else has no other column.
        columns: by name, each with how many values it can take; None where that is not known.
        counted: whether weights look like counts.
    """
    names = [name for name in _count_columns(frame) if name not in columns]
    if not (names or counted) or not _stand_once(columns):
        return
    if names:
        raise InvalidParameter(
            "every report occurs once beside a column of counts: say whether they are counted",
            parameter="counts",
            value=False,
            hint=f"counts={str(names[0])!r} uses that column (without counts=, repeat each row as often); drop it if "
            "these are single reports.",
        )
    raise InvalidParameter(
        "every report stands once, with a whole number of weight: these are counts",
        parameter="weights",
        hint="Pass a mapping from report to count, or counts=…; weights are of single respondents.",
    )


def look_counted(weights: Floats) -> bool:
    """Whether weights are whole numbers as large as counts are."""
    return weights.size > 0 and bool((weights == np.floor(weights)).all()) and float(weights.mean()) >= COUNTS_FROM


def _count_columns(frame: Any) -> list[Any]:
    """The columns that are called like counts and hold them."""
    names = filter(_is_count_name, names_of(frame) or [])
    return [name for name in names if _are_counts(pick(frame, name, "counts"))]


def _is_count_name(name: Any) -> bool:
    return str(name).strip().lower() in COUNT_NAMES


def _are_counts(column: Any) -> bool:
    """Whether a column holds whole numbers that say more than that each row stands for itself."""
    try:
        return bool((whole_counts(column) != 1).any())
    except InvalidParameter:
        return False


def _stand_once(columns: Mapping[Any, tuple[Any, int | None]]) -> bool:
    """Whether the rows are a table's cells, each once, and not people who happen to differ.

    People differ where a column tells them apart (an id, an exact age, a hash), or where they are few among many
    cells: then pairs that coincide are not expected. Those are n(n − 1)/2 over the number of cells at least, by
    Cauchy's inequality.
    """
    codes = [distinct(column, str(name))[0] for name, (column, _) in columns.items()]
    sizes = [_size(one, most) for one, (_, most) in zip(codes, columns.values(), strict=True)]
    n, cells = codes[0].size, math.prod(sizes)
    if not 2 <= n <= cells or _combinations(codes) < n:
        return False
    apart = any(2 * size > n for size, (_, most) in zip(sizes, columns.values(), strict=True) if most is None)
    return n < FEW_ROWS or 2 * n > cells or (not apart and n * (n - 1) >= 2 * COINCIDENCES * cells)


def _size(codes: Codes, most: int | None) -> int:
    """How many values a column can take, where nobody knows how many it takes; what is missing is one more."""
    return int(np.count_nonzero(np.bincount(codes + 1))) if most is None else most + int(codes.min(initial=0) < 0)


def _combinations(codes: list[Codes]) -> int:
    """How many combinations of codes occur."""
    found = codes[0]
    for more in codes[1:]:
        found = np.unique((found + 1) * (int(more.max()) + 2) + more, return_inverse=True)[1]
    return int(np.unique(found).size)


def _refuse_value_counts(reports: Any, mechanism: Mechanism) -> None:
    """Raise on what pandas' `value_counts` returns."""
    index = pandas_index(reports)
    if index is None or getattr(reports, "name", None) not in ("count", "proportion") or not index.is_unique:
        return
    if mechanism.m <= MOST_COMPARED and set(index.tolist()) <= set(mechanism.outputs):
        raise InvalidParameter(
            "the result of value_counts() holds counts, not reports",
            parameter="reports",
            value="value_counts()",
            hint="Pass counts=True: they are matched by label.",
        )
