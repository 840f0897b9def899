"""The audit: honest samplers pass, planted leaks of 0.05 nats do not, and its limits are Clopper's and Pearson's."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import extremal as ex
from extremal.exact.weights import DENOMINATOR
from extremal.release import sample_codes
from extremal.release.audit import MOST_INPUTS, audit, audited_inputs, clopper_pearson
from extremal.release.audit_pairs import pair_events
from support.random_mechanisms import random_ldp_matrix

DRAWS = 1_000_000
FAMILY = 1e-6  # of all honest audits here together: a false alarm once in a million runs
RANDOM = np.random.default_rng(11)
HONEST = [
    ex.randomized_response(10, 1),
    ex.randomized_response(200, 3),
    ex.randomized_response(2, 0),
    ex.Mechanism.from_windows(40, 11, ex.LDP(1)),
    ex.Mechanism.from_partition(np.arange(50) // 7, ex.LDP("0.5")),
    ex.Mechanism.from_matrix(random_ldp_matrix(RANDOM, 6, 2.0), ex.LDP(2)),
    ex.Mechanism.from_weights([[3, 1, 0], [0, 1, 3]], 4),
]


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("m", HONEST, ids=repr)
def test_honest_samplers_pass(m: ex.Mechanism, compiled: bool) -> None:
    found = audit(
        m, 200_000, 1 - FAMILY / (2 * len(HONEST)), sample=lambda codes: sample_codes(m, codes, compiled=compiled)
    )
    assert found, found.summary()
    assert found.delivered <= found.allowed
    assert "no leak found" in found.summary()


def test_the_bound_is_close_to_the_truth() -> None:
    found = audit(ex.randomized_response(10, 1), DRAWS, 1 - FAMILY)
    assert found.allowed == 1
    assert 0.95 < found.delivered <= 1


def _one_row(extra: float) -> ex.Mechanism:
    weights = ex.randomized_response(10, 1).weights.astype(object)
    high = int(weights[4, 4] * math.exp(extra))
    weights[4] = (DENOMINATOR - high) // 9
    weights[4, 4] += DENOMINATOR - int(weights[4].sum())
    return ex.Mechanism.from_weights(weights.astype(np.int64))


@pytest.mark.parametrize("leaky", [ex.randomized_response(10, 1.05), _one_row(0.05)], ids=["everywhere", "one input"])
def test_a_planted_leak_is_caught_by_the_bound(leaky: ex.Mechanism) -> None:
    """+0.05 at k = 10, ε = 1, at a family-wise level of 1e-3: `make audit` measures how often; here it must be."""
    found = audit(ex.randomized_response(10, 1), DRAWS, sample=lambda codes: sample_codes(leaky, codes))
    assert found.exceeds
    assert not found
    assert found.summary().startswith("REFUSED: at least ε = 1.0")


def test_a_tilt_that_does_not_exceed_the_level_is_seen_in_the_reports() -> None:
    m = ex.randomized_response(10, 1)
    less = ex.randomized_response(10, 0.9)
    found = audit(m, DRAWS, sample=lambda codes: sample_codes(less, codes))
    assert not found.exceeds
    assert not found
    assert "reports 0 with probability between" in found.misfits[0]


def test_pooled_reports_find_what_single_ones_cannot() -> None:
    """Windows on 3,000 inputs: every single report is rare, the window's reports together are not."""
    m = ex.Mechanism.from_windows(3_000, 900, ex.LDP(1))
    found = audit(m, 100_000, 1 - FAMILY)
    assert found
    assert found.delivered > 0.8


def test_many_rows_are_represented() -> None:
    assert audited_inputs(ex.randomized_response(300, 1)).size == MOST_INPUTS
    partition = ex.Mechanism.from_partition(np.arange(1000) % 5, ex.LDP(1))
    assert audited_inputs(partition).tolist() == [0, 1, 2, 3, 4]


def test_clopper_pearson_against_the_binomial() -> None:
    """The defining property: at the lower limit so many successes have probability `share`, at the upper so few."""
    share, draws = 1e-4, 5_000
    counts = np.array([0, 1, 17, 2_500, 4_999, 5_000])
    lower, upper = clopper_pearson(counts, draws, share)
    assert lower[0] == 0
    assert upper[-1] == 1
    assert binom.sf(counts[1:] - 1, draws, lower[1:]) == pytest.approx(share, rel=1e-6)
    assert binom.cdf(counts[:-1], draws, upper[:-1]) == pytest.approx(share, rel=1e-6)


@pytest.mark.parametrize(
    ("claim", "allowed"),
    [
        (ex.PML(1, [0.5, 0.5]), math.log(3)),
        (ex.LDP(1, delta=0.2), math.log(3)),
        (None, math.log(3)),
        (ex.LDP(2), 2.0),
    ],
)
def test_what_is_allowed(claim: Any, allowed: float) -> None:
    m = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4)
    assert audit(m, 1_000, claim=claim).allowed == pytest.approx(allowed)


def test_bad_arguments() -> None:
    m = ex.randomized_response(2, 1)
    with pytest.raises(ex.errors.InvalidParameter, match="draws must be at least 1"):
        audit(m, 0)
    with pytest.raises(
        ex.errors.InvalidParameter, match="confidence must lie strictly between 0 and 1; got confidence=1"
    ):
        audit(m, confidence=1)
    with pytest.raises(ex.errors.InvalidParameter, match="reports must favour an input or not"):
        pair_events(m, 10, lambda codes: codes)


@pytest.mark.parametrize("strategy", ["joint", "sample"])
def test_records_of_a_questionnaire_are_audited_and_a_better_coin_is_refused(strategy: str) -> None:
    """Sets, a mean and several kinds: the promised probabilities are those drawn; coins that are 3% better are seen."""
    joint = ex.Questionnaire.within(2, {"a": 2, "b": 9, "c": ex.Mean(range(3))}, strategy).joint
    assert joint is not None
    own = ex.Mechanism.from_structure(joint.structure, joint.privacy)
    found = audit(own, 200_000, 1 - FAMILY)
    assert found
    assert 1.8 < found.delivered <= found.allowed == 2
    better = [
        replace(a, blocks=tuple(replace(b, coin=b.coin + 3 * b.coin // 100) for b in a.blocks))
        for a in joint.structure.assignments
    ]
    other = ex.Mechanism.from_structure(replace(joint.structure, assignments=tuple(better)))
    assert not audit(own, 200_000, 1 - FAMILY, sample=lambda codes: sample_codes(other, codes))
