"""One arithmetic: what the syntax of the kernel shows. No float decides anything."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import extremal.certificate

KERNEL = sorted(Path(extremal.certificate.__file__).parent.rglob("*.py"))
# doubles.py adds whole numbers, and proposes; statement.py says in words what was decided
DECIDING = [path for path in KERNEL if path.name not in ("doubles.py", "statement.py")]
# of math: names that round nothing
EXACT = {"comb", "factorial", "gcd", "inf", "isinf", "isqrt", "lcm", "nextafter", "prod"}
ROUNDED = {"float64", "float32", "longdouble", "half", "double", "linalg", "values", "isclose", "allclose"}
DOUBLES = {"verify.py", "certificate.py"}  # where a claimed double is read, and a bound rounded outward to one
ROOMS = {"certificate", "exact", "errors", "privacy", "problem", "sources", "mechanism"}


@pytest.mark.parametrize("path", DECIDING, ids=lambda path: path.name)
def test_no_float_takes_part_in_a_check(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        where = f"{path.name}:{getattr(node, 'lineno', 0)}"
        match node:
            case ast.Constant(value=float()):
                raise AssertionError(f"{where}: a float")
            case ast.Import(names=names):
                assert not {alias.name for alias in names} & {"math", "cmath", "random", "scipy", "statistics"}, where
            case ast.ImportFrom(module="math", names=names):
                assert {alias.name for alias in names} <= EXACT, where
            case ast.Attribute(attr=attr, value=ast.Name(id=name)) if name == "np" or attr != "values":
                assert attr not in ROUNDED, where
            case ast.Call(func=ast.Name(id="float")):
                assert path.name in DOUBLES, where


@pytest.mark.parametrize("path", KERNEL, ids=lambda path: path.name)
def test_the_kernel_stands_on_values_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("extremal."):
            assert (node.module or "").split(".")[1] in ROOMS, path.name


def test_a_float_would_be_seen(tmp_path: Path) -> None:
    for text in ("x = 0.5", "import math", "from math import exp", "import numpy as np\ny = np.float64(1)", "float(3)"):
        broken = tmp_path / "broken.py"
        broken.write_text(text)
        with pytest.raises(AssertionError):
            test_no_float_takes_part_in_a_check(broken)
