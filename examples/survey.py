"""The main job, end to end, on a real survey: choose a mechanism, randomise each answer, estimate, compare.

Run with `make run`. Nobody's answer leaves this program unrandomised except in the column "survey", which a real study
would not have.
"""

from collections import Counter
from pathlib import Path

import extremal as ex
from extremal.data import LEVELS, survey
from extremal.plotting import save
from extremal.release.audit import audit

QUESTION, EPSILON, PICTURES = "party", 2.0, Path("out")
COMPARED_AT = 1.0  # the designs differ more where privacy is stronger


def shares(question: str) -> list[float]:
    """How the answers are distributed, in the order of the question's levels."""
    counts = Counter(survey()[question])
    return [counts[level] / sum(counts.values()) for level in LEVELS[question]]


def compare_designs() -> None:
    """What the usual designs keep of the answers at the same ε: Warner's for a yes/no question, the others for seven
    answers."""
    for question in ("vote", QUESTION):
        table = ex.compare(ex.MutualInformation(shares(question)), epsilon=COMPARED_AT)
        wanted = (
            "Warner",
            "randomised response",
            "subset selection (frequencies",
            "binary for information",
            "geometric",
        )
        chosen = ex.Comparison(table.epsilon, tuple(row for row in table.rows if row.name.startswith(wanted)))
        print(
            f"Designs for the question {question!r} ({len(LEVELS[question])} answers) at ε = {COMPARED_AT:g}; "
            "information in nats\n"
        )
        print(f"{chosen}\n")
        print_standard_errors(question)
        PICTURES.mkdir(exist_ok=True)
        print(f"picture: {save(chosen.plot(), PICTURES / f'designs-{question}.png')}\n")


def print_standard_errors(question: str) -> None:
    """The survey run once with each design that identifies the shares: how precise they become."""
    answers, levels = survey()[question], LEVELS[question]
    designs = {
        "randomised response": ex.randomized_response(len(levels), COMPARED_AT, inputs=levels),
        "subset selection": ex.subset_selection(len(levels), COMPARED_AT, inputs=levels),
    }
    if len(levels) == 2:
        design = ex.surveys.warner(epsilon=COMPARED_AT)
        designs["Warner"] = ex.Mechanism.from_weights(
            design.weights, privacy=design.privacy, inputs=levels, outputs=levels
        )
    for name, mechanism in designs.items():
        result = ex.estimate_frequencies(mechanism.privatize(answers), mechanism)
        print(f"  mean standard error with {name}: {result.standard_error.mean():.1%}")
    print()


def run_survey() -> None:
    """Randomise each answer with randomised response and estimate the shares from the reports."""
    answers, levels = survey()[QUESTION], LEVELS[QUESTION]
    mechanism = ex.randomized_response(len(levels), EPSILON, inputs=levels)
    proof = ex.verify(mechanism)
    print(f"{len(answers)} respondents, question: {QUESTION!r}, {len(levels)} answers, ε = {EPSILON:g}")
    print(f"privacy: {proof.reasons[0]}")

    check = audit(mechanism, draws=200_000, confidence=0.999999)
    print(f"sampler: {check.summary()}\n")

    reports = mechanism.privatize(
        answers
    )  # exact weights, words from a cipher that the operating system keys for this call
    result = ex.estimate_frequencies(reports, mechanism)

    truth, low_high = shares(QUESTION), result.interval(0.95)
    print(f"{'answer':24s} {'survey':>7s} {'estimate':>9s} {'± s.e.':>8s}   95% interval")
    for x, level in enumerate(levels):
        low, high = low_high[x]
        print(
            f"{level:24s} {truth[x]:7.1%} {result.estimate[x]:9.1%} {result.standard_error[x]:8.1%}   {low:6.1%} to "
            f"{high:6.1%}"
        )
    same = sum(a == r for a, r in zip(answers, reports, strict=True)) / len(answers)
    print(f"\n{same:.0%} of the reports happen to be the true answer; nobody can tell which ones.")

    print(f"\n{result.summary()}")
    print(f"\npicture: {save(result.plot(truth=truth), PICTURES / 'estimates.png')}")


if __name__ == "__main__":
    compare_designs()
    run_survey()
