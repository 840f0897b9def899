"""The main job, end to end, on a real survey: choose a mechanism, randomise each answer, estimate, compare.

Run with `make run`. Nobody's answer leaves this program unrandomised except in the column "survey", which a real study would not have.
"""

from collections import Counter
from pathlib import Path

import extremal as ex
from extremal.data import LEVELS, survey

QUESTION, EPSILON = "party", 2.0


def main() -> None:
    answers, levels = survey()[QUESTION], LEVELS[QUESTION]
    mechanism = ex.randomized_response(len(levels), EPSILON, inputs=levels)
    proof = ex.verify(mechanism)
    print(f"{len(answers)} respondents, question: {QUESTION!r}, {len(levels)} answers, ε = {EPSILON:g}")
    print(f"privacy: {proof.reasons[0]}\n")

    reports = mechanism.privatize(answers)
    result = ex.estimate_frequencies(reports, mechanism)

    truth, low_high = Counter(answers), result.interval(0.95)
    print(f"{'answer':24s} {'survey':>7s} {'estimate':>9s} {'± s.e.':>8s}   95% interval")
    for x, level in enumerate(levels):
        low, high = low_high[x]
        share = truth[level] / len(answers)
        print(f"{level:24s} {share:7.1%} {result.estimate[x]:9.1%} {result.standard_error[x]:8.1%}   {low:6.1%} to {high:6.1%}")
    same = sum(a == r for a, r in zip(answers, reports, strict=True)) / len(answers)
    print(f"\n{same:.0%} of the reports happen to be the true answer; nobody can tell which ones.")

    print(f"\n{result.summary()}")
    picture = Path("out") / "survey.png"
    picture.parent.mkdir(exist_ok=True)
    result.plot(truth=[truth[level] / len(answers) for level in levels]).figure.savefig(picture, dpi=150)
    print(f"\npicture: {picture}")


if __name__ == "__main__":
    main()
