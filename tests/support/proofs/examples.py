"""Small problems of every notion and goal, with the proofs of their designs: to be damaged, recombined, compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import extremal as ex
from extremal.certificate import enclosure
from extremal.mechanism.structures.colourings import coloured
from support.proofs.comparison import Content

LINE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
TRIANGLE = [[0, 1, 1.5], [1, 0, 1.2], [1.5, 1.2, 0]]
LOSSES = [[0, 1, 2], [0.5, 0, 1], [2, 1.5, 0]]
P, Q, R, TIED, WITH_ZERO = (
    ["0.5", "0.3", "0.2"],
    ["0.2", "0.3", "0.5"],
    ["0.1", "0.65", "0.25"],
    ["0.4", "0.4", "0.2"],
    ["0.6", "0", "0.4"],
)
P4, Q4 = ["0.4", "0.3", "0.2", "0.1"], ["0.25", "0.15", "0.25", "0.35"]


@dataclass(frozen=True)
class Example:
    """A problem, the proofs that its design has, and what a mechanism that exists is worth, between two numbers."""

    name: str
    privacy: Any
    utility: Any
    proofs: tuple[Content, ...]
    low: Fraction | float
    high: Fraction | float
    certificate: Content | None = None
    """The design's, as its file holds it."""

    def is_undercut(self, bound: Fraction | float) -> bool:
        """Whether the mechanism is better than what no mechanism is better than."""
        return bool(bound > self.high if self.utility.is_cost else bound < self.low)


def notions() -> dict[str, Any]:
    """Every notion on three inputs."""
    several = ex.SourceClass([P, TIED])
    return {
        "LDP": ex.LDP("0.7"),
        "LDP of a ratio": ex.LDP.from_ratio(Fraction(3)),
        "coupled": ex.LDP("0.7", delta="0.05"),
        "PML": ex.PML("0.6", P),
        "PML with a zero": ex.PML("0.6", WITH_ZERO),
        "LIP": ex.LIP("0.6", P, lower="0.3"),
        "a list": ex.PML("0.4", several),
        "a list that leaves an input out": ex.PML("0.4", ex.SourceClass([["0", "0.6", "0.4"], ["0", "0.5", "0.5"]])),
        "a ball": ex.PML("0.4", ex.SourceClass.ball(P, "0.1")),
        "a line": ex.MetricPrivacy("0.8", LINE),
        "a triangle": ex.MetricPrivacy("0.8", TRIANGLE),
        "maximal leakage": ex.MaximalLeakage("0.5"),
    }


def goals() -> dict[str, Any]:
    """Every goal on three inputs."""
    return {
        "KL": ex.KL(P, Q),
        "TotalVariation": ex.TotalVariation(P, R),
        "AlphaDivergence with a zero": ex.AlphaDivergence(WITH_ZERO, Q, "0.5"),
        "information": ex.MutualInformation(P),
        "mean of a pair": ex.Average([ex.KL(P, Q), ex.ChiSquared(Q, P)]),
        "worst of three": ex.WorstCase([ex.KL(P, Q), ex.KL(P, R), ex.JensenShannon(Q, R)]),
        "mean with information": ex.Average([ex.MutualInformation(P), ex.SquaredHellinger(Q, R)]),
        "Hamming": ex.Hamming(P),
        "Hamming of a class": ex.Hamming(ex.SourceClass.ball(P, "0.05")),
        "Distortion": ex.Distortion(P, LOSSES),
        "Frequencies": ex.Frequencies(P),
        "Frequencies with ties": ex.Frequencies(TIED),
        "Mean": ex.Mean([0, 1, 3], prior=P),
        "CDF": ex.CDF(3),
    }


