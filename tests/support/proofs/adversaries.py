"""Attacks on the proof kernel: numbers that a liar would write into a proof, against an optimum found in another way.

Each attack draws a small problem, its optimum by a linear program over listed rays (or the value of a mechanism that
exists), and proofs whose numbers are extreme, ordinary, or the best lie: the solution of a program that leaves some
rays out, so that its sum is below the truth. `varied` goes on from each: any field of the proof, as a file holds it,
with an extreme number, an ordinary one or one nearby in it. What the kernel accepts must not be beyond the optimum.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.certificate import (
    Agreements,
    Chords,
    Concave,
    Dual,
    Groups,
    Level,
    Listed,
    OnePrior,
    Order,
    Sets,
    Truncated,
    YesNo,
    enclosure,
)
from extremal.exact import Prior
from extremal.optimize.approximate.chords import between_chords
from extremal.optimize.design import design
from extremal.optimize.distortion.hamming import truth_proof
from extremal.optimize.distortion.smallest_epsilon import smallest_epsilon
from extremal.optimize.divergence.solve import ends_of
from extremal.optimize.problem import Problem
from extremal.privacy import LDP, LIP, PML
from extremal.privacy.cones import coupled
from extremal.privacy.cones.lift import columns_of, lift_box, vertices
from extremal.sources import SourceClass
from extremal.utility import (
    KL,
    Average,
    Distortion,
    Hamming,
    MutualInformation,
    PairwiseDivergence,
)
from extremal.utility.curve import InformationCurve
from support.divergences import WITHOUT_PARAMETERS
from support.proofs.examples import shares_of_questions
from support.proofs.lies import (
    EXTREME,
    Generator,
    Lie,
    a_divergence,
    a_prior,
    a_problem,
    a_vector,
    an_epsilon,
    best_lie,
    decimals,
    optimum,
    patterns,
)
from support.proofs.workload_attacks import coupled_workloads, lifted_workloads, workloads

Attack = Callable[[Generator], Iterator[Lie]]


def rays_and_lines(random: Generator) -> Iterator[Lie]:
    """Dual vectors of all sorts, against listed rays and against covers with any nodes and multipliers."""
    privacy, utility, rays = a_problem(random)
    worth, dual = optimum(utility, rays)
    if not 1e-12 < worth < math.inf:
        return
    alpha = a_vector(random, utility, rays, worth, dual)
    yield Lie(Dual(alpha, Listed()), privacy, utility, worth)
    if isinstance(utility, MutualInformation):
        return
    nodes = np.unique(np.r_[random.random(random.integers(0, 4)), np.exp(random.normal(size=random.integers(1, 30)))])
    nodes = nodes if random.random() < 0.7 else np.append(nodes, [1e17, 1e300])
    count, k = random.integers(0, 4), utility.k
    places = zip(random.integers(len(nodes) + 1, size=count), *random.integers(k, size=(2, count)), strict=True)
    multipliers = tuple((int(i), int(a), int(b), decimals([random.exponential()])[0]) for i, a, b in places)
    yield Lie(Dual(alpha, Chords(decimals(nodes), multipliers)), privacy, utility, worth)


def partitions(random: Generator) -> Iterator[Lie]:
    """Cells in the right order, overlapping, wide or narrow, or at random; values far from the truth."""
    k, epsilon = int(random.integers(2, 6)), an_epsilon(random)
    utility = a_divergence(random, k)
    worth, _ = optimum(utility, patterns(k, epsilon))
    order, cells, i = np.argsort(utility.p0 / utility.p1), [], 0
    while i < k:
        j = min(k - 1, i + int(random.integers(0, 3)))
        cells.append((int(order[i]), int(order[j])))
        i = j + (int(random.random() < 0.8) if j > i else 1)
    if random.random() < 0.2:
        cells = [(int(a), int(b)) for a, b in random.integers(0, k, size=(3, 2))]
    believed = (Fraction(0), *decimals(worth * random.uniform(0.5, 2, size=3)), random.choice(np.array(EXTREME)))
    pair = utility.pair
    yield Lie(
        Order(believed[random.integers(5)], ends_of(pair.p0, pair.p1, tuple(cells))), LDP(epsilon), utility, worth
    )
    other = a_divergence(random, k).between(utility.p1, utility.p0)
    mean = Average([utility, other, utility])
    worth, _ = optimum(mean, patterns(k, epsilon))
    believed = (Fraction(0), *decimals(worth * random.uniform(0.5, 2, size=3)), random.choice(np.array(EXTREME)))
    told = Order(believed[random.integers(5)], ends_of(pair.p0, pair.p1, tuple(cells)))
    yield Lie(told, LDP(epsilon), mean, worth)
    names = (0, 0, 0) if random.random() < 0.5 else (1, 0, 1)
    turned = tuple((b, a) for a, b in reversed(cells))
    single = Order(believed[random.integers(5)], ends_of(pair.p1, pair.p0, turned))
    yield Lie(Groups(names, (told,) if names[0] == 0 else (single, told)), LDP(epsilon), mean, worth)


def ratios(random: Generator) -> Iterator[Lie]:
    """Ends on the ratios of symbols, next to them, or anywhere; floats taken for decimals, and for what they are."""
    k, epsilon = int(random.integers(2, 6)), an_epsilon(random)
    utility = a_divergence(random, k)
    if random.random() < 0.5:
        utility = utility.between(*(Prior.of_binary(p) for p in (utility.p0, utility.p1)))
    worth, _ = optimum(utility, patterns(k, epsilon))
    at = [utility.pair.p0.fraction(x) / utility.pair.p1.fraction(x) for x in range(k)]
    beside = [r * (1 + Fraction(int(random.integers(-3, 4)), 1 << int(random.integers(40, 60)))) for r in at]
    anywhere = decimals(np.exp(random.normal(size=4) * 3))
    kept = [e for e in (*at, *beside, *anywhere) if random.random() < 0.5]
    ends = sorted({Fraction(round(e * 10**40), 10**40) for e in kept})  # decimals, as files hold them
    if random.random() < 0.1:
        ends = ends[::-1]
    believed = (Fraction(0), *decimals(worth * random.uniform(0.5, 2, size=3)), random.choice(np.array(EXTREME)))
    yield Lie(Order(believed[random.integers(5)], tuple(ends)), LDP(epsilon), utility, worth)


def prices(random: Generator) -> Iterator[Lie]:
    """Any contact, any lines."""
    k, epsilon = int(random.integers(2, 7)), an_epsilon(random, -1.5, 0.8)
    p = a_prior(random, k) if random.random() < 0.7 else np.full(k, 1 / k)
    privacy, utility, curve = LDP(epsilon), MutualInformation(p), InformationCurve(epsilon)
    worth, _ = optimum(utility, patterns(k, epsilon))
    yield Lie(Concave(Fraction(0)), privacy, utility, worth)
    yield Lie(Concave(decimals([random.exponential() * curve.c])[0]), privacy, utility, worth)
    count = int(random.integers(1, 4))
    lines = zip(
        decimals(random.normal(size=count) * worth),
        decimals(random.uniform(-1, 1, size=count) * curve.top),
        strict=True,
    )
    yield Lie(Concave(decimals([worth * random.uniform(0, 1.2)])[0], tuple(lines)), privacy, utility, worth)


def _grown(counts: Sequence[int], token: Callable[[], int], stop: Callable[[], bool]) -> tuple[int, ...]:
    """A tree that branches until it stops, and closes every node by some token."""
    tokens: list[int] = []

    def grow(depth: int) -> None:
        if depth == len(counts) or stop():
            tokens.append(token())
            return
        tokens.append(-1)
        for _ in range(counts[depth] + 1):
            grow(depth + 1)

    grow(0)
    return tuple(tokens)


def searches(random: Generator) -> Iterator[Lie]:
    """The best lie of a search under LDP: tangents that close as much as can be closed."""
    k, epsilon = int(random.integers(3, 7)), an_epsilon(random, -0.7, 0.7)
    utility, privacy, curve = MutualInformation(a_prior(random, k)), LDP(epsilon), InformationCurve(epsilon)
    rays, p = patterns(k, epsilon), utility.prior.values
    worth, _ = optimum(utility, rays)
    alpha = best_lie(random, utility, rays)
    if alpha is None:
        return
    at = np.unique(np.r_[np.linspace(0, 1, 60), np.clip((rays > 1).T @ p, 0, 1)])
    slope, start = curve.slope(at), curve.value(at) - curve.slope(at) * at
    order = sorted(range(k), key=lambda x: (-p[x], alpha[x]))
    tokens: list[int] = []

    def grow(depth: int, z: float, paid: float) -> None:
        left = [np.maximum(slope * p[x] - curve.c * alpha[x], 0) for x in order[depth:]]
        needed = start + slope * z - paid + sum(left, np.zeros(at.size))
        if depth == k or needed.min() <= alpha.sum():
            tokens.append(int(needed.argmin()))
            return
        tokens.append(-1)
        grow(depth + 1, z, paid)
        grow(depth + 1, z + p[order[depth]], paid + curve.c * alpha[order[depth]])

    grow(0, 0.0, 0.0)
    yield Lie(Dual(decimals(alpha), Sets(decimals(at), (tuple(tokens),))), privacy, utility, worth)


def lifted_searches(random: Generator) -> Iterator[Lie]:
    """Lies of a search under PML or LIP: full trees, short ones, closed at the root, with any multipliers."""
    n, epsilon = int(random.integers(2, 6)), an_epsilon(random, -0.7, 0.5)
    p = a_prior(random, n)
    utility = MutualInformation(p)
    privacy: Any = (LIP if random.random() < 0.5 else PML)(epsilon, p)
    box = lift_box(privacy)
    rays = columns_of(box, vertices(box), n)
    worth, dual = optimum(utility, rays)
    lie = best_lie(random, utility, rays) if random.random() < 0.7 else dual * (1 - 10.0 ** -random.integers(1, 9))
    if lie is None:
        return
    alpha = decimals(lie)
    groups: dict[tuple[int, Fraction], int] = {}
    for key in zip(utility.prior.weights, alpha, strict=True):
        groups[key] = groups.get(key, 0) + 1
    keys = sorted(groups, key=lambda key: (-key[0], key[1]))
    choices = decimals(lie / p) if random.random() < 0.8 else decimals(random.normal(size=n))
    short = random.choice([0.0, 0.1, 1.0])
    trees = []
    for own in keys:
        counts = [groups[key] - (key == own) for key in keys]
        trees.append(_grown(counts, lambda: int(random.integers(n)), lambda: bool(random.random() < short)))
    yield Lie(Dual(alpha, Sets(choices, tuple(trees))), privacy, utility, worth)


def costs(random: Generator) -> Iterator[Lie]:
    """Dual vectors of a distortion, and the truth about Hamming."""
    k, epsilon = int(random.integers(2, 5)), an_epsilon(random)
    losses = random.integers(0, 5, (k, k)) / 2.0
    losses[0, 0] += 3
    utility = Distortion(a_prior(random, k), losses)
    privacy: Any = (LDP(epsilon), PML(epsilon, a_prior(random, k)), LIP(epsilon, a_prior(random, k)))[
        random.integers(3)
    ]
    found = design(privacy, utility)
    vectors = (
        decimals(random.normal(size=k)),
        tuple(EXTREME[i] for i in random.integers(len(EXTREME), size=k)),
        decimals(random.dirichlet(np.ones(k)) * found.value),
    )
    reached = float(enclosure(utility, found.mechanism)[1])
    yield Lie(Dual(vectors[random.integers(3)], Chords()), privacy, utility, reached)
    hamming = Hamming(a_prior(random, k))
    reached = float(enclosure(hamming, design(LDP(epsilon), hamming).mechanism)[1])
    told = truth_proof(hamming.source.priors[0], decimals([math.exp(epsilon) * random.uniform(0.5, 2) + 1])[0])
    yield Lie(told, LDP(epsilon), hamming, reached)
    allowed = decimals([round(float(random.uniform(0.05, 0.9)), 3)])[0]
    least = smallest_epsilon(hamming.source, allowed)
    for factor in (0.9, 1.0, 1.0 + 1e-9, 1.5):
        ratio = decimals([max(1.0, math.exp(least.value) * factor)])[0]
        lie = Level(ratio, truth_proof(hamming.source.priors[0], ratio))
        yield Lie(lie, LDP(epsilon), least.utility, float(enclosure(least.utility, least.mechanism)[1]))


def classes(random: Generator) -> Iterator[Lie]:
    """Priors that lie in a class or nearly do, and proofs for them."""
    k, epsilon = int(random.integers(2, 4)), an_epsilon(random, -1, 0.4)
    priors = [a_prior(random, k) for _ in range(3)]
    source = SourceClass(priors)
    privacy, utility = PML(epsilon, source), KL(a_prior(random, k), a_prior(random, k))
    reached = float(enclosure(utility, design(privacy, utility).mechanism)[0])
    alpha, mix = decimals(random.normal(size=k) * reached), decimals(random.dirichlet(np.ones(3)))
    yield Lie(Dual(alpha, Listed()), privacy, utility, reached)
    for inner in (Dual(alpha, Listed()), Dual(alpha, Chords((Fraction(1, 100), Fraction(1), Fraction(100))))):
        yield Lie(OnePrior((), mix, inner), privacy, utility, reached)
        yield Lie(OnePrior(decimals(random.dirichlet(np.ones(k))), (), inner), privacy, utility, reached)
    ball = Hamming(SourceClass.ball(priors[0], Fraction(1, 10)))
    reached = float(enclosure(ball, design(LDP(epsilon), ball).mechanism)[1])
    near = priors[0] * 0.9 + 0.1 * random.dirichlet(np.ones(k)) * random.choice([0.5, 1, 1.1])
    told = truth_proof(Prior(near / near.sum()), decimals([math.exp(epsilon)])[0])
    yield Lie(OnePrior(decimals(near), (), told), LDP(epsilon), ball, reached)


def coupled_rays(random: Generator) -> Iterator[Lie]:
    """Duals of the (ε,δ) program that leaves some rays out, scaled, extreme, with prices below 0."""
    from scipy.optimize import linprog

    k, epsilon, delta = int(random.integers(2, 4)), an_epsilon(random), float(np.round(random.uniform(0.01, 0.4), 3))
    privacy, utility, listed = LDP(epsilon, delta), a_divergence(random, k), coupled.rays(k, epsilon)
    values, over = utility.column_values(listed), coupled.couplings(listed, epsilon)
    limits, pairs = np.full(len(over), delta), [(x, z) for x in range(k) for z in range(k) if x != z]
    scale = float(values.max())
    if not 1e-12 < scale < math.inf:
        return
    solved = []
    for kept in (np.ones(len(values), bool), random.random(len(values)) > random.choice([0, 0.1, 0.3])):
        kept[0] = True  # a program without a column is none
        gains = -values[kept] / scale
        solved.append(linprog(gains, over[:, kept], limits, listed[:, kept], np.ones(k), method="highs"))
    truth, lie = solved
    if truth.status or lie.status:
        return
    alpha, beta = -lie.eqlin.marginals * scale, -lie.ineqlin.marginals * scale
    changes = 1 - 10.0 ** -random.integers(1, 12, size=beta.size)
    for vector, prices in (
        (decimals(alpha), decimals(beta)),
        (decimals(alpha), decimals(beta * changes)),
        (decimals(random.normal(size=k) * scale), decimals(random.normal(size=beta.size) * scale)),
        tuple(tuple(EXTREME[i] for i in random.integers(len(EXTREME), size=n)) for n in (k, beta.size)),
    ):
        named = tuple((x, z, b) for (x, z), b in zip(pairs, prices, strict=True) if b)
        yield Lie(Dual(vector, Listed(), (), named), privacy, utility, -truth.fun * scale)
        yield Lie(Dual(vector, Truncated(Listed())), privacy, utility, -truth.fun * scale)


def coupled_chords(random: Generator) -> Iterator[Lie]:
    """Multipliers and nodes of any kind for (ε,δ)-LDP, and what inputs are worth, against a mechanism that exists."""
    k, epsilon, delta = int(random.integers(2, 4)), an_epsilon(random), float(np.round(random.uniform(0.01, 0.4), 3))
    privacy, utility = LDP(epsilon, delta), a_divergence(random, k)
    found = between_chords(Problem(privacy, utility), privacy, utility)
    if found is None or not 1e-12 < found.value < math.inf:
        return
    proof, shrunk = found.proof, Fraction(int(random.integers(0, 100)), 100)
    assert isinstance(proof.reason, Chords)
    taken, nodes = proof.reason.multipliers, proof.reason.nodes
    fewer = tuple((i, x, z, f * shrunk if random.random() < 0.3 else f) for i, x, z, f in taken)
    lower = tuple(a * (1 - Fraction(int(random.integers(0, 100)), 1000)) for a in proof.alpha)
    for told in (
        Dual(lower, Listed((), True)),
        proof,
        replace(proof, reason=Chords(nodes, fewer)),
        replace(proof, alpha=lower),
        replace(proof, reason=Chords(nodes[1:-1], taken)),
    ):
        yield Lie(told, privacy, utility, found.value)


def directions(random: Generator) -> Iterator[Lie]:
    """Dual vectors of all sorts for several hypotheses, with trees of any shape, at times not whole."""
    m, k, epsilon = int(random.integers(2, 4)), int(random.integers(2, 5)), an_epsilon(random)
    kind = WITHOUT_PARAMETERS[random.integers(len(WITHOUT_PARAMETERS))]
    utility = PairwiseDivergence([a_prior(random, k) for _ in range(m)], kind)
    rays = patterns(k, epsilon)
    worth, dual = optimum(utility, rays)
    if not 1e-12 < worth < math.inf:
        return
    edges, short = m * (m - 1) // 2, random.choice([0.0, 0.5, 0.8])

    def tree(depth: int = 0) -> list[int]:
        if depth == 7 or random.random() < short:
            return [-1]
        return [int(random.integers(edges)), *tree(depth + 1), *tree(depth + 1)]

    trees = [tuple(tree()) for _ in range(math.factorial(m))]
    if random.random() < 0.1:
        trees[-1] = trees[-1][:-1]
    yield Lie(
        Dual(a_vector(random, utility, rays, worth, dual), Chords(trees=tuple(trees))), LDP(epsilon), utility, worth
    )


@functools.cache
def _asked(sizes: tuple[int, ...], epsilon: int) -> tuple[Any, float]:
    """The shares of a few questions, and the least cost of any mechanism, by all patterns."""
    utility = shares_of_questions(*sizes)
    return utility, design(LDP(epsilon), utility).value


def questions(random: Generator) -> Iterator[Lie]:
    """Numbers of all sorts for agreements, and sizes that are not those of the records."""
    sizes = [(2, 2), (2, 3), (3, 2), (2, 2, 2), (3, 3)][random.integers(5)]
    epsilon = int(random.integers(1, 4))
    utility, least = _asked(sizes, epsilon)
    groups = tuple([sorted(set(sizes)).index(k) for k in sizes] if random.random() < 0.7 else range(len(sizes)))
    count = math.prod(groups.count(g) + 1 for g in set(groups)) - 1
    scale = random.choice([0.0, 1e-3, 0.03, 0.1, 0.3, 1.0])
    numbers = decimals(random.exponential(size=count) * scale)
    for stated in {sizes, sizes[::-1], (2,) * len(sizes)}:
        yield Lie(Agreements(stated, groups, numbers), LDP(epsilon), utility, least)
        yield Lie(YesNo(stated), LDP(epsilon), utility, least)


ATTACKS: tuple[Attack, ...] = (
    questions,
    rays_and_lines,
    partitions,
    ratios,
    prices,
    searches,
    lifted_searches,
    costs,
    classes,
    coupled_rays,
    coupled_chords,
    coupled_workloads,
    lifted_workloads,
    directions,
    workloads,
)
