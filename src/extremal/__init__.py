"""extremal: provably optimal local privacy.

Say what you want to learn and how private it must be; get the best local randomiser, a certificate that it is private,
a sampler that is exact, and the estimators for what comes back.
"""

from extremal import theory
from extremal.certificate import Verification, verify
from extremal.closed_forms import (
    binary,
    binary_for_information,
    exponential,
    geometric,
    hadamard_response,
    hamming,
    local_hashing,
    pml_binary,
    pml_high_privacy,
    pml_randomized_response,
    pml_uniform,
    projective_geometry,
    quaternary,
    randomized_response,
    subset_selection,
    surveys,
    unary_encoding,
)
from extremal.errors import (
    ExtremalError,
    FileConflict,
    InvalidLabel,
    InvalidParameter,
    InvalidPrior,
    MalformedFile,
    MissingDependency,
    NoSecureRandomness,
    NotIdentified,
    PrivacyViolation,
    TooLarge,
    UnknownLabel,
)
from extremal.estimate import FrequencyEstimate, StratifiedEstimate, estimate_frequencies
from extremal.mechanism import Mechanism, load
from extremal.optimize import Design, design, smallest_epsilon
from extremal.privacy import LDP, LIP, PML, MetricPrivacy
from extremal.release import privatize
from extremal.sources import SourceClass
from extremal.studies import (
    Comparison,
    DistortionTradeoff,
    EqualLeakage,
    InformationOverEpsilon,
    Tradeoff,
    compare,
    distortion_tradeoff,
    equal_leakage,
    information_over_epsilon,
    tradeoff,
)
from extremal.theory import error_exponent
from extremal.utility import (
    Average,
    Distortion,
    FDivergence,
    Hamming,
    MutualInformation,
    PairwiseDivergence,
    Sublinear,
    WorstCase,
    divergences,
)
from extremal.utility.divergences import *  # noqa: F403 - the named ones, as that module lists them

__version__ = "0.1.0"

__all__ = [
    "LDP",
    "LIP",
    "PML",
    "Average",
    "Comparison",
    "Design",
    "Distortion",
    "DistortionTradeoff",
    "EqualLeakage",
    "ExtremalError",
    "FDivergence",
    "FileConflict",
    "FrequencyEstimate",
    "Hamming",
    "InformationOverEpsilon",
    "InvalidLabel",
    "InvalidParameter",
    "InvalidPrior",
    "MalformedFile",
    "Mechanism",
    "MetricPrivacy",
    "MissingDependency",
    "MutualInformation",
    "NoSecureRandomness",
    "NotIdentified",
    "PairwiseDivergence",
    "PrivacyViolation",
    "SourceClass",
    "StratifiedEstimate",
    "Sublinear",
    "TooLarge",
    "Tradeoff",
    "UnknownLabel",
    "Verification",
    "WorstCase",
    "__version__",
    "binary",
    "binary_for_information",
    "compare",
    "design",
    "distortion_tradeoff",
    "equal_leakage",
    "error_exponent",
    "estimate_frequencies",
    "exponential",
    "geometric",
    "hadamard_response",
    "hamming",
    "information_over_epsilon",
    "load",
    "local_hashing",
    "pml_binary",
    "pml_high_privacy",
    "pml_randomized_response",
    "pml_uniform",
    "privatize",
    "projective_geometry",
    "quaternary",
    "randomized_response",
    "smallest_epsilon",
    "subset_selection",
    "surveys",
    "theory",
    "tradeoff",
    "unary_encoding",
    "verify",
]
__all__ += divergences.__all__
