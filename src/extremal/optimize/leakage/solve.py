"""The best mechanism under pointwise maximal leakage or local information privacy, for one prior.

Closed forms where they are proven: two inputs, region 1 and "nothing to hide" (the lift vectors form a simplex, of
which every mechanism is a post-processing; GSO Theorems 2 and 3), a uniform prior with information (Theorem 4).
f-divergences by columns priced on supporting lines, information by knapsack pricing, anything else over all extreme
lift vectors when there are few inputs (Theorem 5, corrected).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from extremal.certificate import Dual, Refused, Sets
from extremal.closed_forms import pml_randomized_response, pml_uniform
from extremal.closed_forms.leakage import randomized_response_leakage
from extremal.errors import InvalidParameter
from extremal.exact import level_of_ratio
from extremal.mechanism import Mechanism
from extremal.optimize.infinite import infinite
from extremal.optimize.leakage import divergence, information, merging, other_prior
from extremal.optimize.leakage.knapsack import LiftWorth
from extremal.optimize.leakage.listed import constant, over_lifts, simplex
from extremal.optimize.leakage.master import rounded
from extremal.optimize.leakage.trees import MOST_SUMS
from extremal.optimize.problem import Line, Problem, Solution, decimal, lines_of
from extremal.optimize.rational_matrix import FINE
from extremal.optimize.table import SIZES
from extremal.optimize.tokens import BRANCH
from extremal.privacy import LDP, LIP, PML
from extremal.privacy.cones.lift import LiftBox, lift_box
from extremal.sources import SourceClass
from extremal.tables import number
from extremal.utility import Divergence, MutualInformation, Utility

MOST_COMPARED = 300  # inputs: beyond, randomised response as a dense matrix and the worst prior are left out
NEARBY = 0.01  # total variation, for the sentence about wrong priors
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
    found = _uniform(problem, privacy) if own and isinstance(privacy, PML) else None
    if found is not None:
        return found
    box = lift_box(privacy)
    if box.is_simplex and box.n <= SIZES.simplex:
        return simplex(problem, privacy, box, own)
    if isinstance(utility, Divergence):
        merged = merging.divergence(problem, privacy, box, utility)
        return merged or divergence.solve(problem, privacy, box, utility)
    if own:
        return _information(problem, privacy, box)
    if isinstance(utility, MutualInformation) and box.n > SIZES.lifts:
        return other_prior.solve(problem, privacy, box, utility)
    return _listed(problem, privacy, box)


def _uniform(problem: Problem, privacy: PML) -> Solution | None:
    """The closed form of a uniform prior (GSO Theorem 4); None for any other, and where weights do not reach it."""
    if len(set(privacy.prior.weights)) > 1:
        return None
    mechanism = pml_uniform(privacy.k, privacy.exponential.exponent or privacy.epsilon, inputs=problem.inputs)
    return _symmetric(mechanism, privacy, problem.utility) if mechanism.privacy == privacy else None


def _information(problem: Problem, privacy: PML | LIP, box: LiftBox) -> Solution:
    """By search; lift vectors are listed too where it bounds a value far below ε, at times badly or not at all."""
    found = merging.information(problem, privacy, box) or information.solve(problem, privacy, box)
    if (privacy.epsilon < FINE and box.n <= SIZES.few_lifts) or (not found.proofs and box.n <= SIZES.lifts):
        found = replace(found, proofs=(*found.proofs, *over_lifts(problem, privacy, box).proofs))
    return found


def _listed(problem: Problem, privacy: PML | LIP, box: LiftBox) -> Solution:
    if box.n <= SIZES.lifts:
        return over_lifts(problem, privacy, box)
    raise InvalidParameter(
        f"{problem.utility.name} under {privacy.name} is solved over all extreme lift vectors, for at most "
        f"{SIZES.lifts} inputs of positive probability",
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
    proofs: tuple[Dual, ...] = ()
    for spare in SPARE:
        total = decimal(worth * (1 + spare))
        proof = Dual(rounded([total / k]) * k, Sets((total,), (tree,)))
        try:
            proof.bound(privacy, utility)
        except Refused:
            continue
        proofs = (proof,)
        break
    return Solution(mechanism, worth, "closed form: uniform prior (GSO Theorem 4)", proofs)


@dataclass(frozen=True, eq=False)
class LeakageNotes:
    """The notes of a design under PML or LIP with one prior, made when one is asked for."""

    mechanism: Mechanism
    utility: Utility

    @cached_property
    def lines(self) -> tuple[str, ...]:
        mechanism, claim = self.mechanism, self.mechanism.privacy
        if not isinstance(claim, (PML, LIP)) or not claim.epsilon:
            return ()
        found = _regions(mechanism, claim) if isinstance(claim, PML) else ()
        if mechanism.k > MOST_COMPARED:
            return found
        return (*found, *_randomized_response(claim, self.utility), *_wrong_prior(mechanism, claim))


def notes(mechanism: Mechanism, utility: Utility) -> tuple[Line, ...]:
    return lines_of(LeakageNotes(mechanism, utility), 5)


def _regions(mechanism: Mechanism, claim: PML) -> tuple[str, ...]:
    prior, epsilon, here = claim.prior, claim.epsilon, claim.region
    largest_first = sorted((w for w in prior.weights if w), reverse=True)
    count, most = len(largest_first), claim.epsilon_max
    if epsilon >= most:
        return (f"nothing needs to be hidden: ε is above ε_max = {number(most)} of this prior",)
    start = level_of_ratio(prior.total, sum(largest_first[: count - here + 1]))
    stop = level_of_ratio(prior.total, sum(largest_first[: count - here])) if here < count else most
    excluded = "no input" if here == 1 else f"at most {here - 1} of the {count} inputs"
    certain = [x for x, w in enumerate(prior.weights) if w and claim.exponential.at_least(prior.total, w)]
    names = ", ".join(str(mechanism.inputs[x]) for x in certain[:6]) + (
        f" and {len(certain) - 6} more" if len(certain) > 6 else ""
    )
    return (
        f"region {here} of {count} (ε from {number(start)} to {number(stop)}): a report may rule out {excluded}",
        f"inputs that a report may name with certainty (probability at least e^−ε): {names or 'none'}",
        f"from ε_max = {number(most)} on nothing needs to be hidden",
    )


def _randomized_response(claim: PML | LIP, utility: Utility) -> tuple[str, ...]:
    if isinstance(claim, LIP):
        return ()
    leaks = randomized_response_leakage(claim.prior, claim.epsilon)
    first = f"randomised response at LDP ε = {number(claim.epsilon)} would leak {number(leaks)}"
    try:
        response = pml_randomized_response(claim.prior, claim.epsilon)
        return (
            (
                f"{first}; with the same leakage as here (LDP ε = {number(LDP(1).level(response))}) it keeps "
                f"{number(utility(response))}"
            ),
        )
    except InvalidParameter:  # from ε_max on there is none
        return (first,)


def _wrong_prior(mechanism: Mechanism, claim: PML | LIP) -> tuple[str, ...]:
    level = PML(1, claim.prior).level(mechanism, prior=SourceClass.ball(claim.prior, NEARBY))
    return (
        (
            f"the promise is about this prior: if the true one is off by {NEARBY:g} in total variation, up to "
            f"{number(level)} leaks"
        ),
    )
