"""Plans of precision: what they say is what the estimators report, at the shares given or at the worst."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import betabinom, binom

import extremal as ex
from extremal.estimate.expected import expected_estimate, expected_workload
from extremal.simulate import Simulation
from extremal.studies.planning.design_effect import DesignEffect
from extremal.studies.planning.units import Moments
from extremal.tables import outward
from support.surveys.simulated import simulated_samples, simulated_surveys

SKEWED = [0.7, 0.2, 0.1]
ROUND = ex.Mechanism.from_weights([[2, 1, 1], [1, 2, 1], [1, 1, 2]], 4)
WIDE = ex.Mechanism.from_weights([[4, 2, 1, 1], [1, 4, 2, 1], [1, 1, 2, 4]], 8)


@pytest.mark.parametrize("mechanism", [ROUND, WIDE])
def test_the_half_width_is_that_of_the_estimate_at_the_expected_counts(mechanism: ex.Mechanism) -> None:
    prior, n = [0.5, 0.25, 0.25], 3200
    counts = [round(n * share) for share in mechanism.marginal(prior).tolist()]
    assert counts == pytest.approx((n * mechanism.marginal(prior)).tolist())
    limits = ex.estimate_frequencies(counts, mechanism, counts=True).interval(0.9)
    found = ex.plan(mechanism, n=n, prior=prior, level=0.9)
    assert found.half_width == pytest.approx(float(np.ptp(limits, axis=1).max()) / 2, rel=1e-9)
    assert found.widest == int(np.ptp(limits, axis=1).argmax())


def test_a_workload_s_half_width_is_that_of_its_estimate() -> None:
    prior, n = [0.5, 0.25, 0.25], 3200
    for workload in (ex.Mean([0, 1, 5], prior), ex.CDF(prior), ex.CDF(3)):
        for mechanism in (ROUND, WIDE, ex.subset_selection(3, 1)):
            truth = prior if workload.prior is None or workload.prior.values[0] == 0.5 else [1 / 3] * 3
            shares = mechanism.marginal(truth)
            expected = expected_workload(mechanism, workload)(n)
            limits = ex.estimate_workload(np.rint(10**9 * shares).astype(int), mechanism, workload, counts=True)
            scale = math.sqrt(10**9 / n)
            assert expected.standard_error == pytest.approx(limits.standard_error * scale, rel=1e-3)
            found = ex.plan(mechanism, n=n, workload=workload)
            widest = float(np.ptp(expected.interval(), axis=1).max()) / 2
            assert found.half_width == pytest.approx(widest)


@pytest.mark.parametrize(
    "mechanism",
    [
        ex.randomized_response(3, 0.5),
        ex.randomized_response(4, 3),
        ex.subset_selection(5, 0.7),
        WIDE,
        ex.hadamard_response(6, 1),
        ex.unary_encoding(4, 1),
        ex.Mechanism.from_matrix(np.random.default_rng(3).dirichlet(np.ones(5), 3)),
    ],
)
def test_no_prior_has_a_wider_interval_than_the_worst_and_one_has_it(mechanism: ex.Mechanism) -> None:
    generator, n = np.random.default_rng(1), 2000
    worst = ex.plan(mechanism, n=n)
    priors = generator.dirichlet(np.full(mechanism.k, 0.3), 200)
    corners = np.eye(mechanism.k)
    pairs = [
        t * corners[x] + (1 - t) * corners[z]
        for x in range(mechanism.k)
        for z in range(mechanism.k)
        for t in (0.1, 0.5, 0.9)
    ]
    seen = [float(np.ptp(expected_estimate(mechanism, p, n).interval(), axis=1).max()) / 2 for p in [*priors, *pairs]]
    assert max(seen) <= worst.half_width + 1e-4
    x = mechanism.inputs.index(worst.widest)
    there = [worst.value * corners[x] + (1 - worst.value) * corners[z] for z in range(mechanism.k) if z != x]
    reached = max(float(np.ptp(expected_estimate(mechanism, p, n).interval()[x])) / 2 for p in there)
    assert reached == pytest.approx(worst.half_width, abs=2e-4)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (4, 1), (4, 0.3), (12, 2), (50, 1)])
def test_the_size_of_the_subsets_has_the_narrowest_widest_interval(k: int, epsilon: float) -> None:
    best = ex.plan(k=k, epsilon=epsilon, n=10_000_000).half_width
    sizes = range(1, k) if k < 12 else {round(k / (1 + math.exp(share * epsilon))) for share in (0.2, 0.4, 0.6, 1)}
    for size in sizes:
        other = ex.plan(ex.subset_selection(k, epsilon, size), n=10_000_000).half_width
        assert best <= other * (1 + 1e-3)


def test_n_does_and_one_fewer_does_not() -> None:
    for options in ({"k": 4}, {"prior": SKEWED}, {"workload": ex.Mean([0, 1, 2])}):
        found = ex.plan(epsilon=1, half_width=0.06, **options)
        assert found.solved == "n"
        assert found.half_width <= 0.06
        again = ex.plan(epsilon=1, n=found.n, **options)
        assert again.half_width == found.half_width
        assert again.wanted is None
        assert ex.plan(epsilon=1, n=found.n - 1, **options).half_width > 0.06
        assert found.without_privacy < found.n


def test_epsilon_does_and_a_little_less_does_not() -> None:
    found = ex.plan(k=3, n=4000, half_width=0.05)
    assert found.solved == "epsilon"
    assert found.half_width <= 0.05
    assert found.mechanism.privacy == ex.LDP(str(found.epsilon))
    less = Fraction(str(found.epsilon)) - Fraction(1, 10**4)
    assert ex.plan(k=3, n=4000, epsilon=less).half_width > 0.05 or found.epsilon >= 1


def test_with_a_prior_the_design_is_taken_where_it_is_narrower() -> None:
    rare = [0.96, 0.01, 0.01, 0.01, 0.01]
    found = ex.plan(prior=rare, epsilon=1, n=10_000)
    for size in range(1, 5):
        assert found.half_width < ex.plan(ex.subset_selection(5, 1, size), prior=rare, n=10_000).half_width


@pytest.mark.parametrize("case", range(6))
def test_simulated_surveys_are_as_precise_as_planned(case: int) -> None:
    """The audit does the same for 20 plans and more surveys."""
    plan, prior, workload = [
        (lambda: ex.plan(prior=SKEWED, epsilon=1, half_width=0.06), SKEWED, None),
        (lambda: ex.plan(prior=SKEWED, epsilon=3, half_width=0.04, level=0.8), SKEWED, None),
        (lambda: ex.plan(WIDE, prior=SKEWED, half_width=0.08), SKEWED, None),
        (lambda: ex.plan(ex.subset_selection(3, 1), prior=SKEWED, half_width=0.08), SKEWED, None),
        (lambda: ex.plan(workload=ex.CDF(SKEWED), epsilon=1, half_width=0.06), SKEWED, ex.CDF(SKEWED)),
        (lambda: ex.plan(workload=ex.Mean([0, 1, 5], SKEWED), n=2000, epsilon=1), SKEWED, ex.Mean([0, 1, 5], SKEWED)),
    ][case]
    found = plan()
    seen = simulated_surveys(
        found.mechanism, prior, found.n, found.widest, found.level, 150, np.random.default_rng(case), workload
    )
    mean, error = seen.mean_half_width
    one = found.half_width / math.sqrt(found.n)
    assert abs(mean - found.half_width) <= 5 * error + one
    assert seen.coverage >= found.level - 5 * math.sqrt(found.level * (1 - found.level) / 150)
    fewer = simulated_surveys(
        found.mechanism, prior, round(found.n * 0.8), found.widest, found.level, 60, np.random.default_rng(9), workload
    )
    mean, error = fewer.mean_half_width
    assert mean > found.half_width + 5 * error + one


def test_the_sentences_hold_the_numbers() -> None:
    found = ex.plan(k=4, epsilon=1, half_width=0.05)
    said = str(found)
    assert said.startswith(
        f"Plan: {found.n:,} people at ε = 1; half-width {outward(found.half_width, up=True)} (asked for: 0.05)"
    )
    assert f"needs {found.without_privacy:,} people" in said
    assert f"{found.n - 1:,} people do not reach" in said
    assert f"95% interval is that of the share of answer {found.widest!r} at {found.value:.3g}" in said
    plain = ex.Mechanism.from_matrix(np.eye(4))
    assert ex.plan(plain, n=found.without_privacy).half_width <= found.half_width * (1 + 1e-3)
    assert ex.plan(plain, n=found.without_privacy - 3).half_width > found.half_width
    given = str(ex.plan(prior=SKEWED, epsilon=1, n=500))
    assert "asked for" not in given
    assert "do not reach" not in given
    assert "at the given shares" in given
    assert "prior of its class" in str(ex.plan(workload=ex.Mean([0, 1], ex.SourceClass.simplex(2)), epsilon=1, n=500))


def test_large_alphabets_and_people() -> None:
    found = ex.plan(k=10_000, epsilon=1, half_width=0.01)
    assert found.half_width <= 0.01
    tiny = ex.plan(k=2, epsilon="0.001", half_width=0.1)
    assert tiny.n == pytest.approx(4 * 1e6 / 4 * (1.96 / 0.1) ** 2, rel=0.01)


def test_frames_and_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extremal.studies.planning.planned.POINTS", 3)
    found = ex.plan(k=3, epsilon=1, half_width=0.2)
    frame = found.to_frame(ns=[100, 1000], epsilons=[0.5, 1])
    assert frame["half_width"].is_monotonic_decreasing is False
    assert frame.loc[3, "half_width"] == ex.plan(k=3, epsilon=1, n=1000).half_width
    assert found.to_frame()["n"].min() < found.n < found.to_frame()["n"].max()
    drawn = found.plot()
    assert [axis.get_xlabel() for axis in drawn.axes] == ["people n", "ε (nats)"]
    assert "95% interval" in drawn.axes[0].get_ylabel()
    given = ex.plan(ROUND, half_width=0.05)
    assert len(given.plot().axes) == 1
    assert given.epsilon == pytest.approx(math.log(2))
    with pytest.raises(ex.errors.InvalidParameter, match="one mechanism"):
        given.to_frame(epsilons=[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 3, "epsilon": 1}, r"n and half_width are missing"),
        ({"k": 3, "epsilon": 1, "n": 10, "half_width": 0.1}, "give two of"),
        ({"epsilon": 1, "n": 10}, "number of inputs must be known"),
        ({"k": 3, "inputs": ["a", "b"], "epsilon": 1, "n": 10}, "known, once"),
        ({"k": 3, "epsilon": 1, "half_width": 0.5}, "between 0 and 0.5"),
        ({"k": 3, "epsilon": 1, "half_width": 5}, "as 0.05"),
        ({"k": 3, "epsilon": 1, "half_width": "wide"}, "must be a number"),
        ({"k": 3, "epsilon": 1, "half_width": True}, "must be a number"),
        ({"k": 3, "epsilon": 1, "half_width": math.nan}, "between 0 and 0.5"),
        ({"k": 3, "epsilon": 1, "n": 1}, "at least 2"),
        ({"k": 3, "epsilon": 1, "n": 10, "level": 95}, "0.95"),
        ({"k": 3, "n": 100, "half_width": 0.01}, r"some ε up to 50.*needs 9,\d\d\d people"),
        ({"k": 3, "epsilon": "0.00001", "half_width": 0.001}, "10,000,000,000 people"),
        ({"mechanism": 3, "epsilon": 1, "n": 10}, r"must be a Mechanism.*k="),
        ({"mechanism": ROUND, "epsilon": 1, "n": 10}, "its own level"),
        ({"mechanism": ROUND, "k": 4, "n": 10}, "its own inputs"),
        ({"workload": 3, "epsilon": 1, "n": 10}, "must be an ex.Mean"),
        ({"workload": ex.CDF(4), "k": 3, "epsilon": 1, "n": 10}, "about 4 inputs"),
        ({"workload": ex.CDF(4), "mechanism": ROUND, "n": 10}, "about 4 inputs"),
        ({"prior": [0.5, 0.6], "epsilon": 1, "n": 10}, "sum to"),
    ],
)
def test_bad_plans_are_refused_with_the_fix(options: dict[str, object], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.plan(**options)


def test_what_is_not_identified_cannot_be_planned() -> None:
    merged = ex.Mechanism.from_matrix([[0.7, 0.3], [0.7, 0.3], [0.2, 0.8]])
    with pytest.raises(ex.errors.NotIdentified):
        ex.plan(merged, n=100)
    with pytest.raises(ex.errors.NotIdentified):
        ex.plan(merged, n=100, prior=SKEWED)
    with pytest.raises(ex.errors.NotIdentified):
        ex.plan(merged, n=100, workload=ex.CDF(3))


def test_a_plan_can_be_asked_for_an_assurance() -> None:
    prior = [0.9, 0.08, 0.02]
    average = ex.plan(prior=prior, epsilon=3, half_width=0.05)
    sure = ex.plan(prior=prior, epsilon=3, half_width=0.05, assurance=0.9)
    assert sure.n > average.n
    assert sure.assurance is not None
    assert sure.assurance >= 0.9
    assert "with probability 0.9" in str(sure)
    generator, reached = np.random.default_rng(2), 0
    for _ in range(200):
        counts = generator.multinomial(sure.n, sure.mechanism.marginal(prior))
        limits = ex.estimate_frequencies(counts, sure.mechanism, counts=True).interval()
        reached += bool(np.ptp(limits, axis=1).max() / 2 <= 0.05)
    assert reached >= 0.82 * 200  # 0.9 less 3.8 standard errors
    assert "Every survey" in str(ex.plan(k=3, epsilon=2, half_width=0.08))
    weighted = ex.plan(k=3, epsilon=2, half_width=0.08, sample=ex.Sample(weights=[1.0, 3.0] * 50))
    alone = ex.plan(k=3, epsilon=2, half_width=0.08, sample=ex.Sample(weights=np.ones(100)))
    assert weighted.n == pytest.approx(1.25 * alone.n, rel=0.01)


def test_a_plan_with_clusters_reaches_its_half_width_in_the_worst_case_and_needs_all_of_its_people() -> None:
    """Members of a cluster answer alike with correlation ρ: simulated surveys of the planned size are as wide."""
    size, rho, share = 10, 0.2, 0.3
    sample = ex.Sample(cluster=np.arange(1000) // size)
    found = ex.plan(k=2, epsilon=4, half_width=0.06, prior=[1 - share, share], sample=sample, intraclass=rho)
    alone = ex.plan(found.mechanism, half_width=0.06, prior=[1 - share, share])
    assert found.n / alone.n == pytest.approx(1 + (size - 1) * rho, rel=0.1)
    assert "Design effect 2.8 (100 clusters, intraclass correlation 0.2)" in " ".join(str(found).split())
    assert "with probability about 0.5" in " ".join(str(found).split())
    generator, widths = np.random.default_rng(5), []
    clusters = found.n // size
    for _ in range(100):
        everybody, own = generator.random((clusters, 1)) < share, generator.random((clusters, size)) < share
        # Two people both follow their cluster with probability ρ.
        follows = generator.random((clusters, size)) < np.sqrt(rho)
        x = np.where(follows, np.broadcast_to(everybody, own.shape), own).astype(np.int64).ravel()
        reports = Simulation(int(generator.integers(2**31))).privatize(found.mechanism, x.tolist()).reports
        result = ex.estimate_frequencies(reports, found.mechanism, cluster=np.repeat(np.arange(clusters), size))
        widths.append(float(np.ptp(result.interval(), axis=1).max() / 2))
    assert 0.05 < np.mean(widths) < 0.061


def test_the_design_effect_is_kishs() -> None:
    plan = functools.partial(ex.plan, k=3, epsilon=2, half_width=0.08)
    weights = np.array([1.0, 3.0] * 50)
    alone = plan(sample=ex.Sample(weights=np.ones(100))).n
    assert plan().n <= alone == pytest.approx(plan().n, rel=0.03)  # limits at an effective number are a little longer
    assert plan(sample=ex.Sample(strata=[0, 1] * 50)).n == pytest.approx(alone, rel=0.01)
    by_people = plan(sample=ex.Sample(strata=["a"] * 25 + ["b"] * 75, population={"a": 500, "b": 500}))
    assert by_people.n == pytest.approx(alone * (25 * 2**2 + 75 * (2 / 3) ** 2) / 100, rel=0.02)
    alike = DesignEffect.of(ex.Sample(weights=weights, cluster=np.arange(100) // 4), 1)
    assert alike.people == pytest.approx(100 * 25 * 8**2 / 200**2)
    assert DesignEffect.of(ex.Sample(weights=weights, cluster=np.arange(100) // 4), 0).people == pytest.approx(1.25)
    assert alike.worth(40, 0.95) < alike.worth(40, 0.5) < 40 / alike.people  # Student's quantile for 9 degrees
    raked = ex.Sample().raked({"sex": (["f"] * 30 + ["m"] * 10, {"f": 1, "m": 1})})
    assert plan(sample=raked).n == pytest.approx(alone * 40 * (30 / 1.5**2 + 10 * 2**2) / 40**2, rel=0.02)


@pytest.mark.parametrize(
    ("sample", "intraclass", "said"),
    [
        (ex.Sample(cluster=[1, 1, 2, 2]), None, "needs the intraclass correlation"),
        (ex.Sample(weights=[1.0, 2.0]), 0.1, "only such a sample does"),
        (ex.Sample(cluster=[1, 1, 2, 2]), 1.5, "intraclass must lie between 0 and 1"),
        (ex.Sample(cluster="area"), 0.1, "the columns themselves"),
        (ex.Sample(weights=[1.0, 2.0]).raked({"sex": {"f": 1}}), None, "the columns themselves"),
        (ex.Sample(population=500), None, "a population alone"),
        (ex.Sample(weights=[1, 2], replicate_weights={"brr": [[1, 2], [2, 1]]}), None, "cannot read clusters"),
    ],
)
def test_what_a_plan_cannot_read_from_a_sample_is_refused(sample: ex.Sample, intraclass: object, said: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=said):
        ex.plan(k=3, epsilon=2, half_width=0.08, sample=sample, intraclass=intraclass)  # type: ignore[arg-type]


def test_a_half_width_is_solved_for_with_the_assurance_that_is_asked_for() -> None:
    m, prior, n = ex.randomized_response(["no", "yes"], 1), np.array([0.9, 0.1]), 300
    usual, sure = (ex.plan(m, n=n, prior=prior, assurance=a) for a in (None, 0.9))
    assert usual.assurance < 0.9 <= sure.assurance
    assert usual.half_width < sure.half_width < 1.1 * usual.half_width
    yes = np.arange(n + 1)
    half = [np.ptp(ex.estimate_frequencies([n - y, y], m, counts=True).interval()[1]) / 2 for y in yes]
    chance = binom.pmf(yes, n, float(m.marginal(prior)[1]))
    assert chance[np.array(half) <= sure.half_width + 1e-9].sum() >= 0.9
    people = [ex.plan(m, half_width=w * sure.half_width, prior=prior, assurance=0.9).n for w in (1.001, 0.98)]
    assert people[0] <= n < people[1]  # not wider than it must be
    assert ex.plan(m, n=n, assurance=0.9).half_width == ex.plan(m, n=n).half_width  # no survey is wider
    with pytest.raises(ex.errors.InvalidParameter, match="assurance must lie between 0 and 1"):
        ex.plan(m, n=n, assurance=1.5)
    mean = ex.plan(m, n=n, workload=ex.Mean([0, 1], prior), assurance=0.9)
    assert mean.half_width == pytest.approx(sure.half_width, abs=1e-6)  # the same count


def test_the_probability_for_two_answers_is_that_of_one_count() -> None:
    """Both shares are too wide at the same counts; before, their probabilities were added."""
    m, prior, wanted = ex.randomized_response([0, 1], 1), [0.7, 0.3], 0.08

    def reached(n: int) -> float:
        chance = binom.pmf(np.arange(n + 1), n, float(m.marginal(prior)[1]))
        seen = np.flatnonzero(chance > 1e-9)
        narrow = [
            np.ptp(ex.estimate_frequencies({0: n - y, 1: y}, m).interval()[1]) / 2 <= wanted + 1e-9
            for y in seen.tolist()
        ]
        return float(chance[seen[narrow]].sum())

    found = ex.plan(m, prior=prior, half_width=wanted)
    assert found.assurance == pytest.approx(reached(found.n), abs=1e-6)
    assert "reaches ±0.08 with probability 0.6757." in " ".join(str(found).split())
    sure = ex.plan(m, prior=prior, half_width=wanted, assurance=0.6)
    assert sure.n == found.n
    assert reached(sure.n) >= 0.6 > reached(sure.n - 1)


@pytest.mark.parametrize("assurance", [0.3, 0.9])
def test_the_probability_is_stated_and_asked_for_of_designs_workloads_and_samples(assurance: float) -> None:
    """Surveys of each size are simulated: what is about so likely is within 0.15 (3 standard errors and what is added
    for several statements)."""
    shares, skewed = [0.6, 0.3, 0.1], ex.Mean([0, 1, 5], prior=[0.9, 0.08, 0.02])
    plans = [
        (ex.plan(ex.geometric(3, 2), prior=shares, half_width=0.06, assurance=assurance), shares, None),
        (ex.plan(workload=skewed, epsilon=3, half_width=0.12, assurance=assurance), [0.9, 0.08, 0.02], skewed),
    ]
    for found, truth, workload in plans:
        assert found.assurance >= assurance
        generator, reached, seen = np.random.default_rng(1), 0, 250
        for counts in generator.multinomial(found.n, found.mechanism.marginal(truth), size=seen):
            if workload is None:
                result = ex.estimate_frequencies(counts, found.mechanism, counts=True).interval()
            else:
                result = ex.estimate_workload(counts, found.mechanism, workload, counts=True).interval()
            reached += bool(np.ptp(result, axis=1).max() / 2 <= found.wanted)
        assert abs(reached / seen - found.assurance) <= 0.15
        assert "with probability about 0." in " ".join(str(found).split())
    clusters = ex.Sample(cluster=np.arange(1000) // 10)
    for sample, rho in ((clusters, 0.1), (ex.Sample(weights=[1, 3] * 50), None)):
        planned = ex.plan(
            k=2, prior=[0.7, 0.3], epsilon=3, half_width=0.06, sample=sample, intraclass=rho, assurance=assurance
        )
        assert planned.assurance >= assurance
        assert "with probability about 0." in " ".join(str(planned).split())


def test_a_plan_with_weights_has_the_limits_of_an_estimate_at_the_expected_counts() -> None:
    """Clopper and Pearson's at an effective number, which is the least of those at the estimate and at both limits."""
    m = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, inputs=["no", "yes"])
    prior, each = [0.9, 0.1], 120
    weights, yes = np.repeat([1.0, 2.0, 3.0, 4.0], each), np.tile(np.arange(each) < 0.3 * each, 4)
    sample = ex.Sample(weights=weights)
    limits = ex.estimate_frequencies(np.array(m.outputs)[yes.astype(int)].tolist(), m, sample=sample).interval()
    found = ex.plan(m, prior=prior, n=weights.size, sample=sample)
    assert found.half_width == pytest.approx(float(np.ptp(limits, axis=1).max()) / 2, rel=1e-6)


