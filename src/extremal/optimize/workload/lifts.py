"""Columns as deviations: the coordinates in which a workload is designed.

A column q with m = p·q is m times its *lift* q/m = 1 + D, p·D = 0. A mechanism is a distribution θ on lifts with mean
1, Σθ D = 0, and its excess information is V = Σ θ D Dᵀ (see `extremal.utility.fisher`). Both live in the k−1
dimensional space p⊥, so with an orthonormal basis U of it a lift is the point d = UᵀD, the statistics are B = A_c U and
F = tr(B (Σθddᵀ)⁻¹ Bᵀ). D is formed without cancellation at small ε: for the staircase column of a set T, D = (e^ε −
1)(1_T − p(T))/(1 + (e^ε − 1)p(T)).

Z = P U V'⁻¹ Uᵀ Pᵀ, P = I − p1ᵀ, is the covariance J⁻¹ − ppᵀ of the shares: symmetric, Z1 = 0, F = tr(WZ). Every proof
of a bound is about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sets = npt.NDArray[np.bool_]

RIDGE = 1e-7  # relative to B: costs about as much of F
FEW_ROWS = 256  # statistics up to which dependent ones are looked for
DEPENDENT = 1e-10  # singular values below this share of the largest are rounding


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A prior and the statistics wanted, in p⊥.

    Attributes:
        prior: p, all positive.
        rows: A.
    """

    prior: Floats
    rows: Floats

    @property
    def k(self) -> int:
        return self.prior.size

    @cached_property
    def basis(self) -> Floats:
        """U, k×(k−1): the Householder reflection that takes p/|p| to the last axis, without its last column."""
        direction = self.prior / np.linalg.norm(self.prior)
        normal = direction.copy()
        normal[-1] += 1.0  # the sign that does not cancel: p ≥ 0
        normal /= np.linalg.norm(normal)
        return np.asarray((np.eye(self.k) - 2 * np.outer(normal, normal))[:, :-1])

    @cached_property
    def statistics(self) -> Floats:
        """B = A_c U, compressed to at most k−1 rows with the same BᵀB.

        A few dependent rows are made independent: the shares of "no" and of "yes" would make BBᵀ singular.
        """
        found = (self.rows - (self.rows @ self.prior)[:, None]) @ self.basis
        if found.shape[0] > found.shape[1]:
            found = np.asarray(np.linalg.qr(found, mode="r"))
        if found.shape[0] <= FEW_ROWS:
            _, sizes, directions = np.linalg.svd(found, full_matrices=False)
            kept = sizes > DEPENDENT * sizes[0]
            if not kept.all():
                found = sizes[kept, None] * directions[kept]
        return np.asarray(found)

    @property
    def determined(self) -> bool:
        """All shares matter."""
        return len(self.statistics) >= self.k - 1

    @cached_property
    def guarded(self) -> Floats:
        """B, and when it has fewer than k−1 rows a trace RIDGE of every coordinate besides.

        Where not all shares matter the best V may be singular, and its design has no inverse to compute with. F_r = F +
        r²·tr V⁻¹ has one; its dual serves F too, since dropping the positive part of G that belongs to the ridge only
        lowers every column's price: the bound loses r²·tr V⁻¹ at most."""
        n = self.k - 1
        if self.determined:
            return self.statistics
        return np.vstack([self.statistics, RIDGE * np.linalg.norm(self.statistics) / np.sqrt(n) * np.eye(n)])

    def points(self, deviations: Floats) -> Floats:
        """d = UᵀD of lifts given by their deviations, one a column."""
        return np.asarray(self.basis.T @ deviations)

    def covariance(self, inverse: Floats) -> Floats:
        """Z = P U V'⁻¹ Uᵀ Pᵀ."""
        return self.centred(self.basis @ inverse @ self.basis.T)

    def centred(self, inner: Floats) -> Floats:
        """P·inner·Pᵀ."""
        half = inner - np.outer(self.prior, inner.sum(axis=0))
        return np.asarray(half - np.outer(half.sum(axis=1), self.prior))


def principal(rows: Floats, prior: Floats) -> tuple[Floats, float]:
    """A statistic a with aᵀa = AᵀA but for constants, and how large the rest is, relatively; where there is one row,
    that, to the last bit."""
    centred = rows - (rows @ prior)[:, None]
    direction = centred[np.linalg.norm(centred, axis=1).argmax()]
    direction = direction / np.linalg.norm(direction)
    along = centred @ direction
    size = float(np.linalg.norm(along))
    rest = np.linalg.norm(centred - np.outer(along, direction))
    return (rows[0] if len(rows) == 1 else np.asarray(along @ centred / size)), float(rest) / size


def staircase_deviations(inside: Sets, prior: Floats, growth: float) -> Floats:
    """D of the staircase columns of sets (k×N booleans); growth = e^ε − 1."""
    members = inside.astype(np.float64)
    mass = prior @ members
    return np.asarray(growth * (members - mass) / (1 + growth * mass))


def all_sets(k: int) -> Sets:
    """Every subset of k inputs but the empty one and the whole, one a column."""
    numbers = np.arange(1, 2**k - 1)
    return np.asarray((numbers[None, :] >> np.arange(k)[:, None]) & 1, dtype=np.bool_)
