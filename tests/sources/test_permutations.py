"""All rearrangements of a prior."""

import pytest

import extremal as ex
from extremal.errors import TooLarge


def test_membership_has_an_outside() -> None:
    assert [0.9, 0.1] not in ex.SourceClass.permutation_invariant([0.8, 0.2])
    assert [0.3, 0.7] in ex.SourceClass.permutation_invariant([0.8, 0.2])


def test_large_classes_do_not_list_their_vertices() -> None:
    with pytest.raises(
        TooLarge, match="the vertices of a permutation_invariant class are listed up to 8 symbols; got k=20"
    ):
        ex.SourceClass.permutation_invariant([0.05] * 20).vertices()
