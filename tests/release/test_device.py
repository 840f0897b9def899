"""The device's script: the same words give the same reports, and everything that is not as it should be is refused."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import extremal as ex
from extremal import release
from extremal.cli import main
from extremal.mechanism.files import content_digest, to_json
from extremal.mechanism.structures import STRUCTURES
from extremal.questionnaire import OnlyIf, TickAll
from extremal.questionnaire.device import example_questionnaires, write_questionnaire_folder
from extremal.release.device import device_report, example_mechanisms, vectors, write_folder
from extremal.release.sampling import rules, subsets
from extremal.release.sampling.sampler import ONE_WORD_A_VALUE
from extremal.release.sampling.words import CipherWords
from support.browser import opened, served, shown

M = ex.randomized_response(4, 1, inputs=list("abcd"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("device")
    write_folder(made, M)
    return made


def asked(node: list[str], folder: Path, script: str, *arguments: str) -> Any:
    """What a module prints as JSON; `load` makes a mechanism of an object, `said` the message of what is refused."""
    start = """
    import { loadMechanism, Respondent, Refused, secureWords, lowerExponential } from "./randomiser.js";
    const load = (content) => loadMechanism(JSON.stringify(content));
    const said = async (action) => {
      try { await action(); return null; }
      catch (error) { return error instanceof Refused ? error.message : `BUG ${error}`; }
    };
    const memory = (kept = new Map()) => ({
      read: async (key) => kept.get(key),
      remember: async (key, text) => { if (!kept.has(key)) kept.set(key, text); return kept.get(key); },
      kept,
    });
    """
    path = folder / "case.js"
    path.write_text(start + script, encoding="utf-8")
    done = subprocess.run([*node, str(path), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def forged(change: Callable[[dict[str, Any]], Any], m: ex.Mechanism = M) -> dict[str, Any]:
    """The file of a mechanism after a change, with a hash that fits: what somebody with a plan would write."""
    content = json.loads(json.dumps(to_json(m)))
    change(content)
    content.pop("hash", None)
    return {**content, "hash": content_digest(content)}


def test_python_draws_exactly_by_the_weights() -> None:
    """Words just below and at each partial sum: every report owns exactly its weight of the 2^62 points."""
    for m in example_mechanisms():
        if m.structure.kind not in ONE_WORD_A_VALUE:
            continue
        row = m.structure.row(0 if m.row_of is None else int(m.row_of[0])).tolist()
        edge = 0
        for report, weight in enumerate(row):
            if weight:
                assert device_report(m, 0, iter([edge << 2])) == m.output_labels[report]
                assert device_report(m, 0, iter([((edge + weight - 1) << 2) | 3])) == m.output_labels[report]
            edge += weight
        assert edge == 1 << 62


def test_every_structure_that_a_device_meets_is_among_the_vectors() -> None:
    kinds = {m.structure.kind for m in example_mechanisms()}
    assert kinds == set(STRUCTURES) - {"joint_blocks"}  # records are answered through their questionnaire
    made = vectors(example_mechanisms()[:3], 100)
    assert sum(len(part["vectors"]) for part in made["mechanisms"]) == 100
    assert made == vectors(example_mechanisms()[:3], 100)
    script = Path(release.__file__).with_name("randomiser.js").read_text(encoding="utf-8")
    assert f'export const PROTOCOL = "{made["version"]}";' in script


def test_the_words_of_a_set_do_not_tell_whether_it_holds_the_truth() -> None:
    """None of these words is among the few that are rejected: a set of d takes d + 1 words, whatever is in it."""
    found = set()
    for part in vectors(example_mechanisms(), 3000)["mechanisms"]:
        stored = part["mechanism"]["weights"]
        if stored["kind"] == "subset_selection":
            found |= {(v["value"] in v["report"], len(v["words"]) - stored["size"]) for v in part["vectors"]}
    assert found == {(True, 1), (False, 1)}


@pytest.mark.parametrize("m", example_mechanisms(), ids=lambda m: m.structure.kind)
def test_numbers_are_drawn_below_bounds_that_the_report_alone_tells(
    m: ex.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How often a word is rejected depends on the bounds, and on nothing else."""
    bounds: list[int] = []
    found: dict[Any, set[tuple[int, ...]]] = {}
    original, source = subsets.uniform_below, CipherWords(bytes(32))

    def recorded(bound: int, count: int, source: Any) -> Any:
        bounds.extend([bound] * count)
        return original(bound, count, source)

    monkeypatch.setattr(rules, "uniform_below", recorded)
    monkeypatch.setattr(subsets, "uniform_below", recorded)
    for x in range(min(m.k, 6)):
        for _ in range(40):
            bounds.clear()
            report = device_report(m, x, words_of(source))
            shown: Any = None
            if m.structure.kind == "grouped_sets":
                flags = np.unpackbits(np.array(report, dtype=np.uint8), count=m.structure.r)
                shown = tuple(np.bincount(m.structure.of[flags > 0], minlength=3))  # type: ignore[attr-defined]
            found.setdefault(shown, set()).add(tuple(bounds))
    assert all(len(drawn) == 1 for drawn in found.values())


def words_of(source: CipherWords) -> Iterator[int]:
    word = np.empty(1, dtype=np.uint64)
    while True:
        source.fill(word)
        yield int(word[0])


def test_ten_thousand_vectors_agree_in_node(node: list[str], folder: Path) -> None:
    done = subprocess.run([*node, str(folder / "check.js")], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"agreed": 10_000, "total": 10_000, "counts": []}
    assert done.returncode == 0


