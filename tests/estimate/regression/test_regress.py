"""Coefficients and standard errors against a general optimiser, closed forms and statsmodels."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import extremal as ex
from extremal.estimate.regression.likelihood import Hidden, Likelihood
from extremal.estimate.regression.outcomes import Polytomous
from extremal.estimate.regression.sandwich import at_least, noise


def _beside(name: str) -> ModuleType:
    """A module of this folder."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


made = _beside("instances")


def numerical_hessian(function: object, at: np.ndarray) -> np.ndarray:
    """Second differences with two steps, extrapolated (Richardson)."""

    def plain(h: float) -> np.ndarray:
        size = len(at)
        found, unit = np.zeros((size, size)), np.eye(size) * h
        for i in range(size):
            for j in range(i + 1):
                corners = [
                    s * t * function(at + s * unit[i] + t * unit[j])  # type: ignore[operator]
                    for s in (1, -1)
                    for t in (1, -1)
                ]
                found[i, j] = found[j, i] = math.fsum(corners) / (4 * h * h)
        return found

    return np.asarray((4 * plain(2e-3) - plain(4e-3)) / 3)


@pytest.mark.parametrize("number", range(50))
def test_a_general_optimiser_finds_the_same(number: int) -> None:
    case = made.instance(number)
    found = ex.regress(case.formula, case.frame, case.mechanism, family=case.family)
    assert found.llf == pytest.approx(case.log_likelihood(found.values), rel=1e-12)

    def minus(t: np.ndarray) -> float:
        return -case.log_likelihood(t)

    best = minimize(minus, case.truth, method="BFGS", options={"gtol": 1e-7})
    for _ in range(3):  # Newton's steps with numerical derivatives, to the last digits
        step = 1e-4
        slope = np.array([(minus(best.x + e) - minus(best.x - e)) / (2 * step) for e in np.eye(len(best.x)) * step])
        best.x = best.x - np.linalg.solve(numerical_hessian(minus, best.x), slope)
    assert found.values == pytest.approx(best.x, rel=1e-6, abs=1e-6)
    errors = np.sqrt(np.diag(np.linalg.inv(numerical_hessian(minus, best.x))))
    assert found.standard_error == pytest.approx(errors, rel=1e-6, abs=1e-6)
    assert np.abs((found.values - case.truth) / found.standard_error).max() < 5


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_other_starts_find_no_larger_likelihood(number: int) -> None:
    case = made.instance(number)
    found = ex.regress(case.formula, case.frame, case.mechanism, family=case.family)
    generator = np.random.default_rng(number)
    for _ in range(6):
        start = found.values + generator.normal(size=len(found.values))
        if case.family == "ordered":
            start[1:] = np.sort(start[1:])
        with np.errstate(all="ignore"):
            other = minimize(lambda t: -case.log_likelihood(t), start, method="Nelder-Mead", options={"maxiter": 4_000})
        assert -other.fun <= found.llf + 1e-6


@pytest.mark.parametrize("p", [0.7, 0.85, 0.2])
def test_warners_two_groups_are_the_closed_form(p: float) -> None:
    """Scheers and Dayton (1988): with one binary covariate the model is saturated, π̂ = (λ̂ − (1−p))/(2p − 1)."""
    m = ex.surveys.warner(p=p)
    yes, no = m.outputs[1], m.outputs[0]
    chance = m.matrix[1, 1]  # P(yes | in the group)
    sizes, answers = {"a": 900, "b": 700}, {}
    for group, true in (("a", 0.2), ("b", 0.45)):
        answers[group] = round(sizes[group] * (true * chance + (1 - true) * (1 - chance)))
    frame = pd.DataFrame(
        [(g, yes if i < answers[g] else no) for g in sizes for i in range(sizes[g])], columns=["group", "answer"]
    )
    found = ex.regress("answer ~ group", frame, m)
    share = {g: (answers[g] / sizes[g] - (1 - chance)) / (2 * chance - 1) for g in sizes}
    logit = {g: math.log(s / (1 - s)) for g, s in share.items()}
    assert found.params["Intercept"] == pytest.approx(logit["a"], abs=1e-9)
    assert found.params["group[T.b]"] == pytest.approx(logit["b"] - logit["a"], abs=1e-9)  # the log odds ratio
    # var π̂ = λ(1−λ)/(n(2p−1)²), and the delta method for its logit
    variance = {}
    for g, n in sizes.items():
        reported = answers[g] / n
        spread = reported * (1 - reported) / (n * (2 * chance - 1) ** 2)
        variance[g] = spread / (share[g] * (1 - share[g])) ** 2
    assert found.bse["Intercept"] == pytest.approx(math.sqrt(variance["a"]), rel=1e-8)
    assert found.bse["group[T.b]"] == pytest.approx(math.sqrt(variance["a"] + variance["b"]), rel=1e-8)
    predicted = found.predict(pd.DataFrame({"group": ["a", "b"]}))
    assert predicted.iloc[:, 1].tolist() == pytest.approx([share["a"], share["b"]], abs=1e-9)


