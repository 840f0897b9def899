"""`regress`: a regression in which the outcome, a covariate, or both are reports of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from extremal.columns.frames import refuse_absent
from extremal.errors import InvalidParameter
from extremal.estimate.hypothesis_tests.reports import coded, refuse_uncountable
from extremal.estimate.regression.likelihood import Hidden, Likelihood
from extremal.estimate.regression.maximum import maximised, refuse_dependent
from extremal.estimate.regression.model_matrix import ModelMatrix, as_table, refuse_gaps, sides, without_unused
from extremal.estimate.regression.outcomes import Linear, OutcomeFamily, Polytomous, ProportionalOdds
from extremal.estimate.regression.result import RegressionResult
from extremal.estimate.regression.sandwich import covariance, degrees
from extremal.estimate.reports.counts import refuse_counted_rows
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.sampling import DrawnSample
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.tables import shortened

MOST_NAMED = 60  # characters of the levels that a note names
ENOUGH = 100  # answers: with 46 worth, 95% limits covered 91%, with 13 they covered 64%
FAMILIES = ("categorical", "ordered", "linear")


def regress(
    formula: str,
    frame: Any,
    mechanism: Mechanism | Mapping[str, Mechanism],
    weights: Any = None,
    *,
    family: str | None = None,
    robust: bool = False,
    sample: Sample | None = None,
) -> RegressionResult:
    """Fit a regression on privatised answers, by maximum likelihood through the mechanism.

    P(report y_i) = Σ_x Q(y_i|x)·P(x | covariates_i; β): fitting the reports as if they were answers shrinks every
    coefficient, this does not. A privatised covariate is summed out in the same way (`likelihood`).

    Args:
        formula: as in R, `"answer ~ age + C(region)"` (parsed by formulaic); a name with dots or blanks in backticks.
        frame: a data frame (pandas, polars, pyarrow).
        mechanism: the mechanism of the outcome; or column → mechanism, for the outcome, one covariate, or both. Whole
            numbers as inputs are numbers in the formula, C(name) makes them categories.
        weights: survey weights, a column or its name; standard errors are then robust.
        family: "categorical" (logistic, or multinomial logit with the first input as baseline), "ordered" (proportional
            odds, in the order of the inputs), "linear" (the default for public numbers with more than two values).
        robust: sandwich standard errors, valid if the model is only an approximation.
        sample: an `ex.Sample`: weights, strata, clusters and the rest; standard errors are then robust between clusters
            within strata, at least those of the known noise of randomisation, and intervals use Student's distribution
            with at most clusters − strata + 1 − terms degrees of freedom: fewer where few clusters tell about a
            coefficient. Where none are left, p-values and limits are not numbers, and a note says so.

    Guarantee: coefficients and standard errors are those of the likelihood of the reports; a flat likelihood or one
    that rises for ever is an error that names the terms. Of several maxima of a mixture the one found is that which
    Newton's method reaches from equal probabilities.

    Raises:
        NotIdentified: the reports do not determine the coefficients, or the data separate.
        InvalidParameter: a column that is not there, a missing value, a term that cannot be evaluated.

    Reference: Scheers and Dayton (JASA 83, 1988) for the binary case; White (1982) for robust standard errors; Bell
    and McCaffrey (Survey Methodology 28, 2002) for few clusters.

    >>> import numpy as np, pandas as pd, extremal as ex
    >>> z = np.tile([-1.0, 0.0, 1.0], 400)
    >>> m = ex.randomized_response(2, 2, inputs=["no", "yes"])
    >>> frame = pd.DataFrame({"z": z, "answer": np.where(np.arange(1200) % 5 < 2 + z, "yes", "no")})
    >>> bool(ex.regress("answer ~ z", frame, m).params["z"] > 0.5)
    True
    """
    given = Sample.of(sample, weights=weights)
    table, unused = without_unused(as_table(frame))
    left, right = sides(formula)
    mechanisms = _by_column(mechanism, left, list(table.columns))
    covariates = [name for name in mechanisms if name != left]
    refuse_gaps(table, [left, *covariates])
    chosen = _family(family, table[left], mechanisms.get(left))
    hidden = (covariates[0], mechanisms[covariates[0]]) if covariates else None
    design = ModelMatrix.of(right, table, hidden, chosen == "ordered")
    drawn = given.beside(frame).drawn(len(table))
    read = _as_read(table, unused, dict.fromkeys([left, *design.columns]), mechanisms, drawn)
    outcome = _outcome(chosen, table[left], mechanisms.get(left), design.terms)
    likelihood = _likelihood(design, outcome, drawn.weights * (len(table) / drawn.weights.sum()), hidden, table)
    return RegressionResult(
        formula=formula,
        model=_title(chosen, likelihood.family),
        n=len(table),
        assumed=_notes(hidden, len(table), robust, not given.empty) + read,
        design_of=design.again,
        drawn_as="" if given.empty else drawn.units_in_words,
        **_fitted(likelihood, drawn, robust or not given.empty, mechanisms[left] if hidden is None else hidden[1]),
    )


def _fitted(likelihood: Likelihood, drawn: DrawnSample, robust: bool, made_by: Mechanism) -> dict[str, Any]:
    """The coefficients at the maximum, with their spread and what is left of freedom."""
    values, information = maximised(likelihood)
    freedom = None if drawn.plain else degrees(likelihood, values, information, drawn)
    return {
        "likelihood": likelihood,
        "names": likelihood.names,
        "values": values,
        "llf": likelihood.value(values),
        "spread": covariance(likelihood, values, information, drawn if robust else None, made_by.matrix),
        "degrees": freedom,
    }


def _likelihood(
    design: ModelMatrix, outcome: OutcomeFamily, weights: Floats, hidden: tuple[str, Mechanism] | None, table: Any
) -> Likelihood:
    """The likelihood of a model whose columns do not add up to each other."""
    refuse_dependent(design.matrices, design.terms)
    covariate = None
    if hidden is not None:
        refuse_dependent([design.given], design.given_terms)
        covariate = _hidden(*hidden, table, design.given, design.given_terms)
    return Likelihood(outcome, design.matrices, weights, covariate)


def _by_column(mechanism: Mechanism | Mapping[str, Mechanism], left: str, columns: list[Any]) -> dict[str, Mechanism]:
    """The mechanism of each column that has one: the outcome `left`, at most one covariate, or both."""
    mechanisms = dict(mechanism) if isinstance(mechanism, Mapping) else {left: mechanism}
    for name in dict.fromkeys([left, *mechanisms]):
        refuse_absent(name, columns, "outcome" if name == left else "mechanism")
    for name, one in mechanisms.items():
        refuse_uncountable(one, f"mechanism[{name!r}]" if isinstance(mechanism, Mapping) else "mechanism")
    covariates = [name for name in mechanisms if name != left]
    if len(covariates) > 1:
        raise InvalidParameter(
            "at most one covariate may be privatised",
            parameter="mechanism",
            value=covariates,
            hint="Report both together through one mechanism on pairs, or leave one out.",
        )
    if not mechanisms:
        raise InvalidParameter("some column must be privatised", parameter="mechanism", value={})
    return mechanisms


def _family(family: str | None, outcome: Any, mechanism: Mechanism | None) -> str:
    if family is not None and family not in FAMILIES:
        raise InvalidParameter(f"family must be one of {', '.join(FAMILIES)}", parameter="family", value=family)
    if mechanism is not None:
        if family == "linear":
            raise InvalidParameter(
                "a privatised outcome is categorical or ordered",
                parameter="family",
                value=family,
                hint="family='ordered'",
            )
        return family or "categorical"
    numeric = outcome.dtype.kind in "iuf" and outcome.nunique() > 2
    return family or ("linear" if numeric else "categorical")


def _outcome(chosen: str, values: Any, mechanism: Mechanism | None, terms: list[str]) -> OutcomeFamily:
    if chosen == "linear":
        return Linear(_finite(values), terms)
    if mechanism is not None:
        labels = [str(label) for label in mechanism.inputs]
        seen = np.ascontiguousarray(mechanism.matrix[:, coded(values, mechanism, values.name)].T)
    else:
        codes, labels = _public_categories(values, chosen)
        seen = np.eye(len(labels))[codes]
    return ProportionalOdds(seen, labels, terms) if chosen == "ordered" else Polytomous(seen, labels, terms)


def _finite(values: Any) -> Floats:
    if values.dtype.kind not in "iufb":
        raise InvalidParameter(
            "the outcome of a linear regression must be numbers", parameter="formula", value=values.name
        )
    numbers = values.to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidParameter("the outcome must be finite", parameter="formula", value=values.name)
    if not numbers.std() > 0:
        raise InvalidParameter("the outcome must vary", parameter="formula", value=values.name)
    return np.asarray(numbers)


def _public_categories(values: Any, chosen: str) -> tuple[Any, list[str]]:
    """Codes and names of an outcome that was not privatised, in the order of its categories."""
    import pandas

    known = isinstance(values.dtype, pandas.CategoricalDtype)
    if chosen == "ordered" and not (known and values.dtype.ordered) and values.dtype.kind not in "iufb":
        raise InvalidParameter(
            "an ordered outcome that is public must say its order",
            parameter="formula",
            value=values.name,
            hint="pandas.Categorical(..., categories=[...], ordered=True), or numbers.",
        )
    kept = values if known else pandas.Series(pandas.Categorical(values))
    if len(kept.cat.categories) < 2:
        raise InvalidParameter("the outcome must take at least two values", parameter="formula", value=values.name)
    return kept.cat.codes.to_numpy(), [str(label) for label in kept.cat.categories]


def _hidden(name: str, mechanism: Mechanism, table: Any, given: Floats, terms: list[str]) -> Hidden:
    seen = np.ascontiguousarray(mechanism.matrix[:, coded(table[name], mechanism, name)].T)
    names = [f"P({name}={x}): {term}" for x in list(mechanism.inputs)[1:] for term in terms]
    return Hidden(seen, given, names)


def _title(chosen: str, outcome: OutcomeFamily) -> str:
    several = isinstance(outcome, Polytomous) and len(outcome.categories) > 2
    kinds = {"categorical": "logit", "ordered": "proportional odds", "linear": "linear"}
    return f"{'multinomial ' if several else ''}{kinds[chosen]} through the mechanism"


def _as_read(
    table: Any,
    unused: dict[str, list[Any]],
    names: Iterable[str],
    mechanisms: Mapping[str, Mechanism],
    drawn: DrawnSample,
) -> tuple[str, ...]:
    """Sentences on how the columns of a model were read; refuses a table of counts."""
    most = {name: (table[name], mechanisms[name].m if name in mechanisms else None) for name in names}
    refuse_counted_rows(table, most, bool(drawn.notes))
    left_out = {name: ", ".join(map(str, unused[name])) for name in most if name in unused and name not in mechanisms}
    notes = [f"levels of {name} without a row are left out: {shortened(s, MOST_NAMED)}" for name, s in left_out.items()]
    return (*drawn.notes, *notes)


def _notes(hidden: tuple[str, Mechanism] | None, n: int, robust: bool, drawn: bool) -> tuple[str, ...]:
    notes = []
    if hidden is not None:
        name, told = hidden[0], n * _told(hidden[1])
        notes.append(
            f"{name} was privatised: its values are summed out, and its distribution given the public\n"
            "covariates is a multinomial logit fitted along (last rows); its coefficient is identified\n"
            "because the mechanism is known"
        )
        if told < ENOUGH:
            notes.append(
                f"the reports of {name} tell as much as {told:.0f} answers: below {ENOUGH}, limits of its\n"
                "coefficients, which hold for many, are too narrow, and p-values too small"
            )
    if robust or drawn:
        notes.append("standard errors are robust" + (" (of the sample's design)" if drawn else ""))
    return tuple(notes)


def _told(mechanism: Mechanism) -> float:
    """The part of an answer that a report tells: the mean squared canonical correlation of the two, (Σ_xy Q_xy²/(r·q_y)
    − 1)/(r − 1) for r equally likely rows with q their mean; 1 without randomisation."""
    rows = mechanism.matrix
    mean = rows.mean(axis=0)
    seen = mean > 0
    return float(((rows[:, seen] ** 2 / mean[seen]).sum() / len(rows) - 1) / (len(rows) - 1))
