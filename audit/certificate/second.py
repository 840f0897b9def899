"""The certificates of the problems of `stored.py`, decided by the checker that stands alone: both say the same.

Every file is decided twice, from its bytes: hashes, row sums, privacy of the weights, the value, and every proof.
Reported: files of which both say the same, files of which the checker leaves something undecided (sizes that it does
not take on), and every one on which they differ (must be none). Run with `make audit`; give words as arguments to take
only problems whose name contains one of them, or a number to take every so many.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from audit.certificate.stored import Stored, problems
from support.checkers import NOT_HERE, checker_says_of, disagreement_on, written

MOST_BYTES = 30_000  # of a file: larger ones take minutes
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
    text = written(certificate.to_json())
    if len(text) > MOST_BYTES:
        return "left alone: size, or a user's function"
    apart = disagreement_on(text)
    if apart:
        return f"DIFFERS: {apart}"
    return "something not decided" if NOT_HERE in checker_says_of(text) else "the same"


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
