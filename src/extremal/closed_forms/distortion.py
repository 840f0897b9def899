"""Mechanisms for a distortion: those of the Hamming paper, and the exponential mechanism."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count, as_fraction, matrix_in_order
from extremal.exact.bisection import bisected
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.privacy import LDP


def hamming(k: int, d: Any, zero_columns: int = 0, inputs: Any = None) -> Mechanism:
    """KSS Q_d^(l): tell the truth with probability 1 − d among the first M − l symbols; the last l are never reported
    (KSS eq 5, 25).

    With n = k − l: Q(i|i) = 1 − d and Q(j|i) = d/(n−1) for i, j ≤ n; inputs beyond n behave like input n. The level is
    log((n−1)(1−d)/d) (KSS eq 26, where the logarithm is dropped in places: erratum H7). `d` is the parameter, not the
    achieved distortion when l > 0.

    Guarantee: LDP at that level, in integers; no claim when d = 0.

    Args:
        k: number of inputs M.
        d: 0 ≤ d ≤ 1.
        zero_columns: l, 0 ≤ l ≤ k − 2.
        inputs: labels; the outputs are the first k − l of them.

    >>> hamming(4, 0.35, zero_columns=1).matrix[3].round(6).tolist()
    [0.175, 0.175, 0.65]
    """
    count, dropped = as_count(k, "k", 2), as_count(zero_columns, "zero_columns", 0)
    share = as_fraction(d, "d")
    if not 0 <= share <= 1:
        raise InvalidParameter("d must lie between 0 and 1", parameter="d", value=d)
    n = count - dropped
    if n < 2:
        raise InvalidParameter(
            f"zero_columns must be at most k − 2 = {count - 2}", parameter="zero_columns", value=zero_columns
        )
    labels = list(range(count)) if inputs is None else list(inputs)
    rows = np.minimum(np.arange(count), n - 1)
    low = math.floor(share * DENOMINATOR) // (n - 1)  # the truth is rounded up: a false report is no likelier than d
    weights = np.full((n, n), low, dtype=np.int64)
    np.fill_diagonal(weights, DENOMINATOR - (n - 1) * low)
    m = Mechanism.from_weights(weights[rows], DENOMINATOR, None, inputs=labels, outputs=labels[:n])
    level = LDP(0).level(m)
    return m if level > 100 else m.claiming(LDP(level))


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
    columns = inputs if outputs is None else outputs
    loss = np.asarray(matrix_in_order(distances, "distances", inputs, columns), dtype=np.float64)
    notion = LDP(epsilon)
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
    high = 2 * notion.epsilon / float(np.ptp(loss, axis=0).max())  # row sums at most double or cancel a ratio
    while _level(loss, high) < notion.epsilon and high < 1e9:
        high *= 2
    beta = bisected(lambda b: _level(loss, b) <= notion.epsilon, high, 0.0)
    return Mechanism.from_matrix(np.exp(_log_rows(loss, beta)), notion, inputs=inputs, outputs=names)


def _log_rows(loss: Any, beta: float) -> Any:
    shifted = -beta * (loss - loss.min(axis=1, keepdims=True))
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _level(loss: Any, beta: float) -> float:
    return float(np.ptp(_log_rows(loss, beta), axis=0).max())
