"""Hypotheses about the inputs, tested on their reports."""

from extremal.estimate.hypothesis_tests.composite import test_distribution, test_homogeneity, test_independence
from extremal.estimate.hypothesis_tests.likelihood_ratio import BayesTest, LikelihoodRatioTest, test_hypotheses
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.hypothesis_tests.sequential import SequentialTest, sequential_test

__all__ = [
    "BayesTest",
    "LikelihoodRatioTest",
    "SequentialTest",
    "TestResult",
    "sequential_test",
    "test_distribution",
    "test_homogeneity",
    "test_hypotheses",
    "test_independence",
]
