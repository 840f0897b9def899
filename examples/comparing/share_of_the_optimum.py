"""
The share of the optimum that is kept
=====================================

Two distributions of six answers are to be told apart. The optimum over ε, and what the mechanisms in use keep of it:
a binary one is best at small ε, randomised response at large ε, and neither is in between.
"""

import extremal as ex

P0, P1 = [0.30, 0.25, 0.20, 0.12, 0.08, 0.05], [0.06, 0.10, 0.14, 0.20, 0.22, 0.28]
curve = ex.tradeoff(ex.LDP, ex.KL(P0, P1), [0.1, 0.2, 0.4, 0.7, 1, 1.5, 2, 3, 4, 5, 6, 8, 10])
print(curve)

# %%
figure = curve.plot()
figure.savefig("share_of_the_optimum.png")
figure