def test_a_wrong_vector_shows(node: list[str], tmp_path: Path, folder: Path) -> None:
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    file = json.loads((tmp_path / "vectors.json").read_text())
    vector = file["mechanisms"][5]["vectors"][3]
    vector["report"] = (vector["report"] + 1) % 3
    (tmp_path / "vectors.json").write_text(json.dumps(file))
    done = subprocess.run([*node, str(tmp_path / "check.js")], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["agreed"] == 9_999
    assert done.returncode == 1


OWN = 5_000  # reports that the browser draws by itself on the first input of each mechanism


def p_value(seen: Any, expected: Any) -> float:
    """Of a chi-square test, cells with fewer than 25 expected taken together."""
    few = OWN * expected < 25
    cells = [(s, OWN * e) for s, e in zip(seen[~few], expected[~few], strict=True)]
    if OWN * expected[few].sum() >= 25:
        cells.append((seen[few].sum(), OWN * expected[few].sum()))
    found, wanted = np.array(cells).T
    return float(stats.chi2.sf(((found - wanted) ** 2 / wanted).sum(), max(1, len(cells) - 1)))


def test_vectors_agree_in_chromium_and_its_own_randomness_fits(chromium: str, tmp_path: Path, folder: Path) -> None:
    """Chi-square on every mechanism, all together at level 1e-9; against the row of another input it is refused."""
    dom = shown(chromium, folder, tmp_path, f"check.html?own={OWN}")
    found = json.loads(html.unescape(re.search(r'<pre id="result">(.*?)</pre>', dom, re.S)[1]))  # type: ignore[index]
    assert (found["agreed"], found["total"]) == (10_000, 10_000)
    refused = 0
    for m, counts in zip(example_mechanisms(), found["counts"], strict=True):
        assert sum(counts.values()) == OWN
        if m.structure.kind in ONE_WORD_A_VALUE:
            labels = [json.dumps(y, separators=(",", ":"), ensure_ascii=False) for y in m.outputs]
            assert set(counts) <= set(labels)
            seen = np.array([counts.get(label, 0) for label in labels])
            assert p_value(seen, m.matrix[0]) > 1e-9 / 60
            refused += p_value(seen, m.matrix[-1]) < 1e-9 / 60
        else:
            for share, held in shares_of_rules(m.structure, counts):
                assert p_value(np.array([held, OWN - held]), np.array([share, 1 - share])) > 1e-9 / 60
                refused += p_value(np.array([held, OWN - held]), np.array([0.1, 0.9])) < 1e-9 / 60
    assert refused >= 15  # a wrong row shows wherever ε is not small


def shares_of_rules(structure: Any, counts: dict[str, int]) -> Iterator[tuple[float, int]]:
    """With what probability a report favours input 0, and with what another one; and how many do."""
    reports = [(json.loads(report), n) for report, n in counts.items()]
    if structure.kind == "independent_bits":
        for bit, weight in ((128, structure.own), (64, structure.other)):
            yield weight / 2**62, sum(n for report, n in reports if report[0] & bit)
    elif structure.kind == "bloom_filter":
        start = structure.cohort_bits
        words = [(np.unpackbits(np.array(report, dtype=np.uint8)), n) for report, n in reports]
        places = [int("".join(map(str, word[:start])), 2) for word, _ in words]
        first = [int(structure.places(np.array([0]), np.array([c]))[0, 0]) for c in places]
        clear = [next(i for i in range(9) if i not in structure.places(np.array([0]), np.array([c]))) for c in places]
        for bits, weight in zip((first, clear), structure.shown, strict=True):
            held = sum(n for (word, n), bit in zip(words, bits, strict=True) if word[start + bit])
            yield weight / structure.denominator, held
    elif structure.kind == "grouped_sets":
        held = [np.unpackbits(np.array(report, dtype=np.uint8)) for report, _ in reports]
        g, h, n = structure.of[0], structure.of[1], structure.sizes
        t, low, high = np.array(structure.types), np.array(structure.low) / 2**62, np.array(structure.high) / 2**62
        pair = t[:, g] / n[g] * (t[:, h] - (g == h)) / (n[h] - (g == h))
        for x, share in ((0, high @ t[:, g] / n[g]), (1, high @ pair + low @ (t[:, h] / n[h] - pair))):
            yield share, sum(n for word, (_, n) in zip(held, reports, strict=True) if word[x])
    elif structure.kind == "subset_selection":
        inside = structure.inside / 2**62
        yield inside, sum(n for report, n in reports if 0 in report)
        yield (structure.size - inside) / (structure.r - 1), sum(n for report, n in reports if 1 in report)
    else:
        inside, overlap = structure.inside / 2**62, float(structure.overlap(0, 1))
        rest = (structure.size - overlap * structure.size) / (structure.m - structure.size)
        for x, share in ((0, inside), (1, inside * overlap + (1 - inside) * rest)):
            yield share, sum(n for report, n in reports if structure.favours(np.array([x]), np.array([report]))[0])


def test_the_page_says_what_it_checked(chromium: str, tmp_path: Path, folder: Path) -> None:
    assert "The mechanism keeps its promise: ε = 1." in shown(chromium, folder, tmp_path / "a", "index.html")
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    text = (tmp_path / "mechanism.json").read_text()
    (tmp_path / "mechanism.json").write_text(text.replace('"epsilon":"1"', '"epsilon":"0.9"'))
    assert "Nothing is reported: the file was changed" in shown(chromium, tmp_path, tmp_path / "b", "index.html")


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a smaller ε": (lambda c: c["privacy"].update(epsilon="0.999999"), "the claim is false"),
    "a row that sums to less": (lambda c: c["weights"].update(high="1"), "does not sum to 2^62"),
    "another notion": (lambda c: c["privacy"].update(notion="PML"), "decides ε-local differential privacy only"),
    "a δ": (lambda c: c["privacy"].update(delta="0.1"), "decides ε-local differential privacy only"),
    "no claim": (lambda c: c.update(privacy=None), "decides ε-local differential privacy only"),
    "an ε that is no number": (lambda c: c["privacy"].update(epsilon="1e9"), "a decimal or a fraction"),
    "a huge ε": (lambda c: c["privacy"].update(epsilon="101"), "at most 100"),
    "a newer version": (lambda c: c.update(version="2.0"), "another major version"),
    "another format": (lambda c: c.update(format="something"), "no mechanism"),
    "an unknown structure": (lambda c: c["weights"].update(kind="constructor"), "does not know"),
    "a negative weight": (lambda c: c["weights"].update(low="-1"), "a string of digits"),
    "a weight as a number": (lambda c: c["weights"].update(low=7), "a string of digits"),
    "fewer outputs": (lambda c: c.update(outputs=["a", "b", "c"]), "the outputs do not fit"),
    "repeated inputs": (lambda c: c.update(inputs=["a", "a", "c", "d"]), "inputs repeat"),
    "fewer inputs": (lambda c: c.update(inputs=["a", "b"]), "the inputs do not fit"),
    "rows that are not there": (lambda c: c.update(rows_of_inputs=[[9, 4]]), "the inputs do not fit"),
    "no weights": (lambda c: c.pop("weights"), "does not know"),
    "no rows": (lambda c: c.update(weights={"kind": "rows"}), "must have the fields kind, rows and no others"),
    "rows that are none": (lambda c: c.update(weights={"kind": "rows", "rows": 3}), "the weights are malformed"),
    "runs that are none": (lambda c: c.update(rows_of_inputs=[4]), "the inputs do not fit"),
    "labels beyond 2^53": (
        lambda c: c.update(inputs=["a", "b", "c", {"integer": "9007199254740993"}]),
        "too large for this script",
    ),
    "a range of no length": (lambda c: c.update(outputs={"range": 0}), "not a sensible count"),
    "a kind in a list": (lambda c: c["weights"].update(kind=["randomized_response"]), "does not know"),
    "a version in a list": (lambda c: c.update(version=["1.0"]), "another major version"),
    "labels that collide": (lambda c: c.update(inputs=["a", "\ufb01", "fi", "d"]), "inputs repeat"),
    "1 and true": (lambda c: c.update(inputs=["a", 1, True, "d"]), "inputs repeat"),
    "an empty label": (lambda c: c.update(inputs=["a", " ", "c", "d"]), "something that is no label"),
    "a label that is null": (lambda c: c.update(inputs=["a", None, "c", "d"]), "something that is no label"),
    "a label that is a list": (lambda c: c.update(inputs=["a", ["b"], "c", "d"]), "something that is no label"),
    "too deep": (lambda c: c.update(note=nested(40)), "nested too deeply"),
    "too many values": (lambda c: c.update(note=[0] * (1 << 22)), "too many values"),
    "a long table": (lambda c: c["weights"].update(rows=(1 << 20) + 1), "rows is not a sensible count"),
    "long runs": (
        lambda c: c.update(weights={"kind": "circulant", "runs": [[str(1 << 38), 1 << 20]] * 16}),
        "more than this script takes",
    ),
    "a very long run": (
        lambda c: c.update(weights={"kind": "circulant", "runs": [[str(1 << 36), 1 << 26]]}),
        "not a sensible count",
    ),
}

