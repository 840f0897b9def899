"""Mechanism files: JSON that any language reads without losing a digit.

Integers beyond 2^53 are decimal strings; a number that a double cannot hold exactly is refused, as are duplicate keys,
NaN, fractions and exponents, and a content that does not match its hash. `version` is major.minor: a newer minor
version is read (unknown fields at its top are ignored but hashed), a newer major one refused. Any other field or text
that the writer does not write is malformed (`extremal.exact.written`). A file is written whole or not at all.

Files come from strangers. What is listed in one is bounded by its length (64 MiB, four million values), what is said by
a few numbers by caps on them (`MOST_LABELS`, the structures' own): nothing in a file makes its reader work or allocate
beyond that before it is refused. What would not be read back is not written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection
from difflib import get_close_matches
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from extremal.errors import ExtremalError, MalformedFile
from extremal.exact.weights import Indices
from extremal.mechanism.labels import LARGEST_JSON_INTEGER, MOST_LABELS, Labels, count_text
from extremal.mechanism.report_labels import reports_from_json
from extremal.mechanism.structures import GroupedSets, Structure, structure_from_json
from extremal.mechanism.value import Mechanism
from extremal.paths import refuse_unusable
from extremal.privacy import Notion, notion_from_json

FORMAT = "extremal-mechanism"
VERSION = (1, 0)
LARGEST_FILE = 64 << 20  # bytes
MOST_VALUES = 1 << 22  # in a file
MOST_OBJECTS = 1 << 16  # in a file: a small dict takes 232 bytes, so 15 MB of them
DEEPEST = 32  # levels of nesting; no file that is written has ten
SHORT_NUMBER = 15  # characters of a whole number that is certainly below 2^53
_VERSION = re.compile(r"(?:0|[1-9][0-9]{0,4})\.(?:0|[1-9][0-9]{0,4})")
_FIELDS = ("format", "version", "inputs", "outputs", "denominator", "weights", "privacy")
_OTHER_FILES = {
    "extremal-certificate": "The file without .certificate in its name has the mechanism.",
    "extremal-questionnaire": "It is a questionnaire: extremal questionnaire show FILE verifies it, ex.load reads it.",
}
LONGEST_NUMBER = 4000  # decimal digits of a denominator; longer ones are hexadecimal


def to_json(mechanism: Mechanism) -> dict[str, Any]:
    """The content of a mechanism file, hash included."""
    content = _content(mechanism)
    return {**content, "hash": mechanism.hash}


def content_hash(mechanism: Mechanism) -> str:
    return content_digest(_content(mechanism))


def content_digest(content: dict[str, Any]) -> str:
    """SHA-256 of JSON content with sorted keys and no spaces."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _content(mechanism: Mechanism) -> dict[str, Any]:
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": ".".join(str(part) for part in VERSION),
        "inputs": mechanism.input_labels.to_json(),
        "outputs": mechanism.output_labels.to_json(),
        "denominator": _digits(mechanism.denominator),
        "weights": mechanism.structure.to_json(),
        "privacy": None if mechanism.privacy is None else mechanism.privacy.to_json(),
    }
    if mechanism.row_of is not None:
        content["rows_of_inputs"] = _run_lengths(mechanism.row_of)
    return content


def _digits(number: int) -> str:
    """Decimal; hexadecimal where decimal digits would take time that grows with their square."""
    return str(number) if number.bit_length() < LONGEST_NUMBER * 3 else hex(number)


def _run_lengths(row_of: Indices) -> list[list[int]]:
    """[row, how many inputs in a row have it], …"""
    starts = np.concatenate(([0], np.flatnonzero(np.diff(row_of)) + 1))
    lengths = np.diff(np.concatenate((starts, [row_of.size])))
    return [list(pair) for pair in zip(row_of[starts].tolist(), lengths.tolist(), strict=True)]


def load(path: str | Path) -> Mechanism:
    """Read a mechanism file and decide its claim again.

    Guarantee: what is returned satisfies its claim in integer arithmetic, whatever the file says.

    Raises:
        FileNotFoundError: there is no such file.
        MalformedFile: not a mechanism file, corrupted, or of a newer major version.
        PrivacyViolation: the file is whole but its claim is false.

    Reference: docs/reference/mechanism_file.md.

    >>> import tempfile, extremal as ex
    >>> path = ex.randomized_response(2, 1).save(f"{tempfile.mkdtemp()}/m.json")
    >>> ex.load(path) == ex.randomized_response(2, 1)
    True
    """
    return mechanism_from_json(parse(Path(path)), str(path))


def mechanism_from_json(content: dict[str, Any], source: str) -> Mechanism:
    """The mechanism that a parsed file describes, its claim decided again."""
    mechanism, claim = from_json(content, source)
    return mechanism if claim is None else mechanism.claiming(claim)


