"""The statements of the papers as functions: bounds, thresholds, regions and regimes, as printed and as they hold."""

from extremal.closed_forms.leakage import randomized_response_leakage
from extremal.optimize.information.response import response_is_optimal
from extremal.theory import distortion
from extremal.theory.blackwell import Dominance, Equivalence, Separation, canonical_form, dominates, equivalent
from extremal.theory.bounds import Bound, low_privacy_coefficient
from extremal.theory.composition import compose, composed_level, pml_composed_bound
from extremal.theory.contraction import Contraction, contraction
from extremal.theory.converses import Converses, converses
from extremal.theory.crossings import Threshold, binary_threshold
from extremal.theory.empirical import correlation, empirical_correlation, empirical_information
from extremal.theory.error_regions import ErrorRegion, error_region, error_region_of
from extremal.theory.estimation import mean_estimation, share_estimation
from extremal.theory.hypothesis_tests import (
    ErrorExponent,
    chernoff_information,
    error_exponent,
    fano,
    identity_testing,
    le_cam,
)
from extremal.theory.leakage import (
    LeakageDistribution,
    disclosable,
    f_information,
    leakage_distribution,
    majorizes,
    pml_regions,
    wrong_prior,
)
from extremal.theory.profiles import PrivacyProfile, privacy_profile
from extremal.theory.robust import CorrelatedDesign, RobustDesign, correlated_design, robust_design
from extremal.theory.shuffle import ShuffleClaim, Shuffled, clones, epsilon_for_shuffle, shuffled
from extremal.theory.staircase import (
    StaircaseWeights,
    response_dual,
    staircase_patterns,
    staircase_weights,
    total_variation_dual,
)
from extremal.theory.thresholds import Thresholds, binary_threshold_for, rr_threshold, thresholds

__all__ = [
    "Bound",
    "Contraction",
    "Converses",
    "CorrelatedDesign",
    "Dominance",
    "Equivalence",
    "ErrorExponent",
    "ErrorRegion",
    "LeakageDistribution",
    "PrivacyProfile",
    "RobustDesign",
    "Separation",
    "ShuffleClaim",
    "Shuffled",
    "StaircaseWeights",
    "Threshold",
    "Thresholds",
    "binary_threshold",
    "binary_threshold_for",
    "canonical_form",
    "chernoff_information",
    "clones",
    "compose",
    "composed_level",
    "contraction",
    "converses",
    "correlated_design",
    "correlation",
    "disclosable",
    "distortion",
    "dominates",
    "empirical_correlation",
    "empirical_information",
    "epsilon_for_shuffle",
    "equivalent",
    "error_exponent",
    "error_region",
    "error_region_of",
    "f_information",
    "fano",
    "identity_testing",
    "le_cam",
    "leakage_distribution",
    "low_privacy_coefficient",
    "majorizes",
    "mean_estimation",
    "pml_composed_bound",
    "pml_regions",
    "privacy_profile",
    "randomized_response_leakage",
    "response_dual",
    "response_is_optimal",
    "robust_design",
    "rr_threshold",
    "share_estimation",
    "shuffled",
    "staircase_patterns",
    "staircase_weights",
    "thresholds",
    "total_variation_dual",
    "wrong_prior",
]
