"""Sets with certain counts in each group, too many to list: everything from how often each type and each input comes.

The statistic is f_t, the share of reports of each type, and h_tx, the share of those of type t that hold x. Where a
prior is constant on the groups the generalised least squares estimate at it is p̂_x = Σ_t α_tg·h_tx + β_tg·f_t for x in
group g: the information splits into one number for the differences within each group and a small matrix between the
groups (`extremal.utility.fisher`). Two, or three, inputs lie in a set of a type as draws without replacement say: that
is the covariance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import EndsByMoments, Flags, Inverse, two_valued
from extremal.estimate.channels.holding import UnlistedChannel
from extremal.estimate.channels.subsets import SubsetChannel
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.report_labels import SetLabels, unpacked
from extremal.mechanism.structures import GroupedSets, SubsetSelection
from extremal.mechanism.structures.grouped_sets import MOST_BITS, MOST_GROUPS
from extremal.mechanism.structures.structure import refuse_large

_AT_A_TIME = 1 << 22  # bits worked on together


class GroupedSetsChannel(UnlistedChannel):
    """f, and then h type by type; the structure refuses types that do not tell all rows apart.

    Attributes:
        of, sizes: the group of each row, and how many rows each has.
        low, step: N_t·(low, high − low) of each type, as probabilities.
        share, both: P(x ∈ S) and P(x, x' ∈ S) for rows of one group and a uniform set of the type, by type and group.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        structure, labels = mechanism.structure, mechanism.output_labels
        if not isinstance(structure, GroupedSets) or not isinstance(labels, SetLabels):
            raise InvalidParameter("the mechanism must report grouped sets", parameter="kind", value=structure.kind)
        self.r, self.labels, self.words = structure.r, labels, labels
        self.of, self.sizes, self.types = structure.of, structure.sizes, np.array(structure.types)
        self.low = np.array([low / DENOMINATOR for low in structure.low])
        pairs = zip(structure.low, structure.high, strict=True)
        self.step = np.array([(high - low) / DENOMINATOR for low, high in pairs])
        self.numbers = structure.numbers
        self.share: Floats = self.types / self.sizes
        self.both: Floats = self.share * (self.types - 1) / np.maximum(self.sizes - 1, 1)

    def encode(self, label: Any) -> Hashable:
        return self.words.packed(label, "reports")

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        count, at_a_time = len(self.types), max(1, _AT_A_TIME // self.r)
        found, held = np.zeros(count), np.zeros((count, self.r))
        for start in range(0, len(keys), at_a_time):
            words, mass = list(keys[start : start + at_a_time]), shares[start : start + at_a_time]
            kind, flags = self.words.type_of(words), unpacked(words, self.r)
            for t in range(count):
                held[t] += mass[kind == t] @ flags[kind == t]
            found += np.bincount(kind, weights=mass, minlength=count)
        return np.concatenate([found, held.ravel()])

    def parts(self, statistic: Floats) -> tuple[Floats, Floats]:
        """f and h of a statistic, or of each column of a matrix: T×…, T×r×…"""
        count = len(self.types)
        return statistic[:count], statistic[count:].reshape(count, self.r, *statistic.shape[1:])

    def uniform(self) -> Floats:
        every = sum(self.numbers)
        found = np.array([number / every for number in self.numbers])
        return np.concatenate([found, (found[:, None] * self.share)[:, self.of].ravel()])

    def by_group(self, values: Floats) -> Floats:
        """Sums over the rows of each group, of a vector or of each column of a matrix."""
        sums = np.zeros((self.sizes.size, *values.shape[1:]))
        np.add.at(sums, self.of, values)
        return sums

    def expected(self, p: Floats) -> Floats:
        masses = self.by_group(p)
        found = np.multiply.outer(self.low, masses.sum(axis=0)) + (self.step[:, None] * self.share) @ masses
        return np.concatenate([found, *(self._held(t, p, masses) for t in range(len(self.low)))])

    def _held(self, t: int, p: Floats, masses: Floats) -> Floats:
        """P(type t, x ∈ S): Σ_z p_z·(low·P(x ∈ S) + step·P(x, z ∈ S)), the same backwards."""
        share, both = self.share[t], self.both[t]
        wide = (slice(None), *(None,) * (p.ndim - 1))
        others = share[wide] * (share @ masses - share[wide] * masses)  # z of other groups
        base = self.low[t] * share[wide] * masses.sum(axis=0) + self.step[t] * (others + both[wide] * masses)
        return np.asarray(base[self.of] + self.step[t] * (share - both)[self.of][wide] * p)

    def back(self, v: Floats) -> Floats:
        found, held = self.parts(v)
        total = np.zeros((self.r, *v.shape[1:]))
        for t, part in enumerate(held):
            own = self.low[t] + self.step[t] * self.share[t]
            total += np.multiply.outer(own, found[t])[self.of] + self._back(t, part)
        return total

    def _back(self, t: int, v: Floats) -> Floats:
        """The adjoint of `_held`: only its first term is not symmetric."""
        masses = self.by_group(v)
        forwards = self._held(t, v, masses)
        share = self.share[t]
        own = np.multiply.outer(share, masses.sum(axis=0))[self.of]
        return np.asarray(forwards + self.low[t] * (share @ masses - own))

    def share_held(self, p: Floats) -> Floats:
        return np.asarray(self.parts(self.expected(p))[1].sum(axis=0))

    def inverse(self, prior: Floats) -> Inverse:
        return GroupedSetsInverse(self, prior)


class ClassedSubsetsChannel(GroupedSetsChannel):
    """Subset selection read with the weights for a prior of a few values: its classes of equally likely inputs are
    groups, and the numbers of members from each are types."""

    def __init__(self, mechanism: Mechanism, of: npt.NDArray[np.intp]) -> None:
        structure = mechanism.structure
        if not isinstance(structure, SubsetSelection):
            raise InvalidParameter("the mechanism must be a subset selection", parameter="kind", value=structure.kind)
        k, d = structure.r, structure.size
        self.r, self.of, self.sizes = k, of, np.bincount(of)
        heads = product(*(range(min(int(n), d) + 1) for n in self.sizes[:-1]))
        listed = [(*head, d - sum(head)) for head in heads if 0 <= d - sum(head) <= self.sizes[-1]]
        self.types = np.array(listed)
        self.words, self.labels, self._subsets = SetLabels(of, tuple(listed)), mechanism.input_labels, mechanism
        self.numbers = tuple(math.prod(map(math.comb, self.sizes.tolist(), t)) for t in listed)
        share = np.array([number / structure.denominator for number in self.numbers])  # quotients of integers
        self.low, self.step = share * structure.low, share * (structure.high - structure.low)
        self.share = self.types / self.sizes
        self.both = self.share * (self.types - 1) / np.maximum(self.sizes - 1, 1)

    @classmethod
    def of_prior(cls, mechanism: Mechanism, prior: Floats) -> ClassedSubsetsChannel | None:
        """None where all are equally likely, which needs no classes, or the prior has too many different values."""
        values, of = np.unique(prior, return_inverse=True)
        sizes = np.bincount(of)
        size = mechanism.structure.size  # type: ignore[attr-defined]
        types = math.prod(min(int(n), size) + 1 for n in sizes[:-1])
        return cls(mechanism, of) if 1 < values.size <= MOST_GROUPS and types * of.size <= MOST_BITS else None

    def encode(self, label: Any) -> Hashable:
        codes = SubsetChannel(self._subsets).encode(label)
        flags = np.zeros(self.r, dtype=np.bool_)
        flags[list(codes)] = True  # type: ignore[call-overload]
        return np.packbits(flags).tobytes()


class GroupedSetsInverse(EndsByMoments):
    """A report S of type t contributes α_tg·1{x ∈ S} + β_tg to the share of x in group g; the prior is averaged over
    groups, which leaves the estimate unbiased."""

    def __init__(self, channel: GroupedSetsChannel, prior: Floats) -> None:
        self.channel = channel
        share, sizes = channel.share, channel.sizes
        mean = channel.by_group(prior) / sizes
        mass = channel.types @ mean  # p(S)
        marginal = channel.low + channel.step * mass
        lift = channel.step / marginal
        often = channel.step * lift
        alone = (share * (1 - share)).T @ often * (sizes / np.maximum(sizes - 1, 1))
        apart = share - mass[:, None]
        root = np.sqrt(sizes)
        between = root[:, None] * ((apart.T * often) @ apart) * root
        # root·mean spans the null space of the part between groups: put an eigenvalue of its own size there
        direction = root * mean / np.linalg.norm(root * mean)
        size = max(float(np.trace(between)), np.finfo(np.float64).tiny)
        solved = np.linalg.solve(between + size * np.outer(direction, direction), (root * apart).T * lift)
        moved = (solved / root[:, None]).T
        self.slope = np.where(sizes > 1, lift[:, None] / np.where(alone > 0, alone, 1.0), 0.0)  # α
        self.base = mean * (1 - moved @ sizes)[:, None] + moved - self.slope * share  # β

    @cached_property
    def _squares(self) -> Floats:
        """(α + β)² − β², of a report that holds x."""
        return np.asarray(self.slope * (self.slope + 2 * self.base))

    def apply(self, statistic: Floats) -> Floats:
        return self._weighted(self.slope, self.base, statistic)

    def _weighted(self, held: Floats, base: Floats, statistic: Floats) -> Floats:
        """Σ_t held_tg·h_tx + base_tg·f_t."""
        of = self.channel.of
        found, parts = self.channel.parts(statistic)
        return np.asarray(
            np.einsum("tx,tx...->x...", held[:, of], parts) + np.einsum("tx,t...->x...", base[:, of], found)
        )

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        second = self._weighted(self._squares, self.base**2, self.channel.expected(spread))
        return np.asarray(second - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        refuse_large(centre.size, centre.size, "the covariance")
        moment = self._second(spread)
        if rows is None:
            a, p = centre, spread
        else:
            moment, a, p = rows @ moment @ rows.T, rows @ centre, rows @ spread
        return np.asarray(moment - np.outer(p, a) - np.outer(a, p) + np.outer(a, a))

    def _second(self, spread: Floats) -> Floats:
        """E (L e_Y)(L e_Y)ᵀ."""
        channel = self.channel
        of, masses = channel.of, channel.by_group(spread)
        found, held = channel.parts(channel.expected(spread))
        total = np.zeros((channel.r, channel.r))
        for t in range(len(found)):
            pair, third = self._together(t)
            stay = pair * channel.step[t] * (1 - np.diagonal(third, axis1=0, axis2=2).T)  # for x's own group
            constant = pair * (channel.low[t] * masses.sum() + channel.step[t] * (third @ masses))
            joint = constant[np.ix_(of, of)] + stay[np.ix_(of, of)] * spread[:, None] + stay.T[np.ix_(of, of)] * spread
            np.fill_diagonal(joint, held[t])
            slope, base = self.slope[t][of], self.base[t][of]
            cross = np.outer(slope * held[t], base)
            total += np.outer(slope, slope) * joint + cross + cross.T + found[t] * np.outer(base, base)
        return total

    def _together(self, t: int) -> tuple[Floats, Floats]:
        """For rows of groups g and g' the probability that a uniform set of the type holds both, and given that the
        probability that it holds a third, of group h: G×G, G×G×G."""
        channel, count = self.channel, self.channel.sizes.size
        pair = np.outer(channel.share[t], channel.share[t])
        np.fill_diagonal(pair, channel.both[t])
        taken = np.eye(count)[:, None, :] + np.eye(count)[None, :, :]
        left = np.maximum(channel.sizes - taken, 1)  # no third row: nothing is multiplied by it
        return pair, np.clip((channel.types[t] - taken) / left, 0.0, 1.0)

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        channel = self.channel
        if rows is None:
            values = self._values()
            return values.min(axis=1)[channel.of], values.max(axis=1)[channel.of]
        least, most = np.full((2, rows.shape[0]), np.inf)
        most = -most
        for t, counts in enumerate(channel.types.tolist()):
            low, high = np.zeros((2, rows.shape[0]))
            for g, n in enumerate(counts):
                ordered = np.sort(rows[:, channel.of == g], axis=1)
                base, slope = self.base[t, g] * ordered.sum(axis=1), self.slope[t, g]
                low += base + slope * ordered[:, :n].sum(axis=1)
                high += base + slope * ordered[:, ordered.shape[1] - n :].sum(axis=1)
            least, most = np.minimum(least, low), np.maximum(most, high)
        return least, most

    def _values(self) -> Floats:
        """What a report may contribute to the share of an input of each group: G×2T, some twice."""
        channel = self.channel
        inside, outside = self.slope + self.base, self.base
        never, always = channel.types == 0, channel.types == channel.sizes
        return np.concatenate([np.where(never, outside, inside), np.where(always, inside, outside)]).T

    def binary(self, rows: Floats | None) -> Flags:
        """Those of single inputs where types do not matter; combinations of inputs have many values."""
        if rows is None:
            return np.asarray(two_valued(self._values())[self.channel.of])
        return np.zeros(rows.shape[0], dtype=np.bool_)

    def moments(self, rows: Floats | None) -> Floats:
        channel = self.channel
        if rows is None:
            refuse_large(channel.r, channel.r, "the moments")
            return self._weighted(self._squares, self.base**2, channel.expected(np.eye(channel.r)))
        total = np.zeros((rows.shape[0], channel.r))
        for t in range(len(channel.types)):
            total += self._moments_of_type(t, rows)
        return total

    def _moments_of_type(self, t: int, rows: Floats) -> Floats:
        """E (A L e_Y)²·1{Y has the type} given each input: the second moment in `_second`, which is linear in the
        frequencies, one input at a time."""
        channel, of = self.channel, self.channel.of
        low, step, share, both = channel.low[t], channel.step[t], channel.share[t], channel.both[t]
        pair, third = self._together(t)
        weighted = rows * self.slope[t][of]  # b: what a member adds
        sums, squares = channel.by_group(weighted.T), channel.by_group(weighted.T**2)  # G×q
        base = rows @ self.base[t][of]
        # Σ_x b_x P(x ∈ S), Σ_x b_x² P(x ∈ S), Σ_{x≠x'} b_x b_x' P(x, x' ∈ S), each with the truth z a member
        mean = low * (share @ sums)[:, None] + step * self._held_with(weighted, sums, share, both)
        own = low * (share @ squares)[:, None] + step * self._held_with(weighted**2, squares, share, both)
        products = sums[:, None, :] * sums[None, :, :]
        products[np.arange(sums.shape[0]), np.arange(sums.shape[0])] -= squares
        apart = low * np.einsum("gh,ghq->q", pair, products)[:, None]
        apart = apart + step * np.einsum("gh,ghk,ghq->kq", pair, third, products)[of].T
        stay = pair * (1 - np.diagonal(third, axis1=0, axis2=2).T)  # z is one of the two
        own_group = stay[np.arange(sums.shape[0]), np.arange(sums.shape[0])][of]
        apart += 2 * step * weighted * ((stay @ sums)[of].T - own_group * weighted)
        return np.asarray(own + apart + 2 * base[:, None] * mean + base[:, None] ** 2 * (low + step * share)[of])

    def _held_with(self, values: Floats, sums: Floats, share: Floats, both: Floats) -> Floats:
        """Σ_x v_x P(x, z ∈ S) for each row z."""
        of = self.channel.of
        others = share[:, None] * (share @ sums - share[:, None] * sums) + both[:, None] * sums
        return np.asarray(others[of].T + (share - both)[of] * values)

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        if rows is not None:  # needs how often pairs are held together, which is not counted
            return np.full(rows.shape[0], np.nan)
        second = self._weighted(self._squares, self.base**2, statistic)
        mass = self.channel.parts(statistic)[0].sum()
        return np.asarray(second - 2 * self.apply(statistic) * centre + centre**2 * mass)
