"""The bundled survey: 944 respondents of the American National Election Study 1996 (public domain; see
docs/start/survey.md)."""

from __future__ import annotations

import csv
from importlib.resources import files

INCOME = (
    "under 3,000",
    "3,000-4,999",
    "5,000-6,999",
    "7,000-8,999",
    "9,000-9,999",
    "10,000-10,999",
    "11,000-11,999",
    "12,000-12,999",
    "13,000-13,999",
    "14,000-14,999",
    "15,000-16,999",
    "17,000-19,999",
    "20,000-21,999",
    "22,000-24,999",
    "25,000-29,999",
    "30,000-34,999",
    "35,000-39,999",
    "40,000-44,999",
    "45,000-49,999",
    "50,000-59,999",
    "60,000-74,999",
    "75,000-89,999",
    "90,000-104,999",
    "105,000 and over",
)
INCOME_MIDDLES = (  # thousand dollars; 120 for the open bracket
    *(1.5, 4.0, 6.0, 8.0, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 16.0, 18.5),
    *(21.0, 23.5, 27.5, 32.5, 37.5, 42.5, 47.5, 55.0, 67.5, 82.5, 97.5, 120.0),
)
IDEOLOGY = (
    "extremely liberal",
    "liberal",
    "slightly liberal",
    "moderate",
    "slightly conservative",
    "conservative",
    "extremely conservative",
)
PARTY = (
    "strong democrat",
    "weak democrat",
    "independent democrat",
    "independent",
    "independent republican",
    "weak republican",
    "strong republican",
)
VOTE = ("Clinton", "Dole")

LEVELS: dict[str, tuple[str, ...]] = {"income": INCOME, "ideology": IDEOLOGY, "party": PARTY, "vote": VOTE}
"""The answers to each sensitive question, in their natural order."""


def survey() -> dict[str, list[str]]:
    """The bundled survey as columns of strings: age, education, income, ideology, party, vote.

    Guarantee: the same 944 respondents in every release.

    Reference: American National Election Study of 1996, in the public domain; the subset `anes96` of statsmodels.

    >>> answers = survey()
    >>> len(answers["party"]), set(answers["vote"]) == set(VOTE)
    (944, True)
    """
    text = (files("extremal.data") / "anes96.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {column: [row[column] for row in rows] for column in rows[0]}
