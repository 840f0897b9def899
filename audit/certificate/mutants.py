"""Faults planted in the proof kernel, one at a time: the tests must notice every one of them.

Each fault changes one place of `extremal/certificate`, or of `exact/polytope`, in a copy of the source: a comparison
turned round, a sign, a check left out, a step too far, a number rounded to the wrong side, a precondition dropped. The
tests named for its module run against the copy until one fails, those first that noticed other faults of the module;
what the checker that stands alone says of a proof is asked once, for no fault is planted in it. A fault that no test
can notice stands in the list with the reason why it changes nothing; those are not run. Reported: how many were killed,
and every one that survived or whose tests ran out of time (must be none: a test that runs on has noticed nothing).

Run with `make audit`; give words as arguments to run only the faults that contain one of them, or a share such as 1/2
and 2/2 to run every second one.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/extremal"
MODULES = ("extremal.certificate", "extremal.exact.polytope")
SECOND, RECOMBINED, PARTS, VERDICTS, ORDER, COST, SQUARES, EDGES, BREAKS, CLAIMS, QUESTIONS, TREES, CHORDS = (
    f"tests/certificate/{name}.py"
    for name in (
        "test_independent",
        "test_recombination",
        "test_parts",
        "test_verdicts",
        "proofs/test_order",
        "arithmetic/test_workload_cost",
        "proofs/test_squares",
        "test_edges",
        "test_breaks",
        "test_claims",
        "proofs/test_questions",
        "proofs/test_sets",
        "proofs/test_chords",
    )
)
ALL = [SECOND, RECOMBINED, PARTS, VERDICTS, ORDER, COST, EDGES, BREAKS, CLAIMS, QUESTIONS, TREES, CHORDS]
POLYTOPE = "tests/exact/test_polytope.py"
SAME, REST = (
    (SECOND, "every_example"),
    [(EDGES, ""), (PARTS, ""), (BREAKS, ""), (SECOND, "lies"), (RECOMBINED, "undercuts")],
)

TESTS: dict[str, list[tuple[str, str]]] = {
    "cones": [SAME, (EDGES, ""), (SECOND, "damaged&dual"), *REST],
    "enclosures": [SAME, (EDGES, ""), (VERDICTS, ""), (SECOND, "damaged&dual"), *REST],
    "dual": [SAME, (SECOND, "damaged&dual"), (SQUARES, "counted types bound_the"), *REST],
    "chords": [SAME, (SECOND, "damaged&chords trees_of_chords"), (CHORDS, ""), *REST],
    "combined": [SAME, (SECOND, "damaged&one damaged&groups damaged&level different_weight"), *REST],
    "concave": [SAME, (SECOND, "damaged&concave"), (ORDER, ""), *REST],
    "order": [SAME, (SECOND, "damaged&order"), (ORDER, ""), *REST],
    "sets": [SAME, (SECOND, "damaged&sets"), (TREES, ""), *REST],
    "squares": [
        SAME,
        (SECOND, "damaged&squares"),
        (SQUARES, "counted types bound_the exact agree averaged no_g"),
        *REST,
    ],
    "matrix": [SAME, (SECOND, "damaged&matrix"), (SQUARES, ""), *REST],
    "workload_cost": [(EDGES, ""), (COST, ""), (SQUARES, "counted types bound_the"), SAME, (CLAIMS, "")],
    "polytope": [SAME, (EDGES, ""), (PARTS, ""), (POLYTOPE, "")],
    "whole": [SAME, (EDGES, ""), (COST, "definition counted")],
    "doubles": [(COST, "factor sums_over_sets"), (ORDER, "prices"), SAME, (ORDER, "")],
    "verify": [(VERDICTS, ""), (CLAIMS, "")],
    "certificate": [(VERDICTS, ""), (CLAIMS, ""), (EDGES, "")],
    "questions": [SAME, (QUESTIONS, ""), (SECOND, "damaged&agreements"), *REST],
    "yes_no": [SAME, (QUESTIONS, ""), (SECOND, "damaged&yes-no"), *REST],
    "reading": [SAME, (SECOND, "damaged"), (PARTS, "")],
    "proof": [SAME, (SECOND, "damaged"), (PARTS, ""), (VERDICTS, ""), (CLAIMS, "")],
}
"""What runs against a fault of each module, in this order: a file, and words of which one must be in the test."""

KILLERS: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
"""For each module the tests that noticed a fault of it, by file and name, and how many."""

MOST_SECONDS = 600  # of processor time for the tests of one fault
KILLED, SURVIVED, OUT_OF_TIME = "killed", "survived", "out of time"
PRELOADED = (
    "extremal.optimize",
    "support.proofs.adversaries",
    "support.proofs.examples",
    "pytest",
)


@dataclass(frozen=True)
class Fault:
    module: str
    old: str
    new: str
    same: str = ""
    """Why nothing can notice it; empty when something must."""

    def __str__(self) -> str:
        return f"{self.module}: {' '.join(self.old.split())!r} → {' '.join(self.new.split())!r}"

    def plant(self, source: Path) -> None:
        path, text = self.place(source)
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")

    def place(self, source: Path) -> tuple[Path, str]:
        """The file of its module, in which it must have one place."""
        path = next(path for part in ("certificate", "exact") for path in (source / part).rglob(f"{self.module}.py"))
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self} must occur once; it occurs {text.count(self.old)} times")
        return path, text


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


def outcome(fault: Fault | None, place: Path) -> str:
    """What the tests say of the fault, if any, in a copy of the kernel; in a process of its own."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(SOURCE / "certificate", place / "certificate", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "exact").mkdir()
    shutil.copy(SOURCE / "exact/polytope.py", place / "exact")
    if fault is not None:
        fault.plant(place)
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 2)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        runner = Runner()
        try:
            load_kernel(place)
            for path, words in planned(fault):
                runner.run(path, words)
            os._exit(0)
        except BaseException:  # whatever a fault brings about, an interrupt or an exit included, is noticed
            os.write(told, f"{runner.path}\n{runner.called}".encode())
            os._exit(1)
    os.close(told)
    with os.fdopen(heard, encoding="utf-8") as pipe:
        path, _, called = pipe.read().partition("\n")
    if fault is not None and called:
        KILLERS[fault.module][path, called] += 1
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: SURVIVED, -signal.SIGPROF: OUT_OF_TIME}.get(code, KILLED)


