"""How long a call takes: the one stopwatch of the benchmarks. (A folder, so that `make bench` does not run it.)"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def best_of(
    repeats: int, call: Callable[[], Result], clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Result]:
    """(seconds of the fastest of so many calls, result of the last one); `clock` may be `time.process_time`."""
    seconds = []
    for _ in range(repeats):
        started = clock()
        result = call()
        seconds.append(clock() - started)
    return min(seconds), result
