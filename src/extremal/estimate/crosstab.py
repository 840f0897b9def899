"""Two questions at once: the joint frequencies of two columns, each privatised by its own mechanism or public.

With two mechanisms the pair (X₁, X₂) passes through the Kronecker product of their matrices, whose inverse is the
product of the inverses: P̂ = L₁ F L₂ᵀ, with F the table of joint report frequencies. No product is ever formed: one
report contributes b₁(y₁)·b₂(y₂)ᵀ, and second moments are products too, so tables of 100 × 100 answers need matrices of
100 × 100. A public column is the identity mechanism.

Reference: Chaudhuri and Mukerjee, Randomized Response (1988), ch. 3, for several questions; van den Hout and van der
Heijden, Int. Statist. Rev. 70 (2002), for misclassified tables.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from extremal.columns.column import distinct, lists_values, refuse_missing
from extremal.columns.frames import is_frame, pick
from extremal.columns.lists import MISSING, Codes, plain
from extremal.errors import InvalidParameter, NotIdentified, UnknownLabel
from extremal.estimate.channels import channel_of
from extremal.estimate.reports.counts import refuse_counted_rows, whole_counts
from extremal.estimate.reports.described import groups_of
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.sampling import DrawnSample
from extremal.estimate.results.crosstab import CrosstabEstimate, PairEstimate, Side
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.mechanism.structures import IndependentBits
from extremal.mechanism.structures.structure import refuse_large

MOST_LISTED = 4096
"""Outputs up to which all are listed; beyond, only those that occurred."""


def estimate_crosstab(
    frame: Any,
    columns: Mapping[Any, Mechanism | None],
    *,
    counts: str | None = None,
    weights: Any = None,
    sample: Sample | None = None,
) -> CrosstabEstimate:
    """Estimate the joint frequencies of two columns of a data frame.

    Guarantee: the estimate is unbiased for every joint distribution, whatever the two questions have to do with each
    other, as long as their answers were randomised independently given the truth.

    Args:
        frame: a data frame (pandas, polars, pyarrow) or a mapping from name to column.
        columns: the two columns, each with the mechanism that made it, or None for a public column.
        counts: a column that says how often each row occurred.
        weights: survey weights, a column or its name; standard errors are linearised, intervals at the effective
            number of pairs.
        sample: an `ex.Sample`: weights, strata, clusters and the rest.

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
    _refuse_columns(columns)
    drawn = Sample.of(sample, weights=weights)
    (first, one), (second, other) = (_side(column_in(frame, name), name, m) for name, m in columns.items())
    if first.size != second.size:
        raise InvalidParameter(
            "both columns must be of one length", parameter="lengths", value=(first.size, second.size)
        )
    repeats = None if counts is None else whole_counts(column_in(frame, counts), first.size)
    if not drawn.empty and counts is not None:
        raise InvalidParameter(
            "counted rows cannot be weighted as well", parameter="weights", hint="Give the raw rows."
        )
    n = int(first.size if repeats is None else repeats.sum())
    if n < 2:
        raise InvalidParameter("there must be at least two reports", parameter="number of reports", value=n)
    shape = (one.influence.shape[1], other.influence.shape[1])
    refuse_large(*shape, "the table of reports")
    cells = first * shape[1] + second

    def shares(amounts: Any) -> Floats:
        table = np.bincount(cells, weights=amounts, minlength=shape[0] * shape[1]).reshape(shape)
        return np.asarray(table / table.sum(), dtype=np.float64)

    how = drawn.beside(frame).drawn(first.size)
    _refuse_counted(frame, columns, counts, how)
    if drawn.empty:
        table = shares(repeats)
        return CrosstabEstimate(one, other, table, n, table, float(n))
    w = how.weights
    used, codes = np.unique(cells, return_inverse=True)
    sampling = None if how.plain else how.sampling(codes, used.size)
    effective = float(w.sum() ** 2 / (w @ w))
    return CrosstabEstimate(one, other, shares(w), n, shares(w * w), effective, used, sampling, how.notes)


def _refuse_counted(frame: Any, columns: Mapping[Any, Mechanism | None], counts: str | None, how: DrawnSample) -> None:
    """Raise where the rows are cells of a table of counts, and nobody said so."""
    if counts is None:
        rows = {name: (column_in(frame, name), None if m is None else m.m) for name, m in columns.items()}
        refuse_counted_rows(frame, rows, bool(how.notes))


