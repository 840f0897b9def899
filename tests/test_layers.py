"""Who may import whom, and what must not load with the package.

Every import counts: at module level, inside a function, and for type checkers only. A room sees itself and what stands
below it in the order; on top of that come the rules that keep a proof independent of the search, and a release
independent of both.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "extremal"
LISTS_OF_EQUALS = {"cli", "closed_forms", "utility"}  # a file a verb, a form, a goal

# errors → tables, plotting → exact → sources → privacy → mechanism: what all the rest stands on.
FOUNDATIONS = ["errors", "tables plotting data atomic", "exact", "sources", "privacy", "mechanism"]
# Three towers on them; within one, each room sees those named before it.
DESIGN = ["utility", "closed_forms", "certificate", "solver", "optimize", "theory", "studies"]
RELEASE = ["columns", "release", "simulate"]
ESTIMATE = ["columns", "estimate"]

ROOMS_WITH_MORE = {
    "estimate": {"utility"},  # what is estimated is what was designed for
    "studies": {"columns", "estimate"},  # planning designs, then estimates
    "questionnaire": {"*"},
    "loading": {"*"},
    "collect": {"*"},
    "reproduce": {"*"},
    "cli": {"*"},
    "__main__": {"cli"},
    "testing": {"*"},
}
NEVER = {
    "certificate": {"privacy.cones", "solver", "optimize", "theory"},
    "release": {"solver", "optimize", "certificate", "theory"},
    "estimate": {"solver", "optimize", "certificate", "theory"},
    "testing": {"cli"},
}
# What a search may take from the proof kernel: the proofs it makes and the certificate that carries them.
PROOFS = {"certificate", "certificate.certificate", "certificate.proof"}

UPWARD = {("mechanism/value.py", "release")}  # Mechanism.privatize: the one call to what stands above

# Imports that break the rules today and are to go; empty when every room is in its place.
TO_BE_REMOVED: set[tuple[str, str]] = set()

HEAVY = (
    "pandas",
    "polars",
    "pyarrow",
    "scipy.optimize",
    "highspy",
    "matplotlib",
    "fastapi",
    "numba",
    "hypothesis",
    "flint",
    "formulaic",
)


def _allowed() -> dict[str, set[str]]:
    """For each room the rooms it may see."""
    ranks = [set(line.split()) for line in FOUNDATIONS]
    below: dict[str, set[str]] = {}
    seen: set[str] = set()
    for rooms in ranks:
        seen |= rooms
        for room in rooms:
            below[room] = set(seen)
    for tower in (DESIGN, RELEASE, ESTIMATE):
        stood_on = set(seen)
        for room in tower:
            stood_on.add(room)
            below[room] = below.get(room, set()) | stood_on
    for room, more in ROOMS_WITH_MORE.items():
        below[room] = below.get(room, set()) | more
    return below


def _modules() -> list[Path]:
    return [p for p in sorted(PACKAGE.rglob("*.py")) if p != PACKAGE / "__init__.py"]


def _imported(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports anywhere in it, without the name of the package."""
    return (name.removeprefix("extremal.") for name in _names(path) if name.startswith("extremal."))


