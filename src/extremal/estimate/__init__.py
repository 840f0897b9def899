"""Reports → answers: frequencies, tests, regressions."""

import sys
from types import ModuleType
from typing import Any

from extremal.estimate.crosstab import estimate_crosstab
from extremal.estimate.frequencies import estimate_frequencies
from extremal.estimate.hypothesis_tests import (
    BayesTest,
    LikelihoodRatioTest,
    SequentialTest,
    TestResult,
    sequential_test,
    test_distribution,
    test_homogeneity,
    test_hypotheses,
    test_independence,
)
from extremal.estimate.pool import pool
from extremal.estimate.regression import RegressionResult, regress
from extremal.estimate.results.combined import CombinedEstimate
from extremal.estimate.results.crosstab import CrosstabEstimate
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.stratified import StratifiedEstimate
from extremal.estimate.workload import WorkloadEstimate, estimate_workload

__all__ = [
    "BayesTest",
    "CombinedEstimate",
    "CrosstabEstimate",
    "FrequencyEstimate",
    "LikelihoodRatioTest",
    "RegressionResult",
    "SequentialTest",
    "StratifiedEstimate",
    "TestResult",
    "WorkloadEstimate",
    "estimate_crosstab",
    "estimate_frequencies",
    "estimate_workload",
    "pool",
    "regress",
    "sequential_test",
    "test_distribution",
    "test_homogeneity",
    "test_hypotheses",
    "test_independence",
]


class _Room(ModuleType):
    """This package, which says what to call when it is called itself."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "extremal.estimate is a package. Shares: ex.estimate_frequencies(reports, mechanism); a table of two "
            "questions: ex.estimate_crosstab(frame, {column: mechanism, …})."
        )


sys.modules[__name__].__class__ = _Room
