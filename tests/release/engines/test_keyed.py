"""Keyed reports: the same whenever they are asked for, exactly distributed, and what they do not promise."""

import hashlib
import hmac
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import extremal as ex
from extremal.mechanism.structures import STRUCTURES
from extremal.mechanism.structures.joint import AllSets, Assignment, Block, JointBlocks
from extremal.release import sample_codes
from extremal.release.audit import audit
from extremal.release.device import device_report, example_mechanisms
from extremal.release.engines.keyed import (
    KeyedColumn,
    OwnWords,
    RowWords,
    id_blocks,
    id_column,
    sample_keyed,
)
from extremal.release.sampling.loops import Loops
from extremal.release.sampling.sampler import ONE_WORD_A_VALUE, SAMPLERS, prepared
from extremal.release.sampling.subsets import subset_reports, uniform_below


def column(m: ex.Mechanism, key: ex.ReleaseKey, name: str = "answer") -> KeyedColumn:
    return KeyedColumn(m, name, key)


def words_of(m: ex.Mechanism, ids: Any) -> RowWords:
    return RowWords(ids, column(m, ex.ReleaseKey.new())._keys)


class Listed:
    """A source that reads from a list of words."""

    def __init__(self, words: Any) -> None:
        self.words = iter(words)

    def fill(self, words: Any) -> None:
        words[:] = [next(self.words) for _ in range(words.size)]


def test_any_order_and_any_pieces_give_the_same_reports() -> None:
    m, key, generator = ex.randomized_response(5, 1), ex.ReleaseKey.new(), np.random.default_rng(1)
    ids, values = np.arange(70_000), generator.integers(0, 5, 70_000)
    whole = column(m, key).reports(ids, values)
    order = generator.permutation(ids.size)
    assert (column(m, key).reports(ids[order], values[order]) == whole[order]).all()
    assert (column(m, key).reports(ids[40_001:], values[40_001:]) == whole[40_001:]).all()
    assert 0.2 < (column(m, ex.ReleaseKey.new()).reports(ids, values) != whole).mean() < 0.95


def test_the_two_line_attack_on_a_key_used_twice() -> None:
    """What keyed sampling does not promise: at ε = 0.01 two reports tell next to nothing, but under one key the
    difference of two waves names exactly those whose value changed."""
    m, key, generator = ex.randomized_response(4, 0.01), ex.ReleaseKey.new(), np.random.default_rng(2)
    first = pd.DataFrame({"id": range(2_000), "answer": generator.integers(0, 4, 2_000)})
    second = first.assign(answer=np.where(generator.random(2_000) < 0.1, (first.answer + 1) % 4, first.answer))
    changed = first.answer != second.answer
    one = ex.privatize(first, {"answer": m}, row_id="id", release_key=key)
    two = ex.privatize(second, {"answer": m}, row_id="id", release_key=key)
    assert ((one.answer != two.answer) == changed).all()
    fresh = ex.privatize(second, {"answer": m}, row_id="id")  # a key of its own tells them no more apart than chance
    assert abs((one.answer != fresh.answer)[changed].mean() - (one.answer != fresh.answer)[~changed].mean()) < 0.2


