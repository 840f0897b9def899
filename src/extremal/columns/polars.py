"""polars: a Series; name and dtype (String, Boolean) stay, integers have 64 bits. Sets of labels become lists.

An Enum becomes one of the mechanism's labels in its order: the old one may have been collected from the values. So does
a Categorical, whose numbers tell the order in which the process met the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from extremal.columns import arrays, lists
from extremal.columns.lists import MISSING, Array, Codes, comes_from, members, only_kind, refuse_wide, without_missing
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import ByteLabels


def holds(column: Any) -> bool:
    return comes_from(column, "polars", "Series")


def distinct(column: Any, name: str) -> tuple[Codes, Sequence[Any]]:
    """The categories of an Enum as they are listed; the order of everything but integers is that of appearance."""
    import polars as pl

    column = column.alias("x")  # a name such as ^x$ would be taken for a pattern
    if column.null_count():
        there = column.is_not_null().to_numpy()
        codes = np.full(there.size, MISSING, dtype=np.intp)
        codes[there], labels = distinct(column.drop_nulls(), name)
        return codes, labels
    if column.dtype == pl.Enum:
        return column.to_physical().to_numpy().astype(np.intp), column.dtype.categories.to_list()
    if column.dtype in (pl.Int128, pl.UInt128, pl.Object):  # NumPy has no such integers, and polars compares no objects
        return lists.distinct(column.to_list(), name)
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return arrays.distinct(column.to_numpy(), name)
    if column.dtype.is_nested():
        return lists.distinct(column.to_list(), name)
    found = column.unique(maintain_order=True)
    labels = found.to_list()
    if column.dtype == pl.Categorical:  # its numbers may have gaps
        numbers = found.to_physical().to_numpy()
        place = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.intp)
        place[numbers] = np.arange(numbers.size)
        return place[column.to_physical().to_numpy()], labels
    if column.dtype == pl.String:
        codes = column.cast(pl.Enum(found)).to_physical().to_numpy()
    else:
        codes = column.replace_strict(found, range(found.len()), return_dtype=pl.Int64).to_numpy()
    return without_missing(codes.astype(np.intp), labels)


def integers(column: Any) -> Array | None:
    import polars as pl

    if column.null_count() or not column.dtype.is_integer() or column.dtype in (pl.Int128, pl.UInt128):
        return None
    return np.asarray(column.to_numpy())


def filled(codes: Array, labels: Labels, like: Any) -> Any:
    import polars as pl

    if (sets := members(codes, labels)) is not None:
        flat, sizes, parts = sets
        whole = pl.UInt8 if isinstance(labels, ByteLabels) else pl.Int64
        inner = {str: pl.String, int: whole, bool: pl.Boolean}[only_kind(parts)]
        edges = np.concatenate(([0], np.cumsum(sizes, dtype=np.intp))).tolist()
        named = pl.Series(parts, dtype=inner).gather(flat).to_list()
        sublists = [named[start:stop] for start, stop in pairwise(edges)]
        return pl.Series(like.name, sublists, dtype=pl.List(inner))
    if labels.numbered:
        return pl.Series(like.name, codes, dtype=pl.Int64)
    values: list[Any] = list(labels)
    kind = only_kind(values)
    refuse_wide(values)
    text = pl.Enum(values) if kind is str and like.dtype in (pl.Enum, pl.Categorical) else pl.String
    target = {str: text, int: pl.Int64, bool: pl.Boolean}[kind]
    return pl.Series("x", values, dtype=target).gather(codes).alias(like.name)


def with_gaps(values: list[Any], labels: Labels, like: Any) -> Any:
    import polars as pl

    only_kind(labels)  # where they differ, polars would change some of them
    return pl.Series(like.name, lists.as_lists(values), dtype=filled(np.zeros(0, dtype=np.int64), labels, like).dtype)
