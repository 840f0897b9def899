"""Dual vectors: for any α, Σ_y μ(q_y) = Σα + Σ_y (μ(q_y) − α·q_y), because the columns q_y of a mechanism add up to 1.

What is left is bounded over the cone of the notion in one of two ways: ray by ray (`Rays`), or by a few linear
functions that together lie above μ (`Lines`): chords of f for a divergence, the costs of the outputs for a
distortion. α need not be feasible; the better it is, the smaller the bound.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, lcm
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from extremal.certificate.arithmetic.cones import Vector, cone_of
from extremal.certificate.arithmetic.enclosures import (
    Ball,
    Rational,
    above,
    fraction,
    largest,
    of_vectors,
    pair_rule,
    pair_value,
    rational,
    rules_of,
    upper,
    weights_of,
)
from extremal.certificate.arithmetic.whole import Integers
from extremal.certificate.proof import Multipliers, Numbers, Pairs, Proof
from extremal.certificate.refused import Refused
from extremal.exact import Prior
from extremal.privacy import PML, Notion
from extremal.sources import SourceClass
from extremal.utility import Distortion, Divergence, Hamming, Utility

MOST_NODES = 20_000
MOST_ENTRIES = 20_000_000  # nodes times inputs


def dual_vector(alpha: Numbers, utility: Utility) -> Vector:
    if len(alpha) != utility.k:
        raise Refused("the dual vector must have one entry for each input", parameter="len(alpha)", value=len(alpha))
    common = lcm(*{a.denominator for a in alpha})
    return Vector([int(a * common) for a in alpha], common)


def mixture(mix: Numbers, utility: Utility) -> list[Rational]:
    """The weights of the utility's leaves; for a worst case those of the mean of its parts that the proof chooses."""
    rows = weights_of(utility)
    chosen = mix or (Fraction(1),) * len(rows)
    if len(chosen) != len(rows) or any(w < 0 for w in chosen) or not sum(chosen):
        raise Refused(
            "there must be one weight ≥ 0 for each utility, not all 0", parameter="len(mix)", value=len(chosen)
        )
    total = sum(chosen)
    return [
        sum((rational(w / total) * row[i] for w, row in zip(chosen, rows, strict=True)), rational(0))
        for i in range(len(rows[0]))
    ]


def worth_of(mix: Numbers, utility: Utility, gather: Any) -> Callable[[Any], Ball]:
    """Column ↦ Σ mix·μ."""
    weighed = [(w, rule) for w, rule in zip(mixture(mix, utility), rules_of(utility, gather), strict=True) if w]
    return lambda column: sum((w * rule(column) for w, rule in weighed), arb(0))


def best_of_rays(total: Rational, k: int, rays: Iterable[Sequence[int]], worth: Any, paid: Any) -> Fraction | float:
    """total + k·max over rays r of (worth(r) − paid(r))/(1·r)."""
    return upper(arb(total) + k * largest((worth(ray) - arb(paid(ray))) / sum(ray) for ray in rays))


@dataclass(frozen=True)
class Rays(Proof):
    """OPT ≤ Σα + k·max over extreme rays r of (Σ mix·μ(r) − α·r)/(1·r), of either sign.

    Fields: alpha, one number an input. mix, one weight ≥ 0 for each utility of a worst case (empty otherwise): the
    least of several is at most any mean of them. tree: for metric privacy, edges (parent, child) of a spanning tree
    whose inequalities alone are used; empty lists the rays of the whole cone.
    """

    kind: ClassVar[str] = "rays"
    alpha: Numbers
    mix: Numbers = ()
    tree: Pairs = ()

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        alpha, worth = dual_vector(self.alpha, utility), worth_of(self.mix, utility, of_vectors)
        rays = cone_of(privacy, utility.k, self.tree).rays()
        return best_of_rays(alpha.total, utility.k, rays, worth, alpha.along)


