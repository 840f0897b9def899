"""`extremal collect`: publish a study, take its reports over HTTP, and read its estimates."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extremal.atomic import refuse_existing, write_atomically
from extremal.cli.printing import add_printing, said, written
from extremal.cli.reading import refuse_no_port
from extremal.errors import InvalidParameter, MissingDependency
from extremal.loading import load
from extremal.paths import refuse_unusable
from extremal.questionnaire import Questionnaire
from extremal.tables import aligned, number

if TYPE_CHECKING:
    from extremal.collect.results import Results
    from extremal.collect.store import Store
    from extremal.collect.study import Study

HOST, PORT = "127.0.0.1", 8000  # this machine alone, until it is said otherwise
DAMAGED = 1  # exit code of `check`: the claim that the store is whole is false
LONGEST_CONSENT = 256 << 10  # bytes: more than anybody reads
LANGUAGES = "languages.json"  # in the folder: more languages, or other texts, for the page


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "collect",
        help="publish a questionnaire, take reports over HTTP, show estimates",
        description="Run a study: a page for respondents, a store of reports, a page for the analyst.",
        epilog="example:\nextremal collect new study --questionnaire q.json\nextremal collect serve study",
    )
    actions = verb.add_subparsers(title="actions", metavar="ACTION", required=True)

    action = _action(actions, "new", _new, "make a study's folder", store=False)
    action.add_argument("--questionnaire", required=True, metavar="FILE", help="a questionnaire file")
    action.add_argument("--title", default="", help="what respondents read on top")
    action.add_argument("--consent", metavar="FILE", help="a text that respondents read before they answer")
    action.add_argument("--until", metavar="DAY", help="the last day on which reports are taken: 2027-01-31")
    action.add_argument("--invitations", type=int, default=0, metavar="N", help="make N codes and ask for one each")
    action.add_argument("--precision", type=float, default=0.05, metavar="H", help="half-width aimed at; default: 0.05")

    action = _action(actions, "serve", _serve, "serve a study until Ctrl-C")
    action.add_argument("--host", default=HOST, help=f"address to listen on; default: {HOST}")
    action.add_argument("--port", type=int, default=PORT, help=f"port to listen on, 0 for any; default: {PORT}")
    action.add_argument(
        "--origin", action="append", default=[], metavar="URL", help="where another page may send reports from"
    )

    _action(actions, "status", _status, "how many reported, what is refused, what precision is reached")
    _action(actions, "estimate", _estimate, "the estimates so far, with 95%% intervals")

    action = _action(actions, "export", _export, "write all reports as .csv, .jsonl or .parquet")
    action.add_argument("output", help="the file to write; with --by-day a folder")
    action.add_argument("--by-day", action="store_true", help="a Parquet file for each day: day=2027-01-31/")
    action.add_argument("--overwrite", action="store_true", help="replace existing files")

    _action(actions, "close", _close, "take no more reports")
    _action(actions, "check", _check, "compare the store with its own hashes; exit code 1 if it is damaged")

    action = _action(actions, "backup", _backup, "write the study as one file, while it is served or not")
    action.add_argument("output", help="the file to write")
    action.add_argument("--overwrite", action="store_true", help="replace an existing file")

    action = _action(actions, "restore", _restore, "make a study's folder from a backup", store=False)
    action.add_argument("backup", help="a file that backup wrote")


def _action(actions: Any, name: str, run: Any, explain: str, store: bool = True) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=explain, description=explain)
    action.add_argument("study", help="the study's folder")
    if store:
        action.add_argument("--store", metavar="URL", help="postgresql://…; the folder's own file if not given")
    add_printing(action, overwrite=False)
    action.set_defaults(run=run)
    return action


def _needed() -> None:
    """Say what to install before anything else fails."""
    try:
        import msgspec  # noqa: F401
        import sqlalchemy  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingDependency(f"collecting needs {error.name}", hint="pip install 'extremal[collect]'") from None


def _opened(options: argparse.Namespace) -> tuple[Study, Store]:
    _needed()
    from extremal.collect.study import open_study

    return open_study(options.study, options.store)


def _new(options: argparse.Namespace) -> int:
    _needed()
    from extremal.collect.study import new_study

    asked = load(options.questionnaire)
    if not isinstance(asked, Questionnaire):
        raise InvalidParameter(
            "the file must be a questionnaire",
            parameter="--questionnaire",
            value=options.questionnaire,
            hint="extremal questionnaire make writes one.",
        )
    codes_file = Path(options.study) / "invitations.txt"
    if options.invitations:
        refuse_existing(codes_file, False)
    made = new_study(
        options.study,
        asked,
        title=options.title,
        consent=_text_in(options.consent) if options.consent else "",
        until=_day(options.until),
        invitations=options.invitations,
        precision=options.precision,
    )
    if made.codes:
        write_atomically(codes_file, "".join(f"{code}\n" for code in made.codes).encode(), overwrite=False)
        codes_file.chmod(0o600)
    link = f"/analyst/{made.token}"
    text = (
        f"{made.study.title}: {len(asked)} questions, {asked.said_level()} per person\n"
        f"serve it:         extremal collect serve {options.study}\n"
        f"respondents:      http://{HOST}:{PORT}/{'#CODE' if made.codes else ''}\n"
        f"analyst (secret, shown once): http://{HOST}:{PORT}{link}"
    )
    files = [str(codes_file)] if made.codes else []
    content = {"study": str(options.study), "questionnaire": asked.hash, "analyst": link, "invitations": files}
    return said(options, content, written(text, *files))


def _text_in(path: str) -> str:
    """What respondents read, no more of it than can be read."""
    refuse_unusable(Path(path))
    with Path(path).open("rb") as file:
        data = file.read(LONGEST_CONSENT + 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if len(data) > LONGEST_CONSENT or "\0" in text:
        raise InvalidParameter(
            f"the consent must be a text in UTF-8 of at most {LONGEST_CONSENT >> 10} KiB",
            parameter="--consent",
            value=path,
        )
    return text


def _day(text: str | None) -> datetime.date | None:
    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidParameter("a day must be written 2027-01-31", parameter="--until", value=text) from None


def _serve(options: argparse.Namespace) -> int:
    refuse_no_port(options.port)
    study, store = _opened(options)
    from extremal.collect.server import serve
    from extremal.collect.service import Service, merged_languages

    def listening(port: int) -> None:
        print(f"{study.title}: http://{options.host}:{port}/  (Ctrl-C ends it)", flush=True)

    with store, contextlib.suppress(KeyboardInterrupt):  # which is how it is ended
        languages = merged_languages(Path(options.study) / LANGUAGES)
        try:
            serve(Service(study, store, tuple(options.origin), languages), options.host, options.port, listening)
        except SystemExit:  # how the server ends where it cannot listen; it has said why
            raise InvalidParameter(
                "the address must be one of this machine that is free",
                parameter="--host, --port",
                value=f"{options.host}:{options.port}",
            ) from None
    return 0


def _status(options: argparse.Namespace) -> int:
    found = _results(options)
    from extremal.collect.analyst_page import precision_said

    rows = [
        ["people who reported", f"{found.n:,}"],
        ["state", f"closed on {found.closed}" if found.closed else "open"],
        ["precision", precision_said(found)],
        ["refused", ", ".join(f"{reason}: {times}" for reason, times in found.rejects.items()) or "none"],
    ]
    if found.study.invited:
        rows.append(["invitations used", "{:,} of {:,}".format(*found.invitations)])
    days = [[day.isoformat(), f"{people:,}"] for day, people in found.by_day.items()]
    table = aligned(["day", "people"], days, left=1) if days else ""
    text = "\n".join(f"{name:<20} {value}" for name, value in rows)
    return said(options, found.to_json(), f"{found.study.title}\n{text}\n\n{table}".rstrip())


def _results(options: argparse.Namespace) -> Results:
    study, store = _opened(options)
    from extremal.collect.results import people_needed, results_of

    with store:
        return results_of(study, store, people_needed(study))


def _estimate(options: argparse.Namespace) -> int:
    found = _results(options)
    parts = [f"{found.n:,} people, {found.study.questionnaire.said_level()} per person"]
    for question in found.questions:
        rows = [[line.name, *(number(x, 4) for x in (line.estimate, line.low, line.high))] for line in question.lines]
        table = aligned(["answer", "estimate", "low", "high"], rows, left=1) if rows else "too few reports"
        parts.append(f"{question.name} ({question.n:,} asked)\n{table}")
    return said(options, found.to_json(), "\n\n".join(parts))


def _export(options: argparse.Namespace) -> int:
    study, store = _opened(options)
    from extremal.collect.export import export

    with store:
        paths = export(study, store, Path(options.output), by_day=options.by_day, overwrite=options.overwrite)
        reports = store.tallied()
    names = [str(path) for path in paths]
    return said(options, {"files": names, "reports": reports}, written(f"{reports:,} reports", *names))


def _close(options: argparse.Namespace) -> int:
    study, store = _opened(options)
    with store:
        store.close()
        day, reports = store.closed(), store.tallied()
    return said(
        options, {"closed": day, "reports": reports}, f"{study.title}: closed on {day} with {reports:,} reports"
    )


def _check(options: argparse.Namespace) -> int:
    _, store = _opened(options)
    with store:
        found = store.check()
    content = {"reports": found.reports, "tallied": found.tallied, "sound": found.sound}
    if found.sound:
        return said(options, content, f"{found.reports:,} reports: none lost, doubled or altered")
    said(
        options,
        content,
        f"the store is damaged: {found.reports:,} reports, {found.tallied:,} were stored. {found.damage}",
    )
    print("extremal: restore it from a backup: extremal collect restore NEW BACKUP", file=sys.stderr)
    return DAMAGED


def _backup(options: argparse.Namespace) -> int:
    _, store = _opened(options)
    path = Path(options.output)
    with store:
        store.copy(path, options.overwrite)
    path.chmod(0o600)
    return said(options, {"file": str(path)}, written("the study as it was when this began", str(path)))


def _restore(options: argparse.Namespace) -> int:
    _needed()
    from extremal.collect.store import restored

    found = restored(Path(options.backup), Path(options.study))
    return said(
        options,
        {"study": options.study, "reports": found.reports},
        f"{options.study}: {found.reports:,} reports, sound",
    )
