"""
Places on a map
===============

Metric privacy: places near each other may not be told apart, distant ones may. The best mechanism for a grid of nine
places reports a place near the true one.
"""

import numpy as np

import extremal as ex
from extremal.plotting import figure as new_figure

points = np.array([(i, j) for i in range(3) for j in range(3)])  # kilometres
apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
d = ex.design(ex.MetricPrivacy(1, apart), ex.Distortion(np.full(9, 1 / 9), apart))
print(d.summary())
assert ex.verify(d)

# %%
# Where the reports of the corner and of the centre go.
figure, axes = new_figure(width=8, height=3.6, columns=2)
for axis, place, name in zip(axes, (0, 4), ("the corner", "the centre"), strict=True):
    shares = d.mechanism.matrix[place].reshape(3, 3)
    image = axis.imshow(shares.T, origin="lower", cmap="Blues", vmin=0, vmax=float(d.mechanism.matrix.max()))
    axis.plot(*points[place], "x", color="#d1495b", markersize=12, label="true place")
    axis.grid(visible=False)
    axis.set(xlabel="east (km)", ylabel="north (km)", xticks=range(3), yticks=range(3), title=f"reports from {name}")
    axis.legend(fontsize=8, loc="upper right")
figure.colorbar(image, ax=axes, label="probability of the report")
figure.savefig("places_on_a_map.png")
figure
