"""A second checker of proofs, written from the page on proofs alone: no kernel, no Arb, no NumPy.

It reads the JSON of a notion, a utility and a proof, and derives the bound in decimals of 150 digits and more, by the
plainest reading of every formula: sets are listed, extreme rays are found by solving for every choice of tight
inequalities. Slow, for small problems only, and without enclosures: the kernel must agree with it to many digits, from
the safe side.
"""

from __future__ import annotations

import decimal
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

DIGITS = 150
"""At least; and twice as many as the longest exponent in the proof, because its numbers may cancel."""

NOTHING = Decimal(10) ** -90
"""What is smaller is rounding."""

LISTED = 4096
"""How many sums of open symbols a search lists."""

INFINITE = Decimal("inf")
ZERO, ONE, TWO = Decimal(0), Decimal(1), Decimal(2)

Vector = list[Decimal]
Pair = Callable[[Decimal, Decimal], Decimal]


class Refuted(Exception):
    """The proof does not hold."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Refuted(what)


def bound_of(proof: dict[str, Any], notion: dict[str, Any], utility: dict[str, Any]) -> Decimal:
    """The bound that a proof derives for a problem, all three as a certificate file holds them.

    Raises:
        Refuted: a precondition fails, or a step.
    """
    with _enough_digits(proof):
        return _KINDS[proof["kind"]](proof, notion, utility)


def _enough_digits(proof: dict[str, Any]) -> Any:
    number.cache_clear()  # of another precision
    digits = DIGITS + 2 * max((abs(Decimal(text).adjusted()) for text in _texts(proof)), default=0)
    return decimal.localcontext(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for name, v in value.items() if name != "kind" for text in _texts(v))
    elif isinstance(value, list):
        yield from (text for v in value for text in _texts(v))
    elif isinstance(value, str) and Decimal(value):
        yield value


# -- the problem --


@functools.lru_cache(100_000)
def number(text: str) -> Decimal:
    exact = Fraction(text)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def numbers(texts: Sequence[str]) -> Vector:
    return [number(t) for t in texts]


def prior(texts: Sequence[str]) -> Vector:
    weights = numbers(texts)
    total = sum(weights)
    return [w / total for w in weights]


def exponential(notion: dict[str, Any]) -> Decimal:
    return number(notion["ratio"]) if "ratio" in notion else number(notion["epsilon"]).exp()


def priors_of(source: dict[str, Any]) -> list[Vector]:
    """The extreme priors of a class, in the order of the page."""
    kind = source["kind"]
    if kind in ("list", "ordered"):
        return _different([prior(p) for p in source["priors"]])
    if kind == "simplex":
        return [[Decimal(int(x == y)) for x in range(source["k"])] for y in range(source["k"])]
    if kind == "permutation_invariant":
        return _different(sorted(list(p) for p in itertools.permutations(prior(source["priors"][0]))))
    p, radius, found = prior(source["prior"]), number(source["radius"]), []
    for receiver in range(len(p)):
        others = [x for x in range(len(p)) if x != receiver]
        if sum(p[x] for x in others) <= radius:
            found.append([Decimal(int(x == receiver)) for x in range(len(p))])
            continue
        for emptied in itertools.chain(*(itertools.combinations(others, n) for n in range(len(others)))):
            rest = radius - sum((p[x] for x in emptied), ZERO)
            for last in others:
                if last not in emptied and 0 <= rest <= p[last]:
                    moved = [ZERO if x in emptied else v for x, v in enumerate(p)]
                    moved[last] -= rest
                    moved[receiver] += radius
                    found.append(moved)
    return _different(found)


def _different(vectors: list[Vector]) -> list[Vector]:
    found: list[Vector] = []
    for v in vectors:
        if all(any(abs(a - b) > NOTHING for a, b in zip(v, w, strict=True)) for w in found):
            found.append(v)
    return found


def single(source: dict[str, Any]) -> Vector:
    priors = priors_of(source) if source["kind"] in ("list", "ordered", "ball") else []
    require(len(priors) == 1 and (source["kind"] != "ball" or not number(source["radius"])), "one prior")
    return priors[0]


def size(utility: dict[str, Any]) -> int:
    if "utilities" in utility:
        return size(utility["utilities"][0])
    if "source" in utility:
        source = utility["source"]
        return int(source["k"]) if source["kind"] == "simplex" else len(source.get("prior") or source["priors"][0])
    return len(utility["prior"] if "prior" in utility else utility["p0"])


# -- values of columns --


def pair_rule(utility: dict[str, Any]) -> Pair:
    """M₁·f(M₀/M₁), by the table of the page."""
    name = utility["utility"]
    if name in ("AlphaDivergence", "HockeyStick"):
        return _with_order(name, number(utility["alpha"] if name == "AlphaDivergence" else utility["gamma"]))
    rules: dict[str, Pair] = {
        "KL": lambda a, b: b if not a else INFINITE if not b else a * (a / b).ln() - (a - b),
        "ReverseKL": lambda a, b: a if not b else INFINITE if not a else b * (b / a).ln() - (b - a),
        "SymmetricKL": lambda a, b: INFINITE if not a or not b else (a - b) * (a / b).ln(),
        "TotalVariation": lambda a, b: abs(a - b) / 2,
        "ChiSquared": lambda a, b: INFINITE if not b else (a - b) ** 2 / b,
        "SquaredHellinger": lambda a, b: (a.sqrt() - b.sqrt()) ** 2,
        "JensenShannon": lambda a, b: sum((m * (2 * m / (a + b)).ln() for m in (a, b) if m), ZERO) / 2,
    }
    return lambda a, b: ZERO if not a and not b else rules[name](a, b)


def _with_order(name: str, order: Decimal) -> Pair:
    def power(a: Decimal, b: Decimal) -> Decimal:
        if not a and not b:
            return ZERO
        if order in (0, 1):
            return pair_rule({"utility": "KL" if order else "ReverseKL"})(a, b)
        if not a:
            return b / order if order > 0 else INFINITE
        if not b:
            return a / (1 - order) if order < 1 else INFINITE
        x = a / b
        return b * ((x.ln() * order).exp() - 1 - order * (x - 1)) / (order * (order - 1))

    def stick(a: Decimal, b: Decimal) -> Decimal:
        return max(ZERO, a - order * b if order >= 1 else order * b - a)

    return power if name == "AlphaDivergence" else stick


def dot(a: Sequence[Decimal], b: Sequence[Decimal]) -> Decimal:
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)


def worth(utility: dict[str, Any], q: Vector, mix: Vector) -> Decimal:
    """μ(q); of a worst case the mean of its parts that `mix` chooses."""
    if "utilities" in utility:
        parts = utility["utilities"]
        shares = (
            [w / sum(mix) for w in mix]
            if mix and utility["utility"] == "WorstCase"
            else [ONE / len(parts)] * len(parts)
        )
        return sum((w * worth(part, q, []) for w, part in zip(shares, parts, strict=True) if w), ZERO)
    if utility["utility"] == "MutualInformation":
        p = prior(utility["prior"])
        m = dot(p, q)
        return sum((w * v * (v / m).ln() for w, v in zip(p, q, strict=True) if w and v), ZERO)
    return pair_rule(utility)(dot(prior(utility["p0"]), q), dot(prior(utility["p1"]), q))


# -- cones: `planes` are vectors with plane·q ≤ 0 by name, besides q ≥ 0 --


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
                q = _direction(tight, self.k)
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


def _direction(planes: Sequence[Vector], k: int) -> Vector:
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


# -- kinds --


def _rays(proof: Any, notion: Any, utility: Any) -> Decimal:
    k, alpha, mix = size(utility), numbers(proof["alpha"]), numbers(proof["mix"])
    require(len(alpha) == k, "one number an input")
    parts = len(utility["utilities"]) if utility["utility"] == "WorstCase" else 1
    require(not mix or (len(mix) == parts and min(mix) >= 0 and max(mix) > 0), "one weight a part")
    rays = Cone(notion, k, proof["tree"]).rays()
    return sum(alpha, ZERO) + k * max((worth(utility, r, mix) - dot(alpha, r)) / sum(r) for r in rays)


def _coupled(proof: Any, notion: Any, utility: Any) -> Decimal:
    k, alpha, mix = size(utility), numbers(proof["alpha"]), numbers(proof["mix"])
    require(notion["notion"] == "LDP" and 2 <= k <= 6 and len(alpha) == k, "(ε,δ)-LDP of at most six inputs")
    parts = len(utility["utilities"]) if utility["utility"] == "WorstCase" else 1
    require(not mix or (len(mix) == parts and min(mix) >= 0 and max(mix) > 0), "one weight a part")
    prices = [(x, z, number(b)) for _, x, z, b in proof["prices"]]
    require(all(b >= 0 and x != z and min(x, z) >= 0 and max(x, z) < k for x, z, b in prices), "prices")
    e, best = exponential(notion), -INFINITE
    for levels in itertools.product((None, *range(k)), repeat=k):
        used = {v for v in levels if v is not None}
        if not used or used != set(range(len(used))) or (len(used) == 1 and levels.count(0) > 1):
            continue
        r = [ZERO if v is None else e**-v for v in levels]
        paid = dot(alpha, r)
        for x, z, b in prices:
            tight = levels[x] is not None and levels[z] is not None and levels[z] == levels[x] + 1
            paid += ZERO if tight else b * max(ZERO, r[x] - e * r[z])
        best = max(best, (worth(utility, r, mix) - paid) / sum(r))
    return sum(alpha, ZERO) + number(notion["delta"]) * sum((b for _, _, b in prices), ZERO) + k * best


def _lines(proof: Any, notion: Any, utility: Any) -> Decimal:
    k, alpha, nodes = size(utility), numbers(proof["alpha"]), numbers(proof["nodes"])
    require(len(alpha) == k, "one number an input")
    cone, total, given = Cone(notion, k, proof["tree"]), sum(alpha, ZERO), proof["multipliers"]
    if "distances" in utility or utility["utility"] == "Hamming":
        require(not nodes, "no nodes")
        p, d = single(utility["source"]), [[str(int(x != y)) for y in range(k)] for x in range(k)]
        d = utility.get("distances", d)
        vectors = [
            [a - w * number(d[x][y]) for x, (a, w) in enumerate(zip(alpha, p, strict=True))] for y in range(len(d[0]))
        ]
        return max(ZERO, total - cone.excess(vectors, given))
    require("p0" in utility and bool(nodes) and nodes[0] >= 0, "nodes")
    require(all(a < b for a, b in itertools.pairwise(nodes)), "nodes increase")
    rule, n, p0, p1 = pair_rule(utility), len(nodes), prior(utility["p0"]), prior(utility["p1"])

    @functools.cache
    def f(t: Decimal) -> Decimal:
        return rule(t, ONE)

    def chord(a: Decimal, b: Decimal) -> tuple[Decimal, Decimal]:
        if INFINITE in (f(a), f(b)):
            return INFINITE, ZERO
        slope = (f(b) - f(a)) / (b - a)
        return slope, f(a) - slope * a

    def line(slope: Decimal, start: Decimal) -> Vector:
        return [slope * u + start * v for u, v in zip(p0, p1, strict=True)]

    def own(i: int) -> list[Any]:
        return [[0, a, b, amount] for j, a, b, amount in given if j == i]

    pieces = {i: chord(a, b) for i, (a, b) in enumerate(itertools.pairwise(nodes))}
    if nodes[0] and not cone.refutes(line(-ONE, nodes[0]), own(n - 1)):
        pieces[n - 1] = chord(ZERO, nodes[0])
    if not cone.refutes(line(ONE, -nodes[-1]), own(n)):
        slope = rule(ONE, ZERO)
        pieces[n] = (INFINITE, ZERO) if INFINITE in (slope, f(nodes[-1])) else (slope, f(nodes[-1]) - slope * nodes[-1])
    if not pieces:
        pieces[n] = ZERO, f(nodes[0])
    if any(INFINITE in piece for piece in pieces.values()):
        return INFINITE
    place = {name: i for i, name in enumerate(pieces)}
    vectors = [[v - a for v, a in zip(line(*piece), alpha, strict=True)] for piece in pieces.values()]
    return total + cone.excess(vectors, [[place[i], a, b, amount] for i, a, b, amount in given if i in place])


def _leaves(utility: dict[str, Any], weight: Decimal) -> Iterator[tuple[Decimal, dict[str, Any]]]:
    parts = utility.get("utilities")
    if parts is None:
        yield weight, utility
    for part in parts or []:
        yield from _leaves(part, weight / len(parts or []))


def _directions(proof: Any, notion: Any, utility: Any) -> Decimal:
    k, alpha, mix = size(utility), numbers(proof["alpha"]), numbers(proof["mix"])
    require(notion["notion"] == "LDP" and len(alpha) == k, "ε-LDP, one number an input")
    worst = utility["utility"] == "WorstCase"
    parts = utility["utilities"] if worst else [utility]
    require(not mix or (len(mix) == len(parts) and min(mix) >= 0 and max(mix) > 0), "one weight a part")
    shares = [w / sum(mix) for w in mix] if mix else [ONE / len(parts)] * len(parts)
    weighted = [leaf for share, part in zip(shares, parts, strict=True) for leaf in _leaves(part, share)]
    require(all("p0" in leaf for _, leaf in weighted), "divergences")
    leaves = [(w, leaf) for w, leaf in weighted if w]
    named: list[Vector] = _different([prior(leaf[name]) for _, leaf in leaves for name in ("p0", "p1")])

    def place(p: Vector) -> int:
        return next(i for i, q in enumerate(named) if all(abs(a - b) < NOTHING for a, b in zip(p, q, strict=True)))

    rules = [(w, pair_rule(leaf), place(prior(leaf["p0"])), place(prior(leaf["p1"]))) for w, leaf in leaves]
    m, top, best = len(named), Cone(notion, k, ()).top, ZERO
    require(m <= 6 and len(proof["trees"]) == len(list(itertools.permutations(range(m)))), "a tree for each order")
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
            slopes = _direction([[*u, h] for u, h in zip(cell, heights, strict=True)], m + 1)
            line = [-v / slopes[m] for v in slopes[:m]]
            g = [sum((s * p[x] for s, p in zip(line, named, strict=True)), ZERO) - alpha[x] for x in range(k)]
            best = max(best, sum(g, ZERO) + (top - 1) * sum((v for v in g if v > 0), ZERO))
        require(not stack, "a tree covers its cone")
    return sum(alpha, ZERO) + k * best / (top + k - 1)


def _partition(proof: Any, notion: Any, utility: Any) -> Decimal:
    require("p0" in utility, "what the theorem is about")
    return _by_cells(proof, notion, utility, pair_rule(utility), size(utility))


def _mean_partition(proof: Any, notion: Any, utility: Any) -> Decimal:
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


def _groups(proof: Any, notion: Any, utility: Any) -> Decimal:
    """The mean of the bounds of the groups, each about the mean of its leaves."""

    def weighed(part: Any, weight: Decimal) -> list[tuple[Any, Decimal]]:
        if "utilities" not in part:
            return [(part, weight)]
        return [found for one in part["utilities"] for found in weighed(one, weight / len(part["utilities"]))]

    require(utility["utility"] == "Average", "a mean")
    leaves, names, total = weighed(utility, ONE), proof["groups"], ZERO
    require(len(names) == len(leaves) and set(names) == set(range(len(proof["proofs"]))), "a group for each part")
    for name, inner in enumerate(proof["proofs"]):
        own = [leaf for leaf, group in zip(leaves, names, strict=True) if group == name]
        require(max(w for _, w in own) - min(w for _, w in own) < NOTHING, "one weight a group")
        part = own[0][0] if len(own) == 1 else {"utility": "Average", "utilities": [leaf for leaf, _ in own]}
        total += sum((w for _, w in own), ZERO) * bound_of(inner, notion, part)
    return total


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


def _ratios(proof: Any, notion: Any, utility: Any) -> Decimal:
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


class Curve:
    def __init__(self, top: Decimal) -> None:
        self.top, self.c = top, top - 1
        self.full = self.h(self.c)

    @staticmethod
    def h(d: Decimal) -> Decimal:
        return (1 + d) * (1 + d).ln() - d

    def value(self, z: Decimal) -> Decimal:
        return z * self.full - self.h(self.c * z)

    def slope(self, z: Decimal) -> Decimal:
        return self.full - self.c * (1 + self.c * z).ln()


def _staircase(notion: Any, utility: Any) -> tuple[Curve, Vector]:
    require(utility["utility"] == "MutualInformation" and notion["notion"] == "LDP", "information under ε-LDP")
    return Curve(Cone(notion, size(utility), ()).top), sorted(w for w in prior(utility["prior"]) if w)


def _subadditive(proof: Any, notion: Any, utility: Any) -> Decimal:
    (curve, p), t = _staircase(notion, utility), number(proof["contact"])
    k, c = len(p), curve.c
    if not c or k == 1:
        return ZERO
    require(t >= 0, "the contact is not negative")
    if not t:
        v = sum(map(curve.value, p), ZERO) / (c + k)
        return v + (k - 1) * max(ZERO, v - (curve.value(p[0]) + curve.value(p[1]) - curve.value(p[0] + p[1])))
    v = t - (1 + t).ln()
    prices = sum(((curve.full - c * (1 + t).ln()) * w if w <= t / c else curve.value(w) - v for w in p), ZERO)
    return v + max(ZERO, prices - c * v) / curve.top


def _sizes(proof: Any, notion: Any, utility: Any) -> Decimal:
    (curve, p), v = _staircase(notion, utility), number(proof["value"])
    if not curve.c or len(p) == 1:
        return ZERO
    lines = [numbers(line) for line in proof["lines"]]
    require(v >= 0 and bool(lines), "V ≥ 0 and some lines")
    missed = ZERO
    for d in range(1, len(p)):
        low, high = sum(p[:d], ZERO), sum(p[-d:], ZERO)
        best = INFINITE
        for a, b in lines:
            y = min(max(((curve.full - b) / curve.c).exp() / curve.c - 1 / curve.c, low), high)  # φ'(y) = b, or an end
            best = min(best, curve.value(y) - b * y - d * a)
        missed = max(missed, best - v)
    prices = sum((max(a + b * w for a, b in lines) for w in p), ZERO)
    return v + missed + max(ZERO, prices - curve.c * v) / curve.top


def _search(proof: Any, notion: Any, utility: Any) -> Decimal:
    require(_slack(proof, notion, utility) >= 0, "every node is closed")
    return sum(numbers(proof["alpha"]), ZERO)


def slack_of_search(proof: dict[str, Any], notion: dict[str, Any], utility: dict[str, Any]) -> Decimal:
    """By how much the inequality of the worst node of a search holds: negative when it does not.

    Raises:
        Refuted: a precondition fails.
    """
    with _enough_digits(proof):
        return _slack(proof, notion, utility)


def _slack(proof: Any, notion: Any, utility: Any) -> Decimal:
    k, alpha = size(utility), numbers(proof["alpha"])
    require(utility["utility"] == "MutualInformation" and len(alpha) == k, "information, one number an input")
    p, cone = prior(utility["prior"]), Cone(notion, k, ())
    require(all(a >= 0 for a, w in zip(alpha, p, strict=True) if not w), "numbers ≥ 0 of what cannot occur")
    count = Counter((w, a) for w, a in zip(p, alpha, strict=True) if w)
    groups = sorted(count, key=lambda g: (-g[0], g[1]))
    jobs: list[tuple[Any, Any]]
    if cone.kind == "LDP":
        require(len(proof["trees"]) == 1, "one tree")
        jobs = [(proof["trees"][0], None)]
    else:
        same = bool(cone.p) and all(abs(a - b) < NOTHING for a, b in zip(cone.p, p, strict=True))
        require(same and cone.top > cone.low and len(proof["trees"]) == len(groups), "one tree a group, the same prior")
        jobs = list(zip(proof["trees"], groups, strict=True))
    replays = [_Replay(cone, alpha, proof["choices"], own, groups, count) for _, own in jobs]
    return min(replay.run(tokens) for replay, (tokens, _) in zip(replays, jobs, strict=True))


class _Replay:
    """One tree; `own` is the group of the fractional symbol, or nothing under ε-LDP."""

    def __init__(self, cone: Cone, alpha: Vector, choices: Any, own: Any, groups: Any, count: Any) -> None:
        self.cone, self.choices, self.own, self.groups, self.total = (
            cone,
            numbers(choices),
            own,
            groups,
            sum(alpha, ZERO),
        )
        self.counts = [count[g] - (g == own) for g in groups]
        self.curve = Curve(cone.top)

    def run(self, tokens: Sequence[int]) -> Decimal:
        self.tokens, self.least = iter(tokens), INFINITE
        self.walk([])
        require(next(self.tokens, None) is None, "the tokens are used up")
        return self.least

    def walk(self, taken: list[int]) -> None:
        token = next(self.tokens, None)
        require(token is not None, "all nodes are closed")
        if token == -1:
            require(len(taken) < len(self.groups), "something is left to branch on")
            for n in range(self.counts[len(taken)] + 1):
                self.walk([*taken, n])
            return
        depth = len(taken)
        opened = [g for g, n in zip(self.groups[depth:], self.counts[depth:], strict=True) for _ in range(n)]
        z, price = (sum((n * g[i] for n, g in zip(taken, self.groups, strict=False)), ZERO) for i in (0, 1))
        close = self.by_tangent if self.own is None else self.by_multiplier
        self.least = min(self.least, close(token or 0, z, price, opened))

    def masses(self, z: Decimal, opened: list[Any], least: Decimal, most: Decimal) -> Vector:
        """What the mass of the taken symbols may be, or numbers around that where sums are too many to list."""
        sums, few = {ZERO}, True
        for w, n in self._from_the_end(opened):
            few = few and len(sums) * (n + 1) <= LISTED
            sums = {s + m * w for s in sums for m in range(n + 1)} if few else sums
        if few:
            return [z + s for s in sums if least - NOTHING <= z + s <= most + NOTHING]
        weights = [w for w, _ in opened]
        low, high = z, z + sum(weights, ZERO)
        low = max(least, z + min(weights)) if low < least else low
        high = min(most, high - min(weights)) if high > most else high
        return [low, high] if low <= high else []

    def _from_the_end(self, opened: list[Any]) -> list[tuple[Decimal, int]]:
        count = Counter(opened)
        return [(g[0], count[g]) for g in reversed(self.groups) if g in count]

    def by_tangent(self, token: int, z: Decimal, price: Decimal, opened: list[Any]) -> Decimal:
        require(0 <= token < len(self.choices) and 0 <= self.choices[token] <= 1, "a mass that is named")
        curve, y = self.curve, self.choices[token]
        slope = curve.slope(y)
        gain = sum((max(ZERO, slope * w - curve.c * a) for w, a in opened), ZERO)
        return self.total - (curve.value(y) + slope * (z - y) - curve.c * price + gain)

    def by_multiplier(self, token: int, z: Decimal, price: Decimal, opened: list[Any]) -> Decimal:
        low, top, (p, a) = self.cone.low, self.cone.top, self.own
        step = top - low
        b = (1 - low) / step
        masses = self.masses(z, opened, b - p, b)
        if not masses:
            return INFINITE
        require(0 <= token < len(self.choices), "a multiplier that is named")

        def g(t: Decimal) -> Decimal:
            return t * t.ln() - t + 1 if t else ONE

        def dip(f: Decimal) -> Decimal:
            return g(low) + f * (g(top) - g(low)) - g(low + step * f)

        nu, needed = self.choices[token], (g(low) + b * (g(top) - g(low)) - low * self.total) / step
        fixed = nu * (b - z) + price + sum((min(ZERO, v - nu * w) for w, v in opened), ZERO) - needed
        ends = [(b - m) / p for m in (min(masses), max(masses))]
        found: Decimal = min(fixed + f * (a - nu * p) + p * dip(f) / step for f in ends)
        return found


def _truth(_proof: Any, notion: Any, utility: Any) -> Decimal:
    require(utility["utility"] in ("Hamming", "LevelAtDistortion"), "Hamming distortion")
    sums = list(itertools.accumulate(sorted(single(utility["source"]), reverse=True)))
    if utility["utility"] == "LevelAtDistortion":
        truth = 1 - number(utility["distortion"])
        if sums[0] >= truth:
            return ZERO
        ratios = [n * truth / (s - truth) for n, s in enumerate(sums) if s > truth]
        return max(ONE, min(ratios)).ln() if ratios else INFINITE
    require(notion["notion"] == "LDP", "ε-LDP")
    e = Cone(notion, size(utility), ()).top
    return 1 - max(s * e / (n + e) for n, s in enumerate(sums))


def _one_prior(proof: Any, notion: Any, utility: Any) -> Decimal:
    where, holder = ("utility", utility) if _is_class(utility) else ("notion", notion)
    require(_is_class(holder), "there is a class")
    source, given, mix = holder["source"], proof["prior"], numbers(proof["mix"])
    weights = numbers(given) if given else mix
    require(min(weights, default=-ONE) >= 0 and max(weights) > 0, "weights ≥ 0")
    if given:
        require(len(weights) == size({"source": source}) and _lies_in(weights, source), "in the class")
    else:
        require(source["kind"] in ("list", "ordered") and len(mix) == len(source["priors"]), "of the members")
        members = [prior(p) for p in source["priors"]]
        weights = [dot(mix, column) for column in zip(*members, strict=True)]
    texts = [f"{w / sum(weights):.{decimal.getcontext().prec}f}" for w in weights]
    changed = {**holder, "source": {"kind": "list", "priors": [texts]}}
    problem = (notion, changed) if where == "utility" else (changed, utility)
    return _KINDS[proof["proof"]["kind"]](proof["proof"], *problem)


def _is_class(holder: dict[str, Any]) -> bool:
    source = holder.get("source") or {"kind": "list", "priors": [["1"]]}
    return source["kind"] == "simplex" or len(priors_of(source)) > 1


def _lies_in(weights: Vector, source: dict[str, Any]) -> bool:
    p, kind = [w / sum(weights) for w in weights], source["kind"]
    if kind == "simplex":
        return True
    if kind == "ball":
        moved = sum((abs(a - b) for a, b in zip(p, prior(source["prior"]), strict=True)), ZERO) / 2
        return moved <= number(source["radius"]) + NOTHING
    if kind == "permutation_invariant":
        ours, theirs = (itertools.accumulate(sorted(v, reverse=True)) for v in (p, prior(source["priors"][0])))
        return all(a <= b + NOTHING for a, b in zip(ours, theirs, strict=True))
    return any(all(abs(a - b) < NOTHING for a, b in zip(p, prior(m), strict=True)) for m in source["priors"])


_KINDS: dict[str, Callable[[Any, Any, Any], Decimal]] = {
    "rays": _rays,
    "coupled rays": _coupled,
    "lines": _lines,
    "directions": _directions,
    "partition": _partition,
    "partition of a mean": _mean_partition,
    "groups": _groups,
    "ratios": _ratios,
    "subadditive prices": _subadditive,
    "prices by size": _sizes,
    "search": _search,
    "truth": _truth,
    "one prior": _one_prior,
}


# -- two checkers --

CLOSE = Fraction(1, 10**30)
"""How far the kernel may be on the safe side, relative to the numbers of the proof."""

SAFE = Fraction(1, 10**100)
"""How far on the other side: rounding of the decimals here, nothing else."""


def disagreement(proof: Any, privacy: Any, utility: Any) -> str:
    """What the kernel and this checker say differently about a proof; empty when they agree."""
    from extremal.certificate import Refused

    try:
        ours: Decimal | None = bound_of(proof.to_json(), privacy.to_json(), utility.to_json())
    except Refuted as error:
        ours, why = None, str(error)
    try:
        theirs: Any = proof.bound(privacy, utility)
    except Refused as error:
        return "" if ours is None else f"the kernel refuses ({error}) what proves {ours:.6g}"
    if ours is None:
        return f"the kernel derives {float(theirs)!r} from what does not hold ({why})"
    if ours == INFINITE or theirs == float("inf"):
        return "" if ours == INFINITE and theirs == float("inf") else f"{float(theirs)!r} and {ours:.6g}"
    sign = -1 if utility.is_cost else 1
    scale = 1 + abs(Fraction(ours)) + 10**4 * sum(abs(Fraction(text)) for text in _texts(proof.to_json()))
    margin = sign * (Fraction(theirs) - Fraction(ours)) / scale
    if -(CLOSE if "lines" in str(proof.to_json()) else SAFE) <= margin <= CLOSE:  # a chord that is raised may turn
        return ""
    return f"{float(theirs)!r} against {ours:.17g}: {float(margin):.3g} on the safe side"
