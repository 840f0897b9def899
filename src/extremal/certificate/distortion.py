"""Expected distortion, bounded from below by a dual vector, in rationals.

Take a prior p of the class and any α. With g_y(x) = p(x)d(x,y) − α_x the distortion under p is Σ_x α_x + Σ_y g_y·q_y,
because rows sum to 1. What remains is how negative Σ_y g_y·q_y can be when every column q_y is in the notion's cone; α
need not be feasible:

LDP      with l_y the least entry, q_y ∈ [l_y, E·l_y] and Σ l_y ≤ 1:    ≥ min(0, min_y Σ_x min(g, E·g)); or with Σ_y
1·q_y = k; PML, LIP with t_y = π·q_y, q_y ∈ [a·t_y, E·t_y] and Σ t_y = 1:          ≥ min_y max_τ τ + Σ_x min over the
interval of (g − τπ)·q; others   subtract multipliers ≥ 0 times the cone's inequalities, r_y = g_y − Σ f·(inequality): ≥
−Σ_x max_y max(0, −r_y(x)).

Inputs outside the prior's support are free under PML and LIP: their part is bounded like the last line.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from extremal.certificate.priors import chosen_prior
from extremal.certificate.refused import Refused
from extremal.exact import Exponential, as_fraction
from extremal.privacy import LDP, LIP, PML, MetricPrivacy, Notion
from extremal.utility import Distortion, Utility

Column = list[Fraction]

_BITS = 128  # of e^ε: far beyond the float that comes out


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The lower bound on the distortion that the dual vector proves."""
    if not isinstance(utility, Distortion):
        raise Refused("this proof is about a distortion", parameter="utility", value=utility.name)
    prior, alpha = chosen_prior(proof, utility.source), [_number(a) for a in proof["alpha"]]
    if len(alpha) != utility.k:
        raise Refused("the dual vector must have one entry for each input", parameter="len(alpha)", value=len(alpha))
    distances = utility.distances
    columns = [
        [p * Fraction(float(d)) - a for p, d, a in zip(prior, distances[:, y], alpha, strict=True)]
        for y in range(distances.shape[1])
    ]
    if isinstance(privacy, LDP) and not privacy.delta:
        left = _under_ldp(columns, privacy)
    elif isinstance(privacy, PML) and privacy.source.single is not None:
        left = _under_prior(
            columns, [privacy.prior.fraction(x) for x in range(utility.k)], Fraction(0), _upper(privacy.exponential)
        )
    elif isinstance(privacy, LIP):
        lowest = Fraction(1 << _BITS, _bounds(privacy.lower_exponential)[1])
        left = _under_prior(
            columns, [privacy.prior.fraction(x) for x in range(utility.k)], lowest, _upper(privacy.exponential)
        )
    elif isinstance(privacy, PML):
        left = -deficit(_without_shares(columns, proof["shares"], privacy))
    elif isinstance(privacy, MetricPrivacy):
        left = -deficit(without_flows(columns, proof["flows"], privacy))
    else:
        raise Refused("no check is known for this notion", parameter="privacy", value=privacy)
    return max(0.0, below(sum(alpha, Fraction(0)) + left))  # losses are not negative


def _under_ldp(columns: list[Column], privacy: LDP) -> Fraction:
    """The better of two ways to count: by the least entries, or by Σ_y 1·q_y = k, which keeps its digits at large ε."""
    e = _upper(privacy.exponential)
    by_least = min([Fraction(0), *(sum((min(g, e * g) for g in column), Fraction(0)) for column in columns)])
    return max(by_least, -len(columns[0]) * max(_lift(column, e) for column in columns)) if by_least else by_least


def _lift(column: Column, e: Fraction) -> Fraction:
    """The least η ≥ 0 with (g + η)·q ≥ 0 for every q ∈ [1, E]^k: Newton's steps on a concave function, from the left,
    finitely many."""
    lift = Fraction(0)
    while True:
        raised = [g + lift for g in column]
        total = sum((min(g, e * g) for g in raised), Fraction(0))
        if total >= 0:
            return lift
        below_zero = sum(g < 0 for g in raised)
        lift -= total / (below_zero * e + len(column) - below_zero)


