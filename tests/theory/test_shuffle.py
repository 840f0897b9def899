"""Shuffled reports: against enumeration in fractions, against direct sums, against published ones, against faults."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import extremal as ex
from extremal.certificate import Verdict
from extremal.cli import main
from extremal.errors import InvalidParameter, MalformedFile, PrivacyViolation, TooLarge
from extremal.theory.shuffle import accounting, contour
from extremal.theory.shuffle.binary import BinaryReports
from extremal.theory.shuffle.claims import ShuffleClaim
from extremal.theory.shuffle.compositions import Series
from extremal.theory.shuffle.contour import Law, positive_part
from extremal.theory.shuffle.others import everybody
from extremal.theory.shuffle.pairs import pairs_of
from extremal.theory.shuffle.reports import PairReports, merged
from extremal.theory.shuffle.shuffled import clones
from support.checkers import MALFORMED, checker_says_of, with_hash, written
from support.shuffles import all_divergences, exact_rows, histograms, small_mechanism

NARROW = Fraction(1, 10**14)  # how far the rational that stands for e^ε may be from it, relative


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    with ctx.workprec(contour.BITS):
        yield


def _around(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    near = Fraction(math.exp(epsilon))
    return near * (1 - NARROW), near * (1 + NARROW)


def _holds(mechanism: ex.Mechanism, n: int, epsilon: Fraction) -> bool:
    """Whether the true δ, by enumeration, lies in the interval; e^ε is enclosed by two rationals."""
    low, high = ex.shuffled(mechanism, n).delta(epsilon)
    rows, (below, above) = exact_rows(mechanism), _around(epsilon)
    largest = max(value for _, value in all_divergences(rows, n, above))
    smallest = max(value for _, value in all_divergences(rows, n, below))
    return Fraction(low) <= smallest and largest <= Fraction(high)


def _cases(count: int) -> Iterator[tuple[ex.Mechanism, int, Fraction]]:
    rng = random.Random(4)
    for i in range(count):
        mechanism = small_mechanism(rng, zeros=i % 3 == 0)
        yield mechanism, rng.choice((2, 3, 4)), Fraction(rng.randrange(5, 90), 100)


def test_every_data_set_of_small_cases_lies_in_the_interval() -> None:
    assert all(_holds(*case) for case in _cases(8))


def _one_fewer(law: Law, n: int, kappa: float) -> tuple[arb, arb]:
    return positive_part(law, n - 1, kappa)


def _row_for_blanket(self: PairReports) -> object:
    return merged(self.others[0].classes())


def _half(pair: PairReports, n: int, ratio: arb, target: float, kappa: float, parts: int = 1) -> arb:
    return arb("1e-9")


@pytest.mark.parametrize(
    ("where", "name", "fault"),
    [
        (accounting, "positive_part", _one_fewer),
        (PairReports, "blanket_classes", property(_row_for_blanket)),
        (accounting, "everybody", _half),
    ],
)
def test_a_planted_fault_is_caught(where: object, name: str, fault: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, name, fault)
    assert not all(_holds(*case) for case in _cases(8))


# -- the enclosure of a sum


def _exact_sum(values: list[Fraction], weights: list[Fraction], n: int) -> Fraction:
    """E[(X_1 + … + X_n)₊] of a variable with two values and 0."""
    law: dict[tuple[int, ...], Fraction] = histograms([weights] * n)
    sums = {h: sum((c * v for c, v in zip(h, values, strict=True)), Fraction(0)) for h in law}
    return sum((law[h] * s for h, s in sums.items() if s > 0), Fraction(0))


@pytest.mark.parametrize("kappa", [1e-2, 1e-3])
def test_the_contour_encloses_the_expectation(kappa: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contour, "MOST_TERMS", 0)
    values = [Fraction(7, 5), Fraction(-9, 5), Fraction(-1, 50)]
    weights = [Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)]
    truth = _exact_sum(values, weights, 40)
    law = Law(
        tuple(arb(fmpq(v.numerator, v.denominator)) for v in values),
        tuple(arb(fmpq(w.numerator, w.denominator)) for w in weights),
    )
    low, high = positive_part(law, 40, kappa)
    exact = arb(fmpq(truth.numerator, truth.denominator))
    assert low < exact < high
    assert high < low * (1 + 300 * kappa)
    assert not exact < low * (1 + 1e-12)  # the lower end in place of the upper one would be wrong


def test_moduli_are_bounded_and_tight() -> None:
    law = Law((arb("1.3"), arb("-0.7"), arb(0)), (arb("0.2"), arb("0.3"), arb("0.5")))
    where = contour.Contour(0.4, 0.01, 0.003, 3000)
    found = contour.log_moduli(law, where)
    values, weights = law.floats
    tilted = weights * np.exp(0.4 * values)
    truth = np.log(np.abs(np.exp(1j * np.outer(np.arange(1, 3001) * 0.003, values)) @ (tilted / tilted.sum())))
    assert (found >= truth - 1e-13).all()
    assert (found[:100] <= truth[:100] + 1e-10).all()


# -- all data sets


def _largest_by_direct_sums(rows: np.ndarray, n: int, epsilon: float) -> float:
    """Two reports, so that a histogram is a count: the largest δ over many compositions of three inputs."""

    def counts(held: tuple[int, ...]) -> np.ndarray:
        law = np.array([1.0])
        for x, people in enumerate(held):
            p, base = rows[x, 1], np.array([1.0])
            power = np.array([1 - p, p])
            while people:
                if people & 1:
                    base = np.convolve(base, power)
                power, people = np.convolve(power, power), people >> 1
            law = np.convolve(law, base)
        return law

    best = 0.0
    for a, b in itertools.product(range(0, n, (n - 1) // 6), repeat=2):
        if a + b <= n - 1:
            law = counts((a, b, n - 1 - a - b))
            for x, z in itertools.permutations(range(3), 2):
                left, right = np.convolve(law, rows[x][:2]), np.convolve(law, rows[z][:2])
                best = max(best, float(np.maximum(left - math.exp(epsilon) * right, 0).sum()))
    return best


def test_the_bound_over_all_data_sets_is_one() -> None:
    m = ex.Mechanism.from_matrix([[0.7, 0.3], [0.5, 0.5], [0.35, 0.65]])
    n, epsilon = 601, 0.1
    truth = _largest_by_direct_sums(m.matrix, n, epsilon)
    found = [everybody(pair, n, accounting.at(epsilon), truth, 4e-3) for pair in pairs_of(m.structure)]
    largest = max(float(v) for v in found if v is not None)
    assert truth <= largest <= 1.5 * truth
    low, high = ex.shuffled(m, n).delta(epsilon)
    assert low <= truth <= high


def test_different_supports_have_no_such_bound() -> None:
    pair = pairs_of(ex.Mechanism.from_matrix([[0.5, 0.5, 0], [0.25, 0.5, 0.25]]).structure)[0]
    assert everybody(pair, 1000, accounting.at(0.1), 1e-3, 4e-3) is None


# -- two answers


def test_every_composition_of_binary_reports_is_enclosed() -> None:
    m, n = ex.surveys.warner(p=0.7), 60
    rows, reports = m.matrix, BinaryReports.of(m)
    assert reports is not None
    for a, epsilon in ((0, 0.2), (7, 0.1), (59, 0.3)):
        law = np.array([1.0])
        for x, people in ((0, n - 1 - a), (1, a)):
            for _ in range(people):
                law = np.convolve(law, rows[x])
        truth = np.maximum(np.convolve(law, rows[0]) - math.exp(epsilon) * np.convolve(law, rows[1]), 0).sum()
        low, high = reports.divergence(0, (n - 1 - a, a), accounting.at(epsilon))
        assert float(low) == pytest.approx(truth, rel=1e-10)
        assert low <= high < low * (1 + 1e-12)


def test_all_data_sets_of_binary_reports_are_gone_through() -> None:
    m, n, epsilon = ex.surveys.warner(p=0.7), 60, 0.3
    truth = 0.0
    for a in range(n):
        law = np.array([1.0])
        for x, people in ((0, n - 1 - a), (1, a)):
            for _ in range(people):
                law = np.convolve(law, m.matrix[x])
        left, right = np.convolve(law, m.matrix[0]), np.convolve(law, m.matrix[1])
        truth = max(truth, *(np.maximum(p - math.exp(epsilon) * q, 0).sum() for p, q in ((left, right), (right, left))))
    low, high = ex.shuffled(m, n).delta(epsilon)
    assert low == pytest.approx(truth, rel=1e-9)
    assert truth * (1 - 1e-9) <= high <= truth * (1 + 1e-5)
    reports = BinaryReports.of(m)
    assert reports is not None
    assert not reports.at_most(n, accounting.at(epsilon), arb(truth * 0.9999))
    assert BinaryReports.of(ex.randomized_response(3, 1)) is None
    assert BinaryReports.of(ex.Mechanism.from_matrix([[0.5, 0.5], [0, 1]])) is None


def test_the_series_encloses_every_composition() -> None:
    m, n, epsilon = ex.Mechanism.from_matrix([[0.7, 0.3], [0.4, 0.6]]), 400, 0.15
    reports = BinaryReports.of(m)
    assert reports is not None
    powers = [[np.array([1.0])], [np.array([1.0])]]
    for x, laws_of in enumerate(powers):
        for _ in range(n - 1):
            laws_of.append(np.convolve(laws_of[-1], m.matrix[x]))
    for first in (0, 1):
        series = reports.series(first, n, accounting.at(epsilon))
        assert series is not None
        truth = []
        for a in range(n):
            law = np.convolve(powers[0][n - 1 - a], powers[1][a])
            laws = np.convolve(law, m.matrix[first]), np.convolve(law, m.matrix[1 - first])
            truth.append(float(np.maximum(laws[0] - math.exp(epsilon) * laws[1], 0).sum()))
        for start in range(0, n, 10):
            block = Series.around(series, start, start + 9)
            assert block is not None
            found = [float(value) for value in block.points()]
            assert found == pytest.approx(truth[start : start + 10], rel=1e-9)
            assert float(block.bound()) >= max(found)
        worst = arb(max(truth))
        assert series.at_most(worst * (1 + arb(2) ** -25))
        assert not series.at_most(worst * (1 - arb(2) ** -25))
        assert not replace(series, n=n - 1).at_most(worst * (1 + arb(2) ** -25))  # one person too few is noticed
        assert replace(series, n=n + 1).at_most(worst * (1 - arb(2) ** -25))
        assert float(series.lower(20)) == pytest.approx(max(truth), rel=1e-9)


@pytest.mark.parametrize(
    ("level", "n", "delta", "ends"),
    [
        (2, 10**6, 1e-8, (0.009708812, 0.009708842)),
        (2, 10**4, 1e-8, (0.112655, 0.1126551)),
        (4, 10**5, 1e-6, (0.08471617, 0.08471619)),
        (0.5, 10**6, 1e-6, (0.001265797, 0.001266033)),
    ],
)
def test_binary_reports_of_any_number_of_people(level: float, n: int, delta: float, ends: tuple[float, float]) -> None:
    low, high = ex.shuffled(ex.randomized_response(2, level), n).epsilon(delta)
    assert ends[0] <= low <= high <= ends[1]
    assert high / low < 1 + 1e-7


@pytest.mark.slow
def test_binary_reports_to_seven_digits() -> None:
    low, high = ex.shuffled(ex.randomized_response(2, 4), 1000).epsilon(1e-6)
    assert 1.691006 <= low <= high <= 1.691007


# -- values that were found by other programs


@pytest.mark.parametrize(
    ("make", "n", "delta", "ends"),
    [
        (lambda: ex.randomized_response(10, 2), 10**6, 1e-8, (0.0091623280, 0.0091623329)),
        (lambda: ex.randomized_response(100, 2), 10**6, 1e-8, (0.0034107360, 0.0034107366)),
        (lambda: ex.randomized_response(10, 1), 10**9, 1e-8, (6.6364537e-5, 6.6364547e-5)),
        (lambda: ex.subset_selection(10, 1), 10**6, 1e-8, (0.003406272, 0.003407229)),
        (lambda: ex.unary_encoding(10, 1), 10**6, 1e-8, (0.003146537, 0.003147383)),
    ],
)
def test_published_intervals(make: Callable[[], ex.Mechanism], n: int, delta: float, ends: tuple[float, float]) -> None:
    low, high = ex.shuffled(make(), n).epsilon(delta)
    assert ends[0] <= low <= high <= ends[1]
    assert high / low < 1.0001


def test_never_above_the_generic_bound() -> None:
    for m in (ex.subset_selection(100, 1), ex.local_hashing(50, 2), ex.unary_encoding(4, 1)):
        reports = ex.shuffled(m, 50_000)
        assert reports.epsilon(1e-6)[1] < reports.generic(1e-6)


def test_clones_as_published() -> None:
    assert clones(1.0, 10**6, Fraction("1e-8")) == pytest.approx(0.0061254766, rel=1e-5)
    assert clones(0.0, 10, Fraction(1, 2)) == 0


# -- properties


def test_more_people_hide_better_and_the_two_directions_agree() -> None:
    few, many = (ex.shuffled(ex.randomized_response(5, 1), n) for n in (1_000, 4_000))
    assert many.epsilon(1e-6)[1] < few.epsilon(1e-6)[0]
    low, high = many.epsilon(1e-6)
    assert many.delta(low)[1] >= 1e-6 >= many.delta(high)[0]


def test_the_ends_of_the_scale() -> None:
    constant = ex.Mechanism.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    assert ex.shuffled(constant, 10).epsilon(1e-6) == (0.0, 0.0)
    assert ex.shuffled(constant, 10).delta(0) == (0.0, 0.0)
    open_book = ex.shuffled(ex.Mechanism.from_matrix([[1, 0], [0, 1]]), 100)
    assert open_book.epsilon(1e-6) == (math.inf, math.inf)
    assert "No finite ε" in open_book.summary()
    assert ex.shuffled(ex.randomized_response(10, 0.001), 10**5).epsilon(1e-6) == (0.0, 0.0)
    low, high = ex.shuffled(ex.randomized_response(3, 1), 1).epsilon(1e-6)
    assert 0.99999 < low <= high <= 1
    low, high = ex.shuffled(ex.randomized_response(3, 1), 2).delta(2)
    assert (low, high) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ex.shuffled(3, 10), "a mechanism or a questionnaire"),
        (lambda: ex.shuffled(ex.randomized_response(2, 1), 0), "n must be at least 1"),
        (lambda: ex.shuffled(ex.randomized_response(2, 1), 10**13), "n must be at most"),
        (lambda: ex.shuffled(ex.randomized_response(2, 1), 10).epsilon(0), "0 < delta < 1"),
        (lambda: ex.shuffled(ex.randomized_response(2, 1), 10).delta(-1), "must not be negative"),
        (lambda: ex.shuffled(ex.randomized_response(2, 1), 10).delta("1e300"), "epsilon must be at most 700"),
        (
            lambda: ex.shuffled({"a": ex.randomized_response(2, 1), "b": ex.randomized_response(2, 1)}, 10).delta(1),
            "one",
        ),
        (lambda: ex.epsilon_for_shuffle(10, 0, 1e-6, ex.Frequencies(3)), "epsilon > 0"),
        (lambda: ex.epsilon_for_shuffle(2, 1e-6, 1e-9, ex.Frequencies(3)), "no local level"),
    ],
)
def test_bad_inputs(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        call()


def test_too_many_listed_rows() -> None:
    with pytest.raises(TooLarge, match="all pairs of inputs"):
        ex.shuffled(ex.Mechanism.from_windows(1000, 250, ex.LDP(1)), 1000).epsilon(1e-6)


# -- claims


def test_a_claim_is_saved_and_decided_again(tmp_path: Path) -> None:
    claim = ex.shuffled(ex.randomized_response(4, 1), 10_000).claim(1e-6)
    path = claim.save(tmp_path / "claim.json")
    read = ex.load(path)
    assert (read.n, read.epsilon, read.delta, read.mechanism) == (claim.n, claim.epsilon, claim.delta, claim.mechanism)
    assert "are (" in str(read)


def test_a_false_claim_is_refuted_and_a_thin_one_not_proven(tmp_path: Path) -> None:
    m, n, delta = ex.randomized_response(4, 1), 10_000, Fraction("1e-6")
    low, high = ex.shuffled(m, n).epsilon(delta)
    false = ShuffleClaim(m, n, Fraction(repr(low)) * Fraction("0.99"), delta)
    assert false.verify().privacy is Verdict.REFUTED
    thin = ShuffleClaim(m, n, Fraction(repr((low + high) / 2)), delta)
    assert thin.verify().privacy is Verdict.NOT_PROVEN
    fewer = ShuffleClaim(m, n - 100, Fraction(repr(high)), delta)
    assert not fewer.verify()
    with pytest.raises(PrivacyViolation, match="are not"):
        ex.load(false.save(tmp_path / "false.json"))
    binary = ShuffleClaim(ex.randomized_response(2, 1), 60, Fraction("0.9"), Fraction("0.001"))
    assert "gone through" in binary.verify().reasons[0]


@pytest.mark.parametrize(
    ("field", "value"), [("n", "20000"), ("n", 7), ("epsilon", "0.001"), ("delta", "0"), ("mechanism", None)]
)
def test_a_changed_file_is_refused(field: str, value: object, tmp_path: Path) -> None:
    from extremal.mechanism.files import content_digest

    path = ex.shuffled(ex.randomized_response(3, 1), 5_000).claim(1e-6).save(tmp_path / "claim.json")
    content = json.loads(path.read_text()) | {field: value}
    path.write_text(json.dumps(content))
    with pytest.raises(MalformedFile, match="match its hash"):
        ex.load(path)
    del content["hash"]
    path.write_text(json.dumps(content | {"hash": content_digest(content)}))
    if field == "n" and value == "20000":
        assert ex.load(path).n == 20_000  # more people hide better: still true
        return
    with pytest.raises((MalformedFile, PrivacyViolation)):
        ex.load(path)


OTHER_GRAMMAR: dict[str, Any] = {
    "a field that is not known": {"note": "1"},
    "an underscore": {"epsilon": "1_0"},
    "an exponent": {"delta": "1e-6"},
    "a blank": {"epsilon": " 1"},
    "a zero too many": {"epsilon": "1.0"},
    "other digits": {"n": "\u0661\u0660"},
    "a zero before": {"n": "01000"},
    "nobody": {"n": "0"},
    "n as a number": {"n": 5000},
    "an ε below 0": {"epsilon": "-1"},
    "an ε of 701": {"epsilon": "701"},
    "a δ of 1": {"delta": "1"},
    "no mechanism": {"mechanism": None},
}


@pytest.mark.parametrize("what", OTHER_GRAMMAR)
def test_what_the_writer_would_not_write_is_malformed_for_both_readers(what: str, tmp_path: Path) -> None:
    path = ex.shuffled(ex.randomized_response(3, 1), 1_000).claim(1e-6).save(tmp_path / "claim.json")
    text = written(with_hash(json.loads(path.read_text()) | OTHER_GRAMMAR[what]))
    path.write_bytes(text)
    assert checker_says_of(text) == MALFORMED
    with pytest.raises(MalformedFile):
        ex.load(path)
    assert main(["verify", str(path)]) == 2


def test_the_claim_of_the_mechanism_within_must_be_true_as_well(tmp_path: Path) -> None:
    path = ex.shuffled(ex.randomized_response(3, 1), 1_000).claim(1e-6).save(tmp_path / "claim.json")
    content = json.loads(path.read_text())
    content["mechanism"] = with_hash(content["mechanism"] | {"privacy": ex.LDP("0.9").to_json()})
    text = written(with_hash(content))
    path.write_bytes(text)
    assert checker_says_of(text)[0] == "refuted"
    assert main(["verify", str(path)]) == 1
    with pytest.raises(PrivacyViolation, match=r"LDP\(epsilon=0.9\) is false: the level is 1.0"):
        ex.load(path)


@pytest.mark.parametrize("n", [1_000_000, 1_000_000_000_000])
def test_reports_that_reveal_an_answer_are_decided_however_many_people_there_are(n: int, tmp_path: Path) -> None:
    """Others who all give one report: a sum of n equal numbers is not gone through one by one."""
    claim = ShuffleClaim(ex.Mechanism.from_matrix([[1, 0], [0, 1]]), n, Fraction(1), Fraction("0.5"))
    assert claim.verify().privacy is Verdict.REFUTED
    assert checker_says_of(claim.save(tmp_path / "claim.json").read_bytes())[0] == "refuted"
    law = Law((arb(3),), (arb(1),))
    low, high = positive_part(law, n, 1e-3)
    assert low <= 3 * n <= high
    assert high - low < 1


def test_several_questions_make_no_claim() -> None:
    with pytest.raises(InvalidParameter, match="one mechanism"):
        ex.shuffled({"a": ex.randomized_response(3, 1), "b": ex.geometric(9, 1)}, 100).claim(1e-3)


# -- showing


def test_summary_and_plot() -> None:
    reports = ex.shuffled(ex.randomized_response(10, 2), 10**6)
    text = reports.summary()
    assert "0.0091623328, 1e-08" in text
    assert "0.017559" in text
    assert "no shuffler" in text
    assert repr(reports) == "Shuffled(1,000,000 people, 1 question)"
    drawn = reports.plot(deltas=["1e-6"], people=[10**4, 10**5])
    assert [axis.get_xlabel() for axis in drawn.axes] == ["people who report"]


# -- a target


def test_the_mechanism_for_a_target_meets_it() -> None:
    found = ex.epsilon_for_shuffle(20_000, 0.02, 1e-6, ex.Frequencies(20))
    assert bool(found.claim.verify())
    best = found.candidates[0]
    assert (found.epsilon, found.mechanism) == (best.epsilon, best.mechanism)
    assert found.least is not None
    assert found.least < best.value < found.candidates[1].value
    assert "more people" in found.summary()
    beyond = ShuffleClaim(ex.randomized_response(20, best.epsilon * 1.001), 20_000, Fraction("0.02"), Fraction("1e-6"))
    assert not beyond.verify()


def test_a_target_for_another_goal() -> None:
    found = ex.epsilon_for_shuffle(50_000, 0.02, 1e-6, ex.KL([0.5, 0.5], [0.2, 0.8]), inputs=["no", "yes"])
    assert [c.name for c in found.candidates] == ["optimal under LDP"]
    assert found.mechanism.inputs == ["no", "yes"] or tuple(found.mechanism.inputs) == ("no", "yes")
    assert found.least is None
    assert "value" in found.summary()


def test_rare_values_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contour, "MOST_TERMS", 0)
    values, weights = (
        [Fraction(3), Fraction(-4), Fraction(-1, 100)],
        [Fraction(1, 40), Fraction(1, 40), Fraction(19, 20)],
    )
    truth = _exact_sum(values, weights, 30)
    law = Law(
        tuple(arb(fmpq(v.numerator, v.denominator)) for v in values),
        tuple(arb(fmpq(w.numerator, w.denominator)) for w in weights),
    )
    low, high = positive_part(law, 30, 1e-2)
    exact = arb(fmpq(truth.numerator, truth.denominator))
    assert low <= exact <= high
    assert high < low * (1 + 1e-12)


def test_almost_no_randomness_is_decided_quickly() -> None:
    low, high = ex.shuffled(ex.randomized_response(10, 20), 10**4).epsilon(1e-6)
    assert 19.9 < low <= high <= 20
