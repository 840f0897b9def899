"""Information under ε-LDP: every answer certified, equal to the full program, and never lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import extremal as ex
from extremal.optimize import Design
from extremal.optimize.information.bounds import fluid
from extremal.optimize.rays import best_mixture
from extremal.privacy.cones.staircase import patterns
from extremal.testing.designs import check
from extremal.utility.curve import InformationCurve

AGREEMENT = 1e-10  # with the full program, whose solver is accurate to about 1e-11


def best(prior: Any, epsilon: Any, **options: Any) -> Design:
    return ex.design(ex.LDP(epsilon), ex.MutualInformation(prior), **options)


def full_program(prior: Any, epsilon: float) -> float:
    """Every one of the 2^k − 2 patterns in one linear program."""
    columns = patterns(len(prior), epsilon)
    values = ex.MutualInformation(prior).column_values(columns)
    return float(values @ best_mixture(columns, values[None, :]).weights)


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
        found = check(best(prior, epsilon))
        assert found.value == pytest.approx(full_program(prior, epsilon), rel=AGREEMENT)


def test_every_reference_value_of_theorem_4(reference: dict[str, dict[str, Any]]) -> None:
    cases = [case for name, case in reference.items() if name.startswith("ldp_opt_mi_k")]
    assert len(cases) == 7
    for case in cases:
        found = check(best(case["arguments"]["prior"], case["arguments"]["epsilon"]))
        assert found.value == pytest.approx(float(case["expected"]["OPT_MI"]), rel=1e-12)


def test_erratum_e6_reference_of_uniform_priors(reference: dict[str, dict[str, Any]]) -> None:
    for k in (3, 4):
        for key, expected in reference[f"ldp_opt_mi_uniform_k{k}"]["expected"].items():
            found = check(best([f"1/{k}"] * k, key.removeprefix("eps_")), 1e-12)
            assert found.value == pytest.approx(float(expected["OPT_MI"]), rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7, 50, 1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_uniform_prior_in_closed_form(k: int) -> None:
    for epsilon in (0.1, 1, 5):
        found = check(best([f"1/{k}"] * k, epsilon), 1e-12)
        assert found.value == pytest.approx(float(InformationCurve(epsilon).rate(np.arange(1, k) / k).max()), rel=1e-12)


@pytest.mark.parametrize(("k", "epsilon"), [(20, 0.1), (30, 1), (50, 4), (60, 8)])
@pytest.mark.parametrize("kind", ["dirichlet", "zipf"])
def test_the_gap_closes_without_enumeration(kind: str, k: int, epsilon: float) -> None:
    check(best(priors(kind, k, np.random.default_rng(k)), epsilon))


@pytest.mark.parametrize("epsilon", [1, 4])
def test_ten_thousand_symbols(epsilon: float) -> None:
    check(best(np.random.default_rng(1).dirichlet(np.ones(10_000)), epsilon))


@pytest.mark.parametrize(("k", "epsilon"), [(30, 0.5), (1000, 4), pytest.param(10_000, 8, marks=pytest.mark.slow)])
def test_next_to_uniform(k: int, epsilon: float) -> None:
    noise = np.random.default_rng(0).standard_normal(k)
    for size, gap in ((1e-7, 1e-12), (1e-3, 1e-6)):
        prior = (1 + size * noise) / k
        check(best(prior / prior.sum(), epsilon, tolerance=gap), gap)


def test_equal_symbols_collapse_to_counts() -> None:
    prior = [f"{w}/200" for w in [1] * 40 + [2] * 40 + [4] * 20]
    found = check(best(prior, 1))
    rows = found.mechanism.matrix
    information = np.array([(rows[x] * np.log(rows[x] / found.mechanism.marginal(prior))).sum() for x in range(100)])
    for group in (slice(0, 40), slice(40, 80), slice(80, 100)):  # symbols of equal probability are treated alike
        assert np.ptp(information[group]) < 1e-9


def test_heavy_symbols_beside_many_tiny_ones_where_the_fluid_bound_is_loose() -> None:
    tiny = np.random.default_rng(0).uniform(1, 1.3, 700)
    prior = np.concatenate((np.array([0.5, 0.3, 0.2]) * 0.99, tiny / tiny.sum() * 0.01))
    found = check(best(prior / prior.sum(), 1))
    assert fluid(np.asarray(prior), InformationCurve(1.0))[0] > 1.01 * found.upper_bound


def test_symbols_that_never_occur_do_not_matter() -> None:
    with_zeros = check(best([0.4, 0, 0.3, 0.2, 0, 0.1], 1.5))
    without = check(best([0.4, 0.3, 0.2, 0.1], 1.5))
    assert with_zeros.value == pytest.approx(without.value, rel=1e-12)
    assert with_zeros.mechanism.k == 6


def test_nothing_to_report() -> None:
    for prior, epsilon in (([1, 0, 0], 1), ([0.5, 0.3, 0.2], 0)):
        found = check(best(prior, epsilon))
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
    found = check(ex.design(ex.LDP.from_ratio(3), ex.MutualInformation([0.5, 0.3, 0.2]), inputs=["a", "b", "c"]))
    assert found.mechanism.inputs == ("a", "b", "c")


def test_summary_says_what_the_classical_mechanisms_keep() -> None:
    text = " ".join(best([0.3, 0.25, 0.2, 0.12, 0.08, 0.05], 0.5).summary().split())  # whatever its lines
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
