"""Ordered inputs, up to a thousand and more: random-scale subset selection, bounded by the matrix inequality.

The mixture of atoms is found in floats; its weights are rounded to integers and `Mechanism.from_cover` makes the exact
mechanism: since every atom covers every input equally often, so does the mixture whatever the integers, and no repair
is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.exact import IndexSet
from extremal.mechanism import Mechanism
from extremal.optimize.workload.lifts import Floats
from extremal.optimize.workload.structured.scales import Atom, Families, ScaleMixture, grid_atoms, priced_atoms
from extremal.privacy import LDP
from extremal.utility import Ranges, Workload

TOTAL_SHARES = 1 << 34  # what the integer weights of all reports add up to: rounding is second order in F
CLOSE = 4e-3  # the mixture is left at this distance from its own optimum: the bound is farther
FAINT = 2e-4  # atoms below this share of the largest weight are dropped


def best_mixture(
    utility: Workload, prior: Floats, growth: float, out_of_time: Callable[[], bool], tell: Callable[[float], None]
) -> ScaleMixture:
    """Atoms on a grid of scales and offsets, then coarse partitions as pricing asks for them."""
    large = prior.size > 300
    families = Families(3 if large else 4)
    cyclic = isinstance(utility, Ranges)
    skewed = float(np.ptp(prior)) > 1e-9
    atoms = grid_atoms(
        prior, growth, families, ratio=1.4 if large else 1.3, offsets=12 if large else 16, cyclic=cyclic, masses=skewed
    )
    mixture = ScaleMixture(atoms, prior, utility.rows, growth)
    tell(mixture.improve(60 if large else 200, 2 * CLOSE, out_of_time))
    generator = np.random.default_rng(1)  # proposals of a search, always the same ones
    coarse = Families(8)
    for _ in range(3 if large else 6):
        if out_of_time():
            break
        new = priced_atoms(mixture, coarse, generator, 40 if large else 60)
        if not new:
            break
        mixture.add(new)
        tell(mixture.improve(30 if large else 150, CLOSE, out_of_time))
    mixture.prune(FAINT)
    mixture.improve(10, CLOSE, out_of_time)
    return mixture


def mixture_mechanism(mixture: ScaleMixture, privacy: LDP, inputs: Any = None) -> Mechanism:
    """The mixture in exact weights: every report a set of inputs, e^ε times likelier on it."""
    shares = mixture.weights * np.array([atom.low for atom in mixture.atoms])
    counts = np.array([atom.family.sets.shape[1] for atom in mixture.atoms])
    times = np.maximum(1, np.rint(shares * (TOTAL_SHARES / float(shares @ counts)))).astype(np.int64).tolist()
    sets: list[IndexSet] = []
    often: list[int] = []
    for atom, share in zip(mixture.atoms, times, strict=True):
        listed = _sets(atom, mixture.k)
        sets += listed
        often += [share] * len(listed)
    return Mechanism.from_cover(mixture.k, sets, privacy, times=often, inputs=inputs)


def _sets(atom: Atom, k: int) -> list[IndexSet]:
    """The atom's sets as runs of inputs."""
    inside = atom.family.sets[atom.block]  # segments × sets
    ends = np.append(atom.edges, k)
    padded = np.zeros((inside.shape[0] + 2, inside.shape[1]), dtype=np.int8)
    padded[1:-1] = inside
    change = np.diff(padded, axis=0).T
    found = []
    for row in change:
        starts, stops = ends[row == 1].tolist(), ends[row == -1].tolist()
        found.append(IndexSet(tuple(zip(starts, stops, strict=True))))
    return found
