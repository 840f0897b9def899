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
from extremal.columns.lists import Array, plain
from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.mechanism import Mechanism
from extremal.release.engines.key import ReleaseKey
from extremal.release.privatize import input_codes, report_labels, unknown
from extremal.release.sampling.loops import Codes, Loops
from extremal.release.sampling.sampler import ONE_WORD_A_VALUE, BadCode, prepared, sample_codes
from extremal.release.sampling.words import KEY_BYTES, Words

PURPOSE = b"extremal keyed release 2"  # how words become reports, and which words
KINDS = ("integer", "text", "bytes")
ID_BYTES, BLOCK_BYTES = 12, 16  # an id and a counter of 32 bits make a block of AES
ROWS_AT_A_TIME = 1 << 15  # blocks of half a megabyte stay in the cache

Blocks = npt.NDArray[np.uint64]


class KeyedColumn:
    """What one column of one release needs: the mechanism and its subkeys. It is never pickled by accident; `shipped`
    is for engines whose workers are other processes."""

    __slots__ = ("__secret", "_column", "mechanism", "name")

    def __init__(self, mechanism: Mechanism, name: Any, key: ReleaseKey) -> None:
        self.mechanism, self.name, self._column = mechanism, str(name), name
        self.__secret = column_secret(key, _tag(name), mechanism.hash)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self._column,)

    def shipped(self) -> tuple[Mechanism, str, bytes]:
        """The parts, for a worker of the same release. They hold the secret of this column."""
        return self.mechanism, self.name, self.__secret

    @classmethod
    def arrived(cls, parts: tuple[Mechanism, str, bytes]) -> KeyedColumn:
        """What `shipped` took apart."""
        column = object.__new__(cls)
        column.mechanism, column.name, column.__secret = parts
        column._column = column.name
        return column

    def _keys(self, kind: str) -> tuple[bytes, bytes]:
        """The cipher's key and the hash's key for one kind of id."""
        return keys_in(self.__secret, kind)

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


def column_secret(key: ReleaseKey, name: bytes, made_by: str) -> bytes:
    """The secret of one column of a release, from its name and the hash of what makes its reports."""
    parts = (PURPOSE, name, bytes.fromhex(made_by))
    purpose = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
    return key.derive(purpose, len(KINDS) * 2 * KEY_BYTES)


def keys_in(secret: bytes, kind: str) -> tuple[bytes, bytes]:
    """The cipher's key and the hash's key for one kind of id."""
    start = KINDS.index(kind) * 2 * KEY_BYTES
    return secret[start : start + KEY_BYTES], secret[start + KEY_BYTES : start + 2 * KEY_BYTES]


def _tag(name: Any) -> bytes:
    """The name of a column with its type: column 1 and column "1" share no words."""
    own = plain(name)
    return (f"text {own}" if isinstance(own, str) else f"{type(own).__name__} {own!r}").encode("utf-8", "surrogatepass")


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

    def words(self, rows: Codes | slice, first: Any = 0, each: int = 1) -> Words:
        """For each of these rows `each` of its words from word `first` on (a number for all rows, or one for each)."""
        ids, start = id_blocks(self._ids[rows])[:, None, :], np.asarray(first)
        # An odd start needs half a block more.
        blocks = ids if each == 1 else np.repeat(ids, each // 2 + 1, axis=1)
        blocks.view("<u4")[:, :, 3] = (start >> 1)[..., None] + np.arange(blocks.shape[1])
        space = np.empty(blocks.nbytes + BLOCK_BYTES - 1, dtype=np.uint8)  # the cipher asks for room it does not use
        self._cipher.update_into(blocks.reshape(-1).view(np.uint8), space)
        found = space[: blocks.nbytes].view("<u8").reshape(ids.shape[0], -1)
        even, odd = found[:, :each], found[:, 1 : each + 1]
        if start.ndim == 0:
            return odd if start & 1 else even
        return np.where((start & 1)[:, None], odd, even)

    def fill(self, words: Words) -> None:
        for start in range(0, words.size, ROWS_AT_A_TIME):
            part = words[start : start + ROWS_AT_A_TIME]
            part[:] = self.words(slice(self._next, self._next + part.size))[:, 0]
            self._next += part.size


class OwnWords:
    """A `WordSource` for some rows: each reads its own words, one after the other, however many the others read.

    Args:
        words: of all rows.
        rows: the numbers of those at hand.
        used: for each of all rows how many words it has read so far.
    """

    __slots__ = ("_rows", "_used", "_words")

    def __init__(self, words: RowWords, rows: Codes, used: Codes) -> None:
        self._words, self._rows, self._used = words, rows, used

    def of_values(self, places: Any) -> OwnWords:
        return OwnWords(self._words, self._rows[places], self._used)

    def fill(self, words: Words) -> None:
        """The same number of words for each row.

        Raises:
            PrivacyViolation: that does not come out even. Some rows would read the words of others.
        """
        each, rest = divmod(words.size, max(1, self._rows.size))
        if rest:
            raise PrivacyViolation(
                f"{self._rows.size} rows must read equally many words", parameter="words", value=words.size
            )
        table, at_a_time = words.reshape(-1, max(1, each)), max(1, ROWS_AT_A_TIME // (each // 2 + 1))
        for start in range(0, len(table), at_a_time):
            here = self._rows[start : start + at_a_time]
            table[start : start + at_a_time] = self._words.words(here, self._used[here], each)
        self._used[self._rows] += each


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
    """For each id of a column the two 64-bit words of its block: 12 bytes of id, then 4 of a counter, not yet set."""
    blocks = np.zeros((ids.shape[0], 2), dtype="<u8")
    if ids.ndim == 2:
        blocks.view("<u4")[:, :3] = ids
        return blocks
    signed = ids.dtype.kind == "i"
    wide = ids.astype("<i8" if signed else "<u8", copy=False)
    blocks[:, 0] = wide
    if signed:
        blocks[:, 1] = wide >> 63  # the sign, as far as the 96 bits go
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
    sampler, used = prepared(structure), np.zeros(rows.size, dtype=np.int64)
    out = np.empty(rows.size if sampler.size is None else (rows.size, sampler.size), dtype=np.int64)
    for start in range(0, rows.size, ROWS_AT_A_TIME):
        here = np.arange(start, min(start + ROWS_AT_A_TIME, rows.size))
        room = np.empty(here.size, dtype=np.uint64)
        out[here] = sampler.draw(rows[here], OwnWords(words, here, used), Loops(here.size), room)
    return out
