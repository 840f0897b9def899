"""Post-processing keeps the claim and never tells more."""

import pytest
from hypothesis import given

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.testing import ldp_mechanisms


@given(ldp_mechanisms(k=3))
def test_post_processing_keeps_the_claim_and_never_raises_the_level(m: ex.Mechanism) -> None:
    merged = m.then({y: "first" if y == m.outputs[0] else "rest" for y in m.outputs})
    assert merged.outputs == ("first", "rest")
    assert merged.privacy == m.privacy
    assert m.privacy is not None
    assert merged.privacy.level(merged) <= m.privacy.level(m)  # type: ignore[union-attr]
    noisy = m.then(ex.randomized_response(m.m, 1, inputs=m.outputs))
    assert noisy.matrix == pytest.approx(m.matrix @ ex.randomized_response(m.m, 1).matrix, rel=1e-12)
    assert noisy.privacy == m.privacy


def test_post_processing_by_a_matrix_and_bad_ones() -> None:
    m = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1), outputs=["a", "b"])
    mixed = m.then([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]], outputs=["x", "y", "z"])
    assert mixed.outputs == ("x", "y", "z")
    assert mixed.privacy == ex.LDP(1)
    with pytest.raises(InvalidParameter, match=r"the mapping must name every output; got post_processing=\['b'\]"):
        m.then({"a": "x"})
    with pytest.raises(InvalidParameter, match="a matrix with 2 rows"):
        m.then([[0.5, 0.5]])
    with pytest.raises(InvalidParameter, match="must take this mechanism's outputs as its inputs"):
        m.then(ex.randomized_response(2, 1, inputs=["c", "d"]))
