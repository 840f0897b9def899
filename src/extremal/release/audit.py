"""The audit: draw reports, and bound from below the ε that they deliver.

The exact check reads the weights; the audit trusts nothing but reports. From n draws for each audited input it makes
Clopper–Pearson limits for the probability of every report (and, for each pair of inputs, of the set of reports that
tells them apart best), all valid together at the stated confidence (Bonferroni). Then with that confidence the
mechanism delivers at least

    ε ≥ max over x, x', A of  log( lower limit of P(A|x) / upper limit of P(A|x') ).

It refuses when that exceeds the level claimed, or when a limit excludes the weight that was promised: a tilted sampler
shows in the second before it shows in the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.exact.weights import WEIGHT_BITS, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import JointBlocks, Structure
from extremal.privacy import LDP, Notion
from extremal.release.audit_pairs import has_pairs, pair_events
from extremal.release.sampling.sampler import sample_codes
from extremal.tables import wrapped

Counts = npt.NDArray[np.int64]
Sample = Callable[[Counts], Counts]

MOST_INPUTS = 16  # one for each different row; more rows than that are represented by those that differ most
MOST_REPORTS = 1 << 16  # of a questionnaire's joint mechanism, each counted
MOST_SHOWN = 5  # misfits: one is enough to refuse, five show which way a sampler leans


@dataclass(frozen=True)
class Audit:
    """What an audit found; true when nothing speaks against the mechanism.

    Attributes:
        delivered: lower confidence bound on the ε delivered, in nats.
        allowed: the ε it is compared with: the claimed one (LDP without δ), else the LDP level of the exact weights.
        inputs: labels of the audited inputs.
        draws: for each of them.
        limits: how many confidence limits hold together.
        confidence: with which they do.
        misfits: sentences about reports that are more or less frequent than their weight allows.
    """

    delivered: float
    allowed: float
    inputs: tuple[Any, ...]
    draws: int
    limits: int
    confidence: float
    misfits: tuple[str, ...]

    @property
    def exceeds(self) -> bool:
        """Whether more ε is delivered than allowed, with the stated confidence."""
        return self.delivered > self.allowed

    def __bool__(self) -> bool:
        return not self.exceeds and not self.misfits

    def summary(self) -> str:
        """A sentence or two for people."""
        verdict = "no leak found" if self else "REFUSED"
        text = (
            f"{verdict}: at least ε = {max(self.delivered, 0):.4f} is delivered and {self.allowed:.4f} is allowed "
            f"({self.draws:,} draws for each of {len(self.inputs)} inputs, {self.limits:,} limits, confidence "
            f"{self.confidence:.6g})"
        )
        return "\n".join([wrapped(text, further="  "), *self.misfits])


def audit(
    mechanism: Mechanism,
    draws: int = 1_000_000,
    confidence: float = 0.999,
    *,
    claim: Notion | None = None,
    sample: Sample | None = None,
) -> Audit:
    """Draw reports and bound from below the ε that they deliver.

    Guarantee: a correct sampler is refused with probability at most 1 − confidence, over everything that is looked at
    together.

    Args:
        mechanism: what the reports should follow.
        draws: for each audited input.
        confidence: of all limits together. Divide 1 − confidence by the number of audits when there are several.
        claim: compare with this instead of the mechanism's own.
        sample: the sampler under test, input codes → output codes; the package's own if not given.

    Reference: Clopper and Pearson 1934; limits on a ratio as in Jagielski et al. 2020.

    >>> import extremal as ex
    >>> bool(audit(ex.randomized_response(4, 1), draws=10_000, confidence=0.999999))
    True
    """
    count = as_count(draws, "draws", 1)
    if not 0 < confidence < 1:
        raise InvalidParameter("confidence must lie strictly between 0 and 1", parameter="confidence", value=confidence)
    if has_pairs(mechanism.structure):
        return _audit_by_pairs(mechanism, count, confidence, claim, sample)
    return _audit_by_reports(mechanism, count, confidence, claim, sample)


def _audit_by_reports(
    mechanism: Mechanism, draws: int, confidence: float, claim: Notion | None, sample: Sample | None
) -> Audit:
    """Every report of a few inputs is counted: one limit from each side for each probability, and for each pair."""
    inputs = audited_inputs(mechanism)
    rows = inputs if mechanism.row_of is None else mechanism.row_of[inputs]
    exact = np.array([_promised(mechanism.structure, int(i)) for i in rows])
    drawer = sample or (lambda codes: sample_codes(mechanism, codes))
    counts = np.array([np.bincount(drawer(np.full(draws, x)), minlength=mechanism.m) for x in inputs])
    pairs = [(a, b) for a in range(inputs.size) for b in range(inputs.size) if a != b]
    limits = 2 * counts.size + 2 * len(pairs)
    share = (1 - confidence) / limits
    lower, upper = clopper_pearson(counts, draws, share)
    delivered = max(_cell_bound(lower, upper), _pair_bound(counts, exact, pairs, draws, share))
    labels = tuple(mechanism.input_labels[int(x)] for x in inputs)
    misfits = _misfits(mechanism, inputs, exact, lower, upper)
    return Audit(delivered, _allowed(mechanism, claim), labels, draws, limits, confidence, misfits)


def _promised(structure: Structure, row: int) -> Floats:
    """The probability of every report; of a record by its number, the reports in the order of theirs."""
    if not isinstance(structure, JointBlocks) or structure.m > MOST_REPORTS:
        return np.ldexp(np.asarray(structure.row(row)).astype(np.float64), -WEIGHT_BITS)
    record, found = np.unravel_index(row, structure.sizes), []
    for assignment in structure.assignments:
        whole = np.array([assignment.weight / structure.denominator])
        for block in assignment.blocks:
            gamma = block.coin / structure.denominator
            noise, truth = np.array([1 - gamma]), np.array([gamma])
            for j, family in zip(block.questions, structure.of(block), strict=True):
                noise, truth = np.kron(noise, family.base()), np.kron(truth, family.truth()[int(record[j])])
            whole = np.kron(whole, noise + truth)
        found.append(whole)
    return np.concatenate(found)


def _audit_by_pairs(
    mechanism: Mechanism, draws: int, confidence: float, claim: Notion | None, sample: Sample | None
) -> Audit:
    """The same for reports that cannot be listed: one event for each pair of a few inputs."""
    events = pair_events(mechanism, draws, sample or (lambda codes: sample_codes(mechanism, codes)))
    counts = np.array([event.counts for event in events])
    exact = np.array([event.exact for event in events])
    lower, upper = clopper_pearson(counts, draws, (1 - confidence) / (2 * counts.size))
    best = float((lower[:, 0] / upper[:, 1]).max())
    names = mechanism.input_labels
    misfits = tuple(
        f"input {names[events[i].z if j else events[i].x]!r} favours {names[events[i].x]!r} over "
        f"{names[events[i].z]!r} with probability between {lower[i, j]:.6g} and {upper[i, j]:.6g}, "
        f"not {exact[i, j]:.6g}"
        for i, j in np.argwhere((exact < lower) | (exact > upper))[:MOST_SHOWN].tolist()
    )
    inputs = tuple(names[x] for x in dict.fromkeys(event.x for event in events))
    delivered = math.log(best) if best > 0 else -math.inf
    return Audit(delivered, _allowed(mechanism, claim), inputs, draws, 2 * counts.size, confidence, misfits)


def audited_inputs(mechanism: Mechanism) -> npt.NDArray[np.int64]:
    """One input for each different row; of many rows those at the extremes of the first columns."""
    if mechanism.row_classes <= MOST_INPUTS:
        chosen = list(range(mechanism.row_classes))
    else:
        extremes: dict[int, None] = {}
        for column in mechanism.columns():
            extremes |= {column.groups[-1][1].runs[0][0]: None, column.groups[0][1].runs[0][0]: None}
            if len(extremes) >= MOST_INPUTS:
                break
        chosen = list(extremes)[:MOST_INPUTS]
    if mechanism.row_of is None:
        return np.array(chosen, dtype=np.int64)
    first = np.unique(mechanism.row_of, return_index=True)[1]  # every row class has some input
    return first[chosen].astype(np.int64)


def clopper_pearson(counts: Counts, draws: int, share: float) -> tuple[Floats, Floats]:
    """Lower and upper limits for probabilities, each wrong with probability at most `share`."""
    from scipy.special import betainccinv, betaincinv

    some, missing = np.maximum(counts, 1), np.maximum(draws - counts, 1)
    lower = np.where(counts > 0, betaincinv(some, draws - counts + 1, share), 0.0)
    upper = np.where(counts < draws, betainccinv(counts + 1, missing, share), 1.0)
    return lower, upper


def _cell_bound(lower: Floats, upper: Floats) -> float:
    best = lower.max(axis=0) / upper.min(axis=0)
    return math.log(best.max()) if best.max() > 0 else -math.inf


def _pair_bound(counts: Counts, exact: Floats, pairs: list[tuple[int, int]], draws: int, share: float) -> float:
    """For each pair the reports whose promised ratio is (nearly) the largest: chosen before any draw is seen."""
    found = -math.inf
    for a, b in pairs:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(exact[a] > 0, exact[a] / exact[b], 0.0)
        favourable = ratio >= 0.999 * ratio.max()
        lower, _ = clopper_pearson(np.array([counts[a][favourable].sum()]), draws, share)
        _, upper = clopper_pearson(np.array([counts[b][favourable].sum()]), draws, share)
        if lower[0] > 0:
            found = max(found, math.log(lower[0] / upper[0]))
    return found


def _allowed(mechanism: Mechanism, claim: Notion | None) -> float:
    notion = claim if claim is not None else mechanism.privacy
    if isinstance(notion, LDP) and not notion.delta:
        return float(notion.epsilon)
    return LDP(0).level(mechanism)


def _misfits(
    mechanism: Mechanism, inputs: npt.NDArray[np.int64], exact: Floats, lower: Floats, upper: Floats
) -> tuple[str, ...]:
    bad = np.argwhere((exact < lower) | (exact > upper))
    return tuple(
        f"input {mechanism.input_labels[int(inputs[i])]!r} reports {mechanism.output_labels[int(y)]!r} with "
        "probability between "
        f"{lower[i, y]:.6g} and {upper[i, y]:.6g}, not {exact[i, y]:.6g}"
        for i, y in bad[:MOST_SHOWN].tolist()
    )