def _under_prior(columns: list[Column], prior: Column, lowest: Fraction, highest: Fraction) -> Fraction:
    """min over y of the least g·q with π·q = 1 and q between lowest and highest on the support; the rest of the inputs
    is free."""
    support = [x for x, p in enumerate(prior) if p]
    worst = None
    for g in columns:
        order = sorted(support, key=lambda x: g[x] / prior[x])  # fill up where g/π is smallest
        room, tau = 1 - lowest, g[order[-1]] / prior[order[-1]]
        for x in order:
            room -= prior[x] * (highest - lowest)
            if room <= 0:
                tau = g[x] / prior[x]
                break
        value = tau + sum((min(lowest * h, highest * h) for h in (g[x] - tau * prior[x] for x in support)), Fraction(0))
        worst = value if worst is None else min(worst, value)
    free = [x for x, p in enumerate(prior) if not p]
    return (worst or Fraction(0)) - deficit([[g[x] for x in free] for g in columns])


def without_flows(columns: list[Column], flows: list[Any], privacy: MetricPrivacy) -> list[Column]:
    """g_y − Σ f·(e^{εd(x,x')}·1_x' − 1_x), each f ≥ 0 for the inequality Q(y|x) ≤ e^{εd}·Q(y|x'); e^{εd} rounded up."""
    left, bounds = [list(column) for column in columns], {}
    for y, x, other, amount in flows:
        f = _number(amount)
        if f < 0 or math.isinf(privacy.distances[x, other]):
            raise Refused(
                "multipliers must be ≥ 0 and between inputs at a finite distance",
                parameter="flow",
                value=(y, x, other, amount),
            )
        exponent = privacy.exact_exponent(x, other)
        if exponent not in bounds:
            bounds[exponent] = _upper(Exponential.unchecked(exponent))
        left[y][other] -= f * bounds[exponent]
        left[y][x] += f
    return left


def _without_shares(columns: list[Column], shares: list[Any], privacy: PML) -> list[Column]:
    """g_y − Σ_x f_x·(E·π_y − 1_x) with f ≥ 0: multipliers of q_x ≤ E·π_y·q, π_y a mixture of the class's priors that
    the proof chooses.

    f_x = max(0, τπ_x − g_x) leaves nothing negative when E·Σf ≤ τ; τ − E·Σf is concave in τ, so its best breakpoint is
    taken.
    """
    e = _upper(privacy.exponential)
    vertices, support = privacy.source.vertices(), privacy.source.support()
    weights: dict[int, dict[int, Fraction]] = {}
    for y, v, amount in shares:
        weights.setdefault(y, {})[v] = _number(amount)
    left = []
    for y, g in enumerate(columns):
        chosen = weights.get(y) or dict.fromkeys(range(len(vertices)), Fraction(1))
        total = sum(chosen.values(), Fraction(0))
        if min(chosen.values()) < 0 or not total:
            raise Refused("weights must be ≥ 0 and not all 0", parameter="shares", value=y)
        mixed = [
            sum((w * vertices[v].fraction(x) for v, w in chosen.items()), Fraction(0)) / total for x in range(len(g))
        ]
        inside = [(x, h, p) for x, (h, p) in enumerate(zip(g, mixed, strict=True)) if support[x]]

        def multipliers(tau: Fraction, inside: list[tuple[int, Fraction, Fraction]] = inside) -> dict[int, Fraction]:
            return {x: max(Fraction(0), tau * p - h) for x, h, p in inside}

        best = max(
            (h / p for _, h, p in inside if p), key=lambda tau: tau - e * sum(multipliers(tau).values(), Fraction(0))
        )
        f = multipliers(best)
        whole = e * sum(f.values(), Fraction(0))
        left.append([h + f.get(x, Fraction(0)) - whole * p for x, (h, p) in enumerate(zip(g, mixed, strict=True))])
    return left


def deficit(columns: list[Column]) -> Fraction:
    """Σ_x max_y max(0, −r_y(x)): what lowering α_x until every column is ≥ 0 costs."""
    return sum((max(Fraction(0), *(-r for r in row)) for row in zip(*columns, strict=True)), Fraction(0))


def _bounds(exponential: Exponential) -> tuple[int, int]:
    return exponential.bounds(_BITS)


def _upper(exponential: Exponential) -> Fraction:
    return Fraction(_bounds(exponential)[1], 1 << _BITS)


def _number(text: Any) -> Fraction:
    """Numbers in proofs are floats as they print, or rationals; either reading is a valid choice."""
    return as_fraction(text, "proof")


def below(number: Fraction) -> float:
    """The largest float that is at most `number`."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)
