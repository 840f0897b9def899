"""Several questions to one person: one budget, one release, one file."""

from extremal.questionnaire.budget import split_budget
from extremal.questionnaire.disclosure import QuestionnaireDisclosure
from extremal.questionnaire.questionnaire import Questionnaire

__all__ = ["Questionnaire", "QuestionnaireDisclosure", "split_budget"]
