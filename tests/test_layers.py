"""Who may import whom, what loads with what, and what a module, a class, a number and a name of one must satisfy.

Every import counts: at module level, inside a function, and for type checkers only. A room sees itself and what stands
below it in the order; on top of that come the rules that keep a proof independent of the search, and a release
independent of both.
"""

from __future__ import annotations

import ast
import functools
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import extremal as ex

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "extremal"

# errors → tables, plotting → exact → sources → problem → privacy → mechanism: what all the rest stands on.
FOUNDATIONS = [
    "errors",
    "tables plotting progress data paths atomic",
    "exact",
    "sources",
    "problem",
    "privacy",
    "mechanism",
]
# Three towers on them; within one, each room sees those named before it.
DESIGN = ["utility", "closed_forms", "certificate", "solver", "optimize", "theory", "studies"]
RELEASE = ["columns", "release", "simulate"]
ESTIMATE = ["columns", "estimate"]

ROOMS_WITH_MORE = {
    "estimate": {"utility"},  # what is estimated is what was designed for
    "studies": {"columns", "estimate"},  # planning designs, then estimates
    "questionnaire": {"*"},
    "discovery": {"*"},
    "loading": {"*"},
    "collect": {"*"},
    "reproduce": {"*"},
    "explorer": {"*"},
    "cli": {"*"},
    "__main__": {"cli"},
    "testing": {"*"},
    "checker": set(),  # the standard library alone
}
NEVER = {
    "certificate": {"privacy.cones", "solver", "optimize", "theory"},
    "release": {"solver", "optimize", "certificate", "theory"},
    "estimate": {"solver", "optimize", "certificate", "theory"},
    "testing": {"cli"},
    "questionnaire": {"collect", "discovery", "explorer", "reproduce", "cli"},
    "discovery": {"questionnaire", "collect", "explorer", "reproduce", "cli"},
    "loading": {"collect", "explorer", "reproduce", "cli"},
    "collect": {"discovery", "explorer", "reproduce", "cli"},
    "explorer": {"reproduce", "cli"},
    "reproduce": {"collect", "explorer", "cli"},
}
# What a search may take from the proof kernel: the proofs it makes and the certificate that carries them.
PROOFS = {"certificate", "certificate.certificate", "certificate.proof"}

UPWARD = {("mechanism/value.py", "release")}  # Mechanism.privatize: the one call to what stands above

# Imports that break the rules today and are to go; empty when every room is in its place.
TO_BE_REMOVED: set[tuple[str, str]] = set()

# What a checker of certificates must load: no search, no display, no estimate.
NOT_FOR_PROOFS = {
    "utility",
    "closed_forms",
    "solver",
    "optimize",
    "theory",
    "studies",
    "plotting",
    "tables",
    "mechanism.page",
    "estimate",
    "columns",
    "release",
}
MOST_FOR_PROOFS = 72  # modules of the package; docs/start/guarantee.md states the number
STALE = 0.1  # relative: by how much a number of lines in the guarantee may lag behind the code
TELLING = 40  # characters of a line that two writers would hardly both write

# Modules below 150 lines that one module alone imports, and are concepts of their own.
OWN_CONCEPTS: dict[str, str] = {
    "certificate.arithmetic.closed_costs": "closed forms of costs, with theories of their own",
    "certificate.statement": "what was decided, in words, apart from deciding it",
    "checker.set_trees": "a reason with a theory of its own, a section of the file that `joined` makes",
    "checker.values": "a section of the file that `joined` makes",
    "cli.checker": "a verb is a file",
    "collect.openapi": "a document about the API, beside the code that answers",
    "collect.server": "the process and what a connection may cost it, beside what is answered",
    "simulate": "reports from a seed stay apart from the exact release",
    "optimize.dust": "the last step of every method, apart from all of them",
    "optimize.workload.fewer": "what few reports can do, a search of its own beside that without a limit",
    "optimize.workload.structured.questions": "a structured workload is a file, with a theory of its own",
    "columns.files.json_lines": "a format is a file",
    "questionnaire.plan": "what a survey with several questions reaches, a value that callers hold",
    "optimize.workload.worst_prior": "what the certificate of a class names, asked for where designs are certified",
    "theory.shuffle.several": "several questions: how losses of independent shuffles add up",
    "closed_forms.surveys": "a public name: ex.surveys.warner",
    "columns.duckdb": "a container is a file, and its package is loaded for it alone",
    "columns.pandas": "a container is a file, and its package is loaded for it alone",
    "columns.polars": "a container is a file, and its package is loaded for it alone",
    "columns.polars_lazy": "a container is a file, and its package is loaded for it alone",
    "columns.spark": "a container is a file, and its package is loaded for it alone",
    "discovery.frames": "reports on columns of frames and plans, which the protocol itself knows nothing of",
    "estimate.chosen": "estimates of chosen labels: a result of its own",
    "estimate.results.shares": "shares within answers, other statistics than the cells of the table",
    "estimate.regression.sandwich": "variances of a regression in a sample, with a theory of their own",
    "estimate.channels.subsets": "a structure's estimator is a file",
    "estimate.methods.smoothing": "a method of points is a file",
    "estimate.hypothesis_tests.scores": "the directions that a mechanism identifies, apart from the tests on them",
    "exact.quotients": "quotients of floats among rationals: exact arithmetic that knows no proof",
    "mechanism.structures.rows": "a structure is a file",
    "mechanism.structures.subsets": "a structure is a file",
    "optimize.information.packing": "a construction with a theory and tests of its own",
    "utility.combinations": "a family of goals is a file, and its names are public",
}

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
    "starlette",
    "sqlalchemy",
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


