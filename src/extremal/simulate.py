"""Seeded sampling for experiments: reports that can be drawn again, and therefore protect nobody.

The same exact sampler as a release, on words from AES-256-CTR under a key made of the seed and the number of the call.
What comes back is a `Simulated`, never a bare column, so that it cannot be taken for a release by accident.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from extremal.columns.column import Simulated
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.release.privatize import columns_and_mechanisms, privatize_column, privatize_frame
from extremal.release.sampling.words import CipherWords

__all__ = ["Simulated", "Simulation"]


class Simulation:
    """Reports from a seed: the same seed and the same calls give the same reports, on every machine and with or without
    numba.

    Guarantee: the distribution is exactly the mechanism's; privacy is none, because the seed undoes it.

    Reference: docs/release/simulate.md; the words are AES-256-CTR of the seed.

    >>> import extremal as ex
    >>> m = ex.randomized_response(3, 1)
    >>> first, again = Simulation(7), Simulation(7)
    >>> first.privatize(m, [0, 1, 2]).reports == again.privatize(m, [0, 1, 2]).reports
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = as_count(seed, "seed", 0)
        self._calls = 0

    def _words(self) -> tuple[CipherWords, int]:
        call, self._calls = self._calls, self._calls + 1
        return CipherWords(hashlib.sha256(f"extremal simulation {self.seed} {call}".encode()).digest()), call

    def privatize(self, mechanism: Mechanism, values: Any) -> Simulated:
        """What `mechanism.privatize(values)` would do, from the seed."""
        words, call = self._words()
        return Simulated(privatize_column(mechanism, values, source=words), self.seed, call)

    def privatize_frame(self, frame: Any, columns: Mapping[Any, Mechanism]) -> Simulated:
        """What `ex.privatize(frame, columns)` would do, from the seed."""
        words, call = self._words()
        return Simulated(privatize_frame(frame, columns_and_mechanisms(columns, None, None), words), self.seed, call)
