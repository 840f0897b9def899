"""The value of a mechanism in a table: its utility, or the error of the usual estimate from its reports."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from extremal.errors import ExtremalError, TooLarge, UnknownLabel
from extremal.estimate.expected import statistics_variance
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.bits import IndependentBits
from extremal.utility import Utility, Workload

MOST_BITS = 12  # of unary encoding whose words are still listed


def value_of(utility: Utility, mechanism: Mechanism) -> float | None:
    """The value on the exact weights; None where it cannot be had.

    Where the reports are too many to list, a workload at one prior has n × the mean squared error of the usual unbiased
    estimate. Words of up to 12 independent bits are listed; utilities of more reports than that have no value.

    >>> import extremal as ex
    >>> value_of(ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), ex.local_hashing(3, 1)) is None
    True
    >>> round(value_of(ex.Frequencies(100), ex.unary_encoding(100, 1)), 3)
    370.259
    """
    try:
        return utility(mechanism)
    except (TooLarge, UnknownLabel):  # too many reports to add up, or reports that no distortion is defined for
        pass
    structure = mechanism.structure
    try:
        if isinstance(utility, Workload) and utility.prior is not None:
            return statistics_variance(mechanism, utility.rows, utility.prior.values)
        if isinstance(structure, IndependentBits) and structure.r <= MOST_BITS and mechanism.row_of is None:
            return utility(_all_words(structure))
    except ExtremalError:  # single inputs are not told apart, or bits mean nothing to this utility
        pass
    return None


def _all_words(bits: IndependentBits) -> npt.NDArray[np.float64]:
    """Q of every word of bits, a row for each input."""
    own, other = bits.own / bits.denominator, bits.other / bits.denominator
    word = np.arange(bits.m)[None, :] >> np.arange(bits.r)[:, None] & 1
    rest = word.sum(axis=0) - word  # ones among the bits of other inputs
    return np.asarray(np.where(word, own, 1 - own) * other**rest * (1 - other) ** (bits.r - 1 - rest))
