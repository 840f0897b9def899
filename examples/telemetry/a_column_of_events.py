"""
A column of events
==================

A data frame of events, one row for each device and day: one column is randomised, the others stay, and the shares of
every day come from one call. A million rows take well under a second.
"""

import numpy as np
import pandas as pd

import extremal as ex

draw = np.random.default_rng(7)
EVENTS, DAYS = ["error", "home", "search"], ["Mon", "Tue", "Wed", "Thu", "Fri"]
day = np.sort(draw.integers(0, 5, size=50_000))
error = 0.04 + 0.03 * (day == 3)  # something broke on Thursday
event = np.where(draw.random(50_000) < error, 0, 1 + (draw.random(50_000) < 0.3))
frame = pd.DataFrame({"day": np.array(DAYS)[day], "event": np.array(EVENTS)[event]})

# %%
# On the devices: `event` is replaced by its report. Nothing else of the frame changes.
m = ex.design(ex.LDP(1.5), ex.Frequencies(3), inputs=EVENTS).mechanism
reports = ex.privatize(frame, column="event", mechanism=m)
print(reports.head(3))

# %%
# On the server: the shares of each day.
by_day = ex.estimate_frequencies(reports, m, column="event", by="day")
for name in DAYS:
    print(name, dict(zip(EVENTS, by_day[name].shown.round(3).tolist(), strict=True)))

# %%
figure = by_day.plot()
figure.savefig("a_column_of_events.png")
figure
