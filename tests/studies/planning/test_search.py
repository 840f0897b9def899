"""The smallest number, or level, that does: it does, and its predecessor does not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from extremal.studies.planning.search import MOST_PEOPLE, smallest_count, smallest_level


@pytest.mark.parametrize("threshold", [2, 3, 17, 1000, 123_457, MOST_PEOPLE])
@pytest.mark.parametrize("guess", [1, 100, 200_000, MOST_PEOPLE])
def test_the_count_holds_and_one_fewer_does_not(threshold: int, guess: int) -> None:
    assert smallest_count(lambda n: n >= threshold, guess) == threshold
    assert smallest_count(lambda n: n >= threshold, guess, sketch=lambda n: n >= threshold + 3) == threshold
    assert smallest_count(lambda n: n >= threshold, guess, sketch=lambda n: n >= threshold * 0.9) == threshold


def test_no_count_is_none() -> None:
    assert smallest_count(lambda _: False, 1000) is None
    assert smallest_count(lambda _: False, 1000, sketch=lambda _: False) is None


def test_a_function_with_teeth_still_gives_a_crossing() -> None:
    found = smallest_count(lambda n: n >= 500 and n % 7 != 0, 600)
    assert found is not None
    assert found % 7 != 0
    assert found == 500 or (found - 1) % 7 == 0 or found - 1 < 500


@pytest.mark.parametrize("threshold", ["0.00001234", "0.01", "0.7", "1", "1.4142", "9.9995", "49.9"])
def test_the_level_has_four_digits_and_one_unit_less_does_not_do(threshold: str) -> None:
    wanted = Fraction(threshold)
    found = smallest_level(lambda e: e >= wanted)
    assert found is not None
    assert wanted <= found <= wanted * Fraction(1001, 1000)
    assert Fraction(f"{float(found):.3e}") == found
    assert smallest_level(lambda e: e >= wanted, lambda e: e >= wanted) == found
    assert smallest_level(lambda e: e >= wanted, lambda e: e >= wanted * 2) == found


def test_levels_beyond_reach() -> None:
    assert smallest_level(lambda _: False) is None
    assert smallest_level(lambda _: True) == Fraction(1, 10**6)
