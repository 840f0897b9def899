"""
Audit what a sampler delivers
=============================

A claim on paper is one thing, the program that runs is another. The audit draws from the sampler, and bounds from
below the ε that the draws deliver; a sampler that leaks more than its claim is caught.
"""

import numpy as np

import extremal as ex
from extremal.plotting import figure as new_figure
from extremal.release.audit import audit

m = ex.randomized_response(5, 1)
found = audit(m, draws=50_000)
print(found.summary())
assert found

# %%
# How often each report came for the input 0, beside its exact probability.
reports = np.array(m.privatize([0] * 50_000))
seen = np.bincount(reports, minlength=5) / 50_000
figure, axis = new_figure(width=6, height=3.2)
axis.bar(range(5), seen, color="#1b6ca8", alpha=0.7, label="seen in 50,000 reports")
axis.hlines(m.matrix[0], [x - 0.4 for x in range(5)], [x + 0.4 for x in range(5)], color="black", label="exact")
axis.set(xlabel="report", ylabel="share", xticks=range(5))
axis.legend(frameon=False)
figure.savefig("audit_a_sampler.png")
figure
