"""The three methods: unbiasedness, efficiency, agreement between structure and matrix, and what is not identified."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.data import LEVELS, survey
from extremal.estimate.channels import channel_of
from extremal.estimate.channels.dense import DenseChannel
from extremal.estimate.channels.response import ResponseChannel
from extremal.testing import ldp_mechanisms, mechanisms, priors

ROUNDING = 1e-9  # of a few thousand float operations on numbers of size one, times condition numbers up to 1e4


def expected_counts(m: ex.Mechanism, p: np.ndarray, n: int = 10**12) -> np.ndarray:
    """Counts as a sample without noise would have them."""
    return np.rint(m.marginal(p) * n).astype(np.int64)


def wide(k: int = 4, epsilon: float = 1.0) -> ex.Mechanism:
    """More outputs than inputs: randomised response and windows, mixed."""
    halves = [ex.randomized_response(k, epsilon).matrix, ex.Mechanism.from_windows(k, 2, ex.LDP(epsilon)).matrix]
    return ex.Mechanism.from_matrix(np.hstack(halves) / 2, ex.LDP(epsilon))


@pytest.mark.parametrize("method", ["unbiased", "mle", "projected"])
@pytest.mark.parametrize(
    "m", [ex.randomized_response(4, 1), wide(), ex.Mechanism.from_windows(4, 1, ex.LDP(2))], ids=repr
)
def test_without_noise_every_method_returns_the_truth(m: ex.Mechanism, method: str) -> None:
    p = np.array([0.5, 0.3, 0.2, 0.0])
    result = ex.estimate_frequencies(expected_counts(m, p), m, method=method, counts=True)
    # Counts are rounded to 1e-12 of n; the likelihood misses at most 1e-10, which is (Δp)² of about that size.
    assert result.estimate == pytest.approx(p, abs=1e-4 if method == "mle" else 1e-9)
    assert result.estimate.sum() == pytest.approx(1)


@given(ldp_mechanisms(epsilon=1.0), st.data())
def test_the_linear_estimate_is_unbiased_for_every_prior(m: ex.Mechanism, data: st.DataObject) -> None:
    """L·Qᵀ is the identity on what is identified, whatever prior weights the least squares."""
    p = np.array([float(v) for v in data.draw(priors(m.k))])
    guess = np.array([float(v) for v in data.draw(priors(m.k, zeros=False))])
    counts = expected_counts(m, p)
    try:
        plain = ex.estimate_frequencies(counts, m, counts=True, merge=True)
        weighted = ex.estimate_frequencies(counts, m, counts=True, merge=True, prior=guess)
    except ex.errors.NotIdentified:
        return
    rows = p if m.row_of is None else np.bincount(m.row_of, weights=p)
    assert plain.estimate == pytest.approx(plain.fit.combinations.of_rows(rows), abs=1e-6)
    assert weighted.estimate == pytest.approx(plain.estimate, abs=1e-6)


@pytest.mark.parametrize("method", ["unbiased", "mle", "projected"])
@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (7, 1.0), (30, 3.0)])
def test_structure_and_matrix_agree(k: int, epsilon: float, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The closed forms of randomised response give what the dense algebra gives."""
    m = ex.randomized_response(k, epsilon)
    counts = np.random.default_rng(k).multinomial(5_000, m.marginal(np.arange(1, k + 1) / np.arange(1, k + 1).sum()))
    closed = ex.estimate_frequencies(counts, m, method=method, counts=True)
    monkeypatch.setattr("extremal.estimate.frequencies.channel_of", DenseChannel)
    dense = ex.estimate_frequencies(counts, m, method=method, counts=True)
    assert not isinstance(closed.fit.combinations.channel, DenseChannel)
    # A likelihood within 1e-10 of the largest leaves the maximiser free by the square root of that over the curvature.
    assert closed.estimate == pytest.approx(dense.estimate, abs=1e-5 if method == "mle" else ROUNDING)
    assert closed.covariance == pytest.approx(dense.covariance, abs=1e-7)
    assert closed.standard_error == pytest.approx(np.sqrt(np.diagonal(closed.covariance)))
    assert closed.poisoning() == pytest.approx(dense.poisoning(), abs=ROUNDING)
    assert closed.noncompliance(0.1) == pytest.approx(dense.noncompliance(0.1), abs=ROUNDING)
    contrast = [1.0, -1.0, *[0.0] * (k - 2)]
    assert closed.contrast(contrast).standard_error == pytest.approx(dense.contrast(contrast).standard_error, rel=1e-4)
    assert closed.fit.combinations.channel.smallest_share(closed.fit.plausible) == pytest.approx(
        dense.fit.combinations.channel.smallest_share(dense.fit.plausible)
    )


