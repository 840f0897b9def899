"""More distributions than cells are cut for, and sets too many for a tree: a bound from groups, never too low."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.hypotheses import columns
from extremal.optimize.hypotheses.solve import grouped
from extremal.testing.designs import check

# A few symbols that differ, many that do not: sums of sets are few, so that groups are solved at once.
SEVEN = [np.roll(np.arange(1, 8), i).tolist() + [2] * 10 for i in range(7)]
PRIORS = [[x / 48 for x in row] for row in SEVEN]


@pytest.fixture(autouse=True)
def _no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_NODES", 0)


def test_a_mean_of_seven_hypotheses_is_bounded_by_groups() -> None:
    pairs = [ex.TotalVariation(PRIORS[i], PRIORS[i + 1]) for i in range(6)]
    found = check(ex.design(ex.LDP(1), ex.Average(pairs)), 1.0)
    assert [proof.kind for proof in found.certificate.proofs] == ["groups"]
    assert "may be loose" in found.summary()
    each = np.mean([ex.design(ex.LDP(1), pair).value for pair in pairs])
    assert found.value <= found.upper_bound <= each * (1 + 1e-5)
    assert found.value >= found.utility(ex.randomized_response(17, 1))


def test_the_worst_of_seven_hypotheses_is_bounded_by_the_hardest() -> None:
    pairs = [ex.TotalVariation(PRIORS[i], PRIORS[i + 1]) for i in range(6)]
    found = check(ex.design(ex.LDP(1), ex.WorstCase(pairs)), 1.0)
    (proof,) = found.certificate.proofs
    assert proof.label in ("dual (chords)", "order")
    assert len(proof.mix) == len(pairs)  # type: ignore[attr-defined]
    each = min(ex.design(ex.LDP(1), pair).value for pair in pairs)
    assert found.value <= found.upper_bound <= each * (1 + 1e-5)


def test_parts_between_too_many_distributions_are_refused() -> None:
    mean = ex.Average([ex.KL(PRIORS[i], PRIORS[(i + 1) % 7]) for i in range(7)])
    with pytest.raises(ex.errors.InvalidParameter, match="for at most 16 inputs"):
        ex.design(ex.LDP(1), ex.WorstCase([mean]), time_limit=1e-3)


def test_of_a_user_only_floats_are_said() -> None:
    parts = [ex.FDivergence(PRIORS[i], PRIORS[i + 1], lambda x: (x - 1) ** 2) for i in range(6)]
    found = ex.design(ex.LDP(1), ex.Average([*parts[::2], ex.KL(PRIORS[6], PRIORS[0])]), time_limit=1)
    assert found.gap < 1
    assert ex.verify(found).exit_code == 3


def test_groups_share_distributions_and_weights() -> None:
    triangle = [frozenset(pair) for pair in ((0, 1), (1, 2), (0, 2), (3, 4), (1, 0))]
    assert grouped(triangle, [1.0] * 5, 3) == [0, 0, 0, 1, 0]
    assert grouped(triangle, [1.0, 1.0, 0.5, 1.0, 1.0], 3) == [0, 0, 1, 2, 0]
    assert grouped(triangle, [1.0] * 5, 2) == [0, 1, 2, 3, 0]
