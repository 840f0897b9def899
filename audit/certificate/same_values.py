"""The fast ways to the best f-divergence against slow ones, on 5,000 instances. Run with `make audit`.

Up to 10 inputs: the linear program over all 2^k − 2 staircase columns, its vertex solved again in floats (12 inputs in
every fiftieth). Up to 4,096: every partition of the sorted symbols, O(k²). Beyond, where symbols are binned and not
sorted: the polygon around the symbols sorted in exact integers. Every certificate is verified.

    python -m audit.certificate.same_values --write FILE     keep the values
    python -m audit.certificate.same_values --against FILE   and compare with those of another version
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex
from extremal.exact.prior import DECIMALS_UP_TO
from extremal.optimize.divergence.lorenz import BlockValue, Lorenz
from extremal.optimize.divergence.paths import best_partition
from extremal.optimize.divergence.polygon import solve as solve_polygon
from extremal.privacy.cones.staircase import patterns
from support.divergences import WITHOUT_PARAMETERS

INSTANCES = 5000
SAME = 1e-12  # relative
NOTHING = 1e-25  # a value below is rounding of priors that are nearly equal
ROUNDING = 1e-15
REPRICED = 4  # times
NEAR = 1e4  # times what is left
LARGE, MIDDLE = 50, 10  # every so many instances are of more than 4,096 inputs, of more than 10

DIVERGENCES: tuple[Callable[[Any, Any], Any], ...] = (
    *WITHOUT_PARAMETERS,
    lambda a, b: ex.AlphaDivergence(a, b, alpha=0.3),
    lambda a, b: ex.HockeyStick(a, b, gamma=1.25),
)


def instance(number: int) -> tuple[Any, float, int]:
    """A divergence between two random priors, ε, and the number of inputs."""
    rng = np.random.default_rng([25, number])
    if number % LARGE == 0:
        k = int(rng.integers(DECIMALS_UP_TO + 1, 20_000))
    elif number % MIDDLE == 0:
        k = int(np.exp(rng.uniform(np.log(11), np.log(1200))))
    else:
        k = 12 if number % LARGE == 1 else int(rng.integers(2, 11))
    concentration = float(rng.choice([0.3, 1.0, 5.0]))
    p0, p1 = (rng.dirichlet(np.full(k, concentration)) for _ in range(2))
    shape = rng.integers(6)
    if shape == 0:  # nearly equal
        p1 = p0 * (1 + 1e-3 * rng.uniform(-1, 1, k))
    elif shape == 1:  # ties
        p0, p1 = (rng.integers(1, 5, k).astype(float) for _ in range(2))
    elif shape == 2 and k > 4:  # zeros
        p0[0] = p1[-1] = 0.0
    p0, p1 = p0 / p0.sum(), p1 / p1.sum()
    epsilon = float(np.exp(rng.uniform(np.log(0.05), np.log(4 if k > DECIMALS_UP_TO else 6))))
    return DIVERGENCES[number % len(DIVERGENCES)](p0, p1), epsilon, k


def by_full_program(utility: Any, epsilon: float, k: int) -> float:
    """The optimum over all staircase columns: the vertex that HiGHS finds, its weights solved for again."""
    from scipy.optimize import linprog

    columns = patterns(k, epsilon)
    values = utility.column_values(columns)
    if not np.isfinite(values).all():
        return math.inf
    rest, best = values, 0.0
    for _ in range(REPRICED):
        # What the duals of one solution leave is a program of its own with the same optimal vertices. Columns that
        # are far from tight are left out of the next, so that its small numbers are no longer within the tolerances.
        if rest.max() <= ROUNDING * values.max():
            break
        near = np.flatnonzero(rest >= -NEAR * rest.max())
        scale = float(np.abs(rest[near]).max())
        answer = linprog(-rest[near] / scale, A_eq=columns[:, near], b_eq=np.ones(k), method="highs")
        used = near[answer.x > 1e-12]
        weights = np.linalg.lstsq(columns[:, used], np.ones(k), rcond=None)[0]
        best = math.fsum(values[used] * weights)
        rest = rest + scale * (answer.eqlin.marginals @ columns)
    return best


def by_sorting(utility: Any, epsilon: float, _k: int) -> float:
    """The best partition of the symbols sorted in exact integers."""
    lorenz, value = Lorenz.of(utility), BlockValue.of(utility, epsilon)
    if lorenz.n <= DECIMALS_UP_TO:
        return best_partition(value, lorenz.nodes)[0]
    return solve_polygon(lorenz, value, 1e-13).worth


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--instances", type=int, default=INSTANCES)
    options.add_argument("--write", type=Path)
    options.add_argument("--against", type=Path)
    chosen = options.parse_args()
    before = json.loads(chosen.against.read_text()) if chosen.against else None
    worst: dict[str, tuple[float, int]] = {}
    found, unproved, started = [], 0, time.process_time()
    for number in range(chosen.instances):
        utility, epsilon, k = instance(number)
        made = ex.design(ex.LDP(epsilon), utility)
        found.append(made.value)
        if not ex.verify(made):
            unproved += 1
            print(f"not proved: instance {number}")
        way, other = ("all 2^k columns", by_full_program) if k <= 12 else ("symbols sorted", by_sorting)
        for name, value in ((way, other(utility, epsilon, k)), ("before", before[number] if before else made.value)):
            off = 0.0 if made.value == value else abs(made.value - value) / max(abs(value), NOTHING)
            worst[name] = max(worst.get(name, (0.0, 0)), (off, number))
            if off > SAME:
                print(f"{name}: instance {number}, {utility.name}, k = {k}, ε = {epsilon:.3g}: {off:.1e}")
    if chosen.write:
        chosen.write.write_text(json.dumps(found))
    print(
        f"{chosen.instances} instances, {time.process_time() - started:.0f} s of processor time; not proved: {unproved}"
    )
    for name, (off, number) in worst.items():
        print(f"largest difference from {name}: {off:.1e} (instance {number})")
    return int(unproved > 0 or any(off > SAME for off, _ in worst.values()))


if __name__ == "__main__":
    sys.exit(main())
