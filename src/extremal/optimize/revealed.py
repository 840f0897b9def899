"""What a goal is worth without privacy: a mechanism is a random function of the input, so that no report tells more
than the input itself. The kernel's reason is `listed`, revealed: every column is a sum of unit vectors.

No design is bounded by more than this, whatever its search proved: bounds that are made for small ε may be looser at a
large one than saying nothing of privacy at all.
"""

from __future__ import annotations

import numpy as np

from extremal.certificate import ChosenPrior, Dual, Listed, OnePrior, Proof
from extremal.exact.weights import Floats
from extremal.optimize.infinite import parts_of
from extremal.optimize.problem import decimals
from extremal.optimize.workload.proofs import revealed_inputs
from extremal.utility import SumOfColumns, Utility, Workload, WorstCase

MOST_SUMMED = 2_000  # inputs whose unit vectors the kernel values one by one: a second
MOST_SQUARED = 400  # inputs of a workload, whose matrices the kernel multiplies: a second
CHUNK = 256  # unit vectors that are valued at once
ROUNDING = 1e-12  # relative: a bound that is worse by less is as good


def proof_beyond(bound: float, utility: Utility, worst: ChosenPrior | None = None) -> Proof | None:
    """The proof that nothing is worth more than the inputs themselves, where that says more than a bound does.

    Args:
        bound: what is proved otherwise.
        utility: the goal.
        worst: of a workload over a class, the prior at which the inputs are valued.
    """
    if isinstance(utility, Workload):
        return _of_workload(bound, utility, worst) if utility.k <= MOST_SQUARED else None
    if not isinstance(utility, SumOfColumns | WorstCase) or utility.k > MOST_SUMMED:
        return None
    return of_inputs(utility) if float(values(utility).sum(axis=1).min()) < bound * (1 - ROUNDING) else None


def of_inputs(utility: Utility) -> Dual:
    """The proof about a sum over columns, or the worst case of several: of the part that the inputs are worth least
    to."""
    found = values(utility)
    least = int(found.sum(axis=1).argmin())
    mix = decimals(np.eye(len(found))[least]) if len(found) > 1 else ()
    return Dual(decimals(found[least]), Listed((), True), mix)


def values(utility: Utility) -> Floats:
    """What each input is worth, a row for each part of a worst case."""
    parts, k = parts_of(utility), utility.k
    chunks = [np.eye(k)[:, start : start + CHUNK] for start in range(0, k, CHUNK)]
    return np.array([np.concatenate([part.column_values(chunk) for chunk in chunks]) for part in parts])


def _of_workload(bound: float, utility: Workload, worst: ChosenPrior | None) -> Proof | None:
    """About the variance of the statistics, at one prior of a class."""
    single = utility if worst is None else utility.at(worst.of(utility.source))
    prior = single.source.member().values
    apart = single.rows - (single.rows @ prior)[:, None]
    if not float((apart**2 @ prior).sum()) > bound * (1 + ROUNDING):
        return None
    proof = revealed_inputs(single)
    return proof if worst is None else OnePrior(worst.prior, worst.mix, proof)
