"""The files of the explorer: what is joined, what is served, and that nothing else of the machine is."""

import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from extremal.cli import main
from extremal.cli.explore import server
from extremal.explorer import MODULES, joined, pages
from extremal.plotting import colour_of, colours_of

PACKAGE = Path(__file__).parents[2] / "src" / "extremal" / "explorer"


def test_the_script_has_every_module_and_no_import() -> None:
    script = joined()
    assert not re.search(r"^(import|export) ", script, flags=re.M)
    assert {path.name for path in PACKAGE.glob("*.js")} == set(MODULES)
    assert re.findall(r"^const module_(\w+) =", script, flags=re.M) == [name.removesuffix(".js") for name in MODULES]


def test_a_mechanism_has_one_colour_in_pictures_and_in_the_explorer() -> None:
    held = dict(re.findall(r'  (\w+): "(#\w+)"', (PACKAGE / "elements.js").read_text(encoding="utf-8")))
    for key, name in {
        "best": "best mechanism",
        "response": "randomised response, ε = 1",
        "unary": "unary encoding (optimised)",
        "symmetricUnary": "unary encoding (symmetric)",
        "hashing": "local hashing",
        "rounding": "stochastic rounding",
        "piecewise": "piecewise",
        "geometric": "geometric",
    }.items():
        assert held[key] == colour_of(name, 0)
    assert len(set(colours_of(["this one", "randomised response, ε = 1", "that one", "binary"]))) == 4


def test_pages_name_no_other_origin() -> None:
    assert not [found for data in pages().values() for found in re.findall(rb"(?:https?:)?//[a-z0-9.]+\.[a-z]+/", data)]


@pytest.fixture
def served() -> Iterator[str]:
    with server(0) as made:
        assert isinstance(made, ThreadingHTTPServer)
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()


def test_what_is_served_is_what_is_packaged(served: str) -> None:
    for name, data in pages().items():
        with urllib.request.urlopen(f"{served}/{name}") as answer:
            assert answer.read() == data
    with urllib.request.urlopen(f"{served}/?epsilon=1") as answer:
        assert answer.read() == pages()["index.html"]


@pytest.mark.parametrize("path", ["/../pyproject.toml", "/etc/passwd", "/numbers.py", "/.git/config"])
def test_nothing_else_is_served(served: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        urllib.request.urlopen(f"{served}{path}")
    refused.value.close()


def test_a_port_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--port", "70000"]) == 2
    assert "the port must lie between 0 and 65535; got --port=70000" in capsys.readouterr().err
