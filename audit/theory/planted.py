"""A wrong digit planted into every public function of `theory`, every bound and every figure: a test must notice each.

Each plant wraps one function before the tests are read: a float that it returns, or that stands in what it returns, is
off by a relative 1e-9 (tables of figures by 1e-4, the digits that the papers' tables have), a truth value is turned
round, a mechanism has its rows reversed, shuffled reports are one more. The tests that name the function run until one
fails. Reported: every plant that no test noticed (must be none). Run with `make audit`; give words as arguments to try
only names that contain one.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NAME = "EXTREMAL_PLANTED"
OFF, OFF_IN_FIGURES = 1e-9, 1e-4  # relative
FIGURE_TESTS = ["tests/reproduce/test_small_figures.py", "tests/reproduce"]


def planted(value: Any, off: float = OFF) -> Any:
    """The value with one wrong digit, or turned round."""
    from extremal.mechanism import Mechanism
    from extremal.theory.shuffle.shuffled import Shuffled
    from extremal.utility import Sublinear

    if isinstance(value, Shuffled):
        return dataclasses.replace(value, n=value.n + 1)
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, (float, np.floating, np.ndarray)):
        return value * (1 + off) if np.any(value) else value + off
    if isinstance(value, Mechanism):
        return Mechanism.from_matrix(value.matrix[::-1], None, value.inputs, value.outputs)
    if isinstance(value, Fraction):
        return value * (1 + Fraction(off)) if value else Fraction(off)
    if isinstance(value, Sublinear):
        return Sublinear(value.k, lambda columns: value.column_values(columns) * (1 + off))
    if isinstance(value, (list, tuple)):
        return type(value)([planted(v, off) for v in value])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _in_fields(value, off)
    return value


def wrong(value: Any) -> Any:
    """What a function returns, planted; an answer is turned round, and what holds no number loses its last element."""
    if dataclasses.is_dataclass(value) and hasattr(type(value), "__bool__"):
        return not value
    changed = planted(value)
    if changed is not value and changed != value:
        return changed
    return value[:-1] if isinstance(value, (list, tuple)) else not value


def _in_fields(value: Any, off: float) -> Any:
    """A copy of a result whose numbers are off; what it derives from them follows."""
    changed = {}
    for entry in dataclasses.fields(value):
        held = getattr(value, entry.name)
        new = planted(held, off)
        if new is not held and not isinstance(held, (bool, str)):
            changed[entry.name] = new
    return dataclasses.replace(value, **changed) if changed else value


def pytest_configure() -> None:
    """As a plugin: plant what the environment names."""
    kind, _, name = os.environ[NAME].partition(":")
    if kind == "function":
        _wrap_function(name)
    elif kind == "bound":
        _wrap_bound(name)
    else:
        _wrap_figure(name)


def _wrap_function(name: str) -> None:
    import extremal as ex

    home: Any = ex.theory.distortion if name.startswith("distortion.") else ex.theory
    last = name.rpartition(".")[2]
    original = getattr(home, last)

    def replaced(*args: Any, **options: Any) -> Any:
        return wrong(original(*args, **options))

    for module in [m for m in sys.modules.values() if m is not None and m.__name__.startswith("extremal")]:
        if vars(module).get(last) is original:
            setattr(module, last, replaced)


def _wrap_bound(name: str) -> None:
    from extremal.theory import converses as module_function

    module = sys.modules[module_function.__module__]
    for maker in ("divergence_bounds", "information_bounds"):
        original = getattr(module, maker)

        def wrong(*args: Any, original: Callable[..., Any] = original) -> Any:
            return [planted(b) if b.name == name else b for b in original(*args)]

        setattr(module, maker, wrong)


def _wrap_figure(name: str) -> None:
    from extremal.reproduce import FIGURES, instances

    if name == "instances":
        original = instances.experiment

        def off(*args: Any, **options: Any) -> Any:
            found = original(*args, **options)
            return dataclasses.replace(
                found, values={form: v * (1 + OFF_IN_FIGURES) for form, v in found.values.items()}
            )

        instances.experiment = off  # before the tests import it
        return
    figure = FIGURES[name]

    def wrong(progress: Any) -> Any:
        made = figure.make(progress)
        tables = {
            name: {title: [_wrong_cell(cell) for cell in column] for title, column in columns.items()}
            for name, columns in made.tables.items()
        }
        return dataclasses.replace(made, tables=tables)

    FIGURES[name] = dataclasses.replace(figure, make=wrong)


def _wrong_cell(cell: Any) -> Any:
    """A number that is off; a letter, as in a table of colours, that is another."""
    return "?" if isinstance(cell, str) else planted(cell, OFF_IN_FIGURES)


def plants() -> list[tuple[str, list[str]]]:
    """What to plant, and the tests that may notice."""
    import extremal as ex
    from extremal.reproduce import FIGURES

    tests = {p: p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests").rglob("test_*.py"))}
    found = []
    names = [n for n in ex.theory.__all__ if inspect.isfunction(getattr(ex.theory, n))]
    names += [
        f"distortion.{n}"
        for n, f in vars(ex.theory.distortion).items()
        if inspect.isfunction(f) and f.__module__.endswith("distortion") and n[0] != "_"
    ]
    for name in names:
        last = name.rpartition(".")[2]
        naming = [str(p.relative_to(ROOT)) for p, text in tests.items() if last in text]
        found.append(
            (f"function:{name}", [*sorted(naming, key=lambda p: "theory" not in p)[:6], "src/extremal/theory"])
        )
    utilities = [
        ex.KL([0.4, 0.6], [0.7, 0.3]),
        ex.SymmetricKL([0.4, 0.6], [0.7, 0.3]),
        ex.ChiSquared([0.4, 0.6], [0.7, 0.3]),
        ex.TotalVariation([0.4, 0.6], [0.7, 0.3]),
        ex.MutualInformation([0.4, 0.6]),
    ]
    bounds = {
        b.name: None for u in utilities for e in (0.05, 1) for b in ex.theory.converses(u, e, optimum=False).bounds
    }
    found += [(f"bound:{name}", ["tests/theory/test_pinned.py", "tests/theory/test_converses.py"]) for name in bounds]
    found += [(f"figure:{name}", FIGURE_TESTS) for name in ("instances", *FIGURES)]
    return found


def noticed(plant: str, tests: list[str]) -> bool:
    """Whether a test fails with the plant in place."""
    environment = {**os.environ, NAME: plant, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}:{ROOT}"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "audit.theory.planted",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{plant}: pytest ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1


def main() -> int:
    chosen = [(p, t) for p, t in plants() if not sys.argv[1:] or any(word in p for word in sys.argv[1:])]
    start, survived = time.monotonic(), []
    for plant, tests in chosen:
        caught = noticed(plant, tests)
        print(f"{plant}, {time.monotonic() - start:.0f} s", flush=True)
        if not caught:
            survived.append(plant)
            print(f"  NOT NOTICED: {plant}", flush=True)
    print(f"{len(chosen)} plants, {len(survived)} not noticed, {time.monotonic() - start:.0f} s")
    return 1 if survived else 0


if __name__ == "__main__":
    raise SystemExit(main())