def test_the_words_are_those_of_the_protocol() -> None:
    """HKDF by its definition, one block by the cipher alone, the report by the ordinary sampler."""
    m, key = ex.randomized_response(7, 1), ex.ReleaseKey.new()
    name, digest = "answer", bytes.fromhex(m.hash)
    parts = (b"extremal keyed release 2", b"text " + name.encode(), digest)
    info = b"".join(len(p).to_bytes(4, "little") + p for p in parts)
    subkey = KeyedColumn(m, name, key).shipped()[2]
    assert subkey == key.derive(info, 192)
    ids = [5, -3, 2**62]
    blocks = b"".join(i.to_bytes(12, "little", signed=True) + bytes(4) for i in ids)
    stream = Cipher(algorithms.AES(subkey[:32]), modes.ECB()).encryptor().update(blocks)
    first = [int.from_bytes(stream[16 * j : 16 * j + 8], "little") for j in range(3)]
    expected = sample_codes(m, np.array([0, 3, 6]), source=Listed(first)).tolist()
    assert column(m, key).reports(ids, [0, 3, 6]) == expected
    block = b"ann"
    hashed = hashlib.blake2b(block, key=subkey[96:128], digest_size=12).digest() + bytes(4)
    word = Cipher(algorithms.AES(subkey[64:96]), modes.ECB()).encryptor().update(hashed)[:8]
    assert (
        column(m, key).reports(["ann"], [2])
        == sample_codes(m, np.array([2]), source=Listed([int.from_bytes(word, "little")])).tolist()
    )


def test_subkeys_are_hkdf_sha256(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda n: bytes(range(n)))
    made = ex.ReleaseKey.new().derive(b"purpose", 40)
    prk = hmac.digest(bytes(32), bytes(range(32)), "sha256")
    one = hmac.digest(prk, b"purpose\x01", "sha256")
    assert made == one + hmac.digest(prk, one + b"purpose\x02", "sha256")[:8]


@pytest.mark.parametrize(("k", "epsilon"), [(40, 0.5), (40, 2), (100, 1)])
def test_sets_read_the_words_of_their_row_one_after_the_other(k: int, epsilon: float) -> None:
    m, generator = ex.subset_selection(k, epsilon), np.random.default_rng(k)
    codes = generator.integers(0, k, 300)
    words = words_of(m, np.arange(300))
    drawn = sample_keyed(m, codes, words)
    structure: Any = m.structure
    assert structure.kind == "subset_selection"
    for row in range(300):
        stream = (int(words.words(np.array([row]), j)[0, 0]) for j in range(10_000))
        alone = subset_reports(k, structure.size, structure.inside, codes[row : row + 1], Listed(stream))
        assert alone.tolist() == [drawn[row].tolist()]


