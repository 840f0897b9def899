"""Labels that nobody knew: private whatever the group, found where they are frequent, and none that is not held."""

from __future__ import annotations

import json
import pickle
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.discovery.frames import KeyedStrings
from extremal.discovery.protocol import MOST_BUCKETS_BITS, PAYLOAD_BITS, SIZE
from extremal.discovery.search import _counted, _limits
from extremal.discovery.strings import buckets, places
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism.files import content_digest
from extremal.mechanism.structures import ChosenSets
from extremal.release.device import script
from support.browser import opened, served

SMALL = ex.HeavyHitters(4, max_bytes=5, alphabet="abcdefgh", salt=3)
SURE = 1 - 1e-9  # level of discoveries that a test takes for certain: reports are drawn anew each time
STRINGS = [*["bad"] * 5000, *["cafe"] * 4000, *["head"] * 3000, *["deed"] * 40]


def test_frequent_strings_are_found_with_intervals_that_hold() -> None:
    found = SMALL.discover(SMALL.privatize(STRINGS), level=SURE)
    assert set(found.labels) == {"bad", "cafe", "head"}
    truth = {"bad": 5000 / 12040, "cafe": 4000 / 12040, "head": 3000 / 12040}
    rows = zip(found.labels, found.estimate, found.low, found.high, strict=True)
    assert all(low < truth[label] < high and abs(truth[label] - p) < 0.1 for label, p, low, high in rows)
    assert "confirmed by" in str(found)
    assert found.summary().startswith("Estimate: strings that devices hold; n = 12040 reports\n")
    assert found.to_frame()["label"].tolist() == list(found.labels)
    assert found.n == 12040


@pytest.mark.parametrize("epsilon", ["0.5", 2, 9])
def test_both_mechanisms_are_private_at_the_level_and_not_below(epsilon: object) -> None:
    protocol = ex.HeavyHitters(epsilon, max_bytes=3)
    assert protocol.prefixes.k == SIZE
    for mechanism in (protocol.prefixes, protocol.response):
        assert protocol.privacy.holds(mechanism)
        assert protocol.privacy.level(mechanism) > 0.99 * protocol.epsilon


def test_the_level_of_a_whole_report_is_that_of_its_parts_by_enumeration() -> None:
    """Every group, every report of it, for all strings of a small alphabet: the largest ratio is at most e^ε."""
    protocol = ex.HeavyHitters(1, max_bytes=2, alphabet="ab", salt=9)
    symbols = protocol.strings.encoded(["a", "b", "aa", "ab", "ba", "bb"])
    levels = len(protocol.lengths)
    seed, bits = np.full(1, 77, dtype=np.uint64), (protocol.response.k - 1).bit_length()
    own = buckets(protocol.strings.prints(symbols, 2), seed, bits)
    worst = Fraction(1)
    for y in range(protocol.response.k):
        column = [int(protocol.response.weights[x, y]) for x in own.tolist()]
        worst = max(worst, Fraction(max(column), min(column)))
    sets = protocol.prefixes.structure
    assert isinstance(sets, ChosenSets)
    for level, length in enumerate(protocol.lengths):
        at = places(protocol.strings.prints(symbols, length), level, SIZE)
        held = sets.favours(at[:, None], np.arange(sets.m)[None, :])
        some = held.any(axis=0) & ~held.all(axis=0)
        assert some.any()
        worst = max(worst, Fraction(sets.high, sets.low))
    assert levels >= 2
    assert protocol.privacy.exponential.at_least(worst.numerator, worst.denominator)


def test_groups_do_not_depend_on_the_string_and_use_as_many_words() -> None:
    class Counted:
        def __init__(self) -> None:
            self.draw, self.words = np.random.default_rng(1), 0

        def fill(self, words: np.ndarray) -> None:
            self.words += words.size
            words[:] = self.draw.integers(0, 2**64, words.size, dtype=np.uint64)

    seen = []
    for string in ("bad", "hhhhh", "a"):
        source = Counted()
        reports = SMALL.privatize([string] * 300, source=source)
        seen.append((source.words, (reports >> PAYLOAD_BITS).tolist()))
    assert seen[0][1] == seen[1][1] == seen[2][1]