def _wider() -> Iterator[tuple[str, Any, Any]]:
    """What three inputs do not show: merged and alike inputs, matrices, sets, groups, levels, more inputs."""
    weights = [[1 + (i * x) % 5 for x in range(1, 5)] for i in range(1, 10)]
    many = [[Fraction(w, sum(row)) for w in row] for row in weights]
    yield "Frequencies of 6", ex.LDP("1"), ex.Frequencies(6)
    yield "Frequencies in groups", ex.LDP("1"), ex.Frequencies(["0.3", "0.3", "0.1", "0.1", "0.1", "0.1"])
    yield "Mean of values that repeat", ex.LDP("1"), ex.Mean([0, 0, 1, 2], prior=P4)
    yield "CDF of 4", ex.LDP("0.5"), ex.CDF(P4)
    yield "Ranges of 4", ex.LDP("2"), ex.Ranges(4)
    yield "merged under δ", ex.LDP("1", delta="0.1"), ex.Mean([0, 0, 1, 1], prior=P4)
    yield "information of 4", ex.LDP("1"), ex.MutualInformation(P4)
    yield "information, ties", ex.LDP("2.5"), ex.MutualInformation(["0.25"] * 4)
    yield "information under PML", ex.PML("0.5", P4), ex.MutualInformation(P4)
    yield "many hypotheses", ex.LDP("1"), ex.Average([ex.KL(h, many[0]) for h in many[1:]])
    yield "TV on a line", ex.MetricPrivacy("0.7", [[abs(x - z) for z in range(4)] for x in range(4)]), ex.KL(P4, Q4)
    yield "nothing private", ex.LDP(0), ex.KL(P, Q)
    yield "revealed", ex.LDP("20", delta="0.2"), ex.KL(P4, Q4)
    yield "yes/no questions", ex.LDP("2"), shares_of_questions(2, 2, 2, 2)
    yield "questions", ex.LDP("1"), shares_of_questions(2, 3, 3)
    yield "means of ±1", ex.LDP("4"), means_of_signs(4)


def shares_of_questions(*sizes: int) -> ex.Workload:
    """The shares of every question of a record."""
    records = list(product(*map(range, sizes)))
    rows = [[float(r[j] == a) for r in records] for j, k in enumerate(sizes) for a in range(k)]
    return ex.Workload(rows, len(records))


def means_of_signs(count: int) -> ex.Workload:
    """The mean of ±1 for each yes/no question: twice the shares, centred."""
    return ex.Workload([[2.0 * r[j] - 1 for r in product(range(2), repeat=count)] for j in range(count)], 2**count)


@cache
def examples() -> tuple[Example, ...]:
    """All that have a design."""
    problems = [(f"{n} × {g}", privacy, goal) for n, privacy in notions().items() for g, goal in goals().items()]
    found = []
    for name, privacy, goal in (*problems, *_wider()):
        try:
            design = ex.design(privacy, goal)
        except ex.ExtremalError:
            continue  # a cell without a method
        found.append(_example(name, privacy, design))
    found.extend(_by_hand())
    for allowed in ("0.3", "0.5", "0.1"):
        design = ex.smallest_epsilon(ex.SourceClass([P]), Fraction(allowed))
        found.append(_example(f"level within {allowed}", design.mechanism.privacy, design))
    return tuple(found)


