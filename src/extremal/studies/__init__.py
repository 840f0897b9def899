"""What compares several designs and draws: tables, frames and pictures."""

from extremal.studies.compare import Comparison, compare
from extremal.studies.distortion import DistortionTradeoff, distortion_tradeoff
from extremal.studies.equal_leakage import EqualLeakage, equal_leakage
from extremal.studies.information_over_epsilon import InformationOverEpsilon, information_over_epsilon
from extremal.studies.planning import Plan, TestPlan, plan, plan_test
from extremal.studies.respondents import Respondents, respondents
from extremal.studies.tradeoff import Tradeoff, tradeoff

__all__ = [
    "Comparison",
    "DistortionTradeoff",
    "EqualLeakage",
    "InformationOverEpsilon",
    "Plan",
    "Respondents",
    "TestPlan",
    "Tradeoff",
    "compare",
    "distortion_tradeoff",
    "equal_leakage",
    "information_over_epsilon",
    "plan",
    "plan_test",
    "respondents",
    "tradeoff",
]
