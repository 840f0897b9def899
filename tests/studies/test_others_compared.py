"""Mechanisms of others beside the best one: what is printed is what their estimators have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import NotKnown, enclosure
from extremal.certificate.arithmetic.workload_cost import ExactColumns, _exchangeable
from extremal.errors import TooLarge

E = math.e


@pytest.fixture(scope="module")
def table() -> Any:
    return ex.compare(ex.Frequencies(100), epsilon=1).respondents()


def test_every_mechanism_has_its_published_error(table: Any) -> None:
    """k·b(1−b)/(a−b)² and what the truth adds, at equally likely answers."""
    rows = {row.name: row for row in table.rows}
    root = math.sqrt(E)
    for name, a, b in (
        ("unary encoding (optimised)", 1 / 2, 1 / (E + 1)),
        ("unary encoding (symmetric)", root / (root + 1), 1 / (root + 1)),
        ("local hashing", E / (E + 3), 1 / 4),
    ):
        held = b + (a - b) / 100
        assert rows[name].value == pytest.approx(100 * held * (1 - held) / (a - b) ** 2, rel=1e-4)
    best = table.rows[0]
    assert best.name == "best mechanism"
    assert table.bound <= best.value * (1 + 1e-9)
    assert all(row.value >= best.value * (1 - 1e-9) for row in table.rows)
    assert rows["subset selection (frequencies, d=27)"].value == pytest.approx(best.value, rel=1e-9)
    assert rows["Hadamard response"].people == pytest.approx(1.497, abs=0.001)
    assert math.isinf(rows["stochastic rounding"].value)


def test_bits_and_time_of_a_report_are_told(table: Any) -> None:
    bits = {row.name: row.bits for row in table.rows}
    assert bits["unary encoding (optimised)"] == 100
    assert bits["local hashing"] == 44  # two numbers below 2^21 and one of four buckets
    assert bits["Hadamard response"] == bits["randomised response"] == 7
    assert bits["stochastic rounding"] == 1
    assert all(row.seconds > 0 for row in table.rows)
    assert "bits  µs/report" in str(table)
    assert max(map(len, str(table).splitlines())) <= 100
    assert table.to_frame()["bits per report"].tolist() == [row.bits for row in table.rows]


def test_a_bound_is_not_taken_for_the_reports() -> None:
    """Columns that bound those of unary encoding and hashing say nothing of information: no wrong number comes out."""
    with pytest.raises(TooLarge, match="needs the reports listed"):
        ex.Frequencies(60)(ex.unary_encoding(60, 1))
    for m in (ex.unary_encoding(12, 1), ex.local_hashing(12, 1)):
        with pytest.raises(TooLarge, match="listed"):
            ex.Frequencies(12)(m)
        assert not _exchangeable(ExactColumns(m), np.eye(12, dtype=object))
    with pytest.raises(NotKnown, match="certain counts"):
        enclosure(ex.Frequencies(12), ex.unary_encoding(12, 1))
    for m in (ex.subset_selection(60, 1), ex.subset_selection(60, 2)):
        assert enclosure(ex.Frequencies(60), m)[0] > 0
        assert _exchangeable(ExactColumns(m), np.eye(60, dtype=object))


def test_over_a_class_of_priors_only_what_is_listed_is_compared() -> None:
    found = ex.compare(ex.Frequencies(ex.SourceClass.simplex(3)), epsilon=1).respondents()
    names = {row.name for row in found.rows}
    assert "randomised response" in names
    assert "local hashing" not in names