def _by_hand() -> Iterator[Example]:
    """Forms that designs take for many inputs only, on three: groups, compact forms, classes, matrices."""
    parts = [ex.KL(P, Q), ex.KL(Q, P), ex.ChiSquared(P, R)]
    for groups in ([0, 1, 2], [0, 0, 1]):
        goals = [[u for u, g in zip(parts, groups, strict=True) if g == name] for name in range(max(groups) + 1)]
        inner = [ex.design(ex.LDP("0.7"), u[0] if len(u) == 1 else ex.Average(u)).certificate.proofs[0] for u in goals]
        content = {"kind": "groups", "groups": groups, "proofs": [proof.to_json() for proof in inner]}
        yield _told(f"groups {groups}", ex.LDP("0.7"), ex.Average(parts), content)
    corner: Content = {
        "kind": "chords",
        "nodes": [],
        "multipliers": [],
        "tree": [],
        "trees": [[0, -1, -1], *[[-1]] * 5],
    }
    flat: Content = {"kind": "dual", "alpha": ["0.02"] * 3, "mix": [], "prices": [], "reason": corner}
    yield _told("trees", ex.LDP("0.7"), ex.Average([ex.KL(P, Q), ex.KL(P, R)]), flat)
    lifted = {**flat, "reason": {**corner, "trees": []}}
    for name, notion in (("PML", ex.PML("0.6", P)), ("zeros", ex.PML("0.6", WITH_ZERO)), ("LIP", ex.LIP("0.6", Q))):
        yield _told(f"information with another prior, {name}", notion, ex.MutualInformation(R), lifted)
    for value, lines in (("0", []), ("0.3", []), ("0.01", [["0.005", "0.03"], ["0", "0.04"]])):
        content = {"kind": "concave", "value": value, "lines": lines}
        yield _told(f"concave {value}", ex.LDP("0.7"), ex.MutualInformation(P), content)
    listed: Content = {"kind": "listed", "tree": [], "revealed": False}
    dual: Content = {"kind": "dual", "alpha": [], "mix": [], "prices": [], "reason": listed}
    square: Content = {"kind": "squares", "z": [[], [-2]], "diagonal": [6, 4], "classes": [0, 0, 1], "merged": []}
    yield _told("classes", ex.LDP("0.7"), ex.Frequencies(TIED), {**square, "dual": dual})
    priced = {**dual, "alpha": ["0.5", "-0.2"]}
    cut: Content = {**priced, "reason": {"kind": "truncated", "reason": listed}}
    yield _told("classes with prices", ex.LDP("0.7"), ex.Frequencies(TIED), {**square, "dual": priced})
    for delta in ("0.05", "0.6"):  # of which the latter breaks more than all
        yield _told("classes, truncated", ex.LDP("0.7", delta), ex.Frequencies(TIED), {**square, "dual": cut})
    matrix: Content = {"kind": "matrix", "d": [2, 3, 2], "n": [], "blocks": [], "scale": -2}
    blocks: Content = {"kind": "matrix", "d": [9, 9, 9], "n": [[0], [1, 0]], "blocks": [0, 0, 1], "scale": -1}
    whole: Content = {"kind": "squares", "z": [[], [-1], [-1, -1]], "diagonal": [], "classes": [], "merged": []}
    for reason, name in product((matrix, blocks), ("LDP", "coupled", "PML", "LIP")):
        shown = {**whole, "dual": {**dual, "reason": reason}}
        yield _told(f"matrix, {name}", notions()[name], ex.Frequencies(P), shown)
    yield from _trees_over_sums()
    for goal in (ex.KL(P, Q), ex.MutualInformation(P), ex.WorstCase([ex.KL(P, Q), ex.KL(P, R)]), ex.Frequencies(TIED)):
        for proof in ex.design(ex.LDP("0.7"), goal).certificate.proofs:
            yield from _truncated(goal, proof.to_json())
    for sizes, largest in (((2, 2, 2), False), ((2, 3), True), ((2, 2, 5), True)):
        yield asked_example(sizes, largest)
    yield asked_example((2, 2), largest=False, epsilon="1")  # e^ε below 3
    for sizes in ((2, 2, 2), (2, 3)):
        yield tables_example(sizes)
    yield coloured_example()


def _trees_over_sums() -> Iterator[Example]:
    """Trees that decide every input, or stop where a node is closed already, for divergences in both directions."""
    for parts in ([ex.KL(P, Q), ex.KL(R, P), ex.ChiSquared(Q, P)], [ex.KL(Q, P), ex.KL(P, R), ex.KL(Q, R)]):
        goal = ex.Average(parts)
        found = ex.design(ex.LDP("0.7"), goal).certificate.proofs[0].to_json()
        alpha = [repr(float(a) + 1e-9) for a in found["alpha"]]
        whole = [-1, -1, -1, 0, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, 0]
        for tree, more in ((whole, 0.0), ([-1, -1, 0, 0, 0], 0.003), ([0], 0.0083)):  # hardly enough
            reason = {"kind": "sets", "choices": ["1", "0", "2"], "trees": [tree]}
            prices = [repr(float(a) + more) for a in alpha]
            yield _told("a tree over sums", ex.LDP("0.7"), goal, {**found, "alpha": prices, "reason": reason})


