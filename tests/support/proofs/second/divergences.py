"""Kinds of proof about divergences alone: directions, partitions, ratios."""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from support.proofs.second.cones import Cone, direction
from support.proofs.second.problem import (
    NOTHING,
    ONE,
    ZERO,
    Pair,
    Vector,
    different,
    number,
    numbers,
    pair_rule,
    prior,
    require,
    size,
)


def _leaves(utility: dict[str, Any], weight: Decimal) -> Iterator[tuple[Decimal, dict[str, Any]]]:
    parts = utility.get("utilities")
    if parts is None:
        yield weight, utility
    for part in parts or []:
        yield from _leaves(part, weight / len(parts or []))


def directions(proof: Any, notion: Any, utility: Any) -> Decimal:
    k, alpha, mix = size(utility), numbers(proof["alpha"]), numbers(proof["mix"])
    require(notion["notion"] == "LDP" and len(alpha) == k, "ε-LDP, one number an input")
    worst = utility["utility"] == "WorstCase"
    parts = utility["utilities"] if worst else [utility]
    require(not mix or (len(mix) == len(parts) and min(mix) >= 0 and max(mix) > 0), "one weight a part")
    shares = [w / sum(mix) for w in mix] if mix else [ONE / len(parts)] * len(parts)
    weighted = [leaf for share, part in zip(shares, parts, strict=True) for leaf in _leaves(part, share)]
    require(all("p0" in leaf for _, leaf in weighted), "divergences")
    leaves = [(w, leaf) for w, leaf in weighted if w]
    named: list[Vector] = different([prior(leaf[name]) for _, leaf in leaves for name in ("p0", "p1")])

    def place(p: Vector) -> int:
        return next(i for i, q in enumerate(named) if all(abs(a - b) < NOTHING for a, b in zip(p, q, strict=True)))

    rules = [(w, pair_rule(leaf), place(prior(leaf["p0"])), place(prior(leaf["p1"]))) for w, leaf in leaves]
    m, top, best = len(named), Cone(notion, k, ()).top, ZERO
    require(m <= 6 and len(proof["trees"]) == len(list(itertools.permutations(range(m)))), "a tree for each order")
    require(top > 1, "ε > 0")
    wide = (top * 2**16).to_integral_value(decimal.ROUND_CEILING) / 2**16
    edges = list(itertools.combinations(range(m), 2))
    for order, tree in zip(itertools.permutations(range(m)), proof["trees"], strict=True):
        corners = [[wide if i in order[:j] else ONE for i in range(m)] for j in range(m)]
        stack = [[[v / sum(u) for v in u] for u in corners]]
        for token in tree:
            require(bool(stack) and -1 <= token < len(edges), "tokens of a tree")
            cell = stack.pop()
            if token >= 0:
                a, b = edges[token]
                middle = [(x + y) / 2 for x, y in zip(cell[a], cell[b], strict=True)]
                stack += [[middle if i == end else u for i, u in enumerate(cell)] for end in (b, a)]
                continue
            heights = [sum((w * rule(u[i], u[j]) for w, rule, i, j in rules), ZERO) for u in cell]
            # λ and a last −1 are orthogonal to every (vertex, height)
            slopes = direction([[*u, h] for u, h in zip(cell, heights, strict=True)], m + 1)
            line = [-v / slopes[m] for v in slopes[:m]]
            g = [sum((s * p[x] for s, p in zip(line, named, strict=True)), ZERO) - alpha[x] for x in range(k)]
            best = max(best, sum(g, ZERO) + (top - 1) * sum((v for v in g if v > 0), ZERO))
        require(not stack, "a tree covers its cone")
    return sum(alpha, ZERO) + k * best / (top + k - 1)


def partition(proof: Any, notion: Any, utility: Any) -> Decimal:
    require("p0" in utility, "what the theorem is about")
    return _by_cells(proof, notion, utility, pair_rule(utility), size(utility))


