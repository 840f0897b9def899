"""
Stop as soon as it is clear
===========================

Has the crash rate doubled? A sequential test looks after every batch of reports and stops when the answer is clear,
with both error probabilities bounded at any time.
"""

import extremal as ex
from extremal.plotting import figure as new_figure

m = ex.randomized_response(["fine", "crashed"], 1)
running = ex.sequential_test(m, [0.95, 0.05], [0.80, 0.20], alpha=0.01, beta=0.01)
print(f"expected: {running.expected_n(0):.0f} reports if nothing happened, {running.expected_n(1):.0f} if it did")

# %%
# The truth here is a crash rate of 20%.
path, counts = [0.0], [0]
while running.decision is None:
    running.update(m.privatize(["fine"] * 16 + ["crashed"] * 4))
    path.append(running.statistic)
    counts.append(running.n)
print(running.summary())

# %%
figure, axis = new_figure(width=7, height=3.4)
axis.plot(counts, path, color="#1b6ca8", marker="o", markersize=3, label="log likelihood ratio of the reports")
for limit, name in ((running.upper, "decide: it rose"), (running.lower, "decide: nothing happened")):
    axis.axhline(limit, color="black", linestyle=":")
    axis.text(0, limit, f" {name}", va="bottom", fontsize=8)
axis.set(xlabel="reports", ylabel="evidence (nats)")
axis.set_ylim(running.lower - 2.5, running.upper + 1.5)
axis.legend(frameon=False, loc="lower right")
figure.savefig("stop_early.png")
figure
