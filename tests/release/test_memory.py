"""A memory repeats what was reported, counts what is spent, and survives being killed."""

import json
import math
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.exact import Exponential
from extremal.release.memory import Guard
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
        said = [first.report(1, "q", "often", M), first.report(1, "sets", 3, sets)]
    with ex.Memory(tmp_path / "m.db") as second:
        assert said == [second.report(1, "q", "once", M), second.report(1, "sets", 9, sets)]
        assert isinstance(said[1], tuple)
        for name in ("m.db", "m.db-wal", "m.db-shm", "m.db.guard"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


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
    for question in ("", " ", "\ud800", "a\0b", "q" * 1001):
        with pytest.raises(ex.errors.InvalidParameter, match="a question needs a name of up to 1,000 characters"):
            memory.report("ann", question, "never", M)
    with pytest.raises(ex.errors.InvalidParameter, match="a question needs a name; got question='int'"):
        memory.report("ann", 1, "never", M)  # type: ignore[arg-type]
    for person in ("", "\t", "a\0b", "\u202eann", "a\u200bnn", "\ud800"):
        with pytest.raises(ex.errors.InvalidParameter, match="a person needs a name"):
            memory.report(person, "q", "never", M)
    with pytest.raises(ex.errors.InvalidParameter, match="every person needs one value"):
        memory.reports(["ann", "ann"], "q", ["never", "never"], M)
    with pytest.raises(ex.errors.UnknownLabel):
        memory.report("ann", "q", "weekly", M)
    with pytest.raises(ex.errors.InvalidParameter, match="limit must not be negative"):
        ex.Memory(tmp_path / "x.db", limit=-1)
    assert memory.spent("ann") == 0


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be read as one" * 20)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("CREATE TABLE things (x)")
    other.close()
    for name in ("text", "other.db"):
        (tmp_path / name).chmod(0o600)
        with pytest.raises(ex.errors.MalformedFile, match="the guard of a memory must stand beside it"):
            ex.Memory(tmp_path / name)
        ex.Memory(tmp_path / "own").close()
        shutil.copy(tmp_path / "own.guard", tmp_path / f"{name}.guard")
        with pytest.raises(ex.errors.MalformedFile, match="must be a memory"):
            ex.Memory(tmp_path / name)
    (tmp_path / "own.guard").write_bytes(b"hello")
    with pytest.raises(ex.errors.MalformedFile, match="must be the guard of a memory"):
        ex.Memory(tmp_path / "own")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ex.errors.MalformedFile, match="must be a memory"):
        ex.Memory(tmp_path / "folder")
    for odd, said in (("fifo", "a regular one"), ("a\0b", "NUL character")):
        if odd == "fifo":
            os.mkfifo(tmp_path / odd)
        with pytest.raises(ex.errors.InvalidParameter, match=said):
            ex.Memory(tmp_path / odd)


@pytest.mark.parametrize("name", ["m.db", "m.db.guard"])
@pytest.mark.parametrize("mode", [0o644, 0o666, 0o660])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, name: str, mode: int) -> None:
    ex.Memory(tmp_path / "m.db").close()
    (tmp_path / name).chmod(mode)
    with pytest.raises(ex.errors.InvalidParameter, match=f"by its owner alone; got mode of {name}='{mode:04o}'"):
        ex.Memory(tmp_path / "m.db")


