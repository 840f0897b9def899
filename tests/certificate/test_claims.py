"""What a certificate can claim at its edges: labels, infinities, users' functions, worst cases enclosed widely."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.certificate import Certificate, Chords, ChosenPrior, Dual, Listed, NotKnown, enclosure
from extremal.errors import InvalidParameter
from extremal.optimize.problem import certify, extended
from support.proofs.comparison import MALFORMED, Content, checker_says, kernel_says

P = ["0.5", "0.3", "0.2"]
ZERO = (Fraction(0),) * 3
NOTHING = Dual(ZERO, Chords())  # of a cost: it is not negative
USERS = ex.Sublinear(3, lambda columns: abs(columns[0] - columns[1]))


def of_rows(*rows: list[int], **given: Any) -> ex.Mechanism:
    return ex.Mechanism.from_weights(list(rows), sum(rows[0]), **given)


def verdicts(certificate: Certificate, path: Path) -> tuple[str, str]:
    """Of value and optimality: the same of a certificate and of its file."""
    certificate.save(path, overwrite=True)
    in_memory, from_file = ex.verify(certificate), ex.verify(path)
    assert (in_memory.value, in_memory.optimality) == (from_file.value, from_file.optimality)
    return str(from_file.value), str(from_file.optimality)


def test_a_certificate_does_not_change() -> None:
    certificate = certify(of_rows([2, 1, 1], [1, 2, 1], [1, 1, 2], privacy=ex.LDP(1)), ex.Hamming(P), [NOTHING])
    with pytest.raises(FrozenInstanceError):
        certificate.value = 0.0  # type: ignore[misc]


def test_a_distortion_between_sets_is_read_with_their_labels(tmp_path: Path) -> None:
    mechanism = ex.subset_selection(3, 1, size=2)
    goal = ex.Distortion(P, [[0, 0, 1], [0, 1, 0], [1, 0, 0]], outputs=list(mechanism.outputs))
    assert verdicts(certify(mechanism, goal, [NOTHING]), tmp_path / "sets.json") == ("proved", "proved")


@pytest.mark.parametrize("labels", [["a", "b", "c"], [2, 1, 0]])
def test_columns_of_losses_are_those_of_inputs_when_there_are_as_many(labels: list[Any], tmp_path: Path) -> None:
    given = {"inputs": labels, "outputs": labels, "privacy": ex.LDP(1)}
    mechanism = of_rows([2, 1, 1], [1, 2, 1], [1, 1, 2], **given)
    goal = ex.Distortion(P, [[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    certificate = certify(mechanism, goal, [NOTHING])
    assert certificate.value == float(Fraction(1, 4) * (Fraction(5, 2) + Fraction(6, 10) + 1))
    assert verdicts(certificate, tmp_path / "labels.json") == ("proved", "proved")


def test_columns_of_losses_are_numbered_when_there_are_fewer(tmp_path: Path) -> None:
    mechanism = of_rows([3, 1], [1, 3], [1, 3], privacy=ex.LDP.from_ratio(3))
    certificate = certify(mechanism, ex.Distortion(P, [[0, 1], [1, 0], [2, 0]]), [NOTHING])
    assert certificate.value == float(Fraction(1, 4) * (Fraction(5, 10) + Fraction(3, 10) + Fraction(4, 10)))
    assert verdicts(certificate, tmp_path / "few.json") == ("proved", "proved")


def test_columns_of_losses_are_found_by_the_names_of_outputs() -> None:
    mechanism = of_rows([1, 2, 5], [1, 6, 1], [4, 3, 1], inputs=["a", "b", "c"], outputs=["c", "b", "a"])
    lost = Fraction(1, 8) * (Fraction(5, 10) * (4 + 2) + Fraction(3, 10) * 2 + Fraction(2, 10) * (3 + 4))
    assert enclosure(ex.Distortion(P, [[0, 1, 4], [1, 0, 1], [4, 1, 0]]), mechanism) == (lost, lost)


@pytest.mark.parametrize("rows", [([2, 1, 1], [1, 2, 1], [2, 1, 1]), ([2, 1, 1], [1, 2, 1], [2, 0, 2])])
def test_hamming_finds_an_input_among_several_runs_of_one_weight(rows: tuple[list[int], ...]) -> None:
    lost = sum(
        (Fraction(p) * (1 - Fraction(row[x], 4)) for x, (p, row) in enumerate(zip(P, rows, strict=True))), ZERO[0]
    )
    assert enclosure(ex.Hamming(P), of_rows(*rows)) == (lost, lost)


def test_a_bound_of_minus_infinity_is_read_as_that(tmp_path: Path) -> None:
    certificate = certify(of_rows([2, 1, 1], [1, 2, 1], [1, 1, 2], privacy=ex.LDP(1)), ex.Hamming(P), [NOTHING])
    assert verdicts(replace(certificate, bound=-math.inf), tmp_path / "bound.json") == ("proved", "proved")
    assert verdicts(replace(certificate, bound=math.inf), tmp_path / "bound.json")[1] == "refuted"


def test_nothing_is_known_of_a_users_function() -> None:
    proof = Dual(ZERO, Listed())
    with pytest.raises(NotKnown, match="user's"):
        proof.bound(ex.LDP(1), USERS)
    with pytest.raises(NotKnown, match="user's"):
        enclosure(USERS, of_rows([2, 1, 1], [1, 2, 1], [1, 1, 2]))
    users = ex.design(ex.LDP(1), USERS).certificate
    written = Certificate(users.mechanism, None, users.value, users.bound, ())
    assert extended(written, ()) is written
    with pytest.raises(InvalidParameter, match="user's function"):
        extended(written, [proof])


def test_objects_nested_too_deep_are_malformed() -> None:
    goal: Any = ex.Average([ex.KL(P, P[::-1])])
    proof: Content = {"kind": "order", "value": "1", "ends": ["1"], "mix": []}
    said = []
    for _ in range(6):
        said.append((kernel_says(proof, ex.LDP(1), goal), checker_says(proof, ex.LDP(1), goal)))
        proof = {"kind": "groups", "groups": [0], "proofs": [proof]}
    assert [MALFORMED in pair for pair in said] == [False] * 4 + [True] * 2
    assert all(set(pair) == {MALFORMED} for pair in said[4:])


def test_a_worst_case_is_claimed_at_the_upper_end_of_what_encloses_it() -> None:
    """The prior that is named is not quite the worst: the value is enclosed widely, and its upper end is claimed."""
    source = ex.SourceClass.ball(P, "0.1")
    goal = ex.Mean([0, 1, 3], source)
    found = ex.design(ex.LDP(1), goal).certificate
    assert found.worst_prior is not None
    worst = found.worst_prior.of(source)
    weights = [Fraction(w, worst.total) for w in worst.weights]
    away = tuple(w + Fraction(d, 10**4) for w, d in zip(weights, (-1, 1, 0), strict=True))
    near = ChosenPrior(tuple(Fraction(round(w * 10**30), 10**30) for w in away), ())
    low, high = enclosure(goal, found.mechanism, near)
    assert math.nextafter(float(low), math.inf) < high < low * (1 + Fraction(1, 10**6))
    certificate = certify(found.mechanism, goal, [], near)
    assert certificate.value >= high
    assert str(ex.verify(certificate).value) == "proved"
    for value in (float(low), float((low + high) / 2)):
        said = ex.verify(replace(certificate, value=value))
        assert str(said.value) == "not proven"
        assert "is between" in said.reasons[1]
    outside = (float(low) * (1 - 1e-12), float(high) * (1 + 1e-12), float(high) * (1 + 9e-7), float(high) * 2, math.inf)
    for value in outside:
        assert str(ex.verify(replace(certificate, value=value)).value) == "refuted"


def test_what_is_enclosed_too_widely_is_not_called_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """An enclosure wider than a double says nothing about a value inside of it, and refutes one outside."""
    certificate = ex.design(ex.LDP(1), ex.CDF(4)).certificate
    value = Fraction(certificate.value)
    wide = (value * (1 - Fraction(1, 10**12)), value * (1 + Fraction(1, 10**12)))
    monkeypatch.setattr(import_module("extremal.certificate.verify"), "enclosure", lambda *_: wide)
    for inside in (certificate.value, float(wide[1])):
        assert str(ex.verify(replace(certificate, value=inside)).value) == "not proven"
    for factor in (1 - 1e-11, 1 + 1e-11):
        assert str(ex.verify(replace(certificate, value=certificate.value * factor)).value) == "refuted"


@pytest.mark.parametrize("ends", [(-math.inf, Fraction(2)), (Fraction(0), math.inf), (-math.inf, math.inf)])
def test_what_has_an_end_at_infinity_is_not_enclosed(ends: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the value nor a bound beside it is proved."""
    certificate = ex.design(ex.LDP(1), ex.CDF(4)).certificate
    monkeypatch.setattr(import_module("extremal.certificate.verify"), "enclosure", lambda *_: ends)
    said = ex.verify(certificate)
    assert (str(said.value), str(said.optimality)) == ("not proven", "not proven")
    assert "no precision encloses" in said.reasons[1]
