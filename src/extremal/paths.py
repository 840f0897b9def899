"""Names of files, before anything is opened: whoever reads or writes one asks here first."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from extremal.errors import InvalidParameter


def refuse_unusable(path: Path) -> None:
    """Raise on what cannot be the name of a file that is read or written: NUL, loops of links, and pipes and devices,
    which may never end or never answer. Nothing is opened; what is not there is no concern of this function."""
    if "\0" in str(path):
        raise InvalidParameter("the name of a file must not hold a NUL character", parameter="path", value=str(path))
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidParameter(
            "a name must be one that this system can write", parameter="path", value=str(path)
        ) from None
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InvalidParameter(
            "a file must be a regular one, not a pipe, a socket or a device",
            parameter="path",
            value=str(path),
            hint="Save what comes through it to a file first.",
        )
