"""Files that are complete or absent: whatever interrupts a run, no partial file appears under its final name.

What is written stands under a temporary name in the target's folder, is flushed to the disk and gets its final name
when it is whole: a reader sees the old file or the new one. Mechanism and certificate files, released data and the
notes beside them are all written so; `mechanism` stands below `columns`, so that this stands below both.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from extremal.errors import FileConflict


@contextlib.contextmanager
def complete_or_absent(path: Path, overwrite: bool) -> Iterator[Path]:
    """A temporary name beside `path`; renamed to it when the block ends well, removed when it does not."""
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(path.parent))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        refuse_existing(path, overwrite)  # somebody may have written it meanwhile
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # a temporary file is private; the result gets what a new file would have
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_atomically(path: Path, data: bytes) -> None:
    """All of `data` under `path`, in place of what stood there, or nothing."""
    with complete_or_absent(path, overwrite=True) as temporary:
        temporary.write_bytes(data)


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Raise when `path` exists and may not be replaced."""
    if path.exists() and not overwrite:
        raise FileConflict(
            "the output file must not exist yet",
            parameter="target",
            value=str(path),
            hint="Choose another name, or allow overwriting.",
        )
