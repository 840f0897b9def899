"""
What is in use, side by side
============================

Every closed form that applies to a question, under two goals at once. Pale bars do not keep the ε that was asked for:
they were made for another promise.
"""

import extremal as ex

PRIOR, SHIFTED = [0.40, 0.25, 0.20, 0.10, 0.05], [0.20, 0.20, 0.20, 0.20, 0.20]
table = ex.compare([ex.MutualInformation(PRIOR), ex.KL(PRIOR, SHIFTED)], epsilon=1)
print(table)

# %%
figure = table.plot()
figure.savefig("known_mechanisms.png")
figure