@dataclass(frozen=True)
class Lines(Proof):
    """Linear functions above μ, with a dual vector: OPT ≤ Σα + a bound on Σ_y (line − α)·q_y over the cone.

    For an f-divergence: between nodes t_i ≤ M₀/M₁ ≤ t_{i+1} the convex f lies below its chord. The first and the last
    node either enclose all ratios of the cone (t·P₁ − P₀ and P₀ − t·P₁ are ≤ 0 on it), or f goes on below a chord
    from 0 and a line of its last slope. For an expected distortion under one prior p (a cost: OPT ≥ Σα − …): the line
    of output y is −p(x)·d(x,y), and nodes are empty.

    Fields: alpha; nodes, increasing numbers ≥ 0; multipliers (i, a, b, f): f ≥ 0 times the inequality (a, b) of the
    cone is taken off vector i, for metric privacy (q_a ≤ e^{εd(a,b)}·q_b) and classes of priors (q_a ≤ e^ε·p_b·q).
    Vectors are numbered: the n − 1 chords from 0 on, then n − 1 and n for the two ends (what proves that the nodes
    reach far enough, or the piece beyond); for a distortion, outputs. tree: for metric privacy, edges of a spanning
    tree whose inequalities alone are used; then there are no multipliers.
    """

    kind: ClassVar[str] = "lines"
    alpha: Numbers
    nodes: Numbers = ()
    multipliers: Multipliers = ()
    tree: Pairs = ()

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        cone, total = cone_of(privacy, utility.k, self.tree), sum(self.alpha, Fraction(0))
        alpha = dual_vector(self.alpha, utility)
        if isinstance(utility, Distortion):
            if type(utility) not in (Distortion, Hamming) or self.nodes:
                raise Refused("costs have no nodes", parameter="nodes", value=len(self.nodes))
            return max(total - fraction(cone.excess(_costs(utility, alpha), self.multipliers)), Fraction(0))
        pieces = self._pieces(utility, cone)
        if None in pieces.values():
            return inf
        place = {name: i for i, name in enumerate(pieces)}
        vectors = [_line(utility, slope, start, alpha) for slope, start in pieces.values()]  # type: ignore[misc]
        return total + fraction(
            cone.excess(vectors, [(place[i], a, b, f) for i, a, b, f in self.multipliers if i in place])
        )

    def _pieces(self, utility: Utility, cone: Any) -> dict[int, tuple[Rational, Rational] | None]:
        """The lines (slope, value at 0) that together lie above f, by number; None where f is infinite."""
        if (
            not isinstance(utility, Divergence)
            or not 1 <= len(self.nodes) <= MOST_NODES
            or len(self.nodes) * utility.k > MOST_ENTRIES
        ):
            raise Refused("a divergence needs nodes, not too many", parameter="len(nodes)", value=len(self.nodes))
        if self.nodes[0] < 0 or any(b <= a for a, b in pairwise(self.nodes)):
            raise Refused("nodes must be ≥ 0 and increase", parameter="nodes", value=self.nodes[:4])
        rule, nodes, n = pair_rule(utility), [rational(t) for t in self.nodes], len(self.nodes)
        points = [(t, above(pair_value(rule, t, fmpq(1)))) for t in nodes]
        pieces = dict(enumerate(_chord(a, b) for a, b in pairwise(points)))
        left, right = ([(0, a, b, f) for i, a, b, f in self.multipliers if i == n - 1 + side] for side in (0, 1))
        if nodes[0] and not cone.refutes(_line(utility, fmpq(-1), nodes[0], None), left):
            pieces[n - 1] = _chord((fmpq(0), above(pair_value(rule, fmpq(0), fmpq(1)))), points[0])
        if not cone.refutes(_line(utility, fmpq(1), -nodes[-1], None), right):
            slope, (t, f) = above(pair_value(rule, fmpq(1), fmpq(0))), points[-1]
            pieces[n] = None if slope is None or f is None else (slope, f - slope * t)
        if not pieces:  # one node and both ends proved: it is 1, what constants have, and f(1) = 0
            pieces[n] = fmpq(0), fmpq(0)
        return pieces


