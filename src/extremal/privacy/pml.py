"""Pointwise maximal leakage: how much one report may tell about any feature of the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Column, ExactView, Exponential, Prior, by_row_class, level_of_ratio, prefix_sums
from extremal.exact.weights import Floats
from extremal.exact.written import level_field, refuse_other_fields
from extremal.privacy.notion import Notion, Ratio, level_by_ratio, refused_by_ratio
from extremal.problem import Lift, OverClass, Privacy, states
from extremal.sources import SourceClass, as_source


class PML(Notion):
    """ε-pointwise maximal leakage for a prior, or for every prior of a class.

    ℓ(X→y) = log max_{x: p(x)>0} Q(y|x)/P_Y(y) ≤ ε for every report y that can occur, P_Y = Σ p(x)Q(·|x) (GSO Definition
    1). For a class: Q(y|x) ≤ e^ε·min_p P_Y(y) for every x that some prior of the class allows.

    Guarantee: decided on integers, the prior being the decimals given, divided by their exact sum.

    Args:
        epsilon: nats, 0 or 1e-9..100.
        prior_or_class: a probability vector, or an `ex.SourceClass`.

    Reference: Grosse, Saeidian, Oechtering, Extremal Mechanisms for Pointwise Maximal Leakage, with the corrections
    P1–P10 of docs/reference/errata.md.

    >>> import extremal as ex
    >>> m = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
    >>> ex.PML(1, [0.5, 0.3, 0.2]).leakage(m).round(6).tolist()
    [0.379885, 0.584265, 0.704605]
    """

    name = "PML"

    def __init__(self, epsilon: Any, prior_or_class: Any) -> None:
        self.exponential = Exponential(epsilon)
        self.source: SourceClass = as_source(prior_or_class)

    def under(self, prior: Any) -> PML:
        """The notion at the same level for another prior, or for another class.

        >>> PML(1, SourceClass.simplex(3)).under([0.5, 0.3, 0.2])
        PML(epsilon=1.0, prior=[0.5, 0.3, 0.2])
        """
        return self._at(self.exponential, as_source(prior))

    @classmethod
    def _at(cls, exponential: Exponential, source: SourceClass) -> PML:
        notion = cls.__new__(cls)
        notion.exponential, notion.source = exponential, source
        return notion

    @property
    def k(self) -> int:
        """Number of inputs."""
        return self.source.k

    @property
    def prior(self) -> Prior:
        """The prior, when there is just one."""
        single = self.source.single
        if single is None:
            raise InvalidParameter(
                "this notion is about a class of priors, not one", parameter="source", value=self.source
            )
        return single

    def level(self, mechanism: Any, prior: Any = None) -> float:
        """The smallest ε, under this notion's source or under another `prior` (or class): what leaks when the prior is
        wrong."""
        view = self._readable(mechanism)
        source = self.source if prior is None else as_source(prior)
        columns = view.kinds_of_columns() if source.weights_decide else view.patterns()
        return level_by_ratio(columns, self._ratios(view, source))

    def leakage(self, mechanism: Any, prior: Any = None) -> Floats:
        """ℓ(X→y) of each output, rounded up; 0 for an output that cannot occur."""
        view = self._readable(mechanism)
        ratios = self._ratios(view, self.source if prior is None else as_source(prior))
        return np.array([level_of_ratio(*ratios(column)[0]) for column in view.columns()])

    def _refused(self, view: ExactView, first: bool) -> list[int]:
        columns = view.kinds_of_columns() if first and self.source.weights_decide else view.patterns()
        return refused_by_ratio(columns, self._ratios(view, self.source), self.exponential, first)

    def _ratios(self, view: ExactView, source: SourceClass) -> Callable[[Column], list[Ratio]]:
        if source.k != view.k:
            raise InvalidParameter(
                f"the prior must have {view.k} entries, one for each input", parameter="len(prior)", value=source.k
            )
        least = source.least_sum(view)
        occurring = by_row_class(source.support(), view)
        support = prefix_sums(occurring)

        def ratios(column: Column) -> list[Ratio]:
            seen = column.arranged(occurring)[0] if column.within else column
            found = (value for value, members in reversed(seen.groups) if members.total(support))
            largest = column.largest if column.orbit and not column.within else next(found)
            numerator, denominator = least(column)
            return [(largest * denominator, numerator)]

        return ratios

    # -- the geometry of GSO Section IV
    # -----------------------------------------------------------------------------------

    @property
    def epsilon_max(self) -> float:
        """−log of the smallest positive probability: from here on nothing needs to be hidden."""
        weights = [w for w in self.prior.weights if w]
        return level_of_ratio(self.prior.total, min(weights))

    @property
    def region_boundaries(self) -> tuple[float, ...]:
        """ε_0 ≤ … ≤ ε_{N−1}, ε_j = −log of the sum of the N−j largest probabilities (zeros are left out)."""
        weights = sorted((w for w in self.prior.weights if w), reverse=True)
        return tuple(level_of_ratio(self.prior.total, total) for total in prefix_sums(weights)[:0:-1])

    @property
    def region(self) -> int:
        """The j with ε_{j−1} ≤ ε < ε_j; N from ε_{N−1} on. In region j a report may rule out at most j−1 inputs (GSO
        Lemma 2).

        GSO number the regions 1..N−1; the last one, N, is missing there (erratum P2).
        """
        weights = sorted((w for w in self.prior.weights if w), reverse=True)
        reached = [total for total in prefix_sums(weights)[1:] if self.exponential.at_least(self.prior.total, total)]
        return len(reached)

    def to_json(self) -> dict[str, Any]:
        return {"notion": self.name, **self.exponential.to_json(), "source": self.source.to_json()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> PML:
        refuse_other_fields(content, ("notion", level_field(content), "source"), "a claim of PML")
        return cls._at(Exponential.from_json(content), SourceClass.from_json(content["source"]))

    def __repr__(self) -> str:
        single = self.source.single
        about = f"prior={_short(single)}" if single is not None else f"source={self.source!r}"
        return f"PML(epsilon={self.epsilon!r}, {about})"


def _problem(pml: PML) -> Privacy:
    single = pml.source.single
    return OverClass(pml.source, pml.exponential) if single is None else Lift(single, None, pml.exponential)


states(PML, _problem)


def _short(prior: Prior) -> str:
    return repr(prior).removeprefix("Prior(").removesuffix(")")
