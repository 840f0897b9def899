"""Engines: frames that are plans, evaluated when somebody asks, perhaps twice and in pieces.

Every engine answers the same questions (`Engine`), one module each. A report there must be a function of its row alone
(`release.engines.keyed`), and counting happens inside the engine: rows are never collected. To support another one,
write a module with these functions and add it to `ENGINES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from extremal.columns import duckdb, polars_lazy, spark


class Reporter(Protocol):
    """Makes the reports of one column: the same for the same ids and values, whenever it is asked. `reads` names the
    columns whose values it is given, in their order."""

    @property
    def reads(self) -> tuple[str, ...]: ...

    def reports(self, ids: Any, *values: Any) -> Any: ...

    def shipped(self) -> Any: ...

    @classmethod
    def arrived(cls, parts: Any) -> Reporter: ...


class Engine(Protocol):
    """What an engine answers about its frames."""

    CHEAP_TO_CHECK: bool  # whether looking for repeated ids is one pass over one column

    def holds(self, frame: Any) -> bool:
        """Whether `frame` is a plan of this engine."""
        ...

    def names(self, frame: Any, /) -> list[str]:
        """The names of its columns."""
        ...

    def with_reports(self, frame: Any, row_id: str, columns: Mapping[str, Reporter], connection: Any, /) -> Any:
        """A plan of the same engine with these columns replaced by their reports."""
        ...

    def repeats(self, frame: Any, row_id: str, /) -> bool:
        """Whether an id is missing or occurs twice; evaluates the plan's column of ids."""
        ...

    def counted(self, frame: Any, column: str, /) -> list[tuple[Any, int]]:
        """Each different value of a column and how often it occurs, counted where the data are."""
        ...


ENGINES: dict[str, Engine] = {"polars": polars_lazy, "duckdb": duckdb, "spark": spark}


def engine_of(frame: Any) -> Engine | None:
    """Whose plan this is; None when it is none that we know."""
    return next((engine for engine in ENGINES.values() if engine.holds(frame)), None)
