"""Files decided by the kernel and by the checker that stands alone: they must say the same of every one.

Every file is decided twice, from its bytes: grammar, hashes, row sums, privacy of the weights, the value, and every
proof. Three parts, by the first argument (all of them without one):

* `stored`: the certificates of the problems of `stored.py`; a number after it takes every so many, words only problems
  whose name contains one of them;
* `corrupted`: certificates of small designs of every notion and goal, changed in one to three places by somebody who
  knows the format, their hashes made to fit; as many as the number after it says (2,000);
* `forged`: certificates with proofs of other problems, with proofs put together from parts of several, with values and
  bounds that are a little too good; as many (2,000).

Reported: files of which both say the same, by verdict; files of which the checker leaves something undecided; and every
one on which they differ (must be none). Run with `make audit`.
"""

from __future__ import annotations

import copy
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from audit.certificate.stored import Stored, problems
from support.checkers import NOT_HERE, checker_says_of, disagreement_on, written
from support.files.strangers import mutated, rehashed
from support.proofs.examples import examples
from support.proofs.recombination import Recombiner

MOST_BYTES = 30_000  # of a file: larger ones take minutes
MOST_SYMBOLS = 60
COUNT = 2000
NUDGES = (1 - 1e-15, 1 + 1e-15, 1 - 1e-9, 1 + 1e-9, 0.5, 2.0)  # of values and bounds


def file_of(stored: Stored) -> bytes | str:
    """The file of one problem, or why there is none."""
    try:
        design = stored.make()
    except Exception:  # a cell without a method, which `stored.py` compares
        return "without a design"
    if design.mechanism.k > MOST_SYMBOLS or not design.utility.verifiable:
        return "left alone: size, or a user's function"
    try:
        text = written(design.certificate.to_json())
    except Exception as error:  # a defect of the search, not of a proof
        return f"without a certificate: {type(error).__name__}"
    return text if len(text) <= MOST_BYTES else "left alone: size, or a user's function"


def stored_files(words: list[str]) -> Iterator[tuple[str, bytes | str]]:
    """The certificates of kept problems."""
    every = [int(word) for word in words if word.isdecimal()] or [1]
    named = [word for word in words if not word.isdecimal()]
    chosen = [p for p in problems() if not named or any(word in p.name for word in named)]
    yield from ((p.name, file_of(p)) for p in chosen[:: every[0]])


def corrupted(count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Certificates changed in one to three places."""
    draw, whole = random.Random(seed), [e for e in examples() if e.certificate is not None]
    for number in range(count):
        example = draw.choice(whole)
        assert example.certificate is not None
        yield f"{number}: {example.name}", written(mutated(example.certificate, draw))


def forged(count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Certificates whose proofs, values or bounds are another's, or a little too good."""
    draw, recombiner = random.Random(seed), Recombiner(examples(), seed)
    whole = [e for e in examples() if e.certificate is not None]
    for number in range(count):
        example = draw.choice(whole)
        content: dict[str, Any] = copy.deepcopy(example.certificate or {})
        if draw.random() < 0.6:
            tried = recombiner.next()
            if tried.about.certificate is not None:
                content = copy.deepcopy(tried.about.certificate)
            content["proofs"] = [tried.proof]
        for name in ("value", "bound"):
            if draw.random() < 0.4:
                content[name] = repr(float(content[name]) * draw.choice(NUDGES))
        yield f"{number}: {example.name}", written(rehashed(content))


def compared(files: Iterator[tuple[str, bytes | str]]) -> int:
    """How many files the two say something different of; what they say is printed."""
    counts, wrong, start = Counter[str](), 0, time.monotonic()
    for number, (name, text) in enumerate(files, 1):
        apart = "" if isinstance(text, str) else disagreement_on(text)
        if apart:
            wrong += 1
            print(f"  {name}: {apart}", flush=True)
        said = text if isinstance(text, str) else "DIFFERS" if apart else _in_words(text)
        counts[said] += 1
        if number % 250 == 0:
            print(f"  {number} files, {wrong} differ, {time.monotonic() - start:.0f} s", flush=True)
    for said, count in counts.most_common():
        print(f"{count:6} {said}")
    return wrong


def _in_words(text: bytes) -> str:
    said = checker_says_of(text)
    return "something not decided" if NOT_HERE in said else f"both: {', '.join(dict.fromkeys(said))}"


def main() -> int:
    part, *words = sys.argv[1:] or ["all"]
    count = next((int(word) for word in words if word.isdecimal()), COUNT)
    wrong = 0
    for name, files in (
        ("stored", stored_files(words)),
        ("corrupted", corrupted(count)),
        ("forged", forged(count)),
    ):
        if part in (name, "all"):
            print(f"{name}:")
            wrong += compared(files)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
