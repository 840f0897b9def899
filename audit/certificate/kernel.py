"""A hundred thousand lies told to the proof kernel, for every kind of proof: none may be believed.

Each attack of `support.proofs.adversaries` draws small problems, their optimum by a linear program over listed rays
(or the value of a mechanism that exists), and proofs with extreme numbers, ordinary ones, or the best lie that a linear
program finds; then each of them again and again with some fields replaced by extreme or ordinary numbers. Reported:
lies told, and bounds beyond the truth that were accepted (must be none). Run with `make audit`; give another number of
lies, or names of attacks, as arguments: then each of these tells the share that it has among all.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

import numpy as np

from support.proofs.adversaries import ATTACKS
from support.proofs.lies import varied

VARIATIONS = 7  # of each lie
LIES = next((int(word) for word in sys.argv[1:] if word.isdecimal()), 100_000)
NAMES = {word for word in sys.argv[1:] if not word.isdecimal()}


def main() -> int:
    believed, kinds = 0, Counter[str]()
    unknown = NAMES - {attack.__name__ for attack in ATTACKS}
    if unknown:
        raise SystemExit(f"no such attack: {', '.join(sorted(unknown))}")
    for attack in (a for a in ATTACKS if not NAMES or a.__name__ in NAMES):
        told, wrong, seed, start = 0, 0, 0, time.monotonic()
        while told < LIES / len(ATTACKS):
            random = np.random.default_rng([7, seed])
            for lie in varied(random, attack(random), VARIATIONS):
                told += 1
                kinds[lie.proof.kind] += 1
                if lie.is_believed():
                    wrong += 1
                    print(f"  BELIEVED: {attack.__name__}, seed {seed}: {lie}")
            seed += 1
        print(f"{attack.__name__:<16} {told:>7} lies, {wrong} believed, {time.monotonic() - start:.0f} s", flush=True)
        believed += wrong
    print(
        f"{kinds.total()} lies, {believed} believed; by kind:",
        ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())),
    )
    return 1 if believed else 0


if __name__ == "__main__":
    sys.exit(main())
