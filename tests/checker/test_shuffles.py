"""Claims about shuffled reports, decided by the checker that stands alone: against enumeration, the kernel, faults."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.checker import contours, joined, shuffles
from extremal.checker.contours import positive_part, turn
from extremal.checker.mechanisms import read_mechanism
from extremal.checker.numbers import Malformed, Undecided, Work
from extremal.checker.shuffles import Classes, Differing, decided_shuffle
from extremal.checker.structures import SetReports, SetType, of_sets
from extremal.checker.verdicts import checked
from extremal.mechanism.files import to_json
from extremal.theory import ShuffleClaim
from support.checkers import with_hash, written
from support.shuffles import all_divergences, exact_rows, histograms, small_mechanism

WIDE = Fraction(1, 10**12)  # how far e^ε may be from the rational that stands for it, relative


def _says(mechanism: ex.Mechanism, n: int, epsilon: Fraction, delta: Fraction) -> bool | None:
    """Proved, refuted, or None."""
    Work.spent = 0
    try:
        return decided_shuffle(read_mechanism(to_json(mechanism)), n, epsilon, delta)
    except Undecided:
        return None


def _truthful(cases: int) -> bool:
    """Whether nothing false is proved and nothing true refuted, over all data sets of tiny mechanisms."""
    rng = random.Random(11)
    for case in range(cases):
        mechanism = small_mechanism(rng, zeros=case % 3 == 0)
        n, epsilon = rng.choice((2, 3, 4)), Fraction(rng.randrange(5, 90), 100)
        rows, near = exact_rows(mechanism), Fraction(math.exp(epsilon))
        low = max(v for _, v in all_divergences(rows, n, near * (1 + WIDE)))
        high = max(v for _, v in all_divergences(rows, n, near * (1 - WIDE)))
        below, above = low * Fraction(999, 1000), high * Fraction(1001, 1000)
        if below > 0 and _says(mechanism, n, epsilon, below) is True:
            return False
        if _says(mechanism, n, epsilon, above + Fraction(1, 10**9)) is False:
            return False
    return True


def test_every_data_set_of_tiny_cases() -> None:
    assert _truthful(12)


def _one_fewer(law: Any, n: int, kappa: float) -> Any:
    return positive_part(law, n - 1, kappa)


def _row_for_blanket(pair: Differing, n: int, ratio: Fraction, delta: Fraction) -> bool:
    return TRUE_WITHIN(Differing(pair.others[0], pair.others), n, ratio, delta)


TRUE_WITHIN = shuffles.is_within


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("positive_part", _one_fewer),
        ("is_within", _row_for_blanket),
        ("over_all", lambda *_: Fraction(0)),
        ("largest_of_counts", lambda *_: Fraction(0)),
    ],
)
def test_a_planted_fault_is_caught(name: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffles, name, fault)
    if name == "over_all":
        monkeypatch.setattr(shuffles, "range_of", lambda *_: object())
    assert not _truthful(12)


# -- the kernel's claims

CLAIMS: dict[str, tuple[Callable[[], ex.Mechanism], int, str]] = {
    "response": (lambda: ex.randomized_response(10, 2), 10**6, "1e-8"),
    "many answers": (lambda: ex.randomized_response(100_000, 1), 10**6, "1e-8"),
    "two answers": (lambda: ex.randomized_response(2, 1), 300, "1e-4"),
    "two answers, many people": (lambda: ex.randomized_response(2, 2), 10**6, "1e-8"),
    "bits": (lambda: ex.unary_encoding(4, 1), 10**5, "1e-6"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_the_kernel_proves_is_proved_and_a_smaller_level_refuted(name: str) -> None:
    make, n, delta = CLAIMS[name]
    mechanism = make()
    reports = ex.shuffled(mechanism, n)
    low, high = reports.epsilon(delta)
    claimed = reports.claim(delta).epsilon
    assert Fraction(repr(high)) <= claimed < Fraction(repr(high * 1.001))
    assert _says(mechanism, n, claimed, Fraction(delta)) is True
    assert _says(mechanism, n, Fraction(repr(low * 0.998)), Fraction(delta)) is False


def test_sets_of_two_groups_have_the_classes_of_their_list() -> None:
    sets = SetReports([[0, 1], [2, 3, 4]], [SetType((1, 1), 3, 7), SetType((0, 2), 2, 11)])
    structure = of_sets(sets, 9, 1000, 1000)

    def found(pairs: Any) -> set[tuple[Any, ...]]:
        return {(tuple(p.blanket), *sorted(map(tuple, p.others))) for p in pairs}

    assert found(shuffles.differing(structure)) == found(shuffles.differing(replace(structure, sets=None)))


def test_what_is_too_large_is_not_decided() -> None:
    claim = ex.shuffled(ex.local_hashing(50, 1), 1000).claim(1e-6)
    found = checked(written(with_hash(claim._content())))
    assert (found.privacy, found.code) == ("not decided here", 3)


# -- files


def test_a_file_is_decided_alone_and_a_changed_one_is_not(tmp_path: Path) -> None:
    alone = tmp_path / "check.py"
    alone.write_text(joined(), encoding="utf-8")
    claim = ex.shuffled(ex.randomized_response(4, 1), 10_000).claim(1e-6)
    good = claim.save(tmp_path / "good.json")
    false = ShuffleClaim(claim.mechanism, 9_000, claim.epsilon, claim.delta).save(tmp_path / "false.json")
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(json.loads(good.read_text()) | {"n": "20000"}))
    codes = [
        subprocess.run([sys.executable, "-I", "-S", alone, path], capture_output=True, check=False).returncode
        for path in (good, false, changed)
    ]
    assert codes == [0, 1, 2]


FIELDS: list[tuple[str, Any]] = [("n", "0"), ("n", 7), ("epsilon", "-1"), ("delta", "0"), ("delta", "1"), ("more", 1)]


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_a_malformed_claim_is_no_verdict(field: str, value: Any) -> None:
    content = ShuffleClaim(ex.randomized_response(3, 1), 100, Fraction(1), Fraction("0.01"))._content()
    with pytest.raises(Malformed):
        checked(written(with_hash(content | {field: value})))


def test_a_false_local_claim_within_is_refuted() -> None:
    content = ShuffleClaim(ex.randomized_response(3, 1), 100, Fraction(1), Fraction("0.01"))._content()
    inside = with_hash(content["mechanism"] | {"privacy": ex.LDP("0.5").to_json()})
    assert checked(written(with_hash(content))).privacy == "proved"
    assert checked(written(with_hash(content | {"mechanism": inside}))).privacy == "refuted"


# -- arithmetic


@pytest.mark.parametrize("angle", [Fraction(1, 1000), Fraction(7, 3), Fraction(-250, 7)])
def test_turns_to_fifty_digits(angle: Fraction) -> None:
    from mpmath import cos, mp, mpf, sin

    with mp.workdps(70):
        where = mpf(angle.numerator) / angle.denominator
        real, imaginary = turn(angle)
        assert abs(mpf(real) / 2**contours.POINT - cos(where)) < mpf(2) ** -190
        assert abs(mpf(imaginary) / 2**contours.POINT - sin(where)) < mpf(2) ** -190


def test_sums_over_nodes_enclose_the_expectation(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [Fraction(7, 5), Fraction(-9, 5), Fraction(-1, 50)]
    weights = [Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)]
    law = histograms([weights] * 30)
    truth = sum(
        (c * max(Fraction(0), sum(k * v for k, v in zip(h, values, strict=True))) for h, c in law.items()), Fraction(0)
    )
    assert contours.added_up(list(zip(values, weights, strict=True)), 30) == truth
    monkeypatch.setattr(contours, "FEW_SUMS", 0)
    found = positive_part(list(zip(values, weights, strict=True)), 30, 1e-3)
    assert found.low < truth < found.high < found.low * Fraction(101, 100)
    nodes = contours.contour_for(contours.as_floats(list(zip(values, weights, strict=True))), 30, 1e-2)
    plain = contours.without_phase(list(zip(values, weights, strict=True)), 30, nodes)
    assert truth < plain < 2 * truth


def _classes(*rows: tuple[str, str, str]) -> Classes:
    return [(Fraction(a), Fraction(b), Fraction(c)) for a, b, c in rows]


def test_reports_that_others_never_give_count_alone() -> None:
    classes = _classes(("1/4", "0", "0"), ("3/4", "1", "1"))
    assert shuffles.divergence_of(classes, 5, Fraction(2), 1e-2).high == Fraction(1, 4)
    assert shuffles.held_by(classes, Fraction(2)) == []
