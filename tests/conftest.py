"""Shared by all tests: reference values, and a Hypothesis profile that is the same everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "extremal",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("extremal")


@pytest.fixture(scope="session")
def reference() -> dict[str, dict[str, Any]]:
    """Independent values to 30 digits, by case id (tests/data/README.md)."""
    content = json.loads((Path(__file__).parent / "data" / "fixtures.json").read_text())
    return {case["id"]: case for case in content["cases"]}