def test_the_limit_is_the_files_and_only_goes_down(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with ex.Memory(path, limit=2) as memory:
        memory.report("ann", "q", "never", M)
        memory.renew("ann", "q", "never", M)
    with ex.Memory(path) as memory:
        assert memory.limit == 2
        with pytest.raises(ex.errors.PrivacyViolation, match="would pass the limit"):
            memory.renew("ann", "q", "never", M)
        with ex.Memory(path, limit=1) as lower:
            assert lower.limit == 1
        with pytest.raises(ex.errors.PrivacyViolation, match="got limit=1.0"):
            memory.report("bob", "q", "never", ex.randomized_response(4, 2, inputs=M.inputs))
        assert memory.limit == 1
    with pytest.raises(ex.errors.InvalidParameter, match="can only be lowered; got limit=3.0. The file says 1"):
        ex.Memory(path, limit=3)
    with ex.Memory(tmp_path / "free.db") as memory:
        assert memory.limit is None
    with ex.Memory(tmp_path / "free.db", limit="0.5") as memory:
        assert memory.limit == Fraction(1, 2)


def test_a_person_is_one_however_the_name_is_written(memory: ex.Memory) -> None:
    for same in ([1, "1", " 1", "1\n"], ["é", "e\u0301", " é "], ["ann lee", "ann  lee", "ann\u00a0lee"]):
        assert len({memory.report(person, "q", "never", M) for person in same}) == 1
        assert {memory.spent(person) for person in same} == {1}
    assert memory.spent("Ann lee") == 0
    assert memory.spent("01") == 0
    assert memory.report("bob", "caf\u00e9", "never", M) == memory.report("bob", "cafe\u0301 ", "never", M)
    assert memory.spent("bob") == 1
    with pytest.raises(ex.errors.InvalidParameter, match="every person needs one value"):
        memory.reports([1, "1"], "q", ["never", "never"], M)


def put_down(path: Path) -> None:
    """Ten reports, and the log written back into the file."""
    with ex.Memory(path, limit=1) as memory:
        memory.reports(range(10), "q", ["never"] * 10, M)


EDITS = {
    "another report": "UPDATE reports SET report = 'hourly' WHERE person = '3'",
    "a cheaper report": "UPDATE reports SET epsilon = '0' WHERE person = '3'",
    "a report that earns": "UPDATE reports SET epsilon = '-5' WHERE person = '3'",
    "no JSON": "UPDATE reports SET report = 'x' WHERE person = '3'",
    "no number": "UPDATE reports SET epsilon = '1/0' WHERE person = '3'",
    "another person": "UPDATE reports SET person = '33' WHERE person = '3'",
    "a row gone": "DELETE FROM reports WHERE person = '3'",
    "all rows gone": "DELETE FROM reports",
    "a row more": "INSERT INTO reports SELECT '33', question, 0, mechanism, report, epsilon, tag FROM reports LIMIT 1",
    "tags exchanged": "UPDATE reports SET tag = (SELECT tag FROM reports WHERE person = '4') WHERE person = '3'",
    "another wave": "UPDATE reports SET wave = 1 WHERE person = '3'",
    "another limit": "UPDATE state SET most = '9'",
    "no limit": "UPDATE state SET most = NULL",
    "fewer changes": "UPDATE state SET changes = 0",
    "fewer rows": "UPDATE state SET rows = 9",
    "no state": "DELETE FROM state",
    "two states": "INSERT INTO state SELECT * FROM state",
    "no table": "DROP TABLE reports",
    "no table of the state": "DROP TABLE state",
    "another version": "PRAGMA user_version = 1",
    "another column": "ALTER TABLE reports RENAME COLUMN tag TO tags",
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_others_changed_is_noticed(tmp_path: Path, edit: str) -> None:
    path = tmp_path / "m.db"
    put_down(path)
    ex.Memory(path).close()  # as it was put down it is believed
    other = sqlite3.connect(path)
    other.execute(EDITS[edit])
    other.commit()
    other.close()
    with pytest.raises((ex.errors.MalformedFile, OSError)) as refused:
        ex.Memory(path)
    assert str(path) in str(refused.value) or "as it was put down" in str(refused.value)


def test_a_row_that_is_changed_while_the_memory_is_open_is_noticed_when_it_is_read(memory: ex.Memory) -> None:
    memory.reports(["ann", "bob"], "q", ["never"] * 2, M)
    other = sqlite3.connect(memory.path)
    other.execute(EDITS["another report"].replace("'3'", "'ann'"))
    other.commit()
    other.close()
    for ask in (lambda: memory.report("ann", "q", "never", M), lambda: memory.spent("ann")):
        with pytest.raises(ex.errors.MalformedFile, match="must be as it was put down; got changed='a row'"):
            ask()
    assert memory.report("bob", "q", "daily", M) in M.outputs


def test_older_copies_and_copies_without_their_log_are_noticed(tmp_path: Path) -> None:
    path, older = tmp_path / "m.db", tmp_path / "older"
    put_down(path)
    older.mkdir()
    for file in tmp_path.glob("m.db*"):
        shutil.copy(file, older)
    with ex.Memory(path) as memory:
        memory.report("new", "q", "never", M)
        for name in ("", ".guard"):  # a copy while it is open, without the log
            shutil.copy(tmp_path / f"m.db{name}", tmp_path / f"copy.db{name}")
    with pytest.raises(ex.errors.MalformedFile, match="must not be older than its guard"):
        ex.Memory(tmp_path / "copy.db")
    shutil.copy(older / "m.db", path)
    with pytest.raises(ex.errors.MalformedFile, match="must not be older than its guard.*would be made again"):
        ex.Memory(path)
    path.unlink()
    with pytest.raises(ex.errors.MalformedFile, match="that this guard belongs to must be there"):
        ex.Memory(path)
    path.write_bytes(b"")
    with pytest.raises(ex.errors.MalformedFile, match="that this guard belongs to must be there"):
        ex.Memory(path)
    (tmp_path / "m.db.guard").unlink()
    shutil.copy(older / "m.db", path)
    with pytest.raises(ex.errors.MalformedFile, match="the guard of a memory must stand beside it"):
        ex.Memory(path)
    with ex.Memory(older / "m.db") as memory:  # both put back: this cannot be noticed
        assert memory.spent("new") == 0


def test_a_guard_survives_a_write_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    put_down(path)
    guard = Guard(path)
    reached = guard.changes()
    content = bytearray((tmp_path / "m.db.guard").read_bytes())
    start = len(content) - (2 - (reached + 1) % 2) * Guard.SLOT  # where the next counter would stand
    content[start : start + 20] = bytes(20)
    (tmp_path / "m.db.guard").write_bytes(content)
    assert guard.changes() == reached
    with ex.Memory(path) as memory:
        memory.report("new", "q", "never", M)
    assert guard.changes() == reached + 1
    content[-2 * Guard.SLOT :] = bytes(2 * Guard.SLOT)
    (tmp_path / "m.db.guard").write_bytes(content)
    with pytest.raises(ex.errors.MalformedFile, match="must be the guard of a memory"):
        ex.Memory(path)


def test_a_memory_that_was_interrupted_before_its_guard_is_no_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    put_down(path)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with ex.Memory(path) as memory, monkeypatch.context() as patched:
        patched.setattr(Guard, "follow", killed)
        with pytest.raises(KeyboardInterrupt):
            memory.report("new", "q", "never", M)
    with ex.Memory(path) as memory:
        assert memory.spent("new") == 1  # stored, and not given out yet
        assert memory.report("new", "q", "daily", M) in M.outputs


def test_a_full_disk_is_said_and_nothing_is_given_out(memory: ex.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.report("ann", "q", "never", M)
    pages = memory._database.execute("PRAGMA page_count").fetchone()[0]
    memory._database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(OSError, match="the memory cannot be read or written .database or disk is full.") as full:
        memory.reports(range(5_000), "q", ["never"] * 5_000, M)
    assert full.value.filename == str(memory.path)
    assert memory.spent(1) == 0
    assert memory.report("ann", "q", "daily", M) in M.outputs


def test_threads_and_forked_children_have_connections_of_their_own(memory: ex.Memory) -> None:
    m = ex.randomized_response(1000, 1)
    first = memory.reports(range(50), "q", [0] * 50, m)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda person: memory.report(person, "q", 5, m), range(50))) == first
    read, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(out, json.dumps(memory.reports(range(60), "q", [7] * 60, m)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as said:
        os.close(out)
        told = json.loads(said.read())
    assert told[:50] == first
    assert memory.reports(range(60), "q", [9] * 60, m) == told


def test_connections_are_closed_when_their_thread_ends(memory: ex.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 says so of a database that was left open; here it is looked at on every version."""
    own = list[sqlite3.Connection]()

    def report(person: int) -> None:
        memory.report(person, "q", "daily", M)
        own.append(memory._database)

    threads = [threading.Thread(target=report, args=(person,)) for person in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    for connection in own:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    assert len(own) == 3
    assert memory.report(0, "q", "never", M) in M.outputs  # this thread's own stays open


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