def test_a_count_of_confirming_devices_is_binomial() -> None:
    protocol = ex.HeavyHitters(2, max_bytes=2, alphabet="ab", salt=1)
    reports = protocol.privatize(["ab"] * 200_000)
    mine = reports[reports >> PAYLOAD_BITS == len(protocol.lengths)] & ((1 << PAYLOAD_BITS) - 1)
    prints = protocol.strings.prints(protocol.strings.encoded(["ab", "ba", "a"]), 2)
    counts, n = _counted(protocol, prints, mine)
    own, g = int(protocol.response.weights[0, 0]) / 2**62, protocol.response.k
    assert abs(n - 50_000) < 1000
    for count, share in zip(counts, (own, 1 / g, 1 / g), strict=True):
        assert abs(count - n * share) < 5 * np.sqrt(n * share * (1 - share))
    estimate, low, high = _limits(protocol, counts, n, 0.01)
    assert low[0] < 1 <= high[0] + 1e-12
    assert abs(estimate[1]) < 0.05
    assert (mine & ((1 << MOST_BUCKETS_BITS) - 1) < g).all()


def test_limits_are_those_of_clopper_and_pearson() -> None:
    from scipy.stats import binom

    count, n, error = np.array([20.0]), 100, 0.04
    own, chance = int(SMALL.response.weights[0, 0]) / 2**62, 1 / SMALL.response.k
    _, low, high = _limits(SMALL, count, n, error)
    below, above = (chance + (own - chance) * v[0] for v in (low, high))
    assert binom.sf(19, n, below) == pytest.approx(error / 2, rel=1e-6)
    assert binom.cdf(20, n, above) == pytest.approx(error / 2, rel=1e-6)
    empty = _limits(SMALL, np.zeros(1), 0, error)
    assert (empty[1][0], empty[2][0]) == (0.0, 1.0)


@pytest.mark.slow
def test_nothing_is_confirmed_where_nothing_is_frequent() -> None:
    draw = np.random.default_rng(2)
    letters = np.array(list("abcdefgh"))
    strings = ["".join(row) for row in letters[draw.integers(0, 8, (5000, 5))]]
    false = 0
    for _ in range(20):
        found = SMALL.discover(SMALL.privatize(strings))
        false += any(label not in set(strings) for label in found.labels)
    assert false <= 7  # at 5% each, eight or more of 20 have probability 3e-6


def test_a_search_without_correction_would_be_noticed() -> None:
    """Power of the test above: at level 0.05 for each candidate alone a false label is nearly certain."""
    strings = ["bad"] * 4000
    reports = SMALL.privatize(strings)
    loose = SMALL.discover(reports, level=1e-9)  # each candidate at error 1/200
    strict = SMALL.discover(reports)
    assert len(loose.candidates) > 50
    assert set(strict.labels) <= set(loose.labels)


def test_files_are_read_back_and_changed_ones_refused(tmp_path: Path) -> None:
    for protocol in (SMALL, ex.HeavyHitters("0.1", salt=2**64 - 1)):
        path = protocol.save(tmp_path / f"{protocol.strings.max_bytes}.json")
        again = ex.load(path)
        assert (again.strings, again.privacy, again.lengths) == (protocol.strings, protocol.privacy, protocol.lengths)
    content = json.loads(path.read_text())
    changes = (
        {"salt": "7"},
        {"max_bytes": 8},
        {"version": "2.0"},
        {"more": 1},
        {"lengths": [2, 16, 16]},
        {"finding": 9},
    )
    for change in changes:
        path.write_text(json.dumps(content | change))
        with pytest.raises(MalformedFile):
            ex.load(path)
    for change in (  # of somebody who knows the format, and writes what `save` does not
        {"salt": "1_8"},
        {"salt": " 7"},
        {"alphabet": "61 62"},
        {"alphabet": "6261"},
        {"alphabet": 7},
        {"max_bytes": True},
        {"max_bytes": "8"},
        {"privacy": {"notion": "LDP", "epsilon": "0.1", "delta": "0.1"}},
        {"privacy": {"notion": "LDP", "ratio": "2", "delta": "0"}},
    ):
        stated = {key: value for key, value in (content | change).items() if key != "hash"}
        path.write_text(json.dumps(stated | {"hash": content_digest(stated)}))
        with pytest.raises(MalformedFile):
            ex.load(path)


