"""Files from strangers, and whatever else makes a mechanism: bounded work, a message, weights that stay as they are."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import pickle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import MalformedFile, TooLarge
from extremal.mechanism import files
from extremal.mechanism.labels import MOST_LABELS, Labels
from extremal.mechanism.structures import Circulant, HashedSets, Rows, TwoValuedColumns
from extremal.mechanism.structures import circulant as circulants
from support.files.strangers import Outcomes, damaged, mutated, rehashed

SAVED = sorted((Path(__file__).parents[1] / "data" / "saved").glob("mechanism-*.json"))
LDP = {"notion": "LDP", "epsilon": "1", "delta": "0"}
APPROXIMATE = {**LDP, "delta": "0.1"}
HALF = str(1 << 61)
MORE = str(3 << 60)


def write(path: Path, **fields: Any) -> Path:
    content = {
        "format": "extremal-mechanism",
        "version": "1.0",
        "inputs": {"range": 2},
        "outputs": {"range": 2},
        "denominator": str(1 << 62),
        "weights": {"kind": "rows", "rows": [[HALF, HALF]]},
        "privacy": None,
        **fields,
    }
    path.write_text(json.dumps(rehashed(content)), encoding="utf-8")
    return path


def response(rows: int, privacy: Any) -> dict[str, Any]:
    low = (1 << 62) // rows - 1
    weights = {"kind": "randomized_response", "rows": rows, "low": str(low), "high": str((1 << 62) - (rows - 1) * low)}
    return {"inputs": {"range": rows}, "outputs": {"range": rows}, "weights": weights, "privacy": privacy}


ENDLESS: dict[str, dict[str, Any]] = {
    "rows that wrap": {"rows_of_inputs": [[0, 1 << 53]] * 2048 + [[0, 8]], "inputs": {"range": 8}},
    **{
        f"response of {rows}, {claim and claim['delta']}": response(rows, claim)
        for rows in (10**8, 10**12, 1 << 53)
        for claim in (None, LDP, APPROXIMATE)
    },
    "response, many rows and a claim with delta": {
        **response(MOST_LABELS, APPROXIMATE),
        "weights": {
            "kind": "randomized_response",
            "rows": MOST_LABELS,
            "low": "1",
            "high": str((1 << 62) - MOST_LABELS + 1),
        },
    },
    "circulant": {"weights": {"kind": "circulant", "runs": [["1", 10**12], ["2", 1]]}},
    "circulant in pieces": {
        "weights": {"kind": "circulant", "runs": [["1", 1], ["2", 1]] * 10_000 + [["0", 1 << 21]]},
        "inputs": {"range": 20_000 + (1 << 21)},
        "outputs": {"range": 20_000 + (1 << 21)},
    },
    "subsets": {
        "weights": {"kind": "subset_selection", "rows": 10**7, "size": 5 * 10**6, "inside": HALF},
        "inputs": {"range": 10**7},
        "outputs": {"subsets_of_inputs": 5 * 10**6},
    },
    "many subsets": {"weights": {"kind": "subset_selection", "rows": 1 << 53, "size": 2, "inside": HALF}},
    "size of text": {"weights": {"kind": "subset_selection", "rows": 50, "size": "2", "inside": HALF}},
    "two-valued": {"weights": {"kind": "two_valued_columns", "rows": 10**8, "weights": [["0", "1"]], "columns": []}},
    "two-valued, far": {
        "weights": {"kind": "two_valued_columns", "rows": 10**12, "weights": [["0", HALF]], "columns": [[0, 0, 5]]}
    },
    "two-valued, not increasing": {
        "weights": {"kind": "two_valued_columns", "rows": 9, "weights": [["0", HALF]], "columns": [[0, 0, 10]]}
    },
    "two-valued, no pairs": {
        "weights": {"kind": "two_valued_columns", "rows": 9, "weights": [["0"]], "columns": [[0, 0, 2]]}
    },
    "two-valued, no columns": {
        "weights": {"kind": "two_valued_columns", "rows": 9, "weights": [["0", HALF]], "columns": [7]}
    },
    **{
        f"{kind} {numbers}": {
            "weights": {"kind": kind, "rows": rows, "inside": MORE, **numbers},
            "inputs": {"range": 5},
        }
        for kind, rows, numbers in (
            ("hashed", 1 << 53, {"buckets": 4}),
            ("hashed", 5, {"buckets": 1 << 53}),
            ("hadamard", 5, {"blocks": 1 << 52, "width": 1 << 52}),
            ("hadamard", 5, {"blocks": 1, "width": 1 << 25}),
            ("projective", 5, {"order": (1 << 53) - 111, "coordinates": 2}),
            ("projective", 5, {"order": 65_521, "coordinates": 1 << 52}),
            ("projective", 5, {"order": 2, "coordinates": 33}),
        )
    },
    "bits": {
        "weights": {"kind": "independent_bits", "rows": 1 << 52, "own": HALF, "other": "7"},
        "outputs": {"bits": 1 << 52},
    },
    "names of bits": {"outputs": {"bits": 1 << 52}},
    "names of many": {"outputs": {"range": {"integer": "9" * 300}}},
    "other names of hashes": {
        "weights": {"kind": "hashed", "rows": 5, "inside": MORE, "buckets": 4},
        "denominator": str(HashedSets(5, int(MORE), 4).denominator),
        "inputs": {"range": 5},
        "outputs": {"range": 1 << 52},
    },
    "digits of epsilon": {"privacy": {**LDP, "epsilon": "0." + "1" * 10**6}},
    "every prior": {
        **response(10**8, {"notion": "PML", "epsilon": "1", "source": {"kind": "simplex", "k": 10**8}}),
    },
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_few_numbers_do_not_make_endless_work(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", **ENDLESS[name])
    with pytest.raises((MalformedFile, TooLarge, ex.errors.PrivacyViolation)):
        ex.load(path)


def test_a_million_symbols_load_from_two_numbers(tmp_path: Path) -> None:
    m = ex.randomized_response(1_000_000, 1)
    path = m.save(tmp_path / "m.json")
    assert path.stat().st_size < 400
    asked = []

    class Counting(type(m.structure)):  # type: ignore[misc]
        def columns(self) -> Any:
            for column in super().columns():
                asked.append(column.output)
                yield column

    again = ex.load(path)
    assert again == m
    counted = dataclasses.replace(again, structure=Counting(m.k, m.structure.low, m.structure.high))  # type: ignore[attr-defined]
    assert ex.LDP(1).holds(counted)
    assert ex.LDP(1).level(counted) == ex.LDP(1).level(ex.randomized_response(1_000_000, 1)) <= 1
    assert len(asked) <= 8  # not a million


ODD = {
    "integers beyond 2^53": ex.randomized_response(3, 1, inputs=[(1 << 53) + 1, -(1 << 70), 3]),
    "sets of such integers": ex.subset_selection(3, 1, size=2, inputs=[(1 << 53) + 1, -(1 << 70), 3]),
    "unused rows": ex.randomized_response(4, 1).spread([0, 0, 2], inputs=["a", "b", "c"]),
    "unused rows and outputs": ex.Mechanism.from_matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).spread([0, 2]),
    "unused rows of many": ex.randomized_response(5_000, 1).spread([0, 4_999]),
    "20,000 subsets": ex.subset_selection(20_000, 1),
    "bits": ex.unary_encoding(11, 1),
    "20,000 bits": ex.unary_encoding(20_000, 1, optimised=False),
    "hashes": ex.local_hashing(1_000_000, 1),
    "hashes to many buckets": ex.local_hashing(1_000, 14),
    "Hadamard": ex.hadamard_response(300_000, 1),
    "projective": ex.projective_geometry(300_000, 1),
    "rule with shared rows": ex.local_hashing(50, 1).spread(np.arange(100) // 2, inputs=range(100)),
    "Bloom filters": ex.bloom_filter(1_000_000, 4, once=1, cohorts=2),
    "a million subsets": ex.subset_selection(1_000_000, 12),
    "one and true": ex.randomized_response(2, 1, inputs=[True, False]),
    "text that reads like JSON": ex.randomized_response(2, 1, inputs=['{"integer": "7"}', "\u2028\0"]),
}


@pytest.mark.parametrize("name", ODD)
def test_whatever_is_saved_is_loaded(name: str, tmp_path: Path) -> None:
    m = ODD[name]
    again = ex.load(m.save(tmp_path / "m.json"))
    assert again == m
    assert again.inputs == m.inputs
    assert list(map(type, again.inputs)) == list(map(type, m.inputs))
    assert again.privacy == m.privacy
    assert repr(again) == repr(m)
    assert again.privatize([m.inputs[0]])


def test_spread_leaves_out_what_nobody_has() -> None:
    m = ODD["unused rows and outputs"]
    assert (m.outputs, m.matrix.tolist()) == ((0, 2), [[1, 0], [0, 1]])
    assert ex.LDP(1).level(ex.Mechanism.from_weights([[3, 1], [1, 3], [2, 2]], 4).spread([2, 2])) == 0
    assert ODD["unused rows of many"].structure.r == 2
    for kept in ([1, 1], [0, 2, 2]):
        with pytest.raises(ex.ExtremalError, match="of these inputs as a dense array"):
            ex.local_hashing(3, 1).spread(kept)
    with pytest.raises(ex.ExtremalError, match="every row must be that of some input"):
        dataclasses.replace(ex.randomized_response(3, 1), row_of=np.array([0, 0, 2]))
    from extremal.release.audit import audit

    assert audit(ODD["unused rows"], draws=2_000, confidence=0.999999)


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_VALUES", 100)
    m = ex.Mechanism.from_matrix(np.random.default_rng(1).dirichlet(np.ones(20), size=20))
    with pytest.raises(TooLarge, match="a file holds at most 100 values: it could not be read back"):
        m.save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_one_large_integer_is_refused_as_a_label() -> None:
    with pytest.raises(
        ex.errors.InvalidLabel, match="inputs must be integers of at most 400 digits; got inputs='3322 bits'"
    ):
        ex.randomized_response(2, 1, inputs=[1 << 3321, 1])


COPIES = {
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
    "old pickle": lambda m: pickle.loads(pickle.dumps(m, protocol=2)),
    "deep copy": copy.deepcopy,
    "copy": copy.copy,
    "replace": dataclasses.replace,
    "file": None,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_no_copy_can_be_written_to(how: str, path: Path) -> None:
    m = ex.load(path)
    again = COPIES[how](m) if COPIES[how] is not None else ex.load(path)
    assert again == m
    assert again.privacy == m.privacy
    for array in (getattr(again.structure, name, None) for name in ("array", "low", "high")):
        if isinstance(array, np.ndarray):
            for change in (lambda a=array: a.__setitem__(0, 1), lambda a=array: a.setflags(write=True)):
                with pytest.raises(ValueError, match="read-only|WRITEABLE"):
                    change()
    if again.row_of is not None:
        with pytest.raises(ValueError, match="WRITEABLE"):
            again.row_of.setflags(write=True)
    if again.m < 100:
        with pytest.raises(ValueError, match="read-only"):
            again.weights[:] = 0


def test_a_replaced_claim_is_decided() -> None:
    m = ex.randomized_response(3, 2)
    with pytest.raises(ex.errors.PrivacyViolation, match=r"the claimed LDP\(epsilon=0.01\); got level="):
        dataclasses.replace(m, privacy=ex.LDP("0.01"))
    assert dataclasses.replace(m, privacy=ex.LDP(3)).privacy == ex.LDP(3)
    with pytest.raises(ex.errors.PrivacyViolation, match="the claimed"):
        ex.Mechanism(m.structure, None, m.input_labels, m.output_labels, ex.LDP(1))
    with pytest.raises(ex.errors.InvalidParameter, match="every row and every column must have a name"):
        dataclasses.replace(m, input_labels=Labels(["a", "b"]))


def test_structures_are_checked_again_when_they_are_copied() -> None:
    rows = Rows(np.array([[1 << 61, 1 << 61], [1 << 60, 3 << 60]]))
    assert not pickle.loads(pickle.dumps(rows)).array.flags.writeable
    windows = ex.Mechanism.from_windows(100, 20, ex.LDP(1)).structure
    again = copy.deepcopy(windows)
    assert isinstance(again, TwoValuedColumns)
    assert not again.low.flags.writeable
    assert len(list(again.kinds_of_columns())) == len({*zip(again.low.tolist(), again.high.tolist(), strict=True)})


def test_a_circulant_of_many_runs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circulants, "MOST_PIECES", 5)
    with pytest.raises(
        TooLarge, match="a circulant may have at most 5 runs in all its columns together; got .*'3 × 2'"
    ):
        Circulant.of([(1 << 61, 1), (1 << 60, 2)])


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_changed_files_are_read_or_refused(path: Path, tmp_path: Path) -> None:
    random, content = Random(path.stem), json.loads(path.read_text(encoding="utf-8"))
    for _ in range(20):
        target = tmp_path / "m.json"
        target.write_text(json.dumps(mutated(content, random)), encoding="utf-8")
        with contextlib.suppress(ex.ExtremalError):
            assert ex.load(target).k >= 2
    for _ in range(5):
        target.write_bytes(damaged(path.read_bytes(), random))
        with pytest.raises(ex.ExtremalError):
            ex.load(target)


@pytest.mark.parametrize("name", ["bits", "hashes", "Hadamard", "projective", "Bloom filters", "rule with shared rows"])
def test_changed_files_of_rules_are_read_or_refused(name: str, tmp_path: Path) -> None:
    target = tmp_path / "m.json"
    random, content = Random(name), json.loads(ODD[name].save(target).read_text(encoding="utf-8"))
    read = 0
    for _ in range(60):
        target.write_text(json.dumps(mutated(content, random)), encoding="utf-8")
        with contextlib.suppress(ex.ExtremalError):
            read += ex.load(target).k >= 2
    assert read < 60


def test_a_bare_exception_and_a_crash_would_be_seen() -> None:
    import os
    import signal

    found = Outcomes()
    found.attempt(
        [
            ("clear", lambda: ex.LDP(1)),
            ("refused", lambda: ex.LDP(-1)),
            ("bare", lambda: [][1]),
            ("crash", lambda: os.kill(os.getpid(), signal.SIGSEGV)),
        ]
    )
    assert found.clear == 2
    assert found.bare == ["bare: IndexError: 'list index out of range'"]
    assert found.crashed == [f"crash: signal {signal.SIGSEGV.value}"]
    assert found.largest > 0
