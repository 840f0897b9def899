"""From reports to labels: down the prefix tree on one half of the devices, exact limits on the other.

Each length has devices of its own, so that a label is seen by all of them, once at every length. Shares of its prefixes
can only fall with the length; the best estimate of the last one under that condition is the least mean of the last few
estimates (antitonic regression), and prefixes are ranked by it: evidence of several lengths adds up, but a prefix does
not inherit the share of its parents. A search keeps as many prefixes as memory allows; none is thrown away for being
insignificant, because what is picked is only a candidate.

A candidate is confirmed by devices that had no part in picking it. A device that does not hold x reports the bucket of
x with probability 1/g, one that holds it with probability a, so that the count of reports in the buckets of x is
binomial with 1/g + (a − 1/g)·p. Limits are Clopper and Pearson's, each at (1 − level)/candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from extremal.discovery.results import Discovered
from extremal.discovery.strings import Prints, Strings, Symbols, buckets, places
from extremal.errors import InvalidParameter
from extremal.estimate.channels import channel_of
from extremal.exact.weights import DENOMINATOR, Floats

if TYPE_CHECKING:
    from extremal.discovery.protocol import HeavyHitters

CANDIDATES = 200  # strings handed over to be confirmed
KEPT = 1 << 10  # prefixes that go on to the next length: more only add places where chance is met
JUMP = 3.5  # standard errors by which an estimate may exceed the share of the parent: beyond, it is another's share
FEWEST = 2  # reports of a group from which it says anything
AT_A_TIME = 1 << 22  # seeds × candidates hashed together


@dataclass(frozen=True, eq=False)
class Beam:
    """Prefixes of one length: their symbols, fingerprints, and sums of the last 1, 2, … estimates of their shares."""

    symbols: Symbols
    prints: Prints
    sums: Floats

    @classmethod
    def empty(cls, strings: Strings) -> Beam:
        return cls(np.empty((1, 0), dtype=np.uint8), strings.roots(1), np.empty((1, 0)))

    def extended(self, strings: Strings) -> Beam:
        """All prefixes that are one symbol longer; what has ended stays ended."""
        ended = self.symbols[:, -1] == 0 if self.symbols.shape[1] else np.zeros(1, dtype=np.bool_)
        letters = np.arange(strings.symbols)
        parent = np.repeat(np.arange(ended.size), np.where(ended, 1, letters.size))
        first = np.flatnonzero(np.diff(parent, prepend=-1))
        symbol = (np.arange(parent.size) - first[parent]).astype(np.uint8)
        symbols = np.concatenate((self.symbols[parent], symbol[:, None]), axis=1)
        return Beam(symbols, strings.extended(self.prints[parent], symbol), self.sums[parent])

    def seen(self, estimates: Floats, error: float, kept: int) -> tuple[Beam, Floats]:
        """The best prefixes after the estimates of one more length, and their scores, the highest first."""
        if self.sums.shape[1]:
            estimates = np.minimum(estimates, _scores(self.sums) + JUMP * error)
        sums = np.concatenate((estimates[:, None], self.sums + estimates[:, None]), axis=1)
        score = _scores(sums)
        best = np.argpartition(-score, kept)[:kept] if score.size > kept else np.arange(score.size)
        best = best[np.argsort(-score[best], kind="stable")]
        return Beam(self.symbols[best], self.prints[best], sums[best]), score[best]


def _scores(sums: Floats) -> Floats:
    """The least mean of the last estimates."""
    return np.asarray((sums / np.arange(1, sums.shape[1] + 1)).min(axis=1))


def discovered(protocol: HeavyHitters, reports: Any, level: float, candidates: int) -> Discovered:
    if not 0 < level < 1:
        raise InvalidParameter("level must lie between 0 and 1", parameter="level", value=level)
    groups = _groups(protocol, reports)
    beam = _found(protocol, groups[:-1], candidates)
    names = tuple(protocol.strings.decoded(beam.symbols))
    counts, n = _counted(protocol, beam.prints, groups[-1])
    estimate, low, high = _limits(protocol, counts, n, (1 - level) / max(1, len(names)))
    sure = np.flatnonzero(low > 0)
    order = sure[np.argsort(-estimate[sure], kind="stable")]
    return Discovered(
        labels=tuple(names[i] for i in order.tolist()),
        estimate=estimate[order],
        low=low[order],
        high=high[order],
        candidates=names,
        level=level,
        n=sum(group.size for group in groups),
        confirming=n,
    )


def _groups(protocol: HeavyHitters, reports: Any) -> list[npt.NDArray[np.int64]]:
    """The reports of the mechanisms of each group, that of the devices that confirm last."""
    from extremal.discovery.protocol import MOST_BUCKETS_BITS, PAYLOAD_BITS, SEED_BITS

    given = np.asarray(reports)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise InvalidParameter("reports must be whole numbers", parameter="reports.dtype", value=str(given.dtype))
    found, levels = given.astype(np.int64), len(protocol.lengths)
    group, payload = found >> PAYLOAD_BITS, found & ((1 << PAYLOAD_BITS) - 1)
    bucket, seed = payload & ((1 << MOST_BUCKETS_BITS) - 1), payload >> MOST_BUCKETS_BITS
    confirms = group == levels
    known = np.where(confirms, (bucket < protocol.response.k) & (seed < 1 << SEED_BITS), payload < protocol.prefixes.m)
    if not ((group >= 0) & (group <= levels) & known).all():
        raise InvalidParameter(
            "reports must come from this protocol",
            parameter="position",
            value=int(np.flatnonzero(~((group >= 0) & (group <= levels) & known))[0]),
            hint="ex.load the file that the devices had.",
        )
    return [payload[group == i] for i in range(levels + 1)]


def _found(protocol: HeavyHitters, groups: list[npt.NDArray[np.int64]], candidates: int) -> Beam:
    """The candidates: whole strings of the highest scores above 0."""
    strings, beam, score = protocol.strings, Beam.empty(protocol.strings), np.ones(1)
    length = 0
    for i, (longer, reports) in enumerate(zip(protocol.lengths, groups, strict=True)):
        for _ in range(longer - length):
            beam = beam.extended(strings)
        length = longer
        every = np.zeros(protocol.prefixes.k) if reports.size < FEWEST else _shares(protocol, reports)
        shares = every[places(beam.prints, i, every.size)]
        kept = candidates if i + 1 == len(groups) else max(candidates, KEPT)
        beam, score = beam.seen(shares, float(every.std()), kept)
    return Beam(beam.symbols[score > 0], beam.prints[score > 0], beam.sums[score > 0])


def _shares(protocol: HeavyHitters, reports: npt.NDArray[np.int64]) -> Floats:
    """Unbiased estimates of the shares of all places, from the reports of one length."""
    channel = channel_of(protocol.prefixes)
    keys, counts = np.unique(reports, return_counts=True)
    statistic = channel.statistic(keys.tolist(), counts / reports.size)
    even = np.full(protocol.prefixes.k, 1 / protocol.prefixes.k)
    return np.asarray(channel.inverse(even).apply(statistic)) - 1 / protocol.prefixes.k


def _counted(protocol: HeavyHitters, prints: Prints, reports: npt.NDArray[np.int64]) -> tuple[Floats, int]:
    """For each candidate how many confirming reports are its bucket."""
    from extremal.discovery.protocol import MOST_BUCKETS_BITS

    bits = (protocol.response.k - 1).bit_length()
    seeds = (reports >> MOST_BUCKETS_BITS).astype(np.uint64)
    shown = reports & ((1 << MOST_BUCKETS_BITS) - 1)
    counts, at_a_time = np.zeros(prints.size), max(1, AT_A_TIME // max(1, prints.size))
    for start in range(0, reports.size, at_a_time):
        part = slice(start, start + at_a_time)
        counts += (buckets(prints[:, None], seeds[part], bits) == shown[part]).sum(axis=1)
    return counts, int(reports.size)


def _limits(protocol: HeavyHitters, counts: Floats, n: int, error: float) -> tuple[Floats, Floats, Floats]:
    """Estimates of shares, and limits that fail with probability at most `error` each."""
    from scipy.special import betaincinv

    own = int(protocol.response.weights[0, 0]) / DENOMINATOR
    chance = 1 / protocol.response.k
    if not n:
        return np.zeros(counts.size), np.zeros(counts.size), np.ones(counts.size)
    with np.errstate(invalid="ignore"):
        below = np.where(counts > 0, betaincinv(np.maximum(counts, 1), n - counts + 1, error / 2), 0.0)
        above = np.where(counts < n, betaincinv(counts + 1, np.maximum(n - counts, 1), 1 - error / 2), 1.0)
    shares = [(np.asarray(q) - chance) / (own - chance) for q in (counts / n, below, above)]
    return shares[0], np.clip(shares[1], 0.0, 1.0), np.clip(shares[2], 0.0, 1.0)
