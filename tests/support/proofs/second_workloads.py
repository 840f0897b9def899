"""A second checker of the proofs about workloads, written from the page on proofs alone: rationals, and every list in
full.

It shares nothing with the kernel. Columns are listed one by one, matrices are multiplied entry by entry and found
positive definite by elimination in rationals. For small problems only.
"""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from support.proofs.second.cones import Cone
from support.proofs.second.problem import DIGITS, Refuted, number, require

Matrix = list[list[Fraction]]
Vector = list[Fraction]
RHO = Fraction(1, 1 << 80)
ZERO = Fraction(0)


def workload_bound(proof: dict[str, Any], notion: dict[str, Any], utility: dict[str, Any]) -> Fraction:
    """The least cost that a proof derives, all three as a certificate file holds them.

    Raises:
        Refuted: a precondition fails, or a step.
    """
    listed = proof["kind"] == "listed columns" and not proof["groups"] and notion["notion"] != "LDP"
    coupled = proof["kind"] in ("coupled columns", "inputs revealed")
    require(listed or coupled or (notion["notion"] == "LDP" and not Fraction(notion["delta"])), "ε-LDP")
    require(utility["source"]["kind"] == "list" and len(utility["source"]["priors"]) == 1, "one prior")
    given = [Fraction(p) for p in utility["source"]["priors"][0]]
    prior = [p / sum(given) for p in given]
    if listed:
        return _listed_rays(proof, notion, prior, gram_of(utility, len(prior)), unit_of(utility))
    if proof["kind"] == "inputs revealed":
        return _revealed(proof, prior, gram_of(utility, len(prior)))
    if coupled:
        require(notion["notion"] == "LDP", "(ε,δ)-LDP")
        proof = {**proof, "delta": Fraction(notion["delta"])}
    unit = unit_of(utility) / merged_unit(proof.get("groups", []), prior)
    return _KINDS[proof["kind"]](proof, ratio(notion), prior, gram_of(utility, len(prior)), unit)


