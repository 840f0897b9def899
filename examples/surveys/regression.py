"""
Regression on randomised answers
================================

A logistic regression whose outcome was privatised. Taking the reports for the answers shrinks every coefficient;
`ex.regress` maximises the likelihood of the reports instead.
"""

import numpy as np
import pandas as pd

import extremal as ex
from extremal.plotting import figure as new_figure

draw = np.random.default_rng(1)
age = draw.normal(size=8_000)  # standardised
yes = draw.random(8_000) < 1 / (1 + np.exp(-(-0.5 + 0.8 * age)))  # the truth: −0.5 and 0.8
m = ex.randomized_response(["no", "yes"], 1.5)
frame = pd.DataFrame({"age": age, "answer": m.privatize(np.where(yes, "yes", "no"))})

# %%
# The same formula three times: with the mechanism, with the reports taken for answers, and with the answers.
as_they_are = ex.Mechanism.from_matrix(np.eye(2), inputs=["no", "yes"], outputs=["no", "yes"])
fits = {
    "reports, with the mechanism": ex.regress("answer ~ age", frame, m),
    "reports taken for answers": ex.regress("answer ~ age", frame, as_they_are),
    "true answers": ex.regress("answer ~ age", frame.assign(answer=np.where(yes, "yes", "no")), as_they_are),
}
for name, fit in fits.items():
    print(f"{name:30s} {fit.params['age']:.3f} ± {fit.bse['age']:.3f}")

# %%
figure, axis = new_figure(width=7, height=2.6)
for y, fit in enumerate(fits.values()):
    low, high = fit.interval()[1]
    axis.plot([low, high], [y, y], color="#1b6ca8", linewidth=3, alpha=0.6)
    axis.plot([fit.params["age"]], [y], "o", color="#1b6ca8")
axis.axvline(0.8, color="black", linestyle=":", label="truth")
axis.set_yticks(range(3), list(fits))
axis.invert_yaxis()
axis.set_xlabel("coefficient of age, with its 95% interval")
axis.legend(frameon=False)
figure.savefig("regression.png")
figure
