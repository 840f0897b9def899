"""extremal: provably optimal local privacy.

Say what you want to learn and how private it must be; get the best local randomiser, a certificate that it is private, a
sampler that is exact, and the estimators for what comes back.
"""

from extremal.certificate import Verification, verify
from extremal.closed_forms import randomized_response
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
from extremal.estimate import FrequencyEstimate, StratifiedEstimate, estimate_frequencies
from extremal.mechanism import Mechanism, load
from extremal.privacy import LDP, LIP, PML, MetricPrivacy
from extremal.sources import SourceClass

__version__ = "0.1.0"

__all__ = [
    "LDP",
    "LIP",
    "PML",
    "ExtremalError",
    "FileConflict",
    "FrequencyEstimate",
    "InvalidLabel",
    "InvalidParameter",
    "InvalidPrior",
    "MalformedFile",
    "Mechanism",
    "MetricPrivacy",
    "MissingDependency",
    "NotIdentified",
    "PrivacyViolation",
    "SourceClass",
    "StratifiedEstimate",
    "TooLarge",
    "UnknownLabel",
    "Verification",
    "__version__",
    "estimate_frequencies",
    "load",
    "randomized_response",
    "verify",
]
