"""A memory repeats what was reported, counts what is spent, and survives being killed."""

import json
import math
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.exact import Exponential
from extremal.release.two_levels import TwoLevels, cost

M = ex.randomized_response(4, 1, inputs=["never", "once", "often", "daily"])

WRITER = """
import sys, extremal as ex
m = ex.randomized_response(1000, 1)
with ex.Memory(sys.argv[1], limit=1) as memory:
    for person in range(int(sys.argv[2]), 10**9):
        print(person, memory.report(person, "q", person % 1000, m), flush=True)
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ex.Memory]:
    with ex.Memory(tmp_path / "memory.db", limit="2.5") as made:
        yield made


def test_a_thousand_asks_learn_no_more_than_one(memory: ex.Memory) -> None:
    """Whatever the value becomes, every ask gives the one report; fresh reports would give the truth away."""
    weak = ex.randomized_response(2, 0.1)
    asked = {memory.report("ann", "q", wave % 2, weak) for wave in range(1_000)}
    assert len(asked) == 1
    assert memory.spent("ann") == Fraction(1, 10)
    fresh = np.mean(weak.privatize([1] * 100_000))
    assert abs(fresh - math.exp(0.1) / (1 + math.exp(0.1))) < 0.01  # what an average of fresh ones uncovers


def test_stored_reports_follow_the_mechanism(memory: ex.Memory) -> None:
    reports = memory.reports(range(4_000), "q", ["once"] * 4_000, M)
    share = reports.count("once") / 4_000
    expected = math.e / (math.e + 3)
    assert abs(share - expected) < 6 * math.sqrt(expected * (1 - expected) / 4_000)
    assert memory.reports(range(4_000), "q", ["daily"] * 4_000, M) == reports


def test_what_was_reported_is_still_there_after_reopening(tmp_path: Path) -> None:
    sets = ex.subset_selection(40, 1)
    with ex.Memory(tmp_path / "m.db") as first:
        said = [first.report(person, "q", "often", M) for person in (1, "1")] + [first.report(1, "sets", 3, sets)]
    with ex.Memory(tmp_path / "m.db") as second:
        again = [
            second.report(1, "q", "once", M),
            second.report("1", "q", "once", M),
            second.report(1, "sets", 9, sets),
        ]
    assert said == again
    assert isinstance(said[2], tuple)
    assert stat.S_IMODE((tmp_path / "m.db").stat().st_mode) == 0o600


def test_a_renewed_report_is_counted_and_refused_beyond_the_limit(memory: ex.Memory) -> None:
    memory.report("ann", "q", "never", M)
    second = memory.renew("ann", "q", "never", M)
    assert memory.report("ann", "q", "daily", M) == second
    assert memory.spent("ann") == 2
    with pytest.raises(ex.errors.PrivacyViolation, match="would pass the limit of this memory; got limit=2.5"):
        memory.renew("ann", "q", "never", M)
    half = ex.randomized_response(2, "0.5")
    memory.report("ann", "other", 1, half)
    assert memory.spent("ann") == Fraction(5, 2)  # the limit itself may be reached
    with pytest.raises(ex.errors.PrivacyViolation, match="would pass the limit"):
        memory.report("ann", "third", 1, ex.randomized_response(2, "1e-9"))
    assert memory.spent("bob") == 0


def test_another_mechanism_for_the_same_question_is_refused(memory: ex.Memory) -> None:
    memory.report("ann", "q", "never", M)
    with pytest.raises(ex.errors.InvalidParameter, match="asked with another mechanism"):
        memory.report("ann", "q", 1, ex.randomized_response(4, 1))


def test_a_refused_batch_leaves_nothing(memory: ex.Memory) -> None:
    memory.renew("bob", "q", "never", M)
    memory.renew("bob", "q", "never", M)
    with pytest.raises(ex.errors.PrivacyViolation):
        memory.reports(["ann", "bob"], "new", ["never", "never"], M)
    assert memory.spent("ann") == 0
    assert memory.report("ann", "q", "never", M) in M.outputs


def test_costs_are_the_claims_own(memory: ex.Memory) -> None:
    assert cost(ex.randomized_response(3, "0.1")) == Fraction(1, 10)
    three = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, ex.LDP.from_ratio(3))
    assert math.log(3) <= cost(three) < math.log(3) + 1e-12
    for claim in (None, ex.LDP(1, "0.1"), ex.PML(1, [0.25] * 4)):
        with pytest.raises(ex.errors.PrivacyViolation, match="claims LDP without δ"):
            memory.report("ann", "q", "never", M.claiming(claim))


@pytest.mark.parametrize("ratio", [*range(2, 60), "8/7", "399/7"])
def test_no_claim_by_ratio_costs_less_than_its_logarithm(ratio: Any) -> None:
    """At 20 the double below the level is too little: what is booked is the decimal that the level prints as."""
    claimed = ex.Mechanism.from_partition([0, 1], ex.LDP.from_ratio(ratio))
    exact = Fraction(ratio)
    assert Exponential.unchecked(cost(claimed)).at_least(exact.numerator, exact.denominator)


def test_two_levels_are_decided_on_the_integers() -> None:
    permanent, instant = ex.randomized_response(3, 2), ex.randomized_response(3, "0.7")
    two = TwoLevels(permanent, instant)
    p, q = permanent.weights.astype(object), instant.weights.astype(object)
    product = p.dot(q)
    worst = max(Fraction(int(a), int(b)) for column in product.T for a in column for b in column)
    assert math.log(worst) <= two.once <= math.log(worst) * (1 + 1e-14)
    assert two.forever == ex.LDP(2).level(permanent)
    assert two.once < 0.7 < two.forever
    np.testing.assert_allclose(two.together.matrix, permanent.matrix @ instant.matrix, rtol=0, atol=1e-15)
    revealing = TwoLevels(ex.randomized_response(2, 0), ex.Mechanism.from_matrix([[1, 0], [0, 1]]))
    assert revealing.once == revealing.forever == 0
    with pytest.raises(ex.errors.InvalidParameter, match="must take the permanent one's outputs"):
        TwoLevels(permanent, ex.randomized_response(2, 1))


def test_instantaneous_reports_vary_about_one_permanent_report(memory: ex.Memory) -> None:
    two = TwoLevels(ex.randomized_response(2, 1), ex.randomized_response(2, 2))
    said = [memory.instantaneous("ann", "q", wave % 2, two) for wave in range(500)]
    kept = memory.report("ann", "q", 0, two.permanent)
    share = said.count(kept) / 500
    assert abs(share - math.exp(2) / (1 + math.exp(2))) < 0.1
    assert memory.spent("ann") == 1


def test_bits_have_two_levels_as_in_rappor(memory: ex.Memory) -> None:
    """Each bit of the permanent word is randomised again; the level of one report is that of the bits together."""
    permanent, instant = ex.unary_encoding(5, "1.5", optimised=False), ex.randomized_response(2, "0.8")
    two = TwoLevels(permanent, instant)
    structure, again = permanent.structure, instant.matrix
    own, other = (w / 2**62 * again[1, 1] + (1 - w / 2**62) * again[0, 1] for w in (structure.own, structure.other))
    assert two.once == pytest.approx(math.log(own * (1 - other) / (other * (1 - own))), rel=1e-12)
    assert two.once < 1.5 == two.forever
    assert ex.LDP(two.once * (1 + 1e-9)).holds(two.together)
    assert not ex.LDP(two.once * (1 - 1e-9)).holds(two.together)
    said = [memory.instantaneous(person, "q", 3, two) for person in range(300) for _ in range(2)]
    kept = [memory.report(person, "q", 0, permanent) for person in range(300)]
    assert memory.spent(7) == Fraction(3, 2)
    bits = np.unpackbits(np.array(said, dtype=np.uint8), axis=1, count=5)
    known = np.repeat(np.unpackbits(np.array(kept, dtype=np.uint8), axis=1, count=5), 2, axis=0)
    assert abs((bits == known).mean() - again[1, 1]) < 0.06  # 3,000 bits: 7 standard deviations
    assert not np.array_equal(bits[::2], bits[1::2])  # two asks differ
    estimate = ex.estimate_frequencies(said[::2], two.together)
    assert abs(estimate.estimate[3] - 1) < 7 * estimate.standard_error[3]
    with pytest.raises(ex.errors.InvalidParameter, match="For each bit: 0 and 1"):
        TwoLevels(permanent, ex.randomized_response(3, 1))


def test_bad_calls_are_refused(memory: ex.Memory, tmp_path: Path) -> None:
    for person in (1.5, True, None, b"ann"):
        with pytest.raises(ex.errors.InvalidParameter, match="a person is a str or an int"):
            memory.report(person, "q", "never", M)  # type: ignore[arg-type]
    with pytest.raises(ex.errors.InvalidParameter, match="a question needs a name"):
        memory.report("ann", "", "never", M)
    with pytest.raises(ex.errors.InvalidParameter, match="every person needs one value"):
        memory.reports(["ann", "ann"], "q", ["never", "never"], M)
    with pytest.raises(ex.errors.UnknownLabel):
        memory.report("ann", "q", "weekly", M)
    with pytest.raises(ex.errors.InvalidParameter, match="limit must not be negative"):
        ex.Memory(tmp_path / "x.db", limit=-1)
    assert memory.spent("ann") == 0


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be read as one" * 20)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE things (x)")
    other.close()
    for name in ("text", "other.db"):
        with pytest.raises(ex.errors.MalformedFile, match="must be a memory"):
            ex.Memory(tmp_path / name)


def test_commits_are_on_the_disk_when_they_return(memory: ex.Memory) -> None:
    """Killing a process cannot show it, so the setting itself is looked at: 2 is FULL."""
    assert memory._database.execute("PRAGMA synchronous").fetchone() == (2,)
    assert memory._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def killed_while_writing(path: Path, start: int, seconds: float) -> dict[int, int]:
    """What a writer had acknowledged when it was killed without warning."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline() + writer.stdout.readline()
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        lines = (first + writer.stdout.read()).decode().splitlines(keepends=True)
    return {int(a): int(b) for a, b in (line.split() for line in lines if line.endswith("\n"))}


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_when_the_process_is_killed(tmp_path: Path) -> None:
    path, m = tmp_path / "memory.db", ex.randomized_response(1000, 1)
    said: dict[int, int] = {}
    for round_ in range(3):
        said |= killed_while_writing(path, len(said), 0.02 * (round_ + 1))
    with ex.Memory(path, limit=1) as memory:
        assert memory._database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        stored = {
            json.loads(person): json.loads(report)
            for person, report in memory._database.execute("SELECT person, report FROM reports")
        }
        assert said.items() <= stored.items()
        assert memory._database.execute("SELECT count(*) FROM reports").fetchone() == (len(stored),)
        assert memory.reports(list(said), "q", [0] * len(said), m) == list(said.values())
        assert {memory.spent(person) for person in said} == {1}