def mean_partition(proof: Any, notion: Any, utility: Any) -> Decimal:
    """Leaves with their weights; the first that has one says which hypothesis is the first."""

    def weighed(part: Any, weight: Decimal) -> list[tuple[Any, Decimal]]:
        if "utilities" not in part:
            return [(part, weight)]
        inner = part["utilities"]
        return [found for one in inner for found in weighed(one, weight / len(inner))]

    mix, leaves = numbers(proof["mix"]), weighed(utility, ONE)
    if utility["utility"] == "WorstCase":
        parts = utility["utilities"]
        chosen = mix or [ONE] * len(parts)
        require(len(chosen) == len(parts) and min(chosen) >= 0 and max(chosen) > 0, "one weight a part")
        leaves = [x for part, w in zip(parts, chosen, strict=True) for x in weighed(part, w / sum(chosen))]
    else:
        require(not mix or (len(mix) == 1 and mix[0] > 0), "no parts to mix")
    leaves = [(leaf, w) for leaf, w in leaves if w]
    require(all("p0" in leaf for leaf, _ in leaves), "divergences")
    pair = [[Fraction(p) / sum(map(Fraction, leaves[0][0][name])) for p in leaves[0][0][name]] for name in ("p0", "p1")]
    rules: list[Pair] = []
    for leaf, w in leaves:
        own = [[Fraction(p) / sum(map(Fraction, leaf[name])) for p in leaf[name]] for name in ("p0", "p1")]
        require(own in (pair, pair[::-1]), "one pair")
        rules.append(_weighed_rule(pair_rule(leaf), w, own == pair))
    return _by_cells(proof, notion, leaves[0][0], lambda a, b: sum((rule(a, b) for rule in rules), ZERO), size(utility))


def _weighed_rule(rule: Pair, weight: Decimal, forward: bool) -> Pair:
    return lambda a, b: weight * (rule(a, b) if forward else rule(b, a))


def _by_cells(proof: Any, notion: Any, utility: Any, rule: Pair, k: int) -> Decimal:
    v, cells = number(proof["value"]), proof["cells"]
    require(notion["notion"] == "LDP" and v >= 0 and bool(cells), "what the theorem is about")
    cone = Cone(notion, k, ())
    symbols = list(zip(prior(utility["p0"]), prior(utility["p1"]), strict=True))
    require(all(0 <= x < len(symbols) and any(symbols[x]) for cell in cells for x in cell), "symbols that exist")

    def later(a: tuple[Decimal, Decimal], b: tuple[Decimal, Decimal]) -> bool:
        return a[0] * b[1] - b[0] * a[1] > NOTHING

    ends = [(symbols[i], symbols[j]) for i, j in cells]
    require(not any(later(a, b) for a, b in itertools.pairwise([e for cell in ends for e in cell])), "order")
    masses = [[ZERO, ZERO] for _ in cells]
    for s in symbols:
        own = [i for i, (first, last) in enumerate(ends) if any(s) and not later(first, s) and not later(s, last)]
        require(bool(own) or not any(s), "every symbol lies in a cell")
        if own:
            masses[own[-1]][0] += s[0]
            masses[own[-1]][1] += s[1]
    return _along(cone, rule, v, ends, masses)


def ratios(proof: Any, notion: Any, utility: Any) -> Decimal:
    v, ends = number(proof["value"]), [number(text) for text in proof["ends"]]
    require("p0" in utility and notion["notion"] == "LDP" and v >= 0 and bool(ends), "what the theorem is about")
    far = Decimal(10) ** 200
    require(ONE / far <= ends[0] and ends[-1] <= far, "ends within bounds")
    require(all(a < b for a, b in itertools.pairwise(ends)), "order")
    masses = [[ZERO, ZERO] for _ in range(len(ends) + 1)]
    for a, b in zip(prior(utility["p0"]), prior(utility["p1"]), strict=True):
        own = sum(a - end * b >= -NOTHING for end in ends) if a or b else 0
        masses[own][0] += a
        masses[own][1] += b
    directions = [(ZERO, ONE), *((end, ONE) for end in ends), (ONE, ZERO)]
    filled = [(pair, m) for pair, m in zip(itertools.pairwise(directions), masses, strict=True) if any(m)]
    cone = Cone(notion, size(utility), ())
    return _along(cone, pair_rule(utility), v, [pair for pair, _ in filled], [m for _, m in filled])


def _along(cone: Cone, rule: Pair, v: Decimal, ends: Any, masses: Any) -> Decimal:
    """The best path over the nodes of the polygon around cells with these ratios at their ends."""
    nodes = [(ZERO, ZERO)]
    for ((u, w), (u1, w1)), (a, b) in zip(ends, masses, strict=True):
        turn = w * u1 - u * w1
        x, y = nodes[-1]
        if turn > NOTHING:
            share = (b * u1 - a * w1) / turn
            nodes.append((x + share * u, y + share * w))
        nodes.append((x + a, y + b))
    c, paths = cone.top - 1, [ZERO]
    for j in range(1, len(nodes)):
        (x, y) = nodes[j]
        steps = (rule(1 + c * (x - nodes[i][0]), 1 + c * (y - nodes[i][1])) + paths[i] for i in range(j))
        paths.append(max(steps) - v)
    return v + max(ZERO, paths[-1] - c * v) / (cone.top + 1)
