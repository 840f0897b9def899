"""Staircase mechanisms as the paper writes them: a matrix of patterns times a diagonal of weights (KOV Section 2).

S^(k) has 2^k columns; column j = 1, …, 2^k holds e^ε where the binary digits of j − 1 are 1 and 1 where they are 0, row
1 being the most significant digit (KOV Definition 3). A mechanism is a staircase when Q = S^(k)·diag(θ) up to the order
of its outputs and up to merging proportional ones (KOV eq 9, 10); an optimal one needs at most k of them (KOV Theorem
2).

The program max Σθ_T μ(S_T) s.t. Σθ_T S_T = 1 has the dual min Σα s.t. α·S_T ≥ μ(S_T) for every set T: any feasible α
proves that no ε-LDP mechanism is worth more than Σα. The paper's proofs rest on two such vectors in closed form (KOV
eq 39, 40, 45–50).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Exponential, as_count
from extremal.mechanism import Mechanism
from extremal.privacy import LDP
from extremal.tables import aligned, as_frame, number
from extremal.utility.divergence import Divergence
from extremal.utility.pair import Pair
from extremal.utility.utility import Floats, SumOfColumns

LARGEST_LISTED = 20  # inputs: 2^20 columns
_UNITS = 64  # of 2^-62: what rounding to integer weights, and mixing with a constant, may move a weight by


def staircase_patterns(k: int, epsilon: Any) -> npt.NDArray[np.float64]:
    """S^(k) in the paper's numbering: k rows, 2^k columns, entries 1 and e^ε (KOV Definition 3).

    Guarantee: for every sublinear utility some mixture of these columns is optimal among ε-LDP mechanisms (KOV Theorems
    2 and 4).

    >>> staircase_patterns(2, 0.6931471805599453).round(6).tolist()
    [[1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    """
    count = as_count(k, "k", 2)
    if count > LARGEST_LISTED:
        raise TooLarge(f"2^k patterns are listed for k up to {LARGEST_LISTED}", parameter="k", value=k)
    digits = np.arange(2**count)[None, :] >> np.arange(count - 1, -1, -1)[:, None] & 1
    return np.where(digits == 1, math.exp(Exponential(epsilon).epsilon), 1.0)


@dataclass(frozen=True)
class StaircaseWeights:
    """Q = S^(k)·diag(θ): which patterns a mechanism uses, and how much; `str()` is a table.

    Attributes:
        epsilon: ε of the patterns.
        k: number of inputs.
        indices: j of each pattern used, 1-based as in KOV Definition 3, ascending.
        theta: its weight θ_j.
        sets: the inputs on which the pattern is e^ε.

    Made by `ex.theory.staircase_weights`.

    >>> import extremal as ex
    >>> ex.theory.staircase_weights(ex.randomized_response(3, 1)).sets
    ((2,), (1,), (0,))
    """

    epsilon: float
    k: int
    indices: tuple[int, ...]
    theta: tuple[float, ...]
    sets: tuple[tuple[int, ...], ...]

    def matrix(self) -> npt.NDArray[np.float64]:
        """S·diag(θ) on the patterns used: the mechanism, one output for each pattern."""
        patterns = np.ones((self.k, len(self.indices)))
        for j, members in enumerate(self.sets):
            patterns[list(members), j] = math.exp(self.epsilon)
        return np.asarray(patterns * np.array(self.theta))

    def to_frame(self) -> Any:
        """A data frame with one row for each pattern used."""
        return as_frame({"pattern": list(self.indices), "θ": list(self.theta), "high on": [list(s) for s in self.sets]})

    def __str__(self) -> str:
        body = [
            [str(j), number(t), ", ".join(map(str, s)) or "none"]
            for j, t, s in zip(self.indices, self.theta, self.sets, strict=True)
        ]
        return aligned(["pattern", "θ", "high on inputs"], body)


def staircase_weights(mechanism: Mechanism, epsilon: Any = None) -> StaircaseWeights:
    """The weights θ with Q = S^(k)·diag(θ), outputs of the same pattern added up (KOV eq 9, 10).

    Args:
        mechanism: an ε-LDP mechanism.
        epsilon: ε of the patterns; that of the claim, or the level of the mechanism, if not given.

    Raises:
        InvalidParameter: some output has weights other than c and e^ε·c: no staircase.

    Guarantee: whether an output is a staircase is decided within the rounding of its weights.

    >>> import extremal as ex
    >>> weights = staircase_weights(ex.randomized_response(3, 1))
    >>> weights.indices, [round(t, 6) for t in weights.theta]
    ((2, 3, 5), [0.211942, 0.211942, 0.211942])
    """
    level = _level_of(mechanism, epsilon)
    k, ratio = mechanism.k, math.exp(level)
    found: dict[int, float] = {}
    for y, column in enumerate(mechanism.weights.T.tolist()):
        members = _high_inputs(column, ratio)
        if members is None:
            raise InvalidParameter(
                f"each output's weights must be c and e^ε·c with ε = {number(level)}",
                parameter=f"output {y}",
                value=[w / mechanism.denominator for w in (min(column), max(column))],
                hint="Give the ε of the staircase, or see docs/theory/staircase.md.",
            )
        theta = sum(column) / (k - len(members) + ratio * len(members)) / mechanism.denominator
        index = 1 + sum(1 << (k - 1 - x) for x in members)
        found[index] = found.get(index, 0.0) + theta
    order = tuple(sorted(found))
    sets = tuple(tuple(x for x in range(k) if j - 1 >> (k - 1 - x) & 1) for j in order)
    return StaircaseWeights(level, k, order, tuple(found[j] for j in order), sets)


def _level_of(mechanism: Mechanism, epsilon: Any) -> float:
    """ε of the patterns: the one given, that of the claim, or the mechanism's own level."""
    claim = mechanism.privacy
    if epsilon is not None:
        level = Exponential(epsilon).epsilon
    elif isinstance(claim, LDP) and not claim.delta:
        level = claim.epsilon
    else:
        level = LDP(0).level(mechanism)
    if math.isinf(level):
        raise InvalidParameter(
            "a staircase has a finite level: every input can cause every report", parameter="level", value=level
        )
    return level


def _high_inputs(column: list[int], ratio: float) -> list[int] | None:
    """The inputs whose weight is `ratio` times that of the others, up to rounding; None if weights are otherwise."""
    low, high = min(column), max(column)
    slack = _UNITS * (1 + ratio)
    if high - low <= slack:  # all alike
        return []
    members = [x for x, w in enumerate(column) if 2 * w > low + high]
    spread = max(w for w in column if 2 * w <= low + high) - low + high - min(column[x] for x in members)
    strange = spread > 2 * slack or abs(high - ratio * low) > slack + 1e-12 * high
    return None if strange else members


def total_variation_dual(p0: Any, p1: Any, epsilon: Any) -> Floats:
    """α = ½·tanh(ε/2)·|P₀ − P₁|: feasible at every ε, and its sum is what the binary mechanism reaches (KOV Theorem 6).

    Guarantee: a proof that no ε-LDP mechanism keeps more total variation, in floats.

    >>> round(float(total_variation_dual([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], 1).sum()), 6)
    0.231059
    """
    return np.abs(Pair(p0, p1).difference) * math.tanh(Exponential(epsilon).epsilon / 2) / 2


def response_dual(utility: SumOfColumns, epsilon: Any) -> Floats:
    """The only α that is tight on all single-symbol patterns: its sum is the value of randomised response, which is
    therefore optimal iff this α is feasible (KOV eq 45–48; for any utility of this form).

    α_i = [(e^ε + k − 2)·μ_i − Σ_{l≠i} μ_l]/((e^ε − 1)(e^ε + k − 1)), μ_i the worth of the pattern that is high on i
    alone. μ is that of the divergence as it is written, f = x log x for KL (KOV eq 46): adding κ(x − 1) to f adds
    κ(P₀ − P₁) to α and changes no sum.

    Guarantee: feasible or not, its sum is the value of randomised response, in floats.

    >>> import extremal as ex
    >>> u = ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    >>> bool(abs(response_dual(u, 3).sum() - u(ex.randomized_response(3, 3))) < 1e-14)
    True
    """
    level = Exponential(epsilon).epsilon
    if not level:
        raise InvalidParameter("the dual vector needs a positive epsilon", parameter="epsilon", value=epsilon)
    k, low = utility.k, math.exp(-level)
    columns = np.full((k, k), low)
    np.fill_diagonal(columns, 1.0)  # patterns divided by e^ε, so that nothing overflows
    worth = utility.column_values(columns)
    spread = (1 + (k - 2) * low) * worth - low * (worth.sum() - worth)
    alpha = np.asarray(spread / (-math.expm1(-level) * (1 + (k - 1) * low)))
    return alpha + utility.f.tangent * utility.pair.difference if isinstance(utility, Divergence) else alpha