@pytest.mark.parametrize(
    "m",
    [
        ex.randomized_response(6, 1),
        ex.Mechanism.from_windows(7, 3, ex.LDP(1)),
        ex.Mechanism.from_partition([0, 0, 1, 2], ex.LDP(0.5)),
        ex.binary([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 1),
        ex.unary_encoding(11, 1),
        ex.local_hashing(30, 1),
    ],
)
def test_keyed_reports_pass_the_audit_and_a_shared_word_does_not(m: ex.Mechanism) -> None:
    key = column(m, ex.ReleaseKey.new())._keys
    first = iter(range(0, 10**12, 10**6))  # each call has rows of its own

    def keyed(codes: Any) -> Any:
        return sample_keyed(m, codes, RowWords(next(first) + np.arange(codes.size), key))

    assert audit(m, 20_000, 1 - 1e-9, sample=keyed)
    assert not audit(m, 20_000, 1 - 1e-9, sample=lambda codes: sample_keyed(m, codes, RowWords(0 * codes, key)))


MANY_WORDS = [
    ex.subset_selection(40, 1),
    ex.unary_encoding(11, 1),
    ex.local_hashing(300, 1),
    ex.hadamard_response(500, 1),
    ex.projective_geometry(500, 1),
    ex.bloom_filter(50, 4, once=1),
    next(m for m in example_mechanisms() if m.structure.kind == "grouped_sets" and m.k == 100),
    ex.Mechanism.from_structure(
        JointBlocks(((AllSets(3, 1),), (AllSets(5, 2),)), (Assignment((Block((0, 1), (0, 0), 1 << 52),), 1 << 53),))
    ),
]


@pytest.mark.parametrize("m", MANY_WORDS, ids=lambda m: m.structure.kind)
def test_a_row_alone_gives_what_all_rows_together_give(m: ex.Mechanism) -> None:
    """Also where some rows of a piece draw again, and need more words than the others."""
    assert m.structure.kind not in ONE_WORD_A_VALUE
    codes, ids, keys = np.arange(1_500) % m.k, np.arange(1_500), column(m, ex.ReleaseKey.new())._keys
    together = sample_keyed(m, codes, RowWords(ids, keys))
    for row in range(0, 1_500, 50):
        assert (sample_keyed(m, codes[row : row + 1], RowWords(ids[row : row + 1], keys)) == together[row]).all()
    order = np.random.default_rng(3).permutation(1_500)
    assert (sample_keyed(m, codes[order], RowWords(ids[order], keys)) == together[order]).all()
    sampler, words = (
        prepared(m.structure),
        RowWords(ids, keys),
    )  # by the ordinary sampler, fed with the words of one row
    for row in range(0, 1_500, 100):
        stream = Listed(int(words.words(np.array([row]), j)[0, 0]) for j in range(10_000))
        alone = sampler.draw(codes[row : row + 1], stream, Loops(1), np.empty(1, dtype=np.uint64))
        assert (alone[0] == together[row]).all()


@pytest.mark.parametrize(
    "m", [m for m in example_mechanisms() if m.structure.kind not in ONE_WORD_A_VALUE], ids=lambda m: m.structure.kind
)
def test_a_report_is_what_a_device_makes_of_the_words_of_its_row(m: ex.Mechanism) -> None:
    key, ids, codes = ex.ReleaseKey.new(), list(range(100)), [row % m.k for row in range(100)]
    reports = column(m, key).reports(ids, [m.input_labels[code] for code in codes])
    words = RowWords(ids, column(m, key)._keys).words(np.arange(100), 0, 501).tolist()
    assert reports == [device_report(m, code, iter(own)) for code, own in zip(codes, words, strict=True)]


def test_words_are_the_same_one_by_one_and_many_at_a_time() -> None:
    words, rows = words_of(ex.unary_encoding(40, 1), np.arange(9) - 4), np.array([7, 0, 3, 3])
    one_by_one = np.column_stack([words.words(rows, number)[:, 0] for number in range(12)])
    assert len(set(one_by_one.ravel().tolist())) == 3 * 12
    for first in range(5):
        for each in (1, 2, 3, 6, 7):
            expected = one_by_one[:, first : first + each]
            assert (words.words(rows, first, each) == expected).all()
            assert (words.words(rows, np.full(4, first), each) == expected).all()
    uneven = words.words(rows, np.array([0, 3, 1, 4]), 5)
    assert (uneven == [one_by_one[i, first : first + 5] for i, first in enumerate((0, 3, 1, 4))]).all()


def test_rows_that_draw_again_read_on_in_their_own_words() -> None:
    """Below 3·2^30 a quarter of all words is drawn again; below 2^32 none is."""
    words, rows = words_of(ex.subset_selection(40, 1), np.arange(2_000)), np.arange(2_000)
    used = np.zeros(2_000, dtype=np.int64)
    source = OwnWords(words, rows, used)
    drawn = [uniform_below(3 << 30, 2_000, source), uniform_below(1 << 32, 2_000, source)]
    assert 2_500 < used.sum() - 2_000 < 2_850  # 2,667 with standard deviation 30
    assert set(np.unique(used).tolist()) >= {2, 3, 4}
    for row, own in enumerate(words.words(rows, 0, 60).tolist()):
        alone = Listed(own)
        assert [uniform_below(3 << 30, 1, alone)[0], uniform_below(1 << 32, 1, alone)[0]] == [d[row] for d in drawn]


def test_a_sampler_that_does_not_say_for_whom_it_draws_is_stopped() -> None:
    source = OwnWords(words_of(ex.subset_selection(40, 1), np.arange(9)), np.arange(9), np.zeros(9, dtype=np.int64))
    for count in (1, 8, 10):
        with pytest.raises(ex.errors.PrivacyViolation, match="9 rows must read equally many words"):
            source.fill(np.empty(count, dtype=np.uint64))
    source.of_values(slice(1, 9)).fill(np.empty(8, dtype=np.uint64))
    source.of_values(np.array([], dtype=np.int64)).fill(np.empty(0, dtype=np.uint64))


def test_every_structure_has_words_of_its_own_rows() -> None:
    """A structure whose sampler asks for more than one word a value must not read the words of other rows."""
    tried = {m.structure.kind for m in MANY_WORDS}
    assert tried.isdisjoint(ONE_WORD_A_VALUE)
    assert tried | ONE_WORD_A_VALUE == set(STRUCTURES) == set(SAMPLERS)


def test_ids_enter_injectively() -> None:
    ids = [0, 1, -1, 255, 256, 2**32, -(2**32), 2**63 - 1, -(2**63)]
    assert id_column(ids, None)[0] == id_column(np.array(ids), None)[0] == "integer"
    blocks = id_blocks(np.array(ids))
    assert [int.from_bytes(b.tobytes()[:12], "little", signed=True) for b in blocks] == ids
    large = id_blocks(np.array([2**63, 2**64 - 1], dtype=np.uint64))
    assert [int.from_bytes(b.tobytes()[:12], "little", signed=True) for b in large] == [2**63, 2**64 - 1]
    assert (id_blocks(np.array([3, -3], dtype=np.int8)) == id_blocks(np.array([3, -3]))).all()


def test_kinds_of_ids_columns_mechanisms_and_counters_have_words_of_their_own() -> None:
    m, other, key = ex.randomized_response(4, 1), ex.randomized_response(4, 2), ex.ReleaseKey.new()
    seen = {
        int(RowWords(ids, column(mechanism, key, name)._keys).words(slice(0, 1), number)[0, 0])
        for ids in ([1], ["1"], [b"1"])
        for mechanism in (m, other)
        for name in ("a", "b")
        for number in range(4)
    }
    assert len(seen) == 3 * 2 * 2 * 4


@pytest.mark.parametrize("ids", [[1, None], [1.0, 2.0], [True, False], [1, "1"], [2**70, 1], np.array([0.5, 1.5])])
def test_ids_of_other_kinds_are_refused(ids: Any) -> None:
    m = ex.randomized_response(2, 1)
    with pytest.raises(ex.errors.InvalidParameter, match="row ids must be integers of 64 bits, text or bytes"):
        column(m, ex.ReleaseKey.new()).reports(ids, [0, 1])


def test_bad_columns_are_refused() -> None:
    keyed = column(ex.randomized_response(2, 1), ex.ReleaseKey.new())
    with pytest.raises(ex.errors.InvalidParameter, match="there must be 2 ids"):
        keyed.reports([1], [0, 1])
    with pytest.raises(ex.errors.InvalidParameter, match="values must be a column"):
        keyed.reports([1], 0)
    with pytest.raises(ex.errors.InvalidParameter, match="row_id must be a column"):
        keyed.reports(1, [0])
    with pytest.raises(ex.errors.UnknownLabel, match=r"answer\[1\]"):
        keyed.reports(np.array([1, 2]), np.array([0, 2]))
    sets = column(ex.subset_selection(40, 1), ex.ReleaseKey.new())
    with pytest.raises(ex.errors.UnknownLabel, match=r"answer\[1\]"):
        sets.reports(np.array([1, 2]), np.array([0, 40]))


def test_a_keyed_column_hides_its_secret() -> None:
    keyed = column(ex.randomized_response(2, 1), ex.ReleaseKey.new())
    assert repr(keyed) == "KeyedColumn('answer', secret)"
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(keyed)
    assert KeyedColumn.arrived(keyed.shipped()).reports([1, 2], [0, 1]) == keyed.reports([1, 2], [0, 1])
