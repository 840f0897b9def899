"""Integers and rationals: bounds on e^ε, exact priors, and the exact view of a mechanism that every check reads."""

from extremal.exact.bisection import bisected
from extremal.exact.exponential import Exponential, exp_bounds, level_of_ratio, log_of_ratio
from extremal.exact.numbers import (
    ANY_LABELS,
    Number,
    as_count,
    as_fraction,
    decimal_text,
    in_order,
    matrix_in_order,
    pandas_index,
)
from extremal.exact.polytope import corners, solve_exactly
from extremal.exact.prior import Prior, as_prior
from extremal.exact.view import Column, ExactView, IndexSet, by_row_class, prefix_sums

__all__ = [
    "ANY_LABELS",
    "Column",
    "ExactView",
    "Exponential",
    "IndexSet",
    "Number",
    "Prior",
    "as_count",
    "as_fraction",
    "as_prior",
    "bisected",
    "by_row_class",
    "corners",
    "decimal_text",
    "exp_bounds",
    "in_order",
    "level_of_ratio",
    "log_of_ratio",
    "matrix_in_order",
    "pandas_index",
    "prefix_sums",
    "solve_exactly",
]
