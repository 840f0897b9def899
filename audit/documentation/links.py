"""Every address outside that a page names: does it answer? Needs the network; what is not reached is only said.

An address is broken when its server says so (404 or 410). A server that refuses programs, or no network, proves
nothing.
"""

from __future__ import annotations

import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADDRESS = re.compile(r"https?://[^\s)>\"'`\]]+")
GONE = {404, 410}
PATIENCE = 15  # seconds for an answer


def addresses() -> dict[str, list[str]]:
    """Address → the files that name it."""
    found: dict[str, list[str]] = {}
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*.cff"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    for page in pages:
        for address in ADDRESS.findall(page.read_text(encoding="utf-8")):
            found.setdefault(address.rstrip(".,;"), []).append(str(page.relative_to(ROOT)))
    return found


def answer(address: str) -> str:
    """What the server said, in a word."""
    request = urllib.request.Request(address, headers={"User-Agent": "link check of a documentation"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return f"answers {reply.status}"
    except urllib.error.HTTPError as error:
        return "broken" if error.code in GONE else f"answers {error.code}"
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        return f"not reached ({getattr(error, 'reason', error)})"


def main() -> int:
    """1 when an address is broken."""
    broken = 0
    for address, pages in sorted(addresses().items()):
        said = answer(address)
        broken += said == "broken"
        print(f"{said:14s} {address}   {', '.join(pages[:2])}")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
