"""Reporting a Bloom filter again: what is kept about a person, and the reports that are made from it.

The permanent filter is drawn once, kept where nobody else sees it, and never shown. Every report is made from it, so
that all reports of a person together are at the level of `extremal.closed_forms.bits.permanent_filter`, and one
alone at that of the mechanism's claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.mechanism.report_labels import BitLabels, unpacked
from extremal.mechanism.structures import BloomBits
from extremal.release.privatize import privatize_column
from extremal.release.sampling.rules import packed_filters, shown_filters
from extremal.release.sampling.words import SecureWords


def keep(mechanism: Mechanism, values: Sequence[Any]) -> list[Label]:
    """The permanent filter of each value: to be kept, not to be shown.

    >>> import extremal as ex
    >>> m = ex.bloom_filter(50, 4, once=1)
    >>> kept = keep(m, [7, 7])
    >>> len(report(m, kept)[0]) == len(kept[0])
    True
    """
    structure, labels = _filter(mechanism)
    permanent = Mechanism(structure.permanent, mechanism.row_of, mechanism.input_labels, labels, None)
    made: list[Label] = privatize_column(permanent, list(values))
    return made


def report(mechanism: Mechanism, kept: Sequence[Any]) -> list[Label]:
    """An instantaneous report about each filter that `keep` gave: a fresh one for every call."""
    structure, labels = _filter(mechanism)
    words = [labels.packed(word, f"kept[{i}]") for i, word in enumerate(kept)]
    if not words:
        return []
    cohort, filters = structure.split(unpacked(words, labels.bits).astype(np.bool_))
    shown = shown_filters(structure, filters, SecureWords())
    return [tuple(row) for row in packed_filters(structure, cohort, shown).tolist()]


def _filter(mechanism: Mechanism) -> tuple[BloomBits, BitLabels]:
    structure, labels = mechanism.structure, mechanism.output_labels
    if not isinstance(structure, BloomBits) or not isinstance(labels, BitLabels):
        raise InvalidParameter("the mechanism must be a Bloom filter", parameter="kind", value=structure.kind)
    return structure, labels