@pytest.fixture(scope="module")
def open_answers() -> pd.DataFrame:
    generator, n = np.random.default_rng(8), 1_500
    z, region = generator.normal(size=n), generator.choice(["n", "s", "w"], size=n)
    latent = 0.7 * z + 0.4 * (region == "s") + generator.logistic(size=n)
    return pd.DataFrame(
        {
            "z": z,
            "region": region,
            "yes": (latent > 0.3).astype(int),
            "grade": (latent > -0.5).astype(int) + (latent > 1),
        }
    )


def test_the_identity_gives_statsmodels_logit(open_answers: pd.DataFrame) -> None:
    import statsmodels.api as sm

    design = pd.DataFrame(
        {
            "one": 1.0,
            "s": (open_answers.region == "s") * 1.0,
            "w": (open_answers.region == "w") * 1.0,
            "z": open_answers.z,
        }
    )
    plain = ex.Mechanism.from_matrix(np.eye(2))
    found = ex.regress("yes ~ C(region) + z", open_answers, plain)
    other = sm.Logit(open_answers.yes, design).fit(disp=0, method="newton", tol=1e-12)
    assert found.values == pytest.approx(other.params.to_numpy(), abs=1e-7)
    assert found.standard_error == pytest.approx(other.bse.to_numpy(), rel=1e-6)
    assert found.llf == pytest.approx(other.llf, rel=1e-12)
    assert (found.aic, found.bic) == pytest.approx((other.aic, other.bic))
    assert found.tvalues.to_numpy() == pytest.approx(other.tvalues.to_numpy(), rel=1e-6)
    assert found.pvalues.to_numpy() == pytest.approx(other.pvalues.to_numpy(), rel=1e-5, abs=1e-12)
    assert found.conf_int().to_numpy() == pytest.approx(other.conf_int().to_numpy(), abs=1e-6)
    assert found.cov_params().to_numpy() == pytest.approx(other.cov_params().to_numpy(), rel=1e-5)
    assert found.predict()["1"].to_numpy() == pytest.approx(np.asarray(other.predict()), abs=1e-7)
    sturdy = ex.regress("yes ~ C(region) + z", open_answers, plain, robust=True)
    white = sm.Logit(open_answers.yes, design).fit(disp=0, method="newton", tol=1e-12, cov_type="HC0")
    n = len(open_answers)
    assert sturdy.standard_error == pytest.approx(white.bse.to_numpy() * math.sqrt(n / (n - 1)), rel=1e-6)
    nearly = ex.regress("yes ~ C(region) + z", open_answers, ex.randomized_response(2, 30))
    assert nearly.values == pytest.approx(other.params.to_numpy(), abs=1e-6)


def test_the_identity_gives_statsmodels_multinomial_and_ordered(open_answers: pd.DataFrame) -> None:
    import statsmodels.api as sm
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    plain = ex.Mechanism.from_matrix(np.eye(3))
    design = sm.add_constant(open_answers[["z"]])
    several = sm.MNLogit(open_answers.grade, design).fit(disp=0, method="newton", tol=1e-12)
    found = ex.regress("grade ~ z", open_answers, plain)
    assert found.values == pytest.approx(several.params.to_numpy().T.ravel(), abs=1e-7)
    assert found.standard_error == pytest.approx(several.bse.to_numpy().T.ravel(), rel=1e-6)
    assert found.model.startswith("multinomial logit")
    ordered = ex.regress("grade ~ z", open_answers, plain, family="ordered")
    other = OrderedModel(open_answers.grade, open_answers[["z"]], distr="logit").fit(method="bfgs", disp=0, gtol=1e-9)
    cuts = other.model.transform_threshold_params(other.params)[1:-1]
    assert ordered.params["z"] == pytest.approx(float(other.params["z"]), abs=1e-5)
    assert ordered.values[1:] == pytest.approx(cuts, abs=1e-5)
    assert ordered.bse["z"] == pytest.approx(float(other.bse["z"]), rel=1e-4)
    assert ordered.predict().to_numpy() == pytest.approx(np.asarray(other.predict()), abs=1e-5)


