"""Regression on privatised answers."""

from extremal.estimate.regression.regress import regress
from extremal.estimate.regression.result import RegressionResult

__all__ = ["RegressionResult", "regress"]
