"""The proof kernel: what a design claims, and code that decides it in exact arithmetic, without a solver."""

from extremal.certificate.certificate import Certificate
from extremal.certificate.costs import Truth
from extremal.certificate.coupled import Coupled, CoupledColumns, Revealed
from extremal.certificate.directions import Directions
from extremal.certificate.dual import Lines, OnePrior, Rays
from extremal.certificate.groups import Groups
from extremal.certificate.information import Sizes, Subadditive
from extremal.certificate.matrix import MatrixInequality
from extremal.certificate.partition import MeanPartition, Partition
from extremal.certificate.proof import PROOFS, Proof, proof_from_json
from extremal.certificate.ratios import Ratios
from extremal.certificate.refused import Contradiction, NotKnown, Refused
from extremal.certificate.search import Search
from extremal.certificate.sweep import LineSweep
from extremal.certificate.verify import Verdict, Verification, certify, enclosure, extended, verify
from extremal.certificate.workload import ListedColumns, ListedCounts

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
