"""The kernel against a second checker, written from the page on proofs, in decimals of many digits: the same bounds,
from the safe side, and the same refusals, for every kind, notion and utility, also with any numbers in the fields.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
import extremal.certificate.kinds.search
import support.proofs.second.information
from extremal.certificate import (
    PROOFS,
    Coupled,
    Directions,
    Groups,
    Lines,
    MeanPartition,
    OnePrior,
    Partition,
    Proof,
    Ratios,
    Rays,
    Refused,
    Search,
    Sizes,
    Subadditive,
    Truth,
)
from extremal.utility import LevelAtDistortion
from support.proofs.lies import Lie, varied
from support.proofs.second.information import slack_of_search
from support.proofs.second_checker import disagreement

P, WITH_ZERO, TIED = ["0.5", "0.3", "0.2"], ["0.6", "0", "0.4"], ["0.4", "0.4", "0.2"]
P0, P1 = ["0.7", "0.2", "0.1"], ["0.2", "0.3", "0.5"]
LINE, TRIANGLE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 1, 1.5], [1, 0, 1.2], [1.5, 1.2, 0]]
FAR = [[0, 1, "inf"], [1, 0, 3000], ["inf", 3000, 0]]

NOTIONS: dict[str, Any] = {
    "LDP, a ratio": ex.LDP.from_ratio("7/2"),
    "LDP": ex.LDP("0.7"),
    "LDP of 0": ex.LDP(0),
    "PML": ex.PML("0.6", P),
    "PML with a zero": ex.PML("0.6", WITH_ZERO),
    "PML of 0": ex.PML(0, P),
    "LIP": ex.LIP("0.6", P, lower="0.3"),
    "LIP with a zero": ex.LIP("0.6", WITH_ZERO),
    "metric": ex.MetricPrivacy("0.8", TRIANGLE),
    "metric, far": ex.MetricPrivacy("0.8", [[float(d) for d in row] for row in FAR]),
    "a list": ex.PML("0.4", ex.SourceClass([P, TIED, WITH_ZERO])),
    "a ball": ex.PML("0.4", ex.SourceClass.ball(P, "0.25")),
    "permutations": ex.PML("0.4", ex.SourceClass.permutation_invariant(TIED)),
    "the simplex": ex.PML("0.4", ex.SourceClass.simplex(3)),
}
DIVERGENCES: dict[str, Any] = {
    "KL": ex.KL(P0, P1),
    "KL with a zero": ex.KL(P0, WITH_ZERO),
    "ReverseKL": ex.ReverseKL(P0, P1),
    "ReverseKL with a zero": ex.ReverseKL(WITH_ZERO, P1),
    "SymmetricKL": ex.SymmetricKL(P0, P1),
    "TotalVariation": ex.TotalVariation(P0, P1),
    "ChiSquared": ex.ChiSquared(P0, P1),
    "SquaredHellinger": ex.SquaredHellinger(P0, WITH_ZERO),
    "JensenShannon": ex.JensenShannon(WITH_ZERO, P1),
    "AlphaDivergence of 2.5": ex.AlphaDivergence(P0, P1, "2.5"),
    "AlphaDivergence of 2.5 with a zero": ex.AlphaDivergence(P0, WITH_ZERO, "2.5"),
    "AlphaDivergence of 0.5": ex.AlphaDivergence(P0, WITH_ZERO, "0.5"),
    "AlphaDivergence of -1": ex.AlphaDivergence(WITH_ZERO, P1, -1),
    "AlphaDivergence of 0": ex.AlphaDivergence(P0, P1, 0),
    "AlphaDivergence of 1": ex.AlphaDivergence(P0, P1, 1),
    "HockeyStick of 1.5": ex.HockeyStick(P0, P1, "1.5"),
    "HockeyStick of 0.5": ex.HockeyStick(P0, P1, "0.5"),
}
SUMS: dict[str, Any] = {
    **DIVERGENCES,
    "MutualInformation": ex.MutualInformation(P),
    "MutualInformation with a zero": ex.MutualInformation(WITH_ZERO),
    "Average": ex.Average([ex.KL(P0, P1), ex.Average([ex.TotalVariation(P0, P1), ex.MutualInformation(P)])]),
    "WorstCase": ex.WorstCase([ex.KL(P0, P1), ex.Average([ex.KL(P1, P0), ex.ChiSquared(P1, P0)])]),
}
COSTS: dict[str, Any] = {
    "Hamming": ex.Hamming(P),
    "Distortion": ex.Distortion(TIED, [["0.1", 1], [2, 0], ["0.7", "0.3"]]),
}
P_FOUR = ["0.25", "0.25", "0.3", "0.2"]
ALPHAS = [
    tuple(map(Fraction, texts)) for texts in (("0.31", "-0.12", "0.07"), ("0.02", "0.05", "0.04"), ("0", "0", "0"))
]
NODES = [
    tuple(map(Fraction, texts))
    for texts in (("0.25", "1", "2.5"), ("1",), ("0",), ("0", "0.9", "1.1"), ("0.001", "1000"))
]
STAR = ((1, 0), (1, 2))


def numbers(*texts: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, texts))


def multipliers(notion: Any, vectors: int) -> tuple[tuple[int, int, int, Fraction], ...]:
    """Some of every vector, where the cone is one of inequalities."""
    if type(notion) is not ex.MetricPrivacy and (type(notion) is not ex.PML or notion.source.single is not None):
        return ()
    return tuple((i, a, b, Fraction(7 + i, 50)) for i in range(vectors) for a, b in ((0, 1), (1, 0)))


def cases() -> Iterator[tuple[str, Proof, Any, Any]]:
    """(name, proof, notion, utility): every kind on every notion and utility that it is about."""
    turn = itertools.cycle(range(30))
    for (name, notion), (what, utility) in itertools.product(NOTIONS.items(), SUMS.items()):
        i = next(turn)
        mix = numbers("0.3", "0.9") if what == "WorstCase" and i % 2 else ()
        yield f"rays: {name}, {what}", Rays(ALPHAS[i % 3], mix), notion, utility
        if what in DIVERGENCES:
            nodes = NODES[i % 5]
            yield (
                f"lines: {name}, {what}",
                Lines(ALPHAS[i % 3], nodes, multipliers(notion, len(nodes) + 1)),
                notion,
                utility,
            )
    for (name, notion), (what, utility) in itertools.product(NOTIONS.items(), COSTS.items()):
        count = 3 if what == "Hamming" else 2
        yield f"lines: {name}, {what}", Lines(ALPHAS[1], (), multipliers(notion, count)), notion, utility
    for tree in (STAR, ((0, 1), (1, 2)), ((2, 0), (0, 1))):
        notion = ex.MetricPrivacy("0.8", LINE)
        for what, utility in SUMS.items():
            yield f"rays: tree {tree}, {what}", Rays(ALPHAS[0], (), tree), notion, utility
            if what in DIVERGENCES:
                yield f"lines: tree {tree}, {what}", Lines(ALPHAS[1], NODES[0], (), tree), notion, utility
        yield f"lines: tree {tree}, costs", Lines(ALPHAS[1], (), (), tree), notion, COSTS["Distortion"]
        yield f"lines: tree {tree}, ends", Lines(ALPHAS[1], numbers("0.01", "100"), (), tree), notion, SUMS["KL"]
    four = ex.KL(["0.4", "0.3", "0.2", "0.1"], ["0.1", "0.3", "0.4", "0.2"])
    tied = ex.KL(["0.4", "0.2", "0.4", "0"], ["0.2", "0.1", "0.7", "0"])
    zeros = ex.TotalVariation(["0.4", "0", "0.6", "0"], ["0", "0.5", "0.5", "0"])
    uneven = ex.JensenShannon(["0.4", "0.3", "0.2", "0.1"], ["1/3", "1/3", "1/6", "1/6"])
    for text in ("0", "0.05", "3"):
        for ratio in ("3", "1.1"):
            for pair, cells in (
                (four, ((2, 2), (3, 3), (1, 1), (0, 0))),
                (four, ((2, 1), (0, 0))),
                (four, ((2, 0),)),
                (four, ((2, 3), (3, 1), (1, 0))),
                (four, ((2, 2), (1, 1), (0, 0))),
                (four, ((3, 2), (1, 0))),
                (tied, ((2, 2), (0, 0))),
                (tied, ((2, 1),)),
                (tied, ((2, 3),)),
                (zeros, ((1, 2), (0, 0))),
                (zeros, ((1, 1), (2, 2), (0, 0))),
                (uneven, ((3, 3), (1, 1), (0, 2))),
                (uneven, ((3, 1), (0, 2))),
            ):
                yield f"partition {cells}", Partition(Fraction(text), cells), ex.LDP.from_ratio(ratio), pair
                back = ex.ChiSquared(pair.p1, pair.p0)
                for mean, mix in (
                    (ex.Average([pair, ex.Average([back, pair])]), ()),
                    (ex.WorstCase([pair, ex.Average([back, pair])]), numbers("1", "3")),
                    (ex.WorstCase([pair, back]), numbers("0", "2")),
                    (ex.WorstCase([pair, back]), numbers("1")),
                    (ex.Average([pair, ex.KL(P_FOUR, pair.p0)]), ()),
                    (ex.Average([pair, ex.MutualInformation(P_FOUR)]), ()),
                ):
                    told = MeanPartition(mix, Fraction(text), cells)
                    yield f"partition of a mean {cells}", told, ex.LDP.from_ratio(ratio), mean
                own = Partition(Fraction(text), cells)
                for names, proofs in (
                    ((0, 1, 0), (told, own)),
                    ((0, 0, 0), (told,)),
                    ((0, 1, 2), (own, own, own)),
                    ((0,), (own,)),
                ):
                    yield (
                        f"groups {cells}",
                        Groups(names, proofs),
                        ex.LDP.from_ratio(ratio),
                        ex.Average([pair, back, pair]),
                    )
                nested = ex.Average([pair, ex.Average([pair, pair])])
                yield f"groups {cells}", Groups((0, 0, 0), (own,)), ex.LDP.from_ratio(ratio), nested
                yield f"groups {cells}", Groups((0, 0), (own,)), ex.LDP.from_ratio(ratio), ex.WorstCase([pair, pair])
            for pair in (four, tied, zeros, uneven):
                for ends in (
                    ("1",),
                    ("0.3", "0.9", "2.5"),
                    ("2", "1"),
                    ("0",),
                    ("1e-190", "1e190"),
                    ("1", "1.00000000000001"),
                ):
                    proof = Ratios(Fraction(text), tuple(map(Fraction, ends)))
                    yield f"ratios {ends}", proof, ex.LDP.from_ratio(ratio), pair
    for what, prior in {
        "P": P,
        "zero": WITH_ZERO,
        "tied": TIED,
        "one": ["0", "1", "0"],
        "five": ["0.1"] * 2 + ["0.2"] * 2 + ["0.4"],
    }.items():
        for notion in (NOTIONS["LDP, a ratio"], ex.LDP("0.1"), ex.LDP(6), ex.LDP(0)):
            information = ex.MutualInformation(prior)
            for contact in ("0", "0.01", "0.5", "0.6", "200"):  # 0.5: at e^ε = 7/2 it is a probability of 0.2
                yield f"subadditive: {what}", Subadditive(Fraction(contact)), notion, information
            for lines in (
                (("0.01", "0.2"),),
                (("-0.05", "0.3"), ("0.001", "0")),
                (("0", "-0.5"), ("0.02", "0.1"), ("-9", "30")),
            ):
                value = Fraction("0.02") if len(lines) > 1 else Fraction(0)
                yield f"sizes: {what}", Sizes(value, tuple(numbers(*line) for line in lines)), notion, information  # type: ignore[misc]
    for what, source in {"P": P, "tied": TIED, "zero": WITH_ZERO}.items():
        yield f"truth: {what}", Truth(), NOTIONS["LDP, a ratio"], ex.Hamming(source)
        for within in ("0.1", "0.35", "0.45", "0.5", "0.6", "0.9"):
            yield f"truth: {what}, {within}", Truth(), ex.LDP(1), LevelAtDistortion(source, within)
    yield "truth: too much to ask", Truth(), ex.LDP(1), LevelAtDistortion(P, 0)
    yield from one_prior_cases()
    yield from directions_cases()
    for (what, utility), delta in itertools.product(SUMS.items(), ("0", "0.3")):
        prices = tuple((0, x, z, Fraction(x + 2 * z + 1, 100)) for x, z in itertools.permutations(range(3), 2))
        mix = numbers("0.3", "0.9") if what == "WorstCase" else ()
        for e in (ex.LDP.from_ratio("7/2", delta), ex.LDP("0.7", delta)):
            yield f"coupled: {what}, {delta}", Coupled(ALPHAS[0], prices, mix), e, utility
            yield f"coupled: {what}, {delta}", Coupled(ALPHAS[1], prices[1:3]), e, utility


def directions_cases() -> Iterator[tuple[str, Proof, Any, Any]]:
    three = ex.Average([ex.KL(P0, P1), ex.ChiSquared(P1, P), ex.KL(P, P0)])
    worst = ex.WorstCase([ex.KL(P0, P1), ex.Average([ex.KL(P1, P0), ex.TotalVariation(P1, P0)])])
    two, six = ((0, -1, 0, -1, -1), (-1,)), ((-1,), (0, -1, -1), (2, -1, 1, -1, -1), (-1,), (1, 0, -1, -1, -1), (-1,))
    for notion in (NOTIONS["LDP, a ratio"], NOTIONS["LDP"]):
        for alpha in ALPHAS[:2]:
            for utility in DIVERGENCES.values():
                yield "directions: two", Directions(alpha, (), two), notion, utility
            yield "directions: three", Directions(alpha, (), six), notion, three
            for mix in ((), numbers("1", "3"), numbers("0", "1")):
                yield "directions: worst case", Directions(alpha, mix, two), notion, worst
    alike_at_first = ex.KL(["0.5", "0.3", "0.2"], ["0.5", "0.2", "0.3"])
    yield "directions: two", Directions(ALPHAS[1], (), two), NOTIONS["LDP"], alike_at_first
    for utility, trees in (
        (three, two),
        (three, six[:5]),
        (three, (*six[:5], (0, -1))),
        (three, (*six[:5], (-1, -1))),
        (three, (*six[:5], (3,))),
        (SUMS["Average"], two),
        (SUMS["MutualInformation"], two),
    ):
        yield "directions: refused", Directions(ALPHAS[1], (), trees), NOTIONS["LDP"], utility
    yield "directions: another notion", Directions(ALPHAS[1], (), two), NOTIONS["PML"], SUMS["KL"]
    yield "directions: no room", Directions(ALPHAS[1], (), two), NOTIONS["LDP of 0"], SUMS["KL"]


def one_prior_cases() -> Iterator[tuple[str, Proof, Any, Any]]:
    three = [P, TIED, WITH_ZERO]
    for name in ("a list", "a ball", "permutations", "the simplex"):
        notion = NOTIONS[name]
        for prior, mix in (
            (numbers(*P), ()),
            (numbers("2", "2", "1"), ()),
            (numbers("0.5", "0.05", "0.45"), ()),
            (numbers("0.5", "0.0499", "0.45"), ()),
            ((), numbers("1", "2", "0")),
            ((), numbers("0", "0", "3")),
        ):
            yield f"one prior: {name}", OnePrior(prior, mix, Rays(ALPHAS[1])), notion, SUMS["KL"]
    for source in (ex.SourceClass(three), ex.SourceClass.ball(P, "0.1"), ex.SourceClass.permutation_invariant(P)):
        for prior, mix in ((numbers("5", "3", "2"), ()), (numbers("4", "3", "3"), ()), ((), numbers("1", "1", "1"))):
            yield "one prior: Hamming", OnePrior(prior, mix, Truth()), ex.LDP(1), ex.Hamming(source)
            yield "one prior: level", OnePrior(prior, mix, Truth()), ex.LDP(1), LevelAtDistortion(source, "0.3")
    both = OnePrior((), numbers("1", "0", "0"), OnePrior((), numbers("0", "1", "0"), Lines(ALPHAS[1])))
    yield "one prior: both", both, NOTIONS["a list"], ex.Hamming(ex.SourceClass(three))


CASES = list(cases())
KINDS = sorted({proof.kind for _, proof, _, _ in CASES})


def test_every_kind_but_those_with_a_checker_of_their_own_is_here() -> None:
    elsewhere = {"listed columns", "listed counts", "matrix inequality", "line sweep", "coupled columns"}
    elsewhere.add("inputs revealed")
    assert set(PROOFS) - {*KINDS, "search"} == elsewhere


@pytest.mark.parametrize("kind", KINDS)
def test_two_checkers_derive_the_same_bound(kind: str) -> None:
    for name, proof, notion, utility in CASES:
        if proof.kind == kind:
            assert disagreement(proof, notion, utility) == "", name


@pytest.mark.parametrize("kind", KINDS)
def test_two_checkers_agree_whatever_the_fields_hold(kind: str) -> None:
    random = np.random.default_rng(5)
    chosen = [Lie(proof, notion, utility, 0.0) for _, proof, notion, utility in CASES if proof.kind == kind]
    chosen = [chosen[i] for i in random.permutation(len(chosen))[:25]]
    for lie in varied(random, iter(chosen), 3):
        assert disagreement(lie.proof, lie.privacy, lie.utility) == "", lie


# -- searches: accepted and refused at the very edge --


def full_tree(counts: list[int], token: Any) -> tuple[int, ...]:
    tokens: list[int] = []

    def grow(taken: list[int]) -> None:
        if len(taken) == len(counts):
            tokens.append(token(taken))
            return
        tokens.append(-1)
        for n in range(counts[len(taken)] + 1):
            grow([*taken, n])

    grow([])
    return tuple(tokens)


def searches() -> Iterator[tuple[str, Search, Any, Any]]:
    """Trees of all shapes for dual vectors that a factor makes feasible."""
    base = {
        "P": (P, "0.5", "0.31", "0.22"),
        "tied": (TIED, "0.4", "0.4", "0.25"),
        "zero": (WITH_ZERO, "0.7", "0.1", "0.4"),
    }
    for what, (prior, *given) in base.items():
        alpha, information = numbers(*given), ex.MutualInformation(prior)
        present = [(Fraction(p), a) for p, a in zip(prior, alpha, strict=True) if Fraction(p)]
        groups = sorted(set(present), key=lambda g: (-g[0], g[1]))
        counts = [present.count(g) for g in groups]
        masses = sorted(
            {
                sum(t * g[0] for t, g in zip(taken, groups, strict=True))
                for taken in itertools.product(*(range(n + 1) for n in counts))
            }
        )

        def by_mass(taken: list[int], groups: Any = groups, masses: Any = masses) -> int:
            return int(masses.index(sum(t * g[0] for t, g in zip(taken, groups, strict=True))))

        branches = (-1, *(1,) * (counts[0] + 1))
        for notion in (ex.LDP.from_ratio("7/2"), ex.LDP.from_ratio(40)):
            for tree, choices in (
                (full_tree(counts, by_mass), tuple(masses)),
                ((0,), numbers("0.4")),
                ((1,), numbers("0.9", "0.25")),
                (branches, numbers("0", "0.3")),
            ):
                yield f"{what}, {notion!r}, {tree}", Search(alpha, choices, (tree,)), notion, information
        if what == "zero":
            present = [g for g in present if g[0]]
        for notion in (
            ex.PML("0.6", prior),
            ex.LIP("0.6", prior),
            ex.LIP("1.1", prior, lower="0.2"),
            ex.PML("0.2", prior),
        ):
            full = tuple(
                full_tree([n - (i == j) for i, n in enumerate(counts)], lambda _: 0) for j in range(len(counts))
            )
            short = ((0,),) * len(counts)
            for trees, choices in ((full, numbers("0.6")), (short, numbers("1.05")), (short, numbers("0.8"))):
                yield f"{what}, {notion!r}, {trees}", Search(alpha, choices, trees), notion, information


SEARCHES = list(searches())


def scaled(proof: Search, factor: Decimal | Fraction) -> Search:
    exact = Fraction(round(Fraction(factor) * 10**90), 10**90)
    return Search(tuple(a * exact for a in proof.alpha), proof.choices, proof.trees)


def edge(proof: Search, notion: Any, utility: Any) -> Fraction:
    """The smallest factor of α with which every node is closed: a root of a concave function, by Newton's method."""
    factor, step = Fraction(1, 1000), Fraction(1, 10**70)

    def slack(at: Fraction) -> Fraction:
        return Fraction(slack_of_search(scaled(proof, at).to_json(), notion.to_json(), utility.to_json()))

    for _ in range(12):
        here = slack(factor)
        rise = here / ((slack(factor + step) - here) / step)
        factor -= rise
        if abs(rise) < Fraction(1, 10**75):
            return factor
    raise AssertionError("no edge was found")


