"""The inner loops compiled by numba (`pip install 'extremal[fast]'`): the same outputs for the same words, several
times faster.

Compilation takes about a second, once a process, so only large calls ask for it.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any, ClassVar

import numpy as np

from extremal.errors import MissingDependency
from extremal.release.sampling.alias import AliasTable
from extremal.release.sampling.loops import Codes, Loops
from extremal.release.sampling.words import LARGEST_CHUNK, Words


@cache
def _functions() -> tuple[Any, Any, Any]:
    """The compiled functions; made on first use.

    Raises:
        MissingDependency: numba is not installed.
    """
    try:
        import numba
    except ImportError as error:
        raise MissingDependency(
            f"the compiled kernels need numba ({error})", hint="pip install 'extremal[fast]'."
        ) from None
    function = numba.njit(nogil=True)

    @function
    def picked(entry: Any, column: Any, mask: Any, word: Any) -> Any:  # pragma: no cover - compiled
        return np.int64(column if (word | mask) < entry else entry & mask)

    @function
    def rows_loop(entries: Any, bits: Any, rows: Any, words: Any, out: Any) -> None:  # pragma: no cover - compiled
        mask = (np.uint64(1) << bits) - np.uint64(1)
        for i in range(rows.size):
            column = words[i] & mask
            out[i] = picked(entries[(np.uint64(rows[i]) << bits) | column], column, mask, words[i])

    @function
    def response_loop(
        entries: Any, bits: Any, outputs: Any, rows: Any, words: Any, out: Any
    ) -> None:  # pragma: no cover - compiled
        mask = (np.uint64(1) << bits) - np.uint64(1)
        for i in range(rows.size):
            column = words[i] & mask
            shifted = rows[i] + picked(entries[column], column, mask, words[i])
            out[i] = shifted - (outputs & ((outputs - 1 - shifted) >> 63))

    @function
    def windows_loop(
        entries: Any, bits: Any, outputs: Any, rows: Any, words: Any, out: Any
    ) -> None:  # pragma: no cover - compiled
        mask = (np.uint64(1) << bits) - np.uint64(1)
        for i in range(rows.size):
            column = words[i] & mask
            symbol = picked(entries[column], column, mask, words[i])
            cyclic = rows[i] - symbol + outputs
            cyclic += outputs & (cyclic >> 63)  # masks, not branches: which way a report goes cannot be predicted
            out[i] = symbol ^ ((symbol ^ cyclic) & ((outputs - 1 - symbol) >> 63))

    return rows_loop, response_loop, windows_loop


def can_compile() -> bool:
    """Whether numba is installed and loads; some of its versions refuse some of NumPy's."""
    if importlib.util.find_spec("numba") is None:
        return False
    try:
        _functions()
    except MissingDependency:
        return False
    return True


class CompiledLoops(Loops):
    """`Loops`, compiled."""

    chunk: ClassVar[int] = LARGEST_CHUNK  # no working arrays; long chunks take Python's lock less often

    def __init__(self) -> None:
        super().__init__(0)
        self._rows, self._response, self._windows = _functions()

    def from_rows(self, table: AliasTable, rows: Codes, words: Words) -> Codes:
        out = words.view(np.int64)
        self._rows(table.entries, np.uint64(table.bits), rows, words, out)
        return out

    def from_response(self, table: AliasTable, outputs: int, rows: Codes, words: Words) -> Codes:
        out = words.view(np.int64)
        self._response(table.entries, np.uint64(table.bits), np.int64(outputs), rows, words, out)
        return out

    def from_windows(self, table: AliasTable, outputs: int, rows: Codes, words: Words) -> Codes:
        out = words.view(np.int64)
        self._windows(table.entries, np.uint64(table.bits), np.int64(outputs), rows, words, out)
        return out
