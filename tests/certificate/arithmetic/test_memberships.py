"""The cost of shares with sets that the inputs choose: by listing every report, and in both checkers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import NotKnown, enclosure
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import ChosenSets, HadamardSets, HashedSets, ProjectiveSets
from support.checkers import checker_says_of, disagreement_on, written

SMALL = [
    HadamardSets(7, 3 * DENOMINATOR // 4, 1, 8),
    HadamardSets(6, DENOMINATOR // 3, 2, 4),
    HadamardSets(11, DENOMINATOR // 5, 4, 4),
    ProjectiveSets(7, 3 * DENOMINATOR // 4, 2, 3),
    ProjectiveSets(10, DENOMINATOR // 2, 3, 3),
    ProjectiveSets(4, DENOMINATOR // 2, 3, 2),
]
UNEVEN = ["0.4", "0.2", "0.1", "0.1", "0.05", "0.05", "0.04", "0.03", "0.01", "0.01", "0.01"]


def uneven(k: int) -> list[str]:
    return [*UNEVEN[: k - 1], str(1 - sum(Fraction(p) for p in UNEVEN[: k - 1]))] if k < len(UNEVEN) else UNEVEN


def listed(sets: ChosenSets) -> list[list[Fraction]]:
    favours = sets.favours(np.arange(sets.r)[:, None], np.arange(sets.m)[None, :])
    return [[Fraction(sets.high if f else sets.low, sets.denominator) for f in row] for row in favours.tolist()]


def by_listing(sets: ChosenSets, p: list[Fraction]) -> Fraction:
    """The variance of the estimate that takes one value in S_x, one elsewhere in the block of x and one beyond."""
    rows = listed(sets)
    favours = sets.favours(np.arange(sets.r)[:, None], np.arange(sets.m)[None, :])
    blocks = getattr(sets, "blocks", 1)
    width, total = sets.m // blocks, Fraction(0)
    for x in range(sets.r):
        kind = [0 if favours[x, y] else 1 if y // width == x % blocks else 2 for y in range(sets.m)]
        seen = [[sum(q for q, k in zip(row, kind, strict=True) if k == j) for j in range(3)] for row in rows]
        wanted = {tuple(s): Fraction(int(z == x)) for z, s in enumerate(seen)}
        assert len(wanted) == (3 if blocks > 1 else 2)  # all other truths of a kind look alike
        points = list(wanted)
        if len(points) == 2:  # one block: nothing is beyond
            (a, b, _), (c, d, _) = points
            e, f = wanted[points[0]], wanted[points[1]]
            values = [(e * d - f * b) / (a * d - b * c), (a * f - c * e) / (a * d - b * c), Fraction(0)]
        else:
            exact = np.array([[Fraction(v) for v in point] for point in points], dtype=object)
            values = solved(exact, [wanted[point] for point in points])
        mean = [sum(v * s for v, s in zip(values, row, strict=True)) for row in seen]
        assert mean == [Fraction(int(z == x)) for z in range(sets.r)]
        square = [sum(v * v * s for v, s in zip(values, row, strict=True)) for row in seen]
        total += sum(q * s for q, s in zip(p, square, strict=True)) - p[x] ** 2
    return total


def solved(a: np.ndarray, b: list[Fraction]) -> list[Fraction]:
    """Cramer's rule."""

    def det(m: np.ndarray) -> Fraction:
        return sum(
            (
                m[0, i] * (m[1, (i + 1) % 3] * m[2, (i + 2) % 3] - m[1, (i + 2) % 3] * m[2, (i + 1) % 3])
                for i in range(3)
            ),
            Fraction(0),
        )

    found = []
    for j in range(3):
        other = a.copy()
        other[:, j] = b
        found.append(det(other) / det(a))
    return found


@pytest.mark.parametrize("sets", SMALL, ids=lambda s: f"{s.kind}-{s.r}")
def test_the_cost_is_the_variance_of_an_unbiased_estimate_and_never_below_the_best(sets: ChosenSets) -> None:
    for prior in (["1"] * sets.r, uneven(sets.r)):
        weights = [Fraction(p) for p in prior]
        p = [w / sum(weights) for w in weights]
        goal = ex.Frequencies(p)
        low, high = enclosure(goal, ex.Mechanism.from_structure(sets))
        assert low == high == by_listing(sets, p)
        rows = np.array([[float(v) for v in row] for row in listed(sets)])
        assert goal(rows) <= float(high) * (1 + 1e-12)


def test_all_points_of_a_geometry_need_no_better_estimate() -> None:
    sets = ProjectiveSets(13, DENOMINATOR // 2, 3, 3)
    goal = ex.Frequencies(13)
    rows = np.array([[float(v) for v in row] for row in listed(sets)])
    assert float(enclosure(goal, ex.Mechanism.from_structure(sets))[0]) == pytest.approx(goal(rows), rel=1e-12)


def test_hashing_costs_what_its_collisions_say() -> None:
    sets = HashedSets(20, DENOMINATOR // 2, 8)
    a, shared = Fraction(1, 2), sets.overlap(0, 1)
    b = a * shared + (1 - a) / 7 * (1 - shared)
    share = b + (a - b) / 20
    exact = enclosure(ex.Frequencies(20), ex.Mechanism.from_structure(sets))[0]
    assert exact == 20 * share * (1 - share) / (a - b) ** 2


def test_other_goals_are_not_known() -> None:
    mechanism = ex.Mechanism.from_structure(SMALL[0])
    for goal in (ex.CDF(7), ex.Frequencies(ex.SourceClass.ball(["1/7"] * 7, "0.1")), ex.Frequencies(6)):
        with pytest.raises(NotKnown):
            enclosure(goal, mechanism)


@pytest.mark.parametrize(("k", "bits"), [(305, 9), (305, 12), (305, 48)])
def test_short_designs_are_proved_by_both_checkers_and_changed_ones_refuted(k: int, bits: int) -> None:
    found = ex.design(ex.LDP(2), ex.Frequencies(k), report_bits=bits)
    assert isinstance(found.mechanism.structure, ChosenSets)
    assert found.mechanism.m <= 2**bits
    proof = found.certificate
    assert ex.verify(found)
    text = written(proof.to_json())
    assert checker_says_of(text) == ("proved", "proved", "proved")
    assert not disagreement_on(text)
    wrong = replace(proof, value=math.nextafter(math.nextafter(proof.value, 0), 0))
    assert ex.verify(wrong).value == "refuted"
    assert checker_says_of(written(wrong.to_json()))[1] == "refuted"
    better = replace(proof, bound=math.nextafter(proof.bound, math.inf))
    assert ex.verify(better).optimality == "refuted"
