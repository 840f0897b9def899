"""What an adversary writes into a proof: numbers that are extreme, ordinary or the best lie, and any field changed.

Problems are drawn small, with their optimum from a linear program over listed rays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.certificate import (
    Proof,
    Refused,
    proof_from_json,
)
from extremal.errors import MalformedFile
from extremal.exact import decimal_text
from extremal.privacy import LDP, LIP, PML, MetricPrivacy
from extremal.privacy.cones.lift import columns_of, lift_box, vertices
from extremal.privacy.cones.metric import metric_rays
from extremal.utility import (
    MutualInformation,
)
from support.divergences import WITHOUT_PARAMETERS

Floats = npt.NDArray[np.float64]
Generator = np.random.Generator
Numbers = tuple[Fraction, ...]

EXTREME = tuple(
    Fraction(text) for text in ("0", "1e-300", "-1e-300", "1e300", "-1e300", "1e-20", "1", "-1", "0.5", "1e17")
)
ROUNDING = 1e-8
"""Relative accuracy of the reference optimum, a linear program in floats."""


@dataclass(frozen=True)
class Lie:
    """A proof that an adversary wrote, and what it is about."""

    proof: Proof
    privacy: Any
    utility: Any
    optimum: float

    def is_believed(self) -> bool:
        """Whether the kernel accepts a bound beyond the optimum."""
        try:
            bound = self.proof.bound(self.privacy, self.utility)
        except Refused:
            return False
        if self.utility.is_cost:
            return bool(bound > self.optimum * (1 + ROUNDING) + 1e-300)
        return bool(bound < self.optimum * (1 - ROUNDING))


def varied(random: Generator, lies: Iterator[Lie], count: int) -> Iterator[Lie]:
    """Each lie, and `count` others with one to three of its fields changed."""
    for lie in lies:
        yield lie
        for _ in range(count if fields(lie.proof) else 0):
            content = _in_decimals(lie.proof.to_json())
            for _ in range(random.integers(1, 4)):
                _vary(random, content, lie.utility.k)
            try:
                yield replace(lie, proof=proof_from_json(content))
            except MalformedFile:
                continue


def _in_decimals(value: Any) -> Any:
    """What a proof writes, with the doubles next to its fractions: files hold decimals only."""
    if isinstance(value, dict):
        return {name: v if name == "kind" else _in_decimals(v) for name, v in value.items()}
    if isinstance(value, list):
        return [_in_decimals(v) for v in value]
    return repr(float(Fraction(value))) if isinstance(value, str) and "/" in value else value


def _vary(random: Generator, content: Any, k: int) -> None:
    """Change one number or index somewhere in the content, or leave an item of a list out, or repeat it."""
    places = [name for name in (content if isinstance(content, dict) else range(len(content))) if name != "kind"]
    if not places:
        return
    place = places[random.integers(len(places))]
    value = content[place]
    if isinstance(value, str):
        near = float(value) * (1 + random.choice([-1, 1]) * 10.0 ** -random.integers(1, 14))
        extreme, ordinary = decimal_text(EXTREME[random.integers(len(EXTREME))]), repr(float(random.normal()))
        content[place] = (extreme, extreme, ordinary, repr(float(near)))[random.integers(4)]
    elif isinstance(value, int):
        content[place] = int(random.integers(-2, min(max(k, value), 1 << 40) + 2))
    elif isinstance(value, list) and value and random.random() < 0.1:
        which = random.integers(len(value))
        value[which : which + 1] = [] if random.random() < 0.5 else [value[which], value[which]]
    elif isinstance(value, list | dict):
        _vary(random, value, k)


def decimals(numbers: Any) -> Numbers:
    return tuple(Fraction(repr(float(number))) for number in numbers)


def a_prior(random: Generator, k: int) -> Floats:
    p = random.dirichlet(np.ones(k) * random.choice([0.3, 1, 5]))
    if random.random() < 0.2:  # ties
        p = np.round(p, 1) + 1e-9
    p = np.maximum(p, 1e-9)
    return np.asarray(p / p.sum())


def an_epsilon(random: Generator, low: float = -1.0, high: float = 0.6) -> float:
    return float(np.round(10.0 ** random.uniform(low, high), 3))


def patterns(k: int, epsilon: float) -> Floats:
    return np.array(np.meshgrid(*[[1.0, math.exp(epsilon)]] * k)).reshape(k, -1)[:, 1:-1]


def optimum(utility: Any, rays: Floats) -> tuple[float, Floats]:
    """The best mixture of the rays, and its dual vector, by a linear program of its own."""
    from scipy.optimize import linprog

    values = utility.column_values(rays)
    if not np.isfinite(values).all():
        return math.inf, np.zeros(len(rays))
    scale = float(values.max()) or 1.0
    answer = linprog(-values / scale, A_eq=rays, b_eq=np.ones(len(rays)), method="highs")
    return -answer.fun * scale, -answer.eqlin.marginals * scale


def best_lie(random: Generator, utility: Any, rays: Floats) -> Floats | None:
    """α that is feasible on all rays but some, with the smallest sum."""
    from scipy.optimize import linprog

    values, k = utility.column_values(rays), len(rays)
    scale = float(values.max()) or 1.0
    kept = random.random(len(values)) > random.choice([0, 0.05, 0.3])
    answer = linprog(np.ones(k), A_ub=-rays.T[kept], b_ub=-values[kept] / scale, bounds=[(-3, 3)] * k, method="highs")
    return None if answer.x is None else np.asarray(answer.x * scale * (1 + 1e-10) + 1e-12 * scale)


def a_problem(random: Generator) -> tuple[Any, Any, Floats]:
    """A notion, a utility and the rays of the cone."""
    k, epsilon, p = int(random.integers(2, 5)), an_epsilon(random), None
    p = a_prior(random, k)
    which = random.integers(4)
    privacy: Any
    if which == 0:
        privacy, rays = LDP(epsilon), patterns(k, epsilon)
    elif which < 3:
        privacy = PML(epsilon, p) if which == 1 else LIP(epsilon, p)
        box = lift_box(privacy)
        rays = columns_of(box, vertices(box), k)
    else:
        at = random.random((k, int(random.integers(1, 3))))
        apart = np.abs(at[:, None] - at[None]).sum(axis=2).round(3) + (1 - np.eye(k)) * 0.01
        privacy = MetricPrivacy(epsilon, apart)
        rays = metric_rays(privacy)
    utility = MutualInformation(p) if random.random() < 0.3 else a_divergence(random, k)
    return privacy, utility, rays


def a_divergence(random: Generator, k: int) -> Any:
    return WITHOUT_PARAMETERS[random.integers(len(WITHOUT_PARAMETERS))](a_prior(random, k), a_prior(random, k))


def a_vector(random: Generator, utility: Any, rays: Floats, worth: float, dual: Floats) -> Numbers:
    kind = random.integers(5)
    if kind == 0:
        return tuple(EXTREME[i] for i in random.integers(len(EXTREME), size=len(rays)))
    if kind == 1:
        return decimals(random.normal(size=len(rays)) * worth)
    if kind == 2:
        return decimals(dual * (1 - 10.0 ** -random.integers(1, 12, size=len(rays))))
    lie = best_lie(random, utility, rays)
    return decimals(dual if lie is None or kind == 3 else lie)
