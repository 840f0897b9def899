"""
People needed for the same precision
====================================

Two things a study may want of eight ordered answers: the shares and the mean. How many times the respondents of the
best mechanism randomised response and subset selection need for the same precision.
"""

import extremal as ex
from extremal.plotting import colour_of
from extremal.plotting import figure as new_figure

EPSILONS = [0.5, 1, 1.5, 2, 3, 4]
GOALS = {"shares": ex.Frequencies(8), "mean": ex.Mean(range(8))}
FORMS = {"randomised response": ex.randomized_response, "subset selection": ex.subset_selection}

# %%
needed = {}
for goal, utility in GOALS.items():
    best = [ex.design(ex.LDP(e), utility).value for e in EPSILONS]
    for form, make in FORMS.items():
        needed[goal, form] = [utility(make(8, e)) / b for e, b in zip(EPSILONS, best, strict=True)]
        print(f"{goal:8s} {form:20s}", " ".join(f"{v:6.2f}" for v in needed[goal, form]))

# %%
figure, axes = new_figure(width=9, height=3.6, columns=2)
for axis, goal in zip(axes, GOALS, strict=True):
    for i, form in enumerate(FORMS):
        axis.plot(EPSILONS, needed[goal, form], marker="os"[i], color=colour_of(form, i), label=form)
    axis.axhline(1, color="black", linestyle=":", label="best mechanism, proved")
    axis.set(xlabel="ε (nats)", ylabel="respondents, relative to the best", title=f"for the {goal}", ylim=(0, None))
axes[0].legend(frameon=False)
figure.savefig("people_needed.png")
figure
