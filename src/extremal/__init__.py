"""extremal: provably optimal local privacy.

Say what you want to learn and how private it must be; get the best local randomiser, a certificate that it is private,
a sampler that is exact, and the estimators for what comes back.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from extremal.closed_forms import (
    better_of_two,
    binary,
    binary_for_information,
    bloom_filter,
    exponential,
    geometric,
    hadamard_response,
    hamming,
    hierarchical,
    local_hashing,
    piecewise,
    pml_binary,
    pml_high_privacy,
    pml_randomized_response,
    pml_uniform,
    projective_geometry,
    quaternary,
    randomized_response,
    square_wave,
    stochastic_rounding,
    subset_selection,
    surveys,
    unary_encoding,
)
from extremal.columns.bins import Bins, binned
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
    show_values,
)
from extremal.estimate import (
    CombinedEstimate,
    CrosstabEstimate,
    FrequencyEstimate,
    StratifiedEstimate,
    WorkloadEstimate,
    estimate_crosstab,
    estimate_frequencies,
    estimate_workload,
    pool,
    regress,
    sequential_test,
    test_distribution,
    test_homogeneity,
    test_hypotheses,
    test_independence,
)
from extremal.loading import load
from extremal.mechanism import Mechanism
from extremal.privacy import LDP, LIP, PML, MetricPrivacy
from extremal.release import privatize
from extremal.sources import SourceClass
from extremal.utility import (
    CDF,
    Average,
    ConvexUtility,
    Distortion,
    FDivergence,
    Frequencies,
    Hamming,
    Mean,
    MutualInformation,
    PairwiseDivergence,
    Ranges,
    RobustDivergence,
    Sublinear,
    Workload,
    WorstCase,
    divergences,
)
from extremal.utility.divergences import *  # noqa: F403 - the named ones, as that module lists them

if TYPE_CHECKING:
    from extremal import theory
    from extremal.certificate import Verdict, Verification, verify
    from extremal.estimate.reports.counts import count_reports
    from extremal.optimize import Design, design, smallest_epsilon
    from extremal.questionnaire import Questionnaire
    from extremal.release.engines.key import ReleaseKey
    from extremal.release.memory import Memory
    from extremal.release.two_levels import TwoLevels
    from extremal.studies import (
        Comparison,
        DistortionTradeoff,
        EqualLeakage,
        Plan,
        TestPlan,
        Tradeoff,
        compare,
        distortion_tradeoff,
        equal_leakage,
        plan,
        plan_test,
        tradeoff,
    )
    from extremal.theory import error_exponent

__version__ = "0.1.0"

__all__ = [
    "CDF",
    "LDP",
    "LIP",
    "PML",
    "Average",
    "Bins",
    "CombinedEstimate",
    "Comparison",
    "ConvexUtility",
    "CrosstabEstimate",
    "Design",
    "Distortion",
    "DistortionTradeoff",
    "EqualLeakage",
    "ExtremalError",
    "FDivergence",
    "FileConflict",
    "Frequencies",
    "FrequencyEstimate",
    "Hamming",
    "InvalidLabel",
    "InvalidParameter",
    "InvalidPrior",
    "MalformedFile",
    "Mean",
    "Mechanism",
    "Memory",
    "MetricPrivacy",
    "MissingDependency",
    "MutualInformation",
    "NoSecureRandomness",
    "NotIdentified",
    "PairwiseDivergence",
    "Plan",
    "PrivacyViolation",
    "Questionnaire",
    "Ranges",
    "ReleaseKey",
    "RobustDivergence",
    "SourceClass",
    "StratifiedEstimate",
    "Sublinear",
    "TestPlan",
    "TooLarge",
    "Tradeoff",
    "TwoLevels",
    "UnknownLabel",
    "Verdict",
    "Verification",
    "Workload",
    "WorkloadEstimate",
    "WorstCase",
    "__version__",
    "better_of_two",
    "binary",
    "binary_for_information",
    "binned",
    "bloom_filter",
    "compare",
    "count_reports",
    "design",
    "distortion_tradeoff",
    "equal_leakage",
    "error_exponent",
    "estimate_crosstab",
    "estimate_frequencies",
    "estimate_workload",
    "exponential",
    "geometric",
    "hadamard_response",
    "hamming",
    "hierarchical",
    "load",
    "local_hashing",
    "piecewise",
    "plan",
    "plan_test",
    "pml_binary",
    "pml_high_privacy",
    "pml_randomized_response",
    "pml_uniform",
    "pool",
    "privatize",
    "projective_geometry",
    "quaternary",
    "randomized_response",
    "regress",
    "sequential_test",
    "show_values",
    "smallest_epsilon",
    "square_wave",
    "stochastic_rounding",
    "subset_selection",
    "surveys",
    "test_distribution",
    "test_homogeneity",
    "test_hypotheses",
    "test_independence",
    "theory",
    "tradeoff",
    "unary_encoding",
    "verify",
]
__all__ += divergences.__all__

_LATER = {
    "extremal.certificate": ("Verdict", "Verification", "verify"),
    "extremal.estimate.reports.counts": ("count_reports",),
    "extremal.optimize": ("Design", "design", "smallest_epsilon"),
    "extremal.release.engines.key": ("ReleaseKey",),
    "extremal.release.memory": ("Memory",),
    "extremal.release.two_levels": ("TwoLevels",),
    "extremal.questionnaire": ("Questionnaire",),
    "extremal.studies": (
        "Comparison",
        "DistortionTradeoff",
        "EqualLeakage",
        "Plan",
        "TestPlan",
        "Tradeoff",
        "compare",
        "distortion_tradeoff",
        "equal_leakage",
        "plan",
        "plan_test",
        "tradeoff",
    ),
    "extremal.theory": ("error_exponent",),
}
"""Rooms with solvers, exact arithmetic or a database, loaded when a name of theirs is used."""

_ROOM_OF = {name: room for room, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "theory":
        return importlib.import_module("extremal.theory")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'extremal' has no attribute {name!r}")
    found = getattr(importlib.import_module(_ROOM_OF[name]), name)
    if isinstance(found, ModuleType):  # a room whose file has the name of its function, imported by itself
        found = getattr(found, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
