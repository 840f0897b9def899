"""
Asked again and again
=====================

Every further report about the same value costs privacy. The levels add up in the worst case; allowing a small δ, many
reports cost much less. Computed exactly from the product mechanism.
"""

import extremal as ex
from extremal.plotting import figure as new_figure

m = ex.randomized_response(2, 0.2)
TIMES = [1, 2, 5, 10, 20, 50, 100]
worst = [ex.theory.composed_level([m] * n) for n in TIMES]
allowing = [ex.theory.composed_level([m] * n, delta=1e-6) for n in TIMES]
for n, a, b in zip(TIMES, worst, allowing, strict=True):
    print(f"{n:3d} reports: ε = {a:.2f}, or {b:.2f} with δ = 1e-6")

# %%
figure, axis = new_figure(width=6.5, height=3.6)
axis.plot(TIMES, worst, marker="s", color="#d1495b", label="sum of the levels")
axis.plot(TIMES, allowing, marker="o", color="#1b6ca8", label="with δ = 1e-6, exact")
axis.set(xlabel="reports of one person, ε = 0.2 each", ylabel="ε of all of them (nats)", ylim=(0, None))
axis.legend(frameon=False)
figure.savefig("composition.png")
figure
