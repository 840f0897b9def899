"""All extreme lift vectors in one linear program, or the few of a simplex without any.

Where the lift vectors form a simplex every mechanism is a post-processing of the one whose columns are its vertices
(GSO Theorems 2 and 3), whatever the utility; the dual vector solves α·y = μ at each of them. Otherwise, for few inputs,
the program over all vertices (Theorem 5, corrected). Inputs of probability 0 are free: revealing them loses nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from extremal.certificate import Chords, Dual, Listed, Proof
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.optimize.infinite import parts_of
from extremal.optimize.leakage import divergence
from extremal.optimize.leakage.knapsack import LiftWorth
from extremal.optimize.leakage.master import as_mechanism, dual_vector
from extremal.optimize.leakage.other_prior import chord_prices
from extremal.optimize.leakage.trees import proof_by_search
from extremal.optimize.problem import Problem, Solution, decimals
from extremal.optimize.rays import best_mixture
from extremal.optimize.table import SIZES
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import (
    Floats,
    LiftBox,
    columns_of,
    simplex_vertices,
    simplex_weights,
    unit_columns,
    vertices,
)
from extremal.utility import Divergence, MutualInformation, SumOfColumns


def over_lifts(problem: Problem, privacy: PML | LIP, box: LiftBox) -> Solution:
    """In the coordinates Σ θ·y = b of the box, where nothing cancels at small ε."""
    y = vertices(box)
    values, rest = _values(problem, privacy, box, y)
    best = best_mixture(y.T, box.budget * values, rest.sum(axis=1))
    used = best.used
    theta = best.weights[used]
    change = np.linalg.lstsq(y[used].T, 1 - y[used].T @ theta, rcond=None)[0]
    theta = theta + change if (theta + change >= 0).all() else theta
    mechanism = as_mechanism(problem, box, y[used], theta * box.budget, reveal=True)
    alpha, free = best.alpha / box.budget, best.mix @ rest
    support = box.budget * math.fsum(alpha) + float((best.mix @ values - y @ alpha).max())
    vector = _whole(privacy, box, alpha, support, free)
    proof = Dual(vector, Listed(), decimals(best.mix) if best.mix.size > 1 else ())
    return Solution(
        mechanism, support + math.fsum(free), "enumeration of all extreme lift vectors", _kept(problem, proof)
    )


def simplex(problem: Problem, privacy: PML | LIP, box: LiftBox, own: bool) -> Solution:
    """The vertices of a simplex, each weighted as it must be."""
    y = simplex_vertices(box)
    theta = simplex_weights(box, y)
    values, rest = _values(problem, privacy, box, y)
    mechanism = as_mechanism(problem, box, y, theta, reveal=not own)
    totals = values @ theta + rest.sum(axis=1)
    mix = np.eye(totals.size)[int(totals.argmin())]
    alpha = np.linalg.solve(y, mix @ values)
    support, free = float(mix @ values @ theta), mix @ rest
    proofs = _proved(problem, privacy, box, own, alpha, support, free, mix)
    if box.n == 2:
        name = "closed form: two inputs (GSO Theorem 2)"
    else:
        name = "closed form: region 1 (GSO Theorem 3)" if box.step < 0 else "closed form: nothing more can be hidden"
    return Solution(mechanism, support + math.fsum(free), name, proofs)


def constant(problem: Problem, privacy: PML | LIP) -> Solution:
    """At level 0 every report is independent of the input; inputs of probability 0 may still be told apart."""
    values, utility = privacy.prior.values, problem.utility
    k, support, free = values.size, np.flatnonzero(values > 0), np.flatnonzero(values == 0)
    matrix = np.zeros((k, 1 + free.size))
    matrix[support, 0] = 1.0
    matrix[free, 1 + np.arange(free.size)] = 1.0
    mechanism = Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs)
    worth = np.array([part.column_values(matrix) for part in parts_of(utility)])
    mix = np.eye(len(worth))[int(worth.sum(axis=1).argmin())]
    alpha = (mix @ worth)[0] * values
    alpha[free] = (mix @ worth)[1:]
    proofs: tuple[Proof, ...] = ()
    if isinstance(utility, Divergence):
        weights = [(sum(p.weights[x] for x in support.tolist()), p.total) for p in (utility.pair.p0, utility.pair.p1)]
        nodes = divergence.nodes_at(utility, free, [Fraction(*w) for w in weights])
        proofs = (Dual(decimals(alpha), Chords(nodes)),)
    elif support.size <= SIZES.lifts:
        proofs = (Dual(decimals(alpha), Listed(), decimals(mix) if mix.size > 1 else ()),)
    return Solution(mechanism, utility(mechanism), "constant mechanism", proofs if utility.verifiable else ())


def _proved(
    problem: Problem,
    privacy: PML | LIP,
    box: LiftBox,
    own: bool,
    alpha: Floats,
    support: float,
    free: Floats,
    mix: Floats,
) -> tuple[Proof, ...]:
    """Over all lift vectors when they are few; by chords or by search otherwise."""
    utility = problem.utility
    if isinstance(utility, Divergence) and box.n > SIZES.few_lifts:
        return divergence.proved(problem, privacy, box, utility, alpha)[1]
    if own and box.n > SIZES.few_lifts:
        found = proof_by_search(privacy, box, alpha, support)
        if found is not None or box.n > SIZES.lifts:
            return () if found is None else (found,)
    if isinstance(utility, MutualInformation) and box.n > SIZES.lifts:
        return (Dual(decimals(chord_prices(privacy, utility)), Chords()),)
    if box.n > SIZES.lifts and box.budget <= float(box.prior.min()) and not box.base:
        return ()  # nothing is hidden: the inputs themselves prove it
    if box.n > SIZES.lifts and utility.verifiable:
        raise InvalidParameter(
            f"{utility.name} under {privacy.name} is proved over all extreme lift vectors, for at most {SIZES.lifts} "
            "inputs of positive probability",
            parameter="inputs",
            value=box.n,
            hint="Single f-divergences, and information under the prior of the notion, are proved without a list.",
        )
    vector = _whole(privacy, box, alpha, support, free)
    return _kept(problem, Dual(vector, Listed(), decimals(mix) if mix.size > 1 else ()))


def _whole(privacy: PML | LIP, box: LiftBox, alpha: Floats, bound: float, free: Floats) -> tuple[Fraction, ...]:
    worth = np.zeros(len(privacy.prior))
    worth[np.setdiff1d(np.arange(worth.size), box.support)] = free
    return dual_vector(privacy.prior, box, alpha, bound, worth)


def _kept(problem: Problem, proof: Proof) -> tuple[Proof, ...]:
    """No proof about a user's function."""
    return (proof,) if problem.utility.verifiable else ()


def _values(problem: Problem, privacy: PML | LIP, box: LiftBox, y: Floats) -> tuple[Floats, Floats]:
    """What each part of the utility gives to the lift vectors, and to naming inputs of probability 0."""
    parts, units = parts_of(problem.utility), unit_columns(box, problem.utility.k)
    values = np.array([_worth(part, privacy, box, y) for part in parts])
    rest = np.array([part.column_values(units) for part in parts]).reshape(len(parts), units.shape[1])
    if not (np.isfinite(values).all() and np.isfinite(rest).all()):
        raise InvalidParameter(
            "the utility must be finite for every admissible report", parameter="utility", value=problem.utility
        )
    return values, rest


def _worth(part: SumOfColumns, privacy: PML | LIP, box: LiftBox, y: Floats) -> Floats:
    """In the coordinates of the box where that is possible: at small ε lift vectors differ from 1 in few digits."""
    if isinstance(part, Divergence):
        return divergence.Restricted.on(part, box).values(y)
    if isinstance(part, MutualInformation) and part.prior == privacy.prior:
        return LiftWorth.on(box).values(y)
    return part.column_values(columns_of(box, y, part.k))
