"""Pointwise maximal leakage: as a random variable, its regions for a prior, under a wrong prior, and f-information.

ℓ(y) = log max_x Q(y|x)/P(y), y drawn from P(y) = Σ_x p(x)Q(y|x). Its largest value is the PML level (GSO Definition 1).
Its exponential mean E[e^ℓ] = Σ_y max_x Q(y|x) is e to the maximal leakage, and P[ℓ > ε] is the share of reports that
leak more than ε. The gain form of the same number: no one who sees y guesses any function of x more than e^ℓ(y) times
likelier than before. An attribute value u of x can therefore be disclosed by a report y only if P(U=u) ≥ e^−ℓ(y).
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, Prior, as_prior, in_order, level_of_ratio, log_of_ratio
from extremal.mechanism import Mechanism
from extremal.plotting import COLOURS, figure
from extremal.privacy import LIP, PML
from extremal.sources import SourceClass
from extremal.tables import aligned, as_frame, number
from extremal.utility import ChiSquared, Divergence, Sublinear
from extremal.utility.utility import Floats


@dataclass(frozen=True)
class LeakageDistribution:
    """The leakage of each report of a mechanism and its probability; `str()` is a table.

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
    exact = as_prior(prior, inputs=mechanism.input_labels)
    used = [x for x, w in enumerate(exact.weights) if w]
    shares = [exact.weights[x] for x in used]
    rows = []
    for label, column in zip(mechanism.outputs, mechanism.weights[used].T.tolist(), strict=True):
        joint = [p * w for p, w in zip(shares, column, strict=True)]
        if total := sum(joint):
            rows.append((log_of_ratio(max(column) * exact.total, total), total, label, max(column), max(joint)))
    rows.sort(key=lambda row: -row[0])
    leakage, totals, reports, most, guessed = zip(*rows, strict=True)
    everything, blind = exact.total * mechanism.denominator, max(shares) * mechanism.denominator
    return LeakageDistribution(
        reports,
        leakage,
        tuple(float(Fraction(total, everything)) for total in totals),
        log_of_ratio(max(sum(most), mechanism.denominator), mechanism.denominator),
        log_of_ratio(max(sum(guessed), blind), blind),
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
    groups = attribute if isinstance(attribute, Mapping) else _members(in_order(attribute, "attribute"))
    if sorted(x for xs in groups.values() for x in xs) != list(range(len(exact))):
        raise InvalidParameter(
            "the attribute must have one value for each input", parameter="attribute", value=list(groups)[:6]
        )
    budget = Exponential(epsilon)
    masses = {u: sum(exact.weights[x] for x in xs) for u, xs in groups.items()}
    return tuple(u for u, w in masses.items() if w and budget.at_least(exact.total, w))


def _members(values: Sequence[Any]) -> dict[Any, list[int]]:
    """Value → positions of the inputs that have it."""
    groups: dict[Any, list[int]] = {}
    for x, u in enumerate(values):
        groups.setdefault(u, []).append(x)
    return groups


def majorizes(first: Any, second: Any) -> bool:
    """Whether `first` majorises `second`: its j largest probabilities sum to at least as much for every j (GSO
    Definition 2), decided in rationals.

    The level ε(P) of a fixed randomised response is Schur-convex: it falls along this order (GSO Proposition 1).

    Guarantee: exact for strings, fractions, integers and decimals that were written. A float of 16 or 17 digits is the
    rounding of a number that was not written: sums that differ by no more than such roundings count as equal.

    >>> majorizes([0.5, 0.3, 0.2], ["1/3", "1/3", "1/3"]), majorizes([0.4, 0.4, 0.2], [0.5, 0.25, 0.25])
    (True, False)
    >>> majorizes([3 / 6, 2 / 6, 1 / 6], [2.5 / 6, 2.5 / 6, 1 / 6])
    True
    """
    p, q = as_prior(first, "first"), as_prior(second, "second")
    if len(p) != len(q):
        raise InvalidParameter("both must have the same length", parameter="len(second)", value=len(q))
    rounding = _rounding(first) + _rounding(second)
    sums = [_partial_sums(v) for v in (p, q)]
    return all(Fraction(a, p.total) + rounding >= Fraction(b, q.total) for a, b in zip(*sums, strict=True))


WRITTEN_DIGITS = 15  # decimals of so many digits survive the way through a double; longer floats were computed


def _rounding(given: Any) -> Fraction:
    """How far the sums of a vector may be off because its floats were computed, not written; 0 for exact ones."""
    entries = [] if isinstance(given, Prior) else np.asarray(given, dtype=object).tolist()
    floats = [float(p) for p in entries if isinstance(p, (float, np.floating))]
    computed = [p for p in floats if len(Decimal(repr(p)).normalize().as_tuple().digits) > WRITTEN_DIGITS]
    if not computed:
        return Fraction(0)
    return 2 * sum((Fraction(math.ulp(p)) for p in floats), Fraction(0)) + Fraction(math.ulp(1.0))


def _partial_sums(prior: Prior) -> list[int]:
    return list(itertools.accumulate(sorted(prior.weights, reverse=True)))


@dataclass(frozen=True)
class Region:
    """The levels start ≤ ε < stop, in which a report may rule out at most number − 1 inputs (GSO Lemma 2).

    Attributes:
        number: 1 is the strictest.
        start, stop: nats; the last region ends at ε_max.
        nameable: how many inputs a report may name with certainty somewhere in the region: those with p(x) ≥ e^−ε.
    """

    number: int
    start: float
    stop: float
    nameable: int


@dataclass(frozen=True)
class Regions:
    """The privacy regions of a prior; `str()` is a table.

    Attributes:
        prior: the distribution of the inputs.
        regions: from the strictest on; empty ones (equal probabilities) are left out.
        epsilon_max: −log of the smallest positive probability; from here on nothing needs to be hidden.
    """

    prior: Prior
    regions: tuple[Region, ...]
    epsilon_max: float

    def at(self, epsilon: Any) -> Region:
        """The region that ε lies in; the last one beyond ε_max."""
        number_ = PML(epsilon, self.prior).region
        return next(region for region in self.regions if region.number == number_)

    def disclosed(self, epsilon: Any) -> tuple[int, ...]:
        """The inputs that a report may name with certainty at ε: those of probability at least e^−ε, decided
        exactly."""
        budget, prior = Exponential(epsilon), self.prior
        return tuple(x for x, w in enumerate(prior.weights) if w and budget.at_least(prior.total, w))

    def to_frame(self) -> Any:
        """A data frame with one row for each region."""
        rows = self.regions
        return as_frame(
            {
                "region": [r.number for r in rows],
                "from ε": [r.start for r in rows],
                "to ε": [r.stop for r in rows],
                "may rule out": [r.number - 1 for r in rows],
                "may name": [r.nameable for r in rows],
            }
        )

    def __str__(self) -> str:
        body = [
            [str(r.number), number(r.start), number(r.stop), str(r.number - 1), str(r.nameable)] for r in self.regions
        ]
        return aligned(["region", "from ε", "to ε", "may rule out", "may name"], body)


def pml_regions(prior: Any) -> Regions:
    """The privacy regions of a prior (GSO Section IV-B), with the last one that the paper leaves out (erratum P2).

    ε_j = −log of the sum of the N − j largest probabilities; region j is ε_{j−1} ≤ ε < ε_j, and region N reaches to
    ε_max. In region j a report may rule out at most j − 1 inputs, and it may name an input x with certainty only if
    p(x) ≥ e^−ε.

    Guarantee: the boundaries are rounded once; which region an ε lies in is decided exactly by `ex.PML`.

    >>> print(pml_regions([0.5, 0.3, 0.2]))
    region    from ε      to ε  may rule out  may name
         1         0  0.223144             0         0
         2  0.223144  0.693147             1         0
         3  0.693147   1.60944             2         3
    """
    exact = as_prior(prior)
    notion = PML(1, exact)
    edges = [*notion.region_boundaries, notion.epsilon_max]
    levels = {w: level_of_ratio(exact.total, w) for w in set(exact.weights) if w}
    named = sorted(levels[w] for w in exact.weights if w)
    found = []
    for j, (start, stop) in enumerate(itertools.pairwise(edges), start=1):
        last = j == len(edges) - 1
        if start < stop or last:
            found.append(Region(j, start, stop, len(named) if last else bisect_left(named, stop)))
    return Regions(exact, tuple(found), notion.epsilon_max)


RADII = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class WrongPrior:
    """The leakage of a mechanism whose prior is wrong; `str()` is a table, `plot()` a picture.

    Attributes:
        claimed: the level under the prior of the claim.
        radii, levels: largest leakage over all priors within each total-variation distance.
        others: name → leakage under that prior.
    """

    claimed: float
    radii: tuple[float, ...]
    levels: tuple[float, ...]
    others: dict[str, float]

    def to_frame(self) -> Any:
        """A data frame: which prior, its leakage."""
        names = [*(f"within {r:g} in total variation" for r in self.radii), *self.others]
        return as_frame({"prior": names, "leakage": [*self.levels, *self.others.values()]})

    def __str__(self) -> str:
        body = [
            [f"within {r:g} in total variation", number(level)]
            for r, level in zip(self.radii, self.levels, strict=True)
        ]
        body += [[name, number(level)] for name, level in self.others.items()]
        return aligned(["true prior", "leakage ε"], body, left=1)

    def plot(self) -> Any:
        """Leakage against the distance of the true prior from the assumed one; a matplotlib figure."""
        drawn, axis = figure()
        finite = [(r, level) for r, level in zip(self.radii, self.levels, strict=True) if math.isfinite(level)]
        axis.plot(*zip(*finite, strict=True), marker="o", color=COLOURS[0], label="worst prior at that distance")
        axis.axhline(
            self.claimed, color=COLOURS[5], linestyle="--", linewidth=1, label="claimed under the assumed prior"
        )
        for i, (name, level) in enumerate((n, v) for n, v in self.others.items() if math.isfinite(v)):
            axis.axhline(level, color=COLOURS[(i + 1) % len(COLOURS)], linewidth=1, label=f"under {name}")
        axis.set_xlabel("total-variation distance of the true prior from the assumed one")
        axis.set_ylabel("leakage ε (nats)")
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False)
        return drawn