OTHER_GRAMMAR: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "ε beside a ratio": (lambda c: c["privacy"].update(ratio="9" * 30), "the claim must have the fields"),
    "a ratio beside ε, in another order": (
        lambda c: c.update(privacy={"ratio": "3", "delta": "0", "notion": "LDP", "epsilon": "1"}),
        "the claim must have the fields",
    ),
    "a claim that says more": (lambda c: c["privacy"].update(note="safe"), "the claim must have the fields"),
    "weights that say more": (lambda c: c["weights"].update(inside="1"), "the weights must have the fields"),
    "a file that says more": (lambda c: c.update(epsilon="0.01"), "a field that is not known: epsilon"),
    "an ε with a zero too many": (lambda c: c["privacy"].update(epsilon="1.0"), "in its shortest form"),
    "an ε with a zero before it": (lambda c: c["privacy"].update(epsilon="01"), "in its shortest form"),
    "an ε with blanks": (lambda c: c["privacy"].update(epsilon=" 1"), "in its shortest form"),
    "an ε with an underscore": (lambda c: c["privacy"].update(epsilon="1_0"), "in its shortest form"),
    "an ε that is not in lowest terms": (lambda c: c["privacy"].update(epsilon="6/4"), "in its shortest form"),
    "an ε that has a decimal": (lambda c: c["privacy"].update(epsilon="3/2"), "in its shortest form"),
    "an ε in a list": (lambda c: c["privacy"].update(epsilon=["1"]), "in its shortest form"),
    "an ε that is too small": (lambda c: c["privacy"].update(epsilon="0.0000000001"), "at least 1e-9"),
    "a ratio below 1": (
        lambda c: c.update(privacy={"notion": "LDP", "ratio": "0.5", "delta": "0"}),
        "between 1 and e^100",
    ),
    "a weight with a zero before it": (lambda c: c["weights"].update(low="01"), "a string of digits"),
    "a version with a zero": (lambda c: c.update(version="1.00"), "another major version"),
    "no denominator": (lambda c: c.pop("denominator"), "the denominator must be"),
    "labels that are one after normalisation": (lambda c: c.update(inputs=["a", "b", "é", "e\u0301"]), "inputs repeat"),
    "half a character": (lambda c: c.update(inputs=["a", "b", "c", "\ud800"]), "the file was changed"),
    "an empty set": (lambda c: c.update(outputs=["a", "b", "c", []]), "something that is no label"),
    "a range that says more": (lambda c: c.update(inputs={"range": 4, "of": 4}), "inputs must have the fields range"),
    "runs of one row": (lambda c: c.update(rows_of_inputs=[[0, 1], [0, 1], [1, 2]]), "counted together"),
    "a row of nobody": (lambda c: c.update(rows_of_inputs=[[0, 2], [1, 1], [3, 1]]), "that of some input"),
    "a run of nobody": (lambda c: c.update(rows_of_inputs=[[0, 0], [1, 4]]), "not a sensible count"),
}


def nested(depth: int) -> Any:
    return [] if depth == 0 else [nested(depth - 1)]