def _names(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield from (_module(f"{node.module}.{alias.name}") for alias in node.names)


def _module(name: str) -> str:
    """The module that holds `name`: itself if it is one."""
    place = PACKAGE.parent.joinpath(*name.split("."))
    return name if place.is_dir() or place.with_suffix(".py").is_file() else name.rpartition(".")[0]


def _room(module: str) -> str:
    return module.split(".")[0]


def _within(module: str, others: set[str]) -> bool:
    return any(module == other or module.startswith(f"{other}.") for other in others)


def _broken(name: str, module: str, allowed: dict[str, set[str]]) -> str | None:
    """Which rule the import of `module` in the file `name` breaks; None if it may be."""
    room, used = _room(name.removesuffix(".py").replace("/", ".")), _room(module)
    if room == used:
        return None
    if room not in allowed:
        return f"the room {room} has no place in the order"
    if used not in allowed[room] and "*" not in allowed[room] and (name, used) not in UPWARD:
        return f"{room} stands below {used}"
    if _within(module, NEVER.get(room, set())):
        return f"{room} never sees {module}"
    if room == "optimize" and used == "certificate" and module not in PROOFS:
        return "optimize takes only proofs and the certificate from certificate"
    return None


def _violations() -> dict[tuple[str, str], str]:
    allowed = _allowed()
    found = {}
    for path in _modules():
        name = path.relative_to(PACKAGE).as_posix()
        for module in set(_imported(path)):
            why = _broken(name, module, allowed)
            if why is not None:
                found[name, module] = why
    return found


def test_every_module_imports_only_what_it_may() -> None:
    found = {key: why for key, why in _violations().items() if key not in TO_BE_REMOVED}
    assert not found, "\n".join(f"{name} imports {module}: {why}" for (name, module), why in sorted(found.items()))


def test_the_second_checker_shares_nothing_with_the_kernel() -> None:
    """Its parts see one another only; what compares the two sees whether the kernel refuses."""
    proofs = ROOT / "tests" / "support" / "proofs"
    own = {"support.proofs.second"}

    def others(path: Path) -> set[str]:
        return {m for m in _names(path) if _room(m) in ("extremal", "support") and not _within(m, own)}

    assert len(list((proofs / "second").glob("*.py"))) > 1
    for path in (proofs / "second").glob("*.py"):
        assert not others(path), path
    for name in ("second_checker", "second_workloads"):
        assert others(proofs / f"{name}.py") <= {"extremal.certificate"}, name


def test_no_room_is_crowded() -> None:
    """At most a dozen modules in a folder of the package, its tests and its scripts; lists of equals may be longer."""
    for top in ("src", "tests", "audit", "bench"):
        for folder in {path.parent for path in (ROOT / top).rglob("*.py")}:
            modules = [path for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__", "conftest")]
            assert len(modules) <= 12 or folder.name in LISTS_OF_EQUALS, f"{folder} has {len(modules)} modules"


def test_only_privatize_looks_up() -> None:
    for name, room in UPWARD:
        tree = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
        method = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "privatize")
        there = [n for n in ast.walk(method) if isinstance(n, ast.ImportFrom) and n.module == f"extremal.{room}"]
        assert len(there) == 1
        method.body = [ast.Pass()]
        elsewhere = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and _room_of(n) == room]
        assert not elsewhere


def _room_of(node: ast.ImportFrom) -> str:
    return _room((node.module or "").removeprefix("extremal."))


def test_what_is_to_be_removed_is_still_there() -> None:
    assert set(_violations()) >= TO_BE_REMOVED, sorted(TO_BE_REMOVED - set(_violations()))


@pytest.mark.parametrize(
    ("name", "module", "why"),
    [
        ("privacy/ldp.py", "mechanism", "privacy stands below mechanism"),
        ("mechanism/files.py", "release", "mechanism stands below release"),
        ("closed_forms/response.py", "theory.thresholds", "closed_forms stands below theory"),
        ("utility/reading.py", "columns", "utility stands below columns"),
        ("release/sampling/sampler.py", "estimate", "release stands below estimate"),
        ("release/audit.py", "certificate.verify", "release stands below certificate"),
        ("certificate/verify.py", "privacy.cones.lift", "certificate never sees privacy.cones.lift"),
        ("certificate/verify.py", "solver", "certificate stands below solver"),
        ("optimize/leakage/solve.py", "certificate.lift", "optimize takes only proofs"),
        ("testing/designs.py", "cli.design", "testing never sees cli.design"),
        ("attic/old.py", "exact", "the room attic has no place in the order"),
    ],
)
def test_what_may_not_be_is_seen(name: str, module: str, why: str) -> None:
    broken = _broken(name, module, _allowed())
    assert broken is not None
    assert broken.startswith(why)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("mechanism/value.py", "release"),
        ("mechanism/value.py", "privacy"),
        ("optimize/design.py", "certificate.certificate"),
        ("optimize/leakage/solve.py", "privacy.cones.lift"),
        ("theory/thresholds.py", "optimize.design"),
        ("studies/planning.py", "estimate.frequencies"),
        ("estimate/reports/files.py", "columns.files.note"),
        ("cli/design.py", "optimize.design"),
    ],
)
def test_what_may_be_is_not_refused(name: str, module: str) -> None:
    assert _broken(name, module, _allowed()) is None


def test_imports_are_found_wherever_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "import extremal.errors\n"
        "from extremal import exact\n"
        "from extremal.privacy import LDP\n"
        "from extremal.privacy import cones\n"
        "def late():\n    from extremal.optimize.design import design\n"
        "if TYPE_CHECKING:\n    from extremal.theory import leakage\n"
    )
    assert set(_imported(file)) == {"errors", "exact", "privacy", "privacy.cones", "optimize.design", "theory.leakage"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import extremal, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
