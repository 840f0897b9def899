"""
A first example
===============

Some text with `code`.
"""

import extremal as ex

# %%
# Then this.
m = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
print(m)
