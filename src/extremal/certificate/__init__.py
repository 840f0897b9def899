"""Proof of what a mechanism or a design claims, from its numbers alone.

`verify` decides the privacy claim in integer arithmetic and re-derives the optimality bound with outward rounding. It
imports no solver and nothing of `optimize/`: what is checked here was made elsewhere. One file for each kind of proof.
"""

from extremal.certificate.certificate import Certificate, load_certificate
from extremal.certificate.proof import PROOFS, Proof
from extremal.certificate.refused import Refused
from extremal.certificate.verify import Verification, verify

__all__ = ["PROOFS", "Certificate", "Proof", "Refused", "Verification", "load_certificate", "verify"]
