"""
Pointwise maximal leakage instead of LDP
========================================

LDP protects against every prior. If the prior is known, pointwise maximal leakage asks for less and gives more: the
best mechanisms at the same leakage, one promised under each notion.
"""

import extremal as ex

table = ex.studies.equal_leakage([0.5, 0.3, 0.2], [0.1, 0.3, 0.6, 0.9, 1.2])
print(table)

# %%
figure = table.plot()
figure.savefig("leakage_instead_of_ldp.png")
figure
