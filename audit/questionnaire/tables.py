"""The tables of questionnaires: what strategies cost, the bound on any mechanism, and the verdicts of both checkers.

    python -m audit.questionnaire.tables [largest number of yes/no questions]

The last table is about pairs of yes/no questions: n × the total squared error of the four cells of their cross-table.

Costs of yes/no questions are n × the variance of the mean of a ±1 answer; of mixed ones n × the total squared error of
all shares (sum), or the largest mean over the shares of a question (max). Every row is certified: the joint mechanism
on the product of the answers, its level, its cost and the bound, decided by `ex.verify` and by the checker that stands
alone.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction

import numpy as np

import extremal as ex
from extremal.certificate import Certificate
from extremal.checker.verdicts import checked
from extremal.exact import Exponential
from extremal.mechanism.structures.joint import AllSets
from extremal.optimize.problem import certify
from extremal.optimize.question_bounds import question_proofs
from extremal.optimize.questions import Asked, design_blocks, shares_option
from extremal.problem import QuestionsGoal
from extremal.questionnaire.strategies import blocks_structure

LEVELS = ("0.5", "1", "2", "4", "6")
MIXED = ((2, 2, 5, 5, 11, 24), (5,) * 6)


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


def verdicts(certificate: Certificate) -> str:
    """What the kernel and the checker say, in one word each."""
    kernel = bool(ex.verify(certificate))
    alone = checked(json.dumps(certificate.to_json(), ensure_ascii=False).encode()).code == 0
    return f"{'proved' if kernel else 'REFUSED'}/{'proved' if alone else 'REFUSED'}"


def cells_of(asked: ex.Questionnaire, first: str, second: str) -> float:
    """n × the total squared error of the cells of a cross-table at equally likely records; infinite if nobody is asked
    both."""
    goal = ex.Frequencies(asked.questions[first].k * asked.questions[second].k)
    if asked.joint is None:
        return float(goal(np.kron(asked.questions[first].matrix, asked.questions[second].matrix)))
    pairs, matrix = asked.joint.pair(first, second)
    return float(goal(matrix) / float(asked.joint.asked_either(first, second))) if pairs else float("inf")


def pairs_table(
    counts: tuple[int, ...] = (3, 6, 12), levels: tuple[int, ...] = (1, 2, 4, 6)
) -> list[tuple[float, ...]]:
    """Rows: questions, ε, split, the best sample, the joint design, the best joint one, and how many it asks."""
    rows: list[tuple[float, ...]] = []
    for count in counts:
        for epsilon in levels:
            given = {str(j): 2 for j in range(count)}
            sizes = range(2, min(count, 8) + 1)
            split = cells_of(ex.Questionnaire.within(epsilon, given, "split"), "0", "1")
            sample = min(cells_of(ex.Questionnaire.within(epsilon, given, "sample", s), "0", "1") for s in sizes)
            one_way = cells_of(ex.Questionnaire.within(epsilon, given, "joint"), "0", "1")
            joint = {s: cells_of(ex.Questionnaire.within(epsilon, given, "joint", s), "0", "1") for s in sizes}
            best = min(joint, key=joint.__getitem__)
            rows.append((count, epsilon, split, sample, one_way, joint[best], best))
    return rows


def main(most: int) -> int:
    failed = 0
    print("questions  epsilon     split    sample           joint           bound      gap  kernel/checker")
    for count in range(2, most + 1):
        for epsilon in LEVELS:
            found = certified((2,) * count, epsilon, largest=True)
            costs = ex.Questionnaire.within(epsilon, {str(j): 2 for j in range(count)}).budget.costs  # type: ignore[union-attr]
            said = verdicts(found)
            failed += said != "proved/proved"
            split, sample = (4 * costs[name].worst for name in ("split", "sample"))
            gap = 100 * (found.value / found.bound - 1)
            row = f"{split:9.4f} {sample:9.4f} {4 * found.value:15.8f} {4 * found.bound:15.8f} {gap:7.2f}%"
            print(f"2^{count:<7} {epsilon:>8} {row}  {said}", flush=True)
    for sizes in MIXED:
        for epsilon in ("1", "2", "4"):
            for largest in (False, True):
                found = certified(sizes, epsilon, largest)
                said = verdicts(found)
                failed += said != "proved/proved"
                gap = 100 * (found.value / found.bound - 1)
                goal = "max" if largest else "sum"
                row = f"{found.value:16.8f} {found.bound:16.8f} {gap:6.2f}%"
                print(f"{','.join(map(str, sizes)):18} {epsilon:>2} {goal} {row}  {said}", flush=True)
    print("pairs: questions, epsilon, split, sample, joint for shares, joint for pairs (questions), split/joint")
    for questions, level, *costs_of, best in pairs_table():
        every, some, one_way, joint = costs_of
        row = f"{every:12.4f} {some:11.4f} {one_way:11.5f} {joint:11.6f} ({best})  {every / joint:6.1f}"
        print(f"{questions:>3} {level:>2} {row}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 12))
