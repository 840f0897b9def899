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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from extremal.columns.column import distinct
from extremal.columns.frames import is_frame, pick
from extremal.errors import InvalidParameter, NotIdentified, TooLarge
from extremal.estimate.channels import channel_of
from extremal.estimate.chosen import ChosenEstimate, estimate_chosen
from extremal.estimate.methods.combinations import Combinations, row_prior
from extremal.estimate.methods.likelihood import project_onto_simplex
from extremal.estimate.methods.shrinkage import shrunk
from extremal.estimate.methods.smoothing import smoothed
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.tally import FEWEST, Reports, Tally
from extremal.estimate.results.combined import StratifiedEstimate
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.fit import Fit, Observed
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_text

METHODS = ("unbiased", "mle", "projected", "shrunk", "smooth")

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
    reports: Any, mechanism: Mechanism, *, labels: Sequence[Any], column: str | None = None
) -> ChosenEstimate: ...
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
    labels: Sequence[Any] | None = None,
) -> FrequencyEstimate | StratifiedEstimate | ChosenEstimate:
    """Estimate how frequent each input is, with intervals.

    Guarantee: with method="unbiased", E estimate = p exactly. Where the count behind a cell is binomial (randomised
    response, subset selection, every yes/no question) intervals hold with at least their level for every p and n;
    elsewhere they are score intervals, of their level in large samples. `result.exact` says which.

    Args:
        reports: raw reports (a list, array, series or Arrow column), a data frame with `column`, a mapping from report
            to count, or the path of a file written by `extremal privatize` (or a list of `Path`s), which is streamed.
        mechanism: what made the reports.
        method: "unbiased", "mle", "projected", "shrunk" or "smooth".
        column: the column of reports in a data frame or file.
        by: groups that are estimated each by itself: a column, its name, or a list of names.
        counts: True: `reports` are counts, a pandas series with the outputs as its index, or a number for each output
            in their order. A name: the column of a data frame that says how often each row's report occurred.
        prior: a guess of the frequencies, equal ones if not given. It only sets the weights of least squares when there
            are more outputs than inputs; the estimate is unbiased whatever it is.
        merge: estimate the combinations of inputs that are identified, where single ones are not.
        check_hash: refuse a file that does not record this mechanism's hash.
        missing: what to do with missing reports: "refuse", "drop" (the number is noted), or "category": one more
            answer, "(missing)", which is not randomised.
        weights, strata, cluster, population: how the respondents were sampled, or all of it in one value: `sample`.
        sample: an `extremal.estimate.Sample`, which explains them.
        labels: estimate these alone, from reports of local hashing on too many labels for all of them; the only other
            option is `column` then.

    Returns:
        FrequencyEstimate; with `by`, a mapping from group to FrequencyEstimate; with `labels`, a ChosenEstimate.

    Raises:
        InvalidParameter: fewer than two reports, weights that are not positive, a missing report or column.
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
    _refuse_other_words(method=method, missing=missing)
    if labels is not None:
        options = (by, prior, sample, weights, strata, cluster, population)
        _refuse_beside_labels(options, (method, missing, counts, merge), len(labels))
        return estimate_chosen(reports, mechanism, labels, column)
    drawn = Sample.of(sample, weights=weights, strata=strata, cluster=cluster, population=population)
    given = Reports(reports, mechanism, column, by, counts, missing == "drop", check_hash)
    return _estimate(given, drawn, method, prior, merge, missing == "category")


def _refuse_other_words(**given: str) -> None:
    known = {"method": METHODS, "missing": MISSING}
    for parameter, value in given.items():
        if value not in known[parameter]:
            words = ", ".join(known[parameter])
            raise InvalidParameter(f"{parameter} must be one of {words}", parameter=parameter, value=value)


def _refuse_beside_labels(options: tuple[Any, ...], words: tuple[Any, ...], count: int) -> None:
    if any(option is not None for option in options) or words != ("unbiased", "refuse", False, False):
        raise InvalidParameter("with labels only `column` can be given", parameter="len(labels)", value=count)


def _estimate(
    given: Reports, sample: Sample, method: str, prior: Any, merge: bool, silence: bool
) -> FrequencyEstimate | StratifiedEstimate:
    """An estimate, or one for each group; `silence` makes missing reports an answer."""
    if silence:
        given, sample = _with_missing(given), sample.beside(given.source)
    mechanism, channel = given.mechanism, channel_of(given.mechanism)
    tallies = given.sampled(channel, sample)
    combinations = Combinations.inputs(mechanism, channel, merge)
    start = row_prior(mechanism, prior)
    small = refuse_too_few(tallies)
    kept = {name: Observed.of(channel, found) for name, found in tallies.items() if name not in small}
    found = StratifiedEstimate({name: estimated(combinations, o, method, start) for name, o in kept.items()}, small)
    return found[None] if given.by is None else found


def refuse_too_few(tallies: Mapping[Any, Tally]) -> dict[Any, int]:
    """The strata with too few reports for an estimate; raises when all have too few."""
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


def _with_missing(given: Reports) -> Reports:
    """Missing reports as an answer of their own: the mechanism with one more input that always reports itself."""
    reports, mechanism = given.source, given.mechanism
    if given.counts or isinstance(reports, Mapping):
        raise InvalidParameter("counts hold no missing reports", parameter="missing", value="category")
    codes, labels = distinct(pick(reports, given.column, "column") if is_frame(reports) else reports, "reports")
    named = [*labels, MISSING_LABEL]
    try:
        matrix = mechanism.matrix
    except TooLarge:
        raise TooLarge(
            "missing reports can be an answer only beside reports that can be listed",
            parameter="m",
            value=count_text(mechanism.m),
            hint='Use missing="drop", and multiply by the share of those who reported.',
        ) from None
    wider = np.zeros((matrix.shape[0] + 1, matrix.shape[1] + 1))
    wider[:-1, :-1], wider[-1, -1] = matrix, 1.0
    answering = Mechanism.from_matrix(
        wider, inputs=[*mechanism.inputs, MISSING_LABEL], outputs=[*mechanism.outputs, MISSING_LABEL]
    )
    listed = [named[code] for code in np.where(codes < 0, len(labels), codes).tolist()]
    return replace(given, source=listed, mechanism=answering, column=None, by=given.groups())


def estimated(
    combinations: Combinations, observed: Observed, method: str, prior: Floats, reweighted: bool = False
) -> FrequencyEstimate:
    """The answer of a method; `reweighted`, with least squares weighted for the shares that are found."""
    if combinations.deficient and method not in ("unbiased", "mle"):
        raise NotIdentified(
            f"{method} needs every row of the mechanism to be identified",
            parameter="method",
            value=method,
            hint="Use mle.",
        )
    fit = Fit.of(combinations, observed, prior, efficient=method == "mle")
    fit = fit.reweighted() if reweighted and method != "mle" else fit
    return FrequencyEstimate.of(fit, method, _points(method, fit))


def _points(method: str, fit: Fit) -> Floats:
    if method == "mle" and fit.likeliest is not None:
        return fit.likeliest
    if method == "projected":
        return project_onto_simplex(fit.unbiased)
    if method == "shrunk":
        return shrunk(fit)[0]
    if method == "smooth":
        return smoothed(fit)
    return fit.centre
