"""Files that are complete or absent: whatever interrupts a run, no partial file appears under its final name.

What is written stands under a temporary name in the target's folder, is flushed to the disk and gets its final name
when it is whole: a reader sees the old file or the new one. A file that must not exist yet is claimed in the same step
(a link, which fails when somebody else was faster). Mechanism and certificate files, released data, pictures and the
notes beside them are all written so; `mechanism` stands below `columns`, so that this stands below both.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from extremal.errors import FileConflict
from extremal.paths import refuse_unusable

_PRIVATE = 0o600  # of a file that is not finished: its owner alone reads and writes it


@contextlib.contextmanager
def complete_or_absent(
    path: Path, overwrite: bool, place: Callable[[Path, Path, bool], None] | None = None
) -> Iterator[Path]:
    """A temporary name beside `path`; put in its place when the block ends well, removed when it does not.

    The temporary file is private. The result has the permissions that a new file would have, and none that the file it
    replaces did not have. `place(temporary, path, overwrite)` does the last step; `into_place` if not given.
    """
    refuse_unusable(path)
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(path.parent))
    temporary = _temporary(path)
    try:  # from before the file is there: a signal may come at any moment
        mode = _created(temporary)
        with naming(path):
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                mode &= path.stat().st_mode
            temporary.chmod(mode)
            (place or into_place)(temporary, path, overwrite)
    finally:
        temporary.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    """A hidden name beside `path` that nobody has; forty characters of the old one never make it too long."""
    return path.parent / f".{path.name[:40]}.{secrets.token_hex(6)}.tmp"


def _created(temporary: Path) -> int:
    """Make the file for this user alone; which permissions the user's mask would have given it."""
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        mode = os.fstat(handle).st_mode & 0o777
    finally:
        os.close(handle)
    temporary.chmod(_PRIVATE)
    return mode


@contextlib.contextmanager
def folder_or_nothing(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`, for files; when the block ends well they get their places in `path`, else
    nothing is left, nor any folder above it that was not there."""
    path = path.absolute()
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    temporary = _temporary(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with naming(path):
            temporary.mkdir(mode=0o700)
            yield temporary
            for file in temporary.iterdir():
                os.replace(file, path / file.name)
        missing = []
    finally:
        for folder in [temporary, *missing[:1]]:
            shutil.rmtree(folder, ignore_errors=True)
        for folder in missing[1:]:
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system that do not say which file they are about (a full disk, to begin with) name `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None or isinstance(error, FileConflict):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def into_place(temporary: Path, path: Path, overwrite: bool) -> None:
    """Give a complete file its name; without `overwrite` only if nobody has it."""
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if overwrite:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        refuse_existing(path, overwrite)
    except OSError:  # a file system without links
        refuse_existing(path, overwrite)
        os.replace(temporary, path)


def write_atomically(path: Path, data: bytes, overwrite: bool = True) -> None:
    """All of `data` under `path`, in place of what stood there, or nothing."""
    with complete_or_absent(path, overwrite) as temporary:
        temporary.write_bytes(data)


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Raise when `path` exists and may not be replaced."""
    refuse_unusable(path)
    if os.path.lexists(path) and not overwrite:
        raise FileConflict(
            "the output file must not exist yet",
            parameter="target",
            value=str(path),
            hint="Choose another name, or allow overwriting (overwrite=True, --overwrite).",
        )


def refuse_same(source: Path, target: Path) -> None:
    """Raise when both are one file, by whatever names or links."""
    refuse_unusable(target)
    if target.exists() and target.samefile(source):
        raise FileConflict(
            "the output must not be the file that is read: it would be lost",
            parameter="target",
            value=str(target),
            hint="Choose another name. This is refused whether overwriting is allowed or not.",
        )
