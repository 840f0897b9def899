"""
A mean from far fewer people
============================

Household income in 24 brackets. If the mean is wanted, a mechanism made for the mean needs far fewer respondents than
one made for the shares: the reports should say "high" or "low", not which bracket.
"""

import extremal as ex
from extremal.data import INCOME_MIDDLES, LEVELS, survey

answers, brackets = survey()["income"], LEVELS["income"]
goal = ex.Mean(INCOME_MIDDLES)  # the middle of each bracket, in thousand dollars

# %%
# The best mechanism at ε = 1, and how many respondents the others need for the same precision.
d = ex.design(ex.LDP(1), goal, inputs=brackets)
print(d.summary())
needed = ex.compare(goal, epsilon=1).respondents()
print(needed)

# %%
# The estimate against the truth.
estimate = ex.estimate_workload(d.mechanism.privatize(answers), d.mechanism, goal)
print(estimate.summary())
middle = dict(zip(brackets, INCOME_MIDDLES, strict=True))
print(f"true mean: {sum(middle[a] for a in answers) / len(answers):.1f} thousand dollars")

# %%
figure = needed.plot()
figure.savefig("mean_income.png")
figure
