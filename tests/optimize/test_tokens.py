"""Trees level by level, as tokens depth first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extremal.optimize.tokens import BRANCH, in_depth_first_order


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_walking_the_tokens_meets_the_nodes_of_each_level_in_order(count: list[int], seed: int) -> None:
    """A walk by a stack, as a reader does it: at each depth it must find what the level says, in its order."""
    generator = np.random.default_rng(seed)
    levels, width, named = [], 1, 0
    for depth in range(len(count) + 1):
        level = np.arange(named, named + width)
        if depth < len(count):
            level[generator.random(width) < 0.6] = BRANCH
        levels.append(level)
        named += width
        width = int((level == BRANCH).sum()) * (count[depth] + 1) if depth < len(count) else 0
        if not width:
            break
    seen: list[list[int]] = [[] for _ in levels]
    stack = [0]
    for token in in_depth_first_order(levels, np.array(count)).tolist():
        depth = stack.pop()
        seen[depth].append(token)
        if token == BRANCH:
            stack += [depth + 1] * (count[depth] + 1)
    assert not stack
    assert seen == [level.tolist() for level in levels]
