"""Uniform integers and subsets: exact rejection, and frequencies that a slightly biased sampler fails."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from extremal.exact.weights import DENOMINATOR
from extremal.release.sampling.loops import CompiledLoops
from extremal.release.sampling.subsets import subset_reports, uniform_below, uniform_subsets
from extremal.release.sampling.words import SecureWords, Words

REFUSE_BELOW = 1e-6
DRAWS = 120_000


class _Scripted:
    """A source that gives these words, then zeros."""

    def __init__(self, words: list[int]) -> None:
        self.left = words

    def fill(self, words: Words) -> None:
        given, self.left = self.left[: words.size], self.left[words.size :]
        words[:] = 0
        words[: len(given)] = np.array(given, dtype=np.uint64)


def test_the_over_represented_words_are_rejected() -> None:
    """2^32 = 3·1431655765 + 1: of all 32-bit words one is rejected (zero), and each number keeps 1431655765 of them."""
    shift = 32
    assert uniform_below(3, 2, _Scripted([0, 2 << shift, 1431655766 << shift])).tolist() == [1, 0]
    first_of = [1, 1431655766, 2863311531]  # smallest words accepted for 0, 1, 2
    last_of = [1431655765, 2863311530, (1 << 32) - 1]
    assert [b - a + 1 for a, b in zip(first_of, last_of, strict=True)] == [1431655765] * 3
    words = [w << shift for pair in zip(first_of, last_of, strict=True) for w in pair]
    assert uniform_below(3, 6, _Scripted(words)).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 1000, 1 << 32])
def test_numbers_stay_below_the_bound(bound: int) -> None:
    drawn = uniform_below(bound, 50_000, SecureWords())
    assert drawn.min() >= 0
    assert drawn.max() < bound
    if 1 < bound <= 1000:
        assert chisquare(np.bincount(drawn, minlength=bound)).pvalue > REFUSE_BELOW


@pytest.mark.parametrize(("things", "size"), [(5, 0), (5, 1), (5, 2), (6, 3), (4, 4)])
def test_every_subset_is_equally_likely(things: int, size: int) -> None:
    member = uniform_subsets(things, np.full(DRAWS, size), SecureWords())
    assert (member.sum(axis=1) == size).all()
    counts = np.bincount(member @ (1 << np.arange(things)), minlength=1 << things)
    listed = [sum(1 << i for i in chosen) for chosen in itertools.combinations(range(things), size)]
    assert counts[listed].sum() == DRAWS
    if len(listed) > 1:
        assert chisquare(counts[listed]).pvalue > REFUSE_BELOW
        biased = np.where(np.arange(len(listed)) == 0, 1.3, 1.0)
        assert chisquare(counts[listed], biased / biased.sum() * DRAWS).pvalue < REFUSE_BELOW


@pytest.mark.parametrize(("k", "d", "share"), [(6, 3, 0.7), (5, 1, 0.5), (5, 4, 0.9), (2, 1, 0.75)])
def test_subset_selection_follows_its_weight(k: int, d: int, share: float) -> None:
    weight, x = int(share * DENOMINATOR), k - 2
    reports = subset_reports(k, d, weight, np.full(DRAWS, x), SecureWords())
    assert (np.diff(reports, axis=1) > 0).all()
    counts = np.bincount((1 << reports).sum(axis=1), minlength=1 << k)
    expected = np.zeros(1 << k)
    for chosen in itertools.combinations(range(k), d):
        inside = share / math.comb(k - 1, d - 1) if x in chosen else (1 - share) / math.comb(k - 1, d)
        expected[sum(1 << i for i in chosen)] = inside * DRAWS
    assert counts[expected == 0].sum() == 0
    assert chisquare(counts[expected > 0], expected[expected > 0]).pvalue > REFUSE_BELOW


def test_many_inputs_are_drawn_in_pieces() -> None:
    codes = np.arange(3000) % 2000
    reports = subset_reports(2000, 3, DENOMINATOR, codes, SecureWords())
    assert (reports == codes[:, None]).any(axis=1).all()


@pytest.mark.parametrize(("k", "d"), [(1000, 119), (30, 7), (5, 4), (3000, 1)])
def test_compiled_sets_are_the_same_from_the_same_words(k: int, d: int) -> None:
    """Also where words are rejected: one of 64 is all zeros."""

    class OftenRejected:
        def __init__(self) -> None:
            self.draw = np.random.default_rng(5)

        def fill(self, words: Any) -> None:
            words[:] = self.draw.integers(0, 2**64, words.size, dtype=np.uint64)
            words[self.draw.random(words.size) < 1 / 64] = 0

    pytest.importorskip("numba")
    codes = np.random.default_rng(1).integers(0, k, 5000)
    plain = subset_reports(k, d, 3 << 60, codes, OftenRejected())
    compiled = subset_reports(k, d, 3 << 60, codes, OftenRejected(), CompiledLoops())
    assert np.array_equal(plain, compiled)
