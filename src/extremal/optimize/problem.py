"""What a solver is asked, and what it answers.

A solver module has `applies(problem)` and `solve(problem)`. It proposes a mechanism in exact weights, a bound that it
believes, and proofs that `extremal.certificate` can check without it. Nothing that it says is trusted: `design`
computes the value from the weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from extremal.mechanism import Mechanism
from extremal.privacy import Notion
from extremal.utility import Utility

Progress = Callable[[str, float], None]
"""Called now and then with what is being done and the relative gap reached."""


def _silent(what: str, gap: float) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Maximise (or, for a cost, minimise) a utility over the mechanisms that a notion admits.

    Attributes:
        privacy, utility: the notion and what is wanted.
        inputs: labels of the inputs, or None.
        max_outputs: at most this many different reports, or None.
        tolerance: stop at this relative gap.
        deadline: `time.monotonic()` after which to return the best so far, or None.
        progress: told how it goes.
        proofs: which kinds of proof to make, or None for what the solver thinks reasonable.
    """

    privacy: Notion
    utility: Utility
    inputs: Any = None
    max_outputs: int | None = None
    tolerance: float = 1e-9
    deadline: float | None = None
    progress: Progress = field(default=_silent)
    proofs: tuple[str, ...] | None = None

    @property
    def out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def seconds_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True, eq=False)
class Solution:
    """A proposal.

    Attributes:
        mechanism: exact weights, claim decided.
        bound: no admissible mechanism is better than this; used only when there is no proof (a user's function).
        method: which way was taken, in a few words; a closed form is named when it is proven optimal.
        proofs: for the certificate.
        notes: sentences for the summary; a function is called when the summary is asked for.
    """

    mechanism: Mechanism
    bound: float
    method: str
    proofs: tuple[dict[str, Any], ...] = ()
    notes: tuple[str | Callable[[], str], ...] = ()