def test_a_covariate_that_is_hardly_hidden_gives_least_squares(open_answers: pd.DataFrame) -> None:
    import statsmodels.api as sm

    plain = ex.Mechanism.from_matrix(np.eye(3))
    found = ex.regress("z ~ C(grade)", open_answers, {"grade": plain})
    dummies = pd.get_dummies(open_answers.grade, drop_first=True).to_numpy(dtype=float)
    other = sm.OLS(open_answers.z, sm.add_constant(dummies)).fit()
    assert found.values[:3] == pytest.approx(other.params.to_numpy(), abs=1e-7)
    scale = math.exp(found.params["log(scale)"])
    assert scale**2 == pytest.approx(other.ssr / len(open_answers), rel=1e-8)
    n = len(open_answers)
    assert found.standard_error[:3] == pytest.approx(other.bse.to_numpy() * math.sqrt((n - 3) / n), rel=1e-6)
    shares = np.exp([0, *found.values[4:]])
    assert shares / shares.sum() == pytest.approx(
        open_answers.grade.value_counts(normalize=True).sort_index().to_numpy()
    )


def test_weights_are_copies_and_their_errors_those_of_the_sample(open_answers: pd.DataFrame) -> None:
    m = ex.randomized_response(2, 3)
    weights = np.random.default_rng(0).integers(1, 4, size=len(open_answers))
    weighted = ex.regress("yes ~ z", open_answers, m, weights=weights)
    copied = ex.regress("yes ~ z", open_answers.loc[np.repeat(np.arange(len(open_answers)), weights)], m)
    assert weighted.values == pytest.approx(copied.values, abs=1e-8)
    assert (weighted.standard_error > copied.standard_error).all()  # copies are not more respondents
    named = ex.regress("yes ~ z", open_answers.assign(w=weights * 7.0), m, weights="w")
    assert named.standard_error == pytest.approx(weighted.standard_error, rel=1e-9)
    assert "robust (of the sample's design)" in str(named)
    equal = ex.regress("yes ~ z", open_answers, m, weights=[3.0] * len(open_answers))
    assert equal.standard_error == pytest.approx(ex.regress("yes ~ z", open_answers, m, robust=True).standard_error)


def test_units_of_a_covariate_do_not_matter(open_answers: pd.DataFrame) -> None:
    m = ex.randomized_response(2, 3)
    frame = open_answers.assign(income=3e5 + 1e5 * open_answers.z, tiny=1e-7 * open_answers.z)
    base = ex.regress("yes ~ z", frame, m)
    for name, unit in (("income", 1e5), ("tiny", 1e-7)):
        other = ex.regress(f"yes ~ {name}", frame, m)
        assert other.params[name] * unit == pytest.approx(base.params["z"], rel=1e-6)
        assert other.bse[name] * unit == pytest.approx(base.bse["z"], rel=1e-6)
        assert other.llf == pytest.approx(base.llf, rel=1e-11)


def test_the_naive_fit_shrinks_and_this_one_does_not() -> None:
    generator, n, m = np.random.default_rng(4), 20_000, ex.randomized_response(2, 1)
    z = generator.normal(size=n)
    truth = (generator.random(n) < made.logistic(-0.5 + 0.8 * z)).astype(int)
    frame = pd.DataFrame({"z": z, "answer": made.reported(generator, m, truth)})
    naive = ex.regress("answer ~ z", frame, ex.Mechanism.from_matrix(np.eye(2)))
    found = ex.regress("answer ~ z", frame, m)
    assert naive.params["z"] < 0.45
    assert abs(found.params["z"] - 0.8) < 4 * found.bse["z"]
    low, high = found.interval(0.999)[1]
    assert low < 0.8 < high
    assert "coef" in found.summary()
    assert repr(found).startswith("RegressionResult('answer ~ z', n=20000")


def test_the_variance_of_few_clusters_is_at_least_the_known_noise() -> None:
    m = ex.randomized_response(["no", "yes"], 2)
    frame = pd.DataFrame({"y": ["no", "no", "yes"] * 30, "c": np.repeat(range(3), 30)})  # clusters that agree
    fit = ex.regress("y ~ 1", frame, m, sample=ex.Sample(cluster="c"))
    q, yes = m.matrix, 1 / (1 + math.exp(-fit.values[0]))
    p = np.array([1 - yes, yes])
    scores = p.prod() * (q[1] - q[0]) / (p @ q)
    noise = p @ (q @ scores**2 - (q @ scores) ** 2)  # E Var(score | answer)
    assert fit.standard_error[0] ** 2 == pytest.approx(noise / 90 / (p @ q @ scores**2) ** 2, rel=1e-6)
    assert np.isfinite(fit.interval()).all()
    assert "nan" not in fit.summary()


