"""What a leakage level means, in sentences for people: region, what a report may name, ε_max, randomised response."""

from __future__ import annotations

from extremal.closed_forms import pml_randomized_response
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.privacy import LDP, LIP, PML
from extremal.sources import SourceClass
from extremal.tables import number
from extremal.theory.leakage import pml_regions, randomized_response_leakage
from extremal.utility import Utility

MOST_INPUTS = 300  # beyond, randomised response as a dense matrix and the worst prior are left out
NEARBY = 0.01  # total variation, for the sentence about wrong priors


def sentences(mechanism: Mechanism, utility: Utility) -> tuple[str, ...]:
    """The notes of a design under PML or LIP with one prior."""
    claim = mechanism.privacy
    if not isinstance(claim, (PML, LIP)) or not claim.epsilon:
        return ()
    found = _regions(mechanism, claim) if isinstance(claim, PML) else ()
    if mechanism.k > MOST_INPUTS:
        return found
    return (*found, *_randomized_response(claim, utility), *_wrong_prior(mechanism, claim))


def _regions(mechanism: Mechanism, claim: PML) -> tuple[str, ...]:
    regions, epsilon = pml_regions(claim.prior), claim.epsilon
    last = regions.regions[-1].number
    if epsilon >= regions.epsilon_max:
        return (f"nothing needs to be hidden: ε is above ε_max = {number(regions.epsilon_max)} of this prior",)
    here = regions.at(epsilon)
    excluded = "no input" if here.number == 1 else f"at most {here.number - 1} of the {last} inputs"
    named = [str(mechanism.inputs[x]) for x in regions.disclosed(epsilon)[:6]]
    more = len(regions.disclosed(epsilon)) - len(named)
    certain = ", ".join(named) + (f" and {more} more" if more > 0 else "") if named else "none"
    return (
        f"region {here.number} of {last} (ε from {number(here.start)} to {number(here.stop)}): a report may rule out {excluded}",
        f"inputs that a report may name with certainty (probability at least e^−ε): {certain}",
        f"from ε_max = {number(regions.epsilon_max)} on nothing needs to be hidden",
    )


def _randomized_response(claim: PML | LIP, utility: Utility) -> tuple[str, ...]:
    if isinstance(claim, LIP):
        return ()
    leaks = randomized_response_leakage(claim.prior, claim.epsilon)
    first = f"randomised response at LDP ε = {number(claim.epsilon)} would leak {number(leaks)}"
    try:
        response = pml_randomized_response(claim.prior, claim.epsilon)
        return (f"{first}; with the same leakage as here (LDP ε = {number(LDP(1).level(response))}) it keeps {number(utility(response))}",)
    except InvalidParameter:  # from ε_max on there is none
        return (first,)


def _wrong_prior(mechanism: Mechanism, claim: PML | LIP) -> tuple[str, ...]:
    level = PML(1, claim.prior).level(mechanism, prior=SourceClass.ball(claim.prior, NEARBY))
    return (f"the promise is about this prior: if the true one is off by {NEARBY:g} in total variation, up to {number(level)} leaks",)