def test_large_alphabets_need_no_matrix() -> None:
    m = ex.randomized_response(10_000, 4)
    counts = np.random.default_rng(1).multinomial(10**6, np.full(10_000, 1e-4))
    for method in ("unbiased", "mle", "projected"):
        result = ex.estimate_frequencies(counts, m, method=method, counts=True)
        assert result.standard_error.shape == (10_000,)
        assert "9960 more" in result.summary()
        assert result.mean().standard_error > 0
    with pytest.raises(ex.errors.TooLarge, match="the covariance"):
        _ = result.covariance
    with pytest.raises(ex.errors.TooLarge, match="2\\^24 entries"):
        ex.estimate_frequencies([0, 1], ex.Mechanism.from_windows(10_000, 2_501, ex.LDP(1)))


def test_standard_errors_match_repeated_surveys() -> None:
    m = ex.randomized_response(2, 1, inputs=["Clinton", "Dole"])
    answers = survey()["vote"]
    runs = [ex.estimate_frequencies(m.privatize(answers), m) for _ in range(300)]
    # The answers are fixed, so the spread is the randomiser's alone: q(1−q)/n over (2q−1)².
    q = m.matrix[0, 0]
    expected = np.sqrt(q * (1 - q) / len(answers)) / (2 * q - 1)
    assert np.std([r.estimate[0] for r in runs]) == pytest.approx(expected, rel=0.25)
    assert runs[0].standard_error[0] > expected


@pytest.mark.parametrize("method", ["unbiased", "mle"])
def test_covariance_matches_simulation(method: str) -> None:
    """The whole matrix, on a mechanism with more outputs than inputs; the likelihood's is no larger (efficiency)."""
    m, p, n = wide(4, 1.5), np.array([0.55, 0.3, 0.1, 0.05]), 200_000
    marginal = m.marginal(p)
    draws = np.random.default_rng(3).multinomial(n, marginal / marginal.sum(), size=3_000)
    results = [ex.estimate_frequencies(c, m, method=method, counts=True) for c in draws]
    seen = np.cov(np.array([r.centre for r in results]).T)
    scale = np.sqrt(np.outer(np.diagonal(seen), np.diagonal(seen)))
    # Entries of a correlation matrix from 3,000 draws have a standard error of at most √(2/3000) = 0.026; 4.5 of those
    # over 16 entries.
    assert np.abs(results[0].covariance - seen).max() <= 0.116 * scale.max()
    if method == "mle":
        plain = ex.estimate_frequencies(draws[0], m, counts=True)
        assert (results[0].standard_error <= plain.standard_error * 1.001).all()