def _lines(path: Path) -> set[str]:
    """The lines of a module that say something: not imports, not definitions of one word."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return {
        line for line in lines if len(line) >= TELLING and not line.startswith(("from ", "import ", "@", "#", '"""'))
    }


def test_the_checker_that_stands_alone_shares_nothing_with_the_rest() -> None:
    """Its modules see one another only, and no line of them stands anywhere else in the package."""
    parts = sorted((PACKAGE / "checker").glob("*.py"))
    assert len(parts) > 1
    others = set().union(*(_lines(path) for path in _modules() if path not in parts))
    for path in parts:
        assert all(_within(module, {"checker"}) for module in _imported(path)), path
        assert not _lines(path) & others, path


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _with_one_importer() -> dict[str, str]:
    """Modules below 150 lines that one module imports, lists of names (`__init__`) aside, with that module."""
    importers: dict[str, set[str]] = {}
    for path in _modules():
        if path.name != "__init__.py":
            for module in set(_imported(path)) - {_dotted(path)}:
                importers.setdefault(module, set()).add(_dotted(path))
    small = [p for p in _modules() if p.name != "__init__.py" and p.read_text(encoding="utf-8").count("\n") < 150]
    found = {_dotted(path): importers.get(_dotted(path), set()) for path in small}
    return {module: next(iter(by)) for module, by in found.items() if len(by) == 1}


def test_a_small_module_with_one_importer_is_a_concept_of_its_own() -> None:
    found = _with_one_importer()
    left = {m: by for m, by in found.items() if m not in OWN_CONCEPTS}
    assert not left, f"merge them, or say in OWN_CONCEPTS why not: {left}"


def test_what_is_listed_as_a_concept_needs_the_list() -> None:
    assert not set(OWN_CONCEPTS) - set(_with_one_importer())


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in _modules():
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(_dotted(path))
    twice = {name: p for name, p in places.items() if len(p) > 1}
    assert not twice


def _bare_numbers(path: Path) -> Iterator[str]:
    """Names of a module's numbers that have no reason: behind them, above them or in a string below."""
    lines, body = path.read_text(encoding="utf-8").splitlines(), _tree(path).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or not target.id.lstrip("_").isupper() or not _is_number(value):
            continue
        below = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if not below and "#" not in lines[node.lineno - 1] and not lines[node.lineno - 2].lstrip().startswith("#"):
            yield target.id


def _is_number(value: ast.AST | None) -> bool:
    parts = [] if value is None else list(ast.walk(value))
    plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    numbers = [p for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, int | float)]
    return bool(numbers) and all(isinstance(part, plain) for part in parts)


