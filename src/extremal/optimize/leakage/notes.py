"""What a leakage level means, in sentences for people: region, what a report may name, ε_max, randomised response."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from extremal.closed_forms import pml_randomized_response
from extremal.closed_forms.leakage import randomized_response_leakage
from extremal.errors import InvalidParameter
from extremal.exact import level_of_ratio
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Line, lines_of
from extremal.privacy import LDP, LIP, PML
from extremal.sources import SourceClass
from extremal.tables import number
from extremal.utility import Utility

MOST_INPUTS = 300  # beyond, randomised response as a dense matrix and the worst prior are left out
NEARBY = 0.01  # total variation, for the sentence about wrong priors


@dataclass(frozen=True, eq=False)
class Notes:
    """The notes of a design under PML or LIP with one prior, made when one is asked for."""

    mechanism: Mechanism
    utility: Utility

    @cached_property
    def lines(self) -> tuple[str, ...]:
        mechanism, claim = self.mechanism, self.mechanism.privacy
        if not isinstance(claim, (PML, LIP)) or not claim.epsilon:
            return ()
        found = _regions(mechanism, claim) if isinstance(claim, PML) else ()
        if mechanism.k > MOST_INPUTS:
            return found
        return (*found, *_randomized_response(claim, self.utility), *_wrong_prior(mechanism, claim))


def notes(mechanism: Mechanism, utility: Utility) -> tuple[Line, ...]:
    return lines_of(Notes(mechanism, utility), 5)


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