@pytest.mark.parametrize("rho", [0.05, 0.4])
def test_how_the_estimate_of_clusters_scatters_is_that_of_beta_binomial_counts(rho: float) -> None:
    """Third and fourth moments of the counts of clusters of 2, 3 and 6, against the distribution itself."""
    p, sizes = 0.2, np.array([2, 3, 6])
    x = np.array([p, 1 - p])
    b = np.array([1 - p, -p])
    powers = [np.array([x @ b**j]) for j in range(2, 7)]
    answers = Moments(*powers[:3], *powers[:3], powers[1], powers[2], powers[2], powers[2])
    units = DesignEffect.of(ex.Sample(cluster=np.repeat(np.arange(3), sizes)), rho).units
    assert units is not None
    found = units.scatter(answers, int(sizes.sum()))
    moments = np.zeros((3, 3))
    for row, size in enumerate(sizes.tolist()):
        count = np.arange(size + 1)
        chance = betabinom.pmf(count, size, p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho)
        moments[row] = [chance @ (count - size * p) ** j for j in (2, 3, 4)]
    second, third, fourth = moments.T
    assert found.variance[0] == pytest.approx(second.sum() / sizes.sum() ** 2)
    assert found.skewness[0] == pytest.approx(third.sum() / second.sum() ** 1.5)
    assert units.degrees is not None
    spread = 2 / units.degrees.number + (fourth - 3 * second**2).sum() / second.sum() ** 2
    assert found.relative[0] == pytest.approx(spread)


