"""Random 64-bit words: a cipher stream under a key that the operating system draws for each call.

AES-256 in counter mode over zeros, keyed by 32 bytes of `os.urandom`, gives words that nobody without the key can tell
from uniform ones. The key lives as long as one call: no generator is kept in a module, so a forked child, a thread or a
copied object never continues somebody else's stream. A seed is accepted by `extremal.simulate` alone.
"""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, NoSecureRandomness

LARGEST_CHUNK = 1 << 17  # words drawn from the cipher at a time
KEY_BYTES = 32  # of AES-256

Words = npt.NDArray[np.uint64]
_ZEROS = memoryview(bytes(8 * LARGEST_CHUNK))


class WordSource(Protocol):
    """Anything that fills an array with independent uniform 64-bit words."""

    def fill(self, words: Words) -> None: ...


def of_values(source: WordSource, places: Any) -> WordSource:
    """The source for some of the values at hand, by their places (an index of an array). Another one only where each
    value has words of its own (`release.engines.keyed`): whoever draws for fewer values than were given must say for
    which."""
    own = getattr(source, "of_values", None)
    return source if own is None else own(places)


class CipherWords:
    """AES-256-CTR under a given key: the same key gives the same words on every machine."""

    __slots__ = ("_stream",)

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # The counter starts at 0: with a key that is never used again no block repeats.
        self._stream: Any = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def fill(self, words: Words) -> None:
        """Overwrite `words` (contiguous) with the next words of the stream."""
        for start in range(0, words.size, LARGEST_CHUNK):
            part = words[start : start + LARGEST_CHUNK]
            self._stream.update_into(_ZEROS[: part.nbytes], part.view(np.uint8))
            if (
                part.dtype.byteorder == ">" or not np.little_endian
            ):  # pragma: no cover - words are little-endian everywhere
                part.byteswap(inplace=True)


class SecureWords(CipherWords):
    """A stream under a fresh key of the operating system. Make one for each call and let it go.

    Raises:
        NoSecureRandomness: the operating system has no generator, or the cipher cannot be loaded.

    >>> words = np.empty(4, dtype=np.uint64)
    >>> SecureWords().fill(words)
    """

    __slots__ = ()

    def __init__(self) -> None:
        try:
            super().__init__(os.urandom(KEY_BYTES))
        except (NotImplementedError, ImportError, OSError) as error:
            raise NoSecureRandomness(
                "a report needs the operating system's random generator and the package cryptography",
                parameter="cause",
                value=str(error),
                hint="Nothing was released. Install cryptography>=44 and run where os.urandom works.",
            ) from error

    def __reduce__(self) -> Any:
        raise TypeError("a secret stream is never copied or pickled")


SEED_NAMES = frozenset({"seed", "rng", "generator", "random_state", "random_seed", "key"})


def refuse_seed(options: dict[str, Any]) -> None:
    """Raise on any unknown keyword of a releasing function; name the way out when it is a seed. What was given is not
    shown: it may be a key."""
    for name, value in options.items():
        kind = f"something of type {type(value).__name__}"
        if name in SEED_NAMES:
            raise InvalidParameter(
                "a release takes no seed: whoever knows it can undo the randomisation",
                parameter=name,
                value=kind,
                hint="For experiments use extremal.simulate.Simulation(seed).",
            )
        raise InvalidParameter("privatize has no such option", parameter=name, value=kind)
