"""Proofs about workloads: no choice of numbers proves too much, and a wrong number is refused or proves less."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import (
    Chords,
    ChosenPrior,
    Dual,
    Listed,
    Matrix,
    NotKnown,
    OnePrior,
    Refused,
    Squares,
    enclosure,
)
from extremal.certificate.arithmetic import workload_cost as costs
from extremal.certificate.proofs import matrix as matrix_proofs
from extremal.certificate.proofs.squares import ExactProblem
from extremal.estimate.channels.indicators import HashChannel
from extremal.mechanism import Mechanism
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.mechanism.structures.staircase import subset_structure
from extremal.optimize import table
from extremal.optimize.problem import Problem
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.lifts import Coordinates
from extremal.problem import RESOLUTION
from extremal.testing.designs import check
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload
from support.listed import listed_sets
from support.refusals import check_refusals

PRIOR = [0.4, 0.3, 0.2, 0.1]


@functools.cache
def solved(utility: Workload, epsilon: float = 1.0) -> tuple[Any, float]:
    solution = table.solved(Problem(ex.LDP(epsilon), utility))
    return solution.proofs[0], utility(solution.mechanism)


def triangle(matrix: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(v) for v in row[:i]) for i, row in enumerate(np.rint(matrix)))


def numbers(values: Any) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(v)) for v in values)


@pytest.mark.parametrize("seed", range(30))
def test_no_choice_of_z_and_alpha_proves_more_than_the_optimum(seed: int) -> None:
    generator = np.random.default_rng(seed)
    utility = CDF(PRIOR)
    proof, best = solved(utility)
    z = np.array([[float(v) for v in row] + [0.0] * (4 - len(row)) for row in proof.z])
    moved = z * (1 + 0.1 * generator.normal(size=z.shape)) if seed % 2 else generator.normal(size=z.shape) * 1e6
    wild = Squares(
        triangle(moved), Dual(numbers(a * (1 + 0.1 * generator.normal()) for a in proof.dual.alpha), Listed())
    )
    with contextlib.suppress(Refused):
        assert wild.bound(ex.LDP(1), utility) <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_no_d_n_z_proves_more_than_the_optimum(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k = 5
    prior = generator.dirichlet(np.ones(k))
    prior = np.round(prior, 6)
    prior[-1] += 1 - prior.sum()
    utility = CDF(prior)
    _, best = solved(utility)
    d = prior * np.exp(0.5 * generator.normal(size=k))
    n = np.abs(generator.normal(size=(k, k))) * 0.01
    z = 0.05 * generator.normal(size=(k, k)) - np.abs(generator.normal(size=(k, k))) / k
    unit = 1 << 40
    for size in (0.01, 0.03, 0.1, 0.3, 1.0):
        reason = Matrix(
            tuple(int(v * unit) for v in d),
            tuple(tuple(int(v * unit) for v in row[: i + 1]) for i, row in enumerate(n)),
            tuple(range(k)),
            20 - 40,
        )
        proof = Squares(triangle(size * z * unit), Dual((), reason))
        try:
            assert proof.bound(ex.LDP(1), utility) <= best
        except Refused:
            continue


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.5, 1.0, 2.0, 4.0])
def test_the_matrix_inequality_stays_below_the_exact_optimum_and_close(epsilon: float) -> None:
    for utility in (CDF(PRIOR), Ranges(6), CDF(8)):
        _, best = solved(utility, epsilon)
        assert utility.prior is not None
        found = best_inequality(Coordinates(utility.prior.values, utility.rows), epsilon)
        bound = found.proof(ex.LDP(epsilon), utility).bound(ex.LDP(epsilon), utility)
        assert 0.95 * best < bound <= best
        assert bound == pytest.approx(found.bound, rel=1e-6)


def test_a_z_that_is_a_little_too_large_is_refused() -> None:
    utility = CDF(12)
    assert utility.prior is not None
    found = best_inequality(Coordinates(utility.prior.values, utility.rows), 1.0)
    good = found.proof(ex.LDP(1), utility)
    good.bound(ex.LDP(1), utility)
    larger = tuple(tuple(v + v // 10**6 for v in row) for row in good.z)
    with pytest.raises(Refused, match="below"):
        dataclasses.replace(good, z=larger).bound(ex.LDP(1), utility)
    bent = [list(row) for row in good.z]
    bent[5][4] += bent[5][4] // 10
    with pytest.raises(Refused, match="below"):
        dataclasses.replace(good, z=tuple(tuple(row) for row in bent)).bound(ex.LDP(1), utility)


@pytest.mark.parametrize("least", [1e-3, 1e-6, 1e-11, -1e-11, -1e-6])
def test_many_rows_are_definite_only_when_they_are(least: float) -> None:
    """By one product of whole numbers, by two where an eigenvalue is small, or not at all."""
    generator, n = np.random.default_rng(1), 210
    basis = np.linalg.qr(generator.normal(size=(n, n)))[0]
    matrix = (basis * np.append(least, generator.uniform(0.2, 1, n - 1))) @ basis.T
    whole = np.array([[int(v) for v in row] for row in np.rint(np.ldexp(matrix + matrix.T, 62)).tolist()], dtype=object)
    padded = np.zeros((n + 1, n + 1), dtype=object)
    padded[:n, :n] = whole
    none = np.zeros((n, n), dtype=object)
    assert matrix_proofs._is_definite(whole, 63) is (least > 1e-9)
    if least > 0:
        matrix_proofs._refuse_indefinite(padded, 1, none, 1)
    else:
        with pytest.raises(Refused, match="below"):
            matrix_proofs._refuse_indefinite(padded, 1, none, 1)


def test_a_proof_for_one_epsilon_proves_less_for_a_larger_one() -> None:
    for utility in (CDF(6), Frequencies(7), Mean(range(6))):
        proof, best = solved(utility)
        assert proof.bound(ex.LDP(1), utility) == pytest.approx(best, rel=1e-6)
        _, better = solved(utility, 1.01)
        with contextlib.suppress(Refused):
            assert proof.bound(ex.LDP(1.01), utility) <= better


def test_a_proof_for_another_prior_proves_no_more_than_is_true_there() -> None:
    proof, _ = solved(CDF(PRIOR))
    other = CDF([0.1, 0.2, 0.3, 0.4])
    assert proof.bound(ex.LDP(1), other) <= solved(other)[1]


@pytest.mark.parametrize(
    ("utility", "reason"),
    [
        (CDF(6), Listed),
        (Frequencies(7), Listed),
        (Mean([0, 1, 5, 2]), Chords),
        (CDF(19), Matrix),
    ],
)
def test_every_proof_is_refused_when_it_is_about_something_else(utility: Workload, reason: type) -> None:
    proof, _ = solved(utility)
    assert isinstance(proof.dual.reason, reason)
    for privacy, other, message in (
        (ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]), "workload"),
        (ex.LDP(1), Ranges(5), None),
    ):
        with pytest.raises(Refused, match=message):
            proof.bound(privacy, other)
    if isinstance(utility, Frequencies):
        with pytest.raises(Refused, match="with δ truncated"):
            proof.bound(ex.LDP(1, delta=0.1), utility)
    with pytest.raises(Refused, match="class of priors"):
        OnePrior((Fraction(1),) * utility.k, (), proof).bound(ex.LDP(1), utility)


@pytest.mark.parametrize(
    ("utility", "changes"),
    [
        (CDF(6), {"z": ((1,),)}),
        (CDF(6), {"dual": Dual((Fraction(0),) * 5, Listed())}),
        (CDF(6), {"dual": Dual((), Listed(), (Fraction(1),))}),
        (CDF(6), {"diagonal": (1,) * 6}),
        (CDF(6), {"merged": (0, 0, 2, 2, 3, 3)}),
        (Frequencies(7), {"classes": (0,) * 6}),
        (Frequencies(7), {"classes": (1,) * 7}),
        (Frequencies(7), {"classes": ()}),
        (Frequencies(7), {"diagonal": (0,)}),
        (Frequencies(7), {"diagonal": ()}),
        (Frequencies(7), {"z": ((), (1,))}),
        (Mean([0, 1, 5, 2]), {"z": ((0, 0, 0),)}),
        (Mean([0, 1, 5, 2]), {"z": ((1, 0),)}),
    ],
)
def test_a_malformed_proof_is_refused(utility: Workload, changes: dict[str, Any]) -> None:
    proof, _ = solved(utility)
    with pytest.raises(Refused):
        dataclasses.replace(proof, **changes).bound(ex.LDP(1), utility)


@pytest.mark.parametrize(
    "changes",
    [
        {"d": (-1,) * 19},
        {"d": (1,) * 18},
        {"n": ((1,),), "blocks": (1,) * 19},
        {"n": ((-1,),), "blocks": (0,) * 19},
        {"n": ((10**30,),), "blocks": (0,) * 19},
        {"scale": 4001},
        {"scale": -4001},
    ],
)
def test_a_malformed_matrix_inequality_is_refused(changes: dict[str, Any]) -> None:
    proof, _ = solved(CDF(19))
    reason = dataclasses.replace(proof.dual.reason, **changes)
    with pytest.raises(Refused):
        dataclasses.replace(proof, dual=Dual((), reason)).bound(ex.LDP(1), CDF(19))
    for alpha in ((Fraction(1),) * 19, (Fraction(0),) * 18):
        with pytest.raises(Refused):
            dataclasses.replace(proof, dual=Dual(alpha, proof.dual.reason)).bound(ex.LDP(1), CDF(19))


def test_no_g_alpha_and_nodes_prove_more_than_the_optimum() -> None:
    utility = Mean([0, 1, 5, 2, 2.5], [0.1, 0.3, 0.2, 0.2, 0.2])
    proof, best = solved(utility)
    good = proof.bound(ex.LDP(1), utility)
    assert good == pytest.approx(best, rel=1e-8)
    for factor in (Fraction(1, 2), Fraction(9, 10), 1 - Fraction(1, 10**6)):
        lower = tuple(a * factor for a in proof.dual.alpha)
        assert dataclasses.replace(proof, dual=Dual(lower, proof.dual.reason)).bound(ex.LDP(1), utility) <= good
    nodes = proof.dual.reason.nodes
    for seed in range(20):
        generator = np.random.default_rng(seed)
        g = tuple(int(v * (1 + 0.1 * generator.normal())) for v in proof.z[0])
        alpha = numbers(v * (1 + 0.1 * generator.normal()) for v in proof.dual.alpha)
        wide = tuple(t * 2 for t in nodes[:: int(generator.integers(1, 9))])
        with contextlib.suppress(Refused):
            assert Squares((g,), Dual(alpha, Chords(wide)), merged=proof.merged).bound(ex.LDP(1), utility) <= best
    for few in (nodes[1:], nodes[:-1]):  # beyond the outermost node a square has no slope that ends
        with pytest.raises(Refused, match="finite"):
            dataclasses.replace(proof, dual=Dual(proof.dual.alpha, Chords(few))).bound(ex.LDP(1), utility)
    for statistics in (CDF(utility.source), Workload([[0, 1, 5, 2, 2.5], [1] * 5], utility.source)):
        assert 0 < proof.bound(ex.LDP(1), statistics) <= solved(statistics)[1]  # one direction of several


def test_a_prior_outside_the_class_is_refused() -> None:
    utility = CDF(ex.SourceClass.ball(PRIOR, 0.05))
    proof, value = solved(utility)
    assert proof.bound(ex.LDP(1), utility) == pytest.approx(value, rel=1e-5)
    with pytest.raises(Refused, match="in the class"):
        dataclasses.replace(proof, prior=(Fraction(1, 4),) * 4).bound(ex.LDP(1), utility)
    with pytest.raises(Refused, match="one prior"):
        proof.proof.bound(ex.LDP(1), utility)
    listed = CDF(ex.SourceClass([PRIOR, [0.1, 0.2, 0.3, 0.4]]))
    proof, value = solved(listed)
    with pytest.raises(Refused, match="≥ 0"):
        dataclasses.replace(proof, mix=(Fraction(1), Fraction(-1))).bound(ex.LDP(1), listed)


def test_counts_agree_with_patterns() -> None:
    utility = Frequencies(7)
    proof, _ = solved(utility)
    listed = Squares(triangle(2**40 * (np.eye(7) * 7 - 1)), Dual((), Listed()))
    assert listed.bound(ex.LDP(1), utility) == pytest.approx(proof.bound(ex.LDP(1), utility), rel=1e-14)
    assert math.isfinite(proof.bound(ex.LDP(1), utility))
    with pytest.raises(Refused, match="exchanged"):
        proof.bound(ex.LDP(1), CDF(7))
    with pytest.raises(Refused, match="constant"):
        proof.bound(ex.LDP(1), Frequencies([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))


def test_the_bound_is_exact_in_rationals() -> None:
    """Z = 3I − 11ᵀ on three shares, e^ε = 3: tr WZ = 6, tr ZWZ = 18, and (3, 1, 1) is worth 24·9/25."""
    exact = 6**2 / (Fraction(24 * 9, 25) + 18 * RESOLUTION)
    for proof in (
        Squares(((), (-1,), (-1, -1)), Dual((), Listed())),
        Squares(((),), Dual((), Listed()), diagonal=(3,), classes=(0,) * 3),
    ):
        assert proof.bound(ex.LDP.from_ratio(3), Frequencies(3)) == exact


def test_classes_prove_exactly_what_their_inputs_do() -> None:
    """Z = 4I − 11ᵀ, and a statistic that couples the inputs of the first class."""
    by_input = Squares(((), (-1,), (-1, -1), (-1, -1, -1)), Dual((), Listed()))
    by_class = Squares(((), (-1,)), Dual((), Listed()), diagonal=(4, 4), classes=(0, 0, 1, 1))
    for prior in (["0.25"] * 4, ["0.3", "0.3", "0.2", "0.2"]):
        utility = Workload([*np.eye(4).tolist(), [1, 1, 0, 0]], prior)
        assert by_class.bound(ex.LDP.from_ratio(3), utility) == by_input.bound(ex.LDP.from_ratio(3), utility)


def test_merged_inputs_are_averaged_by_the_prior_where_it_has_mass() -> None:
    weights, groups = [1, 0, 0, 0, 0, 2, 5], (0, 0, 1, 1, 1, 2, 2)
    third = Fraction(1, 3)
    means = np.zeros((3, 7), dtype=object)
    means[0, 0], means[1, 2:5], means[2, 5:] = 1, third, (Fraction(2, 7), Fraction(5, 7))
    rows = np.random.default_rng(3).integers(-5, 6, (4, 7)).astype(object)
    found = ExactProblem(np.array(weights, dtype=object), 8, rows.T @ rows, 6).merged(groups)
    assert (found.weights.tolist(), found.total) == ([1, 0, 7], 8)
    expected = means @ rows.T @ rows @ means.T / Fraction(6)
    assert all(Fraction(int(a), found.denominator) == b for a, b in zip(found.gram.flat, expected.flat, strict=True))


SPREAD = [0.4, 0.3, 0.2, 0.1]


@pytest.mark.parametrize(
    ("utility", "label"),
    [
        (CDF(SPREAD), "squares (listed)"),
        (Frequencies(5), "squares (listed)"),
        (Mean([0, 1, 5, 2]), "squares (chords)"),
        (CDF(19), "squares (matrix)"),
        (CDF(12, [2, 5, 8]), "squares (listed)"),
    ],
)
def test_a_spoiled_certificate_is_refused(utility: Workload, label: str) -> None:
    design = check(ex.design(ex.LDP(1), utility), tolerance=0.01)
    assert [proof.label for proof in design.certificate.proofs] == [label]
    other = None if isinstance(utility, Frequencies) else ex.randomized_response(utility.k, 1)
    check_refusals(design, CDF(utility.k, [0]), other, unique_dual=False)


@pytest.mark.parametrize("privacy", [ex.PML(0.3, SPREAD), ex.LIP(0.5, SPREAD)])
def test_a_spoiled_certificate_under_a_leakage_notion_is_refused(privacy: Any) -> None:
    check_refusals(check(ex.design(privacy, Frequencies(SPREAD)), 1e-6), CDF(SPREAD), unique_dual=False)


def test_pairs_of_lifts_alone_prove_a_matrix_inequality() -> None:
    """d = 0 and N = 11ᵀ − I: R is I on what sums to 0, and Σ N(1 − low)(1 − low) = 6 where low = 0."""
    proof = Squares(((), (-1,), (-1, -1)), Dual((), Matrix((0,) * 3, ((1,),), (0,) * 3, -2)))
    uniform, skewed = ["1/3"] * 3, ["1/2", "1/4", "1/4"]
    found = proof.bound(ex.PML("0.6", uniform), Frequencies(3))
    assert float(found) == pytest.approx(6.0**2 / (6 * 16), rel=1e-12)
    for notion, goal in (
        (ex.PML("0.6", skewed), Frequencies(3)),
        (ex.PML("0.6", uniform), Frequencies(skewed)),
        (ex.PML("0.6", ["1/2", "1/2", "0"]), Frequencies(["1/2", "1/2", "0"])),
    ):
        with pytest.raises(Refused, match="workload's prior, without zeros"):
            proof.bound(notion, goal)


@pytest.mark.parametrize(
    "utility",
    [
        CDF(ex.SourceClass.ball(SPREAD, 0.05)),
        CDF(ex.SourceClass([SPREAD, SPREAD[::-1]])),
        CDF(ex.SourceClass.simplex(4)),
        Frequencies(ex.SourceClass.permutation_invariant(SPREAD)),
        Mean([0, 1, 3, 4], ex.SourceClass.simplex(4)),
    ],
)
def test_a_worst_case_is_claimed_from_above_and_no_further(utility: Workload) -> None:
    design = ex.design(ex.LDP(1), utility)
    good = design.certificate
    low, high = enclosure(utility, design.mechanism, good.worst_prior)
    assert low <= high < math.nextafter(design.value, math.inf)
    assert design.value <= float(low) * (1 + 1e-7)
    assert ex.verify(good)
    for value in (design.value * (1 - 1e-6), design.value * (1 + 2e-6)):
        assert not ex.verify(dataclasses.replace(good, value=value))
    assert not ex.verify(dataclasses.replace(good, bound=design.value * (1 + 1e-6)))
    assert ex.verify(dataclasses.replace(good, worst_prior=None)).value == "not proven"
    outside = ChosenPrior((Fraction(1), Fraction(-1), Fraction(1), Fraction(1)), ())
    assert ex.verify(dataclasses.replace(good, worst_prior=outside)).value == "not proven"
    generator = np.random.default_rng(0)
    for _ in range(20):  # no prior of the class costs more
        prior = utility.source.extreme_prior(generator.normal(size=4).tolist())
        other = utility.source.extreme_prior(generator.normal(size=4).tolist())
        mixed = [(prior.fraction(x) + other.fraction(x)) / 2 for x in range(4)]
        assert utility.at(mixed)(design.mechanism) <= design.value * (1 + 1e-9)


def test_the_cost_is_exact_in_rationals_where_those_are_small() -> None:
    """Three inputs, weights over 4: the inverse by hand of the kernel, in Fractions, with the resolution."""
    mechanism = ex.Mechanism.from_weights([[2, 1, 1], [1, 2, 1], [1, 1, 2]], 4, ex.LDP(1))
    # J = Σ q qᵀ/m with m = 1/3: a on the diagonal, b off it; the shares' cost is 2/(a − b + ρ) at the uniform prior
    a, b = Fraction(3 * (4 + 1 + 1), 16), Fraction(3 * (2 + 2 + 1), 16)
    low, high = enclosure(Frequencies(3), mechanism)
    assert low <= 2 / (a - b + RESOLUTION) <= high
    assert high - low < Fraction(1, 10**60)


def test_what_is_not_identified_costs_infinitely_much() -> None:
    halves = ex.Mechanism.from_partition([0, 0, 1, 1], ex.LDP(1))
    assert enclosure(Frequencies(4), halves) == (math.inf, math.inf)
    assert math.isinf(Frequencies(4)(halves))
    low, high = enclosure(CDF(4, [1]), halves)
    assert float(low) == pytest.approx(CDF(4, [1])(halves), rel=1e-12)
    assert float(high) == float(low)


@pytest.mark.parametrize(("k", "epsilon"), [(7, 0.5), (12, 1.0), (30, 1.0), (40, 3.0)])
def test_all_subsets_cost_what_the_closed_form_says(k: int, epsilon: float) -> None:
    mechanism = ex.subset_selection(k, epsilon)
    low, high = enclosure(CDF(k), mechanism)
    assert float(low) == pytest.approx(CDF(k)(mechanism), rel=1e-10)
    assert high - low <= low / 10**40


def test_columns_may_be_listed_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, utility = ex.subset_selection(7, 1), CDF([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1])
    at_once = enclosure(utility, mechanism)
    monkeypatch.setattr(costs, "MOST_ENTRIES", 1)
    assert enclosure(utility, mechanism) == at_once


@pytest.mark.parametrize("groups", [(3, 4), (1, 6), (2, 2, 3)])
def test_subsets_counted_by_groups_cost_what_their_list_does(
    groups: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    prior = [g + 1 for g, n in enumerate(groups) for _ in range(n)]
    prior = [Fraction(p, sum(prior)) for p in prior]
    kept = Mechanism._made(
        subset_structure(7, 3, ex.LDP(1).exponential),
        None,
        ex.subset_selection(7, 1).input_labels,
        SubsetLabels(ex.subset_selection(7, 1).input_labels, 3),
        ex.LDP(1),
    )
    for utility in (CDF(prior), Frequencies(prior), Mean([0, 1, 5, 2, 2, 7, 3], prior)):
        low, high = enclosure(utility, kept)
        listed = enclosure(utility, ex.subset_selection(7, 1, size=3))
        assert max(low, listed[0]) == pytest.approx(min(high, listed[1]), rel=1e-15)
        assert high - low <= low / 10**40
    monkeypatch.setattr(costs, "MOST_COUNTS", 1)
    with pytest.raises(NotKnown, match="too many"):
        enclosure(CDF(prior), kept)


def test_sets_of_several_types_cost_what_the_listed_mechanism_does() -> None:
    of = np.array([0, 0, 1, 1, 0, 1, 1])
    structure = grouped_structure(of, [(1, 2), (2, 1), (0, 3), (1, 1)], [1.0, 2.0, 0.2, 0.5], ex.LDP(1).exponential)
    kept = Mechanism.from_structure(structure, ex.LDP(1), outputs=structure.reports)
    listed = listed_sets(structure, ex.LDP(1))
    for weights in ([1] * 7, [3, 3, 1, 1, 3, 1, 1], [3, 1, 2, 2, 3, 1, 2]):
        prior = [Fraction(w, sum(weights)) for w in weights]
        for utility in (CDF(prior), Frequencies(prior), Mean([0, 1, 5, 2, 2, 7, 3], prior)):
            low, high = enclosure(utility, kept)
            assert float(low) == pytest.approx(float(enclosure(utility, listed)[0]), rel=1e-13)
            assert float(low) == pytest.approx(utility(kept), rel=1e-11)
            assert high - low <= low / 10**40
    simplex = Frequencies(ex.SourceClass.simplex(7))
    with pytest.raises(NotKnown):
        enclosure(simplex, kept, ChosenPrior((Fraction(1),) * 7, ()))


def test_columns_that_only_bound_the_reports_are_not_counted_as_all_of_them() -> None:
    prior = [Fraction(3, 200)] * 50 + [Fraction(1, 200)] * 50
    with pytest.raises(NotKnown, match="not all those with certain counts"):
        enclosure(Frequencies(prior), ex.unary_encoding(100, 1))


def test_hashing_costs_what_its_usual_estimate_does() -> None:
    """(1{a report holds x} − b)/(a − b), whose variance needs how often x is held and nothing else."""
    prior = np.array([3 / 200] * 50 + [1 / 200] * 50)
    mechanism = ex.local_hashing(100, 1)
    seen = HashChannel(mechanism)
    held = seen.other + (seen.own - seen.other) * prior
    usual = (held * (1 - 2 * seen.other) + seen.other**2) / (seen.own - seen.other) ** 2 - prior**2
    low, high = enclosure(Frequencies(prior), mechanism)
    assert float(low) == pytest.approx(usual.sum(), rel=1e-12)
    assert float(high) == pytest.approx(usual.sum(), rel=1e-12)


def test_a_class_of_a_user_is_not_known() -> None:
    class Mine(CDF):
        pass

    with pytest.raises(NotKnown):
        enclosure(Mine(4), ex.randomized_response(4, 1))
    with pytest.raises(NotKnown):
        solved(CDF(4))[0].bound(ex.LDP(1), Mine(4))
