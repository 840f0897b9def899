"""PML-optimal, LDP-optimal and randomised response at equal leakage: what knowing the prior is worth (GSO Fig. 1, and
one curve more)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from extremal.closed_forms import pml_randomized_response
from extremal.errors import InvalidParameter
from extremal.exact import as_prior
from extremal.exact.bisection import bisected
from extremal.optimize.design import Design, design
from extremal.optimize.problem import Progress
from extremal.plotting import colours_of, draw_curve, figure
from extremal.privacy import LDP, PML
from extremal.tables import aligned, as_frame, html, number
from extremal.utility import MutualInformation, Utility

SMALLEST_STEP = 1e-6  # relative: to how much the LDP level is found
MOST_EPSILON = 40.0  # nats of LDP: beyond, every answer is reported as it is


@dataclass(frozen=True)
class EqualLeakage:
    """Three mechanisms at each leakage; `str()` is a table, `plot()` a picture.

    Made by `ex.studies.equal_leakage`.

    Attributes:
        utility: what is compared.
        epsilons: the leakage in nats.
        pml_optimal, ldp_optimal, randomized_response: values; NaN where there is none.
        ldp_levels: the LDP ε at which the LDP-optimal mechanism has that leakage.

    >>> import extremal as ex
    >>> ex.studies.equal_leakage([0.5, 0.5], [0.3]).epsilons
    (0.3,)
    """

    utility: Utility
    epsilons: tuple[float, ...]
    pml_optimal: tuple[float, ...]
    ldp_optimal: tuple[float, ...]
    randomized_response: tuple[float, ...]
    ldp_levels: tuple[float, ...]

    def to_frame(self) -> Any:
        """A data frame with one row for each leakage."""
        return as_frame(self._columns())

    def _columns(self) -> dict[str, tuple[float, ...]]:
        return {
            "leakage": self.epsilons,
            "PML-optimal": self.pml_optimal,
            "LDP-optimal": self.ldp_optimal,
            "randomised response": self.randomized_response,
            "LDP level": self.ldp_levels,
        }

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        body = [[number(value) for value in row] for row in zip(*self._columns().values(), strict=True)]
        return ["leakage ε", "PML-optimal", "LDP-optimal", "randomised response", "LDP ε"], body

    def __str__(self) -> str:
        return aligned(*self._cells())

    def _repr_html_(self) -> str:
        return html(*self._cells(), caption=f"{self.utility.label} at equal leakage")

    def plot(self) -> Any:
        """The three curves against the leakage; a matplotlib figure."""
        drawn, axis = figure()
        shown = dict(list(self._columns().items())[1:4])
        for place, ((name, values), colour) in enumerate(zip(shown.items(), colours_of(list(shown)), strict=True)):
            draw_curve(axis, self.epsilons, values, place, name, color=colour)
        axis.set_xlabel("pointwise maximal leakage ε (nats)")
        axis.set_ylabel(self.utility.label)
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False)
        return drawn


def equal_leakage(
    prior: Any, epsilons: Sequence[Any], utility: Utility | None = None, progress: Progress | None = None
) -> EqualLeakage:
    """The best mechanism under leakage ε, the best LDP mechanism with that leakage, and randomised response with that
    leakage.

    The LDP level is found by halving: the LDP-optimal mechanism there leaks at most ε under the prior, and slightly
    above it more. Where the LDP-optimal mechanism changes its form its leakage jumps, and that curve is flat.

    Guarantee: values are those of designs with a bound; levels are decided in integers.

    Args:
        prior: the distribution of the input.
        epsilons: leakages below ε_max = −log p_min.
        utility: mutual information under the prior if not given.
        progress: called with "ε = …" and the share done.

    Reference: GSO, on mechanisms with the same leakage.

    >>> table = equal_leakage([0.5, 0.3, 0.2], [0.5])
    >>> table.pml_optimal[0] > table.ldp_optimal[0] >= table.randomized_response[0]
    True
    """
    exact = as_prior(prior)
    wanted = MutualInformation(exact) if utility is None else utility
    levels = [PML(epsilon, exact) for epsilon in epsilons]
    beyond = next((notion.epsilon for notion in levels if not 0 < notion.epsilon < notion.epsilon_max), None)
    if beyond is not None:
        raise InvalidParameter("leakages must lie between 0 and ε_max", parameter="epsilons", value=beyond)
    best = tuple(design(notion, wanted).value for notion in levels)
    response = tuple(wanted(pml_randomized_response(exact, notion.exponential.exponent)) for notion in levels)
    nats = tuple(notion.epsilon for notion in levels)
    local = _ldp_levels(levels, wanted, progress)
    ldp_levels, ldp_values = zip(*local, strict=True) if local else ((), ())
    return EqualLeakage(wanted, nats, best, ldp_values, response, ldp_levels)


def _ldp_levels(notions: list[PML], utility: Utility, progress: Progress | None) -> list[tuple[float, float]]:
    """`_ldp_at` each of these, which is what takes its time."""
    found = []
    for i, notion in enumerate(notions):
        if progress is not None:
            progress(f"ε = {notion.epsilon:g}", i / len(notions))
        found.append(_ldp_at(notion, utility))
    return found


def _ldp_at(notion: PML, utility: Utility) -> tuple[float, float]:
    """(LDP level, value) of the LDP-optimal mechanism whose leakage is at most that of the notion."""
    made: dict[float, Design] = {}

    def within(level: float) -> bool:
        made[level] = design(LDP(repr(level)), utility)
        return notion.level(made[level].mechanism) <= notion.epsilon

    def between(high: float, low: float) -> float:
        return low if abs(high - low) <= SMALLEST_STEP * max(high, low) else (low + high) / 2

    low, high = notion.epsilon, 4 * notion.epsilon
    within(low)  # it is: at LDP ε the leakage is at most ε
    while within(high) and high < MOST_EPSILON:
        low, high = high, min(2 * high, MOST_EPSILON)
    level = bisected(within, high, low, between=between)
    return level, made[level].value