def planned(fault: Fault | None) -> list[tuple[str, str]]:
    """Files of tests and words; first the tests that noticed other faults of the module, the most successful ones
    before the others."""
    if fault is None:
        return [(path, "") for path in ALL]
    known = [(path, f"={called}") for (path, called), _ in KILLERS[fault.module].most_common()]
    return [*known, *TESTS[fault.module]]


def remember() -> None:
    """Ask the checker once about each proof: no fault is planted in it."""
    comparison = importlib.import_module("support.proofs.comparison")
    ask, known = comparison.checker_says, dict[str, Any]()

    def checker_says(proof: Any, privacy: Any, utility: Any) -> Any:
        key = repr((proof, privacy.to_json(), utility.to_json()))
        if key not in known:
            known[key] = ask(proof, privacy, utility)
        return known[key]

    comparison.checker_says = checker_says  # type: ignore[attr-defined]
    for path, words in dict.fromkeys(asked for tests in TESTS.values() for asked in tests if asked[0] == SECOND):
        Runner().run(path, words)


def load_kernel(place: Path) -> None:
    """Import the kernel anew from another place, and put what it defines where its old names are used."""
    old = {name: module for name, module in sys.modules.items() if name.startswith(MODULES)}
    known = {id(v): (name, key) for name, module in old.items() for key, v in vars(module).items() if key[:2] != "__"}
    for name in old:
        del sys.modules[name]
    package = sys.modules["extremal"]
    package.__path__.insert(0, str(place))
    sys.modules["extremal.exact"].__path__.insert(0, str(place / "exact"))
    package.certificate = importlib.import_module("extremal.certificate")  # type: ignore[attr-defined]
    for name in old:
        importlib.import_module(name)
    for name, module in list(sys.modules.items()):
        if name.startswith(("extremal", "support")) and name not in old:
            for key, value in list(vars(module).items()):
                where, what = known.get(id(value), ("", ""))
                if where and getattr(value, "__module__", where).startswith(MODULES):
                    setattr(module, key, getattr(sys.modules[where], what))


