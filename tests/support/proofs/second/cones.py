"""Cones of columns: `planes` are vectors with plane·q ≤ 0 by name, besides q ≥ 0."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from support.proofs.second.problem import (
    NOTHING,
    ONE,
    ZERO,
    Vector,
    dot,
    exponential,
    number,
    prior,
    priors_of,
    require,
)


class Cone:
    def __init__(self, notion: dict[str, Any], k: int, tree: Sequence[Sequence[int]]) -> None:
        self.k, self.kind, self.tree = k, notion["notion"], tree
        self.p: Vector = []
        self.named: dict[tuple[int, int], Vector] = {}
        require(not tree or self.kind == "MetricPrivacy", "a tree is for metric privacy")
        if self.kind == "MetricPrivacy":
            d, scale = notion["distances"], number(notion["epsilon"])
            require(len(d) == k, "as many inputs")
            for x, z in itertools.permutations(range(k), 2):
                if d[x][z] != "inf" and scale * number(d[x][z]) <= 2048:
                    self.named[x, z] = [
                        ONE if i == x else -(scale * number(d[x][z])).exp() if i == z else ZERO for i in range(k)
                    ]
            self._check_tree()
            return
        self.top, self.low = exponential(notion), ZERO
        if self.kind == "LDP":
            require(not number(notion["delta"]), "δ = 0")
            self.low = ONE
        elif self.kind == "LIP":
            self.p, self.low = prior(notion["prior"]), 1 / exponential(notion["lower"] or notion)
        else:
            priors = priors_of(notion["source"])
            if len(priors) == 1:
                self.p = priors[0]
            else:
                for x, (v, p) in itertools.product(range(k), enumerate(priors)):
                    if any(r[x] for r in priors):
                        self.named[x, v] = [Decimal(int(x == z)) - self.top * w for z, w in enumerate(p)]
            require(len(priors[0]) == k, "as many inputs")
        require(not self.p or len(self.p) == k, "as many inputs")

    def _check_tree(self) -> None:
        placed = {e[0] for e in self.tree[:1]}
        for z, x in self.tree:
            require(z in placed and x not in placed and (x, z) in self.named, "a tree")
            placed.add(x)
        require(not self.tree or len(placed) == self.k, "a tree reaches all inputs")

    def rays(self) -> Iterator[Vector]:
        if self.kind == "LDP":
            yield from (
                [self.top if b else ONE for b in bits]
                for bits in itertools.product((0, 1), repeat=self.k)
                if len(set(bits)) > 1
            )
        elif self.p:
            yield from self._lifts()
        elif self.tree:
            for signs in itertools.product((1, -1), repeat=len(self.tree)):
                q = [ONE] * self.k
                for (z, x), s in zip(self.tree, signs, strict=True):
                    factor = -self.named[x, z][z]
                    q[x] = q[z] * factor if s > 0 else q[z] / factor
                yield q
        else:
            units = [[-Decimal(int(x == z)) for z in range(self.k)] for x in range(self.k)]
            planes = units + list(self.named.values())
            for tight in itertools.combinations(planes, self.k - 1):
                q = direction(tight, self.k)
                for ray in ([], [-v for v in q]) if q and max(q) <= NOTHING else ([q] if q else []):
                    scale = max(map(abs, ray), default=ZERO)
                    if ray and all(dot(plane, ray) <= scale * NOTHING * 10**40 for plane in planes):
                        yield [max(v, ZERO) for v in ray]

    def _lifts(self) -> Iterator[Vector]:
        support = [x for x, w in enumerate(self.p) if w]
        yield from ([Decimal(int(x == z)) for z in range(self.k)] for x, w in enumerate(self.p) if not w)
        for j in support:
            others = [x for x in support if x != j]
            for ends in itertools.product((self.low, self.top), repeat=len(others)):
                q = [ZERO] * self.k
                for x, e in zip(others, ends, strict=True):
                    q[x] = e
                q[j] = (1 - dot(self.p, q)) / self.p[j]
                if self.low - NOTHING <= q[j] <= self.top + NOTHING:
                    q[j] = ZERO if abs(q[j]) < NOTHING else q[j]
                    yield q

    def most(self, g: Vector) -> Decimal:
        """The largest g·q on the normalised cone: 1 ≤ q ≤ E (LDP), p·q = 1 (lifts), 1 at the root (tree)."""
        if self.kind == "LDP":
            return sum(g, ZERO) + (self.top - 1) * sum((v for v in g if v > 0), ZERO)
        if self.p:
            support = [(v, w) for v, w in zip(g, self.p, strict=True) if w]
            return min(
                nu + sum((max(e * (v - nu * w) for e in (self.low, self.top)) for v, w in support), ZERO)
                for nu in {v / w for v, w in support}
            )
        value = list(g)
        for z, x in reversed(self.tree):
            factor = -self.named[x, z][z]
            value[z] += value[x] * factor if value[x] > 0 else value[x] / factor
        return value[self.tree[0][0]]

    def left(self, vectors: list[Vector], multipliers: Any) -> list[Vector]:
        found = [list(g) for g in vectors]
        for i, a, b, amount in multipliers:
            f = number(amount)
            require(f >= 0 and 0 <= i < len(found) and (a, b) in self.named, "a multiplier")
            found[i] = [v - f * w for v, w in zip(found[i], self.named[a, b], strict=True)]
        return found

    def excess(self, vectors: list[Vector], multipliers: Any) -> Decimal:
        if self.named and not self.tree:
            return sum((max(ZERO, *column) for column in zip(*self.left(vectors, multipliers), strict=True)), ZERO)
        most = max(map(self.most, vectors))
        if self.kind == "LDP":
            return self.k * max(ZERO, most) / (self.top + self.k - 1)
        free = [x for x, w in enumerate(self.p) if not w]
        return most + sum((max(ZERO, *(g[x] for g in vectors)) for x in free), ZERO)

    def refutes(self, g: Vector, multipliers: Any) -> bool:
        if self.named and not self.tree:
            return all(v <= 0 for v in self.left([g], multipliers)[0])
        return self.most(g) <= 0 and all(g[x] <= 0 for x, w in enumerate(self.p) if not w)


def direction(planes: Sequence[Vector], k: int) -> Vector:
    """The q with plane·q = 0 for all, when there is one up to scale; otherwise nothing."""
    rows, pivots = [list(p) for p in planes], list[int]()
    for column in range(k):
        row = max(range(len(pivots), len(rows)), key=lambda r: abs(rows[r][column]), default=None)
        if row is None or abs(rows[row][column]) < NOTHING:
            continue
        place = len(pivots)
        rows[place], rows[row] = rows[row], rows[place]
        rows[place] = [v / rows[place][column] for v in rows[place]]
        for other in range(len(rows)):
            if other != place:
                rows[other] = [v - rows[other][column] * w for v, w in zip(rows[other], rows[place], strict=True)]
        pivots.append(column)
    if len(pivots) != k - 1:
        return []
    (free,) = set(range(k)) - set(pivots)
    q = [ONE if x == free else ZERO for x in range(k)]
    for row, column in enumerate(pivots):
        q[column] = -rows[row][free]
    return q
