"""Mechanism files decided by the checker that stands alone: the same verdicts as the kernel, alone in a folder too."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.checker import joined
from extremal.checker.mechanisms import read_mechanism
from extremal.checker.notions import SMALLEST_EPSILON
from extremal.checker.numbers import Malformed, ln, settled
from extremal.checker.values import least_decimal
from extremal.checker.verdicts import checked
from extremal.cli import main
from extremal.exact.exponential import level_of_ratio
from extremal.mechanism.files import to_json
from extremal.privacy import LDP, NOTIONS
from support.checkers import (
    Content,
    checker_says_of,
    claiming,
    disagreement_on,
    kernel_says_of,
    with_hash,
    written,
)
from support.files.strangers import rehashed
from support.levels import DRAWN, SOURCES, WHOLE, claim_at, drawn_mechanism, drawn_notion, false_delta
from support.proofs.hostile import joint

DRAWS = 6  # mechanisms of each structure and notion
P = ["0.5", "0.3", "0.2"]


def words_of(content: Content, rows: int) -> Content:
    """The same file with reports named by words of bits, where they have no other names."""
    grouped = content["weights"]["kind"] == "grouped_sets"
    return with_hash(content | {"outputs": {"bits": rows}}) if grouped else content


@pytest.mark.parametrize("name", NOTIONS)
@pytest.mark.parametrize("kind", DRAWN)
def test_a_claim_at_its_level_is_proved_and_just_below_refuted_by_both(kind: str, name: str) -> None:
    seen = set()
    for seed in range(DRAWS):
        draw = np.random.default_rng([7, seed, *kind.encode(), *name.encode()])
        mechanism = drawn_mechanism(draw, kind)
        shape = list(SOURCES)[int(draw.integers(len(SOURCES)))]
        notion = drawn_notion(draw, name, shape, mechanism.k)
        try:
            level = notion.level(mechanism)
        except ex.errors.TooLarge:  # a sum over all reports
            continue
        for epsilon in (level, math.nextafter(level, 0)):
            if 1e-9 < epsilon <= 100:
                text = written(words_of(claiming(mechanism, claim_at(notion, epsilon)), mechanism.row_classes))
                assert not disagreement_on(text), (seed, shape)
                seen.add(checker_says_of(text)[0])
    assert seen <= {"proved", "refuted"} or kind in ("hashed", "joint_blocks")


def test_levels_are_rounded_up_to_a_decimal_by_both() -> None:
    """Of these ratios e^ε lies between a double and the decimal that it prints: the next double is the level."""
    generator = random.Random(3)
    for _ in range(1000):
        low = generator.randrange(1, 1 << 62)
        high = generator.choice(
            [low, low + 1, low + generator.randrange(1, 1 << 20), generator.randrange(low, 1 << 63)]
        )
        ratio = Fraction(high, low)
        found = 0 if high == low else settled(lambda ratio=ratio: max(SMALLEST_EPSILON, least_decimal(ln(ratio))))
        assert found == Fraction(repr(level_of_ratio(high, low)))


def test_a_false_delta_is_refuted_and_the_true_one_proved() -> None:
    tried = 0
    for seed in range(40):
        found = false_delta(np.random.default_rng(seed), 20, 42)
        if found is not None:
            epsilon, delta, rows = found
            mechanism = ex.Mechanism.from_weights(rows, WHOLE)
            for claimed, said in ((delta, "refuted"), (delta + Fraction(1, 1 << 89), "proved")):
                assert checker_says_of(written(claiming(mechanism, LDP(epsilon, claimed))))[0] == said
            tried += 1
    assert tried >= 10


@pytest.mark.parametrize("size", [1, 3])
def test_delta_of_all_sets_is_that_of_the_list(size: int) -> None:
    mechanism = ex.subset_selection(6, 1, size=size)
    delta = LDP("0.5").delta_at(ex.Mechanism.from_weights(np.array(mechanism.weights), mechanism.denominator))
    for claimed, said in ((delta, "proved"), (math.nextafter(delta, 0), "refuted")):
        assert checker_says_of(written(claiming(mechanism, LDP("0.5", claimed))))[0] == said


LARGE: dict[str, Any] = {
    "response": lambda: ex.randomized_response(1_000_000, 2),
    "subsets": lambda: ex.subset_selection(1000, 1),
    "bits": lambda: ex.unary_encoding(10_000, 1),
    "hashing": lambda: ex.local_hashing(100_000, 1),
    "hadamard": lambda: ex.hadamard_response(10_000, 1),
    "projective": lambda: ex.projective_geometry(1000, 1),
    "bloom": lambda: ex.bloom_filter(50, 4, once=1),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_mechanism_is_decided_from_what_its_file_says(name: str) -> None:
    mechanism = LARGE[name]()
    epsilon = mechanism.privacy.epsilon
    for claim, said in ((mechanism.privacy, "proved"), (LDP(repr(epsilon * (1 - 1e-9))), "refuted")):
        text = written(claiming(mechanism, claim))
        assert checker_says_of(text)[0] == said
        assert kernel_says_of(text)[0] == said


def test_what_is_too_large_is_not_decided_and_never_passes() -> None:
    mechanism = ex.local_hashing(50, 1)
    skewed = ["0.02"] * 50
    text = written(claiming(mechanism, ex.PML("0.9", skewed)))
    assert checked(text).privacy == "not decided here"
    assert checked(text).code == 3


def test_no_claim_is_no_pass() -> None:
    text = written(claiming(ex.randomized_response(3, 1), None))
    assert (checked(text).privacy, checked(text).code) == ("nothing claimed", 3)
    assert not disagreement_on(text)


def test_a_claim_about_other_inputs_is_not_proven() -> None:
    text = written(claiming(ex.randomized_response(4, 1), ex.PML(1, P)))
    assert (checked(text).privacy, checked(text).code) == ("not proven", 3)
    assert not disagreement_on(text)


# -- the grammar

RESPONSE = ex.randomized_response(["no", "yes", "maybe"], 1)


def _changed(**fields: Any) -> Content:
    return with_hash(to_json(RESPONSE) | fields)


MALFORMED: dict[str, Any] = {
    "a label twice": {"inputs": ["no", "no", "maybe"]},
    "labels that are normalised to one": {"inputs": ["ﬁ", "fi", "x"]},
    "true beside 1": {"inputs": [1, True, "x"]},
    "a blank label": {"inputs": [" ", "yes", "maybe"]},
    "too few labels": {"inputs": ["no", "yes"]},
    "a range of none": {"inputs": {"range": 0}},
    "another denominator": {"denominator": "4611686018427387905"},
    "a denominator with a blank": {"denominator": " 4611686018427387904"},
    "another kind": {"weights": {"kind": "theorem"}},
    "a notion that is none": {"privacy": {"notion": "DP", "epsilon": "1"}},
    "no δ": {"privacy": {"notion": "LDP", "epsilon": "1"}},
    "ε of 101": {"privacy": {"notion": "LDP", "epsilon": "101", "delta": "0"}},
    "ε below 0": {"privacy": {"notion": "LDP", "epsilon": "-1", "delta": "0"}},
    "δ of 1": {"privacy": {"notion": "LDP", "epsilon": "1", "delta": "1"}},
    "a prior of one": {"privacy": {"notion": "LIP", "epsilon": "1", "prior": ["1"], "lower": None}},
    "a prior that sums to 0.9": {
        "privacy": {"notion": "LIP", "epsilon": "1", "prior": ["0.5", "0.2", "0.2"], "lower": None}
    },
    "version 2": {"version": "2.0"},
    "no version": {"version": None},
    "rows that do not exist": {"rows_of_inputs": [[3, 3]]},
    "rows of no input": {"rows_of_inputs": [[0, 0], [1, 3]]},
    "a row that no input has": {"rows_of_inputs": [[0, 2], [2, 1]]},
}


@pytest.mark.parametrize("what", MALFORMED)
def test_both_call_it_malformed(what: str) -> None:
    text = written(_changed(**MALFORMED[what]))
    assert kernel_says_of(text)[0] == checker_says_of(text)[0] == "malformed"


@pytest.mark.parametrize(("k", "size"), [(1 << 24, 1 << 23), ((1 << 53) - 1, 1 << 52)])
def test_sets_that_take_long_to_count_are_malformed_for_both(k: int, size: int) -> None:
    """Half of 2^24 answers have more sets than are counted in a minute: such files are refused before."""
    text = written(with_hash(joint(k, size)))
    assert kernel_says_of(text)[0] == checker_says_of(text)[0] == "malformed"


STRICT: dict[str, Any] = {
    "ε beside e^ε": {"privacy": {"notion": "LDP", "epsilon": "0.01", "ratio": "20", "delta": "0"}},
    "an unknown key of a notion": {"privacy": {"notion": "LDP", "epsilon": "1", "delta": "0", "note": "x"}},
    "an underscore": {"privacy": {"notion": "LDP", "epsilon": "1_0", "delta": "0"}},
    "a blank": {"privacy": {"notion": "LDP", "epsilon": " 1", "delta": "0"}},
    "other digits": {"privacy": {"notion": "LDP", "epsilon": "١", "delta": "0"}},
    "an unknown key of the weights": {"weights": {**to_json(RESPONSE)["weights"], "note": 1}},
}


@pytest.mark.parametrize("what", STRICT)
def test_what_the_writer_would_not_write_is_malformed(what: str) -> None:
    with pytest.raises(Malformed):
        checked(written(_changed(**STRICT[what])))


def test_every_kind_of_weights_is_read_back() -> None:
    for kind in set(DRAWN) - {"joint_blocks"}:
        mechanism = drawn_mechanism(np.random.default_rng(3), kind)
        content = words_of(claiming(mechanism, None), mechanism.row_classes)
        found = read_mechanism(content)
        assert (found.k, found.structure.reports, found.structure.denominator) == (
            mechanism.k,
            mechanism.m,
            mechanism.denominator,
        )
        if kind != "hashed":
            sums = [sum(row) for row in zip(*found.structure.columns(), strict=True)]
            assert set(sums) == {found.structure.listed_sum}, kind


# -- one file


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    assert main(["checker", "-o", str(folder / "check.py")]) == 0
    return folder


def run_alone(folder: Path, *files: str) -> tuple[int, str]:
    command = [sys.executable, "-I", "-S", "-X", "utf8", "check.py", *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def test_one_file_decides_alone_in_a_folder(alone: Path) -> None:
    design = ex.design(ex.LDP("0.7"), ex.KL(P, P[::-1]))
    design.certificate.save(alone / "c.json")
    design.mechanism.save(alone / "m.json")
    (alone / "false.json").write_bytes(written(claiming(design.mechanism, ex.LDP("0.69"))))
    (alone / "open.json").write_bytes(written(claiming(design.mechanism, None)))
    (alone / "malformed.json").write_bytes(b"{}")
    codes = {"c": 0, "m": 0, "false": 1, "open": 3, "malformed": 2, "missing": 2}
    code, said = run_alone(alone, "--json", *(f"{name}.json" for name in codes))
    found = [json.loads(line) for line in said.splitlines()]
    assert [one["code"] for one in found] == list(codes.values())
    assert (code, found[0]["optimality"], found[1]["privacy"]) == (1, "proved", "proved")
    assert run_alone(alone, "c.json")[0] == 0


def test_a_short_design_of_a_thousand_labels_is_decided_by_the_one_file(alone: Path) -> None:
    """Its bound is over all mechanisms with this privacy, however long their reports: the price of shortness."""
    short = ex.design(ex.LDP(2), ex.Frequencies(1000), report_bits=16)
    assert short.mechanism.m <= 2**16
    short.certificate.save(alone / "short.json")
    code, said = run_alone(alone, "--json", "short.json")
    found = json.loads(said)
    assert (code, found["privacy"], found["value"], found["optimality"]) == (0, "proved", "proved", "proved")
    content = json.loads((alone / "short.json").read_text(encoding="utf-8"))
    assert content["bound"] < content["value"]
    best = dataclasses.replace(short.certificate, bound=short.certificate.value)
    (alone / "best.json").write_bytes(written(best.to_json()))
    code, said = run_alone(alone, "--json", "best.json")
    assert (code, json.loads(said)["optimality"]) == (1, "refuted")


def test_two_files_must_belong_together(alone: Path) -> None:
    design = ex.design(ex.LDP("0.7"), ex.KL(P, P[::-1]))
    design.certificate.save(alone / "of.certificate.json")
    design.mechanism.save(alone / "of.json")
    ex.randomized_response(3, 1).save(alone / "other.json")
    assert run_alone(alone, "of.json", "of.certificate.json")[0] == 0
    code, said = run_alone(alone, "other.json", "of.certificate.json")
    assert code == 1
    assert "another mechanism" in said


def test_a_defect_is_no_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from extremal.checker import verdicts

    def broken(_text: bytes) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(verdicts, "checked", broken)
    (tmp_path / "m.json").write_bytes(b"{}")
    assert verdicts.main([str(tmp_path / "m.json")]) == 70


def test_verify_runs_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(written(claiming(RESPONSE, ex.LDP("0.9"))))
    assert main(["verify", "--independent", str(path)]) == 1
    assert "refuted" in capfd.readouterr().out
    assert main(["verify", "--independent", "--json", str(path)]) == 1
    assert json.loads(capfd.readouterr().out)["privacy"] == "refuted"


def test_the_file_is_not_written_over_another(tmp_path: Path) -> None:
    path = tmp_path / "check.py"
    path.write_text("mine")
    assert main(["checker", "-o", str(path)]) == 2
    assert path.read_text() == "mine"
    assert main(["checker", "-o", str(path), "--overwrite"]) == 0
    assert path.read_text(encoding="utf-8") == joined()
    assert main(["checker", "-o", str(path)]) == 0


def test_the_certificate_beside_a_mechanism_is_decided_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8])).save(tmp_path / "m.json")
    assert main(["verify", "--independent", str(tmp_path / "m.json")]) == 0
    assert capsys.readouterr().out.count("optimality  proved") == 1
    beside = tmp_path / "m.certificate.json"
    content = json.loads(beside.read_text())
    beside.write_text(json.dumps(rehashed(content | {"bound": content["value"], "value": content["bound"]})))
    assert main(["verify", "--independent", str(tmp_path / "m.json")]) == 1
    assert main(["verify", "--independent", "--gap", "1e-6", str(tmp_path / "m.json")]) == 2
    assert "--gap is not asked" in capsys.readouterr().err
