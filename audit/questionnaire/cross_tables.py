"""Cross-tables of two yes/no questions: what strategies cost, the bound on any mechanism, and both checkers' verdicts.

    python -m audit.questionnaire.cross_tables

A cost is n × the total squared error of the four cells, records equally likely, the mean over all pairs of questions.
Blocks of s of J questions cost (2·J/s + J(J − 1)/(s(s − 1)))(1 + 2^s/(e^ε − 1))²/4, which the joint strategy must meet
to eight digits.

The bound is that of `agreements` with what two questions tell together kept: for n_D ≥ 0 with N̂_∅ = ν < E and
r_A = 1 − N̂_A ≥ 0, Σ_A r_A·μ_A ≤ (E − 1)²/(4(E − ν)) for yes/no questions, and by Cauchy–Schwarz

    Σ_A c_A/μ_A ≥ (Σ_A √(c_A·r_A))²·4(E − ν)/(E − 1)²,

c_A = (J − 1)/4 for one question and 1/4 for two. It is written as a `matrix` inequality on the 2^J records, which both
checkers decide up to six questions; up to three the best mechanism of all is found and proved by `ex.design`.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import combinations, product

import numpy as np

import extremal as ex
from extremal.certificate import Certificate, Proof
from extremal.checker.verdicts import checked
from extremal.optimize.problem import certify
from extremal.optimize.question_bounds import _characters, _Spectrum
from extremal.optimize.workload.proofs import matrix_inequality

LEVELS = (1, 2, 4, 6)
COUNTS = (3, 6, 12)
MOST_CERTIFIED = 6  # questions: 64 records, whose matrices are multiplied out in integers in seconds
MOST_DESIGNED = 3  # questions: 8 records, all of whose patterns are listed
ROOM = 1e-8  # relative, left for rounding where the matrix inequality is tight
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


def records_and_cells(count: int) -> tuple[np.ndarray, ex.Workload]:
    """All records, and the cells of the cross-tables of all pairs of questions as statistics of them."""
    records = np.array(list(product((0, 1), repeat=count)))
    pairs = [records[:, list(pair)] for pair in combinations(range(count), 2)]
    cells = [(own == both).all(axis=1).astype(float) for own in pairs for both in product((0, 1), repeat=2)]
    return records, ex.Workload(cells, len(records))


def numbers_of(count: int, epsilon: float) -> tuple[np.ndarray, float]:
    """The best n by disagreements from 1 on, and the bound that it gives."""
    worth = [(count - 1) / 4, 1 / 4]
    scale = [math.comb(count, a) * math.sqrt(c) for a, c in zip((1, 2), worth, strict=True)]
    program = _Spectrum(math.exp(epsilon), _characters(count, 2)[:, 1:], [1, 2], np.array(scale), True)
    numbers = program.best()
    return numbers, program.value(numbers) * 4 / math.expm1(epsilon) ** 2 / math.comb(count, 2)


def inequality(count: int, epsilon: float) -> Proof:
    """The bound as a matrix inequality: N and Z have an eigenvalue for each number of questions that interact."""
    records, _ = records_and_cells(count)
    size, numbers = len(records), numbers_of(count, epsilon)[0] * (1 - ROOM)
    told = _characters(count, 2)[:, 1:] @ numbers
    distances = (records[:, None, :] != records[None, :, :]).sum(axis=2)
    z, trace = np.zeros((size, size)), 0.0
    for a, gram in ((1, (count - 1) * size / 4), (2, size / 4)):
        for members in combinations(range(count), a):
            signs = np.prod(1 - 2 * records[:, list(members)], axis=1)
            z += math.sqrt((1 - told[a]) / gram) * np.outer(signs, signs) / size
            trace += math.sqrt((1 - told[a]) * gram)
    scale = trace * 4 * (math.exp(epsilon) - told[0]) / (size * math.expm1(epsilon) ** 2)
    pairs = np.append(0.0, numbers)[distances] * scale**2
    return matrix_inequality(np.full(size, scale**2), pairs, np.arange(size), z * scale * (1 - ROOM))


def certified(count: int, size: int, epsilon: int) -> Certificate:
    """Blocks of `size` questions, on all records, for the cross-tables of all pairs."""
    records, goal = records_and_cells(count)
    sets = [
        np.flatnonzero((records[:, list(members)] == answers).all(axis=1)).tolist()
        for members in combinations(range(count), size)
        for answers in product((0, 1), repeat=size)
    ]
    proofs = [inequality(count, epsilon)]
    if count <= MOST_DESIGNED:
        proofs += ex.design(ex.LDP(epsilon), goal).certificate.proofs
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
            bound, said = numbers_of(count, epsilon)[1], "in floating point"
            if count <= MOST_CERTIFIED:
                found = certified(count, best, epsilon)
                pairs, said = math.comb(count, 2), verdicts(found)
                failed += said != "proved/proved" or abs(found.value / pairs / joint - 1) > EIGHT_DIGITS
                bound = found.bound / pairs
            row = f"{split:12.4f} {sample:11.4f} {one_way:15.6f} {joint:11.7f} ({best}) {bound:12.7f}"
            print(f"2^{count:<8} {epsilon} {row} {100 * (joint / bound - 1):6.2f}%  {said}", flush=True)
    print("as expected" if not failed else f"NOT as expected: {failed}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
