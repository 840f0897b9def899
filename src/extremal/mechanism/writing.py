"""How files are written: whole or not at all, never over something else unless told so, never what no reader accepts.

Mechanisms, certificates, questionnaires, protocols and claims are all written so. Deciding a file needs none of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from extremal.atomic import write_atomically
from extremal.errors import FileConflict, MalformedFile, TooLarge
from extremal.mechanism.files import refuse_large_file
from extremal.paths import refuse_unusable


def write_once(path: Path, content: dict[str, Any], overwrite: bool) -> Path:
    """Write JSON atomically; a file that holds something else is replaced only when told so."""
    data = (json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8")
    try:
        refuse_large_file(data, "a file")
    except MalformedFile as error:
        raise TooLarge(
            f"{error.requirement}: it could not be read back",
            parameter=error.parameter,
            value=error.value,
            hint="Nothing was written. Use fewer inputs or outputs.",
        ) from None
    refuse_unusable(path)
    if path.exists() and not overwrite:
        if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
            return path
        raise FileConflict(
            "the file must not exist yet: reports collected with the mechanism in it could no longer be read",
            parameter="path",
            value=str(path),
            hint="Choose another name, or pass overwrite=True.",
        )
    write_atomically(path, data, overwrite)
    return path
