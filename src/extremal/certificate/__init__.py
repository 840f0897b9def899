"""The proof kernel: what a design claims, and code that decides it in exact arithmetic, without a solver."""

from extremal.certificate.certificate import Certificate
from extremal.certificate.kinds.costs import Truth
from extremal.certificate.kinds.coupled import Coupled, CoupledColumns, Revealed
from extremal.certificate.kinds.directions import Directions
from extremal.certificate.kinds.dual import Lines, OnePrior, Rays
from extremal.certificate.kinds.groups import Groups
from extremal.certificate.kinds.information import Sizes, Subadditive
from extremal.certificate.kinds.matrix import MatrixInequality
from extremal.certificate.kinds.partition import MeanPartition, Partition
from extremal.certificate.kinds.ratios import Ratios
from extremal.certificate.kinds.search import Search
from extremal.certificate.kinds.sweep import LineSweep
from extremal.certificate.kinds.workload import ListedColumns, ListedCounts
from extremal.certificate.proof import PROOFS, Proof, proof_from_json
from extremal.certificate.refused import Contradiction, NotKnown, Refused
from extremal.certificate.verify import Verdict, Verification, certify, enclosure, extended, verify

__all__ = [
    "PROOFS",
    "Certificate",
    "Contradiction",
    "Coupled",
    "CoupledColumns",
    "Directions",
    "Groups",
    "LineSweep",
    "Lines",
    "ListedColumns",
    "ListedCounts",
    "MatrixInequality",
    "MeanPartition",
    "NotKnown",
    "OnePrior",
    "Partition",
    "Proof",
    "Ratios",
    "Rays",
    "Refused",
    "Revealed",
    "Search",
    "Sizes",
    "Subadditive",
    "Truth",
    "Verdict",
    "Verification",
    "certify",
    "enclosure",
    "extended",
    "proof_from_json",
    "verify",
]
