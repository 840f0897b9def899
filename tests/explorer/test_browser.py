"""The explorer in a browser: every screen, three widths, keyboard, no script, axe-core, no other origin."""

import json
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.cli.explore import server

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def seen(
    node: list[str], npm: Path, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("explorer")
    with server(0) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{served.server_address[1]}/"
        done = subprocess.run(
            [*node, str(HERE / "browser.mjs"), str(npm), address, str(folder)],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={**os.environ, "CHROMIUM": f"/usr/bin/{chromium}"},
        )
        served.shutdown()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), folder


def test_every_screen_opens_at_three_widths(seen: tuple[dict[str, Any], Path]) -> None:
    found, folder = seen
    assert found["errors"] == []
    assert found["wide"] == []
    assert len(list(folder.glob("*.png"))) == 8 * 4
    assert len(set(found["titles"].values())) == 6


def test_nothing_serious_for_axe_and_no_other_origin(seen: tuple[dict[str, Any], Path]) -> None:
    found, _ = seen
    assert found["axe"] == []
    assert found["foreign"] == []


def test_the_keyboard_is_enough_and_the_address_has_the_state(seen: tuple[dict[str, Any], Path]) -> None:
    keys = seen[0]["keys"]
    assert keys["slider"]
    assert keys["address"] == "#report?epsilon=1.2"
    assert keys["cell"]
    assert keys["moved"] == "#report?epsilon=1.2&seen=1 0,1"
    assert set(map(tuple, seen[0]["unreached"].values())) == {()}


def test_a_hundred_reports_arrive_one_after_another(seen: tuple[dict[str, Any], Path]) -> None:
    keys = seen[0]["keys"]
    assert re.fullmatch(r"#respond\?choice=1&mine=1%7E[012]&counts=\d%7E\d%7E\d", keys["sent"])
    assert 1 < sum(keys["midway"]) < 101
    assert sum(keys["counted"]) == 101


def test_without_scripts_the_page_says_what_is_missing(seen: tuple[dict[str, Any], Path]) -> None:
    assert "needs JavaScript" in seen[0]["without"]
    assert "extremal plan" in seen[0]["without"]


def test_what_is_copied_runs(seen: tuple[dict[str, Any], Path], capsys: pytest.CaptureFixture[str]) -> None:
    for screen, code in seen[0]["python"].items():
        exec(compile(code, screen, "exec"), {})
        assert re.search(r"\d", capsys.readouterr().out), screen


def test_what_is_downloaded_is_loaded_and_proved(seen: tuple[dict[str, Any], Path]) -> None:
    files = sorted(seen[1].glob("mechanism_*.json"))
    assert len(files) == 5
    for path in files:
        assert ex.verify(path)
        assert (ex.load(path).k, ex.load(path).privacy) == (6, ex.LDP("1.5"))
