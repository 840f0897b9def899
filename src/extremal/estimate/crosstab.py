"""Two questions at once: the joint frequencies of two columns, each privatised by its own mechanism or public.

With two mechanisms the pair (X₁, X₂) passes through the Kronecker product of their matrices, whose inverse is the
product of the inverses: P̂ = L₁ F L₂ᵀ, with F the table of joint report frequencies. No product is ever formed: one
report contributes b₁(y₁)·b₂(y₂)ᵀ, and second moments are products too, so tables of 100 × 100 answers need matrices of
100 × 100. A public column is the identity mechanism.

Reference: Chaudhuri and Mukerjee, Randomized Response (1988), ch. 3, for several questions; van den Hout and van der
Heijden, Int. Statist. Rev. 70 (2002), for misclassified tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extremal.columns.column import distinct, refuse_missing
from extremal.columns.frames import is_frame, pick
from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import Floats
from extremal.estimate.reports.counted import aligned, whole_counts
from extremal.estimate.reports.tally import checked_weights
from extremal.estimate.results.crosstab import CrosstabEstimate, Side
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.structure import refuse_large

MOST_LISTED = 4096
"""Outputs up to which all are listed; beyond, only those that occurred."""


def estimate_crosstab(
    frame: Any, columns: Mapping[Any, Mechanism | None], *, counts: str | None = None, weights: Any = None
) -> CrosstabEstimate:
    """Joint frequencies of two columns of a data frame.

    Guarantee: the estimate is unbiased for every joint distribution, whatever the two questions have to do with each
    other, as long as their answers were randomised independently given the truth.

    Args:
        frame: a data frame (pandas, polars, pyarrow) or a mapping from name to column.
        columns: the two columns, each with the mechanism that made it, or None for a public column.
        counts: a column that says how often each row occurred.
        weights: survey weights, a column or its name; standard errors are linearised, intervals at the effective
            number of pairs.

    Returns:
        CrosstabEstimate, with joint and conditional shares, margins and odds ratios.

    Raises:
        InvalidParameter: not two columns.
        UnknownLabel: a report that its mechanism never makes.
        NotIdentified: a mechanism that does not tell its inputs apart.

    Reference: A. Chaudhuri, R. Mukerjee, Randomized Response (1988).

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 2, inputs=["no", "yes"])
    >>> table = {"drugs": ["no", "yes"] * 300, "region": ["north"] * 400 + ["south"] * 200}
    >>> ex.estimate_crosstab(table, {"drugs": m, "region": None}).estimate.round(3).tolist()
    [[0.333, 0.167], [0.333, 0.167]]
    """
    if not isinstance(columns, Mapping) or len(columns) != 2:
        raise InvalidParameter(
            "columns must name two columns, each with its mechanism or None",
            parameter="len(columns)",
            value=len(columns) if hasattr(columns, "__len__") else columns,
            hint='{"answer": mechanism, "age": None}',
        )
    sides = []
    coded = []
    for name, mechanism in columns.items():
        codes, side = _side(_column(frame, name), name, mechanism)
        sides.append(side)
        coded.append(codes)
    first, second = coded
    if first.size != second.size:
        raise InvalidParameter(
            "both columns must be of one length", parameter="lengths", value=(first.size, second.size)
        )
    repeats = None if counts is None else whole_counts(_column(frame, counts), first.size)
    if weights is not None and counts is not None:
        raise InvalidParameter(
            "counted rows cannot be weighted as well", parameter="weights", hint="Give the raw rows."
        )
    n = int(first.size if repeats is None else repeats.sum())
    if n < 2:
        raise InvalidParameter("there must be at least two reports", parameter="number of reports", value=n)
    shape = (sides[0].influence.shape[1], sides[1].influence.shape[1])
    refuse_large(*shape, "the table of reports")
    given = _column(frame, weights) if isinstance(weights, str) else weights
    w = None if given is None else checked_weights(aligned(given, _column(frame, next(iter(columns))), "weights"), n)

    def shares(amounts: Any) -> Floats:
        cells = np.bincount(first * shape[1] + second, weights=amounts, minlength=shape[0] * shape[1]).reshape(shape)
        return np.asarray(cells / cells.sum(), dtype=np.float64)

    if w is None:
        table = shares(repeats)
        return CrosstabEstimate(sides[0], sides[1], table, n, table, float(n))
    return CrosstabEstimate(sides[0], sides[1], shares(w), n, shares(w * w), float(w.sum() ** 2 / (w @ w)))


def _column(frame: Any, name: Any) -> Any:
    if isinstance(frame, Mapping):
        if name not in frame:
            raise InvalidParameter("columns must be in the frame", parameter="column", value=name)
        return frame[name]
    if not is_frame(frame):
        raise InvalidParameter(
            "a cross-table needs a data frame or a mapping from name to column",
            parameter="frame",
            value=type(frame).__name__,
        )
    return pick(frame, name, "column")


def _side(values: Any, name: Any, mechanism: Mechanism | None) -> tuple[Any, Side]:
    codes, labels = distinct(values, str(name))
    refuse_missing(codes, str(name), "Leave out those who did not report both.")
    if mechanism is None:
        used = np.unique(codes).tolist()
        plain = {i: getattr(labels[i], "item", lambda i=i: labels[i])() for i in used}
        used.sort(key=lambda i: (str(type(plain[i])), plain[i]))
        position = np.zeros(len(labels), dtype=np.intp)
        position[used] = np.arange(len(used))
        one = np.eye(len(used))
        return position[codes], Side(name, tuple(plain[i] for i in used), one, one, one)
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "mechanism must be a Mechanism or None", parameter="columns", value=type(mechanism).__name__
        )
    channel = channel_of(mechanism)
    if channel.combinations() is not None or mechanism.row_of is not None:
        raise NotIdentified("the mechanism must tell its inputs apart", parameter="column", value=name)
    inverse = channel.inverse(np.full(channel.r, 1 / channel.r))
    seen = [channel.encode(labels[i]) for i in np.unique(codes).tolist()]
    if mechanism.m <= MOST_LISTED:
        keys = [channel.encode(label) for label in mechanism.outputs]
        rows: Floats | None = mechanism.matrix
    else:
        keys, rows = seen, None
    where = {key: i for i, key in enumerate(keys)}
    position = np.zeros(len(labels), dtype=np.intp)
    for i, key in zip(np.unique(codes).tolist(), seen, strict=True):
        position[i] = where[key]
    statistics = np.column_stack([channel.statistic([key], np.ones(1)) for key in keys])
    return position[codes], Side(name, mechanism.inputs, inverse.apply(statistics), inverse.moments(None), rows)
