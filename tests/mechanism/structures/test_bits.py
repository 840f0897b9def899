"""Independent bits: two numbers stand for 2^k weights."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile, TooLarge, UnknownLabel
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import files
from extremal.mechanism.report_labels import BitLabels, unpacked
from extremal.mechanism.structures import IndependentBits


def _listed(structure: IndependentBits) -> list[list[Fraction]]:
    """The matrix that the structure stands for."""
    own, other = Fraction(structure.own, DENOMINATOR), Fraction(structure.other, DENOMINATOR)
    rows = []
    for x in range(structure.r):
        row = []
        for word in itertools.product((0, 1), repeat=structure.r):
            weight = Fraction(1)
            for z, bit in enumerate(word):
                one = own if z == x else other
                weight *= one if bit else 1 - one
            row.append(weight)
        rows.append(row)
    return rows


@given(st.integers(2, 5), st.sampled_from([0.1, 0.7, 1, 2.5]), st.booleans())
def test_levels_are_those_of_the_listed_matrix(k: int, epsilon: float, optimised: bool) -> None:
    m = ex.unary_encoding(k, epsilon, optimised)
    assert isinstance(m.structure, IndependentBits)
    listed = ex.Mechanism.from_matrix(np.array(_listed(m.structure), dtype=object))
    prior = np.arange(1, k + 1) / (k * (k + 1) / 2)
    assert ex.LDP(1).level(m) == pytest.approx(ex.LDP(1).level(listed), rel=1e-12)
    assert ex.PML(1, prior).level(m) == pytest.approx(ex.PML(1, prior).level(listed), rel=1e-12)
    assert ex.LIP(1, prior).level(m) == pytest.approx(ex.LIP(1, prior).level(listed), rel=1e-12)


@pytest.mark.parametrize("optimised", [True, False])
@pytest.mark.parametrize("epsilon", ["0.000001", "0.5", "1", "4", "20"])
def test_the_claim_is_tight(epsilon: str, optimised: bool) -> None:
    m = ex.unary_encoding(1_000_000, epsilon, optimised)
    assert m.privacy == ex.LDP(epsilon)
    assert ex.LDP(epsilon).holds(m)
    assert not ex.LDP(Fraction(epsilon) * (1 - Fraction(1, 10**9))).holds(m)


def test_files_keep_it_and_refuse_what_it_cannot_be(tmp_path: Path) -> None:
    m = ex.unary_encoding(20, 1, inputs=[f"answer {i}" for i in range(20)])
    path = m.save(tmp_path / "m.json")
    assert ex.load(path) == m
    content = json.loads(path.read_text(encoding="utf-8"))
    for field, value in (("own", content["weights"]["other"]), ("rows", 1), ("other", "0")):
        changed = {**content, "weights": {**content["weights"], field: value}}
        changed["hash"] = files.content_digest({k: v for k, v in changed.items() if k != "hash"})
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(MalformedFile):
            ex.load(path)
    with pytest.raises(InvalidParameter, match="from 2 to"):
        IndependentBits(1, 2, 1)
    with pytest.raises(InvalidParameter, match="likelier for the truth"):
        IndependentBits(2, 1, 1)


def test_what_would_list_every_word_is_refused() -> None:
    m = ex.unary_encoding(2000, 1)
    nothing = np.array([0])
    for ask in (
        m.structure.rows,
        lambda: m.structure.row(0),
        lambda: m.structure.entries(nothing, nothing),
        lambda: m.structure.marginal(np.ones(2000)),
        m.structure.levels,
        lambda: m.outputs,
        lambda: list(m.output_labels),
    ):
        with pytest.raises(TooLarge):
            ask()
    assert "m=about 10^602," in repr(m)
    assert "1 in the bit of the truth" in str(m)
    assert m.structure.plain_rows() is None
    for many in (m, ex.unary_encoding(20_000, 1), ex.local_hashing(20_000, 1)):
        with pytest.raises(InvalidParameter, match="explain reads every entry .*× about 10"):
            many.explain(np.full(many.k, 1 / many.k))
        with pytest.raises(TooLarge):
            _ = many.outputs


def test_words_of_bits_as_labels() -> None:
    labels = BitLabels(10)
    assert (labels.count, len(labels), labels.size, labels.kind, labels.numbered) == (1024, 1024, 2, tuple, False)
    assert all(labels.code(labels[code]) == code for code in (0, 1, 511, 1023))
    assert unpacked([labels.packed((128, 64))], 10).tolist() == [[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]]
    assert len(labels.alphabet) == 256
    assert (labels.find((0, 64)), labels.find([0, 64]), labels.find((0, 1)), labels.find(7)) == (1, 1, None, None)
    assert labels.shown() == "tuples of 2 bytes that hold 10 bits"
    assert labels.nearest((0, 1)) == ""
    for wrong in ((1,), (0, 1), (256, 0), (True, 0), "ab", 3):
        with pytest.raises(UnknownLabel, match="tuple of 2 bytes"):
            labels.code(wrong)
