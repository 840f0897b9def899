"""Every structure, every notion, every shape of source: the level is that of the list of all reports."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import MalformedFile
from extremal.exact import view
from extremal.mechanism.structures import STRUCTURES, BloomBits, structure_from_json
from extremal.privacy import NOTIONS, ldp
from extremal.sources import SHAPES
from support.levels import (
    DRAWN,
    LISTED,
    SOURCES,
    WHOLE,
    composed,
    differs,
    drawn_mechanism,
    drawn_notion,
    excess_is_at_most,
    false_delta,
)


def test_every_structure_and_every_shape_is_drawn() -> None:
    draw = np.random.default_rng(0)
    assert DRAWN.keys() == LISTED.keys() == STRUCTURES.keys()
    for kind, make in DRAWN.items():
        content = make(draw).to_json()
        assert content["kind"] == structure_from_json(content).kind == kind
        with pytest.raises(MalformedFile, match="and no others"):
            structure_from_json({**content, "note": "1"})
    assert {make(draw, 3).kind for make in SOURCES.values()} == set(SHAPES)


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("name", NOTIONS)
def test_levels_are_those_of_the_list(kind: str, name: str) -> None:
    for seed, shape in enumerate(SOURCES if name == "PML" else ["one prior"] * 3):
        draw = np.random.default_rng(seed)
        mechanism = drawn_mechanism(draw, kind)
        assert differs(drawn_notion(draw, name, shape, mechanism.k), mechanism) is None


@pytest.mark.parametrize("kind", ["rows", "randomized_response", "circulant"])
def test_levels_of_composed_mechanisms_are_those_of_the_list(kind: str) -> None:
    for seed, shape in enumerate(SOURCES):
        draw = np.random.default_rng(seed)
        mechanism = composed(draw, drawn_mechanism(draw, kind))
        assert differs(drawn_notion(draw, "PML", shape, mechanism.k), mechanism) is None


@pytest.mark.parametrize("kind", ["subset_selection", "independent_bits", "grouped_sets"])
def test_a_row_of_no_weight_under_one_prior_witnesses_a_ratio_of_another(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every prior of a list has to allow the row by itself, levels come out too small; the comparison sees it."""
    honest = view._lightest

    def careless(parts: Any, weights: Sequence[int], _occurring: Sequence[int]) -> view.IndexSet:
        return honest(parts, weights, weights)

    def wrong() -> int:
        draws = [np.random.default_rng(seed) for seed in range(12)]
        pairs = [(draw, drawn_mechanism(draw, kind)) for draw in draws]
        return sum(differs(drawn_notion(draw, "PML", "list", m.k), m) is not None for draw, m in pairs)

    assert wrong() == 0
    monkeypatch.setattr(view, "_lightest", careless)
    assert wrong() > 0


def test_the_docstrings_class_and_a_point_mass() -> None:
    """p₀ ≥ p₁ ≥ p₂ holds the point mass on the first input, under which a report about another has its low weight."""
    u = ex.unary_encoding(3, 2)
    falling = ex.SourceClass.from_inequalities([[-1, 1, 0], [0, -1, 1]], [0, 0])
    for source in (falling, ex.SourceClass([[1, 0, 0], ["1/3", "1/3", "1/3"]])):
        assert ex.PML(1, source).level(u) == ex.LDP(1).level(u) == 2.0
        assert not ex.PML("1.99", source).holds(u)


def test_metric_levels_of_bloom_filters_beyond_the_floats() -> None:
    alone = ex.MetricPrivacy(1, 1 - np.eye(5))
    m = ex.bloom_filter(5, 4, bits=64, hashes=8)
    assert alone.level(m) == ex.LDP(1).level(m)
    shared = BloomBits(2, 4, 2, 1, WHOLE - 9, 9)
    alike = ex.Mechanism.from_structure(shared)
    assert shared.difference == 0
    assert ex.MetricPrivacy(1, [[0, 1], [1, 0]]).level(alike) == 0


def _false_claims(least: float) -> list[tuple[ex.LDP, ex.Mechanism]]:
    found = [false_delta(np.random.default_rng(seed), least, 42) for seed in range(40)]
    claims = [(*claim[:2], claim[2]) for claim in found if claim is not None]
    assert len(claims) > 10
    for epsilon, delta, rows in claims:
        assert not excess_is_at_most(rows, epsilon, delta)
        assert excess_is_at_most(rows, epsilon, delta + Fraction(1, 1 << 89))
    return [(ex.LDP(e, d), ex.Mechanism.from_weights(rows, WHOLE)) for e, d, rows in claims]


@pytest.mark.parametrize("least", [20, 32, 40])
def test_a_delta_that_is_one_unit_short_is_false(least: float) -> None:
    for notion, mechanism in _false_claims(least):
        assert not notion.holds(mechanism)
        unit = Fraction(1, 1 << 89)
        assert ex.LDP(notion.exponential.exponent, notion.exact_delta + unit).holds(mechanism)


def test_floats_that_are_trusted_too_far_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The float of e^ε is off by up to 100·2^-53, so 2^-48 is not far enough from deciding."""
    claims = _false_claims(32)
    monkeypatch.setattr(ldp, "_UNSURE", 2.0**-48)
    assert any(notion.holds(mechanism) for notion, mechanism in claims)
