"""Shuffled reports: what n of them guarantee centrally, proved for the mechanism at hand."""

from extremal.theory.shuffle.claims import ShuffleClaim
from extremal.theory.shuffle.shuffled import Shuffled, clones, shuffled

__all__ = ["ShuffleClaim", "Shuffled", "clones", "shuffled"]
