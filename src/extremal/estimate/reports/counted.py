"""Counts and columns that belong together: matched by label and by index, or refused.

A table of counts looks like a column of reports, and a column sorted otherwise like the same column: both are read
without an error and give wrong answers. Here they are told apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns.column import distinct
from extremal.columns.frames import is_frame, names_of, pick
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism

COUNT_NAMES = frozenset({"n", "count", "counts", "freq", "frequency", "size", "len", "n_reports"})
"""What libraries and people call a column of counts."""


def whole_counts(given: Any, size: int | None = None) -> npt.NDArray[np.int64]:
    """Counts as integers: whole and not negative; 5.0 is a whole number, NaN and True are not.

    >>> whole_counts([3, 5.0]).tolist()
    [3, 5]
    """
    values = np.asarray(given)
    if values.ndim != 1 or (size is not None and values.size != size):
        raise InvalidParameter(
            f"counts must have {size} entries, one for each row" if size is not None else "counts must be one column",
            parameter="counts.shape",
            value=values.shape,
        )
    if values.dtype.kind not in "iuf":
        try:
            if any(isinstance(v, (bool, np.bool_)) for v in values.tolist()):
                raise TypeError
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter(
                "counts must be whole numbers", parameter="counts", value=str(values.dtype)
            ) from None
    good = (
        values >= 0 if values.dtype.kind in "iu" else (values >= 0) & (values == np.floor(values)) & (values < 2.0**62)
    )
    bad = np.flatnonzero(~good)
    if bad.size:
        raise InvalidParameter(
            "counts must be whole and not negative",
            parameter=f"counts[{int(bad[0])}]",
            value=float(values[bad[0]]),
            hint="A cell without reports has the count 0.",
        )
    return values.astype(np.int64)


def aligned(column: Any, reports: Any, parameter: str) -> Any:
    """A column in the order of `reports`: by the index if both have one (pandas), as it is otherwise."""
    mine, theirs = _index(column), _index(reports)
    if mine is None or theirs is None or mine.equals(theirs):
        return column
    if len(mine) == len(theirs) and mine.is_unique and theirs.is_unique and mine.isin(theirs).all():
        return column.loc[theirs]
    raise InvalidParameter(
        f"{parameter} must have the index of the reports",
        parameter=f"{parameter}.index",
        value=f"{len(mine)} entries",
        hint=f"Reindex it, or pass {parameter}.to_numpy() if the order is right.",
    )


def _index(column: Any) -> Any:
    """The index of a pandas series or frame."""
    pandas = type(column).__module__.partition(".")[0] == "pandas"
    return column.index if pandas and hasattr(column, "index") and hasattr(column, "loc") else None


def refuse_uncounted(reports: Any, column: str | None, counts: bool | str, mechanism: Mechanism) -> None:
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
        return
    if is_frame(reports):
        names = [name for name in names_of(reports) or [] if str(name).lower() in COUNT_NAMES and name != column]
        if column is None or not names:
            return
        codes, labels = distinct(pick(reports, column, "column"), "reports")
        values = np.asarray(pick(reports, names[0], "counts"))
        if codes.size == len(labels) > 1 and codes.size <= mechanism.m and values.dtype.kind in "iu" and codes.size:
            raise InvalidParameter(
                "every report occurs once beside a column of counts: say whether they are counted",
                parameter="counts",
                value=counts,
                hint=f"counts={names[0]!r} uses that column; drop it if these are single reports.",
            )
        return
    index = _index(reports)
    counted = index is not None and getattr(reports, "name", None) in ("count", "proportion") and index.is_unique
    if counted and mechanism.m <= 1 << 20 and set(index.tolist()) <= set(mechanism.outputs):
        raise InvalidParameter(
            "the result of value_counts() holds counts, not reports",
            parameter="reports",
            value="value_counts()",
            hint="Pass counts=True: they are matched by label.",
        )
