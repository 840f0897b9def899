"""What tests of the collector need from the system: a PostgreSQL server of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.servers import Database


@pytest.fixture(scope="session")
def database(postgresql: str) -> Iterator[Database]:
    """A database server of this run, on a socket of its own."""
    found = Database()
    yield found
    found.end()
