"""
A mean from far fewer people
============================

Household income in 24 brackets. If the mean is wanted, a mechanism made for the mean needs far fewer respondents than
one made for the shares: the reports should say "high" or "low", not which bracket.
"""

import extremal as ex
from extremal.data import LEVELS, survey

THOUSANDS = [1.5, 4, 6, 8, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 16, 18.5, 21, 23.5]
THOUSANDS += [27.5, 32.5, 37.5, 42.5, 47.5, 55, 67.5, 82.5, 97.5, 120]  # the middle of each bracket
answers, brackets = survey()["income"], LEVELS["income"]
goal = ex.Mean(THOUSANDS)

# %%
# The best mechanism at ε = 1, and how many respondents the others need for the same precision.
d = ex.design(ex.LDP(1), goal, inputs=brackets)
print(d.summary())
needed = ex.respondents(goal, epsilon=1)
print(needed)

# %%
# The estimate against the truth.
estimate = ex.estimate_workload(d.mechanism.privatize(answers), d.mechanism, goal)
print(estimate.summary())
middle = dict(zip(brackets, THOUSANDS, strict=True))
print(f"true mean: {sum(middle[a] for a in answers) / len(answers):.1f} thousand dollars")

# %%
figure = needed.plot()
figure.savefig("mean_income.png")
figure
