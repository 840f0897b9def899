"""The program over listed rays: one program for every cone that can be listed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.optimize.infinite import parts_of
from extremal.optimize.rays import best_mixture
from extremal.privacy.cones.staircase import patterns
from extremal.testing.designs import check


def plane(k: int, seed: int) -> np.ndarray:
    points = np.random.default_rng(seed).random((k, 2))
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))


def line(k: int, step: str = "0.1") -> list[list[float]]:
    return [[round(abs(i - j) * float(step), 6) for j in range(k)] for i in range(k)]


def pair(k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    p, q = np.random.default_rng(seed).dirichlet(np.ones(k), size=2)
    return p, q


def test_information_on_a_line_and_in_the_plane() -> None:
    for apart in (line(10), plane(5, 4)):
        prior = pair(len(apart), 5)[0]
        d = ex.design(ex.MetricPrivacy(1, apart), ex.MutualInformation(prior))
        check(d)
    with pytest.raises(
        TooLarge, match="the rays of metric privacy are listed for at most 16 inputs on a tree or line and 7 otherwise"
    ):
        ex.design(ex.MetricPrivacy(1, plane(8, 1)), ex.MutualInformation([1 / 8] * 8))


def test_a_worst_case_may_be_negative() -> None:
    """Σθ·r = 1 with values −1 and −3 of the only two columns: the worst of two utilities is below 0, and is found."""
    columns = np.eye(2)
    best = best_mixture(columns, np.array([[-1.0, -3.0], [-4.0, 1.0]]))
    assert best.weights.tolist() == pytest.approx([1.0, 1.0])
    assert best.mix.sum() == pytest.approx(1)
    assert best.bound(columns, np.array([[-1.0, -3.0], [-4.0, 1.0]])) == pytest.approx(-4.0)


def test_what_is_there_in_any_case_shifts_the_worst_case() -> None:
    columns, values = patterns(3, 1.0), np.random.default_rng(0).random((2, 6))
    plain, shifted = best_mixture(columns, values), best_mixture(columns, values, np.array([5.0, 0.0]))
    assert min(values @ plain.weights) <= (values @ shifted.weights)[1] + 1e-9
    assert shifted.mix.tolist() == pytest.approx([0.0, 1.0])


def test_every_cone_gives_the_same_optimum_where_it_is_the_same_cone() -> None:
    """ε-LDP as staircase patterns, as metric privacy of equal distances, as PML for all priors."""
    worst = ex.WorstCase([ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), ex.KL([0.2, 0.3, 0.5], [0.5, 0.3, 0.2])])
    found = [
        check(ex.design(notion, worst))
        for notion in (ex.LDP(0.7), ex.MetricPrivacy(0.7, 1 - np.eye(3)), ex.PML(0.7, ex.SourceClass.simplex(3)))
    ]
    assert [d.value for d in found[1:]] == pytest.approx([found[0].value] * 2, rel=1e-9)
    assert {d.certificate.proofs[0].label for d in found} == {"dual (listed)"}


def test_utilities_that_are_no_sum_are_refused_and_infinite_ones_said_as_such() -> None:
    with pytest.raises(InvalidParameter, match="a sum over columns, or the worst of several"):
        parts_of(ex.Hamming([0.5, 0.5]))
    apart = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
    endless = ex.Average([ex.KL([0.2, 0.3, 0.5], [0.5, 0.5, 0])])
    assert check(ex.design(ex.MetricPrivacy(1, apart), endless)).value == math.inf
    assert check(ex.design(ex.MetricPrivacy(1, apart), ex.WorstCase([endless, endless]))).value == math.inf
    one, other = ex.KL([0.2, 0.3, 0.5], [0.3, 0.2, 0.5]), ex.KL([0.5, 0.5, 0], [0.2, 0.3, 0.5])
    mixed = check(ex.design(ex.MetricPrivacy(1, apart), ex.WorstCase([endless, one, other])))
    alone = check(ex.design(ex.MetricPrivacy(1, apart), ex.WorstCase([one, other])))
    assert mixed.value == pytest.approx(alone.value, rel=1e-12)


def test_level_zero_is_the_constant_mechanism() -> None:
    for notion in (ex.LDP(0), ex.MetricPrivacy(0, 1 - np.eye(3))):
        found = ex.design(notion, ex.Average([ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])]))
        assert (found.mechanism.m, found.value) == (1, 0.0)
    assert ex.design(ex.LDP(1), ex.Sublinear(3, lambda c: c.max(axis=0))).method.startswith("enumeration")


def weighed(*weights: int) -> list[str]:
    return [f"{w}/{sum(weights)}" for w in weights]


ALONG = [[abs(a - b) for b in (0, 0.5, 2.5, 2.75)] for a in (0, 0.5, 2.5, 2.75)]
NEAR_CONSTANTS = (
    (
        ex.MetricPrivacy("1.26e-5", ALONG),
        ex.MutualInformation(weighed(50000000000, 18828570829993925, 11222472320911449, 7089718990114075)),
    ),
    (
        ex.PML(
            "5.18e-9",
            ex.SourceClass(
                [
                    weighed(17551845225469617, 2596394284900487, 10000000000000000),
                    weighed(999999999997, 999999999999, 1000000000001),
                ]
            ),
        ),
        ex.SymmetricKL(
            weighed(10006460127739654, 8885369774269325, 6108170097991020),
            weighed(997, 1002, 1000),
        ),
    ),
    (
        ex.PML(
            "2.12e-9",
            ex.SourceClass([weighed(1, 2, 3), weighed(16854815280839480, 43761789632362624, 39383395086797895)]),
        ),
        ex.WorstCase(
            [
                ex.ReverseKL(
                    weighed(2816791312925721, 0, 9074072113263610),
                    weighed(30532361208067427, 48836033510500126, 20631605281432450),
                ),
                ex.SquaredHellinger(weighed(3, 1, 2), weighed(50000000000, 14556791832407649, 1202303376531091300)),
            ]
        ),
    ),
)


@pytest.mark.parametrize(("notion", "utility"), NEAR_CONSTANTS, ids=["information", "a class", "the worst case"])
def test_a_small_level_leaves_room_for_rounding(notion: Any, utility: Any) -> None:
    """Columns differ from constants by ε; a program that is right to 1e-9 must be right to 1e-9 of that."""
    found = ex.design(notion, utility)
    assert ex.verify(found)
    assert found.value > 0
    assert found.gap < 1e-6


def test_rows_that_are_nearly_the_same_have_the_same_optimum_and_duals() -> None:
    columns, generator = patterns(4, 1e-4), np.random.default_rng(3)
    values = np.array([ex.KL(*pair(4, 7)).column_values(columns), generator.random(columns.shape[1]) * 1e-9])
    for several in (values[:1], values):
        best = best_mixture(columns, several)
        assert columns @ best.weights == pytest.approx(np.ones(4), abs=1e-13)
        attained = float((several @ best.weights).min())
        assert best.bound(columns, several) == pytest.approx(attained, rel=1e-6)