class Runner:
    """Runs tests in this process, each once; the first failure ends it, and `path` and `called` say which it was."""

    def __init__(self) -> None:
        self.path, self.called = "", ""
        self.done: set[tuple[str, str]] = set()
        self.loaded: dict[str, Any] = {}

    def run(self, path: str, words: str) -> None:
        """Every test of a file whose name and arguments contain one of the words, or are what follows =."""
        self.path, self.called = path, ""
        if path not in self.loaded:
            self.loaded[path] = self._load(ROOT / path)
        for called, test, given in _tests_in(self.loaded[path]):
            exactly = words.startswith("=")
            wanted = called == words[1:] if exactly else not words or _is_meant(called, words)
            if not wanted or (path, called) in self.done:
                continue
            self.done.add((path, called))
            self.called = called
            _call(test, given)

    @staticmethod
    def _load(path: Path) -> Any:
        spec = importlib.util.spec_from_file_location(f"planted_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _is_meant(called: str, words: str) -> bool:
    return any(all(w in called for w in word.split("&")) for word in words.split())


def _tests_in(module: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The tests of a module with their arguments, as a name that says both."""
    for name, test in list(vars(module).items()):
        if not name.startswith("test_"):
            continue
        marks = [mark.args for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
        for number, chosen in enumerate(itertools.product(*(values for _, values in marks))):
            given: dict[str, Any] = {}
            for (names, _), value in zip(marks, chosen, strict=True):
                split = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
                given |= zip(split, value if len(split) != 1 else (value,), strict=True)
            yield f"{name}[{number}: {' '.join(map(str, given.values()))[:80]}]".replace("\n", " "), test, given


def _call(test: Any, given: dict[str, Any]) -> None:
    import pytest

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as place:
        fixtures = {"monkeypatch": patch, "tmp_path": Path(place)}
        wanted = inspect.signature(test).parameters
        test(**given, **{n: f for n, f in fixtures.items() if n in wanted})


def main() -> int:
    shares = [tuple(map(int, word.split("/"))) for word in sys.argv[1:] if re.fullmatch(r"\d+/\d+", word)]
    words = [word for word in sys.argv[1:] if not re.fullmatch(r"\d+/\d+", word)]
    for fault in faults():
        fault.place(SOURCE)  # before anything runs
    chosen = [f for f in faults() if not words or any(word in str(f) for word in words)]
    for part, parts in shares:
        chosen = chosen[part - 1 :: parts]
    alive, start = [], time.monotonic()
    for module in PRELOADED:
        importlib.import_module(module)  # before the fork: every child has them
    sys.modules["support.proofs.examples"].examples()
    remember()
    with tempfile.TemporaryDirectory() as place:
        if not words and outcome(None, Path(place) / "extremal") != SURVIVED:
            raise RuntimeError("the tests must pass where no fault is planted")
        for fault in (f for f in chosen if not f.same):
            said = outcome(fault, Path(place) / "extremal")
            if said != KILLED:
                alive.append(fault)
                print(f"{said.upper()}  {fault}", flush=True)
    same = [f for f in chosen if f.same]
    for fault in same:
        print(f"the same  {fault}: {fault.same}")
    killed = len(chosen) - len(same) - len(alive)
    counts = f"{len(chosen)} faults: {killed} killed, {len(same)} the same, {len(alive)} survived or out of time"
    used = sum(os.times()[:4])
    print(f"{counts}, {used:.0f} s of processor time, {time.monotonic() - start:.0f} s")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