RULES = {m.structure.kind: m for m in example_mechanisms() if m.structure.kind not in ONE_WORD_A_VALUE}
FORGED_RULES: list[tuple[str, str, Any, str]] = [
    ("independent_bits", "own", str(2**62 - 1), "the claim is false"),
    ("independent_bits", "other", "1", "the claim is false"),
    ("independent_bits", "rows", 41, "the outputs do not fit"),
    ("bloom_filter", "own", str(2**62 - 1), "the claim is false"),
    ("bloom_filter", "zero", "0", "the claim is false"),
    ("bloom_filter", "hashes", 7, "bits, hashes and cohorts make no rule"),
    ("bloom_filter", "bits", 13, "the outputs do not fit"),
    ("subset_selection", "inside", str(2**62 - 1), "the claim is false"),
    ("subset_selection", "inside", "0", "the claim is false"),
    ("subset_selection", "size", 1000, "a set must leave something out"),
    ("grouped_sets", "groups", [[0, 1 << 16], [1, 1 << 16]], "more than this script takes"),
    ("grouped_sets", "groups", [[0, 1 << 24]], "not a sensible count"),
    ("independent_bits", "rows", 1 << 21, "not a sensible count"),
    ("hadamard", "inside", str(2**62 - 1), "the claim is false"),
    ("hadamard", "width", 33, "blocks and width make no rule"),
    ("hadamard", "blocks", 1, "blocks and width make no rule"),
    ("projective", "inside", str(2**62 - 1), "the claim is false"),
    ("projective", "order", 4, "order and coordinates make no rule"),
    ("projective", "coordinates", 30, "order and coordinates make no rule"),
    ("grouped_sets", "types", [[1, 1, 0]] * 4, "does not sum to 2^62"),
    ("grouped_sets", "types", [[1, 4, 0]] * 4, "the types do not fit the groups"),
    ("grouped_sets", "low", ["1"] * 4, "does not sum to 2^62"),
    ("grouped_sets", "low", ["1"], "the types do not fit the groups"),
    ("grouped_sets", "groups", [[0, 1], [1, 1]], "the types do not fit the groups"),
    ("grouped_sets", "groups", [[9, 1], [1, 1]], "the rows make no groups"),
    ("grouped_sets", "high", [str(2**62 * 6)] * 4, "larger than it may be"),
    ("hashed", "inside", str(2**62 - 1), "the claim is false"),
    ("hashed", "inside", "0", "the claim is false"),
    ("hashed", "buckets", 2**20 + 1, "the buckets make no rule"),
    ("hashed", "buckets", 2**20, "too many for this script"),
]


@pytest.mark.parametrize("name", OTHER_GRAMMAR)
def test_python_refuses_the_same_grammar(name: str, tmp_path: Path) -> None:
    """One grammar: what the script finds malformed, Python does."""
    path = tmp_path / "m.json"
    path.write_text(json.dumps(forged(OTHER_GRAMMAR[name][0])))
    with pytest.raises(ex.errors.MalformedFile):
        ex.load(path)


def test_a_page_refuses_a_claim_that_says_two_things(chromium: str, tmp_path: Path, folder: Path) -> None:
    """Weights that report the truth, a hash that fits, ε = 0.01 to be shown and a huge ratio to be decided."""
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    truth = {"kind": "randomized_response", "rows": 4, "low": "1", "high": str(2**62 - 3)}
    two = forged(
        lambda c: c.update(weights=truth, privacy={"notion": "LDP", "epsilon": "0.01", "ratio": "9" * 30, "delta": "0"})
    )
    (tmp_path / "mechanism.json").write_text(json.dumps(two))
    page = shown(chromium, tmp_path, tmp_path / "profile", "index.html")
    assert "keeps its promise" not in page
    assert "Nothing is reported: the claim must have the fields" in page


def test_forged_files_are_refused_with_the_reason(node: list[str], folder: Path) -> None:
    forgeries = {**FORGERIES, **OTHER_GRAMMAR}
    files = {name: forged(change) for name, (change, _) in forgeries.items()}
    expected = {name: reason for name, (_, reason) in forgeries.items()}
    for kind, field, value, reason in FORGED_RULES:
        name = f"{kind}: {field} {value}"
        files[name] = forged(lambda c, f=field, v=value: c["weights"].update({f: v}), RULES[kind])
        expected[name] = reason
    (folder / "cases.json").write_text(json.dumps(files))
    found = asked(
        node,
        folder,
        """
        import { readFile } from "node:fs/promises";
        const files = JSON.parse(await readFile(new URL("./cases.json", import.meta.url)));
        const found = {};
        for (const [name, content] of Object.entries(files)) found[name] = await said(() => load(content));
        console.log(JSON.stringify(found));
        """,
    )
    for name, reason in expected.items():
        assert found[name] is not None, f"{name} was accepted"
        assert reason in found[name], name


def test_every_digit_of_every_weight_is_under_the_hash(node: list[str], folder: Path) -> None:
    """Files of all structures with one digit changed, the hash as it was."""
    texts = [json.dumps(to_json(m), ensure_ascii=False) for m in example_mechanisms()]
    changed = [
        re.sub(r'("(?:rows|low|inside|runs|weights)": ?\\[*")([0-9])', lambda f: f[1] + str((int(f[2]) + 1) % 10), t)
        for t in texts
    ]
    changed = [
        c if c != t else t.replace('"delta": "0"', '"delta": "0.0"') for c, t in zip(changed, texts, strict=True)
    ]
    (folder / "cases.json").write_text(json.dumps([*changed, "", "{", "[]", "null"]))
    found = asked(
        node,
        folder,
        """
        import { readFile } from "node:fs/promises";
        const texts = JSON.parse(await readFile(new URL("./cases.json", import.meta.url)));
        const found = [];
        for (const text of texts) found.push(await said(() => loadMechanism(text)));
        console.log(JSON.stringify(found));
        """,
    )
    assert found[: len(changed)] == ["the file was changed after it was written"] * len(changed)
    assert found[len(changed) :] == ["the file is no JSON"] * 2 + ["the file is no mechanism"] * 2


def test_the_bound_on_the_exponential_is_from_below_and_tight(node: list[str], folder: Path) -> None:
    found = asked(
        node,
        folder,
        """
        const list = [[1n, 1n], [1n, 1000000n], [5n, 2n], [42n, 1n], [100n, 1n]];
        console.log(JSON.stringify(list.map((e) => String(lowerExponential(e)))));
        """,
    )
    from fractions import Fraction

    from extremal.exact.exponential import exp_bounds

    for text, epsilon in zip(found, ("1", "1/1000000", "5/2", "42", "100"), strict=True):
        lower, upper = exp_bounds(Fraction(epsilon), 160)
        assert int(text) <= upper
        assert int(text) >= lower - 2 ** max(0, lower.bit_length() - 150)


