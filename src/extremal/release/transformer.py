"""A scikit-learn transformer that randomises columns. Needs scikit-learn; nothing else in the package imports this
module.

Each call of `transform` makes new reports: transforming the same people twice costs their ε twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extremal.columns.frames import names_of
from extremal.errors import InvalidParameter, MissingDependency
from extremal.mechanism import Mechanism
from extremal.release.privatize import columns_and_mechanisms, privatize_column, privatize_frame

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingDependency("the transformer needs scikit-learn", hint="pip install 'extremal[sklearn]'.") from None


class Privatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Randomise columns inside a scikit-learn pipeline.

    Args:
        mechanism: one Mechanism for every column, or mechanisms by column: names for a data frame, positions for an
            array.

    Several columns about one person add up: two columns at ε each cost 2ε.

    >>> import numpy as np, extremal as ex
    >>> Privatizer(ex.randomized_response(3, 50)).fit_transform(np.array([[0], [2]])).tolist()
    [[0], [2]]
    """

    def __init__(self, mechanism: Mechanism | Mapping[Any, Mechanism]) -> None:
        self.mechanism = mechanism

    def fit(self, X: Any, y: Any = None) -> Privatizer:
        """Note the columns; nothing is learnt from the values."""
        names = getattr(X, "columns", None)
        self.n_features_in_ = int(np.shape(X)[1])
        if names is not None:
            self.feature_names_in_ = np.asarray(list(names), dtype=object)
        return self

    def transform(self, X: Any) -> Any:
        """New reports for these rows, in the container they came in."""
        check_is_fitted(self, "n_features_in_")
        if np.ndim(X) != 2 or np.shape(X)[1] != self.n_features_in_:
            raise InvalidParameter(f"X must have {self.n_features_in_} columns", parameter="X.shape", value=np.shape(X))
        if hasattr(X, "columns"):
            return privatize_frame(X, self._by_column(names_of(X) or []))
        return self._transform_array(np.asarray(X))

    def _transform_array(self, array: Any) -> Any:
        chosen = self._by_column(list(range(self.n_features_in_)))
        for j in chosen:
            self._refuse_position(j)
        made = {int(j): privatize_column(m, array[:, j], name=f"X[:, {j}]") for j, m in chosen.items()}
        columns = [made.get(j, array[:, j]) for j in range(self.n_features_in_)]
        return np.stack(columns, axis=1) if len({c.dtype for c in columns}) == 1 else np.array(columns, dtype=object).T

    def _refuse_position(self, j: Any) -> None:
        if isinstance(j, bool) or not isinstance(j, (int, np.integer)) or not 0 <= j < self.n_features_in_:
            raise InvalidParameter(
                f"columns of an array are numbered 0..{self.n_features_in_ - 1}",
                parameter="column",
                value=j,
                hint="Nothing was released. Count from the left, from 0.",
            )

    def _by_column(self, columns: list[Any]) -> dict[Any, Mechanism]:
        if isinstance(self.mechanism, Mechanism):
            return dict.fromkeys(columns, self.mechanism)
        return columns_and_mechanisms(self.mechanism, None, None)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The columns keep their names."""
        if input_features is not None:
            return np.asarray(input_features, dtype=object)
        known = getattr(self, "feature_names_in_", None)
        return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object) if known is None else known
