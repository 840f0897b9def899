"""Hypothesis strategies for priors, privacy levels and mechanisms: for our tests and for yours.

Needs the package `hypothesis`. Every strategy also draws the awkward cases: zeros and ties in priors, tiny and huge ε,
columns that use the privacy budget to the last unit.

>>> from hypothesis import given
>>> @given(ldp_mechanisms())
... def test_is_private(m):
...     assert m.privacy.holds(m)
>>> test_is_private()
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from extremal.mechanism import Mechanism
from extremal.privacy import LDP, PML

SearchStrategy = st.SearchStrategy[Any]


def epsilons(smallest: float = 0.01, largest: float = 20.0) -> SearchStrategy:
    """ε in nats, log-uniform in spirit: round values, and floats between."""
    usual = st.sampled_from(
        [e for e in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0) if smallest <= e <= largest] or [smallest]
    )
    return usual | st.floats(smallest, largest)


def priors(k: int | None = None, zeros: bool = True, largest: int = 8) -> SearchStrategy:
    """Probability vectors as Fractions: with ties, with zeros unless refused, of k symbols or 2..largest."""
    sizes = st.just(k) if k is not None else st.integers(2, largest)
    weight = st.integers(0 if zeros else 1, 20)

    def normalised(weights: list[int]) -> list[Fraction]:
        positive = weights if any(weights) else [1] * len(weights)
        return [Fraction(w, sum(positive)) for w in positive]

    return sizes.flatmap(lambda n: st.lists(weight, min_size=n, max_size=n)).map(normalised)


@st.composite
def matrices(draw: st.DrawFn, k: int | None = None, m: int | None = None) -> npt.NDArray[np.float64]:
    """Row-stochastic float matrices without any privacy, k×m or 2..6 each."""
    rows = k if k is not None else draw(st.integers(2, 6))
    columns = m if m is not None else draw(st.integers(2, 6))
    weights = draw(st.lists(st.integers(0, 50), min_size=rows * columns, max_size=rows * columns))
    array = np.array(weights, dtype=np.float64).reshape(rows, columns)
    array[~array.any(axis=1)] = 1.0
    return np.asarray(array / array.sum(axis=1, keepdims=True))


@st.composite
def mechanisms(draw: st.DrawFn, k: int | None = None, m: int | None = None) -> Mechanism:
    """Mechanisms without a claim; their level may be infinite."""
    return Mechanism.from_matrix(draw(matrices(k, m)))


@st.composite
def ldp_mechanisms(draw: st.DrawFn, k: int | None = None, epsilon: float | None = None) -> Mechanism:
    """ε-LDP mechanisms, tight: mixtures of staircase columns and their complements."""
    rows = k if k is not None else draw(st.integers(2, 6))
    nats = epsilon if epsilon is not None else draw(epsilons())
    patterns = draw(st.lists(st.integers(1, 2**rows - 2), min_size=1, max_size=4, unique=True))
    shares = draw(st.lists(st.integers(1, 9), min_size=len(patterns), max_size=len(patterns)))
    columns = []
    for pattern, share in zip(patterns, shares, strict=True):
        inside = np.array([pattern >> x & 1 for x in range(rows)], dtype=bool)
        low = float(np.exp(-nats))
        scale = share / sum(shares) / (1 + low)
        columns += [np.where(inside, 1.0, low) * scale, np.where(inside, low, 1.0) * scale]
    return Mechanism.from_matrix(np.array(columns).T, LDP(nats))


@st.composite
def pml_mechanisms(draw: st.DrawFn) -> Mechanism:
    """ε-PML mechanisms for a positive prior: a high-privacy region, tight in every report (GSO Theorem 3)."""
    prior = [float(p) for p in draw(priors(zeros=False))]
    largest = -float(np.log1p(-min(prior)))
    nats = draw(st.floats(0.01, 0.99)) * largest
    e, p = np.exp(nats), np.array(prior)
    matrix = np.tile(e * p, (len(p), 1))
    np.fill_diagonal(matrix, 1 - e * (1 - p))
    return Mechanism.from_matrix(matrix, PML(max(nats, 1e-9), prior))