def read(path: str | Path) -> tuple[Mechanism, Notion | None]:
    """The mechanism without its claim, and the claim: for a caller that wants to judge the claim itself."""
    return from_json(parse(Path(path)), str(path))


def parse(path: Path, what: str = "a mechanism file", largest: int = LARGEST_FILE) -> dict[str, Any]:
    """The JSON object in a file, strictly; whatever stands under the name, no more than `largest` bytes are read."""
    refuse_unusable(path)
    if not path.exists():
        raise FileNotFoundError(2, f"No such file or directory ({_instead(path)})", str(path))
    with path.open("rb") as file:  # not the size that the system says: a device has none
        return parsed(file.read(largest + 1), what, largest)


def _instead(path: Path) -> str:
    """What may have been meant: a file beside it with nearly that name, or one that is yet to be written."""
    beside = get_close_matches(path.stem, [other.stem for other in path.parent.glob("*.json")], n=1)
    if beside:
        return f"did you mean {str(path.with_name(beside[0]).with_suffix('.json'))!r}?"
    return f"`.save(path)` and -o write one; the folder is {str(path.parent.absolute())!r}"


def parsed(data: bytes, what: str, largest: int) -> dict[str, Any]:
    """The JSON object in some bytes, strictly."""
    refuse_large_file(data, what, largest)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedFile(f"{what} is UTF-8 text", parameter="byte", value=error.start) from None
    try:
        content = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_float=_no_float,
            parse_constant=_no_float,
            parse_int=_safe_integer,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedFile(
            f"the file must be valid JSON ({error.msg})",
            parameter="at",
            value=where,
            hint="Is it truncated, or another kind of file?",
        ) from None
    except RecursionError:
        raise _too_deep(what) from None
    if not isinstance(content, dict):
        raise MalformedFile(f"{what} must hold a JSON object", parameter="type", value=type(content).__name__)
    if _deeper_than(content, DEEPEST):
        raise _too_deep(what)
    return content


def refuse_large_file(data: bytes, what: str, largest: int = LARGEST_FILE) -> None:
    """Raise on more than a reader can hold: bytes, or values of which each takes many times its bytes."""
    if len(data) > largest:
        raise MalformedFile(
            f"{what} has at most {largest >> 20} MiB",
            parameter="size",
            value=f"above {largest} bytes",
            hint="Is it a file of extremal?",
        )
    values = data.count(b",") + data.count(b"[")
    if values > MOST_VALUES or data.count(b"{") > MOST_OBJECTS:
        raise MalformedFile(f"{what} holds at most {MOST_VALUES:,} values", parameter="values", value=values)


def _too_deep(what: str) -> MalformedFile:
    return MalformedFile(f"{what} must not be nested that deeply", parameter="levels", value=f"above {DEEPEST}")


def _deeper_than(content: Any, levels: int) -> bool:
    inside = [content]
    for _ in range(levels):
        parts = (value.values() if type(value) is dict else value for value in inside)
        inside = [value for part in parts for value in part if type(value) in (dict, list)]
    return bool(inside)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        raise MalformedFile(
            "a key must not appear twice", parameter="key", value=next(k for k in keys if keys.count(k) > 1)
        )
    return content


def _no_float(text: str) -> Any:
    raise MalformedFile("numbers must be whole; others are strings", parameter="number", value=text)


def _safe_integer(text: str) -> int:
    if len(text) <= SHORT_NUMBER:
        return int(text)
    if len(text) > 17 or abs(int(text)) > LARGEST_JSON_INTEGER:
        raise MalformedFile(
            "integers beyond 2^53 must be strings: many readers would change them", parameter="number", value=text
        )
    return int(text)


def from_json(content: dict[str, Any], source: str) -> tuple[Mechanism, Notion | None]:
    """Build what a parsed file describes; nothing in it is trusted."""
    check_version(content, source, FORMAT, VERSION, "a mechanism file")
    refuse_changed(content)
    try:
        refuse_unknown_fields(content, (*_FIELDS, "rows_of_inputs"), VERSION)
        return _build(content)
    except MalformedFile:
        raise
    except ExtremalError as error:
        raise MalformedFile(f"in {source}: {error}") from error
    except KeyError as error:
        raise MalformedFile(
            f"{source} must have all fields of a mechanism file", parameter="missing", value=str(error)
        ) from error
    except (TypeError, ValueError, OverflowError, AttributeError, ArithmeticError) as error:
        raise MalformedFile(
            f"{source} must have the fields of a mechanism file, each of its type",
            parameter="problem",
            value=str(error),
        ) from error


