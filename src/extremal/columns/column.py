"""A column in any container as codes and labels, and codes as a column of the same container.

Every container answers the same five questions (`Container`), one module each:

* `holds`: is this a column of yours?
* `distinct`: codes and labels with labels[codes[i]] = column[i]; the code of a missing value is `MISSING`.
* `integers`: the column as a plain array if it holds integers and nothing is missing: there each value may be its own
  code, and a whole pass over the data is saved.
* `filled`: labels[codes[i]] in a column like the one given: of its type when that can hold every label.
* `with_gaps`: labels, sets of labels and nothing, in such a column.

Whoever randomises and whoever counts sees codes and labels only. To support another container, write a module with
these functions and add it to `CONTAINERS`. Lazy plans are no columns, and are refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from extremal.columns import arrays, arrow, lists, pandas, polars
from extremal.columns.lists import MISSING, Array, Codes
from extremal.errors import ExtremalError, InvalidParameter
from extremal.mechanism.labels import Labels


class Container(Protocol):
    """What a container answers about its columns."""

    def holds(self, column: Any) -> bool:
        """Whether `column` is a column of this container."""
        ...

    def distinct(self, column: Any, name: str) -> tuple[Codes, Sequence[Any]]:
        """(codes, labels) with labels[codes[i]] = column[i], or codes[i] = MISSING; labels may hold some that do not
        occur. `name` is for errors."""
        ...

    def integers(self, column: Any, /) -> Array | None:
        """The values as an array of an integer type; None if they are something else, or one is missing."""
        ...

    def filled(self, codes: Array, labels: Labels, like: Any, /) -> Any:
        """A column like `like`, and as long, that holds labels[codes[i]]; with n×d codes, sets of d labels."""
        ...

    def with_gaps(self, values: list[Any], labels: Labels, like: Any, /) -> Any:
        """A column like `like` that holds these labels, sets of labels (tuples), or None where there is none."""
        ...


CONTAINERS: dict[str, Container] = {
    "list": lists,
    "numpy": arrays,
    "pandas": pandas,
    "polars": polars,
    "pyarrow": arrow,
}

LAZY = {
    "LazyFrame": "frame.collect()",
    "Expr": "frame.select(...).collect()",
    "DuckDBPyRelation": "relation.arrow().read_all()",
    "DataFrame": "frame.toPandas() or frame.compute()",  # Spark's and Dask's; eager frames are found before
    "Series": "series.compute()",
    "Table": "table.to_pyarrow()",  # Ibis
}
LAZY_ENGINES = ("duckdb", "_duckdb", "pyspark", "dask", "dask_expr", "ibis", "sqlframe")


def root_of(container: Any) -> str:
    """The package that a container comes from."""
    return type(container).__module__.partition(".")[0]


def refuse_lazy(container: Any, parameter: str, why: str) -> None:
    """Raise on anything that is a plan rather than data, with the reason and the way to collect it."""
    root, kind = root_of(container), type(container).__name__
    if root in LAZY_ENGINES or hasattr(type(container), "collect") or (root == "polars" and kind == "Expr"):
        raise InvalidParameter(
            why,
            parameter=parameter,
            value=f"{root.lstrip('_')} {kind}",
            hint=f"Collect it once first: {LAZY.get(kind, 'collect()')}.",
        )


def container_of(column: Any) -> Container | None:
    """Who knows this column; None when it is no column."""
    return next((container for container in CONTAINERS.values() if container.holds(column)), None)


def distinct(column: Any, name: str) -> tuple[Codes, Sequence[Any]]:
    """(codes, labels) with labels[codes[i]] = column[i]; codes[i] is MISSING where a value is. Any other iterable than
    the known containers is taken for a list.

    >>> codes, labels = distinct(["b", "a", None, "b"], "reports")
    >>> codes.tolist(), labels[:2]
    ([0, 1, -1, 0], ['b', 'a'])
    """
    container = container_of(column)
    if container is not None:
        return container.distinct(column, name)
    if hasattr(column, "columns") and hasattr(column, "shape"):
        raise InvalidParameter(f"{name} must be one column", parameter=f"{name}.shape", value=column.shape)
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise InvalidParameter(f"{name} must be a sequence", parameter=name, value=column)
    return lists.distinct(list(column), name)


def lists_values(column: Any) -> bool:
    """Whether a column lists its values, in an order of its own: categories of pandas and polars, dictionaries of
    Arrow."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    kind = getattr(kind, "pyarrow_dtype", kind)
    return type(kind).__name__ in ("CategoricalDtype", "Categorical", "Enum", "DictionaryType")


def filled(codes: Array, labels: Labels, like: Any) -> Any:
    """A column of the container and, where it can hold the labels, of the type of `like`.

    >>> import numpy
    >>> filled(numpy.array([1, 0, 1]), Labels(["no", "yes"]), ["no"])
    ['yes', 'no', 'yes']
    """
    container = container_of(like)
    if container is None:
        raise InvalidParameter("like must be a column", parameter="like", value=type(like).__name__)
    return container.filled(codes, labels, like)


def with_gaps(values: list[Any], labels: Labels, like: Any) -> Any:
    """A column of the container of `like` from labels, sets of labels (tuples), and None where there is none.

    >>> with_gaps(["no", None], Labels(["yes", "no"]), ["yes", "no"])
    ['no', None]
    """
    container = container_of(like)
    return values if container is None else container.with_gaps(values, labels, like)


def refuse_missing(codes: Codes, name: str, hint: str, error: type[ExtremalError] = InvalidParameter) -> None:
    """Raise when some code is MISSING, naming the first one's position."""
    if codes.size and codes.min() == MISSING:
        where = f"{name}[{np.flatnonzero(codes == MISSING)[0]}]"
        raise error(f"{where} must not be missing", parameter=where, value=None, hint=hint)


@dataclass(frozen=True)
class Simulated:
    """Simulated reports, marked as such.

    Attributes:
        reports: in the container of the values.
        seed: whoever knows it can undo the randomisation.
        call: the number of the call of its Simulation, from 0.

    Made by `extremal.simulate.Simulation`.

    >>> import extremal as ex
    >>> from extremal.simulate import Simulation
    >>> found = Simulation(7).privatize(ex.randomized_response(["no", "yes"], 1), ["no", "yes"])
    >>> len(found.reports), found.seed
    (2, 7)
    """

    reports: Any
    seed: int
    call: int

    def __iter__(self) -> Iterator[Any]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        return f"Simulated(seed={self.seed}, call={self.call}, NOT PRIVATE: for experiments only, {self.reports!r})"
