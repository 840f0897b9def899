"""Reports of several mechanisms about the same inputs, estimated together.

Whoever answered through mechanism i, with probability n_i/n, made one of its reports: together they are reports of the
one mechanism [w₁Q₁ | w₂Q₂ | …], w_i = n_i/n, with the mechanisms' reports kept apart. Least squares through it weights
each mechanism by what it tells, and everything that an estimate can do is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels import channel_of
from extremal.estimate.frequencies import Method, estimate_frequencies
from extremal.estimate.reports.tally import Reports
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label


def pool(
    parts: Iterable[tuple[Any, Mechanism]], method: Method = "unbiased", *, counts: bool = False
) -> FrequencyEstimate:
    """Frequencies from reports that several mechanisms made.

    Guarantee: unbiased if every mechanism saw the same population; with one mechanism, what `estimate_frequencies`
    gives.

    Args:
        parts: pairs (reports, mechanism). The mechanisms have the same inputs in the same order.
        method: as for `estimate_frequencies`.
        counts: the reports are counts, as for `estimate_frequencies`.

    Raises:
        InvalidParameter: no parts, or different inputs.

    Reference: A. Chaudhuri, R. Mukerjee, Randomized Response (1988).

    >>> import extremal as ex
    >>> old, new = ex.randomized_response(2, 1), ex.randomized_response(2, 3)
    >>> both = ex.pool([([0] * 600 + [1] * 400, old), ([0] * 350 + [1] * 150, new)])
    >>> both.n, both.estimate.round(3).tolist()
    (1500, [0.719, 0.281])
    """
    listed = list(parts)
    if not listed:
        raise InvalidParameter("there must be at least one pair (reports, mechanism)", parameter="parts", value=[])
    counted = [_counted(reports, mechanism, listed[0][1], counts) for reports, mechanism in listed]
    if len(listed) == 1:
        return estimate_frequencies(counted[0], listed[0][1], method)
    sizes = np.array([sum(one.values()) for one in counted], dtype=np.float64)
    matrix = np.hstack([w * mechanism.matrix for w, (_, mechanism) in zip(sizes / sizes.sum(), listed, strict=True)])
    names = [_name(i, label) for i, (_, mechanism) in enumerate(listed) for label in mechanism.outputs]
    together = Mechanism.from_matrix(matrix, inputs=list(listed[0][1].inputs), outputs=names)
    numbers = {_name(i, label): number for i, one in enumerate(counted) for label, number in one.items()}
    return estimate_frequencies(numbers, together, method)


def _name(part: int, label: Label) -> str:
    """A report of one of the mechanisms, kept apart from those of the others."""
    return f"{part + 1}: {label!r}"


def _counted(reports: Any, mechanism: Mechanism, first: Mechanism, counts: bool) -> dict[Label, int]:
    """How often each report of one part occurred."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "parts must be pairs (reports, Mechanism)", parameter="mechanism", value=type(mechanism).__name__
        )
    if mechanism.inputs != first.inputs:
        raise InvalidParameter(
            "all mechanisms must have the same inputs in the same order", parameter="k", value=mechanism.k
        )
    channel = channel_of(mechanism)
    found = Reports(reports, mechanism, counts=counts).tally(channel)
    by_key = {channel.encode(label): label for label in mechanism.outputs}
    return {by_key[key]: number for key, number in found.counts.items()}
