"""KOV's experiment: 100 random instances, what the optimum and the closed forms reach on each at every ε.

Each instance is a pair (P₀, P₁) drawn from Dirichlet(1, …, 1); for information the prior is P₀ of the pair. The
generator is NumPy's default_rng(seed), a pair at a time. The geometric mechanism is the clamped one of erratum E7: as
printed it is no mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.closed_forms import binary, binary_for_information, geometric, randomized_response
from extremal.optimize.design import design
from extremal.privacy import LDP
from extremal.reproduce.figure import Progress
from extremal.utility import KL, MutualInformation, Utility

Floats = npt.NDArray[np.float64]

SEED, COUNT = 0, 100
GRID = (0.1, 0.25, *(0.5 + 0.25 * i for i in range(15)), 5.0, 6.0, 8.0, 10.0)
"""ε from strong to weak privacy; steps of a quarter where the closed forms cross."""

FORMS = ("optimum", "binary", "randomised response", "geometric")


@dataclass(frozen=True, eq=False)
class Experiment:
    """Values of every form for every instance and ε.

    Attributes:
        epsilons: the grid.
        values: form → array with a row for each instance and a column for each ε.
        whole: what no privacy would give: D(P₀‖P₁) or H(X).
    """

    epsilons: tuple[float, ...]
    values: dict[str, Floats]
    whole: Floats

    def average(self, form: str) -> Floats:
        """The mean over instances of the share of `whole` that a form keeps, for each ε."""
        return np.asarray((self.values[form] / self.whole[:, None]).mean(axis=0))

    def ratio(self, form: str) -> Floats:
        """The share of the optimum that a form reaches; "mixed" is the better of binary and randomised response."""
        if form == "mixed":
            best = np.maximum(self.values["binary"], self.values["randomised response"])
            return np.asarray(best / self.values["optimum"])
        return np.asarray(self.values[form] / self.values["optimum"])


def pairs(k: int, seed: int = SEED, count: int = COUNT) -> list[tuple[Floats, Floats]]:
    """The instances."""
    generator = np.random.default_rng(seed)
    return [tuple(generator.dirichlet(np.ones(k), 2)) for _ in range(count)]


def experiment(
    kind: str,
    k: int,
    epsilons: tuple[float, ...] = GRID,
    seed: int = SEED,
    count: int = COUNT,
    progress: Progress = lambda _: None,
) -> Experiment:
    """Run it for "divergence" (KL) or "information"."""
    asked = (kind, k, epsilons, seed, count)
    if asked not in _RUN:
        _RUN[asked] = _run(*asked, progress)
    progress(1.0)
    return _RUN[asked]


_RUN: dict[tuple[str, int, tuple[float, ...], int, int], Experiment] = {}
"""Experiments of this process: figures 3 and 4 share theirs, and so do 6 and 7."""


def _run(kind: str, k: int, epsilons: tuple[float, ...], seed: int, count: int, progress: Progress) -> Experiment:
    values = {form: np.zeros((count, len(epsilons))) for form in FORMS}
    whole = np.zeros(count)
    response = [randomized_response(k, epsilon) for epsilon in epsilons]
    ordered = [geometric(k, epsilon) for epsilon in epsilons]
    for i, (p0, p1) in enumerate(pairs(k, seed, count)):
        utility: Utility = KL(p0, p1) if kind == "divergence" else MutualInformation(p0)
        whole[i] = utility(np.eye(k))
        for j, epsilon in enumerate(epsilons):
            two = binary(p0, p1, epsilon) if kind == "divergence" else binary_for_information(p0, epsilon)
            values["optimum"][i, j] = design(LDP(epsilon), utility).value
            values["binary"][i, j] = utility(two)
            values["randomised response"][i, j] = utility(response[j])
            values["geometric"][i, j] = utility(ordered[j])
        progress((i + 1) / count)
    return Experiment(epsilons, values, whole)
