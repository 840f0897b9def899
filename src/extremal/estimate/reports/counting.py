"""How often each report occurs, counted where the data are: in the engine for plans, else by codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.columns.column import distinct
from extremal.columns.engines import engine_of
from extremal.columns.frames import names_of, pick, refuse_absent
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.mechanism import Mechanism
from extremal.mechanism.bit_labels import BitLabels
from extremal.mechanism.labels import Label

LISTED = 1 << 16  # reports up to which those that never occur are listed, too
OTHER_MECHANISM = "Were these reports made by another mechanism?"


def count_reports(frame: Any, column: str, mechanism: Mechanism) -> dict[Label, int]:
    """How often each report occurs in a column: a dict from report to count, which `estimate_frequencies` reads.

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
        refuse_absent(column, engine.names(frame))
        found = engine.counted(frame, column)
    else:
        found = _eager(frame, column)
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


def _eager(frame: Any, column: str) -> list[tuple[Any, int]]:
    if names_of(frame) is None:
        raise InvalidParameter("frame must be a data frame or a plan", parameter="frame", value=type(frame).__name__)
    codes, labels = distinct(pick(frame, column, "column"), column)
    numbers = np.bincount(codes + 1, minlength=len(labels) + 1).tolist()
    missing = [(None, numbers[0])] if numbers[0] else []
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    return missing + [(label, number) for label, number in zip(plain, numbers[1:], strict=False) if number]
