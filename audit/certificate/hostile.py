"""Hundreds of hostile files: each is decided or refused within its limits, and none ends the process.

Files of at most 10 kB have 10 seconds and 1 GiB, larger ones two minutes and 4 GiB; seconds are those of the processor.
Each is verified by the command line in a process of its own, which may not take more memory than that. The exit code
must be one that is documented: 0 to 3. Run with `make audit`; the number of mutated files is an argument.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

from extremal.cli import main
from support.proofs.examples import examples
from support.proofs.hostile import crafted, hashed, mutated

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 300
SMALL = 10_000  # bytes
SECONDS, GIBIBYTES = (10, 120), (1, 4)
PRIME = 7919  # a step through all fields that meets each kind early


def decided(path: Path) -> tuple[str, float, float]:
    """How a process that verifies a file ends, the seconds and the GiB that it took."""
    large = path.stat().st_size > SMALL
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES[1] << 30, GIBIBYTES[1] << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS[large], 2 * SECONDS[large]))
        with (
            Path(os.devnull).open("w") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            code = main(["verify", str(path)])
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    end = f"exit {os.WEXITSTATUS(status)}" if os.WIFEXITED(status) else signal.Signals(os.WTERMSIG(status)).name
    return end, used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20)


def run(count: int) -> int:
    """How many files broke a limit."""
    folder, ends, broken, slowest = Path(tempfile.mkdtemp()), Counter[str](), 0, {False: 0.0, True: 0.0}
    honest = [example.certificate for example in examples() if example.certificate is not None]
    files = [*crafted(), *mutated(honest, lambda i: i * PRIME, count)]
    path = folder / "hostile.json"
    written = sorted(((name, json.dumps(hashed(content))) for name, content in files), key=lambda one: len(one[1]))
    for number, (name, text) in enumerate(written, start=1):
        path.write_text(text, encoding="utf-8")
        large = path.stat().st_size > SMALL
        end, seconds, memory = decided(path)
        ends[end] += 1
        slowest[large] = max(slowest[large], seconds)
        fine = end in ("exit 0", "exit 1", "exit 2", "exit 3")
        if not fine or seconds > SECONDS[large] or memory > GIBIBYTES[large]:
            broken += 1
            print(f"{name}: {end}, {seconds:.1f} s, {memory:.2f} GiB, {path.stat().st_size:,} bytes", flush=True)
        if number % 50 == 0:
            print(f"{number} files, {broken} broke a limit", flush=True)
    print(f"{len(files)} files: {dict(sorted(ends.items()))}; {broken} broke a limit")
    print(f"slowest: {slowest[False]:.1f} s of at most 10 kB, {slowest[True]:.1f} s of the larger ones")
    return broken


if __name__ == "__main__":
    sys.exit(bool(run(COUNT)))
