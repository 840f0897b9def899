"""Every structure says the same as the dense rows it stands for, and refuses rows that do not sum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Exponential, IndexSet
from extremal.mechanism.structures.assemble import SMALL
from extremal.mechanism.structures.staircase import response_kernel, uniform_kernel, window_kernel
from extremal.mechanism.structures.structure import (
    DENOMINATOR,
    Kernel,
    RandomizedResponse,
    Rows,
    TwoValuedColumns,
    exact_sums,
)


def _same_as_dense(kernel: Kernel) -> None:
    dense = Rows(kernel.rows().copy())
    assert exact_sums(dense.array, axis=1) == [DENOMINATOR] * kernel.r
    assert [c.groups for c in kernel.columns()] == [c.groups for c in dense.columns()]
    assert all(np.array_equal(kernel.row(i), dense.row(i)) for i in range(kernel.r))
    prior = np.linspace(1, 2, kernel.r) / np.linspace(1, 2, kernel.r).sum()
    assert kernel.marginal(prior) == pytest.approx(dense.marginal(prior), rel=1e-13)


@given(
    st.integers(2, 9).flatmap(lambda r: st.tuples(st.just(r), st.integers(1, r - 1))),
    st.sampled_from([0.01, 1.0, 5.0, 50.0]),
)
def test_windows_and_responses_are_exact_and_tight(shape: tuple[int, int], epsilon: float) -> None:
    r, length = shape
    exponential = Exponential(epsilon)
    for kernel in (window_kernel(r, length, exponential), response_kernel(r, exponential)):
        _same_as_dense(kernel)
        columns = list(kernel.columns())
        assert all(exponential.at_least(c.largest, c.smallest) for c in columns)
        # One unit less on the low side, the row completed, would break the notion: the budget is used to the last unit.
        low, size = columns[-1].smallest, len(columns[-1].groups[-1][1])
        assert low == 1 or not exponential.at_least((DENOMINATOR - (r - size) * (low - 1)) // size, low - 1)


def test_epsilon_zero_is_uniform() -> None:
    for kernel in (response_kernel(3, Exponential(0)), window_kernel(3, 2, Exponential(0))):
        assert isinstance(kernel, Rows)
        assert kernel.r == 1
        assert kernel.array.max() - kernel.array.min() <= 1
    m = ex.randomized_response(5, 0)
    assert (m.k, m.m, m.row_classes) == (5, 5, 1)
    assert ex.LDP(0).holds(m)
    assert ex.Mechanism.from_windows(6, 3, ex.LDP(0)).row_classes == 1
    assert uniform_kernel(4).array.tolist() == [[DENOMINATOR // 4] * 4]


def test_rows_that_do_not_sum_are_refused() -> None:
    quarter = DENOMINATOR // 4
    with pytest.raises(
        InvalidParameter,
        match=r"each row of weights must sum to the denominator exactly; got sum\(weights\[1\]\)=.*off by 1 units",
    ):
        Rows(np.array([[quarter, 3 * quarter], [quarter, 3 * quarter + 1]]))
    with pytest.raises(InvalidParameter, match="weights must not be negative"):
        Rows(np.array([[-1, DENOMINATOR + 1]]))
    with pytest.raises(InvalidParameter, match="every output must have some weight; got unused output=1"):
        Rows(np.array([[DENOMINATOR, 0], [DENOMINATOR, 0]]))
    with pytest.raises(InvalidParameter, match="must sum"):
        RandomizedResponse(3, 5, 7)
    with pytest.raises(InvalidParameter, match="at least 2 rows"):
        RandomizedResponse(1, 0, DENOMINATOR)
    with pytest.raises(InvalidParameter, match="0 ≤ low < high"):
        RandomizedResponse(2, DENOMINATOR // 2, DENOMINATOR // 2)


def _two(sets: list[IndexSet], low: list[int], high: list[int], r: int = 2) -> TwoValuedColumns:
    return TwoValuedColumns(r, tuple(sets), np.array(low, dtype=np.int64), np.array(high, dtype=np.int64))


def test_two_valued_columns_refuse_nonsense() -> None:
    quarter = DENOMINATOR // 4
    left, right = IndexSet(((0, 1),)), IndexSet(((1, 2),))
    _same_as_dense(_two([left, right], [quarter, quarter], [3 * quarter, 3 * quarter]))
    with pytest.raises(InvalidParameter, match="must sum to the denominator"):
        _two([left, left], [quarter, quarter], [3 * quarter, 3 * quarter])
    with pytest.raises(InvalidParameter, match="one low and one high"):
        _two([left], [quarter, quarter], [3 * quarter, 3 * quarter])
    with pytest.raises(InvalidParameter, match="0 ≤ low < high"):
        _two([left, right], [quarter, 3 * quarter], [3 * quarter, quarter])
    for bad in (IndexSet(()), IndexSet(((0, 2),)), IndexSet(((1, 3),))):
        with pytest.raises(InvalidParameter, match=r"a set must hold some rows, not all; got sets\[1\]"):
            _two([left, bad], [quarter, quarter], [3 * quarter, 3 * quarter])


def test_equal_mechanisms_have_equal_form_however_built() -> None:
    response = ex.randomized_response(3, 1)
    again = ex.Mechanism.from_weights(response.weights, privacy=ex.LDP(1))
    assert again == response
    assert hash(again) == hash(response)
    assert again.kernel.kind == "randomized_response"
    windows = ex.Mechanism.from_windows(6, 2, ex.LDP(1))
    assert windows.kernel.kind == "rows"
    assert ex.Mechanism.from_weights(windows.weights, privacy=ex.LDP(1)) == windows
    assert windows != response
    assert windows != "windows"


def test_large_two_valued_weights_are_recognised_and_others_kept() -> None:
    size = 80
    assert size * size > SMALL
    windows = ex.Mechanism.from_windows(size, 7, ex.LDP(1))
    assert windows.kernel.kind == "two_valued_columns"
    assert ex.Mechanism.from_weights(windows.weights, privacy=ex.LDP(1)) == windows
    _same_as_dense(windows.kernel)
    generator = np.random.default_rng(0)
    assert ex.Mechanism.from_matrix(generator.dirichlet(np.ones(size), size=size)).kernel.kind == "rows"
    merged = ex.Mechanism.from_weights(np.vstack([windows.weights, windows.weights]), privacy=ex.LDP(1))
    assert (merged.k, merged.row_classes) == (2 * size, size)


def test_two_by_two_that_is_no_response_stays_rows() -> None:
    assert ex.Mechanism.from_weights([[1, 3], [3, 1]], 4).kernel.kind == "rows"
    assert ex.Mechanism.from_weights([[2, 1, 1], [1, 2, 1], [1, 1, 2]], 4).kernel.kind == "randomized_response"
    assert ex.Mechanism.from_weights([[2, 1, 1], [1, 2, 1], [1, 2, 1]], 4).kernel.kind == "rows"
    assert ex.Mechanism.from_weights([[2, 1, 1], [0, 2, 2], [1, 1, 2]], 4).kernel.kind == "rows"


@pytest.mark.parametrize(
    "m",
    [ex.randomized_response(10_000, 1), ex.Mechanism.from_windows(10_000, 2_500, ex.LDP(1))],
    ids=["response", "windows"],
)
def test_large_alphabets_stay_small(m: ex.Mechanism, tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert ex.LDP(1).holds(m)
    assert not ex.LDP(0.999999999).holds(m)
    for dense in ("matrix", "weights"):
        with pytest.raises(
            TooLarge,
            match=rf"{dense} as a dense array may have at most 2\^24 entries; got rows × outputs='10000 × 10000'",
        ):
            getattr(m, dense)
    with pytest.raises(TooLarge, match="dense array"):
        m.distinct_rows()
    path = m.save(tmp_path / "m.json")
    assert path.stat().st_size < 300_000
    assert ex.load(path) == m
    assert "9990 more" in str(m)


def test_a_partition_of_a_million_symbols(tmp_path) -> None:  # type: ignore[no-untyped-def]
    blocks = np.arange(1_000_000) * 7 // 1_000_000
    m = ex.Mechanism.from_partition(blocks, ex.LDP(2))
    assert (m.k, m.m, m.row_classes) == (1_000_000, 7, 7)
    path = m.save(tmp_path / "m.json")
    assert path.stat().st_size < 2_000
    again = ex.load(path)
    assert again == m
    assert again.marginal(np.full(1_000_000, 1e-6)).sum() == pytest.approx(1)
