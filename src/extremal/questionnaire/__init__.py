"""Several questions to one person: one budget, one release, one file."""

from extremal.questionnaire.disclosure import QuestionnaireDisclosure
from extremal.questionnaire.plan import QuestionnairePlan
from extremal.questionnaire.questionnaire import Questionnaire
from extremal.questionnaire.questions import TickAll

__all__ = ["Questionnaire", "QuestionnaireDisclosure", "QuestionnairePlan", "TickAll"]
