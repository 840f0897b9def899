"""Reports as output codes and counts, for the tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns import distinct
from extremal.columns.column import refuse_missing
from extremal.columns.frames import names_of, pick
from extremal.errors import InvalidParameter
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

Codes = npt.NDArray[np.intp]


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


def column_of(reports: Any, name: Any, parameter: str = "column") -> Any:
    """The named column of a data frame; anything else as it is."""
    if names_of(reports) is None or isinstance(reports, Mapping):
        return reports
    if name is None:
        raise InvalidParameter("a data frame needs the name of the column of reports", parameter=parameter, value=None)
    return pick(reports, name, parameter)


def coded(values: Any, mechanism: Mechanism, parameter: str = "reports") -> Codes:
    """Each report as the position of its label among the outputs; a missing one is refused."""
    codes, labels = distinct(values, parameter)
    refuse_missing(codes, parameter, "A missing report is no report: leave its row out.")
    used = np.unique(codes)
    where = np.zeros(len(labels) + 1, dtype=np.intp)
    for code in used.tolist():
        where[code] = mechanism.output_labels.code(labels[code], parameter)
    return where[codes]


def counted(reports: Any, mechanism: Mechanism, *, column: str | None, counts: bool) -> Floats:
    """How often each output was reported, in the order of the outputs; at least one report."""
    if isinstance(reports, Mapping):
        found = np.zeros(mechanism.m)
        for label, number in reports.items():
            found[mechanism.output_labels.code(label, "reports")] += _count(number)
    elif counts:
        given = [_count(number) for number in reports]
        if len(given) != mechanism.m:
            raise InvalidParameter(
                f"counts must have {mechanism.m} entries, one for each output", parameter="reports", value=len(given)
            )
        found = np.array(given, dtype=np.float64)
    else:
        codes = coded(column_of(reports, column), mechanism)
        found = np.bincount(codes, minlength=mechanism.m).astype(np.float64)
    if not found.sum():
        raise InvalidParameter("there must be at least one report", parameter="reports", value=0)
    return found


def _count(number: Any) -> float:
    if isinstance(number, bool) or float(number) != int(number) or number < 0:
        raise InvalidParameter("counts must be whole and not negative", parameter="reports", value=number)
    return float(number)
