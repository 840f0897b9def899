"""Shared by the tests of utilities."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def precise() -> Any:
    """Utilities in 60-digit arithmetic (precise.py)."""
    spec = importlib.util.spec_from_file_location("precise", Path(__file__).with_name("precise.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
