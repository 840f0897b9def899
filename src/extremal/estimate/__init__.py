"""Reports → answers: frequencies, tests, regressions."""

import sys
from types import ModuleType
from typing import Any, NoReturn

from extremal.estimate.change import ChangeEstimate, estimate_change
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
from extremal.estimate.reports.sample import Sample
from extremal.estimate.results.combined import CombinedEstimate
from extremal.estimate.results.crosstab import CrosstabEstimate
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.strata import Differences, StratifiedEstimate
from extremal.estimate.workload import WorkloadEstimate, estimate_workload

__all__ = [
    "BayesTest",
    "ChangeEstimate",
    "CombinedEstimate",
    "CrosstabEstimate",
    "Differences",
    "FrequencyEstimate",
    "LikelihoodRatioTest",
    "RegressionResult",
    "Sample",
    "SequentialTest",
    "StratifiedEstimate",
    "TestResult",
    "WorkloadEstimate",
    "estimate_change",
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


class _Module(ModuleType):
    """This module, which says what to call when it is called."""

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "extremal.estimate is a module. Call ex.estimate_frequencies(reports, mechanism) for shares, or "
            "ex.estimate_workload(reports, mechanism, goal) for a mean"
        )


sys.modules[__name__].__class__ = _Module