def test_what_no_file_may_hold_is_refused_before_any_work(node: list[str], folder: Path) -> None:
    found = asked(
        node,
        folder,
        """
        const found = [];
        const deep = "[".repeat(50000) + "]".repeat(50000);
        const start = '{"format": "extremal-mechanism", "version": "1.0", "note": ';
        found.push(await said(() => loadMechanism(`${start}${deep}}`)));
        found.push(await said(() => loadMechanism(" ".repeat(2 ** 26 + 1))));
        for (const odd of [undefined, null, 7, [], () => 1, Symbol("x"), new Map()]) {
          found.push(await said(() => loadMechanism(odd)));
        }
        console.log(JSON.stringify(found));
        """,
    )
    assert found == ["the file is nested too deeply", "the file is too large", *["the file is no mechanism"] * 7]


def test_without_a_generator_or_a_memory_nothing_is_reported(node: list[str], folder: Path) -> None:
    content = json.dumps(to_json(M))
    found = asked(
        node,
        folder,
        f"""
        import {{ deviceStorage }} from "./randomiser.js";
        const mechanism = await load({content});
        const asked = (storage, question) => new Respondent(storage).report(question, "a", mechanism);
        const report = (storage, question = "q") => said(() => asked(storage, question));
        const found = [await said(() => new Respondent(undefined)), await said(() => new Respondent({{}}))];
        found.push(await said(() => deviceStorage()));
        found.push(await report({{ read: async () => undefined, remember: async (key, text) => text }}));
        const full = async () => {{ throw new DOMException("no room", "QuotaExceededError"); }};
        found.push(await report({{ read: async () => undefined, remember: full }}));
        found.push(await report({{ read: full, remember: full }}));
        const own = {{ mechanism: mechanism.hash }};
        const planted = [own, {{ ...own, report: "<script>" }}].map((content) => JSON.stringify(content));
        const damage = ["", "{{", "null", "7", "[]", "{{}}", '{{"mechanism": 7}}', ...planted, 7, true, {{}}];
        for (const text of damage) found.push(await report(memory(new Map([["extremal report: q", text]]))));
        for (const question of [undefined, {{}}, "", " ", 7]) found.push(await report(memory(), question ?? null));
        Object.defineProperty(globalThis, "crypto", {{ value: undefined }});
        found.push(await said(() => secureWords()), await said(() => new Respondent(memory())));
        found.push(await said(() => load({content})));
        console.log(JSON.stringify(found));
        """,
    )
    assert found[:3] == ["there is no place to remember the report"] * 3
    assert found[3] == "the report could not be remembered, so it is not given out"
    failed = "the place to remember the report fails, so nothing is given out (QuotaExceededError)"
    assert found[4:6] == [failed] * 2
    assert found[6:18] == ["what is remembered is damaged, so nothing is given out"] * 12
    assert found[18:23] == ["a question needs a name"] * 5
    assert found[23:25] == ["there is no cryptographic generator here"] * 2
    assert "only in a secure context" in found[25]


def test_asking_again_gives_the_stored_report_whatever_the_value(node: list[str], folder: Path) -> None:
    other = json.dumps(to_json(ex.randomized_response(4, 2, inputs=list("abcd"))))
    found = asked(
        node,
        folder,
        f"""
        const [mechanism, other] = [await load({json.dumps(to_json(M))}), await load({other})];
        const storage = memory();
        const before = await new Respondent(storage).stored("q", mechanism);
        const report = (_, i) => new Respondent(storage).report("q", "abcd"[i % 4], mechanism);
        const asked = await Promise.all(Array.from({{ length: 200 }}, report));
        for (let i = 0; i < 200; i += 1) asked.push(await report(null, i));
        asked.push(await new Respondent(storage).stored("q", mechanism));
        const second = [];
        for (let i = 0; i < 100; i += 1) second.push(await new Respondent(storage).report(`q${{i}}`, "a", mechanism));
        console.log(JSON.stringify({{
          asked, second, none: before === undefined,
          other: await said(() => new Respondent(storage).report("q", "a", other)),
          unknown: await said(() => new Respondent(storage).report("new", "e", mechanism)),
        }}));
        """,
    )
    assert found["none"]
    assert len(set(found["asked"])) == 1
    assert len(set(found["second"])) > 1
    assert found["other"] == "the question was asked with another mechanism"
    assert found["unknown"] == "the value is no label of the mechanism"


def test_every_report_of_the_vectors_could_be_stored_and_a_damaged_one_not(node: list[str], folder: Path) -> None:
    found = asked(
        node,
        folder,
        """
        import { readFile } from "node:fs/promises";
        const { mechanisms } = JSON.parse(await readFile(new URL("./vectors.json", import.meta.url)));
        const found = [];
        for (const { mechanism: content, vectors } of mechanisms) {
          const mechanism = await load(content);
          const bad = [null, {}, -1, 0.5, "x", [], [[0]], [256], "0", Number.MAX_SAFE_INTEGER, undefined];
          const odd = vectors.map(({ report }) => (Array.isArray(report) ? [...report, 0] : [report]));
          found.push([
            vectors.every(({ report }) => mechanism.couldReport(report)),
            [...bad, ...odd].some((report) => mechanism.couldReport(report)),
          ]);
        }
        console.log(JSON.stringify(found));
        """,
    )
    assert found == [[True, False]] * len(found)


TABS = 12
TOGETHER = """
import { deviceStorage, loadMechanism, Respondent } from "./randomiser.js";
const place = document.getElementById("result");
try {
  const mechanism = await loadMechanism(await (await fetch("mechanism.json")).text());
  const asked = await Promise.all([..."abcd"].map((a) => new Respondent(deviceStorage()).report("q", a, mechanism)));
  place.textContent = `reports ${asked.join(" ")}`;
} catch (error) { place.textContent = `failed ${error}`; }
"""