def wrong_prior(
    mechanism: Mechanism, others: Mapping[str, Any] | None = None, radii: Sequence[float] = RADII
) -> WrongPrior:
    """The leakage of a PML or LIP mechanism if the inputs do not follow the prior that its claim is about.

    For each radius the largest pointwise maximal leakage over all priors within that total-variation distance, exactly;
    and the leakage under each of the priors in `others`.

    Args:
        mechanism: one whose claim is `ex.PML` or `ex.LIP` with one prior.
        others: name → prior.
        radii: total-variation distances between 0 and 1.

    Guarantee: the largest leakage is attained by some prior within that distance.

    Reference: the leakage is that of GSO Definition 1; docs/design/leakage.md says how the worst prior is found.

    >>> import extremal as ex
    >>> table = wrong_prior(ex.pml_binary([0.55, 0.45], 0.3), {"even": [0.5, 0.5]}, radii=[0, 0.05])
    >>> [round(level, 6) for level in table.levels], round(table.others["even"], 6)
    ([0.3, 0.339649], 0.339649)
    """
    claim = mechanism.privacy
    if not isinstance(claim, (PML, LIP)):
        raise InvalidParameter("the mechanism must claim PML or LIP", parameter="mechanism.privacy", value=claim)
    assumed = claim.prior
    notion = PML(1, assumed)
    levels = tuple(notion.level(mechanism, prior=SourceClass.ball(assumed, r) if r else assumed) for r in radii)
    named = {name: notion.level(mechanism, prior=prior) for name, prior in (others or {}).items()}
    return WrongPrior(notion.level(mechanism), tuple(float(r) for r in radii), levels, named)


def f_information(prior: Any, divergence: Callable[[Any, Any], Divergence] = ChiSquared) -> Sublinear:
    """I_f as a utility, for `ex.design` under PML or LDP with a small alphabet (14 and 16 inputs).

    Guarantee: like every function from outside it is optimised over all extreme columns, and reported as unverified.

    Args:
        prior: the distribution of the value.
        divergence: which f, a class such as `ex.ChiSquared`, or a function of two distributions.

    Reference: GSO Definition 4.

    >>> import extremal as ex
    >>> m, prior = ex.randomized_response(3, 1), [0.5, 0.3, 0.2]
    >>> abs(f_information(prior, ex.KL)(m) - ex.MutualInformation(prior)(m)) < 1e-15
    True
    """
    weights = as_prior(prior).values
    f = divergence(prior, prior)

    def worth(columns: Floats) -> Floats:
        marginal = weights @ columns
        safe = np.where(marginal > 0, marginal, 1.0)
        independent = np.broadcast_to(safe, columns.shape)
        values = f.perspective(columns, independent, columns - independent)
        return np.where(marginal > 0, weights @ values, 0.0)

    return Sublinear(len(weights), worth)