def test_weights_give_the_weighted_mean_and_its_error() -> None:
    """Against the mean of the single contributions L·e_y, computed one report at a time."""
    m = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
    generator = np.random.default_rng(5)
    reports = generator.choice(["a", "b", "c"], size=4_000, p=[0.5, 0.3, 0.2]).tolist()
    weights = generator.lognormal(size=4_000)
    result = ex.estimate_frequencies(reports, m, weights=weights)
    single = np.linalg.inv(m.matrix.T)[:, [m.outputs.index(r) for r in reports]].T
    mean = (weights[:, None] * single).sum(axis=0) / weights.sum()
    error = np.sqrt((weights[:, None] ** 2 * (single - mean) ** 2).sum(axis=0)) / weights.sum()
    assert result.estimate == pytest.approx(mean)
    assert result.standard_error == pytest.approx(error, rel=0.02)  # fitted against empirical spread: differ by O(1/√n)
    assert result.effective_n == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    # Equal weights change nothing; the likelihood uses them too.
    plain, equal = (ex.estimate_frequencies(reports, m, method="mle", weights=w) for w in (None, np.full(4_000, 2.5)))
    assert equal.estimate == pytest.approx(plain.estimate)
    assert equal.standard_error == pytest.approx(plain.standard_error)
    assert "n = 4000 reports (weights; as 14" in result.summary()


def test_weighted_standard_errors_match_simulation() -> None:
    m = wide(3, 2.0)
    weights = np.repeat([1.0, 5.0], 1_000)
    truth = np.array([0.6, 0.4, 0.0])
    edges = np.cumsum(m.marginal(truth))[:-1]
    generator = np.random.default_rng(8)
    runs = [
        ex.estimate_frequencies(
            np.searchsorted(edges, generator.random(2_000), side="right"), m, method=method, weights=weights
        )
        for _ in range(400)
        for method in ("unbiased", "mle")
    ]
    for start in (0, 1):
        seen = np.std([r.centre for r in runs[start::2]], axis=0)
        # 400 runs know a standard deviation to 3.5%; 4 of those.
        assert runs[start].standard_error == pytest.approx(seen, rel=0.14 + 0.03)


def test_strata_are_estimated_by_themselves() -> None:
    m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    reports, region = ["no", "yes"] * 50 + ["no"] * 60, ["north"] * 100 + ["south"] * 60
    both = ex.estimate_frequencies(reports, m, by=region)
    assert set(both) == {"north", "south"}
    assert both["south"].estimate == pytest.approx(ex.estimate_frequencies(["no"] * 60, m).estimate)
    assert both["north"].n + both["south"].n == 160
    assert len(both) == 2
    assert "north" in both
    assert repr(both) == "StratifiedEstimate({'north': n=100, 'south': n=60})"
    assert "stratum 'south'" in both.summary()
    assert both.to_frame()["stratum"].tolist() == ["north", "north", "south", "south"]
    assert both.plot().axes[0].get_xlabel() == "share of respondents"
    with pytest.raises(ex.errors.UnknownLabel, match="reports in that stratum; got stratum='west'"):
        both["west"]
    assert ex.estimate_frequencies(["no"] * 3, m, by=["north", "north", "south"]).omitted == {"south": 1}


def test_merged_inputs_are_named_and_estimated() -> None:
    m = ex.Mechanism.from_partition([0, 0, 1, 2, 2, 2, 2], ex.LDP(2), inputs=list("abcdefg"))
    with pytest.raises(
        ex.errors.NotIdentified, match="only 3 combinations of the 7: a \\+ b, c, d \\+ e \\+ 2 more. Pass merge=True"
    ):
        ex.estimate_frequencies([0, 1, 2], m)
    counts = expected_counts(m, np.array([0.1, 0.2, 0.3, 0.1, 0.1, 0.1, 0.1]))
    for method in ("unbiased", "mle", "projected"):
        result = ex.estimate_frequencies(counts, m, method=method, counts=True, merge=True)
        assert result.inputs == ("a + b", "c", "d + e + 2 more")
        assert result.estimate == pytest.approx([0.3, 0.3, 0.4], abs=1e-5)
    assert "does not tell all 7 inputs apart" in result.summary()


