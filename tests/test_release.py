"""What a release is made of: one version everywhere, doors that name what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import extremal as ex

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def _text(*names: str) -> str:
    return ROOT.joinpath(*names).read_text(encoding="utf-8")


def test_one_version_everywhere() -> None:
    version = ex.__version__
    assert re.search(rf"^version: {re.escape(version)}$", _text("CITATION.cff"), flags=re.M)
    assert f'version = "{version}"' in _text("packaging", "conda", "meta.yaml")
    assert re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", _text("CHANGELOG.md"), flags=re.M)


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    wheel = re.search(r"^dependencies = \[(.*)\]$", _text("pyproject.toml"), flags=re.M)
    assert wheel is not None
    needed = {name.replace(">", " >") for name in re.findall(r'"([^"]+)"', wheel[1])}
    assert needed <= {line.strip(" -") for line in _text("packaging", "conda", "meta.yaml").splitlines()}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda p: p.name)
def test_workflows_call_targets_that_exist_and_hold_no_rights_by_default(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", _text("Makefile"), flags=re.M))
    assert set(re.findall(r"run: make ([\w-]+)", text)) <= targets
    assert "\npermissions:\n  contents: read\n" in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert text.count("runs-on:") == text.count("timeout-minutes:")


def test_hooks_call_targets_that_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", _text("Makefile"), flags=re.M))
    called = re.findall(r"entry: make ([\w-]+)", _text(".pre-commit-config.yaml"))
    assert called == ["lint", "types", "core"]  # what make quick runs
    assert set(called) <= targets
    assert f"quick: {' '.join(called)}" in _text("Makefile")


def test_labels_of_templates_and_first_issues_exist() -> None:
    labels = set(re.findall(r"name: ([\w]+),", _text(".github", "labels.yml")))
    used = {name for path in TEMPLATES for name in re.findall(r"labels: \[(\w+)\]", path.read_text(encoding="utf-8"))}
    first = _text(".github", "first-issues.md")
    used |= {name for group in re.findall(r"\(([\w, ]+, first|first)\)\n", first) for name in group.split(", ")}
    assert {"bug", "mechanism", "notion", "question", "first"} <= used <= labels
    assert len(re.findall(r"^\d\. \*\*", first, flags=re.M)) == 5


def test_files_that_first_issues_start_from_exist() -> None:
    for name in re.findall(r"`([\w/]+\.(?:py|md))`", _text(".github", "first-issues.md")):
        assert any((ROOT / base / name).exists() for base in ("", "src/extremal")), name
