"""The proof by the order of likelihood ratios: cells are decided exactly, and no path is passed over."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import extremal as ex
from extremal.certificate import Concave, Order, Refused
from extremal.certificate.arithmetic.cones import Staircase
from extremal.certificate.arithmetic.enclosures import pair_rule, rational
from extremal.certificate.proofs.concave import _parted
from extremal.certificate.proofs.order import _cells, _longest_path
from extremal.exact import Prior
from extremal.optimize.divergence.lorenz import Lorenz
from extremal.optimize.divergence.solve import cells, ends_of
from extremal.problem import problem_of
from support.proofs.lies import optimum


def _pair(seed: int, k: int, binary: bool) -> tuple[Prior, Prior]:
    rng = np.random.default_rng(seed)
    made = Prior.of_binary if binary else Prior
    p0, p1 = rng.dirichlet(np.full(k, 0.5)), rng.dirichlet(np.full(k, 0.5))
    p0[0] = p1[1] = p0[2] = p1[2] = 0.0
    return made(p0 / p0.sum()), made(p1 / p1.sum())


def _ratio(p0: Prior, p1: Prior, x: int) -> Any:
    return p0.fraction(x) / p1.fraction(x) if p1.fraction(x) else math.inf


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_every_symbol_lies_in_its_cell(seed: int, binary: bool) -> None:
    p0, p1 = _pair(seed, 30, binary)
    rng = np.random.default_rng(seed)
    at = [_ratio(p0, p1, x) for x in range(3, 30)]
    near = [
        r * (1 + Fraction(int(s), 1 << int(b)))
        for r, s, b in zip(at, rng.integers(-2, 3, 27), rng.integers(44, 70, 27), strict=True)
    ]
    ends = sorted(
        {e for e in (*at, *near, *(Fraction(float(e)) for e in rng.lognormal(0, 4, 5))) if rng.random() < 0.4}
    )
    ends = [e for i, e in enumerate(ends) if not i or e > ends[i - 1] * (1 + Fraction(1, 1 << 42))]
    found = _cells(p0, p1, tuple(ends))
    for x in range(30):
        if p0.fraction(x) or p1.fraction(x):
            ratio = _ratio(p0, p1, x)
            assert bisect_left(ends, ratio) <= found[x] <= bisect_right(ends, ratio)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("divergence", [ex.KL, ex.ChiSquared, ex.TotalVariation, ex.JensenShannon])
def test_ends_around_all_symbols_prove_the_optimum(binary: bool, divergence: Any) -> None:
    p0, p1 = (Prior.of_binary if binary else Prior)([0.4, 0.3, 0.2, 0.1]), Prior([0.1, 0.25, 0.35, 0.3])
    utility = divergence(p0, p1)
    lorenz = Lorenz.of(utility)
    best = ex.design(ex.LDP(1), utility).value
    ends = []
    for x in lorenz.order:
        ratio = _ratio(p0, p1, int(x))
        ends += [ratio * (1 - Fraction(1, 10**12)), ratio * (1 + Fraction(1, 10**12))]
    closer = ends_of(p0, p1, cells(lorenz, np.arange(lorenz.n + 1)))
    close = Order(Fraction(best), closer).bound(ex.LDP(1), utility)
    near = Order(Fraction(best), tuple(ends)).bound(ex.LDP(1), utility)
    assert best * (1 - 1e-15) <= close <= near <= close * (1 + Fraction(1, 10**10))
    assert close <= best * (1 + 1e-12)
    assert Order(Fraction(best), (Fraction(3),)).bound(ex.LDP(1), utility) > best * (1 + 1e-6)


def test_bad_ends_are_refused() -> None:
    utility, one = ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), Fraction(1)
    for ends, why in (
        ((), "1 to"),
        (tuple(map(Fraction, range(1, 3002))), "1 to"),
        ((one, one), "increase"),
        ((2 * one, one), "increase"),
        ((Fraction(0), one), "between"),
        ((one, Fraction(10**201)), "between"),
    ):
        with pytest.raises(Refused, match=why):
            Order(one, ends).bound(ex.LDP(1), utility)
    for privacy, other in ((ex.LDP(1), ex.MutualInformation([0.5, 0.3, 0.2])), (ex.PML(1, [0.5, 0.3, 0.2]), utility)):
        with pytest.raises(Refused, match="about divergences|about ε-LDP"):
            Order(one, (one,)).bound(privacy, other)
    with pytest.raises(Refused, match="V must be"):
        Order(-one, (one,)).bound(ex.LDP(1), utility)


def test_floats_that_do_not_sum_to_1_are_divided_by_their_exact_sum() -> None:
    floats = [0.5, 0.3, 0.2 + 1e-12]
    off, other = Prior.of_binary([0.5, 0.3, 0.2]), Prior.of_binary([0.2, 0.3, 0.5])
    off.values = off._given = np.array(floats)
    exact = [Fraction(v) / sum(map(Fraction, floats)) for v in floats]
    again = [Fraction(v) / sum(map(Fraction, [0.2, 0.3, 0.5])) for v in (0.2, 0.3, 0.5)]
    proof = Order(Fraction(1, 100), (Fraction(1),))
    assert proof.bound(ex.LDP(1), ex.KL(off, other)) == proof.bound(ex.LDP(1), ex.KL(Prior(exact), Prior(again)))


def test_ends_may_be_as_close_as_rationals_are() -> None:
    half, little = Fraction(1, 2), Fraction(1, 10**40)
    p0, p1 = Prior([half, half]), Prior([half + little, half - little])
    assert _cells(p0, p1, (1 - Fraction(1, 10**41), Fraction(1), 1 + Fraction(1, 10**41))).tolist() == [0, 3]


def test_numbers_too_small_for_floats_are_decided_exactly() -> None:
    tiny = Fraction(1, 10**330)
    p0 = Prior([1 - 3 * tiny, 2 * tiny, tiny])
    p1 = Prior([1 - 3 * tiny, tiny, 2 * tiny])
    assert _cells(p0, p1, (Fraction(3, 4), Fraction(3, 2))).tolist() == [1, 2, 0]


def test_negative_zeros_are_zeros() -> None:
    p0, p1 = Prior.of_binary([0.5, 0.5, -0.0]), Prior.of_binary([-0.0, 0.5, 0.5])
    assert _cells(p0, p1, (Fraction(1, 2), Fraction(2))).tolist() == [2, 1, 0]


def test_prices_of_binary_priors_are_those_of_their_fractions() -> None:
    values = np.random.default_rng(5).dirichlet(np.full(12, 0.5))
    values[3] = 0.0
    binary = Prior.of_binary(values / values.sum())
    exact = Prior([binary.fraction(x) for x in range(12)])
    for contact in ("0", "0.02", "0.3", "5", "1e300"):
        proof = Concave(Fraction(contact))
        first, second = (proof.bound(ex.LDP(1), ex.MutualInformation(p)) for p in (binary, exact))
        assert first == second
    # An edge that is the probability of a symbol: it is light, and its neighbour above is heavy.
    for x, beside in itertools.product(range(12), (0, -1, 1)):
        edge = binary.fraction(x) + Fraction(beside, 10**40)
        for prior in (binary, exact):
            light, heavy = _parted(prior, edge)
            assert light == sum((p for y in range(12) if (p := binary.fraction(y)) <= edge), Fraction(0))
            assert sorted(heavy) == sorted(p for y in range(12) if (p := binary.fraction(y)) > edge)


def test_a_prior_that_is_certain_has_no_information() -> None:
    for prior in (Prior.of_binary([0.0, 1.0]), Prior([0, 1])):
        for contact in (0, 1, 100):
            assert Concave(Fraction(contact)).bound(ex.LDP("0.1"), ex.MutualInformation(prior)) == 0


@pytest.mark.parametrize(
    "make",
    [
        ex.KL,
        ex.ReverseKL,
        ex.SymmetricKL,
        ex.ChiSquared,
        ex.SquaredHellinger,
        lambda a, b: ex.AlphaDivergence(a, b, alpha=3),
    ],
)
def test_symbols_that_one_hypothesis_excludes_hide_no_path(make: Any) -> None:
    """By themselves they may be worth infinitely much; next to others they are not."""
    for seed in range(6):
        p0, p1 = _pair(seed, 6, binary=False)
        utility = make(p0, p1)
        patterns = np.array(np.meshgrid(*[[1.0, math.exp(2)]] * 6)).reshape(6, -1)[:, 1:-1]
        best, _ = optimum(utility, patterns)
        lorenz = Lorenz.of(utility)
        bins = ends_of(p0, p1, cells(lorenz, np.arange(lorenz.n + 1)))
        bound = Order(Fraction(best), bins).bound(ex.LDP(2), utility)
        assert best * (1 - 1e-8) <= bound <= best * (1 + 1e-8)
        ends = sorted({_ratio(p0, p1, x) * (1 + Fraction(s, 10**11)) for x in range(3, 6) for s in (-1, 1)})
        assert best * (1 - 1e-8) <= Order(Fraction(best), tuple(ends)).bound(ex.LDP(2), utility) <= best * (1 + 1e-6)
        found = ex.design(ex.LDP(2), utility)
        assert found.value == pytest.approx(best, rel=1e-8)
        assert found.gap < 1e-9


@pytest.mark.parametrize("nodes", [5, 9, 17])
def test_a_path_of_many_blocks_is_never_rounded_below_its_length(nodes: int) -> None:
    """A convex curve, e^ε = 3, in rationals: numbers V that are no doubles, and as many blocks as there are symbols."""
    rule, cone = pair_rule(problem_of(ex.TotalVariation(["0.5", "0.5"], ["0.25", "0.75"]))), Staircase(2, fmpq(3))
    curve = [(i * (i - 1) // 2, i * (nodes - 1) - i * (i - 1) // 2) for i in range(nodes + 1)]
    whole = curve[-1][0]
    apart = [Fraction(x - y, whole) for x, y in curve]
    for value in (Fraction(1, 7 * n) for n in range(3, 40)):
        longest = [Fraction(0)]
        for j in range(1, nodes + 1):
            longest.append(max(longest[i] + abs(apart[j] - apart[i]) for i in range(j)) - value)
        exact = value + max(longest[-1] - 2 * value, Fraction(0)) / 4
        found = _longest_path(cone, rule, [(fmpq(x), fmpq(y)) for x, y in curve], whole, rational(value))
        assert exact <= found <= exact + Fraction(1, 10**36)
