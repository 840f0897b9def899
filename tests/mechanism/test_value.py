"""Equal mechanisms have one form, whichever way they were built."""

import numpy as np

import extremal as ex
from extremal.mechanism.structures.structure import SMALL


def test_equal_mechanisms_have_equal_form_however_built() -> None:
    response = ex.randomized_response(3, 1)
    again = ex.Mechanism.from_weights(response.weights, privacy=ex.LDP(1))
    assert again == response
    assert hash(again) == hash(response)
    assert again.structure.kind == "randomized_response"
    windows = ex.Mechanism.from_windows(6, 2, ex.LDP(1))
    assert windows.structure.kind == "rows"
    assert ex.Mechanism.from_weights(windows.weights, privacy=ex.LDP(1)) == windows
    assert windows != response
    assert windows != "windows"


def test_large_two_valued_weights_are_recognised_and_others_kept() -> None:
    size = 80
    assert size * size > SMALL
    windows = ex.Mechanism.from_windows(size, 7, ex.LDP(1))
    assert windows.structure.kind == "two_valued_columns"
    assert ex.Mechanism.from_weights(windows.weights, privacy=ex.LDP(1)) == windows
    generator = np.random.default_rng(0)
    assert ex.Mechanism.from_matrix(generator.dirichlet(np.ones(size), size=size)).structure.kind == "rows"
    merged = ex.Mechanism.from_weights(np.vstack([windows.weights, windows.weights]), privacy=ex.LDP(1))
    assert (merged.k, merged.row_classes) == (2 * size, size)


def test_two_by_two_that_is_no_response_stays_rows() -> None:
    assert ex.Mechanism.from_weights([[1, 3], [3, 1]], 4).structure.kind == "rows"
    assert ex.Mechanism.from_weights([[2, 1, 1], [1, 2, 1], [1, 1, 2]], 4).structure.kind == "randomized_response"
    assert ex.Mechanism.from_weights([[2, 1, 1], [1, 2, 1], [1, 2, 1]], 4).structure.kind == "rows"
    assert ex.Mechanism.from_weights([[2, 1, 1], [0, 2, 2], [1, 1, 2]], 4).structure.kind == "rows"