def test_bad_inputs_are_refused_without_their_values() -> None:
    for strings in (["abcdefgh"], ["xyz"], [""], [7], ["a\0"], [None], ["a\ud800"]):
        with pytest.raises(InvalidParameter, match=r"strings\[1\]") as caught:
            SMALL.privatize(["bad", *strings])
        assert "xyz" not in str(caught.value)
    with pytest.raises(InvalidParameter, match=r"strings\[0\]") as caught:
        SMALL.privatize(["a\ud800"])
    assert caught.value.__context__ is None  # which would hold the text
    with pytest.raises(InvalidParameter, match="strings must be a sequence"):
        SMALL.privatize("abc")
    with pytest.raises(InvalidParameter, match="alphabet must be different ASCII"):
        ex.HeavyHitters(1, alphabet="aa")
    with pytest.raises(InvalidParameter, match="epsilon must be positive"):
        ex.HeavyHitters(0)
    with pytest.raises(InvalidParameter, match="max_bytes may be at most 64"):
        ex.HeavyHitters(1, max_bytes=65)
    with pytest.raises(InvalidParameter, match="salt must be below"):
        ex.HeavyHitters(1, salt=2**64)
    with pytest.raises(InvalidParameter, match="reports must come from this protocol"):
        SMALL.discover(np.array([1 << 60]))
    with pytest.raises(InvalidParameter, match="reports must be whole numbers"):
        SMALL.discover([0.5])
    with pytest.raises(InvalidParameter, match="level must lie"):
        SMALL.discover(SMALL.privatize(["bad"]), level=1)
    assert SMALL.privatize([]).size == 0


@pytest.mark.slow
def test_every_byte_may_occur_where_no_alphabet_is_given() -> None:
    protocol = ex.HeavyHitters(6, max_bytes=6, salt=4)
    found = protocol.discover(protocol.privatize(["né€"] * 9000 + ["Ω"] * 6000), level=SURE)
    assert set(found.labels) == {"né€", "Ω"}


def test_rounds_find_first_and_confirm_later() -> None:
    """Reports of rounds are put together in any order, and each round does its part alone."""
    first = SMALL.privatize(STRINGS, part="find")
    second = SMALL.privatize(STRINGS, part="confirm")
    last = len(SMALL.lengths)
    assert (first >> PAYLOAD_BITS < last).all()
    assert (second >> PAYLOAD_BITS == last).all()
    found = SMALL.discover(np.concatenate((second, first)), level=SURE)
    assert set(found.labels) == {"bad", "cafe", "head"}
    assert found.confirming == len(STRINGS)
    assert SMALL.discover(first).labels == ()  # nothing is listed that no device has confirmed
    with pytest.raises(InvalidParameter, match="part must be"):
        SMALL.privatize(STRINGS, part="both")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_of_a_frame_is_replaced_by_reports(kind: str) -> None:
    frame: Any = _frame(kind)
    made = SMALL.privatize(frame, column="word")
    assert set(SMALL.discover(made["word"], level=SURE).labels) == {"bad", "cafe", "head"}
    key = ex.ReleaseKey.new()
    keyed = [SMALL.privatize(frame, column="word", row_id="id", release_key=key)["word"] for _ in range(2)]
    assert np.array_equal(np.asarray(keyed[0]), np.asarray(keyed[1]))
    assert not np.array_equal(np.asarray(keyed[0]), np.asarray(made["word"]))
    other = SMALL.privatize(frame, column="word", row_id="id")["word"]
    assert not np.array_equal(np.asarray(keyed[0]), np.asarray(other))
    assert set(SMALL.discover(keyed[0], level=SURE).labels) == {"bad", "cafe", "head"}
    assert np.asarray(made["id"]).tolist() == list(range(len(STRINGS)))


