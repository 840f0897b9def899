"""SPSS and Stata files, through pyreadstat: values with their labels.

A column of codes with value labels is read as the labels of the alphabet: where the alphabet has texts, as the text of
each code, else as the codes, whole numbers. A column of reports has the codes and value labels of its column where it
had some, and new ones for texts that it did not have; sets of labels, and labels of several types, are written as text
(JSON). A file has no room for our note, so that it stands beside it, as for CSV. The file is held in memory whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent
from extremal.columns.files.format import Change, Progress
from extremal.columns.files.note import Hashes, beside, extended, with_note_beside
from extremal.columns.frames import refuse_absent
from extremal.columns.lists import is_missing
from extremal.errors import InvalidParameter, MalformedFile, MissingDependency
from extremal.mechanism.labels import Labels

TITLE: str = "SPSS/Stata"
ENDINGS: tuple[str, ...] = (".sav", ".zsav", ".dta")

MOST_CODES = 1 << 12  # texts that become codes with labels; more are written as text

hashes = beside


def _package() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise MissingDependency("SPSS and Stata files need pyreadstat", hint="pip install 'extremal[forms]'.") from None
    return pyreadstat


def _opened(path: Path) -> tuple[Any, Any]:
    """The frame of codes, and what the file says about it."""
    package = _package()
    path.stat()
    reader = package.read_dta if path.suffix.lower() == ".dta" else package.read_sav
    try:
        found: tuple[Any, Any] = reader(str(path), user_missing=False)
    except (package.ReadstatError, package.PyreadstatError, UnicodeDecodeError, ValueError):
        # Not what the library says: it may quote a value.
        raise MalformedFile(f"{path.name} must be a whole {TITLE} file", parameter="path", value=str(path)) from None
    return found


def read(path: Path, columns: Sequence[str], alphabets: Mapping[str, Labels]) -> Iterator[dict[str, Any]]:
    frame, about = _opened(path)
    for name in columns:
        refuse_absent(name, list(frame.columns))
    yield {
        name: _labels(frame[name].tolist(), about.variable_value_labels.get(name, {}), alphabets.get(name))
        for name in columns
    }


def _labels(values: list[Any], texts: Mapping[Any, str], alphabet: Labels | None) -> list[Any]:
    """A column as labels of an alphabet; as it stands in the file where there is none."""
    own = [
        None if is_missing(v) or v == "" else int(v) if isinstance(v, float) and v.is_integer() else v for v in values
    ]
    if alphabet is None:
        return [texts.get(v, v) for v in own]
    return [_label(v, texts, alphabet) for v in own]


def _label(value: Any, texts: Mapping[Any, str], alphabet: Labels) -> Any:
    if value is None or alphabet.find(value) is not None:
        return value
    text = texts.get(value, value)
    if alphabet.find(text) is not None:
        return text
    if isinstance(value, int) and value in (0, 1) and alphabet.find(bool(value)) is not None:
        return bool(value)
    return _from_json(text)


def _from_json(text: Any) -> Any:
    """A report that was written as JSON; what is none stays as it is."""
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
    return tuple(found) if isinstance(found, list) else found


def rewrite(
    source: Path, target: Path, changes: Mapping[str, Change], made: Hashes, overwrite: bool, report: Progress
) -> int:
    package = _package()
    note = extended(hashes(source), made)
    frame, about = _opened(source)
    if (source.suffix.lower() == ".dta") != (target.suffix.lower() == ".dta"):
        raise InvalidParameter("SPSS and Stata are two formats", parameter="target", value=str(target))
    texts = {name: dict(found) for name, found in about.variable_value_labels.items()}
    for name, change in changes.items():
        refuse_absent(name, list(frame.columns))
        new = change.apply(_labels(frame[name].tolist(), texts.get(name, {}), change.before), 0)
        frame[name], texts[name] = _stored(new, texts.get(name, {}), change.after)
    missing = {name: found for name, found in about.missing_ranges.items() if name not in changes}

    with complete_or_absent(target, overwrite, partial(with_note_beside, note)) as temporary:
        more = {
            "column_labels": about.column_names_to_labels,
            "variable_value_labels": {n: t for n, t in texts.items() if t},
        }
        if target.suffix.lower() == ".dta":
            package.write_dta(frame, str(temporary), **more)
        else:
            compressed = target.suffix.lower() == ".zsav"
            package.write_sav(frame, str(temporary), **more, missing_ranges=missing, compress=compressed)
    report(len(frame), len(frame))
    return len(frame)


def _stored(reports: list[Any], texts: Mapping[Any, str], after: Labels) -> tuple[Any, dict[Any, str]]:
    """Reports as a column of a file, and its value labels: the codes that the column had, new ones after them."""
    import pandas

    if after.kind in (int, bool):
        return _numbers(reports), dict(texts)
    if after.kind is not str or after.count > MOST_CODES:
        written = ["" if r is None else r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in reports]
        return pandas.Series(written, dtype=object), {}
    codes = _codes(texts, after)
    return _numbers(map(codes.get, reports)), {code: text for text, code in codes.items()}


def _numbers(codes: Iterable[Any]) -> Any:
    import pandas

    return pandas.Series([None if code is None else float(code) for code in codes], dtype="float64")


def _codes(texts: Mapping[Any, str], after: Labels) -> dict[str, Any]:
    """The code of each label: the one that the column had, or the next free whole number."""
    codes = {text: code for code, text in texts.items() if after.find(text) is not None}
    free = count(int(max([0, *(code for code in texts if isinstance(code, (int, float)))])) + 1)
    return {str(label): codes[label] if label in codes else next(free) for label in after}
