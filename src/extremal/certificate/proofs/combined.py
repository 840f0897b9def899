"""Proofs that change the problem first: one prior of a class, groups of a mean, a distortion instead of an ε."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from extremal.certificate.arithmetic.enclosures import fraction, leaves_of, lower, narrow, rational, weights_of
from extremal.certificate.proof import Bound, Proof, Refused
from extremal.certificate.reading import Counts, Number, Numbers, to_plain
from extremal.exact import Exponential, Prior
from extremal.problem import Goal, LevelGoal, Lift, LossGoal, MeanGoal, OverClass, Privacy, Pure, WorkloadGoal
from extremal.sources import SourceClass


@dataclass(frozen=True)
class ChosenPrior:
    """A prior of a class: numbers ≥ 0 in proportion to its probabilities; or, for the hull of a list, weights of its
    members (mix), and prior empty."""

    prior: Numbers
    mix: Numbers

    def of(self, source: SourceClass) -> Prior:
        """The prior, proved to lie in the class."""
        chosen = self.prior or self.mix
        if any(w < 0 for w in chosen) or not sum(chosen) or (self.prior and self.mix):
            raise Refused("weights must be ≥ 0 and not all 0", "len(prior)", len(self.prior))
        if self.mix:
            return self._mixed(source)
        if len(self.prior) != source.k:
            raise Refused("there must be a number for each input", "len(prior)", len(self.prior))
        total = sum(self.prior)
        prior = Prior([w / total for w in self.prior])
        if not source.admits(prior):
            raise Refused("the prior must lie in the class", "source", source.kind)
        return prior

    def _mixed(self, source: SourceClass) -> Prior:
        if source.listed is None or len(self.mix) != len(source.listed):
            raise Refused("a mixture is of the members of a list", "len(mix)", len(self.mix))
        rows = [[w * p.fraction(x) for x in range(source.k)] for w, p in zip(self.mix, source.listed, strict=True)]
        weights = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
        total = sum(weights)
        return Prior([w / total for w in weights])

    def to_json(self) -> dict[str, Any]:
        return {"prior": to_plain(self.prior), "mix": to_plain(self.mix)}


@dataclass(frozen=True)
class OnePrior(Proof):
    """A bound for a class of priors from one of them, with the proof for that one.

    The class of a cost is replaced first; a proof of this kind within another replaces that of the notion too. Fields:
    prior and mix, as for `ChosenPrior`. proof: about the notion or the cost with that prior alone.
    """

    kind: ClassVar[str] = "one prior"
    prior: Numbers
    mix: Numbers
    proof: Proof

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        chosen = ChosenPrior(self.prior, self.mix)
        if isinstance(goal, (LossGoal, LevelGoal, WorkloadGoal)) and goal.source.single is None:
            return self.proof.prove(privacy, replace(goal, source=SourceClass([chosen.of(goal.source)])))
        if isinstance(privacy, OverClass):
            return self.proof.prove(Lift(chosen.of(privacy.source), None, privacy.ratio), goal)
        raise Refused("there is no class of priors to choose from", "utility", goal.name)


@dataclass(frozen=True)
class Groups(Proof):
    """A mean is at most the mean of the optima of groups of its parts.

    Fields: groups, the group 0, 1, … of each part (parts of parts as they are listed), all of a group of one weight.
    proofs, one for each group, about the mean of its parts, or about the part itself where it is alone.
    """

    kind: ClassVar[str] = "groups"
    groups: Counts
    proofs: tuple[Proof, ...]

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        leaves = leaves_of(goal)
        named = len(self.groups) == len(leaves) and sorted(set(self.groups)) == list(range(len(self.proofs)))
        if not isinstance(goal, MeanGoal) or not named:
            raise Refused("there must be a group with a proof for each part of a mean", "groups", named)
        weights, total = weights_of(goal)[0], Fraction(0)
        for name, proof in enumerate(self.proofs):
            members = [i for i, own in enumerate(self.groups) if own == name]
            if len({weights[i] for i in members}) > 1:
                raise Refused("all of a group must have the same weight", "group", name)
            parts = tuple(leaves[i] for i in members)
            bound = proof.prove(privacy, parts[0] if len(parts) == 1 else MeanGoal(parts))
            if not isinstance(bound, Fraction):
                return bound
            total += len(parts) * fraction(weights[members[0]]) * bound
        return total


@dataclass(frozen=True)
class Level(Proof):
    """The least ε within a Hamming distortion D: where e^ε = ratio every mechanism is above D, so ε is no smaller.

    Fields: ratio ≥ 1. proof, about Hamming distortion under LDP with that ratio: what it proves must exceed D. Equal is
    too little, for where the likeliest input alone decides the optimum is flat in ε.
    """

    kind: ClassVar[str] = "level"
    ratio: Number
    proof: Proof

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        if not isinstance(goal, LevelGoal) or self.ratio < 1:
            raise Refused("this is about the level within a distortion", "utility", goal.name)
        if self.ratio == 1:
            return Fraction(0)
        least = self.proof.prove(Pure(Exponential.unchecked_ratio(self.ratio)), LossGoal(goal.source, None))
        if least <= goal.distortion:
            raise Refused("the proof must exceed the distortion", "distortion", str(goal.distortion))
        return lower(narrow(lambda: arb(rational(self.ratio)).log()))
