"""Colourings: every row sums up whatever the classes are; what is none is refused; files of one or two digits."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact.weights import DENOMINATOR, exact_sums
from extremal.mechanism.structures import Colourings
from extremal.mechanism.structures.colourings import coloured
from extremal.mechanism.structures.structure import SMALL

EIGHTH = DENOMINATOR // 8


def _one(colours: list[list[int]], low: list[int], high: list[int]) -> Colourings:
    return Colourings(np.array(colours, dtype=np.uint16), np.array(low), np.array(high))


@pytest.mark.parametrize(
    ("colours", "low", "high", "said"),
    [
        ([0, 1], [1], [2], "table of colourings"),
        ([[0, 1]], [1, 2], [3], "one low and one high"),
        ([[0, 1]], [0], [DENOMINATOR], "0 < low < high"),
        ([[0, 1]], [4 * EIGHTH], [4 * EIGHTH], "0 < low < high"),
        ([[0, 0]], [EIGHTH], [8 * EIGHTH], "none empty"),
        ([[0, 2]], [EIGHTH], [6 * EIGHTH], "none empty"),
        ([[0, 1]], [EIGHTH], [6 * EIGHTH], "sum to the denominator"),
    ],
)
def test_what_is_no_colouring_is_refused(colours: Any, low: list[int], high: list[int], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        _one(colours, low, high)


def test_any_classes_make_rows_that_sum_to_one_within_a_unit_of_the_ratio() -> None:
    generator = np.random.default_rng(0)
    colours = [generator.permutation(np.arange(60) % n) for n in (2, 3, 5, 60)]
    for epsilon in (1e-6, 1, 20):
        structure = coloured(colours, np.array([0.5, 1.0, 1e-5, 0.3]), ex.LDP(epsilon).exponential)
        assert set(exact_sums(structure.rows(), axis=1)) == {DENOMINATOR}
        m = ex.Mechanism.from_structure(structure, ex.LDP(epsilon))
        assert ex.LDP(epsilon).level(m) == pytest.approx(epsilon, rel=1e-6)
        assert ex.verify(m)
    with pytest.raises(ex.errors.PrivacyViolation):
        ex.Mechanism.from_structure(structure, ex.LDP(19.9))


def test_small_ones_are_stored_as_plain_rows_and_large_ones_as_they_are() -> None:
    generator = np.random.default_rng(1)
    few = coloured([[0, 1, 2]], np.ones(1), ex.LDP(1).exponential)
    assert ex.Mechanism.from_structure(few, ex.LDP(1)) == ex.randomized_response(3, 1)
    many = coloured([generator.permutation(np.arange(100) % 3) for _ in range(20)], np.ones(20), ex.LDP(1).exponential)
    m = ex.Mechanism.from_structure(many, ex.LDP(1))
    assert many.r * many.m > SMALL
    assert m.structure.kind == "colourings"
    assert pickle.loads(pickle.dumps(m)) == m
    assert np.allclose(m.marginal(np.full(100, 0.01)), m.matrix.mean(axis=0), atol=1e-15)


def test_a_file_has_one_digit_a_row_or_two(tmp_path: Any) -> None:
    structure = coloured([np.arange(100), np.arange(100) % 64], np.array([1.0, 2.0]), ex.LDP(2).exponential)
    stored = structure.to_json()
    assert [len(text) for text in stored["colours"]] == [200, 100]
    m = ex.Mechanism.from_structure(structure, ex.LDP(2))
    assert ex.load(m.save(tmp_path / "m.json")) == m
    assert (Colourings.from_json(stored).colours == structure.colours).all()
    for wrong, said in (
        ({"colours": ["0" * 99, stored["colours"][1]]}, "one or two digits"),
        ({"colours": ["é" * 100, stored["colours"][1]]}, "one or two digits"),
        ({"colours": [stored["colours"][0], "00" * 50 + "01" * 50]}, "one digit a row"),
        ({"colours": ["!" * 100, stored["colours"][1]]}, "0-9, a-z"),
        ({"colours": stored["colours"][:1]}, "pair of low and high"),
        ({"weights": [["1"], ["2"]]}, "pair of low and high"),
        ({"weights": "1"}, "must be a list"),
    ):
        with pytest.raises(MalformedFile, match=said):
            Colourings.from_json({**stored, **wrong})
