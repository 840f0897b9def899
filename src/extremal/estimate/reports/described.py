"""Columns of a sample in numbers: groups as codes, sizes of populations, margins, weights, factors of replicates.

Everything that does not fit is refused here, with the parameter and what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.columns.arrays import numbers
from extremal.columns.column import distinct, refuse_missing
from extremal.columns.lists import Codes, plain
from extremal.errors import InvalidParameter
from extremal.exact import pandas_index
from extremal.exact.weights import Floats

LEAST_WEIGHT = 1e-100  # squares of weights, and sums of 2^53 of them, stay within what floats hold
ROUNDED = 5e-4  # of each group's share: shares are published with three decimals or more
AGREE = 1e-6  # relative: totals of two margins that differ by less are rounding of published tables
REPLICATES: dict[str, Callable[[int], float]] = {
    "bootstrap": lambda count: 1 / count,
    "brr": lambda count: 1 / count,
    "jackknife": lambda count: (count - 1) / count,
    "paired jackknife": lambda count: count / count,
}
"""Kinds of replicate weights: the factor of the squared deviations of that many (Wolter 2007)."""


@dataclass(frozen=True, eq=False)
class Joint:
    """Several columns, or their names, whose combinations are the groups."""

    columns: tuple[Any, ...]


def group_codes(column: Any, n: int) -> tuple[Codes, list[Any]]:
    """The group of each respondent as a code, and the names of the groups."""
    return groups_of(column, "by", n, np.ones(n, dtype=np.bool_))


def groups_of(column: Any, parameter: str, n: int, rows: Any) -> tuple[Codes, list[Any]]:
    """The same for those rows that are kept; without a column all are one group, None."""
    if column is None:
        return np.zeros(int(np.count_nonzero(rows)), dtype=np.intp), [None]
    if isinstance(column, Joint):
        return _combined([groups_of(one, parameter, n, rows) for one in column.columns])
    codes, labels = distinct(column, parameter)
    if codes.size != n:
        raise InvalidParameter(
            f"{parameter} must have {n} entries, one for each report",
            parameter=f"len({parameter})",
            value=codes.size,
            hint="Several names stand for columns of a data frame, if they are all there."
            if all(isinstance(label, str) for label in labels)
            else None,
        )
    refuse_missing(np.where(rows, codes, 0), parameter, "Every respondent has one.")
    codes = codes[rows]
    used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    if used.size < len(labels):  # labels may be listed that do not occur
        codes = np.searchsorted(used, codes)
    return codes, [plain(labels[i]) for i in used.tolist()]


def _combined(groups: list[tuple[Codes, list[Any]]]) -> tuple[Codes, list[Any]]:
    """The combinations that occur, named by tuples; a single column keeps its names."""
    (codes, first), *others = groups
    if not others:
        return codes, first
    names = [(label,) for label in first]
    for more, labels in others:
        used, codes = np.unique(codes * len(labels) + more, return_inverse=True)
        names = [(*names[i // len(labels)], labels[i % len(labels)]) for i in used.tolist()]
    return codes, names


def margin_of(column: Any, totals: Any, name: str, n: int, rows: Any) -> tuple[Codes, Floats]:
    """The group of each respondent in a margin, and the size of each group: people, or shares."""
    if not isinstance(totals, Mapping):
        raise InvalidParameter("a margin must map groups to totals", parameter=name, value=totals)
    codes, names = groups_of(column, name, n, rows)
    sizes = sizes_of(totals, names, name, "people")
    refuse_partial(sizes, name)
    return codes, sizes


def as_mapping(given: Any) -> Any:
    """A pandas Series with each index once as the mapping that it is; anything else as it is."""
    index = pandas_index(given)
    return dict(zip(index, given.tolist(), strict=True)) if index is not None and given.index.is_unique else given


def _are_shares(sizes: Floats) -> bool:
    """Whether sizes of groups are shares: nobody counts a part of a person, so that all below 1 are no counts."""
    return bool((sizes < 1).all()) or abs(float(sizes.sum()) - 1) <= AGREE


def refuse_partial(sizes: Floats, parameter: str) -> None:
    """Raise for shares of a population that do not make up the whole."""
    if _are_shares(sizes) and abs(float(sizes.sum()) - 1) > max(AGREE, ROUNDED * sizes.size):
        raise InvalidParameter(
            "shares of a population must add up to 1",
            parameter=f"sum of {parameter}",
            value=float(sizes.sum()),
            hint="A group may be missing. Numbers of people, or shares with more digits, are taken in proportion.",
        )


def refuse_disagreeing(margins: list[Floats]) -> None:
    counts = [float(sizes.sum()) for sizes in margins if not _are_shares(sizes)]
    if counts and max(counts) - min(counts) > AGREE * max(counts):
        raise InvalidParameter(
            "the totals of all margins must add up to the same population", parameter="margins", value=counts
        )


def sizes_of(given: Any, names: list[Any], parameter: str, what: str) -> Floats:
    """A size for each group."""
    given = as_mapping(given)
    if isinstance(given, Mapping) and names == [None]:
        raise InvalidParameter(
            f"{parameter} by stratum needs strata", parameter=parameter, value=list(given), hint="strata=…"
        )
    if isinstance(given, Mapping):
        _refuse_other_groups(given, names, parameter)
    elif names != [None]:
        raise InvalidParameter(
            f"with strata, {parameter} must have a size for each stratum",
            parameter=parameter,
            value=given,
            hint=f"{parameter}={{stratum: number of {what}, …}}",
        )
    return _positive([given[name] for name in names] if isinstance(given, Mapping) else [given], parameter)


def _positive(listed: list[Any], parameter: str) -> Floats:
    sizes = numbers(listed, parameter)
    if sizes.ndim != 1:
        raise InvalidParameter(
            f"{parameter} must be single numbers, and no column", parameter=f"{parameter}.shape", value=sizes.shape[1:]
        )
    if not (np.isfinite(sizes) & (sizes > 0)).all():
        raise InvalidParameter(f"{parameter} must hold positive sizes", parameter=parameter, value=sizes.tolist())
    return sizes


def _refuse_other_groups(given: Mapping[Any, Any], names: list[Any], parameter: str) -> None:
    """Raise unless the groups with a size are those that have respondents."""
    group = "group" if parameter.startswith("margins") else "stratum"
    absent = [name for name in names if name not in given]
    if absent:
        raise InvalidParameter(
            f"{parameter} must have a size for each {group}", parameter=f"missing {group}", value=absent[0]
        )
    empty = [name for name in given if name not in names]
    if empty:
        raise InvalidParameter(
            f"{parameter} must have respondents in each {group}: without any it cannot be estimated",
            parameter=parameter,
            value=empty[0],
            hint=f"Merge it with another {group}, or leave it out: the estimate is then of the others.",
        )


def refuse_smaller(counts: Any, sizes: Floats, parameter: str) -> None:
    if (counts > sizes).any():
        raise InvalidParameter(
            "a population must be at least as large as its sample",
            parameter=parameter,
            value=float(sizes[np.argmax(counts > sizes)]),
            hint=f"The sample has {int(counts[np.argmax(counts > sizes)])}.",
        )


def checked_weights(weights: Any, n: int, rows: Any = True) -> Floats:
    """Survey weights as floats: finite and positive in these rows, one for each report."""
    w = numbers(weights, "weights")
    if w.shape != (n,):
        raise InvalidParameter(
            f"weights must have {n} entries, one for each report", parameter="weights.shape", value=w.shape
        )
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)) & rows)
    extreme = np.flatnonzero(((w < LEAST_WEIGHT) | (w > 1 / LEAST_WEIGHT)) & rows)
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


def factors_of(kind: Any, count: int) -> Floats:
    """Of the squared deviations, one for each replicate."""
    factor = REPLICATES[kind](count) if isinstance(kind, str) and kind in REPLICATES else kind
    try:
        given = np.asarray(factor, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if not (np.isfinite(given).all() and (given > 0).all()):
        raise InvalidParameter(
            f"the kind of replicate weights must be one of {', '.join(REPLICATES)}, or a positive factor",
            parameter="replicate_weights",
            value=kind,
        )
    if given.shape not in ((), (count,)):
        raise InvalidParameter(
            f"there must be a factor for each of the {count} replicate weights", parameter="factors", value=given.size
        )
    return np.broadcast_to(given, count)
