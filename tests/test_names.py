"""The public names: one table, loaded when used, the same for editors, and small."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import extremal as ex

SOURCE = Path(ex.__file__).read_text(encoding="utf-8")


def _for_type_checkers() -> dict[str, str]:
    """Name → module, as the block for type checkers says it."""
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name, "without `as` strict type checkers do not see the name"
            found[alias.name] = (node.module or "").removeprefix("extremal").removeprefix(".")
    return found


def test_editors_and_the_table_know_the_same_names() -> None:
    assert _for_type_checkers() == ex._MODULE_OF | dict.fromkeys(ex._MODULES, "")


def test_every_name_is_there_and_they_are_few() -> None:
    assert len(ex.__all__) == len(set(ex.__all__))
    assert set(ex.__all__) <= set(dir(ex))
    for name in ex.__all__:
        assert getattr(ex, name) is not None
    assert len(set(ex.__all__) - {"__version__"}) <= 87


def test_a_star_brings_them_all() -> None:
    here: dict[str, object] = {}
    exec("from extremal import *", here)
    assert set(ex.__all__) <= set(here)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("desing", r"Did you mean ex\.design\?"),
        ("Frequences", r"ex\.Frequencies"),
        ("estimate_frequency", r"ex\.estimate_frequencies"),
        ("test_hypothesis", r"ex\.test_hypotheses"),
    ],
)
def test_a_mistyped_name_is_asked_about(wrong: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"module 'extremal' has no attribute '{wrong}'.*{meant}"):
        getattr(ex, wrong)


def test_a_name_far_from_all_is_only_refused() -> None:
    with pytest.raises(AttributeError, match=r"^module 'extremal' has no attribute 'zzzzqq'$"):
        getattr(ex, "zzzz" + "qq")
    with pytest.raises(ImportError) as caught:
        exec("from extremal import zzzzqq", {})
    assert "zzzzqq" in "".join(traceback.format_exception_only(caught.value))
    assert not hasattr(ex, "__wrapped__")


def test_values_survive_a_pickle() -> None:
    for value in (ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]), ex.randomized_response(3, 1), ex.Frequencies(3)):
        assert pickle.loads(pickle.dumps(value)) == value


def test_a_pickle_loads_where_nothing_was_imported() -> None:
    stored = pickle.dumps(ex.randomized_response(3, 1))
    code = f"import pickle; print(pickle.loads({stored!r}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "randomized_response" in found.stdout


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    code = "import extremal, sys; print(sorted(m for m in sys.modules if m.startswith('extremal.') or m == 'numpy'))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
