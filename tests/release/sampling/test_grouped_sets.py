"""Sampling grouped sets: the weights of the outcomes are exact, and so is every report's probability."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import extremal as ex
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.release import sample_codes
from extremal.release.audit import audit
from extremal.release.sampling.rules import FromGroupedSets
from extremal.simulate import Simulation
from support.listed import listed_columns

OF, TYPES, STEPS = [0, 1, 1, 0, 1, 2], [(1, 1, 0), (0, 2, 1), (2, 1, 0), (1, 2, 1)], [1.0, 1.0, 1.0, 0.5]
STRUCTURE = grouped_structure(np.array(OF), TYPES, STEPS, ex.LDP(2).exponential)
M = ex.Mechanism.from_structure(STRUCTURE, ex.LDP(2), outputs=STRUCTURE.reports)
DRAWS = 20_000


def test_every_outcome_has_its_weight_exactly() -> None:
    """All outcomes of all groups: partial sums a·2^62 + b, so that a point below n·2^62 falls where the weights say."""
    for g, (high, low) in enumerate(FromGroupedSets(STRUCTURE)._sums):
        sums = [a * DENOMINATOR + b for a, b in zip(high.tolist(), low.tolist(), strict=True)]
        weights = [b - a for a, b in zip([0, *sums], sums, strict=False)]
        assert weights == [*STRUCTURE.inside(g), *STRUCTURE.outside(g)]
        assert sums[-1] == int(STRUCTURE.sizes[g]) * DENOMINATOR
    # Given the outcome the set is uniform: weight times the number of sets is what the columns say.
    columns, outputs = listed_columns(STRUCTURE)
    for x in range(STRUCTURE.r):
        g = OF[x]
        n = int(STRUCTURE.sizes[g])
        for i, t in enumerate(STRUCTURE.types):
            for held, weights in ((True, STRUCTURE.inside(g)), (False, STRUCTURE.outside(g))):
                mass = sum(
                    (
                        column[x]
                        for column, y in zip(columns, outputs, strict=True)
                        if bool(y[0] >> (7 - x) & 1) is held and STRUCTURE.reports.type_of([bytes(y)])[0] == i
                    ),
                    Fraction(0),
                )
                assert mass == Fraction(weights[i], n * DENOMINATOR), (t, held)


@pytest.mark.parametrize("x", [0, 1, 5])
def test_reports_come_as_often_as_the_listed_mechanism_says(x: int) -> None:
    columns, outputs = listed_columns(STRUCTURE)
    drawn = Counter(list(Simulation(9).privatize(M, [x] * DRAWS)))
    assert set(drawn) <= set(outputs)

    def p_value(row: int) -> float:
        expected = np.array([float(column[row]) for column in columns]) * DRAWS
        found = np.array([drawn[y] for y in outputs])
        return float(stats.chi2.sf(((found - expected) ** 2 / expected).sum(), len(columns) - 1))

    assert p_value(x) > 1e-9
    assert all(p_value(z) < 1e-25 for z in range(6) if z != x)


def test_the_audit_counts_pairs_and_sees_a_wrong_sampler() -> None:
    of = np.arange(60) % 2
    structure = grouped_structure(of, [(10, 4), (5, 12), (2, 2)], [3.0, 2.0, 1.0], ex.LDP(1).exponential)
    m = ex.Mechanism.from_structure(structure, ex.LDP(1), outputs=structure.reports)
    assert audit(m, 40_000, 1 - 1e-8)
    louder = grouped_structure(
        of,
        structure.types,
        [h - w for w, h in zip(structure.low, structure.high, strict=True)],
        ex.LDP(1.3).exponential,
    )
    loud = ex.Mechanism.from_structure(louder, ex.LDP(1.3), outputs=louder.reports)
    assert not audit(m, 40_000, 1 - 1e-8, sample=lambda codes: sample_codes(loud, codes))
