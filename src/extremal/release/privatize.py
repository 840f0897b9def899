"""One value, a column or a data frame → reports in the same container.

A list, a NumPy array, a pandas or polars Series, a pyarrow Array or ChunkedArray is a sequence of values; a data frame
has columns, of which some are randomised and everything else stays untouched; anything else is one value. Labels are
looked up strictly (True is not 1, "1" is not 1, a trailing space is another label), and a value that is missing or no
label is refused by its position, without being quoted: errors end up in logs. Nothing is sampled before every value has
its code. Lazy frames need ids (`release.engines.lazy`): evaluated twice they would report twice about the same person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extremal.columns.column import Container, container_of, refuse_lazy, refuse_missing
from extremal.columns.frames import columns_of, is_frame, with_columns
from extremal.columns.lists import Array, is_missing, labels_at
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import BitLabels
from extremal.release.sampling.sampler import BadCode, sample_codes
from extremal.release.sampling.words import WordSource, refuse_seed

TWICE = (
    "without row_id= a lazy frame cannot be randomised: evaluated twice it would make two reports about the same person"
)
NO_ANSWER = (
    "Drop or fill missing values first, or give them a label of their own: who does not answer also tells something."
)


def privatize(
    frame: Any,
    columns: Mapping[Any, Mechanism] | None = None,
    *,
    column: Any = None,
    mechanism: Mechanism | None = None,
    row_id: Any = None,
    release_key: Any = None,
    check_ids: bool | None = None,
    connection: Any = None,
    **options: Any,
) -> Any:
    """Randomise columns of a data frame, exactly by each mechanism's weights and with the operating system's
    randomness.

    Guarantee: each row's report in a column depends on that row's value alone and satisfies the mechanism's privacy
    claim. Reports in several columns of the same row add up: ε₁ + ε₂ for two columns about the same person.

    Args:
        frame: a pandas or polars DataFrame, a pyarrow Table, or another eager frame that narwhals knows.
        columns: mechanisms by column name; or else
        column, mechanism: one of each.
        row_id: the name of a column of unique ids. With it reports are keyed (`release.engines.keyed`): evaluating
            the result again gives the same reports, so that plans (polars LazyFrame, DuckDB relations, Spark) are
            accepted.
        release_key: a `ReleaseKey`; fresh for this call if not given. Never one that was used for other values of the
            same people.
        check_ids: whether to look for ids that are missing or occur twice; None: where that is one pass (not in Spark).
        connection: of a DuckDB relation, when it is not DuckDB's default.

    Returns:
        A new frame of the same type. The one given is not changed.

    Raises:
        InvalidParameter: the column is not there, is there twice, the frame is lazy, or a seed is given.
        UnknownLabel: a value is missing or is no label of the mechanism. Nothing is released then.

    Reference: The sampler: docs/release/index.md.

    >>> import pandas, extremal as ex
    >>> frame = pandas.DataFrame({"id": [1, 2], "answer": ["no", "yes"]})
    >>> m = ex.randomized_response(2, 50, inputs=["no", "yes"])
    >>> ex.privatize(frame, column="answer", mechanism=m)["answer"].tolist()
    ['no', 'yes']
    """
    refuse_seed(options)
    chosen = columns_and_mechanisms(columns, column, mechanism)
    if row_id is not None:
        from extremal.release.engines.lazy import privatize_keyed

        return privatize_keyed(frame, chosen, row_id, release_key, check_ids, connection)
    if release_key is not None:
        raise InvalidParameter("a release key needs row ids", parameter="row_id", value=None, hint="row_id='id'.")
    return privatize_frame(frame, chosen)


def columns_and_mechanisms(
    columns: Mapping[Any, Mechanism] | None, column: Any, mechanism: Mechanism | None
) -> dict[Any, Mechanism]:
    """The two ways of saying which column gets which mechanism, as one."""
    if (columns is None) == (column is None) or (column is None) != (mechanism is None):
        raise InvalidParameter(
            "say which column gets which mechanism, once",
            parameter="columns",
            value=columns,
            hint="privatize(frame, column='answer', mechanism=m) or privatize(frame, {'answer': m}).",
        )
    try:
        chosen: dict[Any, Any] = dict(columns) if columns is not None else {column: mechanism}
    except TypeError:
        raise InvalidParameter(
            "a column must be a name",
            parameter="column",
            value=column if columns is None else type(columns).__name__,
            hint="privatize(frame, column='answer', mechanism=m), or {name: mechanism, …} for several.",
        ) from None
    if not chosen:
        raise InvalidParameter("at least one column must be named", parameter="columns", value=columns)
    for name, m in chosen.items():
        if not isinstance(m, Mechanism):
            raise InvalidParameter(
                "a column needs a Mechanism", parameter=f"columns[{name!r}]", value=m, hint="Load files with ex.load."
            )
    return chosen


def privatize_frame(frame: Any, chosen: Mapping[Any, Mechanism], source: WordSource | None = None) -> Any:
    refuse_lazy(frame, "frame", TWICE)
    columns = columns_of(frame, list(chosen))
    made = {  # every column is done before any is put in place
        name: privatize_column(chosen[name], column, name=str(name), source=source) for name, column in columns.items()
    }
    return with_columns(frame, made)


def privatize_column(
    mechanism: Mechanism, values: Any, *, name: str = "values", source: WordSource | None = None
) -> Any:
    """Reports for values, in the same kind of container; `source` is for simulation."""
    refuse_lazy(values, name, TWICE)
    if is_frame(values):
        raise InvalidParameter(
            "a mechanism randomises one column",
            parameter=name,
            value=type(values).__name__,
            hint="Use ex.privatize(frame, column=..., mechanism=...) or ex.privatize(frame, {column: mechanism}).",
        )
    container = container_of(values)
    if container is None:
        plain = values.item() if isinstance(values, np.ndarray) else values
        if is_missing(plain):
            raise UnknownLabel(f"{name} must not be missing", parameter=name, value=None, hint=NO_ANSWER)
        code = mechanism.input_labels.find(plain)
        if code is None:
            raise unknown(mechanism.input_labels, plain, name)
        drawn = sample_codes(mechanism, np.array([code]), source=source)
        return labels_at(drawn, report_labels(mechanism, drawn))[0]
    codes = input_codes(container, mechanism.input_labels, values, name)
    try:
        drawn = sample_codes(mechanism, codes, source=source)
    except BadCode as error:
        raise unknown(mechanism.input_labels, codes[error.position].item(), f"{name}[{error.position}]") from None
    return container.filled(drawn, report_labels(mechanism, drawn), values)


def report_labels(mechanism: Mechanism, drawn: Array) -> Labels:
    """What the codes of reports stand for: outputs, or in rows of codes the bytes of a word of bits, or the inputs of
    which a report is a set."""
    outputs = mechanism.output_labels
    if drawn.ndim == 2:
        return outputs.alphabet if isinstance(outputs, BitLabels) else mechanism.input_labels
    return outputs


def input_codes(container: Container, labels: Labels, column: Any, name: str) -> Array:
    """The code of each value. Integers under numbered labels are their own codes, which the sampler checks."""
    if labels.numbered:
        own = container.integers(column)
        if own is not None:
            return own
    codes, found = container.distinct(column, name)
    refuse_missing(codes, name, NO_ANSWER, UnknownLabel)
    used = np.flatnonzero(np.bincount(codes, minlength=len(found)))
    table = np.zeros(len(found), dtype=np.int64)  # what does not occur need not be a label
    known = [labels.find(found[place]) for place in used.tolist()]
    strange = used[np.array([code is None for code in known], dtype=np.bool_)]
    if strange.size:
        row = int(np.flatnonzero(np.isin(codes, strange))[0])
        raise unknown(labels, found[codes[row]], f"{name}[{row}]")
    table[used] = np.array(known, dtype=np.int64)
    return table[codes]


def unknown(labels: Labels, value: Any, where: str) -> UnknownLabel:
    """The error about a value that is no label; the value is quoted only when values are shown."""
    return UnknownLabel.hidden(where, value, labels.shown(), labels.nearest(value))
