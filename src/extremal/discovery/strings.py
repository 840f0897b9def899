"""Strings as rows of symbols, and public fingerprints of their prefixes.

A string has at most so many bytes, each of an alphabet; it is padded by the symbol 0, which stands for its end, so that
all strings have the same length and no string is the prefix of another. The fingerprint of a prefix is made symbol by
symbol, F(p·c) = mix(F(p) + (c + 1)·φ), so that all children of many prefixes are made at once. `mix` is the finaliser
of SplitMix64, a permutation of the 64-bit words. Nothing here is secret and no privacy rests on it; what rests on it is
that the fingerprints of different strings look independent (two of them are equal with probability about 2^-64).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter

Symbols = npt.NDArray[np.uint8]
Prints = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, as in SplitMix64
_FIRST, _SECOND = (
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)  # its multipliers (Stafford's variant 13)


def mixed(words: Prints) -> Prints:
    """The finaliser of SplitMix64.

    >>> [hex(w) for w in mixed(np.array([1, 2], dtype=np.uint64)).tolist()]
    ['0x5692161d100b05e5', '0xdbd238973a2b148a']
    """
    found = (words ^ (words >> np.uint64(30))) * _FIRST
    found = (found ^ (found >> np.uint64(27))) * _SECOND
    return np.asarray(found ^ (found >> np.uint64(31)))


@dataclass(frozen=True)
class Strings:
    """The strings that a protocol is about.

    Attributes:
        max_bytes: the longest.
        alphabet: the bytes that may occur, in order; never 0.
        salt: a public number of 64 bits: another one gives other fingerprints.
    """

    max_bytes: int
    alphabet: bytes
    salt: int

    @property
    def symbols(self) -> int:
        """How many there are, the end included."""
        return len(self.alphabet) + 1

    @cached_property
    def _codes(self) -> npt.NDArray[np.int16]:
        table = np.full(256, -1, dtype=np.int16)
        table[0] = 0
        table[np.frombuffer(self.alphabet, dtype=np.uint8)] = np.arange(1, self.symbols)
        return table

    def encoded(self, strings: Sequence[Any]) -> Symbols:
        """A row of symbols for each string.

        Raises:
            InvalidParameter: something that is no text, is empty, too long, or has a byte outside of the alphabet; the
                message says where, and not what it is.
        """
        parts = []
        for i, string in enumerate(strings):
            raw = _utf8(string) if isinstance(string, str) else string
            if not isinstance(raw, bytes) or not 0 < len(raw) <= self.max_bytes or b"\0" in raw:
                raise InvalidParameter(
                    f"strings[{i}] must be a text of 1 to {self.max_bytes} bytes in UTF-8, without NUL",
                    parameter=f"strings[{i}]",
                    hint="Shorten them on the device, or make max_bytes larger.",
                )
            parts.append(raw.ljust(self.max_bytes, b"\0"))
        found = self._codes[np.frombuffer(b"".join(parts), dtype=np.uint8)].reshape(len(parts), self.max_bytes)
        if (found < 0).any():
            where = int(np.flatnonzero((found < 0).any(axis=1))[0])
            raise InvalidParameter(
                f"strings[{where}] must be made of the alphabet",
                parameter=f"strings[{where}]",
                hint="Give a larger alphabet.",
            )
        return found.astype(np.uint8)

    def decoded(self, symbols: Symbols) -> list[str]:
        """The strings of rows of symbols; bytes that are no UTF-8 are escaped."""
        letters = np.frombuffer(b"\0" + self.alphabet, dtype=np.uint8)[symbols]
        return [row.tobytes().rstrip(b"\0").decode("utf-8", "backslashreplace") for row in letters]

    def roots(self, count: int) -> Prints:
        """The fingerprint of the empty prefix, so many times."""
        return np.full(count, self.salt, dtype=np.uint64)

    def extended(self, prints: Prints, symbols: Any) -> Prints:
        """Fingerprints one symbol further; the two are broadcast."""
        return mixed(prints + (np.asarray(symbols).astype(np.uint64) + np.uint64(1)) * _GOLDEN)

    def prints(self, symbols: Symbols, length: int) -> Prints:
        """Of the prefixes of this length."""
        found = self.roots(symbols.shape[0])
        for i in range(length):
            found = self.extended(found, symbols[:, i])
        return found


def _utf8(string: str) -> bytes:
    """Its bytes; none for what UTF-8 cannot write, since the codec's own error would quote the string."""
    try:
        return string.encode("utf-8")
    except UnicodeEncodeError:
        return b""


def places(prints: Prints, level: int, size: int) -> npt.NDArray[np.int64]:
    """Where the hashed prefixes of one level stand among `size` labels."""
    return np.asarray(
        (mixed(prints ^ np.uint64((level + 1) * int(_SECOND) % 2**64)) % np.uint64(size)).astype(np.int64)
    )


def buckets(prints: Prints, seeds: Prints, bits: int) -> npt.NDArray[np.int64]:
    """The bucket of each string under each device's own seed, of 2^bits; the two are broadcast."""
    return np.asarray((mixed(prints + mixed(seeds * _GOLDEN + _FIRST)) >> np.uint64(64 - bits)).astype(np.int64))
