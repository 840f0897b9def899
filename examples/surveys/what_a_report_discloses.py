"""
What to tell an ethics board
============================

A board asks what somebody could learn from a report. `m.explain` answers in sentences, with bounds rounded outwards:
how likely each answer is believed before and after the worst report.
"""

import extremal as ex

m = ex.randomized_response(["never", "once", "often"], 1)
explained = m.explain(prior=[0.80, 0.15, 0.05])
print(explained)

# %%
# The same as a picture; `explained.html()` is a page to hand out.
figure = explained.plot()
figure.savefig("what_a_report_discloses.png")
figure
