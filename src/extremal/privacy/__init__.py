"""What is allowed: one file for each privacy notion.

`NOTIONS` is where files, the command line and the tests of all notions find them, by the `name` that a class has in
files. To add a notion: its file, its name in the line below, its options in `cli/choices.py` and its examples in
`tests/privacy/test_contract.py`.
"""

from typing import Any

from extremal.errors import MalformedFile
from extremal.privacy.ldp import LDP
from extremal.privacy.lip import LIP
from extremal.privacy.maximal import MaximalLeakage
from extremal.privacy.metric import MetricPrivacy
from extremal.privacy.notion import Notion
from extremal.privacy.pml import PML

NOTIONS: dict[str, type[Notion]] = {notion.name: notion for notion in (LDP, PML, LIP, MetricPrivacy, MaximalLeakage)}


def notion_from_json(content: dict[str, Any]) -> Notion:
    """The notion that `to_json` described."""
    if not isinstance(content, dict) or content.get("notion") not in NOTIONS:
        raise MalformedFile(
            "privacy must be a known notion", parameter="privacy", value=content, hint=f"Known: {', '.join(NOTIONS)}."
        )
    return NOTIONS[content["notion"]].from_json(content)


__all__ = ["LDP", "LIP", "NOTIONS", "PML", "MaximalLeakage", "MetricPrivacy", "Notion", "notion_from_json"]
