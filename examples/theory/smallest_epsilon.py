"""
The smallest ε for a wanted accuracy
====================================

If a report may be false with probability at most D, how private can it be? The exact curve for a class of priors,
beside the bounds of Kalantari, Sankar and Sarwate.
"""

import extremal as ex

source = ex.SourceClass.ordered([[0.45, 0.45, 0.10], [0.60, 0.20, 0.20]])
table = ex.studies.distortion_tradeoff(source, [0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55])
print(table)

# %%
figure = table.plot()
figure.savefig("smallest_epsilon.png")
figure
