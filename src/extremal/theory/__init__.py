"""What the papers state, as functions: bounds, thresholds, regions and regimes, as printed and as they hold."""

from extremal.closed_forms.leakage import randomized_response_leakage
from extremal.theory import distortion
from extremal.theory.blackwell import Dominance, Equivalence, Separation, canonical_form, dominates, equivalent
from extremal.theory.bounds.bound import Bound
from extremal.theory.bounds.divergences import low_privacy_coefficient
from extremal.theory.composition import compose, composed_level, pml_composed_bound
from extremal.theory.converses import Converses, converses
from extremal.theory.duals import response_dual, total_variation_dual
from extremal.theory.empirical import correlation, empirical_correlation, empirical_information
from extremal.theory.error_regions import ErrorRegion, error_region, error_region_of
from extremal.theory.hypothesis_tests import ErrorExponent, chernoff_information, error_exponent, fano, le_cam
from extremal.theory.leakage.distribution import LeakageDistribution, disclosable, leakage_distribution, majorizes
from extremal.theory.leakage.f_information import f_information
from extremal.theory.leakage.regions import pml_regions
from extremal.theory.leakage.wrong_prior import wrong_prior
from extremal.theory.privacy_profile import PrivacyProfile, privacy_profile
from extremal.theory.staircase import StaircaseWeights, staircase_patterns, staircase_weights
from extremal.theory.thresholds.information import (
    binary_threshold_for_information,
    response_is_optimal,
    rr_threshold_for_information,
)
from extremal.theory.thresholds.optimality import binary_threshold_for, rr_threshold
from extremal.theory.thresholds.ranges import Threshold
from extremal.theory.thresholds.universal import binary_threshold

__all__ = [
    "Bound",
    "Converses",
    "Dominance",
    "Equivalence",
    "ErrorExponent",
    "ErrorRegion",
    "LeakageDistribution",
    "PrivacyProfile",
    "Separation",
    "StaircaseWeights",
    "Threshold",
    "binary_threshold",
    "binary_threshold_for",
    "binary_threshold_for_information",
    "canonical_form",
    "chernoff_information",
    "compose",
    "composed_level",
    "converses",
    "correlation",
    "disclosable",
    "distortion",
    "dominates",
    "empirical_correlation",
    "empirical_information",
    "equivalent",
    "error_exponent",
    "error_region",
    "error_region_of",
    "f_information",
    "fano",
    "le_cam",
    "leakage_distribution",
    "low_privacy_coefficient",
    "majorizes",
    "pml_composed_bound",
    "pml_regions",
    "privacy_profile",
    "randomized_response_leakage",
    "response_dual",
    "response_is_optimal",
    "rr_threshold",
    "rr_threshold_for_information",
    "staircase_patterns",
    "staircase_weights",
    "total_variation_dual",
    "wrong_prior",
]