def test_more_coefficients_than_clusters_have_no_intervals() -> None:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"y": generator.choice(["no", "yes"], 200), "c": np.arange(200) // 100})
    frame = frame.assign(a=generator.normal(size=200), b=generator.normal(size=200))
    m = ex.randomized_response(["no", "yes"], 2)
    fit = ex.regress("y ~ a + b", frame, m, sample=ex.Sample(cluster="c"))
    assert fit.pvalues.isna().all()
    assert np.isnan(fit.interval()).all()
    assert any("units are too few" in note for note in fit.notes)
    free = ex.regress("y ~ a + b", frame, m)
    assert (fit.standard_error > 0.3 * free.standard_error).all()  # two clusters span one direction, noise all of them
    frame["c"] = np.arange(200) // 25
    left = ex.regress("y ~ a + b", frame, m, sample=ex.Sample(cluster="c")).degrees
    assert left is not None
    assert (left.number <= 8 - 1 + 1 - 3).all()  # as svyglm counts them


def test_covariances_are_raised_in_the_directions_that_are_too_small_alone() -> None:
    generator = np.random.default_rng(2)
    one, least = ((a @ a.T) for a in generator.normal(size=(2, 4, 3)))
    found = at_least(one, least)
    for smaller in (one, least):
        assert np.linalg.eigvalsh(found - smaller).min() > -1e-10
    assert (at_least(one + least, least) == one + least).all()
    raised = at_least(0 * least, least)
    assert raised == pytest.approx(least, abs=1e-10)


@pytest.mark.parametrize("hidden", [False, True])
def test_the_noise_of_scores_is_what_redrawn_reports_of_the_same_answers_show(hidden: bool) -> None:
    generator, m = np.random.default_rng(3), ex.randomized_response(2, 1.5)
    x, truth = np.tile([0.0, 1.0], 50), np.repeat([0, 1], 50)
    seen = m.matrix[:, truth].T
    if hidden:
        designs = [np.column_stack([np.ones(100), np.full(100, value), x]) for value in (0.0, 1.0)]
        public = Polytomous(np.eye(2)[generator.integers(0, 2, 100)], ["0", "1"], ["1", "t", "x"])
        likelihood = Likelihood(public, designs, np.ones(100), Hidden(seen, np.ones((100, 1)), ["w"]))
        values = np.array([-0.3, 0.8, 0.2, 0.1])
    else:
        design = np.column_stack([np.ones(100), x])
        likelihood = Likelihood(Polytomous(seen, ["0", "1"], ["1", "x"]), [design], np.ones(100))
        values = np.array([0.2, -0.5])
    chances, expected = likelihood.answers(values), noise(likelihood, values, m.matrix)
    drawn, scores = generator.random((4000, 2, 100)), [likelihood.seeing(c).rows(values)[1] for c in m.matrix.T]
    answers = (drawn[:, 0] < chances[:, 1]).astype(int)
    reports = (drawn[:, 1] < m.matrix[answers, 1]).astype(int)
    given = np.einsum("xy,ynp->xnp", m.matrix, np.array(scores))
    rows = np.arange(100)
    pairs = zip(answers, reports, strict=True)
    away = np.array([(np.array(scores)[r, rows] - given[a, rows]).sum(axis=0) for a, r in pairs])
    assert np.cov(away.T) == pytest.approx(expected, abs=0.08 * expected.max())


@pytest.mark.parametrize(("epsilon", "few"), [(2.0, True), (8.0, False)])
def test_a_privatised_covariate_that_tells_little_is_noted(epsilon: float, few: bool) -> None:
    m = ex.randomized_response(3, epsilon)
    z = np.random.default_rng(5).normal(size=120)
    frame = pd.DataFrame({"z": z, "x": np.tile([0, 1, 2], 40), "y": z + np.tile([0.0, 1.0, 3.0], 40)})
    found = [note for note in ex.regress("y ~ x + z", frame, {"x": m}).notes if "too narrow" in note]
    assert bool(found) == few
    if few:
        assert "as 56 answers" in found[0]  # 120·((e² − 1)/(e² + 2))²
