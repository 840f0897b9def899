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
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from support.proofs.second.cones import Cone
from support.proofs.second.divergences import directions, mean_partition, partition, ratios
from support.proofs.second.information import search, sizes, subadditive
from support.proofs.second.problem import (
    INFINITE,
    NOTHING,
    ONE,
    ZERO,
    Refuted,
    Vector,
    dot,
    enough_digits,
    exponential,
    number,
    numbers,
    pair_rule,
    prior,
    priors_of,
    require,
    single,
    size,
    texts_of,
    worth,
)


def bound_of(proof: dict[str, Any], notion: dict[str, Any], utility: dict[str, Any]) -> Decimal:
    """The bound that a proof derives for a problem, all three as a certificate file holds them.

    Raises:
        Refuted: a precondition fails, or a step.
    """
    with enough_digits(proof):
        return _KINDS[proof["kind"]](proof, notion, utility)


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
    "directions": directions,
    "partition": partition,
    "partition of a mean": mean_partition,
    "groups": _groups,
    "ratios": ratios,
    "subadditive prices": subadditive,
    "prices by size": sizes,
    "search": search,
    "truth": _truth,
    "one prior": _one_prior,
}


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
    scale = 1 + abs(Fraction(ours)) + 10**4 * sum(abs(Fraction(text)) for text in texts_of(proof.to_json()))
    margin = sign * (Fraction(theirs) - Fraction(ours)) / scale
    if -(CLOSE if "lines" in str(proof.to_json()) else SAFE) <= margin <= CLOSE:  # a chord that is raised may turn
        return ""
    return f"{float(theirs)!r} against {ours:.17g}: {float(margin):.3g} on the safe side"