def test_dependent_rows_identify_some_combinations() -> None:
    """Rows 0..2 are dependent (2 = the mean of 0 and 1); row 3 is determined by itself."""
    matrix = [[0.5, 0.3, 0.1, 0.1], [0.3, 0.5, 0.1, 0.1], [0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]]
    m = ex.Mechanism.from_matrix(matrix, inputs=["a", "b", "c", "d"])
    p = np.array([0.4, 0.1, 0.3, 0.2])
    with pytest.raises(ex.errors.NotIdentified, match="only 3 combinations of the 4: a \\+ 0.5·c, b \\+ 0.5·c, d"):
        ex.estimate_frequencies(expected_counts(m, p), m, counts=True)
    for method in ("unbiased", "mle"):
        result = ex.estimate_frequencies(expected_counts(m, p, 10**9), m, method=method, counts=True, merge=True)
        assert result.inputs == ("a + 0.5·c", "b + 0.5·c", "d")
        assert result.estimate == pytest.approx([0.55, 0.25, 0.2], abs=1e-4)
        assert (result.standard_error > 0).all()
        assert result.standard_error == pytest.approx(np.sqrt(np.diagonal(result.covariance)))
        assert result.contrast({"a + 0.5·c": 1, "b + 0.5·c": -1}).estimate == pytest.approx(0.3, abs=1e-3)
        assert result.goodness_of_fit().degrees == 1
    with pytest.raises(ex.errors.NotIdentified, match="projected needs every row"):
        ex.estimate_frequencies(expected_counts(m, p), m, method="projected", counts=True, merge=True)


@given(mechanisms())
def test_what_is_called_identified_is_a_combination_of_columns(m: ex.Mechanism) -> None:
    """Every named combination lies in the column space of Q, and there are as many as its rank."""
    channel = channel_of(m)
    basis = channel.combinations()
    rows = (
        m.matrix
        if m.row_of is None
        else np.array([m.matrix[np.flatnonzero(m.row_of == i)[0]] for i in range(m.row_classes)])
    )
    rank = int(np.linalg.matrix_rank(rows, tol=1e-9))
    if basis is None:
        assert rank == m.row_classes
        return
    assert basis.shape[0] == rank
    solved = np.linalg.lstsq(rows, basis.T, rcond=1e-9)[0]
    assert rows @ solved == pytest.approx(basis.T, abs=1e-5)


def test_few_or_useless_reports() -> None:
    m = ex.randomized_response(3, 1)
    with pytest.raises(ex.errors.InvalidParameter, match="there must be at least one report"):
        ex.estimate_frequencies([], m)
    with pytest.raises(
        ex.errors.InvalidParameter,
        match="at least two reports: one says nothing about its own spread; got number of reports=1",
    ):
        ex.estimate_frequencies([2], m)
    with pytest.raises(ex.errors.NotIdentified, match="every input of this mechanism makes the same reports"):
        ex.estimate_frequencies([0, 0, 1], ex.randomized_response(2, 0), merge=True)
    identical = ex.estimate_frequencies([1] * 20, m)
    assert identical.estimate[1] > 1  # reported, not hidden
    assert (identical.standard_error > 0).all()
    assert identical.interval().min() >= 0
    assert identical.interval().max() <= 1
    assert "All reports are identical." in identical.notes
    assert any("outside their possible range (first: 0)" in note for note in identical.notes)
    assert not any("rough" in note for note in identical.notes)  # exact intervals are not
    rare = ex.estimate_frequencies([5, 0, 3, 12], ex.quaternary(1, 0.1), counts=True)
    assert any("intervals that are not exact are rough" in note for note in rare.notes)


def test_a_hundred_billion_reports_are_counted_exactly() -> None:
    m = ex.randomized_response(2, 1)
    result = ex.estimate_frequencies({0: 3 * 2**31, 1: 2**31}, m)
    assert result.n == 4 * 2**31
    with pytest.raises(ex.errors.InvalidParameter, match="at most 2\\^53 reports"):
        ex.estimate_frequencies({0: 2**53, 1: 1}, m)


