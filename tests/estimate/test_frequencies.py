import numpy as np
import pytest

import extremal as ex
from extremal.data import LEVELS, survey


def test_the_inverse_is_unbiased() -> None:
    """Feeding the exact expected counts returns the frequencies themselves."""
    m = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
    prior = np.array([0.5, 0.3, 0.2])
    counts = np.rint(m.marginal(prior) * 1e6).astype(int)
    reports = [label for label, count in zip(m.outputs, counts, strict=True) for _ in range(count)]
    result = ex.estimate_frequencies(reports, m)
    assert result.estimate == pytest.approx(prior, abs=1e-5)
    assert result.estimate.sum() == pytest.approx(1)


def test_standard_errors_match_repeated_surveys() -> None:
    m = ex.randomized_response(2, 1, inputs=["Clinton", "Dole"])
    answers = survey()["vote"]
    runs = [ex.estimate_frequencies(m.privatize(answers), m) for _ in range(300)]
    # The answers are fixed, so the spread is the randomiser's alone: q(1−q)/n over (2q−1)².
    q = m.matrix[0, 0]
    expected = np.sqrt(q * (1 - q) / len(answers)) / (2 * q - 1)
    assert np.std([r.estimate[0] for r in runs]) == pytest.approx(expected, rel=0.25)
    assert runs[0].standard_error[0] > expected


def test_intervals_stay_in_the_unit_interval() -> None:
    result = ex.estimate_frequencies(["a"] * 9 + ["b"], ex.randomized_response(2, 0.5, inputs=["a", "b"]))
    assert result.interval().min() >= 0
    assert result.interval().max() <= 1


def test_no_reports_and_no_information() -> None:
    with pytest.raises(ex.InvalidParameter, match="there must be at least one report"):
        ex.estimate_frequencies([], ex.randomized_response(2, 1))
    with pytest.raises(ex.NotIdentified, match="square and invertible"):
        ex.estimate_frequencies([0], ex.randomized_response(2, 0))


def test_the_bundled_survey_is_whole() -> None:
    answers = survey()
    assert all(len(column) == 944 for column in answers.values())
    for question, levels in LEVELS.items():
        assert set(answers[question]) == set(levels)
