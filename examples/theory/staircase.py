"""
The shape of an optimum
=======================

Optimal mechanisms for sublinear utilities are staircases (Kairouz, Oh and Viswanath): in each column the
probabilities take two values with ratio e^ε. Here is an optimum, and the numbers of the patterns that it uses.
"""

import extremal as ex

d = ex.design(ex.LDP(1.2), ex.MutualInformation([0.3, 0.25, 0.2, 0.15, 0.1]))
print(d.summary())
print(ex.theory.staircase_weights(d.mechanism))

# %%
figure = d.mechanism.plot(prior=[0.3, 0.25, 0.2, 0.15, 0.1])
figure.savefig("staircase.png")
figure