def test_tabs_that_ask_at_once_and_a_page_that_is_loaded_again_send_one_report(
    chromium: str, tmp_path: Path, folder: Path
) -> None:
    """A dozen frames, four questions in each at once; then the browser is started anew on the same profile."""
    (folder / "frame.js").write_text(TOGETHER)
    (folder / "frame.html").write_text('<pre id="result"></pre><script type="module" src="frame.js"></script>')
    frames = "".join(f'<iframe src="frame.html?{i}"></iframe>' for i in range(TABS))
    (folder / "frames.js").write_text(
        """
        const said = () => [...document.querySelectorAll("iframe")]
          .map((frame) => frame.contentDocument?.getElementById("result")?.textContent ?? "");
        while (!said().every((text) => text)) await fetch("frame.js");  // virtual time stands still meanwhile
        document.getElementById("all").textContent = said().join("|");
        """
    )
    (folder / "frames.html").write_text(f'{frames}<pre id="all"></pre><script type="module" src="frames.js"></script>')
    dom = shown(chromium, folder, tmp_path, "frames.html", times=2)
    found = "|".join(re.findall(r'<pre id="all">(.*?)</pre>', dom, re.S)).split("|")
    assert len(found) == 2 * TABS
    assert len(set(found)) == 1
    assert re.fullmatch(r"reports ([abcd])( \1){3}", found[0])


TAB = """
import { deviceStorage, loadMechanism, Respondent } from "./randomiser.js";
globalThis.given = [];
globalThis.restored = 0;
const value = new URLSearchParams(location.search).get("value");
const ask = async () => {
  const mechanism = await loadMechanism(await (await fetch("mechanism.json")).text());
  globalThis.given.push(await new Respondent(deviceStorage()).report("q", value, mechanism));
};
addEventListener("pageshow", (event) => { if (event.persisted) { globalThis.restored += 1; ask(); } });
await ask();
"""


def test_tabs_in_processes_of_their_own_and_pages_that_come_back_send_one_report(
    chromium: str, tmp_path: Path, folder: Path
) -> None:
    """Four tabs with four values at once; reloaded at once while they ask; left and come back to, forward and back."""
    (folder / "tab.js").write_text(TAB)
    (folder / "tab.html").write_text('<script type="module" src="tab.js"></script>')
    (folder / "elsewhere.html").write_text("elsewhere")
    given, restored = [], 0
    with served(folder) as address, opened(chromium, tmp_path / "profile") as browser:
        tabs = [browser.tab("about:blank") for _ in range(4)]
        pages = [f"{address}/tab.html?value={value}" for value in "abcd"]
        begun = [browser.tell("Page.navigate", tab, url=page) for tab, page in zip(tabs, pages, strict=True)]
        for tab, number in zip(tabs, begun, strict=True):
            browser.answer(number)
            browser.tell("Page.reload", tab)  # in the middle
        given += [browser.waits_for(tab, "globalThis.given?.[0]") for tab in tabs]
        assert browser.renderers() >= len(tabs)
        for tab in tabs:
            browser.ask("Page.reload", tab)
            given.append(browser.waits_for(tab, "globalThis.given?.[0]"))
            browser.ask("Page.navigate", tab, url=f"{address}/elsewhere.html")
            browser.waits_for(tab, "location.pathname === '/elsewhere.html' && document.readyState === 'complete'")
            browser.value(tab, "history.back()")
            browser.waits_for(
                tab, "location.pathname === '/tab.html' && globalThis.given?.length > globalThis.restored"
            )
            restored += browser.value(tab, "globalThis.restored")
            given += browser.value(tab, "globalThis.given")
    assert restored == len(tabs)  # from the browser's memory, not loaded anew
    assert len(given) == 16
    assert len(set(given)) == 1


def questionnaire(*questions: tuple[str, Any]) -> dict[str, Any]:
    listed = [{"name": name, "mechanism": to_json(m) if isinstance(m, ex.Mechanism) else m} for name, m in questions]
    content = {"format": "extremal-questionnaire", "version": "1.0", "questions": listed}
    return {**content, "hash": content_digest(content)}


def test_the_questionnaire_files_of_these_tests_are_those_of_the_package(tmp_path: Path) -> None:
    asked = {"smoking": M, "bits": ex.unary_encoding(9, 1)}
    saved = json.loads(ex.Questionnaire(asked).save(tmp_path / "q.json").read_text(encoding="utf-8"))
    assert saved == questionnaire(*asked.items())


def test_a_questionnaire_is_checked_and_answered_as_a_whole(node: list[str], folder: Path) -> None:
    good = questionnaire(("smoking", M), ("bits", ex.unary_encoding(9, 1)), ("__proto__", M))
    changed = json.loads(json.dumps(good))
    changed["questions"][0]["name"] = "drinking"
    false = questionnaire(("smoking", forged(lambda c: c["privacy"].update(epsilon="0.9"))))
    wrong = {
        "changed": changed,
        "false": false,
        "twice": questionnaire(("a", M), ("a", M)),
        "nameless": questionnaire((" ", M)),
        "empty": questionnaire(),
        "mechanism": to_json(M),
    }
    (folder / "cases.json").write_text(json.dumps({"good": good, "wrong": wrong}))
    found = asked(
        node,
        folder,
        """
        import { readFile } from "node:fs/promises";
        import { loadQuestionnaire } from "./randomiser.js";
        const { good, wrong } = JSON.parse(await readFile(new URL("./cases.json", import.meta.url)));
        const asked = await loadQuestionnaire(JSON.stringify(good));
        const storage = memory();
        const person = new Respondent(storage);
        const answers = JSON.parse('{"smoking": "a", "bits": 3, "__proto__": "b"}');
        const refused = {};
        for (const [name, file] of Object.entries(wrong)) {
          refused[name] = await said(() => loadQuestionnaire(JSON.stringify(file)));
        }
        const incomplete = await said(() => person.reports({ smoking: "a" }, asked));
        const unknown = await said(() => person.reports({ ...answers, bits: 9 }, asked));
        const before = storage.kept.size;
        const first = Object.entries(await person.reports(answers, asked));
        answers.smoking = "d";
        const second = Object.entries(await person.reports(answers, asked));
        console.log(JSON.stringify({ refused, incomplete, unknown, before, first, second, hash: asked.hash }));
        """,
    )
    assert found["hash"] == good["hash"]
    assert found["refused"]["changed"] == "the file was changed after it was written"
    assert "the claim is false" in found["refused"]["false"]
    for name in ("twice", "nameless", "empty"):
        assert found["refused"][name] == "questions need names of their own"
    assert found["refused"]["mechanism"] == "the file is no questionnaire"
    assert found["incomplete"] == found["unknown"] == 'the answer to "bits" is missing or no label'
    assert found["before"] == 0  # nothing was drawn for those who answered in part
    assert [name for name, _ in found["first"]] == ["smoking", "bits", "__proto__"]
    assert found["first"] == found["second"]


