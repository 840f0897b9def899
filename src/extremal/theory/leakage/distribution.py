"""Pointwise maximal leakage as a random variable: its mean, its tail, and the average measures it refines.

ℓ(y) = log max_x Q(y|x)/P(y), y drawn from P(y) = Σ_x p(x)Q(y|x). Its largest value is the PML level (GSO Definition 1).
Its exponential mean E[e^ℓ] = Σ_y max_x Q(y|x) is e to the maximal leakage, and P[ℓ > ε] is the share of reports that
leak more than ε. The gain form of the same number: no one who sees y guesses any function of x more than e^ℓ(y) times
likelier than before. An attribute value u of x can therefore be disclosed by a report y only if P(U=u) ≥ e^−ℓ(y).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, Prior, as_prior, log_of_ratio
from extremal.mechanism import Mechanism
from extremal.tables import aligned, as_frame, number


@dataclass(frozen=True)
class LeakageDistribution:
    """How much the reports of a mechanism leak, and how often; `str()` is a table.

    Attributes:
        reports: output labels, from the most leaking on.
        leakage: ℓ(y) of each, nats.
        probability: P(y) of each.
        maximal_leakage: log Σ_y max_x Q(y|x).
        min_entropy_leakage: log of (probability of guessing x from y)/(probability of guessing x without).

    Made by `ex.theory.leakage_distribution`, which has the references.

    >>> import extremal as ex
    >>> found = ex.theory.leakage_distribution(ex.randomized_response(2, 1), [0.5, 0.5])
    >>> [round(l, 6) for l in found.leakage]
    [0.379885, 0.379885]
    """

    reports: tuple[Any, ...]
    leakage: tuple[float, ...]
    probability: tuple[float, ...]
    maximal_leakage: float
    min_entropy_leakage: float

    @property
    def level(self) -> float:
        """The largest leakage: the PML level."""
        return self.leakage[0]

    @property
    def mean(self) -> float:
        """E ℓ(Y); never above the maximal leakage (Jensen)."""
        return math.fsum(p * e for p, e in zip(self.probability, self.leakage, strict=True))

    def tail(self, epsilon: float) -> float:
        """P[ℓ(Y) > ε]: the δ of an ε that holds for most reports."""
        return math.fsum(p for p, e in zip(self.probability, self.leakage, strict=True) if e > epsilon)

    def to_frame(self) -> Any:
        """A data frame with one row for each report."""
        return as_frame({"report": list(self.reports), "leakage": list(self.leakage), "P(y)": list(self.probability)})

    def __str__(self) -> str:
        body = [
            [str(y), number(e), number(p)] for y, e, p in zip(self.reports, self.leakage, self.probability, strict=True)
        ]
        return aligned(["report", "leakage", "P(y)"], body, left=1)


def leakage_distribution(mechanism: Mechanism, prior: Any) -> LeakageDistribution:
    """The leakage of each report with its probability, the tail, the mean and the two average measures.

    Reference: GSO Definition 1; S. Saeidian et al., Pointwise Maximal Leakage, IEEE Trans. Inf. Theory 69 (2023).

    Guarantee: computed from the exact weights, in floats.

    >>> import extremal as ex
    >>> found = leakage_distribution(ex.randomized_response(3, 1), [0.5, 0.3, 0.2])
    >>> round(found.level, 6), round(found.mean, 6), round(found.maximal_leakage, 6), round(found.tail(0.6), 6)
    (0.704605, 0.538004, 0.547168, 0.284777)
    """
    exact = as_prior(prior, k=mechanism.k)
    used = [x for x, w in enumerate(exact.weights) if w]
    weights = mechanism.weights.astype(object)
    rows = []
    for y, column in enumerate(weights.T):
        total = sum(exact.weights[x] * int(column[x]) for x in used)
        most = max(int(column[x]) for x in used)
        if total:
            leak = log_of_ratio(most * exact.total, total)
            rows.append(
                (leak, Fraction(total, exact.total * mechanism.denominator), mechanism.outputs[y], most, column)
            )
    rows.sort(key=lambda r: -r[0])
    sum_of_most = sum(r[3] for r in rows)
    guessed = sum(max(exact.weights[x] * int(r[4][x]) for x in used) for r in rows)
    blind = max(exact.weights) * mechanism.denominator
    return LeakageDistribution(
        tuple(r[2] for r in rows),
        tuple(r[0] for r in rows),
        tuple(float(r[1]) for r in rows),
        log_of_ratio(max(sum_of_most, mechanism.denominator), mechanism.denominator),
        log_of_ratio(max(guessed, blind), blind),
    )


def disclosable(prior: Any, attribute: Mapping[Any, Sequence[int]] | Sequence[Any], epsilon: Any) -> tuple[Any, ...]:
    """The values of an attribute of x that an ε-PML report may disclose with certainty: those with P(U=u) ≥ e^−ε.

    None if ε is below the min-entropy of the attribute, −log max_u P(U=u).

    Args:
        prior: the distribution of x.
        attribute: the attribute's value for each input, or value → positions of its inputs.
        epsilon: nats.

    Guarantee: P(U=u) is compared with e^−ε in exact arithmetic.

    Reference: GSO Section IV-B; S. Saeidian et al., IEEE Trans. Inf. Theory 69 (2023).

    >>> disclosable([0.5, 0.3, 0.2], ["old", "young", "young"], 0.7), disclosable([0.5, 0.3, 0.2], ["a", "b", "b"], 0.6)
    (('old', 'young'), ())
    """
    exact = as_prior(prior)
    groups: dict[Any, list[int]] = {}
    if isinstance(attribute, Mapping):
        groups = {u: list(xs) for u, xs in attribute.items()}
    else:
        for x, u in enumerate(attribute):
            groups.setdefault(u, []).append(x)
    if sorted(x for xs in groups.values() for x in xs) != list(range(len(exact))):
        raise InvalidParameter(
            "the attribute must have one value for each input", parameter="attribute", value=list(groups)[:6]
        )
    budget = Exponential(epsilon)
    masses = {u: sum(exact.weights[x] for x in xs) for u, xs in groups.items()}
    return tuple(u for u, w in masses.items() if w and budget.at_least(exact.total, w))


def majorizes(first: Any, second: Any) -> bool:
    """Whether `first` majorises `second`: its j largest probabilities sum to at least as much for every j (GSO
    Definition 2), decided in rationals.

    The level ε(P) of a fixed randomised response is Schur-convex: it falls along this order (GSO Proposition 1).

    Guarantee: True and False are exact.

    >>> majorizes([0.5, 0.3, 0.2], ["1/3", "1/3", "1/3"]), majorizes([0.4, 0.4, 0.2], [0.5, 0.25, 0.25])
    (True, False)
    """
    p, q = as_prior(first, "first"), as_prior(second, "second")
    if len(p) != len(q):
        raise InvalidParameter("both must have the same length", parameter="len(second)", value=len(q))
    sums = [_partial_sums(v) for v in (p, q)]
    return all(a * q.total >= b * p.total for a, b in zip(*sums, strict=True))


def _partial_sums(prior: Prior) -> list[int]:
    ordered = sorted(prior.weights, reverse=True)
    return [int(s) for s in np.cumsum(np.array(ordered, dtype=object))]
