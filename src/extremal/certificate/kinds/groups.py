"""A mean of divergences or informations, bounded group by group: max Σ w_i·U_i ≤ Σ over groups of max Σ w_i·U_i."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from extremal.certificate.arithmetic.enclosures import fraction, leaves_of, weights_of
from extremal.certificate.proof import Counts, Proof, Proofs
from extremal.certificate.refused import Refused
from extremal.privacy import Notion
from extremal.utility import Average, Utility


@dataclass(frozen=True)
class Groups(Proof):
    """A mean is at most the mean of the optima of groups of its parts.

    Fields: groups, the group 0, 1, … of each part of the mean, parts of parts in the order in which they are listed;
    all of a group have the same weight. proofs, one for each group, about the mean of its parts, or about the part
    itself where it is alone.
    """

    kind: ClassVar[str] = "groups"
    groups: Counts
    proofs: Proofs

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        leaves = leaves_of(utility)
        named = len(self.groups) == len(leaves) and sorted(set(self.groups)) == list(range(len(self.proofs)))
        if type(utility) is not Average or not named:
            raise Refused("there must be a group with a proof for each part of a mean", parameter="groups", value=named)
        weights, total = weights_of(utility)[0], Fraction(0)
        for name, proof in enumerate(self.proofs):
            members = [i for i, own in enumerate(self.groups) if own == name]
            if len({weights[i] for i in members}) > 1:
                raise Refused("all of a group must have the same weight", parameter="group", value=name)
            parts = [leaves[i] for i in members]
            bound = proof._bound(privacy, parts[0] if len(parts) == 1 else Average(parts))
            if not isinstance(bound, Fraction):
                return bound
            total += len(parts) * fraction(weights[members[0]]) * bound
        return total
