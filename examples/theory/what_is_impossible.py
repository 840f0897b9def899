"""
What no mechanism can do
========================

Converses: upper bounds on what any ε-LDP mechanism keeps of a divergence, with the statement each comes from, beside
the optimum.
"""

import extremal as ex

table = ex.theory.converses(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 1)
print(table)

# %%
figure = table.plot()
figure.savefig("what_is_impossible.png")
figure
