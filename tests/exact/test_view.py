import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.exact import Column, IndexSet, by_row_class, prefix_sums


@given(st.sets(st.integers(0, 30)))
def test_index_sets_are_sets(members: set[int]) -> None:
    found = IndexSet.of(sorted(members, reverse=True))
    assert set(found.indices().tolist()) == members
    assert len(found) == len(members)
    assert set(found.complement(31).indices().tolist()) == set(range(31)) - members
    numbers = [x * x for x in range(31)]
    assert found.total(prefix_sums(numbers)) == sum(numbers[x] for x in members)


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1), st.integers(1, n))))
def test_windows_wrap_around(case: tuple[int, int, int]) -> None:
    size, start, length = case
    assert set(IndexSet.window(start, length, size).indices().tolist()) == {(start + i) % size for i in range(length)}


def test_columns_are_read_as_groups_over_row_classes() -> None:
    m = ex.Mechanism.from_weights([[3, 1], [3, 1], [1, 3]], 4)
    assert m.row_classes == 2
    first = next(iter(m.columns()))
    unit = m.denominator // 4
    assert first == Column(0, ((unit, IndexSet(((1, 2),))), (3 * unit, IndexSet(((0, 1),)))))
    assert (first.smallest, first.largest) == (unit, 3 * unit)
    assert by_row_class([5, 6, 7], m) == [11, 7]
    assert first.weighted_sum(prefix_sums([11, 7])) == 11 * 3 * unit + 7 * unit
    assert np.array_equal(m.distinct_rows(), m.weights[[0, 2]])


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 3)), min_size=2, max_size=7).filter(
        lambda rows: 0 < sum(high for _, high, _ in rows) < len(rows) and any(w for _, _, w in rows)
    )
)
def test_an_orbit_is_arranged_as_the_best_of_its_permutations(rows: list[tuple[int, bool, int]]) -> None:
    """All columns that arise by permutations within the parts: the least and the greatest sum among those that show
    their larger, or smaller, weight to a row that can occur; among all where none does."""
    k, weights = len(rows), [w for _, _, w in rows]
    parts = [[x for x in range(k) if rows[x][0] == part] for part in sorted({part for part, _, _ in rows})]
    high = {x for x in range(k) if rows[x][1]}
    columns = [
        {x for part in chosen for x in part}
        for chosen in itertools.product(*(itertools.combinations(p, len(high.intersection(p))) for p in parts))
    ]
    groups = ((1, IndexSet.of(sorted(set(range(k)) - high))), (3, IndexSet.of(sorted(high))))
    orbit = Column(0, groups, orbit=True, within=tuple(IndexSet.of(part) for part in parts))
    prefix = prefix_sums(weights)
    least, greatest = (column.weighted_sum(prefix) for column in orbit.arranged(weights))
    shown = [c for c in columns if any(weights[x] for x in c)] or columns
    hidden = [c for c in columns if any(weights[x] for x in set(range(k)) - c)] or columns
    assert least == min(sum(weights) + 2 * sum(weights[x] for x in c) for c in shown)
    assert greatest == max(sum(weights) + 2 * sum(weights[x] for x in c) for c in hidden)
    assert orbit.parts(k) == [(part, len(high.intersection(part))) for part in parts]
