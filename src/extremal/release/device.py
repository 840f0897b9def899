"""The device's side: the folder that a page needs, and the words → report protocol that every port must follow.

On a device one report is drawn at a time, by inversion: the first report whose partial sum of weights exceeds the high
62 bits of one word. Sets, bits and rules read their words as the sampler does for one value. `device_report` is the
protocol in Python; `randomiser.js` is the one that runs; `vectors` are words with the reports that both make of them,
for whoever writes another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from extremal.atomic import folder_or_nothing, write_atomically
from extremal.columns.lists import labels_at
from extremal.errors import FileConflict, InvalidParameter, TooLarge
from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS
from extremal.mechanism import Mechanism
from extremal.mechanism.files import to_json
from extremal.mechanism.labels import LARGEST_JSON_INTEGER
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import BloomBits, HadamardSets, HashedSets, JointBlocks, ProjectiveSets
from extremal.mechanism.structures.bits import IndependentBits, optimised_bits, symmetric_bits
from extremal.mechanism.structures.chosen_sets import HASH_PRIME, largest_inside
from extremal.mechanism.structures.colourings import coloured
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.paths import refuse_unusable
from extremal.privacy import LDP
from extremal.release.privatize import report_labels
from extremal.release.sampling.loops import Loops
from extremal.release.sampling.sampler import ONE_WORD_A_VALUE, prepared
from extremal.release.sampling.words import CipherWords

ALWAYS = ("randomiser.js", "page/check.html", "page/check.js")  # of every folder
SCRIPTS = ("page/index.html", "page/page.js")  # of a mechanism's
PROTOCOL = "2.0"  # how words become reports; `randomiser.js` says the same
LARGEST_TABLE = 1 << 20  # entries of a row that the script spells out or scans: a tenth of a second
VECTORS = 10_000  # in a folder: 1.8 MB, checked in half a second


class NextWords:
    """The words of an iterator as a source."""

    def __init__(self, words: Iterator[int]) -> None:
        self.words = words

    def fill(self, words: Any) -> None:
        words[:] = [next(self.words) for _ in range(words.size)]


def device_report(mechanism: Mechanism, code: int, words: Iterator[int]) -> Any:
    """The report that a device makes on input `code` from these 64-bit words.

    >>> import extremal as ex
    >>> [device_report(ex.randomized_response(3, 0), 0, iter([word])) for word in (0, 2**63, 2**64 - 1)]
    [0, 1, 2]
    """
    row = code if mechanism.row_of is None else int(mechanism.row_of[code])
    structure, source = mechanism.structure, NextWords(words)
    if structure.kind in ONE_WORD_A_VALUE:
        point = next(words) >> (64 - WEIGHT_BITS)
        sums = accumulate(structure.row(row).tolist())
        return mechanism.output_labels[next(report for report, partial in enumerate(sums) if partial > point)]
    drawn = prepared(structure).draw(np.array([row]), source, Loops(1), np.empty(1, dtype=np.uint64))
    return labels_at(drawn, report_labels(mechanism, drawn))[0]


def example_mechanisms() -> list[Mechanism]:
    """Mechanisms of every structure that a device may meet."""
    letters = ["no", "yes", "won't say", 'ß ☂ "quoted"']
    small = [
        Mechanism.from_matrix([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]], LDP(1), ["no", "yes"]),
        Mechanism.from_weights([[3, 1], [1, 3]], 4, LDP.from_ratio(3), [False, True], [False, True]),
        Mechanism.from_partition([0, 0, 1, 2, 2, 2], LDP("0.5")),
        Mechanism.from_matrix([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]], LDP("1.4")),
    ]
    responses = [_response(k, epsilon) for k, epsilon in ((2, "0.1"), (3, "1"), (4, "2.5"), (50, "1"), (300, "4"))]
    named = [Mechanism.from_partition([0, 1, 2, 3], LDP(2), letters, letters)]
    windows = [Mechanism.from_windows(k, n, LDP("1")) for k, n in ((5, 2), (40, 11), (150, 40))]
    circulants = [Mechanism.from_circulant([(3 << 54, 32), (2 << 54, 48), (1 << 54, 64)], LDP("1.2"))]
    sets = [Mechanism.from_subsets(k, d, LDP(e)) for k, d, e in ((6, 2, 1), (40, 10, 1), (100, 27, 1), (64, 1, 3))]
    rules = [
        Mechanism.from_structure(structure, LDP(epsilon), outputs=outputs)
        for structure, epsilon, outputs in (
            (symmetric_bits(11, LDP(2).exponential), 2, BitLabels(11)),
            (optimised_bits(40, LDP(1).exponential), 1, BitLabels(40)),
            (HadamardSets(100, largest_inside(512, 16, LDP(2).exponential), 16, 32), 2, None),
            (ProjectiveSets(121, largest_inside(121, 40, LDP(1).exponential), 3, 5), 1, None),
            (HashedSets(5000, largest_inside(3 * HASH_PRIME**2, HASH_PRIME**2, LDP(1).exponential), 3), 1, None),
            (HashedSets(9, largest_inside(2 * HASH_PRIME**2, HASH_PRIME**2, LDP("0.1").exponential), 2), "0.1", None),
        )
    ]
    quarter = DENOMINATOR // 4
    filters = [
        Mechanism.from_structure(BloomBits(20, 12, 2, 4, 3 * quarter, quarter, *levels), LDP(e), outputs=BitLabels(14))
        for levels, e in (((), "4.4"), ((DENOMINATOR - quarter // 2, quarter // 2), "3.2"))
    ]
    counted = [
        _grouped([0, 1, 1, 0, 1], [(1, 1), (0, 2), (2, 1)], [1.0, 1.5, 3.5], 1),
        _grouped([0] * 30 + [1] * 70, [(14, 1), (1, 34), (6, 20)], [30.0, 9.0, 1.0], 4),
        _grouped([2, 1, 0, 1, 1], [(1, 1, 0), (0, 1, 1), (0, 2, 0), (1, 0, 1)], [1.0, 1.0, 1.0, 0.5], "0.5"),
    ]
    classes = [[x * 7 % n for x in range(80)] for n in (2, 3, 5, 80)]
    mixed = [
        Mechanism.from_structure(coloured(classes[:count], np.arange(1.0, count + 1), LDP(e).exponential), LDP(e))
        for count, e in ((3, 1), (4, "0.5"))
    ]
    tiny = [_response(7, epsilon) for epsilon in ("0", "0.000001")]
    return [*small, *responses, *named, *windows, *circulants, *sets, *rules, *filters, *counted, *mixed, *tiny]


def _grouped(of: list[int], types: list[tuple[int, ...]], steps: list[float], epsilon: Any) -> Mechanism:
    structure = grouped_structure(np.array(of), types, steps, LDP(epsilon).exponential)
    return Mechanism.from_structure(structure, LDP(epsilon), outputs=structure.reports)


def _response(k: int, epsilon: str) -> Mechanism:
    return Mechanism.from_partition(range(k), LDP(epsilon))


def vectors(mechanisms: list[Mechanism], total: int = VECTORS) -> dict[str, Any]:
    """Words and the reports that they make: public numbers under a fixed key, the same in every folder."""
    source, made = CipherWords(bytes(32)), []
    for number, m in enumerate(mechanisms):
        share = total // len(mechanisms) + (number < total % len(mechanisms))
        made.append({"mechanism": to_json(m), "vectors": [_vector(m, i % m.k, source) for i in range(share)]})
    return {"format": "extremal-device-vectors", "version": PROTOCOL, "mechanisms": made}


def _vector(mechanism: Mechanism, code: int, source: CipherWords) -> dict[str, Any]:
    used: list[int] = []
    report = device_report(mechanism, code, words_of_vector(code, source, used))
    return {"value": mechanism.input_labels[code], "words": [str(word) for word in used], "report": report}


def words_of_vector(number: int, source: CipherWords, used: list[int]) -> Iterator[int]:
    """The words that vector `number` is made of; those that were taken stand in `used`."""
    while True:
        word = np.empty(1, dtype=np.uint64)
        source.fill(word)
        # The first words of some vectors are the ends of the range, where a port goes wrong first.
        used.append({0: 0, 1: (1 << 64) - 1}.get(number % 17, int(word[0])) if not used else int(word[0]))
        yield used[-1]


def write_folder(folder: str | Path, mechanism: Mechanism, *, overwrite: bool = False) -> list[Path]:
    """Everything that a page needs: the script, a minimal page, the mechanism, the vectors and their check.

    Raises:
        InvalidParameter: the mechanism claims something else than LDP without δ, which is all that the script decides.
        FileConflict: the folder is not empty.
    """
    refuse_for_device(mechanism)
    content = {Path(name).name: script(name) for name in SCRIPTS}
    content["mechanism.json"] = as_bytes(to_json(mechanism))
    content["vectors.json"] = as_bytes(vectors(example_mechanisms()))
    return write_files(folder, content, overwrite)


def script(name: str) -> bytes:
    """A file of the package that runs on devices."""
    return files("extremal.release").joinpath(name).read_bytes()


def write_files(folder: str | Path, content: dict[str, bytes], overwrite: bool) -> list[Path]:
    """The files of a folder for devices, all of them or none; beside them what every folder has."""
    target = Path(folder)
    refuse_unusable(target)
    if target.exists() and any(target.iterdir()) and not overwrite:
        raise FileConflict(
            "the folder must be empty",
            parameter="folder",
            value=str(folder),
            hint="Choose another one, or allow overwriting (overwrite=True, --overwrite).",
        )
    always = {Path(name).name: script(name) for name in ALWAYS}
    whole = {**always, "package.json": b'{"type": "module", "private": true}\n', **content}
    with folder_or_nothing(target) as temporary:
        for name, data in whole.items():
            write_atomically(temporary / name, data)
    return [target / name for name in whole]


def refuse_for_device(mechanism: Mechanism, parameter: str = "mechanism.privacy") -> None:
    """Raise on what the script refuses: another claim than LDP without δ, and what is too large."""
    claim = mechanism.privacy
    if not isinstance(claim, LDP) or claim.exact_delta:
        raise InvalidParameter(
            "a device decides LDP without δ and refuses everything else",
            parameter=parameter,
            value=claim,
            hint="mechanism.claiming(ex.LDP(epsilon)) decides such a claim.",
        )
    _refuse_large(mechanism)


def _refuse_large(mechanism: Mechanism) -> None:
    """Raise on what the script refuses for its size."""
    structure = mechanism.structure
    if structure.kind == JointBlocks.kind:
        raise InvalidParameter(
            "a device reports on single questions", parameter="kind", value=structure.kind, hint="Nothing was written."
        )
    widest = _widest_label(mechanism)
    value: int | str
    if structure.kind in (*ONE_WORD_A_VALUE, IndependentBits.kind) and structure.r > LARGEST_TABLE:
        most, parameter, value = f"tables and words of bits of at most {LARGEST_TABLE:,} rows", "rows", structure.r
    elif isinstance(structure, HashedSets) and structure.m > LARGEST_JSON_INTEGER:
        most, parameter, value = "numbers of reports up to 2^53", "reports", structure.m
    elif widest > LARGEST_JSON_INTEGER.bit_length():
        most, parameter, value = "labels up to 2^53", "inputs", f"a label of {widest} bits"
    else:
        return
    raise TooLarge(f"a device takes {most}", parameter=parameter, value=value, hint="Nothing was written.")


def _widest_label(mechanism: Mechanism) -> int:
    """The bits of the largest integer among the labels that a device reads."""
    listed = [mechanism.input_labels]
    if mechanism.structure.kind in ONE_WORD_A_VALUE:
        listed.append(mechanism.output_labels)
    integers = (x for labels in listed if not labels.numbered for x in labels if isinstance(x, int))
    return max((x.bit_length() for x in integers), default=0)


def as_bytes(content: Any) -> bytes:
    """JSON as a folder has it."""
    return (json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8")