def coloured_example() -> Example:
    """A worse mechanism than the best, of three colourings, with the proof of the best one."""
    from extremal.optimize.problem import certify

    privacy, goal = ex.LDP("1"), ex.CDF(5)
    structure = coloured(
        [[0, 0, 1, 1, 1], [0, 1, 1, 2, 2], [0, 1, 2, 3, 4]], np.array([3.0, 2.0, 1.0]), privacy.exponential
    )
    mechanism = ex.Mechanism.from_structure(structure, privacy)
    certificate = certify(mechanism, goal, ex.design(privacy, goal).certificate.proofs)
    proofs = tuple(proof.to_json() for proof in certificate.proofs)
    return Example("colourings", privacy, goal, proofs, *enclosure(goal, mechanism), certificate.to_json())


def _truncated(goal: Any, content: Content) -> Iterator[Example]:
    """A proof of ε-LDP, made one of (ε,δ)-LDP."""
    inner = content.get("dual", content)
    if inner["kind"] == "dual":
        cut = {**inner, "reason": {"kind": "truncated", "reason": inner["reason"]}}
        whole = {**content, "dual": cut} if "dual" in content else cut
        yield _told(f"{goal.name}, truncated", ex.LDP("0.7", delta="0.01"), goal, whole)


def asked_example(sizes: tuple[int, ...], largest: bool, epsilon: str = "1.5") -> Example:
    """A questionnaire with its bound."""
    from extremal.optimize.problem import certify
    from extremal.optimize.question_bounds import question_proofs
    from extremal.problem import QuestionsGoal

    privacy, goal = ex.LDP(epsilon), QuestionsGoal(sizes, tuple(Fraction(j + 1) for j in range(len(sizes))), largest)
    if set(sizes) == {2}:
        goal = replace(goal, weights=(Fraction(1),) * len(sizes))
    made = ex.Questionnaire.within(epsilon, {str(j): k for j, k in enumerate(sizes)}, "joint")
    assert made.joint is not None
    mechanism = ex.Mechanism.from_structure(made.joint.structure, privacy)
    certificate = certify(mechanism, goal, question_proofs(privacy.exponential, goal))
    proofs = tuple(proof.to_json() for proof in certificate.proofs)
    low, high = enclosure(goal, mechanism)
    return Example(f"asked {sizes}", privacy, goal, proofs, low, high, certificate.to_json())


def tables_example(sizes: tuple[int, ...], epsilon: str = "1.5") -> Example:
    """The cross-tables of a questionnaire, with their bound."""
    made = ex.Questionnaire.within(epsilon, {str(j): k for j, k in enumerate(sizes)}, "joint", 2)
    certificate = made.certificate(tables=True)
    proofs = tuple(proof.to_json() for proof in certificate.proofs)
    ends = enclosure(certificate.utility, certificate.mechanism)
    return Example(f"tables {sizes}", ex.LDP(epsilon), certificate.utility, proofs, *ends, certificate.to_json())


def _told(name: str, privacy: Any, goal: Any, content: Content) -> Example:
    """A design with another proof."""
    return replace(_example(name, privacy, ex.design(privacy, goal)), proofs=(content,), certificate=None)


def _example(name: str, privacy: Any, design: Any) -> Example:
    proofs = tuple(proof.to_json() for proof in design.certificate.proofs)
    reached = enclosure(design.utility, design.mechanism)
    return Example(name, privacy, design.utility, proofs, *reached, certificate=design.certificate.to_json())


OPTIONAL = ("mix", "prices", "tree", "trees", "revealed", "multipliers", "classes", "merged", "lines", "n")


def kinds_of(content: Content) -> Iterator[str]:
    """The kinds of a proof and of all that is nested in it."""
    yield content["kind"]
    for value in content.values():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from kinds_of(inner)


def form_of(content: Content) -> str:
    """The kinds, and which fields they use that others leave empty: proofs of one form are checked in the same way."""
    used = "+".join(name for name in OPTIONAL if content.get(name))
    row = "+one row" if len(content.get("z", ())) == 1 and content["z"][0] else ""
    inner = [v for value in content.values() for v in (value if isinstance(value, list) else [value])]
    forms = [form_of(v) for v in inner if isinstance(v, dict)]
    return f"{content['kind']}{f' ({used})' if used else ''}{row}" + (f" [{', '.join(forms)}]" if forms else "")
