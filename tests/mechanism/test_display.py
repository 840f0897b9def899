"""Tables for people."""

import numpy as np

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
