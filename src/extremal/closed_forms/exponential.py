"""The exponential mechanism for a distortion: the baseline at low privacy."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.privacy import LDP


def exponential(distances: Any, epsilon: Any, inputs: Any = None, outputs: Any = None) -> Mechanism:
    """Q(y|x) = e^(−β·d(x,y))/Σ_y' e^(−β·d(x,y')), with the largest β whose level is at most ε.

    Wang, Ying and Zhang show it near-optimal for expected distortion at large ε; for the Hamming distance it is
    randomised response (KOV Section 6, where d is scaled to β = ε).

    Guarantee: ε-LDP, in integers.

    Args:
        distances: k×m matrix of losses.
        epsilon: nats, positive.
        inputs, outputs: labels; for a square matrix the outputs are the inputs.

    Reference: Wang, Ying, Zhang, On the Relation Between Identifiability, Differential Privacy, and Mutual-Information
    Privacy, IEEE Transactions on Information Theory 62 (2016).

    >>> exponential([[0, 1], [1, 0]], 1).matrix.round(6).tolist()
    [[0.731059, 0.268941], [0.268941, 0.731059]]
    """
    loss, notion = np.asarray(distances, dtype=np.float64), LDP(epsilon)
    if loss.ndim != 2 or loss.shape[0] < 2 or not np.isfinite(loss).all():
        raise InvalidParameter(
            "distances must be a finite matrix with a row for each input", parameter="distances", value=loss.shape
        )
    names = inputs if outputs is None and loss.shape[0] == loss.shape[1] else outputs
    if np.ptp(loss, axis=0).max() == 0 or not notion.epsilon:
        raise InvalidParameter(
            "distances must depend on the input, and epsilon must be positive",
            parameter="distances",
            value=loss.tolist()[:2],
        )
    low, high = (
        0.0,
        2 * notion.epsilon / float(np.ptp(loss, axis=0).max()),
    )  # the row normalisers can at most double or cancel a ratio
    while _level(loss, high) < notion.epsilon and high < 1e9:
        high *= 2
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _level(loss, middle) <= notion.epsilon else (low, middle)
    return Mechanism.from_matrix(np.exp(_log_rows(loss, low)), notion, inputs=inputs, outputs=names)


def _log_rows(loss: Any, beta: float) -> Any:
    shifted = -beta * (loss - loss.min(axis=1, keepdims=True))
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _level(loss: Any, beta: float) -> float:
    return float(np.ptp(_log_rows(loss, beta), axis=0).max())
