"""Before the survey: how many people, how private, how precise, how powerful."""

from extremal.studies.planning.power import TestPlan, plan_test
from extremal.studies.planning.precision import Plan, plan

__all__ = ["Plan", "TestPlan", "plan", "plan_test"]
