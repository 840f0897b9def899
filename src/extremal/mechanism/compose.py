"""A mechanism followed by post-processing of its reports, exactly.

Merging outputs adds integers. A random post-processing multiplies two matrices over 2^62; the product over 2^124 is
exact and is then rounded like any other matrix, the claim decided again.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.labels import count_text
from extremal.mechanism.mechanism import Mechanism


def composed(first: Mechanism, post_processing: Any, outputs: Any) -> Mechanism:
    if isinstance(post_processing, Mapping):
        return _merged(first, post_processing)
    second = (
        post_processing if isinstance(post_processing, Mechanism) else _as_mechanism(first, post_processing, outputs)
    )
    if second.inputs != first.outputs:
        raise InvalidParameter(
            "the post-processing must take this mechanism's outputs as its inputs",
            parameter="post_processing.inputs",
            value=second.inputs,
            hint=f"The outputs are {first.outputs[:6]!r}.",
        )
    product = first.distinct_rows().astype(object) @ second.weights.astype(object)
    scale = DENOMINATOR * DENOMINATOR
    exact = np.array([[Fraction(w, scale) for w in row] for row in product], dtype=object)
    matrix = exact if first.row_of is None else exact[first.row_of]
    return Mechanism.from_matrix(matrix, first.privacy, first.inputs, second.outputs)


def _as_mechanism(first: Mechanism, matrix: Any, outputs: Any) -> Mechanism:
    array = np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != first.m:
        raise InvalidParameter(
            f"post_processing must be a mapping, a Mechanism or a matrix with {count_text(first.m)} rows",
            parameter="post_processing.shape",
            value=array.shape,
        )
    return Mechanism.from_matrix(matrix, None, first.outputs, outputs)


def _merged(first: Mechanism, mapping: Mapping[Any, Any]) -> Mechanism:
    missing = [label for label in first.outputs if label not in mapping]
    if missing:
        raise InvalidParameter(
            "the mapping must name every output", parameter="post_processing", value=missing[:6], hint="Add them."
        )
    targets = dict.fromkeys(mapping[y] for y in first.outputs)
    position = {label: code for code, label in enumerate(targets)}
    weights = first.weights
    merged = np.zeros((first.k, len(position)), dtype=np.int64)
    for y, label in enumerate(first.outputs):
        merged[:, position[mapping[label]]] += weights[:, y]
    return Mechanism.from_weights(merged, DENOMINATOR, first.privacy, first.inputs, list(targets))