def ratio(notion: dict[str, Any]) -> Fraction:
    """E, rounded up to a multiple of 2^-64."""
    return Fraction(-((-_ratio(notion) * (1 << 64)) // 1), 1 << 64)


def _ratio(notion: dict[str, Any]) -> Fraction:
    if "ratio" in notion:
        return Fraction(notion["ratio"])
    exact = Fraction(notion["epsilon"])
    with decimal.localcontext(prec=80):
        return Fraction((Decimal(exact.numerator) / Decimal(exact.denominator)).exp())


def gram_of(utility: dict[str, Any], k: int) -> Matrix:
    """W = AᵀA; a number of a workload is the double that it prints as, exactly."""
    name = utility["utility"]
    if name == "Frequencies":
        weight = dict(zip(utility["items"], map(_double, utility["weights"]), strict=True))
        return [[weight.get(x, ZERO) if x == z else ZERO for z in range(k)] for x in range(k)]
    rows: list[Vector]
    if name == "Workload":
        rows = [[_double(a) for a in row] for row in utility["matrix"]]
    elif name == "Mean":
        rows = [[_double(a) for a in utility["values"]]]
    elif name == "CDF":
        thresholds = range(k - 1) if utility["thresholds"] is None else utility["thresholds"]
        rows = [[Fraction(int(x <= t)) for x in range(k)] for t in thresholds]
    else:
        ranges = itertools.combinations_with_replacement(range(k), 2)
        rows = [[Fraction(int(a <= x <= b)) for x in range(k)] for a, b in ranges]
    return times(transposed(rows), rows)


def unit_of(utility: dict[str, Any]) -> Fraction:
    """What the prices of listed columns and counts are counted in: W is whole in these units."""
    numbers = utility.get("weights") or utility.get("values") or [a for row in utility.get("matrix", []) for a in row]
    denominator = lcm(*(_double(a).denominator for a in numbers)) if numbers else 1
    return Fraction(1, denominator if utility["utility"] == "Frequencies" else denominator**2)


def merged_unit(groups: Sequence[int], prior: Vector) -> int:
    """L², L the least common multiple of the masses of the groups, in whole numbers without a common divisor."""
    if not groups:
        return 1
    require(len(groups) == len(prior), "a group for each input")
    common = lcm(*(p.denominator for p in prior))
    weights = [int(p * common) for p in prior]
    weights = [w // gcd(*weights) for w in weights]
    masses = [sum(w for w, g in zip(weights, groups, strict=True) if g == h) for h in set(groups)]
    sizes = [list(groups).count(h) for h in set(groups)]
    return lcm(*(m or n for m, n in zip(masses, sizes, strict=True))) ** 2


def _double(text: str) -> Fraction:
    return Fraction(float(text))


def transposed(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def times(a: Matrix, b: Matrix) -> Matrix:
    return [[dot(row, column) for column in zip(*b, strict=True)] for row in a]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)


def trace(a: Matrix) -> Fraction:
    return sum((a[x][x] for x in range(len(a))), ZERO)


def columns(k: int, e: Fraction) -> list[Vector]:
    return [list(q) for q in itertools.product((Fraction(1), e), repeat=k)]


def merged(groups: Sequence[int], prior: Vector, gram: Matrix) -> tuple[Vector, Matrix]:
    """One input for each group, with the average of the statistics over it."""
    if not groups:
        return prior, gram
    count, k = len(set(groups)), len(prior)
    require(len(groups) == k and set(groups) == set(range(count)) and count >= 2, "groups 0, 1, …")
    mass = [sum((p for p, g in zip(prior, groups, strict=True) if g == h), ZERO) for h in range(count)]
    share = [
        [
            ZERO if g != h else prior[x] / mass[h] if mass[h] else Fraction(1, list(groups).count(h))
            for x, g in enumerate(groups)
        ]
        for h in range(count)
    ]
    return mass, times(times(share, gram), transposed(share))


def whole(texts: Sequence[Any]) -> Vector:
    return [Fraction(int(t)) for t in texts]


def centred(triangle: Sequence[Sequence[Any]], k: int) -> Matrix:
    """Z from the lower triangle of its leading block: symmetric, rows that sum to 0."""
    require(len(triangle) == k - 1 and all(len(row) == i + 1 for i, row in enumerate(triangle)), "a lower triangle")
    block = [[Fraction(int(triangle[max(x, z)][min(x, z)])) for z in range(k - 1)] for x in range(k - 1)]
    rows = [[*row, -sum(row, ZERO)] for row in block]
    return [*rows, [-sum(column, ZERO) for column in zip(*rows, strict=True)]]


def least(z: Matrix, gram: Matrix, level: Fraction) -> Fraction:
    """(tr WZ)²/(c + ρ·tr ZWZ)."""
    cost, along = level + RHO * trace(times(times(z, gram), z)), trace(times(gram, z))
    require(cost > 0 and along > 0, "a positive bound")
    return along**2 / cost


def listed_level(slope: Matrix, alpha: Vector, prior: Vector, listed: list[Vector]) -> Fraction:
    """α·1 + t, t the largest of (qᵀGq − (α·q)(p·q))/(p·q)²."""
    require(all(dot(prior, q) for q in listed), "every column has a probability")
    largest = max(
        (dot(q, [dot(row, q) for row in slope]) - dot(alpha, q) * dot(prior, q)) / dot(prior, q) ** 2 for q in listed
    )
    return sum(alpha, ZERO) + largest


def _listed_rays(proof: Any, notion: Any, prior: Vector, gram: Matrix, unit: Fraction) -> Fraction:
    """The columns of another notion: the extreme rays of its cone, and the constant."""
    number.cache_clear()  # of another precision
    with decimal.localcontext(prec=DIGITS):
        rays = [[Fraction(v) for v in ray] for ray in Cone(notion, len(prior), ()).rays()]
    z, alpha = centred(proof["z"], len(prior)), [a * unit for a in whole(proof["alpha"])]
    require(len(alpha) == len(prior), "one price an input")
    constant = [[Fraction(1)] * len(prior)]
    return least(z, gram, listed_level(times(times(z, gram), z), alpha, prior, rays + constant))


def _columns(proof: Any, e: Fraction, prior: Vector, gram: Matrix, unit: Fraction) -> Fraction:
    prior, gram = merged(proof["groups"], prior, gram)
    z, alpha = centred(proof["z"], len(prior)), [a * unit for a in whole(proof["alpha"])]
    require(len(alpha) == len(prior), "one price an input")
    return least(z, gram, listed_level(times(times(z, gram), z), alpha, prior, columns(len(prior), e)))


def _coupled(proof: Any, e: Fraction, prior: Vector, gram: Matrix, unit: Fraction) -> Fraction:
    """Every vector of levels without a gap, and what the pairs pay."""
    prior, gram = merged(proof["groups"], prior, gram)
    k, z = len(prior), centred(proof["z"], len(prior))
    alpha, beta = ([a * unit for a in whole(proof[name])] for name in ("alpha", "prices"))
    require(k <= 6 and len(alpha) == k and len(beta) == k * (k - 1) and min(beta) >= 0, "prices ≥ 0")
    slope, pairs, found = times(times(z, gram), z), list(itertools.permutations(range(k), 2)), []
    for levels in itertools.product((None, *range(k)), repeat=k):
        used = {v for v in levels if v is not None}
        if not used or used != set(range(len(used))) or (len(used) == 1 and levels.count(0) > 1):
            continue
        r = [ZERO if v is None else e**-v for v in levels]
        require(bool(dot(prior, r)), "every column has a probability")
        paid = sum((b * max(ZERO, r[x] - e * r[y]) for b, (x, y) in zip(beta, pairs, strict=True)), dot(alpha, r))
        found.append((dot(r, [dot(row, r) for row in slope]) / dot(prior, r) - paid) / dot(prior, r))
    return least(z, gram, sum(alpha, ZERO) + proof["delta"] * sum(beta, ZERO) + max(found))


def _revealed(proof: Any, prior: Vector, gram: Matrix) -> Fraction:
    """What the inputs themselves would give."""
    require(not proof["mix"], "no parts")
    k = len(prior)
    z = [[(prior[x] if x == y else ZERO) - prior[x] * prior[y] for y in range(k)] for x in range(k)]
    slope = times(times(z, gram), z)
    return least(z, gram, sum((slope[x][x] / prior[x] for x in range(k) if prior[x]), ZERO))


def _counts(proof: Any, e: Fraction, prior: Vector, gram: Matrix, unit: Fraction) -> Fraction:
    classes, k, diagonal = proof["classes"], len(prior), whole(proof["diagonal"])
    count = len(diagonal)
    require(len(classes) == k and set(classes) == set(range(count)), "classes 0, 1, …")
    require(len(proof["alpha"]) == count and len(proof["pairs"]) == count - 1, "a number a class")
    require(all(len(row) == i + 1 for i, row in enumerate(proof["pairs"])), "a strict lower triangle")
    sizes = [classes.count(g) for g in range(count)]
    for x, y in itertools.combinations(range(k), 2):
        if classes[x] == classes[y]:
            swapped = [y if v == x else x if v == y else v for v in range(k)]
            same = all(gram[a][b] == gram[swapped[a]][swapped[b]] for a in range(k) for b in range(k))
            require(prior[x] == prior[y] and same, "inputs of a class are alike")
    beta = [[ZERO] * count for _ in range(count)]
    for g, h in itertools.combinations(range(count), 2):
        beta[g][h] = beta[h][g] = Fraction(int(proof["pairs"][h - 1][g]))
    for g in range(count):
        beta[g][g] = -(diagonal[g] + sum((sizes[h] * beta[g][h] for h in range(count) if h != g), ZERO)) / sizes[g]
    z = [[beta[classes[x]][classes[y]] + (diagonal[classes[x]] if x == y else 0) for y in range(k)] for x in range(k)]
    alpha = [whole(proof["alpha"])[g] * unit for g in classes]
    return least(z, gram, listed_level(times(times(z, gram), z), alpha, prior, columns(len(prior), e)))


def _inequality(proof: Any, e: Fraction, prior: Vector, gram: Matrix, _unit: Fraction) -> Fraction:
    prior, gram = merged(proof["groups"], prior, gram)
    k, d, scale = len(prior), whole(proof["d"]), int(proof["scale"])
    require(abs(scale) <= 4000 and len(d) == k and min(d) >= 0, "d ≥ 0")
    n = [[ZERO] * k for _ in range(k)]
    if proof["n"]:
        table, blocks = [whole(row) for row in proof["n"]], proof["blocks"]
        require(all(len(row) == i + 1 and min(row) >= 0 for i, row in enumerate(table)), "a lower triangle ≥ 0")
        require(len(blocks) == k and min(blocks) >= 0 and max(blocks) < len(table), "a block for each input")
        for x, y in itertools.permutations(range(k), 2):
            n[x][y] = table[max(blocks[x], blocks[y])][min(blocks[x], blocks[y])]
    rows = [sum(row, ZERO) for row in n]
    c = e * sum(d) - sum(rows)
    require(c > 0, "E·1ᵀd exceeds 1ᵀN1")
    line = [(e + 1) * v / 2 - s for v, s in zip(d, rows, strict=True)]
    r = [[(d[x] if x == y else ZERO) - n[x][y] - line[x] * line[y] / c for y in range(k)] for x in range(k)]
    centre = [[Fraction(int(x == y)) - prior[x] for y in range(k)] for x in range(k)]  # P = I − p1ᵀ
    right = times(times(centre, r), transposed(centre))
    z = [[v * Fraction(2) ** scale for v in row] for row in centred(proof["z"], k)]
    left = times(times(z, gram), z)
    _require_definite([[right[x][y] - left[x][y] for y in range(k - 1)] for x in range(k - 1)])
    return least(z, gram, -sum((v for row in r for v in row), ZERO))


def _require_definite(a: Matrix) -> None:
    """Positive definite, by elimination."""
    rows = [list(row) for row in a]
    for i in range(len(rows)):
        require(rows[i][i] > 0, "positive definite")
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [v - factor * w for v, w in zip(rows[j], rows[i], strict=True)]


def _sweep(proof: Any, e: Fraction, prior: Vector, gram: Matrix, _unit: Fraction) -> Fraction:
    prior, gram = merged(proof["groups"], prior, gram)
    g, alpha, level = whole(proof["g"]), whole(proof["alpha"]), Fraction(int(proof["level"]))
    require(len(g) == len(prior) - 1 and len(alpha) == len(prior), "one number an input")
    g.append(-sum(g, ZERO))
    x = max(range(len(prior)), key=lambda i: gram[i][i])
    alike = all(gram[a][x] * gram[x][b] == gram[a][b] * gram[x][x] for a in range(len(g)) for b in range(len(g)))
    require(bool(gram[x][x]) and alike, "one statistic")
    above = max(dot(g, q) ** 2 / dot(prior, q) - dot(alpha, q) - level * dot(prior, q) for q in columns(len(g), e))
    cost = sum(alpha, ZERO) + level + max(ZERO, above) + RHO * dot(g, g)
    along = dot(g, [row[x] for row in gram])
    require(cost > 0 and bool(along), "a positive bound")
    return along**2 / gram[x][x] / cost


_KINDS: dict[str, Callable[[Any, Fraction, Vector, Matrix, Fraction], Fraction]] = {
    "listed columns": _columns,
    "listed counts": _counts,
    "matrix inequality": _inequality,
    "line sweep": _sweep,
    "coupled columns": _coupled,
}

CLOSE = Fraction(1, 10**9)
SAFE = Fraction(1, 10**25)


def workload_disagreement(proof: Any, privacy: Any, utility: Any) -> str:
    """What the kernel and this checker say differently about a proof; empty when they agree.

    The kernel may refuse an inequality between matrices that holds with little room, and prove a little less.
    """
    from extremal.certificate import Refused

    ours: Fraction | None
    try:
        ours, why = workload_bound(proof.to_json(), privacy.to_json(), utility.to_json()), ""
    except Refuted as error:
        ours, why = None, str(error)
    try:
        theirs = proof.bound(privacy, utility)
    except Refused as error:
        narrow = proof.kind == "matrix inequality" and "below" in str(error)
        return "" if ours is None or narrow else f"the kernel refuses ({error}) what proves {float(ours):.6g}"
    if ours is None:
        return f"the kernel derives {float(theirs):.6g} from what does not hold ({why})"
    margin = (ours - theirs) / ours
    return "" if -SAFE <= margin <= CLOSE else f"{float(theirs)!r} against {float(ours)!r}: {float(margin):.3g}"
