"""Cross-tables of two yes/no questions: what strategies cost, the bound on any mechanism, and both checkers' verdicts.

    python -m audit.questionnaire.cross_tables

A cost is n × the total squared error of the four cells, records equally likely, the mean over all pairs of questions.
Blocks of s of J questions cost (2·J/s + J(J − 1)/(s(s − 1)))(1 + 2^s/(e^ε − 1))²/4, which the joint strategy must meet
to eight digits.

The bound is `agreements` with what two questions tell together kept; both checkers decide it for any number of
questions. Up to three questions the best mechanism of all is found by `ex.design` as well, whose proof is better.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import combinations, product

import numpy as np

import extremal as ex
from extremal.certificate import Certificate
from extremal.checker.verdicts import checked
from extremal.optimize.problem import certify

LEVELS = (1, 2, 4, 6)
COUNTS = (3, 6, 12)
MOST_DESIGNED = 3  # questions: 8 records, all of whose patterns are listed
EIGHT_DIGITS = 5e-9


def cells_of(asked: ex.Questionnaire, first: str, second: str) -> float:
    """n × the total squared error of the cells of a cross-table at equally likely records; infinite if nobody is asked
    both."""
    goal = ex.Frequencies(asked.questions[first].k * asked.questions[second].k)
    if asked.joint is None:
        return float(goal(np.kron(asked.questions[first].matrix, asked.questions[second].matrix)))
    pairs, matrix = asked.joint.pair(first, second)
    return float(goal(matrix) / float(asked.joint.asked_either(first, second))) if pairs else float("inf")


def of_blocks(count: int, size: int, epsilon: float) -> float:
    """The cost of random blocks."""
    both = 2 * count / size + count * (count - 1) / (size * (size - 1))
    return both / 4 * (1 + 2**size / math.expm1(epsilon)) ** 2


def costs(count: int, epsilon: int) -> tuple[float, float, float, float, int]:
    """Split, the best sample, the joint design for shares, the best joint one, and how many questions it asks."""
    given = {str(j): 2 for j in range(count)}
    sizes = range(2, min(count, 8) + 1)
    split = cells_of(ex.Questionnaire.within(epsilon, given, "split"), "0", "1")
    sample = min(cells_of(ex.Questionnaire.within(epsilon, given, "sample", s), "0", "1") for s in sizes)
    one_way = cells_of(ex.Questionnaire.within(epsilon, given, "joint"), "0", "1")
    joint = {s: cells_of(ex.Questionnaire.within(epsilon, given, "joint", s), "0", "1") for s in sizes}
    best = min(joint, key=joint.__getitem__)
    return split, sample, one_way, joint[best], best


# -- bounds


def certified(count: int, size: int, epsilon: float) -> Certificate:
    """Blocks of `size` of so many yes/no questions, for the cross-tables of all pairs."""
    return ex.Questionnaire.within(epsilon, {str(j): 2 for j in range(count)}, "joint", size).certificate(tables=True)


def designed(count: int, size: int, epsilon: float) -> Certificate:
    """The same blocks with every record listed, and the proof of the best mechanism of all; the sum over pairs."""
    records = np.array(list(product((0, 1), repeat=count)))
    pairs = [records[:, list(pair)] for pair in combinations(range(count), 2)]
    cells = [(own == both).all(axis=1).astype(float) for own in pairs for both in product((0, 1), repeat=2)]
    goal = ex.Workload(cells, len(records))
    sets = [
        np.flatnonzero((records[:, list(members)] == answers).all(axis=1)).tolist()
        for members in combinations(range(count), size)
        for answers in product((0, 1), repeat=size)
    ]
    proofs = ex.design(ex.LDP(epsilon), goal).certificate.proofs
    return certify(ex.Mechanism.from_cover(len(records), sets, ex.LDP(epsilon)), goal, proofs)


def verdicts(certificate: Certificate) -> str:
    """What the kernel and the checker say, in one word each."""
    alone = checked(json.dumps(certificate.to_json(), ensure_ascii=False).encode()).code == 0
    return f"{'proved' if ex.verify(certificate) else 'REFUSED'}/{'proved' if alone else 'REFUSED'}"


def main() -> int:
    failed = 0
    print("questions  ε        split      sample  joint (shares)  joint (pairs)        bound     gap  kernel/checker")
    for count in COUNTS:
        for epsilon in LEVELS:
            split, sample, one_way, joint, best = costs(count, epsilon)
            failed += abs(joint / of_blocks(count, best, epsilon) - 1) > EIGHT_DIGITS
            found = certified(count, best, epsilon)
            bound, said = found.bound, verdicts(found)
            failed += said != "proved/proved" or abs(found.value / joint - 1) > EIGHT_DIGITS
            if count <= MOST_DESIGNED:
                listed, pairs = designed(count, best, epsilon), math.comb(count, 2)
                failed += verdicts(listed) != "proved/proved" or abs(listed.value / pairs / joint - 1) > EIGHT_DIGITS
                bound = max(bound, listed.bound / pairs)
            row = f"{split:12.4f} {sample:11.4f} {one_way:15.6f} {joint:11.7f} ({best}) {bound:12.7f}"
            print(f"2^{count:<8} {epsilon} {row} {100 * (joint / bound - 1):6.2f}%  {said}", flush=True)
    print("as expected" if not failed else f"NOT as expected: {failed}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
