"""A frame with a column of every kind of label, and a mechanism for each."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import extremal as ex

ROWS = 1_000
MECHANISMS = {
    "text": ex.randomized_response(4, 1, inputs=["a", "b", "ß ☂", "a b"]),
    "truth": ex.randomized_response(2, 1, inputs=[False, True]),
    "number": ex.randomized_response(5, 1),
    "integer": ex.randomized_response(3, 1, inputs=[-5, 10, 2**40]),
    "sets of numbers": ex.subset_selection(40, 1),
    "sets of text": ex.subset_selection(6, 1, inputs=list("uvwxyz")),
    "bits": ex.unary_encoding(11, 1),
    "filter": ex.bloom_filter(50, 4, once=1),
    "hash": ex.local_hashing(40, 1),
    "line": ex.hadamard_response(40, 1),
    "point": ex.projective_geometry(500, 1),
}


@pytest.fixture(scope="module")
def all_kinds() -> tuple[pd.DataFrame, dict[str, ex.Mechanism]]:
    generator = np.random.default_rng(7)

    def values(m: ex.Mechanism) -> list[Any]:
        return [m.input_labels[code] for code in generator.integers(0, m.k, ROWS).tolist()]

    return pd.DataFrame({"id": range(ROWS), **{name: values(m) for name, m in MECHANISMS.items()}}), MECHANISMS
