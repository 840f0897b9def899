"""The command line against odd arguments: 2,000 lines drawn from the verbs' own options with odd values, files and
places. None may end with a traceback or exit code 70, hang, quote a line of data, or leave anything when it fails. Run
with `make audit`.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import json
import multiprocessing
import os
import shutil
import socket
import socketserver
import stat
import sys
import tempfile
import time
import webbrowser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from extremal import cli

LINES = 2_000
LONGEST = 60  # seconds on a machine that does other things too; what is refused takes less than five of its own
SECRETS = ("ann@example.org", "HIV positive", "pq7-secret-cell")  # stand in the data, never in a message
RAW = ("in.csv", "in.parquet", "in.feather", "in.jsonl", "in.sav", "headless.csv")
DATA = f"id,answer\n1,no\n2,{SECRETS[2]}\n3,yes\n"
NUMBERS = (
    *("1", "2", "0.5", "1/3", "0", "-1", "1e-6", "50", "nan", "inf", "-inf", "1e400", "1e-400", "1/0", "", " ", "0x10"),
    *("1_000", "½", "３", "٣", "99999999999999999999", "1,5", "a", "\0", "\ud800", "--", "1e9", "0.999999999999999999"),
)
PRIORS = (
    *("0.5,0.3,0.2", "1/3,1/3,1/3", "0.5,0.5", "uniform:3", "0.2,0.3,0.5", "1,0,0", "0.5,0.6", "nan,1", "1e400,1"),
    *("uniform:0", "uniform:99999999", "uniform:", "@", "@prior.json", "@fifo", "@/dev/zero", "@loop", "@huge.json"),
    *("@deep.json", "@in.csv", "@folder", ",", "", "a,b,c", "-1,2", "0.5;0.5", "0.5,0.5;0.2,0.8", "any", "@a\0b", "1"),
)
TEXTS = (
    *("answer", "id", "no", "x", "", " ", "*", "^x$", "a=b", "no,yes,maybe", "no,no", "answer=no,yes", "q=m.json"),
    *("q=", "=1", "q=3", "q=99999999999", "\0", "\ud800", "\udcff", "é", "e\u0301", "x" * 5000, "-", "--", "@in.csv"),
    *("1:2:3", "0.1:10:3", "1:2:99999999999", "a:b", "1,2", "0,1,5", "0:100", "KL", "MutualInformation", "all", "png"),
)
OUTPUTS = (
    *("new.csv", "new.parquet", "new.feather", "new.json", "new.png", "new.svg", "new", "in.csv", "in.parquet"),
    *("m.json", "./in.csv", "sub/new.csv", "absent/new.csv", "folder", "loop", "fifo", "fifo.csv", "full.csv"),
    *("/dev/null", "/dev/full", "a\0b", "", ".", "..", "/", "x" * 300, "\ud800.csv", "\udcff.csv", "é.csv"),
    *("link.csv", "hard.csv", "dangling.csv", "in.csv/x"),
)


def prepare(folder: Path) -> list[str]:
    """Files of every kind, good and odd; their names."""
    import pandas as pd
    import pyarrow.feather as feather
    import pyreadstat

    import extremal as ex

    (folder / "in.csv").write_text(DATA)
    (folder / "headless.csv").write_text(f"{SECRETS[0]},{SECRETS[1]},1973\nbob@example.org,negative,1980\n")
    known = ["no", "yes", SECRETS[2]]
    m = ex.randomized_response(3, 1, inputs=known)
    m.save(folder / "m.json")
    ex.subset_selection(40, 1).save(folder / "sets.json")
    ex.randomized_response(3, 1).claiming(None).save(folder / "free.json")
    ex.Questionnaire({"answer": m}).save(folder / "q.json")
    ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8])).save(folder / "d.json")
    frame = pd.read_csv(folder / "in.csv")
    frame.to_parquet(folder / "in.parquet")
    feather.write_feather(frame, folder / "in.feather")
    frame.assign(answer=frame["answer"].astype(object)).to_json(folder / "in.jsonl", orient="records", lines=True)
    pyreadstat.write_sav(frame.astype({"answer": object}), str(folder / "in.sav"))
    for name in ("in.csv", "in.parquet", "in.feather", "in.jsonl", "in.sav"):
        assert cli.main(["privatize", str(folder / name), "--column", "answer", "--mechanism", str(folder / "m.json"),
                         "-o", str(folder / name.replace("in", "out"))]) == 0  # fmt: skip
    surveys(folder)
    for name in (
        "m.json",
        "q.json",
        "skips.json",
        "hitters.json",
        "shuffled.json",
        "form.json",
        "form.xlsx",
        "in.jsonl",
        "in.sav",
        "in.parquet",
        "in.feather",
        "d.certificate.json",
        "out.csv.extremal.json",
    ):
        data = (folder / name).read_bytes()
        (folder / f"cut-{name}").write_bytes(data[: len(data) // 2])
        (folder / f"bent-{name}").write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    for ending in ("json", "jsonl", "xlsx", "sav", "txt"):
        os.mkfifo(folder / f"fifo.{ending}")
    (folder / "deep.jsonl").write_text('{"answer":' + "[" * 100_000 + "\n")
    (folder / "loose.jsonl").write_text(f'{{"answer": "{SECRETS[2]}"}}\n["{SECRETS[1]}"]\n')
    (folder / "loose.tsv").write_text(f"{SECRETS[0]}\t{SECRETS[1]}\n")
    (folder / "prior.json").write_text("[0.5, 0.3, 0.2]")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "huge.json").write_text("[" + "0.123," * 4_000_000 + "1]")
    (folder / "empty.json").write_bytes(b"")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "bytes.json").write_bytes(bytes(range(256)))
    (folder / "bytes.csv").write_bytes(bytes(range(256)))
    (folder / "quoted.csv").write_text(f'id,answer\n1,"{SECRETS[2]}\n')
    (folder / "ragged.csv").write_text(f"id,answer\n1,no,{SECRETS[2]}\n")
    with (folder / "sparse.csv").open("wb") as file:
        file.truncate(1 << 40)
    with (folder / "sparse.json").open("wb") as file:
        file.truncate(1 << 40)
    with gzip.open(folder / "bomb.csv.gz", "wb") as file:
        file.write(b"0" * (1 << 24))
    shutil.copy(folder / "bomb.csv.gz", folder / "bomb.parquet")
    (folder / "key").write_text("extremal release key 1\n" + "0" * 64 + "\n")
    (folder / "folder").mkdir()
    (folder / "sub").mkdir()
    os.mkfifo(folder / "fifo")
    os.mkfifo(folder / "fifo.csv")
    (folder / "loop").symlink_to("loop")
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "dangling.csv").symlink_to("nowhere/x")
    (folder / "full.csv").symlink_to("/dev/full")
    (folder / "link.csv").symlink_to("in.csv")
    (folder / "hard.csv").hardlink_to(folder / "in.csv")
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(folder):
        made.bind("socket.csv")
    made_up = ("absent.json", "absent.csv", "/dev/zero", "/dev/null", "/dev/stdin", "", ".", "..", "a\0b", "x" * 300)
    return [*sorted(path.name for path in folder.iterdir()), *made_up, "in.csv/x", "\ud800.csv", "-", "é.csv"]


def surveys(folder: Path) -> None:
    """Questionnaires, forms of survey tools, what else can be loaded, and a study."""
    import openpyxl

    import extremal as ex
    from extremal.questionnaire import OnlyIf

    asked = {"drugs": ["no", "yes"], "which": OnlyIf("drugs", ["yes"], ["a", "b"]), "age": ["1", "2", "3"]}
    ex.Questionnaire.within(1, asked, optional=["age"], title="A study").save(folder / "skips.json")
    ex.HeavyHitters(2, max_bytes=4, alphabet="abcd", salt=7).save(folder / "hitters.json")
    ex.shuffled(ex.randomized_response(3, 1), 1000).claim(1e-6).save(folder / "shuffled.json")
    form = {"elements": [{"type": "boolean", "name": "drugs"}, {"type": "rating", "name": "mood"}]}
    (folder / "form.json").write_text(json.dumps(form))
    (folder / "wide.json").write_text(json.dumps({"elements": [{"type": "rating", "name": "a", "rateMax": 10**12}]}))
    names = 'Variable / Field Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels"'
    (folder / "form.csv").write_text(f'{names}\ndrugs,yesno,Drugs?,\nmood,radio,Mood?,"1, good | 2, bad"\n')
    (folder / "form.tsv").write_text("class\ttype/scale\tname\ttext\nQ\tY\tdrugs\tDrugs?\n")
    book = openpyxl.Workbook()
    book.active.title = "survey"
    for row in (("type", "name", "label", "parameters"), ("range", "mood", "Mood?", "start=1 end=5 step=1")):
        book.active.append(row)
    book.save(folder / "form.xlsx")
    for name, more in (("study", []), ("invited", ["--invitations", "3"])):
        assert cli.main(["collect", "new", str(folder / name), "--questionnaire", str(folder / "q.json"), *more]) == 0
    assert cli.main(["collect", "backup", str(folder / "study"), str(folder / "backup")]) == 0
    (folder / "consent.txt").write_text("I agree.")


def verbs(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every verb that runs something, with its parser."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield path, parser
    for group in groups:
        for name, below in group.choices.items():
            yield from verbs(below, (*path, name))


GOOD = {
    **dict.fromkeys(("mechanism", "mechanisms", "first", "second"), ("m.json", "sets.json", "d.json")),
    **dict.fromkeys(("output", "out"), ("new.csv", "new.parquet", "new.json", "new")),
    **dict.fromkeys(("prior", "p0", "p1", "p"), ("0.5,0.3,0.2", "0.2,0.3,0.5")),
    **dict.fromkeys(("epsilon", "delta", "level", "alpha", "power", "half_width"), ("0.5", "1", "0.1")),
    "file": ("m.json", "in.csv", "out.csv", "out.parquet", "q.json", "skips.json"),
    "answers": ("in.csv", "in.parquet", "in.jsonl", "in.sav"),
    "reports": ("out.csv", "out.parquet", "out.jsonl", "out.sav"),
    "questionnaire": ("q.json", "skips.json"),
    "form": ("form.json", "form.csv", "form.tsv", "form.xlsx"),
    "study": ("study", "invited", "new"),
    "backup": ("backup",),
    "consent": ("consent.txt",),
    "until": ("2027-01-31",),
    "excel": ("new.xlsx",),
    "host": ("127.0.0.1",),
    "port": ("0",),
    "store": ("sqlite:///new.db",),
    "only_if": ("q=answer:no",),
    "column": ("answer",),
    "by": ("id",),
    "question": ("answer=no,yes", "q=m.json", "age=3"),
    "plot": ("new.png",),
    "html": ("new.html",),
    "csv": ("new.csv",),
    "draws": ("2000",),
    "n": ("1000",),
    "k": ("3", "10"),
}


FILES = ("file", "answers", "reports", "mechanisms", "first", "second", "mechanism", "form", "study", "backup")


def value(action: argparse.Action, files: list[str], random: Random) -> str:
    """Something right for one argument, or something odd."""
    good = tuple(map(str, action.choices or ())) or GOOD.get(action.dest, ("1",))
    if random.random() < 0.65:
        return random.choice(good)
    if action.dest in ("output", "out", "plot", "html", "csv", "excel"):
        return random.choice(OUTPUTS)
    named = action.metavar if isinstance(action.metavar, str) else ""
    if action.dest in FILES or "FILE" in named:
        return random.choice(files)
    if action.dest in ("prior", "p0", "p1", "p", "source", "hypotheses"):
        return random.choice(PRIORS)
    if action.type in (int, float) or action.dest in ("epsilon", "k", "delta", "distortion", "ball", "times"):
        return random.choice(NUMBERS)
    return random.choice(TEXTS + NUMBERS + PRIORS)


def line(verb: tuple[str, ...], parser: argparse.ArgumentParser, files: list[str], random: Random) -> list[str]:
    """A command line of this verb."""
    made = list(verb)
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        given = action.required or not action.option_strings or random.random() < 0.25
        if not given:
            continue
        if action.option_strings:
            made.append(random.choice(action.option_strings))
        if action.nargs != 0:
            made += [value(action, files, random) for _ in range(random.choice((1, 1, 1, 2)) if action.nargs else 1)]
    return made


def state(folder: Path) -> dict[str, str]:
    """What stands in the folder: names, and what regular files hold; of large ones, their size and time."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        held = f"{stat.S_IFMT(about.st_mode)}"
        if stat.S_ISREG(about.st_mode):
            small = about.st_size < 1 << 20
            held = hashlib.sha256(path.read_bytes()).hexdigest() if small else f"{about.st_size} {about.st_mtime_ns}"
        found[str(path.relative_to(folder))] = held
    return found


