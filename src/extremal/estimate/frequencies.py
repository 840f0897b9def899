"""Frequencies of the true values from randomised reports.

With f the frequencies of the reports, E f = Qᵀp. Three answers:

* unbiased: p̂ = Lf with LQᵀ = I, by generalised least squares (the inverse when Q is square). E p̂ = p for every n and
  p; entries may fall outside [0, 1], and are reported as they are.
* mle: the p on the simplex of largest likelihood, for points; intervals stand around the sign-free one-step estimate
  p̃ = Ĵ⁻¹QD̂⁻¹f, Ĵ = QD̂⁻¹Qᵀ, D̂ = diag(Qᵀp̂), because standard errors of a maximiser on the boundary are not to be
  trusted.
* projected: the point of the simplex nearest to the unbiased estimate; intervals are those of the unbiased one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

import numpy as np

from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import Channel, Floats
from extremal.estimate.combinations import Combinations
from extremal.estimate.likelihood import project_onto_simplex
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.fit import Fit
from extremal.estimate.results.stratified import StratifiedEstimate
from extremal.estimate.tally import Tally, tally
from extremal.exact import as_prior
from extremal.mechanism import Mechanism

METHODS = ("unbiased", "mle", "projected")
TOLERANCE = 1e-10
"""Mean log-likelihood that a maximum likelihood estimate may miss: far below the 1/n by which it is uncertain."""

Method = Literal["unbiased", "mle", "projected"]


@overload
def estimate_frequencies(
    reports: Any,
    mechanism: Mechanism,
    method: Method = ...,
    *,
    column: str | None = ...,
    weights: Any = ...,
    by: None = ...,
    counts: bool = ...,
    prior: Any = ...,
    merge: bool = ...,
    check_hash: bool = ...,
) -> FrequencyEstimate: ...
@overload
def estimate_frequencies(
    reports: Any,
    mechanism: Mechanism,
    method: Method = ...,
    *,
    column: str | None = ...,
    weights: Any = ...,
    by: Any,
    counts: bool = ...,
    prior: Any = ...,
    merge: bool = ...,
    check_hash: bool = ...,
) -> StratifiedEstimate: ...
def estimate_frequencies(
    reports: Any,
    mechanism: Mechanism,
    method: Method = "unbiased",
    *,
    column: str | None = None,
    weights: Any = None,
    by: Any = None,
    counts: bool = False,
    prior: Any = None,
    merge: bool = False,
    check_hash: bool = True,
) -> FrequencyEstimate | StratifiedEstimate:
    """How frequent is each input, judging by the reports?

    Guarantee: with method="unbiased", E estimate = p exactly. The intervals are normal approximations, asymptotically
    of their level for every p, zeros included.

    Args:
        reports: raw reports (a list, array, series or Arrow column), a data frame with `column`, a mapping from report
            to count, or the path of a file written by `extremal privatize` (or a list of `Path`s), which is streamed
            and its mechanism hash checked.
        mechanism: what made the reports.
        method: "unbiased", "mle" or "projected".
        column: the column of reports in a data frame or file.
        weights: a positive survey weight for each report, or the name of its column. Standard errors are those of the
            weighted mean.
        by: strata: a column, its name, or a list of names. Each stratum is estimated by itself.
        counts: `reports` are m counts, in the order of `mechanism.outputs`.
        prior: a guess of the frequencies. It only sets the weights of least squares when there are more outputs than
            inputs; the estimate is unbiased whatever it is. Equal frequencies if not given.
        merge: where the mechanism does not tell inputs apart, estimate the combinations that it does identify, instead
            of raising.
        check_hash: refuse a file that does not record this mechanism's hash.

    Returns:
        FrequencyEstimate; with `by`, a mapping from stratum to FrequencyEstimate.

    Raises:
        InvalidParameter: fewer than two reports, weights that are not positive, a missing report, a column that is not
        there. UnknownLabel: a report that the mechanism never makes. NotIdentified: the reports do not determine every
        frequency; the message says what they determine.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    >>> result = ex.estimate_frequencies(["no"] * 600 + ["yes"] * 400, m)
    >>> result.estimate.round(3).tolist(), result.interval(0.95).round(2).tolist()
    ([0.716, 0.284], [[0.65, 0.78], [0.22, 0.35]])

    References: Warner (1965); Chaudhuri and Mukerjee, Randomized Response (1988), for the inverse; Kairouz, Bonawitz,
    Ramage (ICML 2016).
    """
    if method not in METHODS:
        raise InvalidParameter(f"method must be one of {', '.join(METHODS)}", parameter="method", value=method)
    given: object = mechanism
    if not isinstance(given, Mechanism):
        hint = "Mechanism.from_matrix makes one of a matrix, ex.load reads one from a file."
        raise InvalidParameter(
            "mechanism must be a Mechanism", parameter="mechanism", value=type(given).__name__, hint=hint
        )
    channel = channel_of(mechanism)
    tallies = tally(
        reports, mechanism, channel, column=column, weights=weights, by=by, counts=counts, check_hash=check_hash
    )
    combinations = Combinations.of(mechanism, channel)
    if not combinations.plain:
        _refuse(mechanism, combinations, merge)
    start = _row_prior(mechanism, prior)
    estimates = {
        name: _estimate(mechanism, channel, combinations, found, method, start, name) for name, found in tallies.items()
    }
    return estimates[None] if by is None else StratifiedEstimate(estimates)


def _refuse(mechanism: Mechanism, combinations: Combinations, merge: bool) -> None:
    if combinations.count == 1:
        raise NotIdentified(
            "the reports must depend on the input: every input of this mechanism makes the same reports",
            parameter="k",
            value=mechanism.k,
        )
    if not merge:
        names = combinations.names[:6]
        more = f" and {combinations.count - 6} more" if combinations.count > 6 else ""
        raise NotIdentified(
            f"the reports do not determine every frequency, only {combinations.count} combinations of the "
            f"{mechanism.k}: "
            f"{', '.join(str(name) for name in names)}{more}",
            hint="Pass merge=True to estimate these.",
        )


def _row_prior(mechanism: Mechanism, prior: Any) -> Floats:
    """The prior of the rows: uniform over inputs unless given."""
    r = mechanism.row_classes
    if prior is None:
        sizes = np.ones(r) if mechanism.row_of is None else np.bincount(mechanism.row_of, minlength=r)
        return np.asarray(sizes / sizes.sum())
    values = as_prior(prior, k=mechanism.k).values
    return (
        values
        if mechanism.row_of is None
        else np.asarray(np.bincount(mechanism.row_of, weights=values, minlength=r), dtype=np.float64)
    )


def _estimate(
    mechanism: Mechanism,
    channel: Channel,
    combinations: Combinations,
    found: Tally,
    method: str,
    prior: Floats,
    stratum: Hashable,
) -> FrequencyEstimate:
    if found.n < 2:
        where = "" if stratum is None else f" in stratum {stratum!r}"
        raise InvalidParameter(
            f"there must be at least two reports{where}: one says nothing about its own spread",
            parameter="number of reports",
            value=found.n,
        )
    statistic = channel.statistic(*found.shares())
    squared = channel.statistic(*found.shares(squared=True)) if found.weights else statistic
    inverse = channel.inverse(prior)
    centre, deficit = inverse.apply(statistic), None
    unbiased = centre
    if method == "mle" or combinations.deficient:
        plausible, deficit = channel.maximum_likelihood(statistic, TOLERANCE)
        spread = channel.maximum_likelihood(squared, TOLERANCE)[0] if found.weights else plausible
    else:
        plausible = project_onto_simplex(centre)
        spread = project_onto_simplex(inverse.apply(squared)) if found.weights else plausible
    efficient = inverse
    if method == "mle":
        efficient = channel.inverse(plausible)
        centre = efficient.apply(statistic)
    if method == "projected" and combinations.deficient:
        raise NotIdentified(
            "a projection needs every row of the mechanism to be identified",
            parameter="method",
            value=method,
            hint="Use mle.",
        )
    fit = Fit(
        mechanism=mechanism,
        channel=channel,
        combinations=combinations,
        statistic=statistic,
        unbiased_inverse=inverse,
        unbiased=unbiased,
        inverse=efficient,
        plausible=plausible,
        spread=spread,
        effective_n=found.effective_n,
        weighted=bool(found.weights),
        distinct=len(found.counts),
    )
    points = {"unbiased": centre, "mle": plausible, "projected": plausible}[method]
    return FrequencyEstimate(
        inputs=combinations.names,
        estimate=combinations.of_rows(points),
        centre=combinations.of_rows(centre),
        n=found.n,
        method=method,
        deficit=deficit if method == "mle" else None,
        fit=fit,
    )