def test_arguments_are_checked() -> None:
    m = ex.randomized_response(2, 1)
    with pytest.raises(
        ex.errors.InvalidParameter,
        match="method must be one of unbiased, mle, projected, shrunk, smooth; got method='median'",
    ):
        ex.estimate_frequencies([0, 1], m, method="median")  # type: ignore[call-overload]
    with pytest.raises(ex.errors.InvalidParameter, match="mechanism must be a Mechanism; got mechanism='ndarray'"):
        ex.estimate_frequencies([0, 1], m.matrix)  # type: ignore[call-overload]
    with pytest.raises(ex.errors.InvalidPrior, match="must have 2 entries"):
        ex.estimate_frequencies([0, 1], m, prior=[0.2, 0.3, 0.5])


def test_a_prior_may_rule_reports_out() -> None:
    """An output that only an input of prior zero makes keeps a weight: the estimate stays unbiased."""
    m = ex.Mechanism.from_matrix([[0.5, 0.4, 0.1, 0.0], [0.2, 0.3, 0.5, 0.0], [0.1, 0.1, 0.3, 0.5]])
    p = np.array([0.2, 0.5, 0.3])
    assert ex.estimate_frequencies(
        expected_counts(m, p), m, counts=True, prior=[0.5, 0.5, 0]
    ).estimate == pytest.approx(p, abs=1e-6)
    never = expected_counts(m, np.array([0.5, 0.5, 0.0]), 10**6)
    assert ex.estimate_frequencies(never, m, method="mle", counts=True).estimate == pytest.approx(
        [0.5, 0.5, 0], abs=1e-4
    )


def test_the_bundled_survey_is_whole() -> None:
    answers = survey()
    assert all(len(column) == 944 for column in answers.values())
    for question, levels in LEVELS.items():
        assert set(answers[question]) == set(levels)


def test_cyclic_windows_that_do_not_identify() -> None:
    """Windows of half the circle: opposite inputs are only seen through sums and differences; the matrix is exactly
    singular."""
    m = ex.Mechanism.from_windows(4, 2, ex.LDP(1))
    with pytest.raises(ex.errors.NotIdentified, match="only 3 combinations of the 4: 0 \\+ 3, 1 − 3, 2 \\+ 3"):
        ex.estimate_frequencies([0, 1, 2, 3], m)
    p = np.array([0.4, 0.3, 0.2, 0.1])
    result = ex.estimate_frequencies(expected_counts(m, p), m, counts=True, merge=True)
    assert result.estimate == pytest.approx([0.5, 0.2, 0.3], abs=1e-6)
    # A difference of frequencies lies between −1 and 1, and so does its interval.
    assert result.fit.combinations.range()[0].tolist() == [0, -1, 0]


def test_a_name_of_many_terms_is_cut() -> None:
    """An input whose row is the mean of four others appears in each of their combinations, and they in none of its
    own."""
    rows = [
        [0.6, 0.2, 0.1, 0.1],
        [0.2, 0.6, 0.1, 0.1],
        [0.1, 0.1, 0.6, 0.2],
        [0.1, 0.1, 0.2, 0.6],
        [0.25, 0.25, 0.25, 0.25],
        [0.3, 0.2, 0.3, 0.2],
    ]
    result = ex.estimate_frequencies(
        [30, 30, 20, 20], ex.Mechanism.from_matrix(rows, inputs=list("abcdef")), counts=True, merge=True
    )
    assert result.inputs[0] == "a + 0.25·e + 0.375·f"
    assert len(result.inputs) == 4
    more = [*rows, [0.35, 0.15, 0.3, 0.2]]
    result = ex.estimate_frequencies(
        [30, 30, 20, 20], ex.Mechanism.from_matrix(more, inputs=list("abcdefg")), counts=True, merge=True
    )
    assert result.inputs[0] == "a + 0.25·e + 2 more"


def test_a_channel_refuses_another_structure() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="must be a randomised response; got kind='rows'"):
        ResponseChannel(wide())


def test_a_square_mechanism_has_nothing_left_to_fit() -> None:
    square = ex.Mechanism.from_matrix([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    assert ex.estimate_frequencies([40, 30, 30], square, counts=True).goodness_of_fit().degrees == 0
