"""What verbs read from the command line: notions, utilities, priors, matrices.

Which notions and utilities there are, and which options each needs, is asked of their classes (`NOTIONS`, `UTILITIES`);
here is only how an option is read. Numbers stay strings, so that they are read as the decimals they are.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extremal.errors import InvalidParameter, MalformedFile
from extremal.privacy import NOTIONS, Notion
from extremal.sources import SourceClass
from extremal.utility import UTILITIES, Utility

PRIOR_HELP = (
    "comma-separated probabilities (0.5,0.3,0.2 or 1/3,1/3,1/3), uniform:K, or @FILE with a JSON list or one "
    "number a line"
)
METAVARS = {
    "prior": "P",
    "p0": "P",
    "p1": "P",
    "source": "P;P;…",
    "ball": "RADIUS",
    "distances": "FILE",
    "metric": "FILE",
}
HOW = {
    "prior": f": {PRIOR_HELP}",
    "distances": " (CSV or JSON)",
    "metric": " (CSV or JSON; inf allowed)",
}
"""What is added to the help of an option by how it is read."""

PRIVACIES: dict[str, type[Notion]] = {kind.word: kind for kind in NOTIONS.values()}
"""The notions as the command line calls them."""

CHOICES: dict[str, type[Utility]] = {name: kind for name, kind in UTILITIES.items() if kind.options is not None}
"""The utilities that the command line can make."""


def prior(text: str, parameter: str) -> list[Any]:
    """A prior as typed."""
    if text.startswith("uniform:"):
        count = text.removeprefix("uniform:")
        if not count.isdecimal() or int(count) < 2:
            raise InvalidParameter(f"{parameter} must be uniform:K with K at least 2", parameter=parameter, value=text)
        return [f"1/{int(count)}"] * int(count)
    if text.startswith("@"):
        content = Path(text[1:]).read_text(encoding="utf-8")
        if content.lstrip().startswith("["):
            return [str(p) for p in json.loads(content, parse_float=str)]
        return content.replace(",", " ").split()
    return [part.strip() for part in text.split(",")]


def matrix(path: str, parameter: str) -> list[list[float]]:
    """A matrix from a file: JSON, or one row a line with commas or blanks between."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        rows = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
        )
        read = [[float(entry) for entry in row] for row in rows]
    except (ValueError, TypeError) as error:
        raise MalformedFile(
            f"{parameter} must be a matrix of numbers", parameter=parameter, value=path, hint=str(error)
        ) from error
    if not read or len({len(row) for row in read}) != 1 or any(math.isnan(entry) for row in read for entry in row):
        raise MalformedFile(f"{parameter} must be a matrix with rows of equal length", parameter=parameter, value=path)
    return read


class Given:
    """The options of one command, read as a class asks for them; what is missing is refused in the words given."""

    def __init__(self, options: argparse.Namespace | Mapping[str, Any]) -> None:
        self._options = dict(options) if isinstance(options, Mapping) else vars(options)

    def text(self, name: str, missing: str | None = None, hint: str = "") -> Any:
        """An option as typed; None when it was not given and nothing is said about that."""
        value = self._options.get(name)
        if value is None and missing is not None:
            raise InvalidParameter(missing, parameter=f"--{name}", value=None, hint=hint)
        return value

    def prior(self, name: str, missing: str, hint: str = "") -> list[Any]:
        return prior(self.text(name, missing, hint), f"--{name}")

    def priors(self, names: Sequence[str], missing: str) -> list[list[Any]]:
        values = [self.text(name) for name in names]
        if None in values:
            raise InvalidParameter(missing, parameter=", ".join(f"--{name}" for name in names), value=tuple(values))
        return [prior(value, f"--{name}") for name, value in zip(names, values, strict=True)]

    def matrix(self, name: str, missing: str, hint: str = "") -> list[list[float]]:
        return matrix(self.text(name, missing, hint), f"--{name}")

    def source(self, missing: str) -> Any:
        """A class of sources: --source, --ball around --prior, or the one --prior."""
        if (listed := self.text("source")) is not None:
            return SourceClass([prior(text.strip(), "--source") for text in listed.split(";")])
        centre = self.prior("prior", missing, hint="Give --prior 0.5,0.3,0.2 or --source.")
        radius = self.text("ball")
        return centre if radius is None else SourceClass.ball(centre, radius)


def add_utility_arguments(verb: argparse.ArgumentParser, several: bool = False) -> None:
    """--utility, and what the utilities need."""
    verb.add_argument(
        "--utility",
        action="append" if several else "store",
        choices=tuple(CHOICES),
        metavar="NAME",
        help=f"what is wanted{' (may be repeated)' if several else ''}: {', '.join(CHOICES)}",
    )
    _add_options(verb, _options_of(CHOICES))


def add_privacy_arguments(verb: argparse.ArgumentParser) -> None:
    """--privacy, and what the notions need beside ε and beside what utilities need."""
    verb.add_argument("--privacy", choices=tuple(PRIVACIES), default="ldp", help="privacy notion (default ldp)")
    shared = _options_of(CHOICES)
    _add_options(verb, {name: text for name, text in _options_of(PRIVACIES).items() if name not in shared})


def _options_of(kinds: Mapping[str, type[Notion] | type[Utility]]) -> dict[str, str]:
    """Every option of these classes with its help, once."""
    found: dict[str, str] = {}
    for kind in kinds.values():
        for name, text in (kind.options or {}).items():
            found.setdefault(name, text)
    return found


def _add_options(verb: argparse.ArgumentParser, options: Mapping[str, str]) -> None:
    for name, text in options.items():
        verb.add_argument(f"--{name}", metavar=METAVARS.get(name), help=text + HOW.get(name, ""))


def privacy(options: argparse.Namespace, epsilon: Any = None) -> Notion:
    """The notion asked for, at --epsilon or another level."""
    level = options.epsilon if epsilon is None else epsilon
    if level is None:
        raise InvalidParameter("a privacy level is needed", parameter="--epsilon", value=None, hint="Give --epsilon 1.")
    return PRIVACIES[options.privacy].from_options(level, Given(options))


def utility(options: argparse.Namespace, name: str | None = None) -> Utility:
    """The utility asked for, or the one that the other options speak of."""
    chosen = name or options.utility or next(iter(spoken_of(options)), None)
    if chosen is None:
        raise InvalidParameter(
            "say what you want to learn", parameter="--utility", value=None, hint="Give --p0 and --p1, or --prior."
        )
    return CHOICES[chosen].from_options(Given(options))


def spoken_of(options: argparse.Namespace) -> list[str]:
    """The usual utility for each option that is given: a pair, losses, a prior."""
    usual = {"p0": "KL", "distances": "Distortion", "prior": "MutualInformation"}
    return [name for option, name in usual.items() if getattr(options, option)]
