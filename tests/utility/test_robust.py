"""The least favourable pair of two balls, against all pairs of their vertices and Huber and Strassen's conditions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import extremal as ex

KINDS = (ex.KL, ex.TotalVariation, ex.ChiSquared, ex.SquaredHellinger, ex.JensenShannon)


def balls(seed: int) -> tuple[ex.SourceClass, ex.SourceClass]:
    """Two balls that do not meet, of different radii."""
    generator = np.random.default_rng(seed)
    k = int(generator.integers(2, 6))
    p, q = generator.dirichlet(np.full(k, generator.choice([0.4, 1, 4])), 2)
    apart = np.abs(p - q).sum() / 2
    first, second = generator.dirichlet([1, 1]) * apart * generator.uniform(0.05, 0.9)
    return ex.SourceClass.ball(p, repr(float(first))), ex.SourceClass.ball(q, repr(float(second)))


@pytest.mark.parametrize("seed", range(12))
def test_no_pair_of_vertices_is_worse_and_none_does_better_at_worst(seed: int) -> None:
    class0, class1 = balls(seed)
    kind = KINDS[seed % len(KINDS)]
    utility = ex.RobustDivergence(class0, class1, kind)
    assert class0.admits(utility.pair.p0)
    assert class1.admits(utility.pair.p1)
    found = ex.design(ex.LDP(1), utility)
    assert found.gap < 1e-9
    for p in class0.vertices():
        for q in class1.vertices():
            assert kind(p, q)(found.mechanism) >= found.value * (1 - 1e-9)


def test_mixtures_of_vertices_are_no_worse_either() -> None:
    """D is convex: the least value lies inside, at the least favourable pair."""
    class0, class1 = balls(3)
    found = ex.design(ex.LDP(1), ex.RobustDivergence(class0, class1))
    generator = np.random.default_rng(0)
    first, second = (np.array([p.values for p in ball.vertices()]) for ball in (class0, class1))
    for _ in range(300):
        p, q = (generator.dirichlet(np.full(len(v), 0.2)) @ v for v in (first, second))
        assert ex.KL(p, q)(found.mechanism) >= found.value * (1 - 1e-9)


def test_a_smaller_ball_on_either_side_is_easier() -> None:
    p, q = [0.6, 0.3, 0.1], [0.1, 0.3, 0.6]
    values = []
    for radius0, radius1 in (("0", "0"), ("0", "0.1"), ("0.1", "0"), ("0.1", "0.1")):
        utility = ex.RobustDivergence(ex.SourceClass.ball(p, radius0), ex.SourceClass.ball(q, radius1))
        values.append(ex.design(ex.LDP(1), utility).value)
    assert values[0] > max(values[1:3]) > min(values[1:3]) > values[3]
    assert ex.RobustDivergence(p, ex.SourceClass.ball(q, "0.1")).pair.p0 == ex.KL(p, q).pair.p0
    assert ex.RobustDivergence(p, q).p0.tolist() == p


def test_the_ratio_is_flat_at_both_ends() -> None:
    class0, class1 = ex.SourceClass.ball(["0.4", "0.3", "0.2", "0.1"], "0.05"), ex.SourceClass.ball(["1/4"] * 4, "0.05")
    pair = ex.RobustDivergence(class0, class1).pair
    ratios = [pair.p0.fraction(x) / pair.p1.fraction(x) for x in range(4)]
    assert ratios == sorted(ratios, reverse=True)
    assert sum(abs(pair.p0.fraction(x) - Fraction(4 - x, 10)) for x in range(4)) == Fraction(1, 10)
    assert sum(abs(pair.p1.fraction(x) - Fraction(1, 4)) for x in range(4)) == Fraction(1, 10)


def test_finite_lists_are_the_worst_of_their_pairs() -> None:
    utility = ex.RobustDivergence([[0.7, 0.3], [0.6, 0.4]], [[0.2, 0.8], [0.1, 0.9]], ex.TotalVariation)
    assert isinstance(utility, ex.WorstCase)
    assert ex.design(ex.LDP(1), utility).gap < 1e-9
    rows = np.array([[0.7, 0.3], [0.6, 0.4]])
    for arrays in (rows, list(rows)):
        same = ex.RobustDivergence(arrays, [[0.2, 0.8], [0.1, 0.9]], ex.TotalVariation)
        assert same.to_json() == utility.to_json()


@pytest.mark.parametrize(
    ("class0", "class1", "said"),
    [
        (ex.SourceClass.ball([0.5, 0.5], "0.2"), ex.SourceClass.ball([0.4, 0.6], "0.1"), "must not meet"),
        (ex.SourceClass([[0.5, 0.5], [0.6, 0.4]]), [0.1, 0.9], "both must be lists"),
        (ex.SourceClass.ball([0.5, 0.5], "0.2"), [[0.1, 0.9], [0.2, 0.8]], "both must be lists"),
        (ex.SourceClass.ball([0.5, 0.5], "0.2"), [0.1, 0.2, 0.7], "2 entries"),
    ],
)
def test_bad_classes(class0: object, class1: object, said: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=said):
        ex.RobustDivergence(class0, class1)