def test_plans_make_the_same_reports_in_any_order_and_pieces() -> None:
    import duckdb
    import polars as pl

    key = ex.ReleaseKey.new()
    whole = SMALL.privatize(_frame("pandas"), column="word", row_id="id", release_key=key)
    lazy = SMALL.privatize(_frame("polars").lazy(), column="word", row_id="id", release_key=key)
    for _ in range(2):
        assert lazy.collect()["word"].to_list() == whole["word"].tolist()
    assert lazy.filter(pl.col("id") >= 9000).collect()["word"].to_list() == whole["word"].tolist()[9000:]
    with duckdb.connect() as connection:
        relation = connection.from_arrow(_frame("pyarrow"))
        plan = SMALL.privatize(relation, column="word", row_id="id", release_key=key, connection=connection)
        for _ in range(2):
            assert [r for _, r in sorted(plan.fetchall())] == whole["word"].tolist()


def test_keyed_reports_have_the_distribution_of_the_others() -> None:
    """Groups, and the counts of confirming devices, of keyed reports and of drawn ones: two samples of one law."""
    protocol = ex.HeavyHitters(2, max_bytes=2, alphabet="ab", salt=1)
    frame: Any = __import__("pandas").DataFrame({"id": range(100_000), "word": ["ab"] * 100_000})
    keyed = protocol.privatize(frame, column="word", row_id="id")["word"].to_numpy()
    drawn = protocol.privatize(["ab"] * 100_000)
    levels = len(protocol.lengths)
    for reports in (keyed, drawn):
        groups = np.bincount(reports >> PAYLOAD_BITS, minlength=levels + 1)
        for count, share in zip(groups, [*[0.75 / levels] * levels, 0.25], strict=True):
            assert abs(count - 100_000 * share) < 5 * np.sqrt(100_000 * share * (1 - share))
        mine = reports[reports >> PAYLOAD_BITS == levels] & ((1 << PAYLOAD_BITS) - 1)
        counts, n = _counted(protocol, protocol.strings.prints(protocol.strings.encoded(["ab"]), 2), mine)
        own = int(protocol.response.weights[0, 0]) / 2**62
        assert abs(counts[0] - n * own) < 5 * np.sqrt(n * own * (1 - own))


def test_frames_are_refused_where_they_cannot_be_reported_on() -> None:
    frame: Any = _frame("pandas")
    with pytest.raises(InvalidParameter, match="column must name the column of strings"):
        SMALL.privatize(frame, row_id="id")
    with pytest.raises(InvalidParameter, match="a release key needs row ids"):
        SMALL.privatize(frame, column="word", release_key=ex.ReleaseKey.new())
    with pytest.raises(InvalidParameter, match="evaluated twice"):
        SMALL.privatize(_frame("polars").lazy(), column="word")
    with pytest.raises(InvalidParameter, match="every row needs an id of its own"):
        SMALL.privatize(frame.assign(id=1), column="word", row_id="id")
    reporter = KeyedStrings((SMALL, None), "word", bytes(192))
    assert "secret" in repr(reporter)
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(reporter)
    with pytest.raises(InvalidParameter, match="there must be 1 ids"):
        reporter.reports([1, 2], ["bad"])


def _frame(kind: str) -> Any:
    columns = {"id": list(range(len(STRINGS))), "word": STRINGS}
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table(columns)
    return __import__(kind).DataFrame(columns)


