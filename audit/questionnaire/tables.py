"""The tables of questionnaires: what strategies cost, the bound on any mechanism, and the verdicts of both checkers.

    python -m audit.questionnaire.tables [largest number of yes/no questions]

Costs of yes/no questions are n × the variance of the mean of a ±1 answer; of mixed ones n × the total squared error of
all shares (sum), or the largest mean over the shares of a question (max). Every row is certified: the joint mechanism
on the product of the answers, its level, its cost and the bound, decided by `ex.verify` and by the checker that stands
alone. Every cost is compared, to eight digits, with one that was computed otherwise: blocks of s of J yes/no questions
cost (J/s)(1 + 2^s/(e^ε − 1))², and the mixed ones stand below.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

import extremal as ex
from audit.questionnaire.cross_tables import EIGHT_DIGITS, verdicts
from extremal.certificate import Certificate
from extremal.exact import Exponential
from extremal.mechanism.structures.joint import AllSets
from extremal.optimize.problem import certify
from extremal.optimize.question_bounds import question_proofs
from extremal.optimize.questions import Asked, design_blocks, shares_option
from extremal.problem import QuestionsGoal
from extremal.questionnaire.strategies import blocks_structure

LEVELS = ("0.5", "1", "2", "4", "6")
MIXED = {  # sum and largest, from a list of all set sizes and a program over all of them
    (2, 2, 5, 5, 11, 24): {
        "1": (618.0903144993, 13.6675023241),
        "2": (130.1035290372, 2.9555316420),
        "4": (27.7646490936, 0.7402547558),
    },
    (5,) * 6: {
        "1": (440.2710504621, 14.6757016821),
        "2": (91.5154773061, 3.0505159102),
        "4": (30.9661733236, 1.0322057775),
    },
}


def certified(sizes: tuple[int, ...], epsilon: str, largest: bool) -> Certificate:
    """The best blocks for these questions, with their certificate."""
    kinds = list(dict.fromkeys(sizes))
    asked = Asked(
        [[shares_option(k, d) for d in range(1, k // 2 + 1)] for k in sizes],
        np.array([(1 - 1 / k) / (k if largest else 1) for k in sizes]),
        [kinds.index(k) for k in sizes],
    )
    made = design_blocks(float(np.expm1(float(epsilon))), asked, largest)
    families = [[AllSets(k, d) for d in range(1, k // 2 + 1)] for k in sizes]
    structure = blocks_structure(Exponential(epsilon), families, made.blocks, made.shares)
    goal = QuestionsGoal(sizes, (Fraction(1),) * len(sizes), largest)
    mechanism = ex.Mechanism.from_structure(structure, ex.LDP(epsilon))
    return certify(mechanism, goal, question_proofs(Exponential(epsilon), goal))


def near(value: float, expected: float) -> bool:
    """The same to eight digits."""
    return abs(value - expected) <= EIGHT_DIGITS * expected


def main(most: int) -> int:
    failed = 0
    print("questions  epsilon     split    sample           joint           bound      gap  kernel/checker")
    for count in range(2, most + 1):
        for epsilon in LEVELS:
            found = certified((2,) * count, epsilon, largest=True)
            costs = ex.Questionnaire.within(epsilon, {str(j): 2 for j in range(count)}).budget.costs  # type: ignore[union-attr]
            said = verdicts(found)
            z = 1 / np.expm1(float(epsilon))
            block = min(count / s * (1 + 2**s * z) ** 2 for s in range(1, count + 1))
            failed += said != "proved/proved" or not near(4 * found.value, block)
            split, sample = (4 * costs[name].worst for name in ("split", "sample"))
            gap = 100 * (found.value / found.bound - 1)
            row = f"{split:9.4f} {sample:9.4f} {4 * found.value:15.8f} {4 * found.bound:15.8f} {gap:7.2f}%"
            print(f"2^{count:<7} {epsilon:>8} {row}  {said}", flush=True)
    for sizes, by_level in MIXED.items():
        for epsilon, expected in by_level.items():
            for largest in (False, True):
                found = certified(sizes, epsilon, largest)
                said = verdicts(found)
                failed += said != "proved/proved" or not near(found.value, expected[largest])
                gap = 100 * (found.value / found.bound - 1)
                goal = "max" if largest else "sum"
                row = f"{found.value:16.8f} {found.bound:16.8f} {gap:6.2f}%"
                print(f"{','.join(map(str, sizes)):18} {epsilon:>2} {goal} {row}  {said}", flush=True)
    print("as expected" if not failed else f"NOT as expected: {failed}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 12))
