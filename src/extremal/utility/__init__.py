"""What is wanted: every utility, by name."""

from extremal.utility import divergences
from extremal.utility.combinations import Average, PairwiseDivergence, WorstCase
from extremal.utility.convex import ConvexFunction
from extremal.utility.distortion import Distortion, Hamming, LevelAtDistortion
from extremal.utility.divergence import Divergence, FDivergence, NamedDivergence
from extremal.utility.divergences import *  # noqa: F403 - the named ones, as that module lists them
from extremal.utility.information import MutualInformation
from extremal.utility.robust import RobustDivergence
from extremal.utility.user_functions import ConvexUtility, Sublinear
from extremal.utility.utility import UTILITIES, SumOfColumns, Utility
from extremal.utility.workload import Workload
from extremal.utility.workloads import CDF, Frequencies, Mean, Ranges

DIVERGENCES: dict[str, type[NamedDivergence]] = {
    name: kind for name, kind in UTILITIES.items() if issubclass(kind, NamedDivergence)
}
"""The named divergences, by name."""

__all__ = [
    "CDF",
    "DIVERGENCES",
    "UTILITIES",
    "Average",
    "ConvexFunction",
    "ConvexUtility",
    "Distortion",
    "Divergence",
    "FDivergence",
    "Frequencies",
    "Hamming",
    "LevelAtDistortion",
    "Mean",
    "MutualInformation",
    "NamedDivergence",
    "PairwiseDivergence",
    "Ranges",
    "RobustDivergence",
    "Sublinear",
    "SumOfColumns",
    "Utility",
    "Workload",
    "WorstCase",
]
__all__ += divergences.__all__
