"""Who may import whom, and what must not load with the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "extremal"
ORDER = [
    {"errors"},
    {"atomic", "tables", "plotting"},
    {"exact"},
    {"mechanism"},
    {"sources"},
    {"privacy", "utility"},
    {"closed_forms"},
    {"solver", "certificate"},
    {"optimize"},
    {"theory"},
    {"studies"},
]
CERTIFICATE_SEES = {"errors", "exact", "mechanism", "sources", "privacy", "utility"}
RELEASE_AND_ESTIMATE_NEVER_SEE = {"solver", "optimize"}
HEAVY = ("pandas", "polars", "pyarrow", "scipy.optimize", "highspy", "matplotlib", "fastapi", "numba", "hypothesis")


def _imports(path: Path) -> set[str]:
    """Rooms of the package that a module imports at module level."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            if node.module == "extremal":
                names = [f"extremal.{a.name}" for a in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("extremal.")}
    return found


def _rooms() -> list[tuple[str, Path]]:
    return [
        (p.relative_to(PACKAGE).parts[0].removesuffix(".py"), p)
        for p in sorted(PACKAGE.rglob("*.py"))
        if p.parent != PACKAGE or p.stem != "__init__"
    ]


def test_every_module_imports_only_what_stands_below_it() -> None:
    rank = {room: i for i, rooms in enumerate(ORDER) for room in rooms}
    seen = 0
    for room, path in _rooms():
        for used in _imports(path) - {room}:
            if room in rank:
                assert rank.get(used, 99) <= rank[room], f"{path.relative_to(PACKAGE)} imports {used}"
                seen += 1
            if room == "certificate":
                assert used in CERTIFICATE_SEES, f"certificate.py imports {used}"
            if room in ("release", "estimate"):
                assert used not in RELEASE_AND_ESTIMATE_NEVER_SEE, f"{path.relative_to(PACKAGE)} imports {used}"
    assert seen > 20


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import extremal, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
