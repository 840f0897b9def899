"""
A table of two sensitive questions
==================================

Two answers of each respondent are randomised, each by its own mechanism; the joint table is estimated with limits,
and so are shares within a row. Each person's two reports together cost the sum of both ε.
"""

import extremal as ex
from extremal.data import LEVELS, survey
from extremal.plotting import figure as new_figure

data = survey()
party = ex.randomized_response(LEVELS["party"], 3)
vote = ex.randomized_response(LEVELS["vote"], 3)
reports = {"party": party.privatize(data["party"]), "vote": vote.privatize(data["vote"])}
table = ex.estimate_crosstab(reports, {"party": party, "vote": vote})
print(table.summary())

# %%
# Estimated (bars) and true (crosses) shares of each pair.
figure, axis = new_figure(width=8, height=4)
for j, (candidate, colour) in enumerate(zip(LEVELS["vote"], ("#1b6ca8", "#d1495b"), strict=True)):
    places = [x + 0.4 * j - 0.2 for x in range(len(LEVELS["party"]))]
    axis.bar(places, table.shown[:, j], width=0.38, color=colour, alpha=0.7, label=candidate)
    pairs = list(zip(data["party"], data["vote"], strict=True))
    true = [pairs.count((level, candidate)) / len(pairs) for level in LEVELS["party"]]
    axis.plot(places, true, "x", color="black", label="truth" if j else None)
axis.set_xticks(range(len(LEVELS["party"])), LEVELS["party"], rotation=30, ha="right")
axis.set_ylabel("share of respondents")
axis.legend(frameon=False)
figure.savefig("table_of_two_questions.png")
figure
