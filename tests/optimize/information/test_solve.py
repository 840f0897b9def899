"""Information under ε-LDP: every answer certified, equal to the full program, and never lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import extremal as ex
from extremal.optimize.information.bounds import affine, convex, fluid
from extremal.optimize.information.columns import ColumnGeneration
from extremal.optimize.information.large import blocks, circulant, coarsened, two_rings
from extremal.optimize.information.mixture import from_counts
from extremal.optimize.information.pricing import Pricing
from extremal.optimize.rays import patterns, solved_over
from extremal.utility.curve import InformationCurve

AGREEMENT = 1e-10  # with the full program, whose solver is accurate to about 1e-11


def certified(design: ex.Design, tolerance: float = 1e-9) -> ex.Design:
    """Privacy holds in integers, the value is the mechanism's and below the bound, the gap is closed, the certificate
    verifies."""
    claim = design.mechanism.privacy
    assert isinstance(claim, ex.LDP)
    assert claim.holds(design.mechanism)
    assert design.value == design.utility(design.mechanism) == design.lower_bound
    assert design.value <= design.upper_bound
    assert design.gap <= tolerance, design
    result = ex.verify(design)
    assert result, result.reasons
    assert result.optimality
    return design


def best(prior: Any, epsilon: Any, **options: Any) -> ex.Design:
    return ex.design(ex.LDP(epsilon), ex.MutualInformation(prior), **options)


def full_program(prior: Any, epsilon: float) -> float:
    """Every one of the 2^k − 2 patterns in one linear program."""
    columns = patterns(len(prior), epsilon)
    values = ex.MutualInformation(prior).column_values(columns)
    weights, _, _ = solved_over(columns, values[None, :])
    return float(values @ weights)


def priors(kind: str, k: int, generator: np.random.Generator) -> Any:
    """Five kinds of priors, each with its own difficulty."""
    weights = {
        "dirichlet": lambda: generator.dirichlet(np.ones(k)),
        "zipf": lambda: 1 / np.arange(1, k + 1) ** 1.1,
        "ties": lambda: generator.integers(1, 4, k).astype(float),
        "near uniform": lambda: 1 + 1e-4 * generator.standard_normal(k),
        "one heavy": lambda: np.append(generator.dirichlet(np.ones(k - 1)) * 0.05, 0.95),
    }[kind]()
    return weights / weights.sum()


@pytest.mark.parametrize("kind", ["dirichlet", "zipf", "ties", "near uniform", "one heavy"])
def test_agrees_with_the_full_program(kind: str) -> None:
    generator = np.random.default_rng(2_024)
    for _ in range(8):
        k, epsilon = int(generator.integers(2, 10)), float(np.exp(generator.uniform(np.log(0.01), np.log(8))))
        prior = priors(kind, k, generator)
        found = certified(best(prior, epsilon))
        assert found.value == pytest.approx(full_program(prior, epsilon), rel=AGREEMENT)


def test_every_reference_value_of_theorem_4(reference: dict[str, dict[str, Any]]) -> None:
    cases = [case for name, case in reference.items() if name.startswith("ldp_opt_mi_k")]
    assert len(cases) == 7
    for case in cases:
        found = certified(best(case["arguments"]["prior"], case["arguments"]["epsilon"]))
        assert found.value == pytest.approx(float(case["expected"]["OPT_MI"]), rel=1e-12)


def test_erratum_e6_reference_of_uniform_priors(reference: dict[str, dict[str, Any]]) -> None:
    for k in (3, 4):
        for key, expected in reference[f"ldp_opt_mi_uniform_k{k}"]["expected"].items():
            found = certified(best([f"1/{k}"] * k, key.removeprefix("eps_")), 1e-12)
            assert found.value == pytest.approx(float(expected["OPT_MI"]), rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7, 50, 1000, 10_000])
def test_uniform_prior_in_closed_form(k: int) -> None:
    for epsilon in (0.1, 1, 5):
        found = certified(best([f"1/{k}"] * k, epsilon), 1e-12)
        assert found.value == pytest.approx(float(InformationCurve(epsilon).rate(np.arange(1, k) / k).max()), rel=1e-12)


@pytest.mark.parametrize(("k", "epsilon"), [(20, 0.1), (30, 1), (50, 4), (60, 8)])
@pytest.mark.parametrize("kind", ["dirichlet", "zipf"])
def test_the_gap_closes_without_enumeration(kind: str, k: int, epsilon: float) -> None:
    certified(best(priors(kind, k, np.random.default_rng(k)), epsilon))


@pytest.mark.parametrize("epsilon", [1, 4])
def test_ten_thousand_symbols(epsilon: float) -> None:
    certified(best(np.random.default_rng(1).dirichlet(np.ones(10_000)), epsilon))


@pytest.mark.parametrize(("k", "epsilon"), [(30, 0.5), (1000, 4), (10_000, 8)])
def test_next_to_uniform(k: int, epsilon: float) -> None:
    noise = np.random.default_rng(0).standard_normal(k)
    for size, gap in ((1e-7, 1e-12), (1e-3, 1e-6)):
        prior = (1 + size * noise) / k
        certified(best(prior / prior.sum(), epsilon, tolerance=gap), gap)


def test_equal_symbols_collapse_to_counts() -> None:
    prior = [f"{w}/200" for w in [1] * 40 + [2] * 40 + [4] * 20]
    found = certified(best(prior, 1))
    rows = found.mechanism.matrix
    information = np.array([(rows[x] * np.log(rows[x] / found.mechanism.marginal(prior))).sum() for x in range(100)])
    for group in (slice(0, 40), slice(40, 80), slice(80, 100)):  # symbols of equal probability are treated alike
        assert np.ptp(information[group]) < 1e-9


def test_heavy_symbols_beside_many_tiny_ones_where_the_fluid_bound_is_loose() -> None:
    tiny = np.random.default_rng(0).uniform(1, 1.3, 700)
    prior = np.concatenate((np.array([0.5, 0.3, 0.2]) * 0.99, tiny / tiny.sum() * 0.01))
    found = certified(best(prior / prior.sum(), 1))
    assert fluid(np.asarray(prior), InformationCurve(1.0))[0] > 1.01 * found.upper_bound


def test_symbols_that_never_occur_do_not_matter() -> None:
    with_zeros = certified(best([0.4, 0, 0.3, 0.2, 0, 0.1], 1.5))
    without = certified(best([0.4, 0.3, 0.2, 0.1], 1.5))
    assert with_zeros.value == pytest.approx(without.value, rel=1e-12)
    assert with_zeros.mechanism.k == 6


def test_nothing_to_report() -> None:
    for prior, epsilon in (([1, 0, 0], 1), ([0.5, 0.3, 0.2], 0)):
        found = certified(best(prior, epsilon))
        assert found.value == found.upper_bound == 0
        assert "constant" in found.method


@given(st.floats(0.05, 5), st.lists(st.integers(1, 9), min_size=2, max_size=7))
@settings(max_examples=25)
def test_more_privacy_keeps_less_and_merging_loses(epsilon: float, weights: list[int]) -> None:
    prior = [f"{w}/{sum(weights)}" for w in weights]
    found = best(prior, epsilon)
    assert best(prior, 2 * epsilon).upper_bound >= found.value
    merged = [f"{weights[0] + weights[1]}/{sum(weights)}", *prior[2:]]
    if len(merged) >= 2:  # the two merged symbols could share a row
        assert best(merged, epsilon).value <= found.upper_bound
    assert found.upper_bound <= InformationCurve(epsilon).limit * (1 + 1e-9)


def test_labels_and_exact_ratio() -> None:
    found = certified(ex.design(ex.LDP.from_ratio(3), ex.MutualInformation([0.5, 0.3, 0.2]), inputs=["a", "b", "c"]))
    assert found.mechanism.inputs == ("a", "b", "c")


def test_summary_says_what_the_classical_mechanisms_keep() -> None:
    text = best([0.3, 0.25, 0.2, 0.12, 0.08, 0.05], 0.5).summary()
    assert "randomised response keeps 0.0199221 (64.08% of this design)" in text
    assert "one bit keeps 0.0302999 (97.46% of this design); its " in text
    assert "have P(T) closest to 1/2: exactly half" in text
    assert "no report at this ε carries more than 0.0311421" in text


def test_time_limit_returns_the_best_so_far() -> None:
    prior = np.random.default_rng(2).dirichlet(np.ones(120))
    found = best(prior, 6, time_limit=0.001, tolerance=1e-12)
    assert found.gap < 1
    assert ex.verify(found)
    assert "best so far" in found.summary()


def test_interrupt_returns_the_best_so_far() -> None:
    calls = []

    def interrupted(what: str, gap: float) -> None:
        calls.append(what)
        if what == "column generation" and len(calls) > 3:
            raise KeyboardInterrupt

    found = best(np.random.default_rng(2).dirichlet(np.ones(25)), 2, progress=interrupted)
    assert ex.verify(found)
    assert found.gap < 0.5
    assert "interrupted" in found.summary()


# -- parts
# --------------------------------------------------------------------------------------------------------------


def test_pricing_finds_the_best_set_and_bounds_it() -> None:
    generator = np.random.default_rng(3)
    for _ in range(30):
        k, epsilon = int(generator.integers(3, 10)), float(generator.uniform(0.05, 6))
        mass, curve = generator.dirichlet(np.ones(k)), InformationCurve(epsilon)
        prices = generator.normal(size=k) * mass * curve.top
        inside = (np.arange(2**k)[:, None] >> np.arange(k)) & 1
        values = curve.value(inside @ mass) - inside @ prices
        found = Pricing(curve, mass, np.ones(k, dtype=np.int64)).best(prices, -np.inf, 10**6, keep=3)
        assert found.values[0] == pytest.approx(values.max(), abs=1e-12 * curve.top)
        assert found.upper == pytest.approx(values.max(), abs=1e-12 * curve.top)
        few = Pricing(curve, mass, np.ones(k, dtype=np.int64)).best(prices, -np.inf, 2)
        assert few.upper >= values.max() - 1e-12 * curve.top  # whatever was not followed is in the bound


def test_bounds_are_above_the_optimum_and_the_right_one_is_tight() -> None:
    generator = np.random.default_rng(4)
    for noise in (0.0, 1e-3, 0.5):
        for epsilon in (0.3, 2.0, 5.0):
            prior = (1 + noise * generator.uniform(-1, 1, 8)) / 8
            prior /= prior.sum()
            curve, optimum = InformationCurve(epsilon), full_program(prior, epsilon)
            for bound in (fluid, affine, convex):
                assert bound(prior, curve)[0] >= optimum * (1 - 1e-12)
            if not noise:
                assert affine(prior, curve)[0] == pytest.approx(optimum, rel=1e-11)


@pytest.mark.parametrize("design", [two_rings, blocks])
def test_mixtures_are_row_stochastic(design: Any) -> None:
    prior = (1 + 1e-3 * np.random.default_rng(5).standard_normal(200)) / 200
    prior, curve = prior / prior.sum(), InformationCurve(3.0)
    for made in (design(prior, curve), circulant(prior, curve, curve.best_mass)):
        assert made is not None
        rows = made.weights.sum() + curve.c * (made.sets * made.weights).sum(axis=1)
        np.testing.assert_allclose(rows, 1, atol=1e-12)
        mechanism = made.mechanism(ex.LDP(3), None)
        assert ex.MutualInformation(prior)(mechanism) == pytest.approx(made.value(prior, curve), rel=1e-10)


def test_sliding_windows_treat_equal_symbols_alike() -> None:
    group_of, count = np.array([0, 0, 0, 1, 1]), np.array([3, 2])
    made = from_counts(np.array([[2, 1], [1, 0]]), np.array([0.3, 0.2]), group_of, count)
    cover = (made.sets * made.weights).sum(axis=1)
    np.testing.assert_allclose(cover, [0.3 * 2 / 3 + 0.2 / 3] * 3 + [0.15] * 2)


def test_coarsening_keeps_heavy_symbols_apart() -> None:
    prior = np.append([0.3, 0.2], np.full(500, 0.001))
    row_of = coarsened(prior, 0.1, 20, np.random.default_rng(0))
    assert np.bincount(row_of)[row_of[:2]].tolist() == [1, 1]
    assert row_of.max() < 30


def test_column_generation_starts_with_a_valid_answer() -> None:
    prior, curve = np.random.default_rng(6).dirichlet(np.ones(9)), InformationCurve(1.0)
    run = ColumnGeneration(curve, prior, np.ones(9, dtype=np.int64), np.inf, 1e-9)
    assert run.found.lower == pytest.approx(curve.response(prior), rel=1e-12)
    assert run.upper >= run.found.lower


def test_the_course_over_epsilon_as_table_and_picture() -> None:
    table = ex.information_over_epsilon([0.5, 0.3, 0.2], [0.5, 1, 2])
    frame = table.to_frame()
    assert list(frame.columns)[:2] == ["epsilon", "optimum"]
    assert all(b >= v for v, b in zip(table.columns["optimum"], table.columns["upper_bound"], strict=True))
    assert table.columns["binary"][0] == pytest.approx(
        table.columns["optimum"][0], rel=1e-11
    )  # below the threshold 0.8656
    assert table.columns["randomized_response"][2] == pytest.approx(table.columns["optimum"][2], rel=1e-11)
    axes = table.plot().axes
    assert [axis.get_xlabel() for axis in axes] == ["ε (nats)", "ε (nats)"]
    assert "optimum" in str(table)


@pytest.mark.parametrize(("epsilons", "message"), [([0], "epsilons must be positive"), ([], "at least one value")])
def test_bad_epsilons_are_refused(epsilons: list[float], message: str) -> None:
    with pytest.raises(ex.InvalidParameter, match=message):
        ex.information_over_epsilon([0.5, 0.5], epsilons)
