"""Ten thousand honest designs against the full program, solved with 1000 bits: none may be false.

Every notion with every utility, two to eight inputs, ε from 1e-9 to 50, priors and hypotheses with zeros, ties, atoms
of 1e-12 and near-equal ratios. The truth is the linear program over all extreme rays (all 2^k patterns, all lift
vectors, all rays of a metric or of a class), by a simplex method in Arb's arithmetic that shares no line with search or
kernel.

False would be: a value that no private mechanism has, a bound that one beats, a gap that is not the distance of the
two, a certificate that is not verified. Reported by notion: designs, false ones, those with a gap above 1e-6, those
that the search gave up, and how far at worst the bound is from the truth. Run with `make audit`; give the number of the
first design and of the one after the last as arguments, to run a part.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

import extremal as ex
from extremal.errors import ExtremalError

FIRST, LAST = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 10_000)
BITS = 1000
NOTHING = Fraction(1, 10**60)
WIDE = 1e-6
UNEQUAL = arb(fmpq(1, 10**200))
ROUNDING = 1e-14  # what is smaller is rounding, and its relative gap means nothing
Ray = list[Any]
Worth = Callable[[Ray], list[Any]]
"""What a ray is worth to each part of a worst case; to the utility alone otherwise."""


# -- problems --


def a_prior(random: np.random.Generator, k: int) -> list[Fraction]:
    """Decimals: ordinary ones, ties, zeros, atoms, nearly equal."""
    kind = random.integers(5)
    p = random.dirichlet(np.ones(k) * random.choice([0.5, 1, 5]))
    if kind == 1:
        p = random.integers(1, 4, size=k) / 1.0
    elif kind == 2:
        p[random.random(k) < 0.4] = 0
        p[random.integers(k)] += 0.1
    elif kind == 3:
        p[random.integers(k)] = 10.0 ** -random.integers(4, 13)
    elif kind == 4:
        p = 1 + random.integers(-3, 4, size=k) * 10.0 ** -random.integers(2, 16)
    exact = [Fraction(repr(float(v))) for v in p]
    return [v / sum(exact) for v in exact]


def an_epsilon(random: np.random.Generator) -> Fraction:
    low, high = ((-9, 1.69), (-1.5, 1.0))[random.integers(2)]
    return Fraction(f"{10.0 ** random.uniform(low, high):.3g}")


def a_notion(random: np.random.Generator) -> tuple[str, Any, int, list[Ray]]:
    """(name, notion, inputs, extreme rays of its cone)."""
    name = str(random.choice(["LDP", "LDP", "PML", "LIP", "line", "metric", "class"]))
    most = {"metric": 4, "class": 3, "LDP": 8, "line": 7}.get(name, 7)
    k = int(
        min(most, random.choice([2, 3, 3, 4, 4, 5, 6, 7, 8], p=[0.2, 0.15, 0.15, 0.15, 0.1, 0.1, 0.06, 0.05, 0.04]))
    )
    epsilon = an_epsilon(random)
    e = exact(epsilon).exp()
    if name == "LDP":
        rays = [
            [e if b else arb(1) for b in bits] for bits in itertools.product((0, 1), repeat=k) if len(set(bits)) > 1
        ]
        return name, ex.LDP(epsilon), k, rays
    if name in ("PML", "LIP"):
        p = a_prior(random, k)
        lower = an_epsilon(random) if random.random() < 0.3 else epsilon
        notion = ex.PML(epsilon, p) if name == "PML" else ex.LIP(epsilon, p, lower=lower)
        return name, notion, k, lifts(p, arb(0) if name == "PML" else 1 / exact(lower).exp(), e)
    if name == "line":
        steps = [Fraction(int(s), 4) for s in random.integers(1, 9, size=k - 1)]
        at = [sum(steps[:x], Fraction(0)) for x in range(k)]
        rays = []
        for signs in itertools.product((1, -1), repeat=k - 1):
            log = itertools.accumulate((s * d for s, d in zip(signs, steps, strict=True)), initial=Fraction(0))
            rays.append([exact(epsilon * v).exp() for v in log])
        return name, ex.MetricPrivacy(epsilon, [[float(abs(a - b)) for b in at] for a in at]), k, rays
    if name == "metric":
        at = random.integers(0, 6, size=(k, 2)) / 4 + np.arange(k)[:, None] * 0.25
        apart = np.abs(at[:, None] - at[None]).sum(axis=2)
        planes = [
            [
                arb(int(i == x)) - (exact(epsilon * Fraction(float(apart[x, z]))).exp() if i == z else 0)
                for i in range(k)
            ]
            for x, z in itertools.permutations(range(k), 2)
        ]
        return name, ex.MetricPrivacy(epsilon, apart), k, corner_rays(planes, k)
    priors = [a_prior(random, k) for _ in range(2)]
    possible = [any(p[x] for p in priors) for x in range(k)]
    planes = [[arb(int(i == x)) - e * exact(p[i]) for i in range(k)] for x in range(k) for p in priors if possible[x]]
    return name, ex.PML(epsilon, ex.SourceClass(priors)), k, corner_rays(planes, k)


def exact(number: Fraction) -> Any:
    return arb(fmpq(number.numerator, number.denominator))


def lifts(p: list[Fraction], low: Any, high: Any) -> list[Ray]:
    """The vertices of low ≤ q ≤ high, p·q = 1, on the support; unit vectors elsewhere."""
    k, support = len(p), [x for x, v in enumerate(p) if v]
    rays = [[arb(int(x == z)) for z in range(k)] for x in range(k) if not p[x]]
    for j in support:
        others = [x for x in support if x != j]
        for ends in itertools.product((low, high), repeat=len(others)):
            rest = (1 - sum((exact(p[x]) * v for x, v in zip(others, ends, strict=True)), arb(0))) / exact(p[j])
            if rest.mid() >= low.mid() - 1e-100 and rest.mid() <= high.mid() + 1e-100:
                ray = [arb(0)] * k
                for x, v in zip(others, ends, strict=True):
                    ray[x] = v
                ray[j] = arb(0) if abs(rest.mid()) < 1e-100 else rest
                rays.append(ray)
    return rays


def corner_rays(planes: list[Ray], k: int) -> list[Ray]:
    """Every direction in which k − 1 of the inequalities plane·q ≤ 0, q ≥ 0 are tight and none is broken."""
    every = planes + [[arb(-int(x == z)) for z in range(k)] for x in range(k)]
    scaled = [[v / max(abs(u.mid()) for u in plane) for v in plane] for plane in every]
    found: dict[tuple[str, ...], Ray] = {}
    for tight in itertools.combinations(scaled, k - 1):
        q = [
            (-1) ** i * arb_mat([[v for z, v in enumerate(row) if z != i] for row in tight]).det() if k > 1 else arb(1)
            for i in range(k)
        ]
        size = max(abs(v.mid()) for v in q)
        if size < 1e-60:
            continue
        sign = 1 if sum(v.mid() for v in q) > 0 else -1
        q = [arb(0) if abs(v.mid()) < size * 1e-60 else sign * v / size for v in q]
        if all(sum((a * b for a, b in zip(plane, q, strict=True)), arb(0)).mid() <= 1e-50 for plane in scaled):
            found[tuple(v.mid().str(40) for v in q)] = q
    return list(found.values())


def a_utility(random: np.random.Generator, k: int) -> tuple[Any, Worth]:
    """A utility or cost, and what a ray is worth: a sum over columns in either case, or the least of several."""
    if random.random() < 0.2:
        parts = [a_sum(random, k) for _ in range(int(random.integers(1, 5)))]
        return ex.WorstCase([u for u, _ in parts]), lambda r: [f(r) for _, f in parts]
    if random.random() < 0.15:
        return a_cost(random, k)
    utility, worth = a_sum(random, k)
    return utility, lambda r: [worth(r)]


def a_sum(random: np.random.Generator, k: int) -> tuple[Any, Callable[[Ray], Any]]:
    """An information, a mean of divergences, or a divergence."""
    kind = random.integers(7)
    if kind == 0:
        p = a_prior(random, k)
        return ex.MutualInformation(p), lambda r: information(p, r)
    if kind == 1:
        parts = [a_divergence(random, k) for _ in range(int(random.integers(2, 4)))]
        return ex.Average([u for u, _ in parts]), lambda r: sum((f(r) for _, f in parts), arb(0)) / len(parts)
    return a_divergence(random, k)


def a_cost(random: np.random.Generator, k: int) -> tuple[Any, Worth]:
    p, losses = a_prior(random, k), [[Fraction(int(d), 4) for d in row] for row in random.integers(0, 9, size=(k, k))]
    if all(len(set(column)) == 1 for column in zip(*losses, strict=True)):
        losses[0][0] += 1
    utility: Any = ex.Distortion(p, [[float(d) for d in row] for row in losses])
    if random.random() < 0.5:
        losses, utility = [[Fraction(int(x != y)) for y in range(k)] for x in range(k)], ex.Hamming(p)
    vectors = [[exact(p[x] * losses[x][y]) for x in range(k)] for y in range(k)]
    return utility, lambda r: [-min((dot(v, r) for v in vectors), key=lambda v: v.mid())]


def a_divergence(random: np.random.Generator, k: int) -> tuple[Any, Callable[[Ray], Any]]:
    p0, p1 = a_prior(random, k), a_prior(random, k)
    if random.random() < 0.15:
        p1 = [v + Fraction(int(random.integers(-3, 4)), 10**18) if v else v for v in p0]
        p1 = [v / sum(p1) for v in p1]
    name = str(random.choice(list(RULES)))
    order = Fraction(int(random.choice([-1, 1, 3, 5, 7])), 2)
    gamma = Fraction(int(random.integers(1, 9)), 4)
    given = {"AlphaDivergence": (order,), "HockeyStick": (gamma,)}.get(name, ())
    rule = RULES[name]
    left, right = [exact(v) for v in p0], [exact(v) for v in p1]
    return getattr(ex, name)(p0, p1, *given), lambda r: rule(dot(left, r), dot(right, r), *given)


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))


def information(p: list[Fraction], r: Ray) -> Any:
    m = dot([exact(v) for v in p], r)
    return sum((exact(v) * q * (q / m).log() for v, q in zip(p, r, strict=True) if v and not q.is_zero()), arb(0))


def kl(a: Any, b: Any) -> Any:
    return arb(0) if a.is_zero() else arb.pos_inf() if b.is_zero() else a * (a / b).log()


def power(a: Any, b: Any, order: Fraction) -> Any:
    if a.is_zero() and b.is_zero():
        return arb(0)
    if (a.is_zero() and order < 0) or (b.is_zero() and order > 1):
        return arb.pos_inf()
    o = exact(order)
    whole = arb(0) if a.is_zero() or b.is_zero() else b * ((a / b).log() * o).exp()
    return (whole - o * a - (1 - o) * b) / (o * (o - 1))


RULES: dict[str, Callable[..., Any]] = {
    "KL": kl,
    "ReverseKL": lambda a, b: kl(b, a),
    "SymmetricKL": lambda a, b: kl(a, b) + kl(b, a),
    "TotalVariation": lambda a, b: abs(a - b) / 2,
    "ChiSquared": lambda a, b: (
        arb.pos_inf() if b.is_zero() and not a.is_zero() else arb(0) if b.is_zero() else (a - b) * (a - b) / b
    ),
    "SquaredHellinger": lambda a, b: a + b - 2 * (a * b).sqrt(),
    "JensenShannon": lambda a, b: (
        arb(0) if a.is_zero() and b.is_zero() else (kl(a, (a + b) / 2) + kl(b, (a + b) / 2)) / 2
    ),
    "AlphaDivergence": power,
    "HockeyStick": lambda a, b, g: (a - exact(g) * b if g >= 1 else exact(g) * b - a).max(arb(0)),
}


# -- the truth --


def optimum(rays: list[Ray], worth: Worth, k: int) -> Fraction | float:
    """max over θ ≥ 0 with Σθ·r = 1 of the least over parts of Σθ·worth(r): one row for each input, and with several
    parts one for each, Σθ·worth(r) − t − slack = 0, where t is what is maximised.

    A part that some ray makes infinite is so at any weight of that ray: the others decide.
    """
    rays = [[v / sum(r, arb(0)) for v in r] for r in rays]
    parts = [list(part) for part in zip(*map(worth, rays), strict=True)]
    if any(v.is_nan() for part in parts for v in part):
        raise ArithmeticError("a column must have a value")
    parts = [[arb(0) if v.contains(0) else v for v in part] for part in parts if all(v.is_finite() for v in part)]
    if not parts:
        return math.inf
    scale = min(max(abs(v.mid()) for v in part) for part in parts)
    if scale == 0:
        return Fraction(0)
    if len(parts) == 1:
        return simplex(rays, [v / scale for v in parts[0]], [1] * k, scale)
    count, none = len(parts), [arb(0)] * k
    columns = [[*r, *(part[i] / scale for part in parts)] for i, r in enumerate(rays)]
    columns.append([*none, *(arb(-1) for _ in parts)])
    columns.extend([*none, *(arb(-int(i == j)) for j in range(count))] for i in range(count))
    gains = [arb(0)] * len(rays) + [arb(1)] + [arb(0)] * count
    return simplex(columns, gains, [1] * k + [0] * count, scale)


def simplex(columns: list[Ray], gains: list[Any], sides: list[int], scale: Any) -> Fraction:
    """scale·max gains·x over x ≥ 0 with columns·x = sides, with artificial columns and 1000 bits.

    Sides differ by 1e-200 from what they are, each by something else: no two ratios are equal, so nothing cycles.
    """
    rows = len(sides)
    table = arb_mat([[c[x] for c in columns] for x in range(rows)])
    costs, right = arb_mat([gains]), arb_mat([[side + UNEQUAL * (7 + 3 * i) ** 3] for i, side in enumerate(sides)])
    basis, artificial = [-1 - x for x in range(rows)], arb(-(10**100))
    for turn in range(600):
        matrix = arb_mat([[columns[b][x] if b >= 0 else arb(int(-1 - b == x)) for b in basis] for x in range(rows)])
        inverse = matrix.inv()
        cost = arb_mat([[gains[b] if b >= 0 else artificial for b in basis]])
        left = costs - cost * inverse * table
        reduced = [left[0, i].mid() for i in range(len(columns))]
        entering = (
            max(range(len(columns)), key=lambda i: reduced[i])
            if turn < 150
            else next((i for i, v in enumerate(reduced) if v > 1e-70), 0)
        )
        weights = inverse * right
        if reduced[entering] < 1e-70:
            total = sum((cost[0, i] * weights[i, 0] for i in range(rows)), arb(0)) * scale
            mantissa, exponent = total.mid().man_exp()
            return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        step = inverse * arb_mat([[v] for v in columns[entering]])
        ratios = [
            (max(weights[i, 0].mid(), arb(0)) / step[i, 0].mid(), basis[i], i)
            for i in range(rows)
            if step[i, 0].mid() > 1e-70
        ]
        leaving = ratios[0]
        for ratio in ratios[1:]:
            leaving = ratio if ratio[0] < leaving[0] or (ratio[0] == leaving[0] and ratio[1] < leaving[1]) else leaving
        basis[leaving[2]] = entering
    raise ArithmeticError("the simplex method did not end")


# -- designs --


def faults(design: Any, truth: Fraction | float) -> list[str]:
    """Everything that is false about a design."""
    sign = -1 if design.utility.is_cost else 1
    value, bound = design.certificate.value, design.certificate.bound
    found = []
    if not ex.verify(design):
        found.append(f"not verified: {ex.verify(design).reasons}")
    if math.isinf(truth) or math.isinf(value):
        if value != sign * truth:
            found.append(f"the optimum is {sign * float(truth)!r}, the value {value!r}, the bound {bound!r}")
        return found
    size = max(abs(truth), Fraction(1, 10**300))
    if sign * Fraction(value) > truth + size * Fraction(1, 10**15) + Fraction(math.ulp(value)):
        found.append(f"no mechanism has {value!r}: the optimum is {float(truth)!r}")
    if not math.isinf(bound) and sign * Fraction(bound) < truth - size * NOTHING:
        found.append(f"{bound!r} is no bound: the optimum is {float(truth)!r}")
    low, high = design.lower_bound, design.upper_bound
    if {low, high} != {value, bound} and low != high:
        found.append("the bounds are not those of the certificate")
    expected = 0.0 if low == high else (high - low) / max(abs(high), abs(low)) if not math.isinf(high) else math.inf
    if not math.isclose(design.gap, expected, rel_tol=1e-9, abs_tol=1e-300) and abs(high) > 1e-290:
        found.append(f"the gap is {expected!r}, not {design.gap!r}")
    return found


@dataclass
class Count:
    """What became of the designs of one notion."""

    designs: int = 0
    wide: int = 0
    given_up: int = 0
    gap: float = 0.0

    def __str__(self) -> str:
        rest = f"{self.wide} with a gap above {WIDE:g}, {self.given_up} given up, other gaps at most {self.gap:.1e}"
        return f"{self.designs} designs, {rest}"


def tried(seed: int, counts: dict[str, Count], reasons: Counter[str]) -> list[str]:
    """Make one design, count it, and say what is false about it."""
    random = np.random.default_rng([13, seed])
    with ctx.workprec(BITS):
        name, notion, k, rays = a_notion(random)
        utility, worth = a_utility(random, k)
        truth = optimum(rays, worth, k)
    count = counts.setdefault(name, Count())
    count.designs += 1
    problem = f"seed {seed}, {notion!r}, {utility!r}, optimum {float(truth)!r}"
    try:
        design = ex.design(notion, utility)
    except ExtremalError as error:
        count.given_up += 1
        reasons[f"{type(error).__name__}: {str(error)[:60]}"] += 1
        print(f"  given up: {problem}: {type(error).__name__}", flush=True)
        return []
    if abs(design.upper_bound) > ROUNDING and math.isfinite(truth):
        if design.gap > WIDE:
            count.wide += 1
            print(f"  wide: {problem}: {design.value!r}, bound {design.certificate.bound!r}", flush=True)
        else:
            count.gap = max(count.gap, design.gap)
    return [f"{problem}: {what}" for what in faults(design, truth)]


def main() -> int:
    counts: dict[str, Count] = {}
    reasons, false, start = Counter[str](), 0, time.monotonic()
    for seed in range(FIRST, LAST):
        wrong = tried(seed, counts, reasons)
        false += bool(wrong)
        for what in wrong:
            print(f"  FALSE: {what}", flush=True)
        if seed % 500 == 499:
            print(f"  {seed + 1 - FIRST} designs, {false} false, {time.monotonic() - start:.0f} s", flush=True)
    for name in sorted(counts):
        print(f"{name:<7} {counts[name]}")
    for reason, number in reasons.most_common():
        print(f"  {number} × {reason}")
    print(f"{LAST - FIRST} designs, {false} false, {time.monotonic() - start:.0f} s")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
