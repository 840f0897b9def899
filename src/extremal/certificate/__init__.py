"""The proof kernel: what a design claims, and code that decides it in exact arithmetic, without a solver."""

from extremal.certificate.certificate import Certificate
from extremal.certificate.proof import KINDS, Contradiction, NotKnown, Proof, Refused, proof_from_json
from extremal.certificate.proofs.chords import Chords
from extremal.certificate.proofs.combined import ChosenPrior, Groups, Level, OnePrior
from extremal.certificate.proofs.concave import Concave
from extremal.certificate.proofs.dual import Dual, Listed, Reason, Truncated
from extremal.certificate.proofs.matrix import Matrix
from extremal.certificate.proofs.order import Order
from extremal.certificate.proofs.questions import Agreements
from extremal.certificate.proofs.sets import Sets
from extremal.certificate.proofs.squares import Squares
from extremal.certificate.proofs.yes_no import YesNo
from extremal.certificate.reading import MOST_DIGITS
from extremal.certificate.verify import Verdict, Verification, enclosure, verify

__all__ = [
    "KINDS",
    "MOST_DIGITS",
    "Agreements",
    "Certificate",
    "Chords",
    "ChosenPrior",
    "Concave",
    "Contradiction",
    "Dual",
    "Groups",
    "Level",
    "Listed",
    "Matrix",
    "NotKnown",
    "OnePrior",
    "Order",
    "Proof",
    "Reason",
    "Refused",
    "Sets",
    "Squares",
    "Truncated",
    "Verdict",
    "Verification",
    "YesNo",
    "enclosure",
    "proof_from_json",
    "verify",
]
