"""Attacks on what the kernel proves of workloads: whole numbers nearby, extreme, or left out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.certificate import Dual, Listed, Proof, Squares
from extremal.optimize.design import design
from extremal.optimize.workload.inequality import best_inequality, best_lift_inequality
from extremal.optimize.workload.interior import optimal_design
from extremal.optimize.workload.leakage import around_lifts
from extremal.optimize.workload.lifts import Coordinates, all_sets, staircase_deviations
from extremal.optimize.workload.proofs import listed_patterns, revealed_inputs
from extremal.optimize.workload.structured.mean import one_statistic, statistic_proof
from extremal.privacy import LDP, LIP, PML
from extremal.utility import (
    CDF,
    Frequencies,
    Mean,
    Ranges,
)
from support.proofs.lies import (
    Generator,
    Lie,
    a_prior,
    an_epsilon,
)


def a_whole(random: Generator, near: int) -> int:
    """A whole number near this one, or nowhere near it."""
    kind = random.integers(5)
    if kind == 0:
        return int(random.choice([0, 1, -1])) * int("1" + "0" * int(random.integers(40)))
    if kind == 1:
        return int(near * (1 + 0.1 * random.normal()))
    return int(near * (1 + 10.0 ** -random.integers(2, 12) * random.normal())) if kind == 2 else near


def spoiled_numbers(random: Generator, numbers: Any) -> Any:
    if isinstance(numbers, tuple):
        return tuple(spoiled_numbers(random, number) for number in numbers)
    if isinstance(numbers, Fraction):
        return Fraction(a_whole(random, int(numbers)))
    return numbers if isinstance(numbers, bool) else a_whole(random, numbers)


def spoiled_proof(random: Generator, value: Any) -> Any:
    """A proof or a reason with the numbers of its fields spoiled, of most or of one; names of classes rarely."""
    given = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    places = {"merged", "classes", "blocks", "scale", "tree", "revealed"}
    spoil = set(given) - places if random.random() < 0.8 else {str(random.choice(sorted(given)))}
    told = {}
    for name in spoil:
        inner = dataclasses.is_dataclass(given[name])
        told[name] = spoiled_proof(random, given[name]) if inner else spoiled_numbers(random, given[name])
    return replace(value, **told)


def workloads(random: Generator) -> Iterator[Lie]:
    """Proofs about statistics, their numbers true, nearly true or wild, against the best mechanism on all patterns."""
    k, epsilon = int(random.integers(2, 6)), an_epsilon(random)
    if random.random() < 0.5:
        p: Any = np.full(k, 1 / k)
    else:
        p = a_prior(random, k)
    utility: Any = (CDF, Frequencies, Ranges, lambda q: Mean(random.normal(size=k).round(3), q))[random.integers(4)](p)
    prior = utility.prior.values
    coordinates, sets = Coordinates(prior, utility.rows), all_sets(k)
    points = coordinates.points(staircase_deviations(sets, prior, math.expm1(epsilon)))
    found = optimal_design(points, coordinates.guarded)
    proofs: list[Proof] = [listed_patterns(coordinates, found, Fraction(utility.exact_gram[1]))]
    proofs.append(best_inequality(coordinates, epsilon, 0.02).proof(LDP(epsilon), utility))
    if isinstance(utility, Frequencies):
        many = 1 << 40
        classes = (0,) * k if random.random() < 0.5 else (*(0,) * (k - 1), 1)
        count = max(classes) + 1
        pairs = tuple((-many,) * g for g in range(count))
        proofs.append(Squares(pairs, Dual((), Listed()), (many * k,) * count, classes))
    if isinstance(utility, Mean):
        values, place = np.unique(utility.values, return_inverse=True)
        if values.size == k:
            order = np.argsort(place)
            line = one_statistic(values, prior[order], epsilon)
            merged = tuple(place.tolist())
            proofs.append(statistic_proof(line, values, utility.source.priors[0], LDP(epsilon).exponential, merged))
    for proof in proofs:
        yield Lie(proof, LDP(epsilon), utility, found.value)
        yield Lie(spoiled_proof(random, proof), LDP(epsilon), utility, found.value)


def lifted_workloads(random: Generator) -> Iterator[Lie]:
    """The matrix inequality under PML and LIP, its numbers true, nearly true or wild, against the best mechanism."""
    k, epsilon = int(random.integers(2, 6)), float(np.round(random.uniform(0.05, 2), 3))
    p: Any = np.full(k, 1 / k) if random.random() < 0.5 else a_prior(random, k)
    utility: Any = (CDF, Frequencies, Ranges)[random.integers(3)](p)
    notion: Any = PML(epsilon, p) if random.random() < 0.5 else LIP(epsilon, p)
    found = design(notion, utility)
    coordinates = Coordinates(utility.prior.values, utility.rows)
    proof = best_lift_inequality(coordinates, *around_lifts(notion), 0.05).proof(notion, utility)
    yield Lie(proof, notion, utility, found.value)
    for _ in range(3):
        yield Lie(spoiled_proof(random, proof), notion, utility, found.value)


def coupled_workloads(random: Generator) -> Iterator[Lie]:
    """Prices of any kind for statistics under (ε,δ)-LDP, against a mechanism that exists."""
    k, epsilon, delta = int(random.integers(2, 4)), an_epsilon(random), float(np.round(random.uniform(0.01, 0.4), 3))
    p: Any = np.full(k, 1 / k) if random.random() < 0.5 else a_prior(random, k)
    utility: Any = (CDF, Frequencies, Ranges)[random.integers(3)](p)
    found = design(LDP(epsilon, delta), utility)
    for proof in (revealed_inputs(utility), *found.certificate.proofs):
        yield Lie(proof, LDP(epsilon, delta), utility, found.value)
        for _ in range(3):
            yield Lie(spoiled_proof(random, proof), LDP(epsilon, delta), utility, found.value)
