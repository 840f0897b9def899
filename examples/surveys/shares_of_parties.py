"""
Shares of seven answers
=======================

Party identification in the American National Election Study of 1996: seven ordered answers, 944 respondents. The
design for shares is compared with randomised response, which most people would use.
"""

from collections import Counter

import extremal as ex
from extremal.data import LEVELS, survey

answers, levels = survey()["party"], LEVELS["party"]
d = ex.design(ex.LDP(2), ex.Frequencies(len(levels)), inputs=levels)
print(d.summary())

# %%
# At ε = 2 the optimum is randomised response itself: the certificate says that nothing better exists. At ε = 1 it is
# not.
print(ex.compare(ex.Frequencies(7), epsilon=1).respondents())

# %%
# Answers become reports, reports become shares.
result = ex.estimate_frequencies(d.mechanism.privatize(answers), d.mechanism)
truth = [Counter(answers)[level] / len(answers) for level in levels]
figure = result.plot(truth=truth)
figure.savefig("shares_of_parties.png")
figure
