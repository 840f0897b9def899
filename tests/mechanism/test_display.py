"""Tables for people."""

import numpy as np
import pytest

import extremal as ex


def test_tables_for_people() -> None:
    m = ex.randomized_response(2, 1, inputs=["<b>no</b>", "a very long label that goes on"])
    assert "0.731059" in str(m)
    assert "…" in str(m)
    html = m._repr_html_()
    assert "&lt;b&gt;no" in html
    assert "<b>" not in html
    wide = ex.Mechanism.from_partition(np.arange(40) % 20, ex.LDP(1))
    assert "30 more" in str(wide)


def test_a_heat_map_has_every_label_and_number() -> None:
    m = ex.randomized_response(["no", "yes"], 1)
    axis = m.plot(prior=[0.9, 0.1]).axes[0]
    assert [t.get_text() for t in axis.get_yticklabels()] == ["no (prior 0.9)", "yes (prior 0.1)"]
    assert [t.get_text() for t in axis.get_xticklabels()] == ["no", "yes"]
    assert sorted(t.get_text() for t in axis.texts) == ["0.269", "0.269", "0.731", "0.731"]
    assert "LDP(epsilon=1.0)" in axis.get_title()


def test_a_crowded_heat_map_turns_its_labels_and_leaves_out_numbers() -> None:
    m = ex.Mechanism.from_weights(ex.geometric([f"answer number {i}" for i in range(20)], 1).weights)
    axis = m.plot().axes[0]
    assert not axis.texts
    assert axis.get_xticklabels()[0].get_rotation() == 40 or m.outputs[0] == 0
    assert "no claim" in axis.get_title()
    named = ex.geometric([f"answer number {i}" for i in range(20)], 1).plot().axes[0]
    assert named.get_xticklabels()[0].get_rotation() == 40


def test_what_a_heat_map_cannot_show_is_refused() -> None:
    with pytest.raises(ex.errors.TooLarge, match="at most 128 inputs and reports"):
        ex.randomized_response(200, 1).plot()
    with pytest.raises(ex.errors.InvalidParameter, match="prior must have 2 entries"):
        ex.randomized_response(2, 1).plot(prior=[0.5, 0.25, 0.25])