@pytest.mark.parametrize(
    ("m", "said"),
    [
        (ex.randomized_response((1 << 20) + 1, 9), "rows=1048577"),
        (ex.Mechanism.from_structure(RULES["independent_bits"].structure).claiming(None), "decides LDP"),
        (ex.randomized_response(2, 1, inputs=["a", 1 << 54]), "a label of 55 bits"),
        (ex.local_hashing(10, 9), "reports="),
    ],
    ids=["table", "claim", "label", "hashes"],
)
def test_what_the_script_would_refuse_is_not_written(m: ex.Mechanism, said: str, tmp_path: Path) -> None:
    with pytest.raises(ex.ExtremalError, match=said):
        write_folder(tmp_path / "new", m)
    assert not (tmp_path / "new").exists()


def test_the_command_writes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    M.save(tmp_path / "m.json")
    assert main(["device", "--mechanism", str(tmp_path / "m.json"), "--output", str(tmp_path / "new" / "folder")]) == 0
    names = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert names >= {
        "randomiser.js",
        "index.html",
        "page.js",
        "check.js",
        "check.html",
        "mechanism.json",
        "vectors.json",
    }
    assert "LDP(epsilon=1.0)" in capsys.readouterr().out
    assert main(["device", "--mechanism", str(tmp_path / "m.json"), "--output", str(tmp_path / "new" / "folder")]) == 2
    assert "the folder must be empty" in capsys.readouterr().err
    ex.randomized_response(4, 1).claiming(None).save(tmp_path / "none.json")
    assert main(["device", "--mechanism", str(tmp_path / "none.json"), "--output", str(tmp_path / "x")]) == 2
    assert "a device decides LDP without δ" in capsys.readouterr().err


JOINT = {"a": ["no", "yes"], "b": 5, "wide": 12, "partners": ex.Mean(range(4)), "c": ["x", "ß ☂"]}


@pytest.mark.parametrize("strategy", ["joint", "sample"])
def test_a_joint_questionnaire_draws_the_same_reports_from_the_same_words(
    strategy: str, node: list[str], folder: Path
) -> None:
    made = ex.Questionnaire.within(3, JOINT, strategy)
    assert made.joint is not None
    source, cases = CipherWords(bytes(32)), []
    for i in range(300):
        used: list[int] = []
        codes = [i % k for k in made.joint.structure.sizes]

        class Words:
            def fill(self, words: Any) -> None:
                source.fill(words)
                used.extend(words.tolist())  # noqa: B023

        drawn = made.joint.draw(np.array([codes]), Words())
        record = [labels[code] for labels, code in zip(made.joint.labels, codes, strict=True)]
        cases.append([record, [str(w) for w in used], [drawn[name][0] for name in made.joint.names]])
    text = made.save(folder / f"{strategy}.json").read_text(encoding="utf-8")
    forged = json.loads(text)
    forged["joint"]["structure"]["assignments"][0]["blocks"][0]["coin"] = str((1 << 53) - 1)
    forged["hash"] = content_digest({key: value for key, value in forged.items() if key != "hash"})
    found = asked(
        node,
        folder,
        f"""
        const {{ loadQuestionnaire }} = await import("./randomiser.js");
        const {{ joint }} = await loadQuestionnaire({json.dumps(text)});
        const cases = {json.dumps(cases)};
        let agreed = 0;
        for (const [record, words, report] of cases) {{
          let i = 0;
          const drawn = joint.draw(record, () => BigInt(words[i++]));
          agreed += Number(JSON.stringify(drawn) === JSON.stringify(report) && i === words.length);
        }}
        const forged = await said(() => loadQuestionnaire({json.dumps(json.dumps(forged))}));
        const knows = [joint.knows(["no"]), joint.knows(cases[0][0])];
        console.log(JSON.stringify({{ agreed, hash: joint.hash, knows, forged }}));
        """,
    )
    assert found["agreed"] == 300
    assert found["hash"] == made.joint.hash
    assert found["knows"] == [False, True]
    assert "the claim is false" in found["forged"]


def test_questionnaires_draw_the_same_records_from_the_same_words(
    node: list[str], chromium: str, tmp_path: Path
) -> None:
    """All strategies, goals, sets, several kinds, skipped questions and silence: in Python, Node and Chromium."""
    folder = tmp_path / "form"
    asked_of = example_questionnaires()
    write_questionnaire_folder(folder, asked_of[0])
    made = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
    total = sum(len(part["vectors"]) for part in (*made["mechanisms"], *made["questionnaires"]))
    assert [part["questionnaire"]["hash"] for part in made["questionnaires"]] == [one.hash for one in asked_of]
    done = subprocess.run([*node, str(folder / "check.js")], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"agreed": total, "total": total, "counts": []}
    dom = shown(chromium, folder, tmp_path / "profile", "check.html")
    assert json.loads(html.unescape(re.findall(r'<pre id="result">(.*?)</pre>', dom, re.S)[0]))["agreed"] == total
    made["questionnaires"][0]["vectors"][0]["reports"]["age"] = "tilted"
    (folder / "vectors.json").write_text(json.dumps(made), encoding="utf-8")
    assert subprocess.run([*node, str(folder / "check.js")], capture_output=True, check=False).returncode == 1


