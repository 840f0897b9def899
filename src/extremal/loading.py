"""`ex.load`: whatever a file of the package holds, by the kind it names itself.

`LOADERS` maps the `format` of a file to what reads it. Every reader decides again what the file claims, and none is
loaded before a file of its kind is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from extremal.mechanism.files import FORMAT, mechanism_from_json, parse


def _questionnaire(content: dict[str, Any], source: str) -> Any:
    from extremal.questionnaire.files import questionnaire_from_json

    return questionnaire_from_json(content, source)


def _shuffle_claim(content: dict[str, Any], source: str) -> Any:
    from extremal.theory.shuffle.claims import proved_claim

    return proved_claim(content, source)


def _heavy_hitters(content: dict[str, Any], source: str) -> Any:
    from extremal.discovery.protocol import heavy_hitters_from_json

    return heavy_hitters_from_json(content, source)


LOADERS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    FORMAT: mechanism_from_json,
    "extremal-heavy-hitters": _heavy_hitters,
    "extremal-questionnaire": _questionnaire,
    "extremal-shuffled": _shuffle_claim,
}
"""By the format that a file names."""


def load(path: str | Path) -> Any:
    """Read a mechanism, a questionnaire or a claim about shuffled reports, and decide its claims again.

    Guarantee: what is returned satisfies its claims in integer arithmetic, whatever the file says.

    Returns:
        A `Mechanism`, a `Questionnaire` or a `ShuffleClaim`, as the file says.

    Raises:
        FileNotFoundError: there is no such file.
        MalformedFile: not a file of the package, corrupted, or of a newer major version.
        PrivacyViolation: the file is whole but a claim in it is false.

    Reference: docs/reference/mechanism_file.md.

    >>> import extremal as ex, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> m = ex.randomized_response(2, 1)
    >>> ex.load(m.save(folder / "m.json")).hash == m.hash
    True
    >>> ex.load(ex.Questionnaire({"drugs": m}).save(folder / "q.json"))
    Questionnaire(drugs; ε = 1 per person)
    """
    content = parse(Path(path))
    kind = content.get("format")
    reader = LOADERS.get(kind, mechanism_from_json) if isinstance(kind, str) else mechanism_from_json
    return reader(content, str(path))
