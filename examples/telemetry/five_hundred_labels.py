"""
Five hundred labels
===================

Many labels: randomised response tells the truth so rarely that its estimates are worthless. Reporting a set of labels
is what is optimal for shares, whatever their number.
"""

import numpy as np

import extremal as ex
from extremal.plotting import figure as new_figure

SIZES = [2, 5, 10, 20, 50, 100, 200, 500]


def error(mechanism: ex.Mechanism) -> float:
    """The typical standard error of a share, with 100,000 respondents."""
    return float(np.sqrt(ex.Frequencies(mechanism.k)(mechanism) / mechanism.k / 100_000))


# %%
response = [error(ex.randomized_response(k, 1)) for k in SIZES]
subsets = [error(ex.subset_selection(k, 1)) for k in SIZES]
for k, a, b in zip(SIZES, response, subsets, strict=True):
    print(f"{k:4d} labels: ±{a:.2%} with randomised response, ±{b:.2%} with subset selection")

# %%
# A report is then a set of labels: here of 134 out of 500. Estimation stays exact, without the matrix of 10^124
# reports.
m = ex.subset_selection(500, 1)
print(len(m.privatize(3)), "labels in one report")

# %%
figure, axis = new_figure(width=6.5, height=3.8)
axis.plot(SIZES, response, marker="s", color="#d1495b", label="randomised response")
axis.plot(SIZES, subsets, marker="o", color="#2e8b57", label="subset selection: the optimum")
axis.set(xscale="log", yscale="log", xlabel="labels", ylabel="standard error of a share, n = 100,000")
axis.set_xticks(SIZES, [str(k) for k in SIZES])
axis.set_yticks([0.005, 0.01, 0.02, 0.05], ["0.5%", "1%", "2%", "5%"])
axis.minorticks_off()
axis.legend(frameon=False)
figure.savefig("five_hundred_labels.png")
figure
