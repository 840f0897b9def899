"""Several questions to one person: one budget, one release, one file."""

from extremal.questionnaire.disclosure import QuestionnaireDisclosure
from extremal.questionnaire.given import OnlyIf, TickAll
from extremal.questionnaire.plan import QuestionnairePlan
from extremal.questionnaire.questionnaire import Questionnaire
from extremal.questionnaire.texts import QuestionText

__all__ = ["OnlyIf", "QuestionText", "Questionnaire", "QuestionnaireDisclosure", "QuestionnairePlan", "TickAll"]
