"""The extreme columns of PML for a class of priors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from extremal.certificate.arithmetic.cones import cone_of
from extremal.errors import TooLarge
from extremal.exact import Prior, polytope
from extremal.optimize.rays import class_rays
from extremal.privacy import PML
from extremal.problem import problem_of
from extremal.sources import SourceClass

P = [0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    "source",
    [
        SourceClass([P, [0.2, 0.3, 0.5]]),
        SourceClass.ball(P, 0.1),
        SourceClass.permutation_invariant(P),
        SourceClass([[0.5, 0.5, 0], [0.4, 0.6, 0]]),
    ],
    ids=lambda s: s.kind,
)
def test_every_linear_function_is_largest_at_a_listed_ray(source: SourceClass) -> None:
    notion, generator = PML(0.6, source), np.random.default_rng(1)
    columns = polytope.as_columns(class_rays(notion))
    assert (columns.max(axis=0) == 1).all()
    occurs = [x for x, possible in enumerate(source.support()) if possible]
    inequalities = [np.eye(3)[x] - math.exp(0.6) * p.values for p in source.vertices() for x in occurs]
    assert (np.array(inequalities) @ columns <= 1e-9).all()
    for _ in range(20):
        g = generator.standard_normal(3)
        best = -linprog(-g, inequalities, np.zeros(len(inequalities)), np.ones((1, 3)), [1.0]).fun
        assert (g @ columns / columns.sum(axis=0)).max() == pytest.approx(best, abs=1e-9)


def test_one_prior_of_a_class() -> None:
    assert SourceClass([P, [0.2, 0.3, 0.5]]).member() == Prior(P)
    assert SourceClass.simplex(4).member() == Prior(["1/4"] * 4)
    notion = PML.from_json({"notion": "PML", "ratio": "3", "source": SourceClass([P, [0.2, 0.3, 0.5]]).to_json()})
    single = notion.under(notion.source.member())
    assert single.exponential == notion.exponential
    assert single.prior == Prior(P)


def test_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    large = SourceClass.ball(["1/9"] * 9, 0.1)
    with pytest.raises(TooLarge, match="few inputs and few extreme priors"):
        class_rays(PML(0.5, large))
    monkeypatch.setattr(polytope, "MOST_RAYS", 3)
    with pytest.raises(TooLarge, match="too many extreme rays"):
        class_rays(PML(0.5, SourceClass([P, [0.2, 0.3, 0.5]])))


def test_a_ball_is_cut_prior_by_prior_by_search_and_kernel() -> None:
    """Cut input by input this ball has too many rays on the way to its 408."""
    centre = np.random.default_rng(0).dirichlet(np.full(8, 4.0))
    notion = PML(1, SourceClass.ball(centre, 0.05))
    listed = cone_of(problem_of(notion), 8)
    assert len(class_rays(notion)) == sum(1 for _ in listed.rays()) == 408
