"""Reports on a column of strings, in frames and inside plans (polars LazyFrames, DuckDB, Spark).

With row ids the words of a device are a function of the release key and its id (`extremal.release.engines.keyed`), so
that a plan that is evaluated twice makes the same reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from extremal.columns.column import container_of, refuse_lazy
from extremal.columns.frames import columns_of, with_columns
from extremal.errors import InvalidParameter
from extremal.mechanism.labels import Labels
from extremal.release.engines.keyed import ROWS_AT_A_TIME, OwnWords, RowWords, column_secret, keys_in
from extremal.release.engines.lazy import checked_key, with_keyed_columns
from extremal.release.privatize import TWICE
from extremal.release.sampling.loops import Loops
from extremal.release.sampling.sampler import prepared

if TYPE_CHECKING:
    from extremal.discovery.protocol import HeavyHitters

REPORTS = Labels(range(1 << 53))  # every report is its own label


def privatize_frame(
    protocol: HeavyHitters,
    frame: Any,
    column: Any,
    row_id: Any,
    release_key: Any,
    check_ids: bool | None,
    connection: Any,
    part: str | None,
) -> Any:
    """See `HeavyHitters.privatize`."""
    if column is None or column == row_id:
        raise InvalidParameter("column must name the column of strings", parameter="column", value=column)
    if row_id is not None:
        reporter = KeyedStrings((protocol, part), column, _secret(protocol, column, release_key))
        return with_keyed_columns(frame, row_id, {column: reporter}, check_ids, connection)
    if release_key is not None:
        raise InvalidParameter("a release key needs row ids", parameter="row_id", value=None, hint="row_id='id'.")
    refuse_lazy(frame, "frame", TWICE)
    values = columns_of(frame, [column])[column]
    return with_columns(frame, {column: _filled(protocol.privatize(_texts(values), part=part), values)})


def _secret(protocol: HeavyHitters, column: Any, release_key: Any) -> bytes:
    return column_secret(checked_key(release_key), f"strings {column}".encode(), protocol.hash)


def _texts(values: Any) -> list[Any]:
    way = next((way for way in ("to_pylist", "to_list", "tolist") if hasattr(values, way)), None)
    return list(values) if way is None else list(getattr(values, way)())


def _filled(reports: Any, values: Any) -> Any:
    container = container_of(values)
    if container is None:
        raise InvalidParameter("the strings must be a column", parameter="column", value=type(values).__name__)
    return container.filled(reports, REPORTS, values)


class KeyedStrings:
    """A column of strings to be reported by a key. Never pickled by accident, as `KeyedColumn`."""

    __slots__ = ("__secret", "made_by", "name")

    def __init__(self, made_by: tuple[HeavyHitters, str | None], name: str, secret: bytes) -> None:
        self.made_by, self.name, self.__secret = made_by, name, secret

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.name,)

    def shipped(self) -> tuple[tuple[HeavyHitters, str | None], str, bytes]:
        """The parts, for a worker of the same release. They hold the secret of this column."""
        return self.made_by, self.name, self.__secret

    @classmethod
    def arrived(cls, parts: tuple[tuple[HeavyHitters, str | None], str, bytes]) -> KeyedStrings:
        """What `shipped` took apart."""
        return cls(*parts)

    def reports(self, ids: Any, values: Any) -> Any:
        """The reports on a column of strings, in the same kind of container."""
        protocol, part = self.made_by
        symbols = protocol.strings.encoded(_texts(values))
        words = RowWords(ids, lambda kind: keys_in(self.__secret, kind))
        if len(words) != len(symbols):
            raise InvalidParameter(
                f"there must be {len(symbols)} ids, one for each string", parameter="len(ids)", value=len(words)
            )
        made, used = np.empty(len(symbols), dtype=np.int64), np.zeros(len(symbols), dtype=np.int64)
        for start in range(0, len(symbols), ROWS_AT_A_TIME):
            here = np.arange(start, min(start + ROWS_AT_A_TIME, len(symbols)))
            own = OwnWords(words, here, used)

            def draw(mechanism: Any, codes: Any, mine: Any, own: OwnWords = own) -> Any:
                room = np.empty(codes.size, dtype=np.uint64)
                return prepared(mechanism.structure).draw(codes, own.of_values(mine), Loops(codes.size), room)

            made[here] = protocol.reports_on(symbols[here], own, draw, part)
        return _filled(made, values)

    def __repr__(self) -> str:
        return f"KeyedStrings({self.name!r}, secret)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a keyed column holds a secret and is never pickled: serialise the plan before privatize")