def _line(utility: Any, slope: Rational, start: Rational, alpha: Vector | None) -> Vector:
    """slope·P₀ + start·P₁ − α."""
    p0, p1 = utility.pair.p0, utility.pair.p1
    offset, unit = alpha or ([0] * utility.k, 1)
    scale = int(slope.q * start.q) * p0.total * p1.total * unit
    a, b, c = int((slope * scale).p) // p0.total, int((start * scale).p) // p1.total, scale // unit
    return Vector([a * u + b * v - c * z for u, v, z in zip(p0.weights, p1.weights, offset, strict=True)], scale)


def _chord(left: Any, right: Any) -> tuple[Rational, Rational] | None:
    """(slope, value at 0) of a line that is at or above both ends, with short numbers; None when an end is infinite."""
    (a, f), (b, g) = left, right
    if f is None or g is None:
        return None
    slope = above(arb((g - f) / (b - a)))
    return slope, above(arb(max(f - slope * a, g - slope * b)))


def _costs(utility: Distortion, alpha: Vector) -> list[Vector]:
    """α(x) − p(x)·d(x,y) for each output y, when the prior is one."""
    prior = utility.source.single
    if prior is None:
        raise Refused("a distortion is bounded under one prior of its class", parameter="source", value=utility.source)
    (distances, common), (offset, unit) = exact_distances(utility), alpha
    losses = np.array(prior.weights, dtype=object)[:, None] * distances * unit
    prices = np.array(offset, dtype=object)[:, None] * (prior.total * common)
    return [Vector(line, prior.total * common * unit) for line in (prices - losses).T.tolist()]


def exact_distances(utility: Distortion) -> tuple[Integers, int]:
    """Losses as the decimals they print as: whole numbers, and what they are divided by."""
    if type(utility) is Hamming:
        return 1 - np.eye(utility.k, dtype=object), 1
    distances = [[Fraction(repr(d)) for d in row] for row in utility.distances.tolist()]
    common = lcm(*{d.denominator for row in distances for d in row})
    return np.array([[int(d * common) for d in row] for row in distances], dtype=object), common


@dataclass(frozen=True)
class OnePrior(Proof):
    """A bound for a class of priors from one of them, with the proof for that one.

    What is private for every prior of a class is private for each; a worst-case cost over a class is at least that of
    each. The class of a cost is replaced first; a proof of this kind within another replaces that of the notion too.
    Fields: prior, numbers ≥ 0 in proportion to the probabilities of a prior that must lie in the class; or, for the
    hull of a list, weights of its members (mix), and prior empty. proof: about the notion or the cost with that prior
    alone.
    """

    kind: ClassVar[str] = "one prior"
    prior: Numbers
    mix: Numbers
    proof: Proof

    def _bound(self, privacy: Any, utility: Any) -> Fraction | float:
        if getattr(utility, "source", None) is not None and utility.source.single is None:
            utility = _with_source(utility, self._chosen(utility.source))
        elif type(privacy) is PML and privacy.source.single is None:
            privacy = _with_source(privacy, self._chosen(privacy.source))
        else:
            raise Refused("there is no class of priors to choose from", parameter="privacy", value=privacy)
        return self.proof._bound(privacy, utility)

    def _chosen(self, source: SourceClass) -> Prior:
        chosen = self.prior or self.mix
        if any(w < 0 for w in chosen) or not sum(chosen):
            raise Refused("weights must be ≥ 0 and not all 0", parameter="prior", value=chosen[:6])
        weights = list(self.prior)
        if not weights:
            if source.kind not in ("list", "ordered") or len(chosen) != len(source.priors):
                raise Refused("a mixture is of the members of a list", parameter="len(mix)", value=len(chosen))
            rows = [[w * p.fraction(x) for x in range(source.k)] for w, p in zip(self.mix, source.priors, strict=True)]
            weights = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
        elif len(weights) != source.k:
            raise Refused("there must be a number for each input", parameter="len(prior)", value=len(weights))
        total = sum(weights)
        prior = Prior([w / total for w in weights])
        if self.prior and not source.admits(prior):
            raise Refused("the prior must lie in the class", parameter="prior", value=chosen[:6])
        return prior


def _with_source(value: Any, prior: Prior) -> Any:
    changed = copy.copy(value)
    changed.source = SourceClass([prior])
    return changed
