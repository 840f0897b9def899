"""
Ship a mechanism to clients
===========================

The mechanism is a small JSON file of integers. A client loads it, checks it and randomises; the server estimates with
the same file. The file has a content hash that reports carry, so that two versions cannot be mixed up.
"""

import tempfile
from pathlib import Path

import extremal as ex

folder = Path(tempfile.mkdtemp())
d = ex.design(ex.LDP(1), ex.Frequencies(5), inputs=["chat", "mail", "maps", "music", "photos"])
path = d.save(folder / "app_of_the_day.json")
print([p.name for p in sorted(folder.iterdir())], path.stat().st_size, "bytes")

# %%
# On a client: load, check, report. `extremal verify` does the same from a shell.
m = ex.load(path)
assert ex.verify(path)
print(m.privatize("maps"))

# %%
# The whole mechanism at a glance: rows are true values, columns are reports.
figure = m.plot()
figure.savefig("ship_a_mechanism.png")
figure
