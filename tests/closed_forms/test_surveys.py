"""Designs of survey practice say what they deliver."""

from __future__ import annotations

import math

import pytest

import extremal as ex


def test_designs_say_what_they_deliver() -> None:
    s = ex.surveys
    assert s.warner(p=0.7).privacy.epsilon == pytest.approx(math.log(7 / 3))  # type: ignore[union-attr]
    assert s.warner(epsilon=1).matrix[1, 1] == pytest.approx(math.e / (1 + math.e))
    assert s.crosswise(p=0.25).privacy.epsilon == pytest.approx(math.log(3))  # type: ignore[union-attr]
    assert s.unrelated_question(p=0.5, innocuous=0.5).matrix.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert s.forced_response(yes=0.1, no=0.2).matrix[1, 1] == pytest.approx(0.8)
    assert s.kuk(p=0.8, q=0.2).privacy.epsilon == pytest.approx(math.log(4))  # type: ignore[union-attr]
    for revealing in (s.mangat(p=0.7), s.triangular(p=0.3)):
        assert revealing.privacy is None
        assert math.isinf(ex.LDP(1).level(revealing))


def test_bad_parameters() -> None:
    for make, message in [
        (lambda: ex.surveys.warner(), "give exactly one of p and epsilon"),
        (lambda: ex.surveys.warner(p=0.5, epsilon=1), "give exactly one of p and epsilon"),
        (lambda: ex.surveys.kuk(p=1.2, q=0.1), "p must be a probability; got p=1.2"),
        (lambda: ex.surveys.forced_response(yes=0.6, no=0.6), "yes \\+ no must be at most 1"),
    ]:
        with pytest.raises(ex.errors.InvalidParameter, match=message):
            make()


def test_useless_parameters_are_constant() -> None:
    assert ex.surveys.warner(p=0.5).row_classes == 1
    assert ex.surveys.kuk(p=1, q=1).m == 1
