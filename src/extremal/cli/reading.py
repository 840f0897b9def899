"""Readers of what is typed or in small files: priors, matrices, numbers and positions.

Numbers stay strings where they can, so that they are read as the decimals they are.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extremal.atomic import refuse_existing, refuse_same
from extremal.errors import InvalidParameter, MalformedFile
from extremal.loading import load
from extremal.mechanism.files import LARGEST_FILE
from extremal.paths import refuse_unusable
from extremal.plotting import refuse_ending

if TYPE_CHECKING:
    from extremal.questionnaire import Questionnaire

MOST_PORT = 65535  # a port is 16 bits
MOST_TYPED = 1 << 18  # probabilities, each read as a fraction: more than a second or two of reading is for Python
PRIOR_HELP = (
    "comma-separated probabilities (0.5,0.3,0.2 or 1/3,1/3,1/3), uniform:K, or @FILE with a JSON list or one "
    "number a line"
)


def prior(text: str, parameter: str) -> list[Any]:
    """A prior as typed."""
    if text.startswith("uniform:"):
        return _uniform(text, parameter)
    if not text.startswith("@"):
        return [part.strip() for part in text.split(",")]
    content = _text(text[1:], parameter)
    if not content.lstrip().startswith("["):
        return _few(content.replace(",", " ").split(), parameter)
    try:
        return [str(p) for p in _few(json.loads(content, parse_float=str), parameter)]
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise MalformedFile(
            f"{parameter} must be a JSON list or one number a line", parameter=parameter, value=text
        ) from None


def _few(entries: list[Any], parameter: str) -> list[Any]:
    if len(entries) > MOST_TYPED:
        raise InvalidParameter(
            f"{parameter} may have at most {MOST_TYPED:,} entries", parameter=parameter, value=len(entries)
        )
    return entries


def _uniform(text: str, parameter: str) -> list[str]:
    """uniform:K as K equal probabilities."""
    count = text.removeprefix("uniform:")
    if not (count.isascii() and count.isdecimal() and len(count) < 9 and 2 <= int(count) <= MOST_TYPED):
        raise InvalidParameter(
            f"{parameter} must be uniform:K with K from 2 to {MOST_TYPED:,}", parameter=parameter, value=text
        )
    return [f"1/{int(count)}"] * int(count)


def _text(path: str, parameter: str) -> str:
    """A small file of numbers."""
    refuse_unusable(Path(path))
    with Path(path).open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise MalformedFile(f"{parameter} may have at most {LARGEST_FILE >> 20} MiB", parameter=parameter, value=path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedFile(f"{parameter} must be a file of UTF-8 text", parameter=parameter, value=path) from None


def matrix(path: str, parameter: str) -> list[list[float]]:
    """A matrix from a file: JSON, or one row a line with commas or blanks between."""
    text = _text(path, parameter)
    try:
        read = [[float(entry) for entry in row] for row in _rows(text)]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise MalformedFile(
            f"{parameter} must be a matrix of numbers", parameter=parameter, value=path, hint=str(error)
        ) from error
    if not read or len({len(row) for row in read}) != 1 or any(math.isnan(entry) for row in read for entry in row):
        raise MalformedFile(f"{parameter} must be a matrix with rows of equal length", parameter=parameter, value=path)
    return read


def _rows(text: str) -> Any:
    if text.lstrip().startswith("["):
        return json.loads(text)
    return [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]


def values(text: str, parameter: str, k: str | None) -> list[float]:
    """One number for each input: as typed, from a file, or FROM:TO evenly over --k inputs."""
    if ":" in text and not text.startswith("@"):
        first, _, last = text.partition(":")
        count = count_of(k)
        try:
            low, high = float(first), float(last)
        except ValueError:
            raise InvalidParameter(
                f"{parameter} must be numbers, or FROM:TO with --k", parameter=parameter, value=text
            ) from None
        return [low + (high - low) * (x / (count - 1)) for x in range(count)]
    if re.fullmatch(r"\d+-\d+", text):
        return [float(answer) for answer in answers(text)]
    try:
        return [float(v) for v in prior(text, parameter)]
    except ValueError:
        raise InvalidParameter(
            f"{parameter} must be numbers",
            parameter=parameter,
            value=text,
            hint=f"Give {parameter} 0,1,5 or {parameter} 0-10.",
        ) from None


def answers(text: str) -> list[str] | list[int]:
    """Labels as typed: a,b,c, or a range of whole numbers 0-10.

    >>> answers("no, yes"), answers("1-5")
    (['no', 'yes'], [1, 2, 3, 4, 5])
    """
    ends = text.split("-")
    if len(ends) == 2 and all(end.strip().isdecimal() for end in ends):
        first, last = (int(end) for end in ends)
        if not 0 < last - first < MOST_TYPED:
            raise InvalidParameter("a range of answers must rise, as 0-10 does", parameter="--inputs", value=text)
        return list(range(first, last + 1))
    return [part.strip() for part in text.split(",")]


def width(text: str) -> float:
    """A half-width as typed: 0.05, or 5% for five points."""
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number: write ± 5 points as 0.05 or 5%") from None


def positions(text: str, parameter: str) -> list[int]:
    """Positions of inputs, counted from 0."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InvalidParameter(f"{parameter} must be positions, counted from 0", parameter=parameter, value=text)
    return [int(part) for part in parts]


def count_of(text: str | None) -> int:
    if text is None or not text.isdecimal() or int(text) < 2:
        raise InvalidParameter(
            "a number of inputs is needed, at least 2", parameter="--k", value=text, hint="Give --k 10."
        )
    return int(text)


def refuse_written(options: argparse.Namespace, *names: str) -> None:
    """Raise before any work when a file that is to be written is there already, or cannot be written."""
    refuse_unwritable(options, *names)
    for name in names:
        if getattr(options, name) is not None:
            refuse_existing(Path(getattr(options, name)), options.overwrite)


def refuse_unwritable(options: argparse.Namespace, *names: str) -> None:
    """Raise when a file that is to be written is one of those that are read, has no folder to stand in, or is a picture
    of no known format."""
    for name in names:
        if getattr(options, name) is None:
            continue
        target = Path(getattr(options, name))
        for source in _read(options, names):
            refuse_same(source, target)
        refuse_unusable(target)
        if not target.parent.is_dir():
            raise FileNotFoundError(2, "No such folder", str(target.parent))
        if name == "plot":
            refuse_ending(target)


def _read(options: argparse.Namespace, written: Sequence[str]) -> Iterator[Path]:
    """The files that other options name: FILE, @FILE or NAME=FILE."""
    for name, value in vars(options).items():
        for text in value if isinstance(value, list) else [value]:
            if name in written or not isinstance(text, str) or "\0" in text:
                continue
            yield from filter(Path.is_file, (Path(text.removeprefix("@")), Path(text.partition("=")[2])))


def questionnaire_in(path: str) -> Questionnaire:
    """The questionnaire in a file; anything else is refused."""
    from extremal.questionnaire import Questionnaire

    found = load(path)
    if not isinstance(found, Questionnaire):
        raise InvalidParameter(
            "the file must be a questionnaire",
            parameter="file",
            value=path,
            hint="extremal questionnaire make writes one.",
        )
    return found


def refuse_no_port(port: int) -> None:
    """Raise on a number that is no port: systems count on from 0 beyond the last."""
    if not 0 <= port <= MOST_PORT:
        raise InvalidParameter(
            f"the port must lie between 0 and {MOST_PORT}",
            parameter="--port",
            value=port,
            hint="0 means any free port.",
        )
