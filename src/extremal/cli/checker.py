"""`extremal checker -o check.py`: write the checker that stands alone; `verify --independent` runs it."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from extremal.atomic import write_atomically
from extremal.checker import joined
from extremal.cli.printing import add_printing, said
from extremal.errors import FileConflict
from extremal.paths import refuse_unusable


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "checker",
        help="write a one-file checker that needs only Python's standard library",
        description="Write a checker of mechanism and certificate files as one readable file.\n"
        "It imports nothing but the standard library and shares no line with extremal.",
        epilog="run it anywhere:  python -I -S check.py FILE…\n"
        "its exit codes:   0 everything claimed is proved   1 a claim is false or a proof refused\n"
        "                  2 malformed   3 nothing is false, but something is not proven or not decided here\n"
        "exit codes of this command:  0 done   2 bad input",
    )
    verb.add_argument("-o", "--output", default="check.py", metavar="FILE", help="where to write it (check.py)")
    add_printing(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    path, data = Path(options.output), joined().encode("utf-8")
    refuse_unusable(path)
    if path.exists() and not options.overwrite and path.read_bytes() != data:
        raise FileConflict(
            "the file must not exist yet",
            parameter="output",
            value=str(path),
            hint="Choose another name, or --overwrite.",
        )
    write_atomically(path, data, overwrite=True)
    digest = hashlib.sha256(data).hexdigest()
    lines = data.count(b"\n")
    text = f"{path}: {lines:,} lines, SHA-256 {digest}\n  python -I -S {path} FILE…"
    return said(options, {"file": str(path), "lines": lines, "sha256": digest}, text)


def independently(files: Sequence[str], as_json: bool) -> int:
    """Decide files by the checker that stands alone, in an interpreter of its own; its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.py"
        path.write_text(joined(), encoding="utf-8")
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(path), *(["--json"] if as_json else []), "--", *files]
        done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode
