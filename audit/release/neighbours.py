"""Nothing raw leaves: 10,000 random pairs of neighbouring data sets, released at ε = 0 with the same words, in every
container, frame and file format; whatever is released must be the same byte for byte. Run with `make audit`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from extremal.exact import Exponential
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import BloomBits, HadamardSets, HashedSets, IndependentBits, ProjectiveSets
from extremal.mechanism.structures.grouped_sets import grouped_structure
from support.files import neighbours
from support.files.neighbours import NUMBERS, TEXT, TRUTHS, constant

PAIRS, FILES = 10_000, 400
HALF, MORE = 1 << 61, 3 << 60
GROUPED = grouped_structure(np.zeros(4, dtype=int), [(2,)], [1.0], Exponential(1))
RULES: list[Any] = [  # structures of four inputs, drawn without regard to the value
    lambda labels: neighbours.blind(IndependentBits(4, HALF, HALF // 2), labels, BitLabels(4)),
    lambda labels: neighbours.blind(HashedSets(4, HALF, 3), labels),
    lambda labels: neighbours.blind(HadamardSets(4, MORE, 1, 1 << 21), labels),
    lambda labels: neighbours.blind(ProjectiveSets(4, MORE, 3, 3), labels),
    lambda labels: neighbours.blind(BloomBits(4, 8, 2, 2, HALF + 1, HALF, MORE, HALF), labels, BitLabels(9)),
    lambda labels: neighbours.blind(GROUPED, labels, GROUPED.reports),
]
LABELS: dict[str, tuple[Any, ...]] = {"text": TEXT, "numbers": NUMBERS, "truths": TRUTHS}


def pair(labels: tuple[Any, ...], random: Random) -> tuple[list[Any], list[Any]]:
    """Values of up to 60 people, some labels rare or absent, and the same with one person's value changed."""
    used = random.sample(labels, random.randint(1, len(labels)))
    one = [random.choice(used) for _ in range(random.randint(1, 60))]
    other = list(one)
    person = random.randrange(len(one))
    other[person] = random.choice([label for label in labels if label != one[person]])
    return one, other


def main(pairs: int = PAIRS, files: int = FILES) -> int:
    random, seen, leaks = Random(14), Counter[str](), []
    special = {"text": neighbours.text_makers(), "numbers": neighbours.number_makers(), "truths": {}}
    for number in range(pairs - files):
        kind = random.choice(list(LABELS))
        one, other = pair(LABELS[kind], random)
        m = constant(LABELS[kind], random.choice((None, None, ("none", "some"), (5, 6, 7))))
        if kind != "truths" and random.random() < 0.3:
            m = random.choice(RULES)(LABELS[kind])
        framed = random.random() < 0.3
        makers = neighbours.frames() if framed else {**neighbours.makers(), **special[kind]}
        name = random.choice(list(makers))
        release = neighbours.released_frame if framed else neighbours.released_column
        seen[name] += 1
        if release(m, makers[name](one)) != release(m, makers[name](other)):
            leaks.append(f"{number}: {kind} in {name}")
    for number in range(files):
        kind = random.choice(("text", "numbers"))
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            found = [
                neighbours.released_files(constant(LABELS[kind]), values, Path(folder))
                for values, folder in zip(pair(LABELS[kind], random), (first, second), strict=True)
            ]
        seen.update(list(found[0]))
        leaks += [f"{number}: {kind} in {name}" for name in found[0] if found[0][name] != found[1].get(name)]
    print(f"{pairs} pairs, {len(seen)} containers, frames and files (each {min(seen.values())} times or more)")
    print(f"released differently: {len(leaks)}")
    for line in leaks[:20]:
        print("   ", line)
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