def test_a_device_makes_reports_that_are_discovered_here(node: list[str], tmp_path: Path) -> None:
    """Fingerprints, places and buckets agree with Python's, and so do the strings that are refused."""
    (tmp_path / "randomiser.js").write_bytes(script("randomiser.js"))
    protocol = ex.HeavyHitters(6, max_bytes=6, salt=2**64 - 5)
    protocol.save(tmp_path / "words.json")
    case = """
    import { readFile } from "node:fs/promises";
    import { loadHeavyHitters, Respondent, Refused, secureWords } from "./randomiser.js";
    const text = await readFile(new URL("words.json", import.meta.url), "utf8");
    const protocol = await loadHeavyHitters(text);
    const reports = [];
    for (let i = 0; i < 4000; i += 1) reports.push(protocol.draw(i % 3 === 0 ? "né€" : "Ω", secureWords()));
    const symbols = [1, 2, 255, 0, 0, 0];
    const forged = JSON.parse(text);
    forged.finding = 4;
    let said = null;
    try { await loadHeavyHitters(JSON.stringify(forged)); } catch (error) { said = error instanceof Refused; }
    const kept = new Map();
    const storage = {
      read: async (key) => kept.get(key),
      remember: async (key, value) => { if (!kept.has(key)) kept.set(key, value); return kept.get(key); },
    };
    const one = new Respondent(storage);
    const first = await one.report("word", "Ω", protocol);
    console.log(JSON.stringify({
      reports, said,
      places: [0, 1, 7].map((level) => protocol.place(symbols.slice(0, 3), level)),
      bucket: protocol.bucket(symbols, 77n),
      same: first === await one.report("word", "né€", protocol),
      knows: ["Ω", "", "seven77", "a\\0", 7, "\\ud800"].map(protocol.knows),
      could: [reports[0], -1, 2 ** 50, 1.5].map(protocol.couldReport),
    }));
    """
    (tmp_path / "case.mjs").write_text(case, encoding="utf-8")
    done = subprocess.run([*node, str(tmp_path / "case.mjs")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert set(protocol.discover(said["reports"], level=SURE).labels) == {"né€", "Ω"}
    row = np.array([[1, 2, 255, 0, 0, 0]], dtype=np.uint8)
    expected = [int(places(protocol.strings.prints(row, 3), level, SIZE)[0]) for level in (0, 1, 7)]
    bits = (protocol.response.k - 1).bit_length()
    assert said["places"] == expected
    seed = np.full(1, 77, dtype=np.uint64)
    assert said["bucket"] == int(buckets(protocol.strings.prints(row, 6), seed, bits)[0])
    assert said["said"] is True
    assert said["same"] is True
    assert said["knows"] == [True, False, False, False, False, False]
    assert said["could"] == [True, False, False, False]


PAGE = """
import { deviceStorage, loadHeavyHitters, Respondent, secureWords } from "./randomiser.js";
const text = await (await fetch("words.json")).text();
const protocol = await loadHeavyHitters(text);
const reports = [];
for (let i = 0; i < 4000; i += 1) reports.push(protocol.draw(i % 3 === 0 ? "cafe" : "bad", secureWords()));
const ask = (value) => new Respondent(deviceStorage()).report("word", value, protocol);
const [first, again] = [await ask("bad"), await ask("head")];
const changed = JSON.stringify({ ...JSON.parse(text), finding: 4 });
const bad = await loadHeavyHitters(changed).then(() => "read", (error) => error.message);
globalThis.said = JSON.stringify({ reports, first, again, could: protocol.couldReport(first), bad });
"""


def test_a_browser_makes_reports_that_are_discovered_here(chromium: str, tmp_path: Path) -> None:
    """The script as a page loads it, with the browser's randomness and its database: a question has one report."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "randomiser.js").write_bytes(script("randomiser.js"))
    (folder / "page.js").write_text(PAGE, encoding="utf-8")
    (folder / "page.html").write_text('<script type="module" src="page.js"></script>')
    SMALL.save(folder / "words.json")
    with served(folder) as address, opened(chromium, tmp_path / "profile") as browser:
        said = json.loads(browser.waits_for(browser.tab(f"{address}/page.html"), "globalThis.said"))
    assert set(SMALL.discover(said["reports"], level=SURE).labels) == {"cafe", "bad"}
    assert said["first"] == said["again"]
    assert said["could"] is True
    assert "hash" in said["bad"] or "changed" in said["bad"]