def _child(arguments: list[str], folder: Path, pipe: Any) -> None:
    os.chdir(folder)
    socketserver.BaseServer.serve_forever = lambda *_: None  # type: ignore[method-assign]  # what serves would go on
    webbrowser.open = lambda *_, **__: True
    if arguments[:2] == ["collect", "serve"]:
        import uvicorn

        async def nothing(_: Any) -> None:
            """What serves ends as soon as it listens."""

        uvicorn.Server.main_loop = nothing  # type: ignore[method-assign]
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(told):
        try:
            code: Any = cli.main(arguments)
        except SystemExit as stopped:
            code = stopped.code
        except BaseException as error:
            code = f"{type(error).__name__}"
    # Verdicts, also that a file is none, are told on standard output.
    text = said.getvalue() or (f"extremal: {told.getvalue()}" if code == 2 and told.getvalue() else "")
    pipe.send((code, text, time.process_time()))


def run(arguments: list[str], folder: Path) -> tuple[Any, str, float]:
    """The exit code, what was said on standard error, and the processor seconds; "hangs" after LONGEST."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(False)
    process = context.Process(target=_child, args=(arguments, folder, theirs))
    process.start()
    theirs.close()
    if not mine.poll(LONGEST):
        process.kill()
        process.join()
        return "hangs", "", float(LONGEST)
    try:
        code, said, spent = mine.recv()
    except EOFError:
        code, said, spent = "died", "", 0.0
    process.join()
    return code, said, spent


PROVING = ("verify", "test", "theory", "audit", "design", "compare", "tradeoff")  # whose exit code may be 3


def fault(verb: str, code: Any, said: str, before: dict[str, str], after: dict[str, str]) -> str | None:
    """What is wrong with an outcome."""
    if code not in (0, 1, 2, 3):
        return f"exit {code}"
    if "Traceback" in said or (code == 2 and "extremal: " not in said):
        return "no sentence"
    if code == 3 and verb not in PROVING:
        return "not proven"
    if any(secret in said for secret in SECRETS[:2]) or f",{SECRETS[2]}" in said:
        return "quotes data"
    if code == 2 and before != after:
        return f"left {sorted(set(after.items()) ^ set(before.items()))[:3]}"
    raw = [name for name in RAW if before.get(name) != after.get(name)]
    return f"changed {raw}" if raw else None


def main(lines: int = LINES, seed: int = 32, only: str = "") -> int:
    random, codes, faults, slowest = Random(seed), Counter[str](), [], (0.0, [""])
    known = [(verb, parser) for verb, parser in verbs(cli.parser()) if verb[0] != "reproduce" and only in verb[0]]
    with tempfile.TemporaryDirectory() as name:
        pristine, work = Path(name) / "pristine", Path(name) / "work"
        pristine.mkdir()
        with contextlib.redirect_stdout(io.StringIO()):
            context = multiprocessing.get_context("fork")
            maker = context.Pool(1)  # the libraries of frames start threads, which a fork would lose
            files = maker.apply(prepare, (pristine,))
            maker.terminate()
        expected: dict[str, str] | None = None
        for number in range(lines):
            if number and not number % 250:
                print(f"{number} command lines, {len(faults)} faults", flush=True)
            if expected is None:
                shutil.rmtree(work, ignore_errors=True)
                os.system(f"cp -a --sparse=always {pristine} {work}")
                expected = state(work)
            verb, parser = random.choice(known)
            arguments = line(verb, parser, files, random)
            code, said, spent = run(arguments, work)
            codes[str(code)] += 1
            slowest = max(slowest, (spent, arguments))
            after = state(work)
            wrong = fault(verb[0], code, said, expected, after)
            if wrong:
                faults.append((wrong, arguments, said[:200]))
            if after != expected:
                expected = None
    print(f"{lines} command lines of {len(known)} verbs: exit codes {dict(sorted(codes.items()))}")
    print(f"slowest: {slowest[0]:.1f} s of a processor: {json.dumps(slowest[1])[:200]}")
    print(f"faults: {len(faults)}")
    for wrong, arguments, said in faults[:40]:
        print("   ", wrong, json.dumps(arguments)[:400], said.strip())
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:]))
