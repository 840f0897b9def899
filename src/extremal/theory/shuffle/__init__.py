"""Shuffled reports: what n of them guarantee centrally, proved for the mechanism at hand."""

from extremal.theory.shuffle.claims import ShuffleClaim
from extremal.theory.shuffle.shuffled import Shuffled, clones, shuffled
from extremal.theory.shuffle.target import ShuffleTarget, epsilon_for_shuffle

__all__ = ["ShuffleClaim", "ShuffleTarget", "Shuffled", "clones", "epsilon_for_shuffle", "shuffled"]
