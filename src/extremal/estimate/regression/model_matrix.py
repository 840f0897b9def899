"""A formula and a data frame become matrices; what is wrong with either is said without anybody's values.

Formulas are parsed by formulaic. Nothing but the columns and formulaic's own functions can be named in them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.columns.frames import names_of, refuse_absent
from extremal.errors import InvalidParameter, MissingDependency
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

INTERCEPT = "Intercept"


@dataclass(frozen=True, eq=False)
class ModelMatrix:
    """The matrices of a model.

    Attributes:
        matrices: one (n × terms), or one for each value of the hidden covariate.
        terms: names of the columns.
        given: the public covariates (n × columns) that a hidden covariate may depend on.
        given_terms: names of those.
        columns: the names of the variables.
        again: the matrix for the rows of another frame.
    """

    matrices: list[Floats]
    terms: list[str]
    given: Floats
    given_terms: list[str]
    columns: list[str]
    again: Callable[[Any], Floats]

    @classmethod
    def of(cls, right: str, table: Any, hidden: tuple[str, Mechanism] | None, ordered: bool) -> ModelMatrix:
        """The matrices for a right-hand side. With `ordered` the intercept is left to the cut points."""
        from formulaic import Formula

        terms = _terms(right, ordered)
        needed = sorted(set().union(*(variables(term, table.columns) for term in terms)))
        name = hidden[0] if hidden else None
        refuse_gaps(table, sorted(set(needed) - {name}))
        matrix = _matrix(Formula(terms), table if hidden is None else _copies(table, *hidden))
        kept = list(matrix.columns.drop(INTERCEPT, errors="ignore") if ordered else matrix.columns)
        copies = 1 if hidden is None else hidden[1].k
        matrices = list(_numbers(matrix[kept], right).reshape(copies, len(table), len(kept)))
        rest = _matrix(_public(terms, name, table.columns), table)

        def again(frame: Any) -> Floats:
            other, _ = without_unused(as_table(frame))
            for column in needed:
                refuse_absent(column, list(other.columns), "frame")
            refuse_gaps(other, needed)
            if hidden is not None and hidden[0] in other.columns:
                other = other.assign(**{hidden[0]: _true_values(other[hidden[0]], hidden[1])})
            return _numbers(_matrix(matrix.model_spec, other)[kept], right)

        return cls(matrices, kept, _numbers(rest, right), list(rest.columns), needed, again)


def as_table(frame: Any) -> Any:
    """An eager data frame as a pandas one with string names, each once."""
    try:
        import formulaic  # noqa: F401
        import narwhals as nw
        import pandas  # noqa: F401
    except ImportError:
        raise MissingDependency(
            "regression needs formulaic, narwhals and pandas", hint="pip install 'extremal[regression]'."
        ) from None
    if not nw.dependencies.is_into_dataframe(frame):
        raise InvalidParameter(
            "frame must be an eager data frame (pandas, polars, pyarrow)",
            parameter="frame",
            value=type(frame).__name__,
        )
    names = names_of(frame) or []
    for name in names:
        if not isinstance(name, str):
            raise InvalidParameter("column names must be strings", parameter="frame", value=name)
        refuse_absent(name, names, "frame")
    table = nw.from_native(frame, eager_only=True).to_pandas().reset_index(drop=True)
    if not len(table):
        raise InvalidParameter("frame must have rows", parameter="frame", value=0)
    return table


def without_unused(table: Any) -> tuple[Any, dict[str, list[Any]]]:
    """The table without the categories that do not occur, as R drops unused levels; and which they are."""
    import pandas

    known = [name for name in table.columns if isinstance(table[name].dtype, pandas.CategoricalDtype)]
    kept = {name: table[name].cat.remove_unused_categories() for name in known}
    unused = {name: [c for c in table[name].cat.categories if c not in kept[name].cat.categories] for name in known}
    return table.assign(**kept), {name: left_out for name, left_out in unused.items() if left_out}


def sides(formula: Any) -> tuple[str, str]:
    """The name of the outcome and the right-hand side."""
    parts = formula.split("~") if isinstance(formula, str) else []
    if len(parts) != 2 or not all(part.strip() for part in parts):
        raise InvalidParameter(
            "formula must have an outcome and terms",
            parameter="formula",
            value=formula,
            hint='"answer ~ age + C(region)", or "answer ~ 1".',
        )
    return parts[0].strip().strip("`"), parts[1].strip()


def variables(term: Any, columns: Iterable[str]) -> set[str]:
    """The columns that a term of a formula needs; a name that stands alone and is no column is refused."""
    from formulaic import Formula
    from formulaic.parser.types import Term

    known, found = list(columns), set()
    for factor in term.factors:
        method = factor.eval_method.value
        if method == "lookup":
            refuse_absent(factor.expr, known, "term")
            found.add(factor.expr)
        elif method == "python":
            found |= set(map(str, Formula([Term([factor])]).required_variables)) & set(known)
            found |= {name for name in known if f"`{name}`" in factor.expr}
    return found


def refuse_gaps(table: Any, names: Iterable[str]) -> None:
    """Raise on a missing value, with its place."""
    for name in names:
        gaps = np.flatnonzero(table[name].isna().to_numpy())
        if gaps.size:
            raise InvalidParameter(
                f"{name}[{gaps[0]}] must not be missing",
                parameter=f"frame[{name!r}]",
                value=None,
                hint=f"{gaps.size} of {len(table)} are. Leave such rows out, if that is right for your question.",
            )


def _terms(right: str, ordered: bool) -> list[Any]:
    """The terms of a right-hand side; with `ordered` an intercept is always among them."""
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    try:
        return list(Formula(f"{right} + 1" if ordered else right))
    except (FormulaicError, SyntaxError, TypeError, AttributeError):
        raise InvalidParameter(
            "formula must be one that formulaic can read", parameter="formula", value=right, hint='"age + C(region)".'
        ) from None


def _public(terms: list[Any], hidden: str | None, columns: Iterable[str]) -> Any:
    """A formula of all that a hidden covariate may depend on: every public variable, also one that stands only beside
    it in an interaction."""
    from formulaic import Formula
    from formulaic.parser.types import Term

    rest = [Term([f for f in term.factors if hidden not in variables(Term([f]), columns)]) for term in terms]
    return Formula(list(dict.fromkeys([*Formula("1"), *(term for term in rest if term.factors)])))


def _copies(table: Any, name: str, mechanism: Mechanism) -> Any:
    """The table once for each input of the mechanism, which stands in the column `name`."""
    import pandas

    values = _inputs(np.repeat(np.arange(mechanism.k), len(table)), mechanism)
    return pandas.concat([table] * mechanism.k, ignore_index=True).assign(**{name: values})


def _inputs(codes: Any, mechanism: Mechanism) -> Any:
    """Inputs by their positions: numbers when all labels are whole numbers, else categories."""
    import pandas

    inputs = list(mechanism.inputs)
    if all(type(label) is int for label in inputs):
        return np.array(inputs)[codes]
    return pandas.Categorical.from_codes(codes, categories=pandas.Index(inputs, dtype=object))


def _true_values(values: Any, mechanism: Mechanism) -> Any:
    """A column of true values to predict for, as the model saw them; numbers may lie between the inputs."""
    if all(type(label) is int for label in mechanism.inputs):
        return values
    known = {label: code for code, label in enumerate(mechanism.inputs)}
    try:
        return _inputs([known[value] for value in values.tolist()], mechanism)
    except KeyError:
        raise InvalidParameter(
            "frame must hold inputs of the mechanism of a privatised covariate",
            parameter=f"frame[{values.name!r}]",
            hint="True values, not reports.",
        ) from None


def _matrix(formula: Any, table: Any) -> Any:
    """formulaic's matrix of a formula or of an earlier one's specification."""
    from formulaic import ModelSpec, model_matrix
    from formulaic.errors import DataMismatchWarning, FormulaicError

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # what is not finite is refused below
            warnings.simplefilter("error", DataMismatchWarning)
            if isinstance(formula, ModelSpec):
                return formula.get_model_matrix(table, context={})
            return model_matrix(formula, table, na_action="raise", context={})
    except DataMismatchWarning:
        raise InvalidParameter(
            "frame must hold only categories that were seen when the model was fitted", parameter="frame"
        ) from None
    except (FormulaicError, ValueError, TypeError, NameError, KeyError, AttributeError) as error:
        raise InvalidParameter(
            f"every term of the formula must have a finite value in every row ({type(error).__name__})",
            parameter="formula",
            value=str(getattr(formula, "formula", formula)),
            hint="Functions: those of formulaic, such as log, exp, C, poly, scale, and np. Write a name with dots or "
            "blanks in backticks.",
        ) from None


def _numbers(matrix: Any, right: str) -> Floats:
    array = matrix.to_numpy(dtype=np.float64)
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        raise InvalidParameter(
            f"every term must be finite in every row; {matrix.columns[bad[0][1]]!r} is not in row {bad[0][0]}",
            parameter="formula",
            value=right,
        )
    return np.ascontiguousarray(array)
