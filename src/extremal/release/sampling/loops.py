"""The inner loops: a chunk of row numbers and words in, a chunk of outputs out, in NumPy or compiled by numba.

An object holds the working arrays of one call, so that nothing is allocated inside the loop and threads share nothing.
`CompiledLoops` (`pip install 'extremal[fast]'`) gives the same outputs for the same words, bit for bit, several times
faster; compiling takes about a second, once a process, so only large calls ask for it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from extremal.errors import MissingDependency
from extremal.release.sampling.alias import AliasTable
from extremal.release.sampling.words import LARGEST_CHUNK, Words

Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Compiler = Callable[[Callable[..., Any]], Callable[..., Any]]


class Loops:
    """The loops over at most `chunk` values. Each overwrites the words by the outputs, in place, and returns that view
    of them."""

    chunk: ClassVar[int] = 1 << 14  # the working arrays of a chunk stay in the processor's second-level cache

    def __init__(self, largest: int) -> None:
        chunk = min(largest, self.chunk)
        self._column, self._entry = np.empty(chunk, dtype=np.uint64), np.empty(chunk, dtype=np.uint64)
        self._own = np.empty(chunk, dtype=np.bool_)

    def from_rows(self, table: AliasTable, rows: Codes, words: Words) -> Codes:
        """Word i picks the output of row rows[i]."""
        column, entry = self._column[: words.size], self._entry[: words.size]
        mask = np.uint64((1 << table.bits) - 1)
        np.bitwise_and(words, mask, out=column)
        where = entry.view(np.int64)
        np.left_shift(rows, np.int64(table.bits), out=where)
        np.bitwise_or(where, column.view(np.int64), out=where)
        # In range already: "clip" only avoids a copy of the output.
        np.take(table.entries, where, out=entry, mode="clip")
        return self._picked(column, entry, mask, words)

    def from_one_row(self, table: AliasTable, words: Words) -> Codes:
        """Every word picks a symbol of the same, single row."""
        column, entry = self._column[: words.size], self._entry[: words.size]
        mask = np.uint64((1 << table.bits) - 1)
        np.bitwise_and(words, mask, out=column)
        np.take(table.entries, column.view(np.int64), out=entry, mode="clip")
        return self._picked(column, entry, mask, words)

    def _picked(self, column: Words, entry: Words, mask: np.uint64, words: Words) -> Codes:
        own = self._own[: words.size]
        # (fraction of the word, then ones) < (threshold, then alias) exactly when fraction < threshold.
        np.bitwise_or(words, mask, out=words)
        np.less(words, entry, out=own)
        np.bitwise_and(entry, mask, out=entry)
        # Select without branches: alias ^ (alias ^ column)·own.
        np.bitwise_xor(column, entry, out=column)
        np.multiply(column, own, out=column)
        np.bitwise_xor(column, entry, out=words)
        return words.view(np.int64)

    def from_response(self, table: AliasTable, outputs: int, rows: Codes, words: Words) -> Codes:
        """Symbol s is the output rows[i] + s, cyclically."""
        shifted = self.from_one_row(table, words)
        np.add(shifted, rows, out=shifted)
        return self._wrapped(shifted, outputs)

    def _wrapped(self, shifted: Codes, outputs: int) -> Codes:
        """Numbers below 2·outputs, modulo outputs: what is already below turns huge when outputs is subtracted."""
        number, less = shifted.view(np.uint64), self._entry[: shifted.size]
        np.subtract(number, np.uint64(outputs), out=less)
        np.minimum(number, less, out=number)
        return shifted

    def from_windows(self, table: AliasTable, outputs: int, rows: Codes, words: Words) -> Codes:
        """Symbol s < outputs is the output s; symbol outputs + j is the output rows[i] − j, cyclically."""
        symbol = self.from_one_row(table, words)
        own, other = self._own[: words.size], self._column[: words.size].view(np.int64)
        np.less(symbol, outputs, out=own)
        np.subtract(rows, symbol, out=other)
        np.add(other, 2 * outputs, out=other)
        self._wrapped(other, outputs)
        np.bitwise_xor(symbol, other, out=symbol)
        np.multiply(symbol, own, out=symbol)
        np.bitwise_xor(symbol, other, out=symbol)
        return symbol


@cache
def _functions() -> tuple[Any, ...]:
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
    return (*_table_loops(function), *_set_loops(function))


def _table_loops(function: Compiler) -> tuple[Any, ...]:
    """Those that draw from an alias table."""

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


def _set_loops(function: Compiler) -> tuple[Any, ...]:
    """Those that draw and write sets."""

    @function
    def floyd_step(
        words: Any, rows: Any, newest: Any, over: Any, left: Any, member: Any, waiting: Any
    ) -> Any:  # pragma: no cover - compiled
        bound, count = np.uint64(newest + 1), 0
        for i in range(rows.size):
            row = rows[i]
            product = (words[i] >> np.uint64(32)) * bound
            if (product & np.uint64(0xFFFFFFFF)) < over:
                waiting[count] = row
                count += 1
            elif not left[row]:
                drawn = np.int64(product >> np.uint64(32))
                member[row, newest if member[row, drawn] else drawn] = True
        return count

    @function
    def members_loop(member: Any, x: Any, contains: Any, out: Any) -> None:  # pragma: no cover - compiled
        for row in range(x.size):
            place = 0
            for z in range(member.shape[1] + 1):
                inside = contains[row] if z == x[row] else member[row, z - (z > x[row])]
                if inside:
                    out[row, place] = z
                    place += 1

    return floyd_step, members_loop


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
        self._rows, self._response, self._windows, self._step, self._members = _functions()

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

    def floyd(self, words: Words, rows: Codes, newest: int, over: int, left: Flags, member: Flags) -> Codes:
        """One step of Floyd's algorithm for these rows of flags; the rows whose word was rejected are returned."""
        waiting = np.empty(rows.size, dtype=np.int64)
        return waiting[: self._step(words, rows, np.int64(newest), np.uint64(over), left, member, waiting)]

    def members(self, member: Flags, x: Codes, contains: Flags, out: Codes) -> None:
        """The sets as increasing codes, from flags of the others and whether they hold x."""
        self._members(member, x, contains, out)
