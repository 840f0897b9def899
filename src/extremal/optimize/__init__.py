"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.distortion_tradeoff import DistortionTradeoff, distortion_tradeoff
from extremal.optimize.information_over_epsilon import InformationOverEpsilon, information_over_epsilon
from extremal.optimize.leakage_comparison import EqualLeakage, equal_leakage
from extremal.optimize.smallest_epsilon import smallest_epsilon
from extremal.optimize.tradeoff import Tradeoff, tradeoff

__all__ = [
    "Design",
    "DistortionTradeoff",
    "EqualLeakage",
    "InformationOverEpsilon",
    "Tradeoff",
    "design",
    "distortion_tradeoff",
    "equal_leakage",
    "information_over_epsilon",
    "smallest_epsilon",
    "tradeoff",
]
