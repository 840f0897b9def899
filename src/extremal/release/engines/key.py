"""The release key: 32 secret bytes from which keyed sampling derives every word.

Whoever holds the key of a release can undo its randomisation, so the key stays where the true values are and goes
nowhere else: it is in no repr, no message, no plan, and cannot be pickled or copied. A saved key is a file that only
its owner can read. Two releases of the same people need two keys (`keyed` says why).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, NoReturn

from extremal.errors import FileConflict, InvalidParameter, MalformedFile, NoSecureRandomness
from extremal.paths import refuse_unusable
from extremal.release.sampling.words import KEY_BYTES

HEADER = b"extremal release key 1\n"
OWNER_ONLY = 0o600  # a key tells every report's randomness


class ReleaseKey:
    """A secret of 32 bytes of the operating system's randomness. Make one with `ReleaseKey.new()`.

    Guarantee: two keys are never equal but with probability 2^-256, and nothing that the package prints or writes
    holds one but the file that `save` makes, readable by its owner alone.

    Reference: H. Krawczyk, P. Eronen, RFC 5869 (2010).

    >>> ReleaseKey.new()
    ReleaseKey(secret)
    """

    __slots__ = ("_secret",)
    _secret: bytes

    def __init__(self) -> None:
        raise TypeError("make a release key with ReleaseKey.new(), or read a saved one with ReleaseKey.load(path)")

    @classmethod
    def new(cls) -> ReleaseKey:
        """A fresh key.

        Raises:
            NoSecureRandomness: the operating system has no generator.
        """
        try:
            return cls._of(os.urandom(KEY_BYTES))
        except (NotImplementedError, OSError) as error:
            raise NoSecureRandomness(
                "a release key needs the operating system's random generator", parameter="cause", value=str(error)
            ) from error

    @classmethod
    def _of(cls, secret: bytes) -> ReleaseKey:
        key = object.__new__(cls)
        key._secret = secret
        return key

    def save(self, path: str | Path) -> Path:
        """Write the key into a new file that only its owner can read (mode 0600); an existing file is never replaced.

        Raises:
            FileConflict: the file exists: reports made with the key in it could no longer be repeated.
        """
        target = Path(path)
        refuse_unusable(target)
        try:
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        except FileExistsError:
            raise FileConflict("the key file must not exist yet", parameter="path", value=str(target)) from None
        with os.fdopen(handle, "wb") as file:
            file.write(HEADER + self._secret.hex().encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return target

    @classmethod
    def load(cls, path: str | Path) -> ReleaseKey:
        """Read a saved key.

        Raises:
            FileNotFoundError: there is no such file.
            MalformedFile: it holds no release key.
            InvalidParameter: others than its owner may read it.
        """
        source = Path(path)
        refuse_unusable(source)
        mode = stat.S_IMODE(source.stat().st_mode)
        if os.name == "posix" and mode & 0o077:
            raise InvalidParameter(
                "a key file must be readable by its owner alone",
                parameter="mode",
                value=f"{mode:04o}",
                hint=f"chmod 600 {source}; if others may have read it, the reports made with it are not private.",
            )
        with source.open("rb") as file:
            content = file.read(4 * KEY_BYTES + len(HEADER))
        digits = content.removeprefix(HEADER).rstrip(b"\n")
        try:
            secret = bytes.fromhex(digits.decode("ascii"))
        except ValueError:
            secret = b""
        if not content.startswith(HEADER) or len(secret) != KEY_BYTES:
            raise MalformedFile("the file must hold a release key", parameter="path", value=str(source))
        return cls._of(secret)

    def derive(self, purpose: bytes, length: int) -> bytes:
        """HKDF-SHA256 (RFC 5869) of the key without salt, for one purpose: knowing it tells nothing of any other."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        return HKDF(SHA256(), length, None, purpose).derive(self._secret)

    def __repr__(self) -> str:
        return "ReleaseKey(secret)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a release key is never copied or pickled; save it with key.save(path)")
