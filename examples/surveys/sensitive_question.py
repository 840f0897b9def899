"""
A sensitive question
====================

Did you ever …? Each respondent's device reports yes or no at random, so that any single report can be denied, and the
share is estimated from all of them. The best mechanism for two answers is Warner's of 1965; here it comes with a
proof of that.
"""

import extremal as ex

# %%
# The goal is the share of each answer; the promise is that no report is more than e times as likely from one answer
# as from another (`LDP(1)`).
d = ex.design(ex.LDP(1), ex.Frequencies(2), inputs=["no", "yes"])
print(d.summary())
assert ex.verify(d)

# %%
# 2,000 people, 600 of whom would truthfully say yes. What leaves the devices is `reports`.
reports = d.mechanism.privatize(["yes"] * 600 + ["no"] * 1400)
result = ex.estimate_frequencies(reports, d.mechanism)
print(result.summary())

# %%
# The estimate, its interval, and the truth that a real study would not have.
figure = result.plot(truth=[0.7, 0.3])
figure.savefig("sensitive_question.png")
figure
