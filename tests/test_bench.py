"""The page of benchmarks and its check, without timing anything."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[1] / "bench"
MEASURED = {
    "symbols": [
        {
            "name": "KL",
            "seconds": 2.0,
            "peer": "np.argsort",
            "peer_seconds": 1.0,
            "series": "KL",
            "size": 10,
            "note": "x",
        },
        {
            "name": "KL",
            "seconds": 20.0,
            "peer": "other",
            "peer_seconds": 40.0,
            "series": "KL",
            "size": 100,
            "memory": 0.5,
        },
        {"name": "alone", "seconds": 1.0, "peer": None, "peer_seconds": None},
    ]
}


@pytest.fixture
def page() -> Any:
    if not BENCH.exists():
        pytest.skip("no bench folder in an installed package")
    found = importlib.util.spec_from_file_location("bench_page", BENCH / "page.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_ratio_that_is_more_than_thirty_percent_worse_fails(
    page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = page.ratios(MEASURED)
    assert now == {"symbols: KL / np.argsort": 2.0, "symbols: KL / other": 0.5}
    monkeypatch.setattr(page, "measure", lambda section, **_: MEASURED.get(section, []))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for factor, code in ((1.0, 0), (1.29, 0), (1.31, 1)):
        stored = tmp_path / f"{factor}.json"
        stored.write_text(json.dumps({**{name: ratio / factor for name, ratio in now.items()}, "gone": 1e-9}))
        assert page.main(["--check", "--stored", str(stored)]) == code
    assert "worse: symbols: KL / np.argsort: 2 against 1.53" in capsys.readouterr().err
    assert page.worsened({"new": 9.0}, {}) == {}


def test_the_page_says_where_a_peer_is_faster(page: Any) -> None:
    facts = {"date": "2000-01-01", "machine": "none", "python": "3", "versions": "scipy 1"}
    text = page.page(MEASURED, facts)
    assert "- KL: np.argsort takes 0.5 of our time." in text
    assert "other takes" not in text
    assert "exponent 1.00 from 10 to 100" in text
    assert "not compared: cvxpy" in text
    assert "Nowhere in these tables." in page.page({}, facts)


def test_the_page_holds_what_is_stored(page: Any) -> None:
    """What is written down is what was measured: table and store are made together."""
    measured = json.loads(page.MEASURED.read_text(encoding="utf-8"))
    assert json.loads(page.STORED.read_text(encoding="utf-8")) == pytest.approx(page.ratios(measured))
    text = page.PAGE.read_text(encoding="utf-8")
    for rows in measured.values():
        for row in rows:
            assert f"| {row['name']} | {row['seconds']:.3g} |" in text


def test_a_gap_above_what_is_promised_fails(
    page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    stored = tmp_path / "ratios.json"
    stored.write_text("{}")
    for gap, code in ((0.01, 0), (0.0101, 1)):
        row = {"name": "CDF", "seconds": 1.0, "gap": gap, "promised": 0.01}
        monkeypatch.setattr(page, "measure", lambda section, row=row, **_: [row] if section == "designs" else [])
        assert page.main(["--check", "--stored", str(stored)]) == code
    assert "above its promised gap: CDF" in capsys.readouterr().err