@pytest.mark.parametrize("case", SEARCHES, ids=lambda case: case[0])
def test_a_search_is_accepted_from_the_edge_on_and_not_before(case: Any) -> None:
    _, proof, notion, utility = case
    at = edge(proof, notion, utility)
    accepted, refused = scaled(proof, at * (1 + Fraction(1, 10**50))), scaled(proof, at * (1 - Fraction(1, 10**68)))
    assert accepted.bound(notion, utility) == sum(accepted.alpha)
    with pytest.raises(Refused, match="not closed"):
        refused.bound(notion, utility)


@pytest.mark.parametrize("case", [case for case in SEARCHES if case[2].name != "LDP"], ids=lambda case: case[0])
def test_the_edge_where_sums_are_not_listed(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (extremal.certificate.kinds.search, support.proofs.second.information):
        monkeypatch.setattr(module, "MOST_SUMS" if hasattr(module, "MOST_SUMS") else "LISTED", 2)
    test_a_search_is_accepted_from_the_edge_on_and_not_before(case)


def test_searches_with_any_fields() -> None:
    random = np.random.default_rng(9)
    made = [
        Lie(scaled(proof, edge(proof, notion, utility) * 2), notion, utility, 0.0)
        for _, proof, notion, utility in SEARCHES[::6]
    ]
    for lie in varied(random, iter(made), 12):
        assert disagreement(lie.proof, lie.privacy, lie.utility) == "", lie
