"""A million proofs put together from parts of others: none may undercut a mechanism that exists.

Parts are those of `support.proofs.examples`, every notion with every goal; each proof is held against any problem about
as many inputs. Reported: how many were refused, how many gave a bound, and every bound beyond a mechanism (must be
none). Run with `make audit`; give another number, and a seed, as arguments.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter

from support.proofs.comparison import kernel_says
from support.proofs.examples import examples
from support.proofs.recombination import Recombiner

RECOMBINATIONS = 1_000_000
NUMBERS = [int(word) for word in sys.argv[1:]]


def main() -> int:
    count, seed = (*NUMBERS, *(RECOMBINATIONS, 1)[len(NUMBERS) :])[:2]
    recombiner, said, undercut, start = Recombiner(examples(), seed), Counter[str](), 0, time.monotonic()
    for number in range(1, count + 1):
        tried = recombiner.next()
        bound = kernel_says(tried.proof, tried.about.privacy, tried.about.utility)
        said[bound if isinstance(bound, str) else "a bound"] += 1
        if not isinstance(bound, str) and tried.about.is_undercut(bound):
            undercut += 1
            print(f"  UNDERCUT: {tried.about.name}, {float(bound)!r}: {json.dumps(tried.proof)}", flush=True)
        if number % 50_000 == 0:
            print(f"  {number} recombinations, {undercut} undercut, {time.monotonic() - start:.0f} s", flush=True)
    counts = ", ".join(f"{many} {what}" for what, many in said.most_common())
    print(f"{count} recombinations: {counts}; {undercut} undercut a mechanism")
    return 1 if undercut else 0


if __name__ == "__main__":
    sys.exit(main())
