"""`regress`: a regression in which the outcome, a covariate, or both are reports of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, MissingDependency
from extremal.estimate.regression.likelihood import Hidden, Likelihood, maximised
from extremal.estimate.regression.outcomes import Family, Linear, Ordered, Polytomous
from extremal.estimate.regression.result import RegressionResult
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

FAMILIES = ("categorical", "ordered", "linear")


def regress(
    formula: str,
    frame: Any,
    mechanism: Mechanism | Mapping[str, Mechanism],
    weights: Any = None,
    *,
    family: str | None = None,
    robust: bool = False,
) -> RegressionResult:
    """Regression on privatised answers, by maximum likelihood through the mechanism.

    P(report y_i) = Σ_x Q(y_i|x)·P(x | covariates_i; β): fitting the reports as if they were answers shrinks every
    coefficient, this does not. A privatised covariate is summed out in the same way, its distribution given the public
    covariates being a multinomial logit that is fitted along; that part, and so the coefficient, is identified because
    Q is known.

    Args:
        formula: as in R, `"answer ~ age + C(region)"` (parsed by formulaic).
        frame: a pandas data frame, or one that can become one.
        mechanism: the mechanism of the outcome; or column → mechanism, for the outcome, one covariate, or both.
        weights: survey weights, a column name or one number for each row; standard errors are then robust.
        family: "categorical" (logistic, or multinomial logit with the first input as baseline), "ordered" (proportional
            odds, in the order of the inputs), "linear"; by default linear for a public numeric outcome with more than
            two values, else categorical.
        robust: sandwich standard errors, valid if the model is only an approximation.

    Guarantee: coefficients and standard errors are those of the likelihood of the reports; a flat likelihood or one
    that rises for ever is an error that names the terms.

    Raises:
        NotIdentified: the reports do not determine the coefficients, or the data separate.

    Reference: Scheers and Dayton (JASA 83, 1988) for the binary case; White (1982) for robust standard errors.

    >>> import numpy as np, pandas as pd, extremal as ex
    >>> z = np.tile([-1.0, 0.0, 1.0], 400)
    >>> m = ex.surveys.warner(epsilon=2, inputs=["no", "yes"])
    >>> frame = pd.DataFrame({"z": z, "answer": np.where(np.arange(1200) % 5 < 2 + z, "yes", "no")})
    >>> ex.regress("answer ~ z", frame, m).params["z"] > 0.5
    True
    """
    table = _as_pandas(frame)
    left, right = _sides(formula)
    mechanisms = {left: mechanism} if isinstance(mechanism, Mechanism) else dict(mechanism)
    _refuse_columns(mechanisms, table, left)
    hidden_names = [name for name in mechanisms if name != left]
    if len(hidden_names) > 1:
        raise InvalidParameter(
            "at most one covariate may be privatised",
            parameter="mechanism",
            value=hidden_names,
            hint="Put both into one mechanism on pairs, or leave one out.",
        )
    chosen = _family(family, table[left], mechanisms.get(left))
    rhs = f"{right} - 1" if chosen == "ordered" else right
    hidden, designs, terms, design_of = _designs(rhs, table, hidden_names, mechanisms, chosen)
    share, weighted = _weights(weights, table)
    outcome = _outcome(chosen, table[left], mechanisms.get(left), terms)
    likelihood = Likelihood(outcome, designs, share, hidden)
    names = outcome.names + _hidden_names(hidden, hidden_names, mechanisms, rhs, table)
    values, information = maximised(likelihood, names)
    covariance = np.linalg.inv(information)
    if robust or weighted:
        scores = likelihood.rows(values)[1] * share[:, None]
        covariance = covariance @ (scores.T @ scores) @ covariance * len(share) / (len(share) - 1)
    notes = _notes(hidden_names, robust or weighted, weighted)
    title = {"categorical": "logit", "ordered": "proportional odds", "linear": "linear"}[chosen] + " through the mechanism"
    if chosen == "categorical" and len(outcome.categories) > 2:  # type: ignore[attr-defined]
        title = "multinomial " + title
    llf = likelihood.value(values)
    return RegressionResult(
        formula, title, names, values, covariance, llf, len(table), notes, likelihood, design_of, weighted
    )


def _as_pandas(frame: Any) -> Any:
    try:
        import formulaic  # noqa: F401
        import narwhals as nw
        import pandas  # noqa: F401
    except ImportError as error:
        raise MissingDependency("regression needs formulaic and pandas", hint="pip install 'extremal[regression]'.") from error
    if not nw.dependencies.is_into_dataframe(frame):
        raise InvalidParameter("frame must be an eager data frame", parameter="frame", value=type(frame).__name__)
    return nw.from_native(frame, eager_only=True).to_pandas()


def _sides(formula: str) -> tuple[str, str]:
    parts = formula.split("~") if isinstance(formula, str) else []
    if len(parts) != 2 or not all(part.strip() for part in parts):
        raise InvalidParameter(
            "formula must have an outcome and terms", parameter="formula", value=formula, hint='"answer ~ age + C(region)"'
        )
    return parts[0].strip(), parts[1].strip()


def _refuse_columns(mechanisms: Mapping[str, Any], table: Any, outcome: str) -> None:
    for name in [outcome, *mechanisms]:
        if name not in table.columns:
            raise InvalidParameter(
                "the column must be in the frame",
                parameter="formula",
                value=name,
                hint=f"Columns: {', '.join(map(repr, list(table.columns)[:8]))}.",
            )
    for name, m in mechanisms.items():
        if not isinstance(m, Mechanism):
            raise InvalidParameter("a privatised column needs a Mechanism", parameter=f"mechanism[{name!r}]", value=m)


def _family(family: str | None, outcome: Any, mechanism: Mechanism | None) -> str:
    if family is not None and family not in FAMILIES:
        raise InvalidParameter(f"family must be one of {', '.join(FAMILIES)}", parameter="family", value=family)
    if mechanism is not None:
        if family == "linear":
            raise InvalidParameter(
                "a privatised outcome is categorical or ordered", parameter="family", value=family, hint="family='ordered'"
            )
        return family or "categorical"
    numeric = outcome.dtype.kind in "iuf" and outcome.nunique() > 2
    return family or ("linear" if numeric else "categorical")


def _likelihood_of_reports(values: Any, mechanism: Mechanism) -> Floats:
    """n × k: Q(y_i|x)."""
    from extremal.estimate.hypothesis_tests.reports import coded

    return np.ascontiguousarray(mechanism.matrix[:, coded(values, mechanism)].T)


def _outcome(chosen: str, values: Any, mechanism: Mechanism | None, terms: list[str]) -> Family:
    if chosen == "linear":
        numbers = values.to_numpy(dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise InvalidParameter("the outcome must be finite numbers", parameter="formula", value=values.name)
        return Linear(numbers, terms)
    if mechanism is not None:
        seen, labels = _likelihood_of_reports(values, mechanism), [str(x) for x in mechanism.inputs]
    else:
        kinds = sorted(values.unique().tolist(), key=lambda v: (str(type(v)), v))
        seen = (values.to_numpy()[:, None] == np.array(kinds, dtype=values.to_numpy().dtype)[None, :]).astype(np.float64)
        labels = [str(v) for v in kinds]
    return Ordered(seen, labels, terms) if chosen == "ordered" else Polytomous(seen, labels, terms)


def _designs(
    rhs: str, table: Any, hidden_names: list[str], mechanisms: Mapping[str, Mechanism], chosen: str
) -> tuple[Hidden | None, list[Floats], list[str], Any]:
    from formulaic import Formula, model_matrix

    if not hidden_names:
        matrix = model_matrix(rhs, table, na_action="raise")
        spec = matrix.model_spec
        kept = _columns(matrix, chosen)
        return None, [matrix[kept].to_numpy(dtype=np.float64)], kept, lambda frame: _again(spec, frame, kept)
    name = hidden_names[0]
    mechanism = mechanisms[name]
    import pandas

    copies = []
    for label in mechanism.inputs:
        copy = table.copy()
        copy[name] = pandas.Categorical([label] * len(table), categories=list(mechanism.inputs)) if isinstance(
            label, str
        ) else label
        copies.append(copy)
    matrix = model_matrix(rhs, pandas.concat(copies, ignore_index=True), na_action="raise")
    spec, kept = matrix.model_spec, _columns(matrix, chosen)
    array = matrix[kept].to_numpy(dtype=np.float64).reshape(len(copies), len(table), -1)
    public = [t for t in Formula(rhs) if not any(name in str(f) for f in t.factors)]
    given = model_matrix(Formula([*public]) if public else "1", table, na_action="raise")
    hidden = Hidden(_likelihood_of_reports(table[name], mechanism), given.to_numpy(dtype=np.float64))
    return hidden, list(array), kept, lambda frame: _again(spec, frame, kept)


def _columns(matrix: Any, chosen: str) -> list[str]:
    return [c for c in matrix.columns if not (chosen == "ordered" and c == "Intercept")]


def _again(spec: Any, frame: Any, kept: list[str]) -> Floats:
    return np.asarray(spec.get_model_matrix(_as_pandas(frame))[kept].to_numpy(dtype=np.float64))


def _hidden_names(
    hidden: Hidden | None, names: list[str], mechanisms: Mapping[str, Mechanism], rhs: str, table: Any
) -> list[str]:
    if hidden is None:
        return []
    columns = range(hidden.given.shape[1])
    return [f"P({names[0]}={x}): {i}" for x in mechanisms[names[0]].inputs[1:] for i in columns]


def _weights(weights: Any, table: Any) -> tuple[Floats, bool]:
    if weights is None:
        return np.ones(len(table)), False
    values = np.asarray(table[weights] if isinstance(weights, str) else weights, dtype=np.float64)
    if values.shape != (len(table),) or not np.isfinite(values).all() or (values < 0).any() or not values.sum() > 0:
        raise InvalidParameter(
            "weights must be one number for each row, not negative", parameter="weights", value=values.shape
        )
    return values * (len(values) / values.sum()), True


def _notes(hidden: list[str], robust: bool, weighted: bool) -> tuple[str, ...]:
    notes = []
    if hidden:
        notes.append(
            f"{hidden[0]} was privatised: its values are summed out, its distribution given the public covariates is a\n"
            "multinomial logit fitted along (last rows); its coefficient is identified because the mechanism is known"
        )
    if robust:
        notes.append("standard errors are robust" + (" (survey weights)" if weighted else ""))
    return tuple(notes)
