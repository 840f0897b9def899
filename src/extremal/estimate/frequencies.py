"""Frequencies of the true values from randomised reports.

With f the frequencies of the reports, E f = Qᵀp. Five answers:

* unbiased: p̂ = Lf with LQᵀ = I, by generalised least squares (the inverse when Q is square). E p̂ = p for every n and
  p; entries may fall outside [0, 1], and are reported as they are.
* mle: the p on the simplex of largest likelihood, for points; intervals stand around the sign-free one-step estimate
  p̃ = J⁻¹QD⁻¹f, J = QD⁻¹Qᵀ, D = diag(Qᵀp°), because standard errors of a maximiser on the boundary are not to be
  trusted. p° is the maximiser with every entry raised to the smaller of 1/k and the unbiased estimate's standard
  error: a report that the maximiser calls impossible would otherwise get an infinite weight.
* projected: the point of the simplex nearest to the unbiased estimate; intervals are those of the unbiased one.
* shrunk: empirical Bayes, for tables of many cells (`methods.shrinkage`); intervals of the unbiased one.
* smooth: EM with smoothing, for ordered inputs (`methods.smoothing`); intervals of the unbiased one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from extremal.columns.column import distinct
from extremal.columns.frames import is_frame, pick
from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.channels import channel_of
from extremal.estimate.methods.combinations import Combinations, row_prior
from extremal.estimate.methods.likelihood import project_onto_simplex
from extremal.estimate.methods.shrinkage import shrunk
from extremal.estimate.methods.smoothing import smoothed
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.tally import Reports, Tally
from extremal.estimate.results.combined import StratifiedEstimate
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.fit import Fit, Observed
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

METHODS = ("unbiased", "mle", "projected", "shrunk", "smooth")
FEWEST = 2  # reports: one says nothing about its own spread

Method = Literal["unbiased", "mle", "projected", "shrunk", "smooth"]
MISSING = ("refuse", "drop", "category")
MISSING_LABEL = "(missing)"


class Options(TypedDict, total=False):
    """The keywords of `estimate_frequencies` that do not change what it returns."""

    column: str | None
    counts: bool | str
    missing: str
    check_hash: bool
    sample: Sample | None
    weights: Any
    strata: Any
    cluster: Any
    population: Any
    prior: Any
    merge: bool


@overload
def estimate_frequencies(
    reports: Any, mechanism: Mechanism, method: Method = ..., *, by: None = None, **options: Unpack[Options]
) -> FrequencyEstimate: ...
@overload
def estimate_frequencies(
    reports: Any, mechanism: Mechanism, method: Method = ..., *, by: Any, **options: Unpack[Options]
) -> StratifiedEstimate: ...
def estimate_frequencies(
    reports: Any,
    mechanism: Mechanism,
    method: Method = "unbiased",
    *,
    column: str | None = None,
    weights: Any = None,
    by: Any = None,
    counts: bool | str = False,
    prior: Any = None,
    merge: bool = False,
    check_hash: bool = True,
    missing: str = "refuse",
    strata: Any = None,
    cluster: Any = None,
    population: Any = None,
    sample: Sample | None = None,
) -> FrequencyEstimate | StratifiedEstimate:
    """How frequent is each input, judging by the reports?

    Guarantee: with method="unbiased", E estimate = p exactly. Where the count behind a cell is binomial (randomised
    response, subset selection, every yes/no question) intervals hold with at least their level for every p and n;
    elsewhere they are score intervals, of their level in large samples. `result.exact` says which.

    Args:
        reports: raw reports (a list, array, series or Arrow column), a data frame with `column`, a mapping from report
            to count, or the path of a file written by `extremal privatize` (or a list of `Path`s), which is streamed
            and its mechanism hash checked.
        mechanism: what made the reports.
        method: "unbiased", "mle", "projected", "shrunk" or "smooth".
        column: the column of reports in a data frame or file.
        weights: a positive survey weight for each report, or the name of its column. Standard errors are those of the
            weighted mean.
        by: strata: a column, its name, or a list of names. Each stratum is estimated by itself.
        counts: True: `reports` are counts, a pandas series with the outputs as its index, or m numbers in the order of
            the mechanism's outputs. A name: the column of a data frame that says how often each row's report occurred.
        prior: a guess of the frequencies. It only sets the weights of least squares when there are more outputs than
            inputs; the estimate is unbiased whatever it is. Equal frequencies if not given.
        merge: where the mechanism does not tell inputs apart, estimate the combinations that it does identify, instead
            of raising.
        check_hash: refuse a file that does not record this mechanism's hash.
        missing: what to do with missing reports: "refuse", "drop" (the number is noted), or "category": one more
            answer, "(missing)", which is not randomised.
        strata: how the sample was stratified: a column or its name. Unlike `by` this changes only standard errors
            (and, with `population`, weights).
        cluster: who was sampled together: a column or its name. Standard errors are those between clusters.
        population: the size of the population, or a mapping from stratum to size: a finite population correction, and
            weights N_h/n_h when there are strata and no weights.
        sample: an `extremal.estimate.Sample`, which says all of weights, strata, cluster and population.

    Returns:
        FrequencyEstimate; with `by`, a mapping from stratum to FrequencyEstimate.

    Raises:
        InvalidParameter: fewer than two reports, weights that are not positive, a missing report, a column that is not
            there.
        UnknownLabel: a report that the mechanism never makes.
        NotIdentified: the reports do not determine every frequency; the message says what they determine.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    >>> result = ex.estimate_frequencies(["no"] * 600 + ["yes"] * 400, m)
    >>> result.estimate.round(3).tolist(), result.interval(0.95).round(2).tolist()
    ([0.716, 0.284], [[0.65, 0.78], [0.22, 0.35]])

    References: Warner (1965); Chaudhuri and Mukerjee, Randomized Response (1988), for the inverse; Kairouz, Bonawitz,
    Ramage (ICML 2016).
    """
    _refuse_unknown(method, mechanism, missing)
    drawn = Sample.of(sample, weights=weights, strata=strata, cluster=cluster, population=population)
    if missing == "category":
        reports, mechanism = _with_missing(reports, mechanism, column, counts)
        column = None
    channel = channel_of(mechanism)
    given = Reports(reports, mechanism, column, by, counts, missing == "drop", check_hash)
    if drawn.simple:
        tallies = given.tallies(channel, drawn.weights)
    elif by is None:
        tallies = {None: given.sampled(channel, drawn)}
    else:
        raise InvalidParameter(
            "by cannot be combined with strata, cluster or population",
            parameter="by",
            hint="Estimate each group of rows by itself.",
        )
    combinations = Combinations.inputs(mechanism, channel, merge)
    start = row_prior(mechanism, prior)
    small = _too_small(tallies)
    estimates = {
        name: _estimate(combinations, Observed.of(channel, found), method, start)
        for name, found in tallies.items()
        if name not in small
    }
    return estimates[None] if by is None else StratifiedEstimate(estimates, small)


def _refuse_unknown(method: str, mechanism: object, missing: str) -> None:
    if method not in METHODS:
        raise InvalidParameter(f"method must be one of {', '.join(METHODS)}", parameter="method", value=method)
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "mechanism must be a Mechanism",
            parameter="mechanism",
            value=type(mechanism).__name__,
            hint="Mechanism.from_matrix makes one of a matrix, ex.load reads one from a file.",
        )
    if missing not in MISSING:
        raise InvalidParameter(f"missing must be one of {', '.join(MISSING)}", parameter="missing", value=missing)


def _too_small(tallies: Mapping[Any, Tally]) -> dict[Any, int]:
    """The strata with too few reports for an estimate; raises when all have."""
    small = {name: found.n for name, found in tallies.items() if found.n < FEWEST}
    if len(small) == len(tallies):
        name, n = next(iter(small.items()))
        raise InvalidParameter(
            f"there must be at least two reports{'' if name is None else ' in some stratum'}: one says nothing about "
            "its own spread",
            parameter="number of reports",
            value=n,
        )
    return small


def _with_missing(reports: Any, mechanism: Mechanism, column: str | None, counts: bool | str) -> tuple[Any, Mechanism]:
    """Missing reports as an answer of their own: the mechanism with one more input that always reports itself."""
    if counts or isinstance(reports, Mapping):
        raise InvalidParameter("counts hold no missing reports", parameter="missing", value="category")
    values = pick(reports, column, "column") if is_frame(reports) else reports
    codes, labels = distinct(values, "reports")
    named = [*labels, MISSING_LABEL]
    matrix = mechanism.matrix
    wider = np.zeros((matrix.shape[0] + 1, matrix.shape[1] + 1))
    wider[:-1, :-1], wider[-1, -1] = matrix, 1.0
    return [named[code] for code in np.where(codes < 0, len(labels), codes).tolist()], Mechanism.from_matrix(
        wider, inputs=[*mechanism.inputs, MISSING_LABEL], outputs=[*mechanism.outputs, MISSING_LABEL]
    )


def _estimate(combinations: Combinations, observed: Observed, method: str, prior: Floats) -> FrequencyEstimate:
    if combinations.deficient and method not in ("unbiased", "mle"):
        raise NotIdentified(
            f"{method} needs every row of the mechanism to be identified",
            parameter="method",
            value=method,
            hint="Use mle.",
        )
    fit = Fit.of(combinations, observed, prior, efficient=method == "mle")
    return FrequencyEstimate.of(fit, method, _points(method, fit))


def _points(method: str, fit: Fit) -> Floats:
    if method == "mle" and fit.likeliest is not None:
        return fit.likeliest
    if method == "projected":
        return project_onto_simplex(fit.unbiased)
    if method == "shrunk":
        return shrunk(fit)
    if method == "smooth":
        return smoothed(fit)
    return fit.centre
