"""Shares of many inputs, some likelier than others: exactly where inputs come in groups, else by subset selection.

When the prior has a few different values, the best mechanism mixes all sets with certain counts in each group of
equally likely inputs; mechanism and bound are exact, whatever the number of inputs. Where subset selection of the best
size is as good, it is taken: it is one number to store. Otherwise the better of it and of a projective geometry
restricted to the inputs (`blocks`): every pair in equally many sets, bounded by the matrix inequality.

When prior and workload do not change under permutations within groups, an optimal mechanism can be taken that does not
either: it mixes *orbits*, all sets with t_g members in group g, one vector t of counts each. The orbit's information
splits into a number for the differences within each group, λ_g = (e^ε−1)²t_g(n_g−t_g)/(n_g(n_g−1)m²), and a rank-one
matrix between the groups; so F = Σ_g (n_g−1)ω_g/λ_g + tr(B V⁻¹ Bᵀ) with V of the size of the number of groups.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.certificate import Dual, Listed, Squares
from extremal.errors import TooLarge
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.interior import OptimalDesign, Scalars, levels, optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats
from extremal.optimize.workload.mechanisms import FAINT, fewest, second_moments
from extremal.optimize.workload.structured.blocks import restricted_design
from extremal.optimize.workload.structured.symmetric import best_size
from extremal.privacy import LDP
from extremal.utility import Workload

MOST_COUNTS = 300_000  # vectors of counts: all are points of the design, seconds
Z_BITS = 60  # of the largest entry of Z in a proof: as many digits as a float has, and room
USABLE = 1e-4  # relative: vectors of counts whose level is lower are not used by the best mixture
POLISHED = 1e-13  # relative gap of the design on the others
MOST_CLASSES = 3  # groups of equal probability: counts grow with their power
NEAR = 1e-3  # relative: closer to the bound nothing else is tried
SIMPLER = 1e-9  # relative: subset selection that is closer to the bound is preferred to a mixture


@dataclass(frozen=True, eq=False)
class Classes:
    """Inputs that are alike.

    Attributes:
        of: the class of each input.
        sizes: how many there are in each.
        prior: the probability of one input of each.
        within, between: W is `within` on the diagonal plus `between` for every pair of classes.
    """

    of: npt.NDArray[np.intp]
    sizes: npt.NDArray[np.intp]
    prior: Floats
    within: Floats
    between: Floats

    @property
    def counts(self) -> int:
        """How many vectors of counts there are."""
        return math.prod(int(n) + 1 for n in self.sizes)


def alike(gram: Floats, prior: Floats) -> Classes | None:
    """Classes of inputs that W and the prior cannot tell apart, or None when there is no such structure worth using."""
    keys: dict[tuple[float, ...], int] = {}
    signature = np.column_stack([prior, np.diagonal(gram), np.sort(gram, axis=1)])
    of = np.array([keys.setdefault(tuple(row), len(keys)) for row in signature.tolist()], dtype=np.intp)
    sizes = np.bincount(of)
    first = np.unique(of, return_index=True)[1]
    count = first.size
    between = np.zeros((count, count))
    for g in range(count):
        for h in range(count):
            members = np.flatnonzero(of == h)
            between[g, h] = gram[first[g], members[-1]] if g != h or members.size > 1 else 0.0
    expected = between[np.ix_(of, of)]
    within = np.diagonal(gram)[first] - np.diagonal(between)
    expected[np.diag_indices(prior.size)] += within[of]
    if not np.array_equal(expected, gram):
        return None
    return Classes(of, sizes, prior[first], within, between)


@dataclass(frozen=True, eq=False)
class Orbits:
    """A few vectors of counts (one a column) with the weights of their columns, the design on all, and Z."""

    counts: npt.NDArray[np.intp]
    weights: Floats
    found: OptimalDesign
    variances: Floats
    covariance: Floats
    prices: Floats


def best_orbits(classes: Classes, epsilon: float) -> Orbits:
    """The best mixture of orbits."""
    sizes, growth = classes.sizes.astype(np.float64), math.expm1(epsilon)
    counts = np.array(list(product(*(range(int(n) + 1) for n in classes.sizes))), dtype=np.intp).T
    counts = counts[:, (counts.sum(axis=0) > 0) & (counts.sum(axis=0) < classes.of.size)]
    mass = (classes.prior @ counts) * growth + 1
    lift = growth * (counts / sizes[:, None] - (mass - 1) / growth) / mass  # mean deviation of a group
    root = np.sqrt(sizes)
    prior, ones = root * classes.prior, root  # the prior and 1 in the basis 1_g/√n_g
    direction = prior / np.linalg.norm(prior)
    normal = direction.copy()
    normal[-1] += 1.0
    normal /= np.linalg.norm(normal)
    basis = (np.eye(sizes.size) - 2 * np.outer(normal, normal))[:, :-1]
    gram = np.diag(classes.within) + np.outer(root, root) * classes.between
    project = np.eye(sizes.size) - np.outer(prior, ones)
    inner = basis.T @ project.T @ gram @ project @ basis
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    statistics = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    several = sizes > 1
    rows = growth**2 * counts * (sizes[:, None] - counts) / (sizes * np.maximum(sizes - 1, 1))[:, None] / mass**2
    scalars = Scalars(
        ((sizes - 1) * classes.within)[several & (classes.within > 0)], rows[several & (classes.within > 0)]
    )
    points = basis.T @ (root[:, None] * lift)
    found = _polished(points, statistics, scalars, optimal_design(points, statistics, scalars=scalars))
    used = np.flatnonzero(found.theta > FAINT * found.theta.max())
    theta = fewest(np.vstack([second_moments(points[:, used]), rows[:, used]]), found.theta[used])
    few, sums = used[theta > 0], rows @ found.theta
    variances = np.where(several, 1 / np.where(sums > 0, sums, 1.0), 0.0)
    covariance = project @ basis @ found.inverse @ basis.T @ project.T / np.outer(root, root)
    weights = theta[theta > 0] / mass[few]
    return Orbits(counts[:, few], weights, found, variances, covariance, basis @ found.tilt / root)


def _polished(points: Floats, statistics: Floats, scalars: Scalars, found: OptimalDesign) -> OptimalDesign:
    """The design again on the points that may be used at all, which gives it more digits; the better of the two."""
    near = np.flatnonzero(levels(points, found, scalars) > found.level * (1 - USABLE))
    try:
        again = optimal_design(
            points[:, near], statistics, POLISHED, scalars=Scalars(scalars.costs, scalars.rows[:, near])
        )
    except np.linalg.LinAlgError:
        return found
    theta = np.zeros_like(found.theta)
    theta[near] = again.theta
    whole = replace(again, theta=theta, level=float(levels(points, again, scalars).max()))
    return max((found, whole), key=lambda one: one.bound)


def orbit_mechanism(classes: Classes, orbits: Orbits, privacy: LDP, inputs: Any) -> Mechanism:
    """The mixture in exact weights."""
    types = [tuple(t) for t in orbits.counts.T.tolist()]
    structure = grouped_structure(classes.of, types, orbits.weights.tolist(), privacy.exponential)
    return Mechanism.from_structure(structure, privacy, inputs, structure.reports)


def counts_proof(classes: Classes, orbits: Orbits, denominator: int) -> Squares:
    """The proof by counts, from the covariance of the shares and the multipliers."""
    exponent = Z_BITS - math.ceil(math.log2(max(np.abs(orbits.variances).max(), np.abs(orbits.covariance).max())))
    variances = np.where(classes.sizes > 1, orbits.variances, 0.0)
    diagonal = tuple(round(math.ldexp(v, exponent)) for v in variances.tolist())
    pairs = tuple(
        tuple(round(math.ldexp(v, exponent)) for v in row[:g]) for g, row in enumerate(orbits.covariance.tolist())
    )
    unit = denominator * Fraction(2) ** (2 * exponent)
    alpha = tuple(Fraction(int(Fraction(a) * unit)) for a in orbits.prices.tolist())
    return Squares(pairs, Dual(alpha, Listed()), diagonal, tuple(int(g) for g in classes.of))


def many_shares(problem: Problem, utility: Workload, prior: Floats, privacy: LDP, *until: Any) -> Solution:
    """Exactly for few groups of inputs; else the better of subset selection and a restricted block design, with the
    best bound there is; `until` are the time, pairs and clock of `best_inequality`."""
    classes = alike(utility.gram, prior)
    if classes is not None and classes.sizes.size <= MOST_CLASSES and classes.counts <= MOST_COUNTS:
        return _by_groups(problem, utility, privacy, classes)
    bound = best_inequality(Coordinates(prior, utility.rows), privacy.epsilon, *until)
    found = []
    with contextlib.suppress(TooLarge):  # the prior has too many different values to count subsets by
        found.append(_best_subsets(problem, utility, privacy))
    if not found or found[0][0] > bound.bound * (1 + NEAR):
        sets = restricted_design(utility.k, math.expm1(privacy.epsilon))
        listed = Mechanism.from_cover(utility.k, sets, privacy, inputs=problem.inputs)
        found.append((utility(listed), listed, f"projective geometry, {listed.m} sets"))
    _, mechanism, method = min(found, key=lambda one: one[0])
    return Solution(mechanism, bound.bound, method, (bound.proof(privacy, utility),))


def _by_groups(problem: Problem, utility: Workload, privacy: LDP, classes: Classes) -> Solution:
    """The best mixture of types of sets, or subset selection where that is as good."""
    orbits = best_orbits(classes, privacy.epsilon)
    proof = counts_proof(classes, orbits, utility.exact_gram[1])
    size = best_size(utility.k, math.exp(privacy.epsilon))
    subsets = Mechanism.from_subsets(utility.k, size, privacy, inputs=problem.inputs)
    if utility(subsets) <= orbits.found.bound * (1 + SIMPLER):
        return Solution(subsets, orbits.found.bound, f"subset selection of size {size}", (proof,))
    mixture = orbit_mechanism(classes, orbits, privacy, problem.inputs)
    method = f"sets of {orbits.weights.size} types, counted in {classes.sizes.size} groups of inputs"
    return Solution(mixture, orbits.found.bound, method, (proof,))


def _best_subsets(problem: Problem, utility: Workload, privacy: LDP) -> tuple[float, Mechanism, str]:
    """Subset selection of the size that suits the prior: from the size for equal shares, downhill."""
    k, tried = utility.k, dict[int, tuple[float, Mechanism]]()

    def cost(size: int) -> float:
        if size not in tried:
            mechanism = Mechanism.from_subsets(k, size, privacy, inputs=problem.inputs)
            tried[size] = (utility(mechanism), mechanism)
        return tried[size][0]

    size = best_size(k, float(np.exp(privacy.epsilon)))
    step = max(1, size // 8)
    while step:
        near = [s for s in (size - step, size + step) if 1 <= s < k]
        better = min(near, key=cost)
        if cost(better) < cost(size):
            size = better
        else:
            step //= 2
    value, mechanism = tried[size]
    return value, mechanism, f"subset selection of size {size}"
