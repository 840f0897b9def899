"""The calls that a user makes, with everything they check, as ratios against a peer in the same run.

    python bench/default_calls.py            print the table
    python bench/default_calls.py --write    and put it into docs/reference/benchmarks.md and bench/stored/ratios.json
    python bench/default_calls.py --check    fail when a ratio is more than 30% worse than the stored one
    python bench/default_calls.py --profile  where the time of the hot paths goes

Processor time of one thread, the median of several runs: wall-clock time on a shared machine says little.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import platform
import pstats
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex

ROOT = Path(__file__).parents[1]
PAGE, STORED = ROOT / "docs/reference/benchmarks.md", ROOT / "bench/stored/ratios.json"
BEGIN, END = "<!-- default calls: begin -->", "<!-- default calls: end -->"
WORSE = 1.3


def seconds(call: Callable[[], Any], repeat: int) -> float:
    """The median of processor seconds."""
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def pair(k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))


def full_program(k: int, epsilon: float) -> Callable[[], Any]:
    """The linear program over all 2^k columns in scipy's HiGHS."""
    from scipy.optimize import linprog

    p0, p1 = pair(k)

    def solve() -> Any:
        high = (np.arange(1, 2**k - 1)[:, None] >> np.arange(k)) & 1
        columns = 1 + math.expm1(epsilon) * high
        m0, m1 = columns @ p0, columns @ p1
        return linprog(-m0 * np.log(m0 / m1), A_eq=columns.T, b_eq=np.ones(k), method="highs")

    return solve


def rows(largest: int) -> list[tuple[str, float, str, float, str]]:
    """(call, seconds, peer, seconds of the peer, what was proved)."""
    found = []

    def add(name: str, call: Callable[[], Any], peer: str, other: float, repeat: int) -> Any:
        made = call()
        taken = seconds(call, repeat)
        found.append((name, taken, peer, other, f"gap {made.gap:.0e}, {made.mechanism.m} reports"))
        return made

    small = pair(12)
    by_program = seconds(full_program(12, 1.0), 3)
    add("KL, k = 12, ε = 1", lambda: ex.design(ex.LDP(1), ex.KL(*small)), "scipy (HiGHS) on 2^12", by_program, 40)
    for k in (10_000, 100_000, 1_000_000, 10_000_000):
        if k > largest:
            break
        p0, p1 = pair(k)
        repeat = 3 if k > 10**6 else 7
        sort = seconds(lambda p0=p0, p1=p1: np.argsort(p0 / p1), repeat)
        for epsilon in (1, 4):
            call = lambda p0=p0, p1=p1, epsilon=epsilon: ex.design(ex.LDP(epsilon), ex.KL(p0, p1))  # noqa: E731
            made = add(f"KL, k = {k:,}, ε = {epsilon}", call, "np.argsort of the ratios", sort, repeat)
            taken = seconds(lambda made=made: ex.verify(made), 1)
            found.append((f"  verify it, k = {k:,}, ε = {epsilon}", taken, "its design", found[-1][1], "proved"))
        if k <= 10**6:
            for epsilon in (2, 4):
                call = lambda p0=p0, epsilon=epsilon: ex.design(ex.LDP(epsilon), ex.MutualInformation(p0))  # noqa: E731
                add(f"information, k = {k:,}, ε = {epsilon}", call, "np.argsort of the ratios", sort, 1)
    p0, _ = pair(1000)
    add("information, k = 1,000, ε = 6", lambda: ex.design(ex.LDP(6), ex.MutualInformation(p0)), "", math.nan, 1)
    return found


def growth(found: list[tuple[str, float, str, float, str]], what: str) -> str:
    """The exponent of k between the smallest and the largest alphabet of a kind of row."""
    at = {}
    for name, taken, *_ in found:
        if name.startswith(what):
            at[int(name.split("k = ")[1].split(", ε")[0].replace(",", ""))] = taken
    low, high = min(at), max(at)
    return f"{what}: k^{math.log(at[high] / at[low]) / math.log(high / low):.2f} from {low:,} to {high:,}"


def table(found: list[tuple[str, float, str, float, str]]) -> str:
    lines = ["| call | seconds | peer | seconds | ratio | proved |", "|---|---|---|---|---|---|"]
    for name, taken, peer, other, proved in found:
        ratio = "" if math.isnan(other) else f"{taken / other:.2g}"
        shown = "" if math.isnan(other) else f"{other:.2g}"
        lines.append(f"| {name.strip()} | {taken:.2g} | {peer} | {shown} | {ratio} | {proved} |")
    return "\n".join(lines)


def written(found: list[tuple[str, float, str, float, str]], largest: int) -> str:
    exponents = []
    for kind, epsilon in (("KL", 1), ("information", 4)):
        chosen = [row for row in found if row[0].startswith(kind) and row[0].endswith(f"0,000, ε = {epsilon}")]
        if len(chosen) > 1:
            exponents.append(f"ε = {epsilon}, {growth(chosen, kind)}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    about = (
        f"`python bench/default_calls.py --largest {largest} --write`: extremal {ex.__version__}, "
        f"numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}; "
        "processor seconds of one thread, medians; "
        f"largest memory of the run {memory:.2f} GB. A ratio below 1 is faster than the peer.\n\n"
    )
    return about + table(found) + "\n\nGrowth: " + "; ".join(exponents) + "."


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--largest", type=int, default=10_000_000)
    for flag in ("--write", "--check", "--profile"):
        options.add_argument(flag, action="store_true")
    chosen = options.parse_args()
    if chosen.profile:
        profile = cProfile.Profile()
        for k, repeat in ((12, 50), (1_000_000, 1)):
            p0, p1 = pair(k)
            for _ in range(repeat):
                profile.runcall(ex.design, ex.LDP(1), ex.KL(p0, p1))
            profile.runcall(ex.design, ex.LDP(2), ex.MutualInformation(p0))
        pstats.Stats(profile).sort_stats("tottime").print_stats(30)
        return 0
    found = rows(chosen.largest)
    text = written(found, chosen.largest)
    print(text)
    ratios = {name.strip(): taken / other for name, taken, _, other, _ in found if not math.isnan(other)}
    if chosen.write:
        page = PAGE.read_text()
        head, rest = page.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
        STORED.write_text(json.dumps(ratios, indent=1, ensure_ascii=False) + "\n")
    if chosen.check:
        before = json.loads(STORED.read_text())
        worse = [name for name, ratio in ratios.items() if ratio > WORSE * before.get(name, math.inf)]
        for name in worse:
            print(f"worse: {name}: {ratios[name]:.3g} against {before[name]:.3g}", file=sys.stderr)
        return int(bool(worse))
    return 0


if __name__ == "__main__":
    sys.exit(main())
