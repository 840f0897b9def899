"""Several utilities at once: their mean, their minimum, and all pairs of hypotheses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.problem import Goal, LeastGoal, MeanGoal, problem_of
from extremal.utility.divergence import Divergence
from extremal.utility.divergences import KL
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, OfColumns, SumOfColumns, Utility, registered


class _Combination(OfColumns):
    """Several utilities about the same inputs."""

    def __init__(self, utilities: Sequence[Utility]) -> None:
        self.utilities: tuple[SumOfColumns, ...] = _checked(utilities)
        self.k = self.utilities[0].k
        units = {u.unit for u in self.utilities}
        self.unit = units.pop() if len(units) == 1 else ""

    @property
    def verifiable(self) -> bool:
        return super().verifiable and all(u.verifiable for u in self.utilities)

    def problem(self) -> Goal | None:
        parts = tuple(problem_of(u) for u in self.utilities)
        if None in parts:
            return None
        return MeanGoal(parts) if isinstance(self, Average) else LeastGoal(parts)

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "utilities": [u.to_json() for u in self.utilities]}

    def __repr__(self) -> str:
        return f"{self.name}({list(self.utilities)!r})"


@registered
class Average(_Combination, SumOfColumns):
    """The mean of several utilities; again a sum of sublinear column values.

    Guarantee: sublinear if its parts are, so that `ex.design` finds its optimum with a bound.

    Reference: KOV Definition 1, on sums of sublinear functions of columns.

    >>> import extremal as ex
    >>> pair = ([0.7, 0.3], [0.4, 0.6])
    >>> m = ex.randomized_response(2, 1)
    >>> u = ex.Average([ex.KL(*pair), ex.ReverseKL(*pair)])
    >>> abs(u(m) - ex.SymmetricKL(*pair)(m) / 2) < 1e-16
    True
    """

    name = "Average"

    def _values(self, reading: Reading) -> Floats:
        return np.asarray(np.mean([u._values(reading) for u in self.utilities], axis=0))


@registered
class WorstCase(_Combination):
    """The smallest of several utilities: what is guaranteed whichever of them turns out to matter.

    Guarantee: `ex.design` finds its optimum with a bound wherever it solves the parts by listing rays.

    Reference: A. Wald, Annals of Mathematical Statistics 10 (1939), 299–326, on the worst case as a criterion.

    >>> import extremal as ex
    >>> u = ex.WorstCase([ex.MutualInformation([0.5, 0.5]), ex.MutualInformation([0.9, 0.1])])
    >>> u(ex.randomized_response(2, 1)) == ex.MutualInformation([0.9, 0.1])(ex.randomized_response(2, 1))
    True
    """

    name = "WorstCase"

    def of(self, reading: Reading) -> float:
        return min(u.of(reading) for u in self.utilities)


def PairwiseDivergence(  # noqa: N802 - reads as the utility it makes
    distributions: Sequence[Any], divergence: Callable[..., Divergence] = KL, worst_case: bool = False
) -> Average | WorstCase:
    """All ordered pairs i ≠ j of several hypotheses: the mean of their divergences, or the smallest.

    Guarantee: sublinear if the divergences are, so that `ex.design` finds its optimum with a bound.

    Args:
        distributions: two or more priors on the same symbols.
        divergence: a class such as `ex.KL`, or a function of two priors.
        worst_case: the smallest pair instead of the mean.

    Reference: KOV leave several hypotheses open; docs/design/index.md says what is solved.

    >>> import extremal as ex
    >>> u = ex.PairwiseDivergence([[0.7, 0.3], [0.4, 0.6], [0.5, 0.5]])
    >>> len(u.utilities)
    6
    """
    if isinstance(distributions, (str, bytes)) or len(distributions) < 2:
        raise InvalidParameter("at least two distributions are needed", parameter="distributions", value=distributions)
    pairs = [divergence(p, q) for i, p in enumerate(distributions) for j, q in enumerate(distributions) if i != j]
    return WorstCase(pairs) if worst_case else Average(pairs)


def _checked(utilities: Sequence[Utility]) -> tuple[SumOfColumns, ...]:
    if not isinstance(utilities, Sequence) or not utilities or not all(isinstance(u, SumOfColumns) for u in utilities):
        raise InvalidParameter(
            "utilities must be a list of divergences, informations or sublinear functions",
            parameter="utilities",
            value=utilities,
        )
    if len({u.k for u in utilities}) > 1:
        raise InvalidParameter(
            "utilities must be about the same inputs", parameter="k", value=sorted({u.k for u in utilities})
        )
    return tuple(u for u in utilities if isinstance(u, SumOfColumns))
