"""Problems that x → k−1−x keeps: matrices that it keeps fall into an even and an odd block of half the size.

With u even and v odd, uᵀMv = 0; in the orthonormal vectors (e_x + e_{k−1−x})/√2, the middle e_x where k is odd, and
(e_x − e_{k−1−x})/√2 the blocks are sums and differences of quarters of M. Decompositions cost a quarter.
"""

from __future__ import annotations

import math

import numpy as np

from extremal.optimize.workload.lifts import Floats

SYMMETRIC = 1e-9  # relative: what may differ between a problem and its mirror image


def is_mirrored(prior: Floats, gram: Floats) -> bool:
    """Whether x → k−1−x keeps a prior and the statistics."""
    turned = np.abs(gram - gram[::-1, ::-1]).max() <= SYMMETRIC * np.abs(gram).max()
    return bool(turned and np.abs(prior - prior[::-1]).max() <= SYMMETRIC * prior.max())


def halves(matrix: Floats) -> tuple[Floats, Floats]:
    """The even and the odd block of a matrix that x → k−1−x keeps."""
    k = matrix.shape[0]
    h, middle = k // 2, (k + 1) // 2
    own, other = matrix[:middle, :middle], matrix[:middle, ::-1][:, :middle]
    odd = (own - other)[:h, :h]
    even = own + other
    if middle > h:
        even[h] /= math.sqrt(2)
        even[:, h] /= math.sqrt(2)
    return even, odd


def joined(even: Floats, odd: Floats) -> Floats:
    """The matrix of these blocks."""
    h, middle = odd.shape[0], even.shape[0]
    k = h + middle
    scale = np.ones(middle)
    if middle > h:
        scale[h] = math.sqrt(2)
    e = even * np.outer(scale, scale) / 2
    o = np.zeros_like(e)
    o[:h, :h] = odd / 2
    found = np.empty((k, k))
    found[:middle, :middle] = e + o
    found[:middle, k - middle :] = (e - o)[:, ::-1]
    found[k - middle :] = found[:middle][::-1, ::-1]
    if middle > h:
        found[h] = np.concatenate([e[h], e[h, :h][::-1]])
        found[:, h] = found[h]
    return found