def test_a_questionnaire_on_a_device_is_asked_whole(node: list[str], tmp_path: Path) -> None:
    questions = {
        "own": ex.randomized_response(2, 1, inputs=["no", "yes"]),
        "smokes": ["no", "yes"],
        "cigarettes": OnlyIf("smokes", "yes", ["few", "many"]),
        "age": 3,
    }
    texts = {"smokes": ("Do you smoke?", ["No", "Yes"])}
    made = ex.Questionnaire.within(3, questions, optional=["age"], texts=texts, title="Health")
    write_questionnaire_folder(tmp_path / "form", made)
    content = json.loads((tmp_path / "form" / "questionnaire.json").read_text(encoding="utf-8"))

    def changed(change: Callable[[Any], Any]) -> Any:
        copy = json.loads(json.dumps(content))
        change(copy)
        copy["hash"] = content_digest({key: value for key, value in copy.items() if key != "hash"})
        return copy

    wrong = {
        "budget": changed(lambda c: c["budget"].update(epsilon="2.9")),
        "claim": changed(lambda c: c["joint"]["privacy"].update(epsilon="1.9")),
        "records": changed(lambda c: c["joint"]["records"][0][1].pop()),
        "repeated": changed(lambda c: c["joint"]["records"][0][1].__setitem__(0, [1, 0])),
        "outside": changed(lambda c: c["joint"]["records"][0][1].__setitem__(0, [0, 7])),
        "texts": changed(lambda c: c["questions"][1].update(answers=["No"])),
        "field": changed(lambda c: c["questions"][1].update(more=1)),
    }
    found = asked(
        node,
        tmp_path / "form",
        f"""
        import {{ readFile }} from "node:fs/promises";
        import {{ loadQuestionnaire }} from "./randomiser.js";
        const q = await loadQuestionnaire(await readFile(new URL("./questionnaire.json", import.meta.url), "utf8"));
        const refused = {{}};
        for (const [name, file] of Object.entries({json.dumps(wrong)})) {{
          refused[name] = await said(() => loadQuestionnaire(JSON.stringify(file)));
        }}
        const person = new Respondent(memory());
        const before = await person.storedReports(q);
        const answers = {{ own: "no", smokes: "no" }};
        const reports = await person.reports(answers, q);
        const again = await person.reports({{ own: "yes", smokes: "yes", cigarettes: "many", age: 2 }}, q);
        console.log(JSON.stringify({{
          title: q.title, epsilon: q.epsilon, questions: q.questions, refused, record: q.record(answers),
          applies: [{{}}, answers, {{ smokes: "yes" }}].map((given) => q.applies("cigarettes", given)),
          before: before === undefined, reports, again, stored: await person.storedReports(q),
          missing: await said(() => q.record({{ own: "no", smokes: "yes", age: 1 }})),
          skipped: await said(() => q.record({{ ...answers, cigarettes: "few" }})),
          secret: await said(() => q.record({{ ...answers, own: "secret" }})),
        }}));
        """,
    )
    assert (found["title"], found["epsilon"]) == ("Health", "3")
    assert found["questions"][1]["text"] == "Do you smoke?"
    assert found["questions"][1]["answers"] == [{"value": "no", "text": "No"}, {"value": "yes", "text": "Yes"}]
    assert [q["optional"] for q in found["questions"]] == [False, False, False, True]
    assert [len(q["answers"]) for q in found["questions"]] == [2, 2, 2, 3]
    assert found["record"] == {"own": "no", "smokes": "no", "cigarettes": "(skipped)", "age": "(no answer)"}
    assert found["applies"] == [False, False, True]
    assert found["before"]
    assert found["reports"] == found["again"] == found["stored"]
    assert made.check_record(found["reports"]).keys() == made.questions.keys()
    assert found["missing"] == 'the answer to "cigarettes" is missing or no label'
    assert "where the earlier answers lead" in found["skipped"]
    assert "secret" not in found["secret"]
    assert found["refused"]["budget"] == "the questions spend more than the budget"
    assert "the claim is false" in found["refused"]["claim"]
    assert found["refused"]["records"] == "the answers do not fit the questions"
    assert found["refused"]["repeated"] == "the records of a branch repeat"
    assert found["refused"]["outside"] == "the records of a branch do not fit its columns"
    assert "the wording" in found["refused"]["texts"]
    assert "not known" in found["refused"]["field"]


FORM_TEST = """
// A browser's clock that is turned forward waits for a server, not for a database.
const until = async (holds) => {
  for (let i = 0; i < 400 && !holds(); i += 1) await (await fetch("package.json")).text();
};
const frame = document.querySelector("iframe");
const place = (id) => frame.contentDocument?.getElementById(id);
await until(() => place("send") && !place("send").disabled);
const fields = [...frame.contentDocument.querySelectorAll("fieldset")];
const said = { title: place("title").textContent, legends: fields.map((f) => f.querySelector("legend").textContent) };
said.hidden = fields.map((f) => f.hidden);
fields[0].querySelectorAll("input")[1].click();
said.shown = fields.map((f) => f.hidden);
place("send").click();
said.marked = fields.findIndex((f) => f.classList.contains("wrong"));
for (const field of fields.slice(1)) field.querySelector("input")?.click();
place("send").click();
await until(() => !place("report").hidden);
said.report = JSON.parse(place("report").textContent);
document.getElementById("said").textContent = JSON.stringify(said);
"""


def test_the_form_asks_hides_marks_and_reports(chromium: str, tmp_path: Path) -> None:
    questions = {
        "smokes": ["no", "yes"],
        "cigarettes": OnlyIf("smokes", "yes", ["few", "many"]),
        "symptoms": TickAll(["fever", "cough"]),
    }
    texts = {"smokes": ("Do you smoke?", ["No", "Yes"]), "cigarettes": "How many?", "symptoms": "Which?"}
    made = ex.Questionnaire.within(9, questions, texts=texts, title="Health <b>")
    write_questionnaire_folder(tmp_path / "form", made)
    page = '<iframe src="index.html"></iframe><pre id="said"></pre><script type="module" src="try.js"></script>'
    (tmp_path / "form" / "try.html").write_text(page, encoding="utf-8")
    (tmp_path / "form" / "try.js").write_text(FORM_TEST, encoding="utf-8")
    dom = shown(chromium, tmp_path / "form", tmp_path / "profile", "try.html")
    found = json.loads(html.unescape(re.findall(r'<pre id="said">(.*?)</pre>', dom, re.S)[0]))
    assert found["title"] == "Health <b>"
    assert found["legends"] == ["Do you smoke?", "How many?", "Which?"]
    assert found["hidden"] == [False, True, False]
    assert found["shown"] == [False, False, False]
    assert found["marked"] == 1
    assert found["report"]["questionnaire"] == made.hash
    made.check_record(found["report"]["reports"])
