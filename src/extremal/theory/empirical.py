"""Empirical information and correlation of a sample of pairs (input, report), as in GSO's experiments.

The plug-in estimate of I(X;Y) is Σ f(x,y)/n · log(n f(x,y)/(f(x) f(y))) with f the counts among n pairs. GSO print N,
the size of the alphabet, where n must stand (erratum P8). It exceeds the truth by about (N−1)(M−1)/(2n) (Miller 1955),
which is not small beside the information of strongly private mechanisms; `corrected=True` subtracts that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import as_prior, in_order
from extremal.mechanism import Mechanism


def empirical_information(inputs: Any, reports: Any, corrected: bool = False) -> float:
    """The plug-in estimate of I(X;Y) from pairs, in nats; with `corrected`, less Miller's bias.

    Guarantee: of the pairs given; as an estimate it is biased by about (k−1)(m−1)/2n, which `corrected` takes off.

    Reference: GSO Figure 2; G. Miller, Note on the Bias of Information Estimates (1955).

    >>> empirical_information([0, 0, 1, 1], [0, 0, 1, 1]) == math.log(2)
    True
    """
    x, y = _coded(inputs, "inputs"), _coded(reports, "reports")
    _refuse_unpaired(x, y)
    table = np.zeros((int(x.max()) + 1, int(y.max()) + 1))
    np.add.at(table, (x, y), 1.0)
    joint = table / x.size
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    value = float((joint[seen] * np.log(joint[seen] / outer[seen])).sum())
    return value - (table.shape[0] - 1) * (table.shape[1] - 1) / (2 * x.size) if corrected else value


def empirical_correlation(inputs: Any, reports: Any) -> float:
    """Pearson's r of numbers and the numbers reported for them; NaN where one of them does not vary.

    Guarantee: the sample value, without a claim about the population.

    Reference: GSO Figure 3, which draws it.

    >>> empirical_correlation([0, 1, 2], [2, 1, 0])
    -1.0
    """
    x, y = np.asarray(inputs, dtype=np.float64), np.asarray(reports, dtype=np.float64)
    _refuse_unpaired(x, y)
    a, b = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale else math.nan


def correlation(mechanism: Mechanism, prior: Any, inputs: Any = None, outputs: Any = None) -> float:
    """Pearson's r of X and Y when X has this prior: exact, from the matrix.

    The high-privacy mechanism of GSO Theorem 3, as printed, has r = 1 − e^ε < 0 whatever the prior; a positive one
    needs another member of its class, such as the columns in reverse (erratum P9).

    Args:
        mechanism: the randomiser.
        prior: of its inputs.
        inputs, outputs: numbers that stand for them; 1..k and 1..m if not given.

    Guarantee: from the exact weights, in floats.

    >>> import extremal as ex
    >>> m = ex.pml_high_privacy([0.3, 0.2, 0.2, 0.2, 0.1], 0.1)
    >>> round(correlation(m, [0.3, 0.2, 0.2, 0.2, 0.1]), 6), round(1 - math.exp(0.1), 6)
    (-0.105171, -0.105171)
    """
    p = as_prior(in_order(prior, "prior", mechanism.input_labels)).values
    inputs = in_order(inputs, "inputs", mechanism.input_labels)
    outputs = in_order(outputs, "outputs", mechanism.output_labels)
    x = np.arange(1.0, mechanism.k + 1) if inputs is None else np.asarray(inputs, dtype=np.float64)
    y = np.arange(1.0, mechanism.m + 1) if outputs is None else np.asarray(outputs, dtype=np.float64)
    if p.shape != (mechanism.k,) or x.shape != (mechanism.k,) or y.shape != (mechanism.m,):
        raise InvalidParameter(
            "prior, inputs and outputs must have an entry for each input and output",
            parameter="lengths",
            value=(p.size, x.size, y.size),
        )
    marginal = p @ mechanism.matrix
    a, b = x - p @ x, y - marginal @ y
    return float(p * a @ mechanism.matrix @ b / math.sqrt(float(p @ a**2) * float(marginal @ b**2)))


def _coded(values: Any, parameter: str) -> npt.NDArray[np.intp]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidParameter(f"{parameter} must be one column", parameter=f"{parameter}.shape", value=array.shape)
    return np.unique(array, return_inverse=True)[1]


def _refuse_unpaired(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
    if x.shape != y.shape or x.ndim != 1 or not x.size:
        raise InvalidParameter(
            "inputs and reports must be pairs, at least one", parameter="lengths", value=(x.size, y.size)
        )