def estimate_pairs(
    frame: Any,
    columns: Mapping[Any, tuple[Label, ...]],
    pairs: Sequence[tuple[Label | None, Label | None]],
    matrix: Floats,
) -> CrosstabEstimate:
    """Joint frequencies of two columns whose reports were made together by one mechanism.

    Args:
        frame: as for `estimate_crosstab`; a report that is missing is None where that is in a pair.
        columns: the two columns, each with its answers.
        pairs: the pairs of reports that there are.
        matrix: their probabilities given each pair of answers, the second of which counts fastest.

    Raises:
        NotIdentified: the pairs of reports do not tell the pairs of answers apart.
        UnknownLabel: a pair of reports that the mechanism never makes.
    """
    names = list(columns)
    cells = len(columns[names[0]]) * len(columns[names[1]])
    refuse_large(cells, max(cells, len(pairs)), "the table of reports")
    if not len(pairs) or np.linalg.matrix_rank(matrix) < cells:
        raise NotIdentified(
            "both questions must be asked of the same people, and the reports must tell their answers apart",
            parameter="columns",
            value=names,
            hint="Questionnaire.within(…, per_person=2) asks at least two questions of everybody.",
        )
    where = {pair: place for place, pair in enumerate(pairs)}
    read = [_labels_of(column_in(frame, name), name) for name in names]
    found = np.zeros(len(pairs))
    for row, pair in enumerate(zip(*read, strict=True)):
        if pair not in where:
            raise UnknownLabel(
                "a pair of reports that the questionnaire never makes", parameter=f"{names[0]}, {names[1]}[{row}]"
            )
        found[where[pair]] += 1
    n = int(found.sum())
    if n < 2:
        raise InvalidParameter("there must be at least two reports", parameter="number of reports", value=n)
    none = np.zeros((0, 0))
    sides = [Side(name, answers, none, none, None, none) for name, answers in columns.items()]
    shares = found / n
    return PairEstimate(sides[0], sides[1], shares, n, shares, float(n), pairs=matrix)


def _labels_of(values: Any, name: Any) -> list[Label | None]:
    """A column of reports as labels, sets as tuples, None where one is missing."""
    codes, labels = distinct(values, str(name))
    listed: list[Label | None] = [
        tuple(map(plain, label)) if isinstance(label, (list, tuple, np.ndarray)) else plain(label) for label in labels
    ]
    return [None if code == MISSING else listed[code] for code in codes.tolist()]


def _refuse_columns(columns: Any) -> None:
    if not isinstance(columns, Mapping) or len(columns) != 2:
        raise InvalidParameter(
            "columns must name two columns, each with its mechanism or None",
            parameter="len(columns)",
            value=len(columns) if hasattr(columns, "__len__") else columns,
            hint='{"answer": mechanism, "age": None}',
        )


def column_in(
    frame: Any, name: Any, needed: str = "a cross-table needs a data frame or a mapping from name to column"
) -> Any:
    """A column of a frame or of a mapping; anything else is refused with what is `needed`."""
    if not isinstance(frame, Mapping) and not is_frame(frame):
        raise InvalidParameter(needed, parameter="frame", value=type(frame).__name__)
    if isinstance(frame, Mapping) and isinstance(name, Hashable) and name not in frame:
        raise InvalidParameter("columns must be in the frame", parameter="column", value=name)
    return pick(frame, name, "column")


def _side(values: Any, name: Any, mechanism: Mechanism | None) -> tuple[Codes, Side]:
    """A report's position on one side for each row, and that side."""
    codes, labels = distinct(values, str(name))
    refuse_missing(codes, str(name), "Leave out those who did not report both.")
    if mechanism is None:
        return _public_side(values, codes.size, name)
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "mechanism must be a Mechanism or None", parameter="columns", value=type(mechanism).__name__
        )
    return _private_side(codes, labels, name, mechanism)


def _private_side(codes: Codes, labels: Sequence[Any], name: Any, mechanism: Mechanism) -> tuple[Codes, Side]:
    """A column of reports, listed as the outputs are; those that occurred where they are too many."""
    channel = channel_of(mechanism)
    if channel.combinations() is not None or mechanism.row_of is not None:
        raise NotIdentified("the mechanism must tell its inputs apart", parameter="column", value=name)
    inverse = channel.inverse(np.full(channel.r, 1 / channel.r))
    used = np.unique(codes).tolist()
    seen = [channel.encode(labels[i]) for i in used]
    listed = mechanism.m <= MOST_LISTED and not isinstance(mechanism.structure, IndependentBits)
    keys = [channel.encode(label) for label in mechanism.outputs] if listed else seen
    where = {key: i for i, key in enumerate(keys)}
    position = np.zeros(len(labels), dtype=np.intp)
    position[used] = [where[key] for key in seen]
    statistics = np.column_stack([channel.statistic([key], np.ones(1)) for key in keys])
    rows = mechanism.matrix if listed else None
    ends = np.stack([np.broadcast_to(end, len(mechanism.inputs)) for end in inverse.extremes(None)])
    return position[codes], Side(name, mechanism.inputs, inverse.apply(statistics), inverse.moments(None), rows, ends)


def _public_side(column: Any, n: int, name: Any) -> tuple[Codes, Side]:
    """A column that is seen itself: its values as `by=` has them where the column lists them, else by size."""
    codes, values = groups_of(column, str(name), n, np.ones(n, dtype=np.bool_))
    if not lists_values(column):
        order = sorted(range(len(values)), key=lambda i: (str(type(values[i])), values[i]))
        codes, values = np.argsort(order)[codes], [values[i] for i in order]
    one = np.eye(len(values))
    return codes, Side(name, tuple(values), one, one, one, np.repeat([[0.0], [1.0]], len(values), axis=1))
