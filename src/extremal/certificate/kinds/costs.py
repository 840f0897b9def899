"""Costs: what a mechanism's distortion is, exactly, and how small Hamming distortion and its ε can be under one prior.

Row i of an ε-LDP mechanism gives 1 ≥ x_i + Σ_{j≠i} x_j/E, x_i = Q(i|i). The extreme points of these diagonals are
E/(|T|−1+E) on a set T and 0 elsewhere, so that for a prior p with S_n the sum of its n largest probabilities

    the truth is reported with probability at most  max_n S_n·E/(n−1+E).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import inf
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from extremal.certificate.arithmetic.cones import staircase_of
from extremal.certificate.arithmetic.enclosures import fraction, lower, narrow, rational
from extremal.certificate.kinds.dual import exact_distances
from extremal.certificate.proof import Proof
from extremal.certificate.refused import NotKnown, Refused
from extremal.errors import ExtremalError
from extremal.mechanism.labels import Labels
from extremal.privacy import LDP, Notion
from extremal.sources import SourceClass
from extremal.utility import Distortion, Hamming, LevelAtDistortion


@dataclass(frozen=True)
class Truth(Proof):
    """Hamming distortion under ε-LDP, or the ε within a distortion D, for one prior; no fields.

    (i) The least distortion at ε is at least 1 − max_n S_n·E/(n−1+E). (ii) Within distortion D < 1 − S_1: e^ε ≥ min
    over n with S_n > 1−D of (n−1)(1−D)/(S_n−1+D), because some n must have S_n·E ≥ (1−D)(n−1+E).
    """

    kind: ClassVar[str] = "truth"

    def _bound(self, privacy: Notion, utility: Any) -> Fraction | float:
        prior = utility.source.single if type(utility) in (Hamming, LevelAtDistortion) else None
        if prior is None:
            raise Refused("this is about Hamming distortion under one prior", parameter="utility", value=utility.name)
        sums = [fmpq(s, prior.total) for s in accumulate(sorted(prior.weights, reverse=True))]
        if type(utility) is LevelAtDistortion:
            truth = rational(1 - utility.distortion)
            if sums[0] >= truth:
                return Fraction(0)
            found = [n * truth / (s - truth) for n, s in enumerate(sums) if s > truth]
            if not found:
                return inf
            ratio = max(min(found), fmpq(1))
            return lower(narrow(lambda: arb(ratio).log()))
        e = staircase_of(privacy, utility.k).top
        return fraction(1 - max(s * e / (n + e) for n, s in enumerate(sums)))


def cost_of(utility: Any, mechanism: Any) -> Fraction | float:
    """The cost of a mechanism, exactly; a level is the float that privacy proves, read as the rational it is."""
    if type(utility) in (Distortion, Hamming):
        return _worst(utility.source, _losses(utility, mechanism))
    if type(utility) is LevelAtDistortion:
        if _worst(utility.source, _losses(Hamming(utility.source), mechanism)) > utility.distortion:
            return inf
        level = LDP(0).level(mechanism)
        return inf if level == inf else Fraction(repr(level))
    raise NotKnown("the kernel has no rule for this cost", parameter="utility", value=utility.name)


def _losses(utility: Distortion, mechanism: Any) -> list[Fraction]:
    """Σ_y Q(y|x)·d(x,y) for each input x."""
    if mechanism.k != utility.k:
        raise NotKnown("the mechanism and the cost are about different inputs", parameter="k", value=mechanism.k)
    rows = np.arange(utility.k) if mechanism.row_of is None else mechanism.row_of
    names = utility.output_labels
    if names is None and (type(utility) is Hamming or utility.distances.shape[1] == utility.k):
        names = mechanism.input_labels
    try:
        known = Labels(range(utility.distances.shape[1]), "outputs") if names is None else names
        codes = [known.code(y, "output") for y in mechanism.output_labels]
    except ExtremalError as error:
        raise NotKnown(f"an output is not among those that the cost knows ({error})") from None
    if type(utility) is Hamming:
        lost = [Fraction(1)] * utility.k
        for column, x in zip(mechanism.columns(), codes, strict=True):
            row = int(rows[x])
            weight = next(w for w, members in column.groups if any(a <= row < b for a, b in members.runs))
            lost[x] -= Fraction(weight, mechanism.denominator)
        return lost
    whole, common = exact_distances(utility)
    total = np.array([0] * utility.k, dtype=object)
    for column, y in zip(mechanism.columns(), codes, strict=True):
        values = np.array([0] * mechanism.row_classes, dtype=object)
        for weight, members in column.groups:
            values[members.indices()] = weight
        total = total + values[rows] * whole[:, y]
    return [Fraction(t, common * mechanism.denominator) for t in total.tolist()]


def _worst(source: SourceClass, losses: Sequence[Fraction]) -> Fraction:
    """The largest expected loss over the priors of a class, exactly."""
    prior = source.extreme_prior(losses)
    return fraction(sum((w * rational(v) for w, v in zip(prior.weights, losses, strict=True)), fmpq(0)) / prior.total)
