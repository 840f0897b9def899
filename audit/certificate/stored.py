"""Two thousand designs of every notion and goal against those of another version: no digit may be lost.

Problems are drawn by their names, so that every version solves the same ones: divergences, information, means, worst
cases, distortions and statistics under every notion, two to a million inputs, ε from 1e-6 to 50, priors with ties,
zeros and atoms. Only public names are used; the package is that of the interpreter. Of each design: value, bounds,
what `ex.verify` says, and the processor time of both.

    python audit/certificate/stored.py                   compare values and bounds with those in stored.jsonl.gz
    python audit/certificate/stored.py --write FILE      keep a run, with times
    python audit/certificate/stored.py --against FILE    compare with a run kept on the same machine, times too
    python audit/certificate/stored.py --compare A B     compare two runs that were kept
    python audit/certificate/stored.py --keep FILE       make stored.jsonl.gz of a run that was kept

Give words as further arguments to solve only problems whose name contains one of them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex

KEPT = Path(__file__).with_name("stored.jsonl.gz")
SAME = 1e-9  # relative: the tolerance that designs are asked for
NOTHING = 1e-20  # a value below is rounding of hypotheses that are nearly equal
SLOWER, SLOWER_CLASS = 1.3, 2.0  # processor time in sum, and of a class
SHORT = 2.0  # seconds: a class that took less is not compared by time, since it measures the machine
CUT_OFF = 0.5  # of the time limit: a search that took longer may have been stopped by it, and says what it found
EPSILONS = ("1e-6", "0.001", "0.05", "0.3", "0.7", "1", "1.5", "2.5", "4", "8", "20", "50")
STRIDE = 13  # coprime to the lengths of all lists, so that each value has its turn
MIDDLING = ("0.05", "0.3", "0.7", "1", "1.5", "2.5", "4")
SHAPES = ("plain", "ties", "zeros", "skew", "atom", "uniform")
POSITIVE = ("plain", "ties", "skew", "atom", "uniform")

Prior = list[Fraction] | np.ndarray
Made = Callable[[], Any]


# -- problems --


@dataclass(frozen=True)
class Stored:
    """A problem: its name, its class (notion × goal × size), and what designs it."""

    name: str
    cell: str
    make: Made
    seconds: float = 30


def a_prior(name: str, k: int, shape: str) -> Prior:
    """Drawn by its name. Small ones are exact fractions; beyond 5,000 inputs floats, as data would be."""
    if k > 5000:
        weights = np.random.Generator(np.random.PCG64([len(name), sum(map(ord, name)), k])).integers(1, 10**6, k)
        return weights / weights.sum()
    draw = random.Random(f"{name} {k} {shape}")
    if shape == "uniform":
        weights = [1] * k
    elif shape == "ties":
        weights = [draw.randint(1, 3) for _ in range(k)]
    elif shape == "skew":
        weights = [10**6 // (x + 1) ** 2 + 1 for x in range(k)]
        draw.shuffle(weights)
    else:
        weights = [max(1, int(draw.expovariate(1e-4))) for _ in range(k)]
    if shape == "zeros":
        weights = [0 if draw.random() < 0.4 else w for w in weights]
        weights[draw.randrange(k)] += 5000
    if shape == "atom":
        weights = [w * 10**9 for w in weights]
        weights[draw.randrange(k)] = 1
    return [Fraction(w, sum(weights)) for w in weights]


DIVERGENCES: dict[str, Callable[[Any, Any], Any]] = {
    "KL": lambda a, b: ex.KL(a, b),
    "TotalVariation": lambda a, b: ex.TotalVariation(a, b),
    "ChiSquared": lambda a, b: ex.ChiSquared(a, b),
    "SquaredHellinger": lambda a, b: ex.SquaredHellinger(a, b),
    "JensenShannon": lambda a, b: ex.JensenShannon(a, b),
    "ReverseKL": lambda a, b: ex.ReverseKL(a, b),
    "SymmetricKL": lambda a, b: ex.SymmetricKL(a, b),
    "Alpha(1/2)": lambda a, b: ex.AlphaDivergence(a, b, Fraction(1, 2)),
    "Alpha(3)": lambda a, b: ex.AlphaDivergence(a, b, 3),
    "HockeyStick(3/2)": lambda a, b: ex.HockeyStick(a, b, Fraction(3, 2)),
}


class Several:
    """Takes values in turn from each of several lists, so that all of them meet without every product of them."""

    def __init__(self) -> None:
        self.count = 0

    def next(self, *lists: Sequence[Any]) -> tuple[Any, ...]:
        self.count += 1
        at, taken = self.count, []
        for values in lists:
            at, place = divmod(at * STRIDE + len(taken), len(values))
            taken.append(values[place])
            at += self.count * (len(taken) + 1)
        return tuple(taken)


def size(k: int) -> str:
    """The regime of a number of inputs."""
    return next((f"k ≤ {most}" for most in (6, 16, 60, 300, 5000) if k <= most), "k > 5000")


def regime(epsilon: str) -> str:
    e = float(epsilon)
    return "small ε" if e < 0.01 else "large ε" if e > 5 else "ε"


def problem(notion: str, goal: str, k: int, epsilon: str, index: Any, make: Made, seconds: float = 30) -> Stored:
    kind = goal.partition(" ")[0]
    return Stored(
        f"{notion} {goal} k={k} ε={epsilon} {index}", f"{notion} × {kind}, {size(k)}, {regime(epsilon)}", make, seconds
    )


def designed(notion: Callable[[], Any], utility: Callable[[], Any], **options: Any) -> Made:
    return lambda: ex.design(notion(), utility(), **options)


def distances(name: str, k: int, shape: str) -> list[list[float]]:
    """Between places on a line, in a plane, or leaves of a star."""
    draw = random.Random(f"{name} {shape}")
    if shape == "line":
        return [[float(abs(x - z)) for z in range(k)] for x in range(k)]
    if shape == "star":
        arms = [draw.randint(1, 8) / 4 for _ in range(k)]
        arms[0] = 0.0
        return [[arms[x] + arms[z] if x != z else 0.0 for z in range(k)] for x in range(k)]
    places = [(draw.randint(0, 12) / 4 + x / 4, draw.randint(0, 12) / 4) for x in range(k)]
    return [[abs(a - c) + abs(b - d) for c, d in places] for a, b in places]


def pure_divergences() -> Iterator[Stored]:
    turn = Several()
    for kind, divergence in DIVERGENCES.items():
        for k, times in ((2, 8), (3, 8), (5, 8), (8, 6), (13, 6), (40, 3), (150, 2)):
            for i in range(times):
                epsilon, s0, s1 = turn.next(EPSILONS, SHAPES, SHAPES)
                yield pure_divergence(kind, divergence, k, epsilon, s0, s1, i)
    for k, kinds in ((1000, 4), (5000, 2), (20_000, 2), (100_000, 2), (1_000_000, 1)):
        for kind in list(DIVERGENCES)[:kinds]:
            for epsilon in ("0.3", "1") if k <= 100_000 else ("1",):
                yield pure_divergence(kind, DIVERGENCES[kind], k, epsilon, "plain", "plain", 0)
    for k, most in ((3, 2), (5, 2), (5, 3), (8, 3), (13, 4), (40, 2), (40, 5)):
        for epsilon in ("0.05", "1", "4"):
            name = f"few {k} {most} {epsilon}"
            kind = turn.next(list(DIVERGENCES))[0]
            p, q = a_prior(name, k, "plain"), a_prior(f"{name} q", k, "ties")
            made = designed(
                lambda e=epsilon: ex.LDP(e), lambda d=DIVERGENCES[kind], p=p, q=q: d(p, q), max_outputs=most
            )
            yield problem("pure", f"divergence {kind} in {most}", k, epsilon, 0, made)


def pure_divergence(kind: str, divergence: Any, k: int, epsilon: str, s0: str, s1: str, i: int) -> Stored:
    def make() -> Any:
        p, q = a_prior(f"{kind} {i}", k, s0), a_prior(f"{kind} {i} other", k, s1)
        return ex.design(ex.LDP(epsilon), divergence(p, q))

    return problem("pure", f"divergence {kind}", k, epsilon, f"{s0} {s1} {i}", make)


def information() -> Iterator[Stored]:
    turn = Several()

    def one(k: int, epsilon: str, shape: str, i: int, seconds: float = 30) -> Stored:
        made = designed(
            lambda: ex.LDP(epsilon),
            lambda: ex.MutualInformation(a_prior(f"information {i}", k, shape)),
            time_limit=seconds,
        )
        return problem("pure", "information", k, epsilon, f"{shape} {i}", made, seconds)

    for k, times in ((2, 14), (3, 14), (4, 14), (6, 14), (8, 10), (10, 10), (14, 8), (20, 5), (30, 3)):
        for i in range(times):
            epsilon, shape = turn.next(EPSILONS if k < 10 else MIDDLING, SHAPES)
            yield one(k, epsilon, shape, i)
    for k in (5, 12, 40, 100, 1000):
        for epsilon in ("0.3", "1", "2.5"):
            yield one(k, epsilon, "uniform", 99)
    for k in (60, 100, 300, 1000, 2000):
        for epsilon, shape in (("0.5", "skew"), ("2", "skew"), ("1", "ties"))[: 3 if k <= 300 else 2]:
            yield one(k, epsilon, shape, 0, 6)
    for k in (20_000, 100_000):
        for epsilon in ("0.5", "2"):
            yield one(k, epsilon, "plain", 0, 6)


def several(name: str, k: int, shapes: Sequence[str], kind: str) -> Any:
    """A mean or a worst case of divergences: of one pair, of three hypotheses, of many."""
    p, q, r = (a_prior(f"{name} {i}", k, s) for i, s in enumerate(shapes))
    return {
        "mean of a pair": lambda: ex.Average([ex.KL(p, q), ex.KL(q, p)]),
        "mean of a pair, mixed": lambda: ex.Average([ex.KL(p, q), ex.TotalVariation(q, p), ex.ChiSquared(p, q)]),
        "worst of a pair": lambda: ex.WorstCase([ex.KL(p, q), ex.SquaredHellinger(p, q)]),
        "pairwise": lambda: ex.PairwiseDivergence([p, q, r]),
        "pairwise worst": lambda: ex.PairwiseDivergence([p, q, r], ex.SquaredHellinger, worst_case=True),
        "worst of three": lambda: ex.WorstCase([ex.KL(p, q), ex.KL(p, r)]),
        "mean with information": lambda: ex.Average([ex.MutualInformation(p), ex.JensenShannon(q, r)]),
        "many": lambda: ex.Average([ex.KL(a_prior(f"{name} many {i}", k, "plain"), q) for i in range(7)]),
        "robust": lambda: ex.RobustDivergence(
            ex.SourceClass.ball(p, Fraction(1, 20)), ex.SourceClass.ball(q, Fraction(1, 50))
        ),
    }[kind]()


OF_A_PAIR = ("mean of a pair", "mean of a pair, mixed", "worst of a pair")
OF_THREE = ("pairwise", "pairwise worst", "worst of three", "mean with information", "many", "robust")


def pure_sums() -> Iterator[Stored]:
    turn = Several()
    for kinds, sizes in (
        (OF_A_PAIR, ((2, 4), (3, 4), (5, 4), (9, 4), (30, 3), (100, 2))),
        (OF_THREE, ((2, 5), (3, 5), (5, 5), (7, 3))),
        (OF_THREE[:1], ((9, 2), (12, 2))),
        (("many",), ((8, 1), (10, 1))),
    ):
        for kind in kinds:
            for k, times in sizes:
                for i in range(times):
                    epsilon, s0, s1 = turn.next(MIDDLING if k > 5 else EPSILONS, POSITIVE, SHAPES)
                    made = designed(
                        lambda e=epsilon: ex.LDP(e),
                        lambda kind=kind, k=k, i=i, s=(s0, s1, "plain"): several(f"{kind} {i}", k, s, kind),
                    )
                    yield problem("pure", f"sum {kind}", k, epsilon, f"{s0} {s1} {i}", made)
    for k in (20, 24):
        made = designed(lambda: ex.LDP(1), lambda k=k: several("large", k, ("plain",) * 3, "many"), time_limit=6)
        yield problem("pure", "sum many", k, "1", 0, made, 6)


def sources(name: str, k: int, i: int) -> Any:
    """A class of priors: a list, a ball, all permutations."""
    p, q = a_prior(name, k, "plain"), a_prior(f"{name} q", k, "ties")
    return (
        lambda: ex.SourceClass([p, q]),
        lambda: ex.SourceClass.ball(p, Fraction(1, 10)),
        lambda: ex.SourceClass.permutation_invariant(p),
    )[i % 3]()


def losses(name: str, k: int) -> list[list[float]]:
    draw = random.Random(f"{name} {k}")
    rows = [[draw.randint(0, 8) / 4 for _ in range(k)] for _ in range(k)]
    for x in range(k):
        rows[x][x] = 0.0
    rows[0][k - 1] = 2.25
    return rows


def pure_costs() -> Iterator[Stored]:
    turn = Several()
    for k, times in ((2, 14), (3, 14), (5, 14), (8, 14), (13, 10), (40, 8), (200, 4), (3000, 2)):
        for i in range(times):
            epsilon, shape = turn.next(EPSILONS, SHAPES)
            made = designed(
                lambda e=epsilon: ex.LDP(e), lambda k=k, i=i, s=shape: ex.Hamming(a_prior(f"hamming {i}", k, s))
            )
            yield problem("pure", "hamming", k, epsilon, f"{shape} {i}", made)
    for k, times in ((2, 14), (3, 14), (5, 14), (8, 10), (10, 4), (20, 2)):
        for i in range(times):
            epsilon, shape = turn.next(EPSILONS, SHAPES)

            def utility(k: int = k, i: int = i, s: str = shape) -> Any:
                line = [[abs(x - z) / k for z in range(k)] for x in range(k)]
                return ex.Distortion(a_prior(f"losses {i}", k, s), line if i % 2 else losses(f"losses {i}", k))

            yield problem(
                "pure", "distortion", k, epsilon, f"{shape} {i}", designed(lambda e=epsilon: ex.LDP(e), utility)
            )
    for k in (2, 3, 4, 6, 10):
        for i in range(6):
            epsilon = turn.next(MIDDLING)[0]
            made = designed(lambda e=epsilon: ex.LDP(e), lambda k=k, i=i: ex.Hamming(sources(f"class {i}", k, i)))
            yield problem("pure", "hamming of a class", k, epsilon, i, made)
            if k <= 4:
                made = designed(
                    lambda e=epsilon: ex.LDP(e),
                    lambda k=k, i=i: ex.Distortion(sources(f"class {i}", k, i), losses(f"class {i}", k)),
                )
                yield problem("pure", "distortion of a class", k, epsilon, i, made)
    for k, times in ((2, 12), (3, 12), (6, 12), (10, 10), (40, 6)):
        for i in range(times):
            shape, within = turn.next(SHAPES, ("0.05", "0.2", "0.3", "0.5", "0.7"))

            def make(k: int = k, i: int = i, s: str = shape, d: str = within) -> Any:
                return ex.smallest_epsilon(ex.SourceClass([a_prior(f"level {i}", k, s)]), Fraction(d))

            yield problem("pure", f"level within {within}", k, "1", f"{shape} {i}", make)
    for k in (2, 3, 4):
        for i in range(6):
            yield problem(
                "pure",
                "level of a class",
                k,
                "1",
                i,
                lambda k=k, i=i: ex.smallest_epsilon(sources(f"level {i}", k, i), Fraction(1, 4)),
            )


def statistics(name: str, kind: str, k: int, source: Any) -> Any:
    draw = random.Random(f"{name} {kind} {k}")
    if kind == "Mean":
        return ex.Mean([draw.randint(0, 100) / 100 if x else 2 for x in range(k)], source)
    if kind == "Mean of ranks":
        return ex.Mean([x / k for x in range(k)], source)
    if kind == "Workload":
        return ex.Workload([[draw.randint(-9, 9) for _ in range(k)] for _ in range(3)], source)
    if kind == "weighted":
        return ex.Frequencies(source, weights=[draw.randint(1, 4) for _ in range(k)])
    return {"Frequencies": ex.Frequencies, "CDF": ex.CDF, "Ranges": ex.Ranges}[kind](source)


STATISTICS = ("Frequencies", "CDF", "Ranges", "Mean", "Mean of ranks", "Workload", "weighted")


def pure_workloads() -> Iterator[Stored]:
    turn = Several()

    def one(kind: str, k: int, epsilon: str, shape: str, i: Any, seconds: float = 30, **options: Any) -> Stored:
        def utility() -> Any:
            return statistics(f"{i}", kind, k, k if shape == "k" else a_prior(f"workload {i}", k, shape))

        made = designed(lambda: ex.LDP(epsilon), utility, time_limit=seconds, **options)
        return problem("pure", f"workload {kind}", k, epsilon, f"{shape} {i}", made, seconds)

    for kind in STATISTICS:
        for k, times in ((2, 6), (3, 6), (4, 6), (6, 5), (8, 3)):
            for i in range(times):
                epsilon, shape = turn.next(EPSILONS, ("k", *POSITIVE))
                yield one(kind, k, epsilon, shape, i)
    for k in (5, 9, 12, 20, 40, 200, 1000):
        for epsilon in EPSILONS[1:-1:2] if k < 200 else ("1",):
            yield one("Frequencies", k, epsilon, "k", 0)
            yield one("Mean of ranks", k, epsilon, "k", 0)
    for kind, k in (("CDF", 9), ("CDF", 10), ("Ranges", 9), ("Workload", 9), ("Frequencies", 10), ("Frequencies", 9)):
        for epsilon in ("0.5", "2"):
            yield one(kind, k, epsilon, "plain", 0, 10)
    for kind, k in (
        ("CDF", 24),
        ("Ranges", 24),
        ("Workload", 24),
        ("Frequencies", 24),
        ("CDF", 40),
        ("Frequencies", 40),
    ):
        yield one(kind, k, "1", "plain", 0, 8)
    for counts in ((4, 8, 10), (2, 18), (3, 3, 3), (1, 5), (2, 2, 2)):
        for epsilon in ("0.3", "1", "3"):
            weights = [1 << (2 * i) for i, n in enumerate(counts) for _ in range(n)]
            p = [Fraction(w, sum(weights)) for w in weights]
            made = designed(lambda e=epsilon: ex.LDP(e), lambda p=p: ex.Frequencies(p), time_limit=10)
            yield problem("pure", "workload Frequencies in groups", len(p), epsilon, f"{counts}", made, 10)
    for k, most in ((3, 3), (4, 4), (5, 5), (4, 3)):
        for kind in ("Frequencies", "CDF", "Mean of ranks"):
            yield one(kind, k, "1", "k", f"in {most}", 10, max_outputs=most)
    for k in (2, 3, 4):
        for kind in ("Frequencies", "Mean of ranks", "CDF"):
            for i in range(3):
                made = designed(
                    lambda: ex.LDP("1"),
                    lambda k=k, kind=kind, i=i: statistics("class", kind, k, sources(f"workload {i}", k, i)),
                    time_limit=10,
                )
                yield problem("pure", f"workload {kind} of a class", k, "1", i, made, 10)


def coupled() -> Iterator[Stored]:
    turn = Several()
    deltas = ("0.01", "0.05", "0.3", "1e-6")

    def one(goal: str, k: int, utility: Callable[[], Any], i: Any, wide: bool = True, seconds: float = 30) -> Stored:
        epsilon, delta = turn.next(EPSILONS if wide else MIDDLING, deltas)
        made = designed(lambda: ex.LDP(epsilon, delta=delta), utility, time_limit=seconds)
        return problem("coupled", goal, k, epsilon, f"δ={delta} {i}", made, seconds)

    for k, times in ((2, 6), (3, 6), (4, 4)):
        for kind, divergence in DIVERGENCES.items():
            for i in range(times if k < 4 else times // 2):
                s0, s1 = turn.next(SHAPES, POSITIVE)

                def utility(k: int = k, i: int = i, d: Any = divergence, s: Any = (s0, s1)) -> Any:
                    return d(a_prior(f"coupled {i}", k, s[0]), a_prior(f"coupled {i} q", k, s[1]))

                yield one(f"divergence {kind}", k, utility, f"{s0} {s1} {i}")
    for k, times in ((2, 8), (3, 8), (4, 4)):
        for i in range(times):
            shape = turn.next(SHAPES)[0]
            yield one(
                "information",
                k,
                lambda k=k, i=i, s=shape: ex.MutualInformation(a_prior(f"coupled {i}", k, s)),
                f"{shape} {i}",
            )
            kind = turn.next((*OF_A_PAIR, *OF_THREE))[0]
            yield one(
                f"sum {kind}",
                k,
                lambda k=k, i=i, kind=kind, s=shape: several(f"{i}", k, ("plain", "ties", s), kind),
                f"{shape} {i}",
            )
    for k, times in ((2, 3), (3, 3), (4, 1)):
        for kind in STATISTICS:
            for i in range(times):
                shape = turn.next(("k", *POSITIVE))[0]

                def utility(k: int = k, i: int = i, kind: str = kind, s: str = shape) -> Any:
                    return statistics(f"{i}", kind, k, k if s == "k" else a_prior(f"coupled {i}", k, s))

                yield one(f"workload {kind}", k, utility, f"{shape} {i}", False)
    for k in (5, 6, 7, 9):
        seconds = 10.0
        p, q = a_prior("coupled", k, "plain"), a_prior("coupled q", k, "plain")
        yield one("divergence TV", k, lambda p=p, q=q: ex.TotalVariation(p, q), "", False, seconds)
        yield one("divergence JS", k, lambda p=p, q=q: ex.JensenShannon(p, q), "", False, seconds)
        yield one("information", k, lambda p=p: ex.MutualInformation(p), "", False, seconds)
        yield one("workload Frequencies", k, lambda k=k: ex.Frequencies(k), "k", False, seconds)
        yield one("workload Mean", k, lambda k=k: ex.Mean([x / k for x in range(k)]), "k", False, seconds)
    for k in (12, 30):
        p = a_prior("coupled", k, "plain")
        yield one("information", k, lambda p=p: ex.MutualInformation(p), "", False, 8)
        yield one("workload Frequencies", k, lambda k=k: ex.Frequencies(k), "k", False, 8)
        yield one("sum many", k, lambda k=k: several("coupled", k, ("plain",) * 3, "many"), "", False, 8)


def lift_notion(kind: str, epsilon: str, p: Prior) -> Any:
    if kind == "LIP with lower":
        return ex.LIP(epsilon, p, lower=str(float(epsilon) / 2))
    return {"PML": ex.PML, "LIP": ex.LIP}[kind](epsilon, p)


def lifts() -> Iterator[Stored]:
    turn = Several()

    def one(goal: str, k: int, make: Callable[[Prior], Any], i: Any, seconds: float = 30) -> Stored:
        kind, epsilon, shape = turn.next(("PML", "LIP", "LIP with lower"), EPSILONS if k < 8 else MIDDLING, SHAPES)

        def made() -> Any:
            p = a_prior(f"lift {i}", k, shape)
            return ex.design(lift_notion(kind, epsilon, p), make(p), time_limit=seconds)

        return problem("lift", goal, k, epsilon, f"{kind} {shape} {i}", made, seconds)

    for k, times in ((2, 4), (3, 4), (5, 3), (8, 1)):
        for kind, divergence in DIVERGENCES.items():
            for i in range(times):
                s0, s1 = turn.next(SHAPES, POSITIVE)

                def utility(_p: Prior, k: int = k, i: int = i, d: Any = divergence, s: Any = (s0, s1)) -> Any:
                    return d(a_prior(f"lift {i} 0", k, s[0]), a_prior(f"lift {i} 1", k, s[1]))

                yield one(f"divergence {kind}", k, utility, f"{s0} {s1} {i}")
    for k, times in ((2, 12), (3, 12), (4, 12), (5, 12), (8, 8), (14, 4), (20, 2)):
        for i in range(times):
            yield one("information", k, lambda p: ex.MutualInformation(p), i)
    for k, times in ((2, 4), (3, 4), (5, 4), (8, 2)):
        for i in range(times):
            yield one("information of another", k, lambda _p, k=k: ex.MutualInformation(a_prior("x", k, "ties")), i)
            for kind in (turn.next(OF_A_PAIR)[0], turn.next(OF_THREE)[0]):
                yield one(
                    f"sum {kind}",
                    k,
                    lambda _p, k=k, i=i, kind=kind: several(f"{i}", k, ("plain", "ties", "skew"), kind),
                    i,
                )
    for k, times in ((2, 6), (3, 6), (5, 6), (8, 4)):
        for i in range(times):
            yield one("hamming", k, lambda p: ex.Hamming(p), i)
            yield one("distortion", k, lambda p, k=k, i=i: ex.Distortion(p, losses(f"lift {i}", k)), i)
    for k, times in ((2, 2), (3, 2), (4, 1)):
        for kind in STATISTICS:
            for i in range(times):
                yield one(f"workload {kind}", k, lambda p, k=k, kind=kind: statistics("lift", kind, k, p), i, 10)
    for k in (14, 20, 80):
        p, q = a_prior("lift", k, "plain"), a_prior("lift q", k, "plain")
        yield one("divergence KL", k, lambda _p, p=p, q=q: ex.KL(p, q), 0, 10)
        yield one("divergence TV", k, lambda _p, p=p, q=q: ex.TotalVariation(p, q), 0, 10)


def of_a_class() -> Iterator[Stored]:
    turn = Several()

    def one(goal: str, k: int, make: Callable[[], Any], i: int, seconds: float = 20) -> Stored:
        epsilon = turn.next(MIDDLING)[0]
        made = designed(lambda: ex.PML(epsilon, sources(f"notion {i}", k, i)), make, time_limit=seconds)
        return problem("class", goal, k, epsilon, i, made, seconds)

    for k, times in ((2, 4), (3, 4), (4, 2)):
        for i in range(times):
            p, q = a_prior(f"class {i}", k, "plain"), a_prior(f"class {i} q", k, "ties")
            for kind in (turn.next(list(DIVERGENCES))[0], turn.next(list(DIVERGENCES))[0]):
                yield one(f"divergence {kind}", k, lambda d=DIVERGENCES[kind], p=p, q=q: d(p, q), i)
            yield one("information", k, lambda p=p: ex.MutualInformation(p), i)
            kind = turn.next((*OF_A_PAIR, *OF_THREE))[0]
            yield one(f"sum {kind}", k, lambda k=k, i=i, kind=kind: several(f"{i}", k, POSITIVE[:3], kind), i)
            yield one("hamming", k, lambda p=p: ex.Hamming(p), i)
            yield one("distortion", k, lambda p=p, k=k, i=i: ex.Distortion(p, losses(f"class {i}", k)), i)
            yield one("hamming of a class", k, lambda k=k, i=i: ex.Hamming(sources(f"goal {i}", k, i)), i)
            yield one("workload Frequencies", k, lambda p=p: ex.Frequencies(p), i)
    for k in (7, 9):
        for i in range(2):
            p, q = a_prior(f"class {i}", k, "plain"), a_prior(f"class {i} q", k, "ties")
            yield one("divergence KL", k, lambda p=p, q=q: ex.KL(p, q), i)
            yield one("information", k, lambda p=p: ex.MutualInformation(p), i)


def metric() -> Iterator[Stored]:
    turn = Several()

    def one(goal: str, k: int, make: Callable[[], Any], i: Any, shapes: Any = ("line", "star", "plane")) -> Stored:
        epsilon, shape = turn.next(EPSILONS[1:-1], shapes)
        made = designed(lambda: ex.MetricPrivacy(epsilon, distances(f"metric {i}", k, shape)), make, time_limit=20)
        return problem("metric", goal, k, epsilon, f"{shape} {i}", made, 20)

    for k, times in ((2, 2), (3, 3), (4, 2), (6, 1)):
        for kind, divergence in DIVERGENCES.items():
            for i in range(times):
                p, q = a_prior(f"metric {i}", k, turn.next(SHAPES)[0]), a_prior(f"metric {i} q", k, "plain")
                yield one(f"divergence {kind}", k, lambda d=divergence, p=p, q=q: d(p, q), i)
    for k, times in ((2, 6), (3, 8), (4, 6), (5, 2)):
        for i in range(times):
            p = a_prior(f"metric {i}", k, turn.next(SHAPES)[0])
            yield one("information", k, lambda p=p: ex.MutualInformation(p), i)
            kind = turn.next((*OF_A_PAIR, *OF_THREE))[0]
            yield one(f"sum {kind}", k, lambda k=k, i=i, kind=kind: several(f"{i}", k, POSITIVE[:3], kind), i)
            yield one("hamming", k, lambda p=p: ex.Hamming(p), i)
            yield one("distortion", k, lambda p=p, k=k: ex.Distortion(p, distances("", k, "line")), i)
            yield one("workload Frequencies", k, lambda p=p: ex.Frequencies(p), i)
    for k in (7, 12):
        p, q = a_prior("metric", k, "plain"), a_prior("metric q", k, "plain")
        for shape in ("line", "star", "plane"):
            yield one("divergence KL", k, lambda p=p, q=q: ex.KL(p, q), "", (shape,))
            yield one("distortion", k, lambda p=p, k=k: ex.Distortion(p, distances("", k, "line")), "", (shape,))
        yield one("information", k, lambda p=p: ex.MutualInformation(p), "", ("line",))


def of_users() -> Iterator[Stored]:
    """Goals given as a Python function, and exact levels: nothing is proven of the former."""
    for k in (3, 5):
        for epsilon in ("0.3", "1", "4"):
            p, q = a_prior("user", k, "plain"), a_prior("user q", k, "ties")
            floats, other = np.array(p, dtype=float), np.array(q, dtype=float)
            goals: dict[str, Callable[[], Any]] = {
                "FDivergence": lambda p=p, q=q: ex.FDivergence(p, q, lambda x: (x - 1) ** 2),
                "Sublinear": lambda a=floats, b=other, k=k: ex.Sublinear(k, lambda c: np.abs(a @ c - b @ c)),
                "ConvexUtility": lambda a=floats, b=other, k=k: ex.ConvexUtility(
                    k, lambda m: float(np.square(a @ m - b @ m).sum())
                ),
            }
            for kind, goal in goals.items():
                made = designed(lambda e=epsilon: ex.LDP(e), goal)
                yield problem("pure", f"user {kind}", k, epsilon, 0, made)
                made = designed(lambda e=epsilon, p=p: ex.PML(e, p), goal)
                yield problem("lift", f"user {kind}", k, epsilon, 0, made)
            for ratio in (2, 3, Fraction(5, 4)):
                name = f"{ratio} {epsilon}"
                made = designed(lambda r=ratio: ex.LDP.from_ratio(Fraction(r)), lambda p=p, q=q: ex.KL(p, q))
                yield problem("pure", "divergence KL of a ratio", k, "1", name, made)
                made = designed(lambda r=ratio: ex.LDP.from_ratio(Fraction(r)), lambda p=p: ex.MutualInformation(p))
                yield problem("pure", "information of a ratio", k, "1", name, made)
    for notion, make in {
        "pure": lambda _p: ex.LDP(0),
        "coupled": lambda _p: ex.LDP(0, delta="0.1"),
        "lift": lambda p: ex.PML(0, p),
        "metric": lambda p: ex.MetricPrivacy(0, distances("", len(p), "line")),
    }.items():
        p, q = a_prior("nothing", 3, "plain"), a_prior("nothing q", 3, "ties")
        for goal, utility in {
            "divergence KL": lambda p=p, q=q: ex.KL(p, q),
            "divergence of equal ones": lambda p=p: ex.ChiSquared(p, p),
            "information": lambda p=p: ex.MutualInformation(p),
            "hamming": lambda p=p: ex.Hamming(p),
            "workload Frequencies": lambda p=p: ex.Frequencies(p),
        }.items():
            yield problem(notion, goal, 3, "0", "", designed(lambda m=make, p=p: m(p), utility))


def problems() -> list[Stored]:
    """All of them, each with a name of its own."""
    families = (
        pure_divergences,
        information,
        pure_sums,
        pure_costs,
        pure_workloads,
        coupled,
        lifts,
        of_a_class,
        metric,
        of_users,
    )
    found: dict[str, Stored] = {}
    for family in families:
        for one in family():
            found.setdefault(one.name, one)
    return list(found.values())


# -- runs --


@dataclass(frozen=True)
class Outcome:
    """What became of a problem; numbers as their repr, so that nothing is lost on the way."""

    name: str
    cell: str
    value: str = ""
    lower: str = ""
    upper: str = ""
    verdict: str = ""
    cut_off: bool = False
    design_seconds: float = 0.0
    verify_seconds: float = 0.0


def solved(stored: Stored) -> Outcome:
    start, clock = time.process_time(), time.monotonic()  # time limits are of the clock
    try:
        made = stored.make()
    except ex.ExtremalError as error:
        return Outcome(stored.name, stored.cell, verdict=type(error).__name__)
    except Exception as error:  # a defect: another version may have it or not, and the rest is compared all the same
        return Outcome(stored.name, stored.cell, verdict=f"defect: {type(error).__name__}")
    middle, cut_off = time.process_time(), time.monotonic() - clock > CUT_OFF * stored.seconds
    try:
        checked = ex.verify(made)
        verdict = f"privacy {checked.privacy}, optimality {checked.optimality}"
    except Exception as error:  # as above
        verdict = f"defect in verify: {type(error).__name__}"
    end = time.process_time()
    return Outcome(
        stored.name,
        stored.cell,
        repr(float(made.value)),
        repr(float(made.lower_bound)),
        repr(float(made.upper_bound)),
        verdict,
        cut_off,
        round(middle - start, 4),
        round(end - middle, 4),
    )


def read(path: Path) -> dict[str, Outcome]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    rows = [Outcome(**json.loads(line)) for line in text.splitlines()]
    return {row.name: row for row in rows}


def run(words: Sequence[str], path: Path | None) -> dict[str, Outcome]:
    """Solve every problem that has one of the words in its name, in turn; one line of a file for each."""
    chosen = [p for p in problems() if not words or any(w in p.name for w in words)]
    found: dict[str, Outcome] = {}
    file = path.open("w", encoding="utf-8") if path else None
    for number, stored in enumerate(chosen, 1):
        outcome = solved(stored)
        found[outcome.name] = outcome
        if file:
            print(json.dumps(asdict(outcome), ensure_ascii=False), file=file, flush=True)
        if number % 250 == 0:
            print(f"  {number} of {len(chosen)} designs, {time.process_time():.0f} s of processor time", flush=True)
    if file:
        file.close()
    return found


def keep(path: Path) -> None:
    """Write stored.jsonl.gz: everything but times, which mean nothing on another machine."""
    rows = [asdict(row) | {"design_seconds": 0.0, "verify_seconds": 0.0} for row in read(path).values()]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    KEPT.write_bytes(gzip.compress(text.encode("utf-8"), 9, mtime=0))
    print(f"{len(rows)} designs in {KEPT.name}, {KEPT.stat().st_size} bytes")


# -- comparison --


def apart(new: str, old: str) -> float:
    """The relative difference new − old, with its sign."""
    a, b = float(new), float(old)
    return (
        0.0
        if a == b
        else math.inf * (1 if a > b else -1)
        if math.isinf(a) or math.isinf(b)
        else ((a - b) / max(abs(a), abs(b), NOTHING))
    )


def differences(new: Outcome, old: Outcome) -> list[str]:
    """Everything in which a design is not as it was. A bound that is tighter is none."""
    if not old.value:
        gone = old.verdict.startswith("defect") and not new.verdict.startswith("defect")
        return [] if gone or new.value or new.verdict == old.verdict else [f"{old.verdict} became {new.verdict}"]
    if not new.value:
        return [f"a design became {new.verdict}"]
    said = (
        []
        if new.verdict == old.verdict or old.verdict.startswith("defect")
        else [f"the verdict '{old.verdict}' became '{new.verdict}'"]
    )
    if abs(apart(new.value, old.value)) > SAME:
        said.append(f"the value {old.value} became {new.value}")
    if apart(new.lower, old.lower) < -SAME:
        said.append(f"the lower bound {old.lower} became {new.lower}")
    if apart(new.upper, old.upper) > SAME:
        said.append(f"the upper bound {old.upper} became {new.upper}")
    return said


def compare(new: dict[str, Outcome], old: dict[str, Outcome], times: bool) -> int:
    """Print what differs; the number of failures. A search that a time limit may have cut off is reported only."""
    failures, cut_off, better = 0, 0, 0
    missing = [name for name in old if name not in new]
    for name, row in new.items():
        if name not in old:
            continue
        said = differences(row, old[name])
        excused = row.cut_off or old[name].cut_off
        cut_off += excused
        better += bool(row.value) and not said and (row.lower, row.upper) != (old[name].lower, old[name].upper)
        failures += bool(said) and not excused
        for what in said:
            print(f"  {'cut off' if excused else 'DIFFERS'}: {name}: {what}")
    both = [name for name in new if name in old]
    print(f"{len(both)} designs compared, {failures} differ; {better} have other bounds that are as good to {SAME:g}")
    print(
        f"{cut_off} were cut off by a time limit in one of the runs; {len(missing)} of the older are not in the newer"
    )
    return failures + (slower([new[n] for n in both], [old[n] for n in both]) if times else 0)


def slower(new: Sequence[Outcome], old: Sequence[Outcome]) -> int:
    """How many sums of processor time grew too much: designing and verifying, in all and by class."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for i, rows in enumerate((new, old)):
        for row in rows:
            for kind, seconds in (("designing", row.design_seconds), ("verifying", row.verify_seconds)):
                sums[f"{kind}, all"][i] += seconds
                sums[f"{kind}, {row.cell}"][i] += seconds
    failures = 0
    for name, (now, before) in sorted(sums.items()):
        whole = name.endswith(", all")
        failed = before > 0 and max(now, before) > SHORT and now > before * (SLOWER if whole else SLOWER_CLASS)
        failures += failed
        if whole or failed:
            print(f"  {'SLOWER' if failed else 'time'}: {name}: {before:.2f} s → {now:.2f} s")
    return failures


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("words", nargs="*")
    options.add_argument("--write", type=Path)
    options.add_argument("--against", type=Path)
    options.add_argument("--compare", type=Path, nargs=2, metavar=("OLD", "NEW"))
    options.add_argument("--keep", type=Path)
    options.add_argument("--list", action="store_true", help="print how many problems each class has")
    chosen = options.parse_args()
    if chosen.list:
        cells: dict[str, int] = defaultdict(int)
        for stored in problems():
            cells[stored.cell] += 1
        print("\n".join(f"{count:5} {cell}" for cell, count in sorted(cells.items())))
        print(f"{sum(cells.values())} problems in {len(cells)} classes")
        return 0
    if chosen.keep:
        keep(chosen.keep)
        return 0
    if chosen.compare:
        old, new = map(read, chosen.compare)
        return int(compare(new, old, times=True) > 0)
    found = run(chosen.words, chosen.write)
    against = chosen.against or (None if chosen.write else KEPT)
    return int(compare(found, read(against), times=chosen.against is not None) > 0) if against else 0


if __name__ == "__main__":
    sys.exit(main())
