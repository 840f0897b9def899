"""The checker in a browser's Python says of every file what it says in this one, and what `extremal verify` says."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.checker import joined
from extremal.cli import main
from extremal.explorer import CHECK_PAGES, PYODIDE, write_check_page
from support.proofs.examples import examples

HERE = Path(__file__).parent
SAVED = sorted((HERE.parent / "data" / "saved").glob("*.json"))
LARGEST_SITE = 16 << 20  # bytes that a visitor may have to load
OPEN = 3  # exit code: not decided


def _files(folder: Path) -> list[Path]:
    """Certificates of every third example of the kernel's tests, one of a hundred inputs, refuted and spoiled ones."""
    held = [e.certificate for e in examples() if e.certificate is not None][::3]
    wide = ex.design(ex.LDP(1), ex.KL([0.01] * 100, [(x + 1) / 5050 for x in range(100)])).certificate
    texts = [json.dumps(content) for content in (*held, wide.to_json())]
    lie = {**held[0], "value": repr(float(held[0]["value"]) * 1.01)}
    texts += [json.dumps(lie), texts[0][:-1], texts[0].replace('"1.0"', "1.0")]
    paths = [folder / f"{i}.json" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return [*paths, *SAVED]


def test_every_verdict_is_that_of_verify(node: list[str], npm: Path, tmp_path: Path) -> None:
    source = tmp_path / "check.py"
    source.write_text(joined(), encoding="utf-8")
    paths = _files(tmp_path)
    command = [*node, str(HERE / "decide.mjs"), str(npm), str(source), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(found) == len(paths) > 15
    assert {0, 2, 3} <= {one["code"] for one in found} <= {0, 1, 2, 3}
    for path, one in zip(paths, found, strict=True):
        assert one["code"] == main(["verify", "--independent", str(path)]), path
        if one["code"] != OPEN:
            assert one["code"] == main(["verify", str(path)]), path


def test_what_a_visitor_loads_is_bounded(npm: Path, tmp_path: Path) -> None:
    write_check_page(tmp_path, npm / "pyodide")
    assert {path.name for path in (tmp_path / "pyodide").iterdir()} == set(PYODIDE)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < LARGEST_SITE


def test_without_npm_the_page_says_what_to_do(tmp_path: Path) -> None:
    write_check_page(tmp_path, None)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "built without Python for browsers" in page
    assert "page.mjs" not in page
    assert {path.name for path in tmp_path.iterdir()} == {*CHECK_PAGES, "check.py"}


def test_pages_of_the_checker_name_no_other_origin(tmp_path: Path) -> None:
    write_check_page(tmp_path, None)
    for name in CHECK_PAGES:
        assert "http" not in (tmp_path / name).read_text(encoding="utf-8").replace("http-equiv", "").replace(
            "over http", ""
        )


@pytest.mark.parametrize("name", CHECK_PAGES)
def test_every_page_is_packaged(name: str) -> None:
    assert (HERE.parents[1] / "src" / "extremal" / "explorer" / "check" / name).is_file()
