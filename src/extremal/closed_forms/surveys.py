"""Randomised-response designs of survey practice, each with the privacy it delivers.

Every design asks a sensitive yes/no question (inputs "no", "yes") so that a single answer proves little. They were made
for trust, not for a given ε; `m.privacy` is the LDP that they deliver, computed exactly, or None where an answer can
reveal the truth (level ∞). Warner, crosswise and triangular fix one parameter, so they can also be asked for at a given
ε.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import as_fraction
from extremal.mechanism import Mechanism
from extremal.privacy import LDP

ANSWERS = ("no", "yes")


def warner(*, p: Any = None, epsilon: Any = None) -> Mechanism:
    """Warner (1965): with probability p the question is "are you in A?", else "are you not in A?". Q(yes|A) = p.

    ε = |log(p/(1−p))|. Give p, or epsilon for p = e^ε/(1+e^ε): binary randomised response.

    Guarantee: the ε that is claimed was decided on the rounded weights.

    >>> round(warner(p=0.75).privacy.epsilon, 6)
    1.098612
    """
    if (p is None) == (epsilon is None):
        raise InvalidParameter("give exactly one of p and epsilon", parameter="p, epsilon", value=(p, epsilon))
    if epsilon is not None:
        return Mechanism.from_partition([0, 1], LDP(epsilon), inputs=ANSWERS, outputs=ANSWERS)
    share = _probability(p, "p")
    return _design(no=1 - share, yes=share)


def unrelated_question(*, p: Any, innocuous: Any) -> Mechanism:
    """Greenberg et al. (1969): with probability p the sensitive question, else an unrelated one that a known share
    answers yes.

    Q(yes|A) = p + (1−p)π, Q(yes|not A) = (1−p)π, π = innocuous.

    Guarantee: what it delivers is claimed, decided on the rounded weights.

    >>> unrelated_question(p=0.7, innocuous=0.25).matrix.round(3).tolist()
    [[0.925, 0.075], [0.225, 0.775]]
    """
    share, pi = _probability(p, "p"), _probability(innocuous, "innocuous")
    return _design(no=(1 - share) * pi, yes=share + (1 - share) * pi)


def forced_response(*, yes: Any, no: Any) -> Mechanism:
    """Boruch (1971): a die says "answer yes" with probability yes, "answer no" with probability no, else "answer
    truthfully".

    Q(yes|A) = 1 − no, Q(yes|not A) = yes.

    Guarantee: what it delivers is claimed, decided on the rounded weights.

    >>> forced_response(yes="1/6", no="1/6").matrix[1].round(6).tolist()
    [0.166667, 0.833333]
    """
    forced_yes, forced_no = _probability(yes, "yes"), _probability(no, "no")
    if forced_yes + forced_no > 1:
        raise InvalidParameter("yes + no must be at most 1", parameter="yes + no", value=float(forced_yes + forced_no))
    return _design(no=forced_yes, yes=1 - forced_no)


def mangat(*, p: Any) -> Mechanism:
    """Mangat (1994): members of A answer truthfully; others do so with probability p and otherwise answer yes.

    Q(yes|A) = 1, Q(yes|not A) = 1 − p. "No" is only ever said by people not in A, so it reveals: ε = ∞ and nothing is
    claimed.

    Guarantee: none; it is here to be compared.

    >>> mangat(p=0.7).privacy is None
    True
    """
    return _design(no=1 - _probability(p, "p"), yes=Fraction(1))


def kuk(*, p: Any, q: Any) -> Mechanism:
    """Kuk (1990): everybody names the colour of a card; members of A draw from a deck with a share p of red, others
    with a share q.

    The report "yes" stands for red: Q(yes|A) = p, Q(yes|not A) = q.

    Guarantee: what it delivers is claimed, decided on the rounded weights.

    >>> round(kuk(p=0.8, q=0.2).privacy.epsilon, 6)
    1.386294
    """
    return _design(no=_probability(q, "q"), yes=_probability(p, "p"))


def crosswise(*, p: Any = None, epsilon: Any = None) -> Mechanism:
    """Yu, Tian, Tang (2008): "are your answers to the sensitive and to an innocuous question the same?", the latter yes
    with probability p.

    The report "yes" stands for "the same": Q(yes|A) = p, Q(yes|not A) = 1 − p: Warner's design without a device.

    Guarantee: the ε that is claimed was decided on the rounded weights.

    >>> crosswise(epsilon=1) == warner(epsilon=1)
    True
    """
    return warner(p=p, epsilon=epsilon)


def triangular(*, p: Any) -> Mechanism:
    """Yu, Tian, Tang (2008): "no" only if both the sensitive and an innocuous answer are no, else "yes".

    The innocuous answer is yes with probability p. Q(yes|A) = 1, Q(yes|not A) = p. "No" reveals that one is not in A: ε
    = ∞ and nothing is claimed.

    Guarantee: none; it is here to be compared.

    >>> triangular(p=0.3).matrix.round(3).tolist()
    [[0.7, 0.3], [0.0, 1.0]]
    """
    return _design(no=_probability(p, "p"), yes=Fraction(1))


def _probability(value: Any, parameter: str) -> Fraction:
    share = as_fraction(value, parameter)
    if not 0 <= share <= 1:
        raise InvalidParameter(f"{parameter} must be a probability", parameter=parameter, value=value)
    return share


def _design(*, no: Fraction, yes: Fraction) -> Mechanism:
    """Q(yes|no) = no, Q(yes|yes) = yes; the claim is what the design delivers."""
    rows = [[1 - no, no], [1 - yes, yes]]
    m = Mechanism.from_matrix(rows, inputs=ANSWERS, outputs=ANSWERS if 0 < no + yes < 2 else None)
    level = LDP(0).level(m)
    if math.isinf(level):
        return m
    return Mechanism.from_weights(m.weights, privacy=LDP(level), inputs=m.inputs, outputs=m.outputs)
