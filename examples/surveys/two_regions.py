"""
Groups compared
===============

The same question in several regions: one estimate for each, in one call and in one picture, and a test of whether
they differ.
"""

import extremal as ex

m = ex.randomized_response(["never", "once", "often"], 2)
truth = {"north": [500, 300, 200], "south": [700, 200, 100], "west": [420, 300, 280]}
answers = [a for counts in truth.values() for a, n in zip(m.inputs, counts, strict=True) for _ in range(n)]
regions = [region for region, counts in truth.items() for _ in range(sum(counts))]
reports = m.privatize(answers)

# %%
# The region is not sensitive here and stays as it is.
by_region = ex.estimate_frequencies(reports, m, by=regions)
for region, result in by_region.items():
    print(region, result.shown.round(3).tolist())

# %%
# Do the regions differ? The null distribution is that of the reports, not of the answers.
print(ex.test_homogeneity(reports, m, regions).summary())

# %%
figure = by_region.plot()
figure.savefig("two_regions.png")
figure
