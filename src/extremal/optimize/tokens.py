"""Search trees as proofs write them: a list of tokens, depth first.

A search that runs level by level holds, for each depth, what became of its nodes: BRANCH, or how they were closed. The
children of the nodes that branch are the nodes of the next depth, in order, count + 1 for each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

BRANCH, EMPTY = -1, -2  # what a proof calls a node with children, and one without sets


def in_depth_first_order(levels: Sequence[Integers], count: Integers) -> Integers:
    """Tokens level by level as tokens depth first: sizes of subtrees from below, places from above.

    >>> in_depth_first_order([np.array([-1]), np.array([7, -1]), np.array([8, 9])], np.array([1, 1])).tolist()
    [-1, 7, -1, 8, 9]
    """
    sizes: list[Integers] = []
    below = np.zeros(0, dtype=np.int64)
    for level in reversed(levels):
        opened = level == BRANCH
        size = np.ones(opened.size, dtype=np.int64)
        if opened.any():
            size[opened] += below.reshape(int(opened.sum()), -1).sum(axis=1)
        sizes.append(size)
        below = size
    sizes.reverse()
    tokens = np.empty(int(sizes[0].sum()), dtype=np.int64)
    places = np.zeros(1, dtype=np.int64)
    for depth, level in enumerate(levels):
        tokens[places] = level
        opened = level == BRANCH
        if opened.any():
            families = sizes[depth + 1].reshape(int(opened.sum()), int(count[depth]) + 1)
            before = np.cumsum(families, axis=1) - families
            places = (places[opened][:, None] + 1 + before).ravel()
    return tokens
