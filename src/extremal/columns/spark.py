"""Apache Spark: reports are made by a function on Arrow batches in the workers; a task that runs again makes the same.

The workers need the package installed. The secret of a column reaches them inside the function, which Spark keeps in
memory and sends with the tasks: it is not in the plan's text, and in no file of the driver, as a broadcast variable
would be. Between machines, and where executors may spill to their disks, encrypt (`spark.network.crypto.enabled`,
`spark.io.encryption.enabled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from extremal.errors import InvalidParameter, MissingDependency

if TYPE_CHECKING:
    from extremal.columns.engines import Reporter

CHEAP_TO_CHECK = False  # repeated ids are found only by shuffling all of them


def holds(frame: Any) -> bool:
    return type(frame).__module__.partition(".")[0] == "pyspark" and type(frame).__name__ == "DataFrame"


def names(frame: Any) -> list[str]:
    return list(frame.columns)


def with_reports(frame: Any, row_id: str, columns: Mapping[str, Reporter], _connection: Any) -> Any:
    try:
        from pyspark.sql.functions import arrow_udf
    except ImportError as error:
        raise MissingDependency(
            f"Spark frames need pyspark 4.1 or newer ({error})", hint="pip install 'extremal[spark]'."
        ) from None
    if ".connect." in type(frame).__module__:
        raise InvalidParameter(
            "Spark Connect cannot give its workers a secret",
            parameter="frame",
            value=type(frame).__module__,
            hint="Use a session on the driver: SparkSession.builder.master(…).",
        )
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

    wanted = {one for column in columns.values() for one in column.reads}
    kinds = {field.name: to_arrow_type(field.dataType) for field in frame.schema.fields if field.name in wanted}
    id_kind = to_arrow_type(frame.schema[row_id].dataType)
    made = {}
    for name, column in columns.items():
        mechanism, *secret = column.shipped()
        shared = frame.sparkSession.sparkContext.broadcast(mechanism)  # which may be large, and is public
        made_of = signed(column.reports(_empty(id_kind), *(_empty(kinds[one]) for one in column.reads)).type)
        function = arrow_udf(_batches(type(column), shared, secret, made_of), from_arrow_type(made_of))
        made[name] = function(*(frame[_quoted(one)] for one in (row_id, *column.reads)))
    return frame.withColumns(made)


def _empty(kind: Any) -> Any:
    import pyarrow as pa

    return pa.array([], type=kind)


def signed(kind: Any) -> Any:
    """An Arrow type that Spark knows: it has no bytes without a sign, so that words of bits are lists of 16-bit
    numbers."""
    import pyarrow as pa

    return pa.list_(pa.int16()) if kind == pa.list_(pa.uint8()) else kind


def _batches(kind: Any, shared: Any, secret: list[Any], made_of: Any) -> Any:
    import pyarrow as pa

    def batches(*given: pa.Array) -> pa.Array:
        return kind.arrived((shared.value, *secret)).reports(*given).cast(made_of)

    # Spark reads what a function takes from its annotations, and needs the classes rather than their names.
    batches.__annotations__ = {"given": pa.Array, "return": pa.Array}
    return batches


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def repeats(frame: Any, row_id: str) -> bool:
    ids = frame.select(_quoted(row_id))
    return int(ids.na.drop().distinct().count()) != int(ids.count())


def counted(frame: Any, column: str) -> list[tuple[Any, int]]:
    found = frame.groupBy(_quoted(column)).count().collect()
    return [(tuple(v) if isinstance(v, list) else v, int(n)) for v, n in found]
