"""The best mechanism under pointwise maximal leakage or local information privacy, for one prior.

Closed forms where they are proven: two inputs, region 1 and "nothing to hide" (the lift vectors form a simplex, of
which every mechanism is a post-processing; GSO Theorems 2 and 3), a uniform prior with information (Theorem 4).
f-divergences by columns priced on supporting lines, information by knapsack pricing, anything else over all extreme
lift vectors when there are few inputs (Theorem 5, corrected).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from extremal.certificate import Refused, Search
from extremal.closed_forms import pml_uniform
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.optimize.infinite import infinite
from extremal.optimize.leakage import divergence, information, merging
from extremal.optimize.leakage.duals import rounded
from extremal.optimize.leakage.knapsack import LiftWorth
from extremal.optimize.leakage.listed import constant, over_lifts, simplex
from extremal.optimize.leakage.master import FINE
from extremal.optimize.leakage.notes import notes
from extremal.optimize.leakage.trees import MOST_SUMS
from extremal.optimize.problem import Problem, Solution, decimal
from extremal.optimize.table import SIZES
from extremal.optimize.tokens import BRANCH
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import lift_box
from extremal.utility import Divergence, MutualInformation, Utility

SPARE = (1e-14, 1e-13, 1e-11, 1e-8)  # relative: by how much the bound of a uniform prior is above its value in floats


def solve(problem: Problem, privacy: PML | LIP, _: Utility) -> Solution:
    """PML for one prior, or LIP, with any sum of sublinear column values or the worst case of several; with what its
    level means in words."""
    found = _solved(problem, privacy)
    return replace(found, notes=(*found.notes, *notes(found.mechanism, problem.utility)))


def _solved(problem: Problem, privacy: PML | LIP) -> Solution:
    utility = problem.utility
    boundless = infinite(problem, lambda rest: _solved(rest, privacy))
    if boundless is not None:
        return boundless
    if not privacy.epsilon or (isinstance(privacy, LIP) and not privacy.lower):
        return constant(problem, privacy)
    own = isinstance(utility, MutualInformation) and utility.prior == privacy.prior
    if own and isinstance(privacy, PML) and len(set(privacy.prior.weights)) == 1:
        mechanism = pml_uniform(privacy.k, privacy.exponential.exponent or privacy.epsilon, inputs=problem.inputs)
        if mechanism.privacy == privacy:
            return _symmetric(mechanism, privacy, utility)
    box = lift_box(privacy)
    if box.is_simplex and box.n <= SIZES.simplex:
        return simplex(problem, privacy, box, own)
    if isinstance(utility, Divergence):
        merged = merging.divergence(problem, privacy, box, utility)
        return merged or divergence.solve(problem, privacy, box, utility)
    if own:
        found = merging.information(problem, privacy, box) or information.solve(problem, privacy, box)
        # The search bounds a value far below ε, at times badly or not at all.
        if (privacy.epsilon < FINE and box.n <= SIZES.few_lifts) or (not found.proofs and box.n <= SIZES.lifts):
            found = replace(found, proofs=(*found.proofs, *over_lifts(problem, privacy, box).proofs))
        return found
    if box.n <= SIZES.lifts:
        return over_lifts(problem, privacy, box)
    raise InvalidParameter(
        f"{utility.name} under {privacy.name} is solved over all extreme lift vectors, for at most {SIZES.lifts} "
        "inputs of positive probability",
        parameter="inputs",
        value=box.n,
        hint="Single f-divergences, and information under the prior of the notion, have methods without enumeration.",
    )


def _symmetric(mechanism: Mechanism, privacy: PML, utility: Utility) -> Solution:
    """All inputs are one group, and all vertices alike: any multiplier proves what one of them is worth, where the
    kernel lists the sets of each size; beyond, the tree names the sizes. What a vertex is worth is taken from the box:
    at small ε the weights of the mechanism have fewer digits."""
    k, box = mechanism.k, lift_box(privacy)
    whole = math.floor(box.budget * k)
    y = np.zeros(k)
    y[:whole] = 1.0
    y[whole : whole + 1] = box.budget * k - whole
    worth = max(float(LiftWorth.on(box).values(y[None, :])[0]), utility(mechanism))
    tree = (0,) if k <= MOST_SUMS else (BRANCH, *(0,) * k)
    proofs: tuple[Search, ...] = ()
    for spare in SPARE:
        total = decimal(worth * (1 + spare))
        proof = Search(rounded([total / k]) * k, (total,), (tree,))
        try:
            proof.bound(privacy, utility)
        except Refused:
            continue
        proofs = (proof,)
        break
    return Solution(mechanism, worth, "closed form: uniform prior (GSO Theorem 4)", proofs)