@pytest.mark.parametrize(
    ("epsilon", "share", "half_width", "alike"), [(4, 0.3, 0.05, None), (4, 0.3, 0.05, 0), (6, 0.05, 0.05, 0.2)]
)
def test_surveys_with_a_sample_reach_the_half_width_as_often_as_stated(
    epsilon: int, share: float, half_width: float, alike: float | None
) -> None:
    """Weights, ten strata, clusters of 20: 100 surveys each; 0.69, 0.65 and 0.74 where 0.95 and 0.91 were stated."""
    m, prior = ex.randomized_response(["no", "yes"], epsilon), [1 - share, share]

    def sample(n: int) -> ex.Sample:
        people = np.arange(n)
        if alike is None:
            return ex.Sample(weights=1.0 + people % 4)
        return ex.Sample(cluster=people // 20) if alike else ex.Sample(strata=people * 10 // n)

    found = ex.plan(m, prior=prior, half_width=half_width, sample=sample(1000), intraclass=alike or None, assurance=0.9)
    widths = simulated_samples(m, prior, sample(found.n), 100, np.random.default_rng(3), alike or None)
    assert found.assurance >= 0.9
    assert np.mean(widths <= half_width + 1e-9) >= found.assurance - 0.1  # 3.3 standard errors
    fewer = sample(round(0.85 * found.n))
    narrow = simulated_samples(m, prior, fewer, 60, np.random.default_rng(4), alike or None) <= half_width
    assert np.mean(narrow) <= 0.86  # not more people than it must be: expected are 0.05, 0.05 and 0.75


def test_randomisation_makes_reports_of_a_cluster_less_alike() -> None:
    """What a cluster costs grows with what a report says: next to nothing at ε = 0.5, the whole effect at ε = 8."""
    clusters, alone = ex.Sample(cluster=np.arange(2000) // 10), ex.Sample(weights=np.ones(100))
    cost = []
    for epsilon in ("0.5", "2", "8"):
        plan = functools.partial(ex.plan, prior=[0.7, 0.3], epsilon=epsilon, half_width=0.03)
        cost.append(plan(sample=clusters, intraclass=0.2).n / plan(sample=alone).n)
    assert 1 < cost[0] < 1.2 < 1.5 < cost[1] < cost[2]
    assert cost[2] == pytest.approx(2.8, rel=0.02)
