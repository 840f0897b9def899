"""The certificates of the problems of `stored.py`, read by the second checker: it must say what the kernel says.

Every file is decided twice, from its bytes: hashes, row sums, privacy of the weights, the value, and every proof.
Reported: files that both accept or both leave unproven, files that the second checker leaves alone (structures that it
does not read, sizes that it does not take on), and every one on which they differ (must be none). Run with `make
audit`; give words as arguments to take only problems whose name contains one of them, or a number to take every so
many.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter

from support.second_checker.files import checked
from support.second_checker.numbers import Undecided

import extremal as ex
from audit.certificate.stored import Stored, problems

MOST_BYTES = 30_000  # of a file: larger ones take the second checker minutes
MOST_SYMBOLS = 60


def said_of(stored: Stored) -> str:
    """What became of one problem."""
    try:
        design = stored.make()
    except Exception:  # a cell without a method, which `stored.py` compares
        return "without a design"
    if design.mechanism.k > MOST_SYMBOLS or not design.utility.verifiable:
        return "left alone: size, or a user's function"
    try:
        certificate = design.certificate
    except Exception as error:  # a defect of the search, not of a proof
        return f"without a certificate: {type(error).__name__}"
    text = json.dumps(certificate.to_json(), ensure_ascii=False).encode("utf-8")
    if len(text) > MOST_BYTES:
        return "left alone: size, or a user's function"
    kernel = ex.verify(design)
    try:
        second = checked(text)
    except Undecided as why:
        return f"left alone: {why}"
    one = (str(kernel.privacy), str(kernel.value), str(kernel.optimality))
    other = (second.privacy, second.value, second.optimality)
    return "the same" if one == other else f"DIFFERS: {one} against {other}"


def main() -> int:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    words = [word for word in sys.argv[1:] if not word.isdecimal()]
    chosen = [p for p in problems() if not words or any(word in p.name for word in words)][:: (numbers or [1])[0]]
    counts, wrong, start = Counter[str](), 0, time.monotonic()
    for number, stored in enumerate(chosen, 1):
        said = said_of(stored)
        if said.startswith("DIFFERS"):
            wrong += 1
            print(f"  {stored.name}: {said}", flush=True)
        counts[said.partition(":")[0] if said.startswith("DIFFERS") else said] += 1
        if number % 250 == 0:
            print(f"  {number} of {len(chosen)} files, {wrong} differ, {time.monotonic() - start:.0f} s", flush=True)
    for said, count in counts.most_common():
        print(f"{count:6} {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
