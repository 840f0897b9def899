"""Files from strangers: 5,000 structured changes of mechanism and certificate files of every kind, 2,000 of
questionnaires, protocols for heavy hitters and claims about shuffled reports, and 60 byte changes of each data format.
Everything is read or refused with a message: no crash, no bare exception, no more than 20 seconds and 500 MB. Run with
`make audit`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import extremal as ex
from extremal.questionnaire import OnlyIf
from extremal.release.files import privatize_file
from support.files.neighbours import TEXT, write_files
from support.files.strangers import Outcomes, damaged, mutated

SAVED = Path(__file__).parents[2] / "tests" / "data" / "saved"
CHANGES, DAMAGES, TOGETHER = 5_000, 60, 25
SECONDS, MEMORY = 20, 500 << 20
RULES = {  # stored by rule, in a few numbers
    "bits": ex.unary_encoding(11, 1),
    "hashes": ex.local_hashing(1_000_000, 1),
    "hadamard": ex.hadamard_response(300_000, 1),
    "projective": ex.projective_geometry(300_000, 1),
    "bloom": ex.bloom_filter(1_000, 4, once=1),
    "sparse-subsets": ex.subset_selection(1_000_000, 12),
    "grouped": ex.design(ex.LDP(4), ex.Frequencies(["0.015"] * 50 + ["0.005"] * 50)).mechanism,
}
SKIPS = {"drugs": ["no", "yes"], "which": OnlyIf("drugs", ["yes"], ["a", "b", "c"]), "age": list(range(5))}
OTHERS: dict[str, Any] = {  # what has no mechanism's file
    "branches": ex.Questionnaire.within(1, SKIPS, optional=["age"], texts={"drugs": "Drugs?"}, title="A study"),
    "together": ex.Questionnaire.within(2, {"a": ["no", "yes"], "b": ["x", "y", "z"]}, strategy="joint"),
    "goals": ex.Questionnaire.within(2, {"a": ["no", "yes"], "n": (list(range(4)), ex.Mean([0, 1, 2, 3]))}, "split"),
    "apart": ex.Questionnaire({"a": ex.randomized_response(3, 1), "b": ex.unary_encoding(4, 1)}),
    "hitters": ex.HeavyHitters(2, max_bytes=6, alphabet="abcdef", salt=7),
    "shuffled": ex.shuffled(ex.randomized_response(3, 1), 1000).claim(1e-6),
}
EMPTY = ex.randomized_response(len(TEXT), 1, inputs=list(TEXT))


def read(path: Path, content: dict[str, Any]) -> Callable[[], Any]:
    def work() -> None:
        path.write_text(json.dumps(content), encoding="utf-8")
        if not path.name.startswith("certificate"):
            str(ex.load(path))
        else:
            repr(ex.verify(path))

    return work


def release(path: Path, data: bytes) -> Callable[[], Any]:
    def work() -> None:
        path.write_bytes(data)
        target = path.with_stem(f"{path.stem}-out")
        privatize_file(path, target, {"x": EMPTY}, overwrite=True)
        ex.estimate_frequencies(target, EMPTY)

    return work


def said(what: str, found: Outcomes) -> bool:
    bad = found.bare + found.crashed
    print(
        f"{what}: {found.clear} clear, {len(found.bare)} bare exceptions, {len(found.crashed)} crashes, slowest "
        f"{found.slowest:.1f} s, memory at most {found.largest >> 20} MB"
    )
    for line in bad[:20]:
        print("   ", line)
    return not bad and found.slowest < SECONDS and found.largest < MEMORY


def main(changes: int = CHANGES, damages: int = DAMAGES) -> int:
    random, good = Random(20_14), True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, share in (("mechanism", 0.5), ("certificate", 0.5), ("other", 0.4)):
            stored = sorted(SAVED.glob(f"{kind}-*.json"))
            made = {"mechanism": RULES, "other": OTHERS}.get(kind, {})
            stored += [one.save(folder / f"{kind}-{name}.json") for name, one in made.items()]
            attempts, many = [], int(changes * share)
            for number in range(many):
                path = stored[number % len(stored)]
                content = mutated(json.loads(path.read_text(encoding="utf-8")), random)
                attempts.append((f"{path.stem} {number}", read(folder / f"{kind}.json", content)))
            found = Outcomes()
            found.attempt(attempts, TOGETHER)
            good &= said(f"{many} changes of {len(stored)} {kind} files", found)
        values = [TEXT[i % len(TEXT)] for i in range(300)]
        for path in write_files(folder, values).values():
            data = path.read_bytes()
            found = Outcomes()
            found.attempt([(f"{path.name} {n}", release(path, damaged(data, random))) for n in range(damages)])
            good &= said(f"{damages} damaged copies of {path.name}", found)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