def check_version(content: dict[str, Any], source: str, kind: str, newest: tuple[int, int], what: str) -> None:
    """Raise unless a file is of this kind, and of a major version that is read."""
    if content.get("format") != kind:
        found = content.get("format")
        hint = _OTHER_FILES.get(found) if isinstance(found, str) else None
        raise MalformedFile(f"{source} must be {what}", parameter="format", value=found, hint=hint)
    version = content.get("version")
    if not isinstance(version, str) or _VERSION.fullmatch(version) is None:
        raise MalformedFile("version must be major.minor", parameter="version", value=version)
    if int(version.partition(".")[0]) > newest[0]:
        raise MalformedFile(
            f"this release reads version {newest[0]}.x",
            parameter="version",
            value=version,
            hint="Install a newer extremal.",
        )


def refuse_changed(content: dict[str, Any]) -> None:
    """Raise unless the content hashes to what it says."""
    found = content_digest({key: value for key, value in content.items() if key != "hash"})
    if content.get("hash") != found:
        raise MalformedFile(
            "the content must match its hash: the file was changed after it was written",
            parameter="hash",
            value=content.get("hash"),
            hint=f"The content hashes to {found}.",
        )


def refuse_unknown_fields(content: dict[str, Any], fields: Collection[str], newest: tuple[int, int]) -> None:
    """Raise on a field that a file of this version does not have; a newer minor version may have more."""
    other = sorted(set(content) - {*fields, "hash"})
    if other and int(content["version"].partition(".")[2]) <= newest[1]:
        raise MalformedFile("a file must have no field that is not known", parameter="unexpected", value=other[:6])


def _build(content: dict[str, Any]) -> tuple[Mechanism, Notion | None]:
    structure = structure_from_json(content["weights"])
    if content["denominator"] != _digits(structure.denominator):
        raise MalformedFile(
            "denominator must be what each row sums to", parameter="denominator", value=content["denominator"]
        )
    inputs = Labels.from_json(content["inputs"], "inputs")
    outputs = _outputs(content["outputs"], inputs, structure)
    row_of = _row_of(content["rows_of_inputs"], structure.r) if "rows_of_inputs" in content else None
    if outputs.count != structure.m:
        raise MalformedFile(
            f"outputs must name the {count_text(structure.m)} columns of the weights",
            parameter="len(outputs)",
            value=count_text(outputs.count),
        )
    if len(inputs) != (structure.r if row_of is None else row_of.size):
        raise MalformedFile("inputs must name the rows of the weights", parameter="len(inputs)", value=len(inputs))
    if len(inputs) < 2:
        raise MalformedFile("a mechanism has at least 2 inputs", parameter="len(inputs)", value=len(inputs))
    claim = None if content["privacy"] is None else notion_from_json(content["privacy"])
    return Mechanism._made(structure, row_of, inputs, outputs, None), claim


def _outputs(content: Any, inputs: Labels, structure: Structure) -> Labels:
    if isinstance(structure, GroupedSets):  # which words of bits there are, its types say
        if content != structure.reports.to_json():
            raise MalformedFile("outputs must be words of a bit for each row", parameter="outputs", value=content)
        return structure.reports
    return reports_from_json(content, inputs, structure.m)


def _whole_pairs(runs: Any) -> list[int] | None:
    """A list of pairs of integers, one pair after the other; None for anything else."""
    plain = isinstance(runs, list) and set(map(type, runs)) <= {list} and set(map(len, runs)) <= {2}
    flat = list(chain.from_iterable(runs)) if plain else []
    return flat if plain and set(map(type, flat)) <= {int} else None


def _row_of(runs: Any, rows: int) -> Indices:
    shown = runs[:6] if isinstance(runs, list) else [runs]
    flat = _whole_pairs(runs)
    if flat is None or not all(0 <= row < rows for row in set(flat[::2])):
        raise MalformedFile(
            f"rows_of_inputs must be pairs of a row, 0..{rows - 1}, and a count",
            parameter="rows_of_inputs",
            value=shown,
        )
    firsts, counts = flat[::2], flat[1::2]
    # In Python's integers, which do not wrap, before anything is as long as they say.
    if min(counts, default=1) < 1 or sum(counts) > MOST_LABELS:
        raise MalformedFile(
            f"rows_of_inputs must count 1..{MOST_LABELS:,} inputs in all", parameter="rows_of_inputs", value=shown
        )
    if any(a == b for a, b in pairwise(firsts)):
        raise MalformedFile(
            "rows_of_inputs must count neighbours of one row together", parameter="rows_of_inputs", value=shown
        )
    if len(set(firsts)) != rows:
        raise MalformedFile(
            f"rows_of_inputs must give each of the {count_text(rows)} rows to some input",
            parameter="rows",
            value=len(set(firsts)),
        )
    return np.repeat(np.array(firsts, dtype=np.intp), np.array(counts, dtype=np.intp))
