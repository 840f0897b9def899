"""Faults planted in the proof kernel, one at a time: the tests must notice every one of them.

Each fault changes one place of `extremal/certificate` in a copy of the source: a comparison turned round, a sign, a
check left out, a step too far, a number rounded to the wrong side, a precondition dropped. The tests named for its
module run against the copy until one fails. A fault that no test can notice stands in the list with the reason why it
changes nothing; those are not run. Reported: how many were killed, and every one that survived (must be none).

Run with `make audit`; give words as arguments to run only the faults that contain one of them.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNEL = Path("src/extremal/certificate")
SECOND, WORKLOADS, PARTS, VERDICTS = (
    f"tests/certificate/test_{name}.py" for name in ("second_checker", "second_workloads", "parts", "verdicts")
)
BOUNDS, FIELDS, EDGES = "derive_the_same_bound", "whatever_the_fields", "edge"

TESTS: dict[str, list[list[str]]] = {
    "cones": [[SECOND, "-k", f"({BOUNDS} or {FIELDS}) and (rays or lines)"], [PARTS]],
    "dual": [[SECOND, "-k", f"({BOUNDS} or {FIELDS}) and (rays or lines or one)"], [PARTS]],
    "enclosures": [[SECOND, "-k", f"{BOUNDS} and (rays or lines)"], [PARTS], [VERDICTS]],
    "information": [[SECOND, "-k", f"({BOUNDS} or {FIELDS}) and prices"], [PARTS]],
    "partition": [[SECOND, "-k", "partition"], [PARTS]],
    "search": [[SECOND, "-k", EDGES], [SECOND, "-k", "searches"], [PARTS]],
    "coupled": [[SECOND, "-k", "coupled"], [PARTS]],
    "workload": [[WORKLOADS]],
    "matrix": [[WORKLOADS]],
    "sweep": [[WORKLOADS]],
    "costs": [[SECOND, "-k", f"{BOUNDS} and (truth or one)"], [VERDICTS], [PARTS]],
    "verify": [[VERDICTS]],
    "certificate": [[VERDICTS]],
    "numbers": [[PARTS]],
    "proof": [[PARTS]],
}
"""What runs against a fault of each module, in this order."""


PRELOADED = ("flint", "numpy", "scipy.optimize", "highspy", "pytest", "extremal.mechanism", "extremal.utility")


@dataclass(frozen=True)
class Fault:
    module: str
    old: str
    new: str
    same: str = ""
    """Why nothing can notice it; empty when something must."""

    def __str__(self) -> str:
        return f"{self.module}: {' '.join(self.old.split())!r} → {' '.join(self.new.split())!r}"

    def plant(self, kernel: Path) -> None:
        path = kernel / f"{self.module}.py"
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self} must occur once; it occurs {text.count(self.old)} times")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


def faults() -> list[Fault]:
    """Those of `faults.txt`."""
    found, module = [], ""
    for block in (Path(__file__).parent / "faults.txt").read_text(encoding="utf-8").split("\n\n")[1:]:
        lines = block.strip("\n").split("\n")
        if lines[0].startswith("@ "):
            module = lines[0][2:]
            continue
        old, new, same = ("\n".join(line[2:] for line in lines if line[0] == mark) for mark in "-+=")
        found.append(Fault(module, old, new, same))
    return found


def survives(fault: Fault | None, arguments_of: list[list[str]], place: Path) -> bool:
    """Whether every test passes with the fault, if any, in a copy of the kernel; each in a process of its own."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / KERNEL, place / "certificate", ignore=shutil.ignore_patterns("__pycache__"))
    if fault is not None:
        fault.plant(place / "certificate")
    for arguments in arguments_of:
        child = os.fork()
        if child == 0:
            os._exit(run(place, arguments))
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            return False
    return True


def run(place: Path, arguments: list[str]) -> int:
    """The tests, with the package looking for its kernel in another place first."""
    import pytest

    import extremal

    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    extremal.__path__.insert(0, str(place))
    options = ["-x", "-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    return int(pytest.main([*options, str(ROOT / arguments[0]), *arguments[1:]]))


def main() -> int:
    words = sys.argv[1:]
    chosen = [f for f in faults() if not words or any(word in str(f) for word in words)]
    alive, start = [], time.monotonic()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for module in PRELOADED:
        importlib.import_module(module)  # before the fork: every child has them
    if "extremal.certificate" in sys.modules:
        raise RuntimeError("the kernel must not be loaded before a fault is planted in it")
    with tempfile.TemporaryDirectory() as place:
        everything = [[SECOND], [WORKLOADS], [PARTS], [VERDICTS]]
        if not words and not survives(None, everything, Path(place) / "extremal"):
            raise RuntimeError("the tests must pass where no fault is planted")
        for fault in chosen:
            if not fault.same and survives(fault, TESTS[fault.module], Path(place) / "extremal"):
                alive.append(fault)
                print(f"SURVIVED  {fault}", flush=True)
    same = [f for f in chosen if f.same]
    for fault in same:
        print(f"the same  {fault}: {fault.same}")
    killed = len(chosen) - len(same) - len(alive)
    counts = f"{len(chosen)} faults: {killed} killed, {len(same)} the same, {len(alive)} survived"
    print(f"{counts}, {time.monotonic() - start:.0f} s")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
