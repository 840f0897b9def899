"""extremal: provably optimal local privacy.

Say what you want to learn and how private it must be; get the best local randomiser, a certificate that it is private, a
sampler that is exact, and the estimators for what comes back.
"""

from extremal import theory
from extremal.certificate import Verification, verify
from extremal.closed_forms import (
    Comparison,
    binary,
    binary_for_information,
    compare,
    geometric,
    hamming,
    pml_binary,
    pml_high_privacy,
    pml_randomized_response,
    pml_uniform,
    quaternary,
    randomized_response,
    subset_selection,
    surveys,
)
from extremal.errors import (
    ExtremalError,
    FileConflict,
    InvalidLabel,
    InvalidParameter,
    InvalidPrior,
    MalformedFile,
    MissingDependency,
    NotIdentified,
    PrivacyViolation,
    TooLarge,
    UnknownLabel,
)
from extremal.estimate import FrequencyEstimate, estimate_frequencies
from extremal.mechanism import Mechanism, load
from extremal.optimize import Design, design
from extremal.privacy import LDP, LIP, PML, MetricPrivacy
from extremal.sources import SourceClass
from extremal.utility import (
    KL,
    AlphaDivergence,
    Average,
    ChiSquared,
    Distortion,
    FDivergence,
    Hamming,
    HockeyStick,
    JensenShannon,
    MutualInformation,
    PairwiseDivergence,
    ReverseKL,
    SquaredHellinger,
    Sublinear,
    SymmetricKL,
    TotalVariation,
    WorstCase,
)

__version__ = "0.1.0"

__all__ = [
    "KL",
    "LDP",
    "LIP",
    "PML",
    "AlphaDivergence",
    "Average",
    "ChiSquared",
    "Comparison",
    "Design",
    "Distortion",
    "ExtremalError",
    "FDivergence",
    "FileConflict",
    "FrequencyEstimate",
    "Hamming",
    "HockeyStick",
    "InvalidLabel",
    "InvalidParameter",
    "InvalidPrior",
    "JensenShannon",
    "MalformedFile",
    "Mechanism",
    "MetricPrivacy",
    "MissingDependency",
    "MutualInformation",
    "NotIdentified",
    "PairwiseDivergence",
    "PrivacyViolation",
    "ReverseKL",
    "SourceClass",
    "SquaredHellinger",
    "Sublinear",
    "SymmetricKL",
    "TooLarge",
    "TotalVariation",
    "UnknownLabel",
    "Verification",
    "WorstCase",
    "__version__",
    "binary",
    "binary_for_information",
    "compare",
    "design",
    "estimate_frequencies",
    "geometric",
    "hamming",
    "load",
    "pml_binary",
    "pml_high_privacy",
    "pml_randomized_response",
    "pml_uniform",
    "quaternary",
    "randomized_response",
    "subset_selection",
    "surveys",
    "theory",
    "verify",
]
