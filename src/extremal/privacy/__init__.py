"""What is allowed: one file for each privacy notion.

`NOTIONS` is where files, the command line and the tests of all notions find them. A class says there what it is called
(`name` in files, `command` in the shell), what it needs beside ε (`options`, a tuple of `Option` in the order of its
constructor, so that `cls(epsilon, **{option.argument: value})` makes it) and which of its values the tests go through
(`examples(epsilon, prior)`, by what sets them apart). To add a notion: its file, and its name in the line below.
"""

from typing import Any

from extremal.errors import MalformedFile
from extremal.privacy.ldp import LDP
from extremal.privacy.lip import LIP
from extremal.privacy.metric import MetricPrivacy
from extremal.privacy.notion import Notion, Option
from extremal.privacy.pml import PML

NOTIONS: dict[str, type[Notion]] = {notion.name: notion for notion in (LDP, PML, LIP, MetricPrivacy)}


def notion_from_json(content: dict[str, Any]) -> Notion:
    """The notion that `to_json` described."""
    if not isinstance(content, dict) or content.get("notion") not in NOTIONS:
        raise MalformedFile(
            "privacy must be a known notion", parameter="privacy", value=content, hint=f"Known: {', '.join(NOTIONS)}."
        )
    return NOTIONS[content["notion"]].from_json(content)


__all__ = ["LDP", "LIP", "NOTIONS", "PML", "MetricPrivacy", "Notion", "Option", "notion_from_json"]
