"""Nothing raw leaves: 20,000 pairs of neighbouring data sets, released at ε = 0 with the same words, each side in a
process of its own; whatever can be looked at must be the same. Run with `make audit`.

Two processes are started for each pair of data sets, one for each side, and release it in several ways: libraries keep
the numbers of categories for as long as a process runs. Containers, frames, keyed frames, plans and files; text,
numbers and truth values; tables, and the reports of rules and sets; and questionnaires with answers that are skipped
or left out, also as JSON lines, SPSS and Stata files. Every view is compared: types, physical values,
dictionaries, buffers, sizes, and each form in which the result can be written.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from extremal.exact import Exponential
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import BloomBits, HadamardSets, HashedSets, IndependentBits, ProjectiveSets
from extremal.mechanism.structures.grouped_sets import grouped_structure
from support.files import neighbours, questionnaires
from support.files.neighbours import NUMBERS, TEXT, TRUTHS, constant

PAIRS = 20_000
AT_ONCE = 12  # ways of releasing one pair of data sets, before the next pair of processes is started
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
WIDE = tuple(range(300))  # whose width was chosen by the largest value
ASKED = ("joint", "apart")  # questionnaires
LABELS: dict[str, tuple[Any, ...]] = {"text": TEXT, "numbers": NUMBERS, "wide": WIDE, "truths": TRUTHS}


def pair(labels: tuple[Any, ...], random: Random) -> tuple[list[Any], list[Any]]:
    """Values of up to 40 people, some labels rare or absent, and the same with one person's value changed."""
    used = random.sample(labels, random.randint(1, min(4, len(labels))))
    one = [random.choice(used) for _ in range(random.randint(1, 40))]
    other = list(one)
    person = random.choice([0, random.randrange(len(one))])
    other[person] = random.choice([label for label in labels if label != one[person]])
    return one, other


def released(kind: str, rule: int | None, chosen: list[str] | None, values: list[Any]) -> dict[str, dict[str, str]]:
    """The digest of every view, by the name of the way; without names, of every file."""
    warnings.simplefilter("ignore")
    if kind in ASKED:
        with tempfile.TemporaryDirectory() as folder:
            return _digests(questionnaires.released(questionnaires.questionnaires()[kind], values, Path(folder)))
    labels = LABELS[kind]
    m = constant(labels) if rule is None else RULES[rule](labels)
    if chosen is None:
        with tempfile.TemporaryDirectory() as folder:
            made = {name: {"bytes": data} for name, data in neighbours.released_files(m, values, Path(folder)).items()}
    else:
        known = neighbours.ways(labels)
        made = {name: known[name](m, values) for name in chosen}
    return _digests(made)


def _digests(made: dict[str, dict[str, bytes]]) -> dict[str, dict[str, str]]:
    return {
        name: {view: hashlib.sha256(data).hexdigest() for view, data in seen.items()} for name, seen in made.items()
    }


def _child(pipe: Any, *arguments: Any) -> None:
    pipe.send(json.dumps(released(*arguments)))
    pipe.close()


def in_processes(kind: str, rule: int | None, chosen: list[str] | None, both: Any) -> list[dict[str, dict[str, str]]]:
    """What is released of each side, in a new process for each."""
    context, running = multiprocessing.get_context("fork"), []  # of a parent that has used no library of frames
    for values in both:
        mine, theirs = context.Pipe(False)
        process = context.Process(target=_child, args=(theirs, kind, rule, chosen, values))
        process.start()
        theirs.close()
        running.append((process, mine))
    found = [json.loads(pipe.recv()) for _, pipe in running]
    for process, _ in running:
        process.join()
    return found


def main(pairs: int = PAIRS) -> int:
    random, seen, views, leaks = Random(14), Counter[str](), 0, []
    done = 0
    while done < pairs:
        kind = random.choice([*LABELS, *ASKED])
        rule = random.randrange(len(RULES)) if kind in ("text", "numbers") and random.random() < 0.3 else None
        chosen = None if kind in ASKED or random.random() < 0.15 else _some(LABELS[kind], random)
        both = questionnaires.pair(random) if kind in ASKED else pair(LABELS[kind], random)
        first, second = in_processes(kind, rule, chosen, both)
        if kind in ASKED:
            first, second = ({f"{kind}: {name}": seen for name, seen in side.items()} for side in (first, second))
        for name in first:
            seen[name] += 1
            views += len(first[name])
            leaks += [f"{kind} in {name}: {view}" for view in neighbours.different(first[name], second[name])]
        done += len(first)
    print(f"{done} pairs, {len(seen)} containers, frames, plans and files (each {min(seen.values())} times or more)")
    print(f"{views} views of them; released differently: {len(leaks)}")
    for line in sorted(set(leaks))[:20]:
        print("   ", line)
    return 1 if leaks else 0


NAMES: dict[type, list[str]] = {}


def _some(labels: tuple[Any, ...], random: Random) -> list[str]:
    """A few ways, in any order: the first of them meets the values first."""
    kind = type(labels[0])
    NAMES.setdefault(kind, sorted(neighbours.ways(labels)))
    return random.sample(NAMES[kind], AT_ONCE)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
