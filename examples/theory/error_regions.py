"""
Which errors an adversary must make
===================================

Somebody tests from a report which of two values it came from. Privacy bounds both error probabilities at once: the
allowed region, and one mechanism that fills it and one that does not.
"""

import extremal as ex

allowed = ex.theory.error_region_of(1, 0.1)
response = ex.theory.error_region(ex.randomized_response(2, 1))
quaternary = ex.theory.error_region(ex.quaternary(1, 0.1))
print(allowed.contains(response), allowed.contains(quaternary))

# %%
# The quaternary mechanism's region is all that (ε, δ) allows, so only one of the two is drawn.
figure = quaternary.plot(response, labels=["quaternary (1, 0.1): all that is allowed", "randomised response, ε = 1"])
figure.savefig("error_regions.png")
figure
