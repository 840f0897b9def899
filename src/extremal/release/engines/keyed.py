"""Keyed sampling: a row's report is a function of the release key, the row's id and its value, so that whoever
evaluates a plan again gets the same reports.

The words of a row are AES-256 under a subkey that belongs to the release key, the column's name, the mechanism's hash
and the kind of id (HKDF-SHA256): block b of row i encrypts the 12 bytes of the id and the 4 bytes of b, and is words 2b
and 2b+1. An integer id goes in as it is, 96 bits in two's complement; text and bytes go through keyed BLAKE2b (96 bits:
among 2^32 ids two agree with probability 2^-33). Different ids give blocks that nobody without the key can tell from
independent uniform ones, so each report has exactly the probabilities of `sample_codes`, by the same tables and loops.

Promise: evaluating one data set again, in any order and any pieces, gives the same reports. No promise: with the same
key and the same id another value gives another report *from the same words*, and whoever sees both learns more than two
independent reports tell. A second wave needs a new key, and costs its own ε; `Memory` is for asking the same person
again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from extremal.columns.column import container_of
from extremal.columns.lists import Array
from extremal.errors import InvalidParameter
from extremal.exact.weights import WEIGHT_BITS
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import (
    BloomBits,
    Circulant,
    IndependentBits,
    RandomizedResponse,
    Rows,
    Structure,
    SubsetSelection,
    TwoValuedColumns,
)
from extremal.release.engines.key import KEY_BYTES, ReleaseKey
from extremal.release.privatize import input_codes, report_labels, unknown
from extremal.release.sampling.loops import Codes, Loops
from extremal.release.sampling.rules import MOST_BITS
from extremal.release.sampling.sampler import BadCode, prepared, sample_codes
from extremal.release.sampling.subsets import LARGEST_BOUND, LARGEST_FLAGS
from extremal.release.sampling.words import Words

PURPOSE = b"extremal keyed release 1"
ONE_WORD_A_VALUE = {s.kind for s in (Rows, RandomizedResponse, Circulant, TwoValuedColumns)}
KINDS = ("integer", "text", "bytes")
ID_BYTES, BLOCK_BYTES = 12, 16
ROWS_AT_A_TIME = 1 << 15  # blocks of half a megabyte stay in the cache
ROWS_IN_STEP = 1 << 9  # a rejection makes the rows of its piece be drawn again
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)

Blocks = npt.NDArray[np.uint32]


class KeyedColumn:
    """What one column of one release needs: the mechanism and its subkeys. It is never pickled by accident; `shipped`
    is for engines whose workers are other processes."""

    __slots__ = ("__secret", "mechanism", "name")

    def __init__(self, mechanism: Mechanism, name: str, key: ReleaseKey) -> None:
        purpose = b"".join(
            len(part).to_bytes(4, "little") + part
            for part in (PURPOSE, name.encode("utf-8", "surrogatepass"), bytes.fromhex(mechanism.hash))
        )
        self.mechanism, self.name = mechanism, name
        self.__secret = key.derive(purpose, len(KINDS) * 2 * KEY_BYTES)

    def shipped(self) -> tuple[Mechanism, str, bytes]:
        """The parts, for a worker of the same release. They hold the secret of this column."""
        return self.mechanism, self.name, self.__secret

    @classmethod
    def arrived(cls, parts: tuple[Mechanism, str, bytes]) -> KeyedColumn:
        """What `shipped` took apart."""
        column = object.__new__(cls)
        column.mechanism, column.name, column.__secret = parts
        return column

    def _keys(self, kind: str) -> tuple[bytes, bytes]:
        """The cipher's key and the hash's key for one kind of id."""
        start = KINDS.index(kind) * 2 * KEY_BYTES
        return self.__secret[start : start + KEY_BYTES], self.__secret[start + KEY_BYTES : start + 2 * KEY_BYTES]

    def reports(self, ids: Any, values: Any) -> Any:
        """The reports on `values`, in the same kind of container; `ids` is a column of the same length."""
        container = container_of(values)
        if container is None:
            raise InvalidParameter("values must be a column", parameter=self.name, value=type(values).__name__)
        codes = input_codes(container, self.mechanism.input_labels, values, self.name)
        words = RowWords(ids, self._keys)
        if len(words) != codes.size:
            raise InvalidParameter(
                f"there must be {codes.size} ids, one for each value", parameter="len(ids)", value=len(words)
            )
        try:
            drawn = sample_keyed(self.mechanism, codes, words)
        except BadCode as error:
            where, value = f"{self.name}[{error.position}]", codes[error.position].item()
            raise unknown(self.mechanism.input_labels, value, where) from None
        return container.filled(drawn, report_labels(self.mechanism, drawn), values)

    def __repr__(self) -> str:
        return f"KeyedColumn({self.name!r}, secret)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a keyed column holds a secret and is never pickled: serialise the plan before privatize")


class RowWords:
    """The words of each of a number of rows: word j of row i is a function of the id of row i, whatever the order.

    As a `WordSource` it gives word 0 of the next rows: what samplers of one word a value ask for.
    """

    __slots__ = ("_cipher", "_ids", "_next")

    def __init__(self, ids: Any, keys: Any) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        kind, self._ids = id_column(ids, lambda kind: keys(kind)[1])
        # One block at a time under a permutation of 2^128 blocks, none asked twice: as good as counter mode.
        self._cipher: Any = Cipher(algorithms.AES(keys(kind)[0]), modes.ECB()).encryptor()
        self._next = 0

    def __len__(self) -> int:
        return int(self._ids.shape[0])

    def word(self, rows: Codes | slice, number: Any) -> Words:
        """Word `number` (one for all rows, or one each) of these rows."""
        blocks = id_blocks(self._ids[rows])
        index = np.asarray(number)
        blocks[:, 3] = index >> 1
        space = np.empty(blocks.nbytes + BLOCK_BYTES - 1, dtype=np.uint8)  # the cipher asks for room it does not use
        self._cipher.update_into(blocks.view(np.uint8).reshape(-1), space)
        out = space[: blocks.nbytes].view("<u8").reshape(-1, 2)
        odd = index & 1
        chosen = out[:, int(odd)] if index.ndim == 0 else np.where(odd == 1, out[:, 1], out[:, 0])
        return np.ascontiguousarray(chosen, dtype=np.uint64)

    def fill(self, words: Words) -> None:
        for start in range(0, words.size, ROWS_AT_A_TIME):
            part = words[start : start + ROWS_AT_A_TIME]
            part[:] = self.word(slice(self._next, self._next + part.size), 0)
            self._next += part.size


def id_column(ids: Any, hash_key: Any) -> tuple[str, Array]:
    """The kind of the ids, and the ids: integers as they are, others hashed into 12 bytes, as rows of three numbers.

    Raises:
        InvalidParameter: ids that are missing, or neither integers nor text nor bytes.
    """
    container = container_of(ids)
    if container is None:
        raise InvalidParameter("row_id must be a column", parameter="row_id", value=type(ids).__name__)
    own = container.integers(ids)
    if own is not None and own.dtype.kind in "iu":
        return "integer", own
    if isinstance(ids, list):
        return _hashed(ids, hash_key)
    as_list = next(getattr(ids, way) for way in ("to_pylist", "to_list", "tolist") if hasattr(ids, way))
    return _hashed(as_list(), hash_key)


def id_blocks(ids: Array) -> Blocks:
    """For each id of a column the four 32-bit words of its block, the last (the counter) zero."""
    blocks = np.zeros((ids.shape[0], 4), dtype="<u4")
    if ids.ndim == 2:
        blocks[:, :3] = ids
        return blocks
    wide = ids.astype("<i8" if ids.dtype.kind == "i" else "<u8", copy=False)
    blocks[:, :2] = np.ascontiguousarray(wide).view("<u4").reshape(-1, 2)
    if ids.dtype.kind == "i":
        blocks[:, 2] = wide >> 63  # the sign, as far as the 96 bits go
    return blocks


def _hashed(ids: Sequence[Any], hash_key: Any) -> tuple[str, Array]:
    kinds = {type(value) for value in ids}
    if kinds <= {int} and all(-(1 << 63) <= value < 1 << 63 for value in ids):
        return "integer", np.array(ids, dtype=np.int64)
    if kinds not in ({str}, {bytes}):
        raise InvalidParameter(
            "row ids must be integers of 64 bits, text or bytes, all of one kind and none missing",
            parameter="types of row ids",
            value=sorted(kind.__name__ for kind in kinds),
            hint="Cast the column first.",
        )
    kind = "text" if kinds == {str} else "bytes"
    start = hashlib.blake2b(key=hash_key(kind), digest_size=ID_BYTES)
    digests = bytearray(ID_BYTES * len(ids))
    for row, value in enumerate(ids):
        hashed = start.copy()
        hashed.update(value.encode("utf-8", "surrogatepass") if kind == "text" else value)
        digests[ID_BYTES * row : ID_BYTES * (row + 1)] = hashed.digest()
    return kind, np.frombuffer(digests, dtype="<u4").reshape(-1, 3)


def sample_keyed(mechanism: Mechanism, codes: Array, words: RowWords) -> Array:
    """`sample_codes` with the words of each row."""
    structure = mechanism.structure
    if structure.kind in ONE_WORD_A_VALUE:
        return sample_codes(mechanism, codes, source=words)
    whole = codes.astype(np.int64, copy=False)
    bad = np.flatnonzero((whole < 0) | (whole >= mechanism.k))
    if bad.size:
        raise BadCode(int(bad[0]), mechanism.k)
    rows = whole if mechanism.row_of is None else mechanism.row_of.take(whole)
    if isinstance(structure, SubsetSelection):
        return keyed_subsets(structure.r, structure.size, structure.inside, rows, words)
    return in_step(structure, rows, words)


def in_step(structure: Structure, rows: Codes, words: RowWords) -> Codes:
    """What the structure's sampler draws for each row alone, from the words of that row one after the other.

    Rows that read equally many words are drawn together; where one draws again (rejection), its piece is cut in halves,
    until it is alone.
    """
    sampler, each = prepared(structure), _bits_of(structure)
    out = np.empty(rows.size if sampler.size is None else (rows.size, sampler.size), dtype=np.int64)
    at_a_time = max(1, min(ROWS_IN_STEP, MOST_BITS // each))
    pieces = [(start, min(start + at_a_time, rows.size)) for start in range(0, rows.size, at_a_time)]
    while pieces:
        start, stop = pieces.pop()
        buffer = np.empty(stop - start, dtype=np.uint64)
        try:
            step = Step(words, start, stop - start, each)
            out[start:stop] = sampler.draw(rows[start:stop], step, Loops(stop - start), buffer)
        except Uneven:
            middle = (start + stop) // 2
            pieces += [(start, middle), (middle, stop)]
    return out


def _bits_of(structure: Structure) -> int:
    """How many words a report takes at once where its bits are drawn."""
    if isinstance(structure, BloomBits):
        return structure.bits
    return structure.r if isinstance(structure, IndependentBits) else 1


class Uneven(Exception):
    """Some rows of a piece need more words than others."""


class Step:
    """A `WordSource` for some rows: each gets its next word, or its next `each`; one row alone, as many as asked."""

    __slots__ = ("_count", "_each", "_first", "_next", "_words")

    def __init__(self, words: RowWords, first: int, count: int, each: int) -> None:
        self._words, self._first, self._count, self._each, self._next = words, first, count, each, 0

    def fill(self, words: Words) -> None:
        if self._count > 1 and words.size not in (self._count, self._count * self._each):
            raise Uneven
        each = words.size // self._count
        rows = np.repeat(np.arange(self._first, self._first + self._count), each)
        words[:] = self._words.word(rows, self._next + np.tile(np.arange(each), self._count))
        self._next += each


def keyed_subsets(k: int, d: int, weight: int, codes: Codes, words: RowWords) -> Codes:
    """`subset_reports`, where each row reads its own words one after the other: word 0 decides whether the report
    holds x, then Floyd's steps take one word each, and one more for each rejection."""
    out = np.empty((codes.size, d), dtype=np.int64)
    at_a_time = max(1, LARGEST_FLAGS // k)
    for start in range(0, codes.size, at_a_time):
        x = codes[start : start + at_a_time]
        here = np.arange(start, start + x.size)
        contains = (words.word(here, 0) >> np.uint64(64 - WEIGHT_BITS)) < np.uint64(weight)
        used = np.ones(x.size, dtype=np.int64)  # words that each row has read
        sizes = d - contains.astype(np.int64)
        member = np.zeros((x.size, k), dtype=np.bool_)  # the k−1 others, numbered without x; those from x on move up
        for step in range(int(sizes.max(initial=0)), 0, -1):
            rows = np.flatnonzero(sizes >= step)
            newest = k - 1 - step
            drawn = _below(newest + 1, rows, here, used, words)
            place, last = drawn + (drawn >= x[rows]), newest + (newest >= x[rows])
            member[rows, np.where(member[rows, place], last, place)] = True
        member[np.arange(x.size), x] = contains
        out[start : start + x.size] = np.nonzero(member)[1].reshape(x.size, d)
    return out


def _below(bound: int, rows: Codes, here: Codes, used: Codes, words: RowWords) -> Codes:
    """For each of the rows its next integer uniform on 0..bound−1, as `subsets.uniform_below` draws it."""
    out = np.empty(rows.size, dtype=np.int64)
    waiting, over = np.arange(rows.size), np.uint64(LARGEST_BOUND % bound)
    while waiting.size:
        now = rows[waiting]
        product = (words.word(here[now], used[now]) >> _HALF) * np.uint64(bound)
        used[now] += 1
        good = (product & _LOW) >= over
        out[waiting[good]] = (product[good] >> _HALF).view(np.int64)
        waiting = waiting[~good]
    return out
