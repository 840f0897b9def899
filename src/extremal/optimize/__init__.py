"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.distortion_tradeoff import DistortionTradeoff, distortion_tradeoff
from extremal.optimize.leakage_comparison import EqualLeakage, equal_leakage
from extremal.optimize.smallest_epsilon import smallest_epsilon
from extremal.optimize.tradeoff import Tradeoff, tradeoff

__all__ = [
    "Design",
    "DistortionTradeoff",
    "EqualLeakage",
    "Tradeoff",
    "design",
    "distortion_tradeoff",
    "equal_leakage",
    "smallest_epsilon",
    "tradeoff",
]
