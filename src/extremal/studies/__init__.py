"""Studies of several designs: comparisons, tradeoffs and plans, as tables, frames and pictures."""

from extremal.studies.compare import Comparison, Respondents, compare
from extremal.studies.distortion import DistortionTradeoff, distortion_tradeoff
from extremal.studies.equal_leakage import EqualLeakage, equal_leakage
from extremal.studies.planning import Plan, TestPlan, plan, plan_test
from extremal.studies.tradeoff import Tradeoff, tradeoff

__all__ = [
    "Comparison",
    "DistortionTradeoff",
    "EqualLeakage",
    "Plan",
    "Respondents",
    "TestPlan",
    "Tradeoff",
    "compare",
    "distortion_tradeoff",
    "equal_leakage",
    "plan",
    "plan_test",
    "tradeoff",
]