def test_a_number_has_a_reason() -> None:
    bare = [f"{_dotted(path)}.{name}" for path in _modules() for name in _bare_numbers(path)]
    assert not bare, f"say why at the line or above it: {bare}"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("MOST = 12\n", ["MOST"]),
        ("_MOST: int = 1 << 20\n", ["_MOST"]),
        ("MOST = 12  # a second\n", []),
        ("# a second\nMOST = 12\n", []),
        ('MOST = 12\n"""A second."""\n', []),
        ("MOST = limit()\nWORD = 'a'\nnumber = 3\n", []),
    ],
)
def test_a_number_without_a_reason_is_seen(text: str, bare: list[str], tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("import os\n" + text)
    assert list(_bare_numbers(path)) == bare


TEXTS = [
    *(PACKAGE / "__init__.py", *_modules()),
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))),
    *(path for top in ("tests", "audit", "bench", "examples") for path in sorted((ROOT / top).rglob("*.py"))),
]
ROOMS = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()} - {"__init__"}
FILE_ENDINGS = {"json", "csv", "parquet", "py"}  # `mechanism.json` is a file


def _there(name: str) -> bool:
    """Whether a name is a module of the package, or something in one; `mechanism.privacy` may be a field of it, too."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        place = PACKAGE.joinpath(*parts[:count])
        file = place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"
        if file.is_file():
            return count == len(parts) or any(
                re.search(rf"(?<![\w.]){parts[count]}\b", path.read_text(encoding="utf-8")) is not None
                for path in ([file, *place.glob("value.py")] if count == 1 else [file])
            )
    return False


def _gone(text: str) -> list[str]:
    """Names of modules and folders in backticks that do not exist."""
    dotted = re.findall(r"(?<!`)`(?:extremal\.)?([a-z_]+(?:\.[a-zA-Z_]+)+)`", text)
    folders = re.findall(r"(?<!`)`(?:src/extremal/)?([a-z_]+/[a-z_/]*(?:\.py)?)`", text)
    named = [name for name in dotted if name.split(".")[0] in ROOMS and name.split(".")[-1] not in FILE_ENDINGS]
    return [name for name in named if not _there(name)] + [
        name
        for name in folders
        if name.split("/")[0] in ROOMS and not ((PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists())
    ]


def test_every_module_that_is_named_exists() -> None:
    gone = {str(path.relative_to(ROOT)): _gone(path.read_text(encoding="utf-8")) for path in TEXTS}
    assert not {where: names for where, names in gone.items() if names}


def test_a_module_that_is_gone_is_seen() -> None:
    gone = ["privacy.old", "release.attic", "exact/attic.py"]
    there = ["privacy.ldp", "mechanism.privacy", "mechanism.json", "privacy.NOTIONS", "exact/", "numpy.linalg"]
    assert _gone(", ".join(f"`{name}`" for name in gone + there)) == gone


def _code_lines(path: Path) -> int:
    """Lines with code: no comments, docstrings or empty lines."""
    text = path.read_text(encoding="utf-8")
    words = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {n for token in tokens if token.type not in layout for n in range(token.start[0], token.end[0] + 1)}
    return len(lines - words)


def test_the_guarantee_counts_what_verifying_a_file_loads(tmp_path: Path) -> None:
    """Every module that importing the kernel loads is trusted, and deciding a file loads no other."""
    path = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])).certificate.save(tmp_path / "c.json")
    code = (
        "import extremal.certificate as kernel, json, sys\n"
        "def own(): return sorted(m for m in sys.modules if m.split('.')[0] == 'extremal')\n"
        "before, found = own(), kernel.verify(sys.argv[1])\n"
        "print(json.dumps([before, own(), found.exit_code]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    loaded, after, exit_code = json.loads(done.stdout)
    assert exit_code == 0
    assert after == loaded
    inner = [module.removeprefix("extremal.") for module in loaded]
    foreign = {m for m in inner if _within(m, NOT_FOR_PROOFS)}
    assert not foreign
    assert len(loaded) <= MOST_FOR_PROOFS
    rooms: Counter[str] = Counter()
    for module in loaded:
        place = PACKAGE.parent.joinpath(*module.split("."))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        rooms[module.split(".")[1] if "." in module else "all"] += _code_lines(file)
        rooms["total"] += _code_lines(file)
    page = (ROOT / "docs" / "start" / "guarantee.md").read_text(encoding="utf-8")
    assert f"{len(loaded)} modules" in page
    stated = {room: int(n.replace(",", "")) for room, n in re.findall(r"\| `?(\w+)/?`? \| ([0-9,]+) \|", page)}
    assert stated.keys() == rooms.keys() - {"all", "errors", "paths"}
    wrong = {room: (lines, rooms[room]) for room, lines in stated.items() if abs(lines - rooms[room]) > STALE * lines}
    assert not wrong


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
