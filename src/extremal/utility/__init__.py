"""What is wanted: every utility, by name."""

from extremal.utility.combinations import Average, PairwiseDivergence, WorstCase
from extremal.utility.distortion import Distortion, Hamming
from extremal.utility.divergence import Divergence
from extremal.utility.divergences import (
    KL,
    AlphaDivergence,
    ChiSquared,
    HockeyStick,
    JensenShannon,
    ReverseKL,
    SquaredHellinger,
    SymmetricKL,
    TotalVariation,
)
from extremal.utility.information import MutualInformation
from extremal.utility.sublinear import Sublinear
from extremal.utility.user_function import FDivergence
from extremal.utility.utility import SumOfColumns, Utility

DIVERGENCES: dict[str, type[Divergence]] = {
    divergence.name: divergence
    for divergence in (
        KL,
        ReverseKL,
        SymmetricKL,
        TotalVariation,
        ChiSquared,
        SquaredHellinger,
        JensenShannon,
        AlphaDivergence,
        HockeyStick,
    )
}
"""The divergences that files and the command line know, by name; the last two take one more parameter."""

__all__ = [
    "DIVERGENCES",
    "KL",
    "AlphaDivergence",
    "Average",
    "ChiSquared",
    "Distortion",
    "Divergence",
    "FDivergence",
    "Hamming",
    "HockeyStick",
    "JensenShannon",
    "MutualInformation",
    "PairwiseDivergence",
    "ReverseKL",
    "SquaredHellinger",
    "Sublinear",
    "SumOfColumns",
    "SymmetricKL",
    "TotalVariation",
    "Utility",
    "WorstCase",
]
