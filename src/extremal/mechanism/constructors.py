"""Ways to make a mechanism: from numbers, from patterns, and from another mechanism.

All end in the canonical form of `value`: at ordinary sizes two equal mechanisms get the same form, hence the same hash,
whichever way they were built. What each takes and promises is said at the method of `Mechanism` with its name.

Merging outputs adds integers. A random post-processing multiplies two matrices over 2^62; the product over 2^124 is
exact and is then rounded like any other matrix, the claim decided again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import IndexSet, as_count, in_order, matrix_in_order
from extremal.exact.weights import DENOMINATOR, Indices, Weights
from extremal.mechanism.labels import Labels, count_text
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.rounding import checked_matrix, round_to_weights
from extremal.mechanism.structures import Circulant, Rows, Structure
from extremal.mechanism.structures.circulant import Run
from extremal.mechanism.structures.staircase import (
    LISTED_SUBSETS,
    cover_structure,
    listed_subsets,
    response_structure,
    subset_structure,
    window_structure,
)
from extremal.mechanism.structures.structure import refuse_large
from extremal.mechanism.value import Mechanism, distinct
from extremal.privacy import LDP, Notion


def from_matrix(matrix: Any, privacy: Notion | None, inputs: Any, outputs: Any) -> Mechanism:
    """Round a row-stochastic matrix to exact weights that satisfy the claim."""
    array = checked_matrix(matrix_in_order(matrix, "matrix", inputs, outputs))
    k, m = array.shape
    refuse_large(k, m, "matrix")
    names_in, names_out = _labels(inputs, k, "inputs"), _labels(outputs, m, "outputs", True)
    used = np.flatnonzero(array.astype(np.float64).max(axis=0) * DENOMINATOR > 1)
    rows, row_of = distinct(array[:, used])

    def view(weights: Weights) -> Mechanism:
        left = weights.any(axis=0)  # a report of a few units may be rounded away
        names = names_out if used.size == m and left.all() else names_out.take(used[left].tolist())
        return Mechanism(Rows(weights[:, left]), row_of, names_in, names)

    rounded = view(round_to_weights(rows, privacy, view))
    return Mechanism._made(rounded.structure, row_of, names_in, rounded.output_labels, privacy)


def from_weights(weights: Any, denominator: int, privacy: Notion | None, inputs: Any, outputs: Any) -> Mechanism:
    """Take integer weights as they are."""
    array = _checked_weights(matrix_in_order(weights, "weights", inputs, outputs), denominator)
    k, m = array.shape
    names_in, names_out = _labels(inputs, k, "inputs"), _labels(outputs, m, "outputs", True)
    rows, row_of = distinct(array)
    return Mechanism._made(Rows(rows), row_of, names_in, names_out, privacy)


def from_partition(blocks: Any, privacy: LDP, inputs: Any, outputs: Any) -> Mechanism:
    """Randomised response on the blocks of a partition."""
    row_of, count = _checked_blocks(in_order(blocks, "blocks", inputs))
    names_in, names_out = _labels(inputs, row_of.size, "inputs"), _labels(outputs, count, "outputs", True)
    structure = response_structure(count, privacy.exponential)
    if structure.r == 1:  # ε = 0
        row_of = np.zeros_like(row_of)
    elif row_of.size == count:  # every input its own block: the outputs in the order of the inputs
        return Mechanism._made(structure, None, names_in, names_out.take(row_of.tolist()), privacy)
    return Mechanism._made(structure, row_of, names_in, names_out, privacy)


def from_windows(k: int, length: int, privacy: LDP, inputs: Any, outputs: Any) -> Mechanism:
    """Subset selection on cyclic windows."""
    if not 1 <= length < k:
        raise InvalidParameter("length must be at least 1 and less than k", parameter="length", value=length)
    names_in, names_out = _labels(inputs, k, "inputs"), _labels(outputs, k, "outputs", True)
    structure = window_structure(k, length, privacy.exponential)
    return Mechanism._made(structure, _own_rows(structure, k), names_in, names_out, privacy)


def from_cover(k: int, sets: Iterable[Any], privacy: LDP, times: Any, inputs: Any) -> Mechanism:
    """Outputs that are likelier on given sets, each input in equally many."""
    chosen, shares, cover = _checked_cover(k, sets, times)
    structure = cover_structure(k, chosen, shares, cover, privacy.exponential)
    names_in, names_out = _labels(inputs, k, "inputs"), _labels(None, len(chosen), "outputs")
    return Mechanism._made(structure, _own_rows(structure, k), names_in, names_out, privacy)


def from_subsets(k: int, size: int, privacy: LDP, inputs: Any) -> Mechanism:
    """Subset selection on all sets of one size, listed while they are few."""
    names = _labels(inputs, k, "inputs")
    subsets = SubsetLabels(names, size)
    if subsets.count > LISTED_SUBSETS:
        return Mechanism._made(subset_structure(k, size, privacy.exponential), None, names, subsets, privacy)
    listed = listed_subsets(k, size, privacy.exponential)
    return Mechanism._made(listed, _own_rows(listed, k), names, Labels(subsets, "outputs", tuples=True), privacy)


def from_circulant(runs: Sequence[Run], privacy: Notion | None, inputs: Any, outputs: Any) -> Mechanism:
    """One column and its cyclic shifts."""
    structure = Circulant.of(runs)
    names_in, names_out = _labels(inputs, structure.r, "inputs"), _labels(outputs, structure.m, "outputs", True)
    return Mechanism._made(structure, None, names_in, names_out, privacy)


def from_structure(structure: Structure, privacy: Notion | None, inputs: Any, outputs: Labels | None) -> Mechanism:
    """The weights that a structure holds."""
    names_out = Labels(range(structure.m), "outputs") if outputs is None else outputs
    return Mechanism._made(structure, None, _labels(inputs, structure.r, "inputs"), names_out, privacy)


def spread(mechanism: Mechanism, row_of: Any, inputs: Any) -> Mechanism:
    """The same reports for more, or reordered, inputs."""
    where = _checked_positions(row_of, mechanism.k)
    rows = where if mechanism.row_of is None else mechanism.row_of[where]
    names, outputs = _labels(inputs, where.size, "inputs"), mechanism.output_labels
    used = np.unique(rows)
    if used.size == mechanism.row_classes:
        return Mechanism._made(mechanism.structure, rows, names, outputs, mechanism.privacy)
    # Rows that no input has would count for the claim, and outputs that only they had could not occur.
    refuse_large(used.size, mechanism.m, "the rows of these inputs")
    weights = np.vstack([mechanism.structure.row(int(row)) for row in used])
    kept = np.flatnonzero(weights.any(axis=0))
    if kept.size < mechanism.m:
        outputs = outputs.take(kept.tolist())
    return Mechanism._made(Rows(weights[:, kept]), np.searchsorted(used, rows), names, outputs, mechanism.privacy)


def followed_by(first: Mechanism, post_processing: Any, outputs: Any) -> Mechanism:
    """A mechanism and a transformation of its reports, as one mechanism."""
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


def _labels(
    labels: Iterable[Any] | Mapping[Any, Any] | None, count: int, parameter: str, tuples: bool = False
) -> Labels:
    named = Labels(range(count) if labels is None else labels, parameter, tuples)
    if len(named) != count:
        raise InvalidParameter(f"{parameter} must have {count} labels", parameter=f"len({parameter})", value=len(named))
    return named


def _own_rows(structure: Structure, k: int) -> Indices | None:
    """Each input has a row of its own; at ε = 0 there is only one row."""
    return None if structure.r > 1 else np.zeros(k, dtype=np.intp)


def _checked_weights(weights: Any, denominator: int) -> Weights:
    """Integer weights over `denominator`, scaled to 2^62."""
    scale = as_count(denominator, "denominator", 1)
    if scale & (scale - 1) or scale > DENOMINATOR:
        raise InvalidParameter(
            "denominator must be a power of two of at most 2^62",
            parameter="denominator",
            value=denominator,
            hint="For other ratios give Fractions to Mechanism.from_matrix: it rounds them to 2^-62.",
        )
    array = _as_array(weights)
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise InvalidParameter(
            "weights must be a matrix with at least 2 rows (inputs)", parameter="weights.shape", value=array.shape
        )
    if array.dtype.kind not in "iu" and set(map(type, array.ravel().tolist())) != {int}:
        raise InvalidParameter("weights must be integers", parameter="weights.dtype", value=str(array.dtype))
    if (array < 0).any() or (array > scale).any():
        raise InvalidParameter(
            "weights must lie between 0 and the denominator", parameter="weights", value=array.ravel()[:8].tolist()
        )
    return np.asarray(array.astype(np.int64) * (DENOMINATOR // scale))


def _as_array(weights: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(weights)
    except ValueError:
        raise InvalidParameter("weights must have rows of equal length", parameter="weights", value=weights) from None


def _checked_blocks(blocks: Any) -> tuple[Indices, int]:
    """For each input the number of its block, and how many blocks there are."""
    row_of = np.asarray(blocks)
    if row_of.ndim != 1 or row_of.dtype.kind not in "iu" or row_of.size < 2:
        raise InvalidParameter(
            "blocks must give a block number for each of at least 2 inputs", parameter="blocks", value=blocks
        )
    count = int(row_of.max()) + 1
    if row_of.min() < 0 or not 2 <= count <= row_of.size or not _present(row_of, count).all():
        raise InvalidParameter(
            "block numbers must be 0..L−1 with at least two blocks, none empty",
            parameter="blocks",
            value=np.unique(row_of)[:8].tolist(),
        )
    return row_of.astype(np.intp, copy=False), count


def _present(row_of: Indices, count: int) -> npt.NDArray[np.bool_]:
    """Which of 0..count−1 occur."""
    found = np.zeros(count, dtype=bool)
    found[row_of] = True
    return found


def _checked_cover(k: int, sets: Iterable[Any], times: Any) -> tuple[tuple[IndexSet, ...], list[int], int]:
    """Sets of inputs, how often each counts, and in how many of them, so counted, every input lies."""
    chosen = tuple(s if isinstance(s, IndexSet) else IndexSet.of(s) for s in sets)
    shares = [1] * len(chosen) if times is None else [as_count(t, "times", 1) for t in times]
    if len(shares) != len(chosen) or not all(_is_proper(s, k) for s in chosen):
        raise InvalidParameter(
            "each output needs a set of some inputs, not all", parameter="sets", value=[s.runs for s in chosen[:4]]
        )
    cover = _cover(k, chosen, shares)
    if not 1 <= cover.min() == cover.max():
        raise InvalidParameter("every input must lie in equally many sets", parameter="sets", value=cover[:8].tolist())
    return chosen, shares, int(cover[0])


def _cover(k: int, sets: Iterable[IndexSet], shares: Iterable[int]) -> npt.NDArray[np.int64]:
    """In how many sets, so counted, each input lies."""
    change = np.zeros(k + 1, dtype=np.int64)
    for members, share in zip(sets, shares, strict=True):
        for a, b in members.runs:
            change[a] += share
            change[b] -= share
    return np.cumsum(change[:-1])


def _is_proper(members: IndexSet, k: int) -> bool:
    """Whether it holds some of k inputs, not all."""
    return bool(members.runs) and members.runs[-1][1] <= k and len(members) < k


def _checked_positions(row_of: Any, k: int) -> Indices:
    """For each of at least two new inputs the position of one of k."""
    where = np.asarray(row_of)
    whole = where.ndim == 1 and where.dtype.kind in "iu" and where.size >= 2
    if not whole or where.min() < 0 or where.max() >= k:
        raise InvalidParameter(f"row_of must hold positions 0..{k - 1}, at least two", parameter="row_of", value=row_of)
    return where.astype(np.intp)
