"""`extremal device --mechanism M.json -o FOLDER`, or `--questionnaire Q.json`: what a browser or a phone needs to
randomise by itself."""

from __future__ import annotations

import argparse

from extremal.cli.printing import add_printing, said
from extremal.errors import InvalidParameter
from extremal.loading import load
from extremal.mechanism import Mechanism
from extremal.questionnaire import Questionnaire
from extremal.questionnaire.device import write_questionnaire_folder
from extremal.release.device import write_folder


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "device",
        help="write the script and page that randomise on a device",
        description="Write a folder with randomiser.js, a page that asks, the mechanism or the\nquestionnaire, "
        "and test vectors for ports.",
        epilog="Serve the folder over https (or localhost) and open index.html; check.html and\n"
        "`node check.js` draw the vectors again.\n"
        "example:\nextremal device --questionnaire questions.json -o folder\n"
        "exit codes:  0 done   2 bad input",
    )
    what = verb.add_mutually_exclusive_group(required=True)
    what.add_argument("--mechanism", metavar="FILE", help="a mechanism file that claims LDP without δ")
    what.add_argument("--questionnaire", metavar="FILE", help="a questionnaire file: a form with all questions")
    verb.add_argument("-o", "--output", required=True, metavar="FOLDER", help="an empty or new folder")
    add_printing(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    kind = Mechanism if options.questionnaire is None else Questionnaire
    path = options.mechanism or options.questionnaire
    found = load(path)
    if not isinstance(found, kind):
        raise InvalidParameter(
            f"the file must be a {kind.__name__.lower()}",
            parameter="file",
            value=path,
            hint="--questionnaire takes questionnaires, --mechanism mechanisms.",
        )
    if isinstance(found, Mechanism):
        paths = write_folder(options.output, found, overwrite=options.overwrite)
    else:
        paths = write_questionnaire_folder(options.output, found, overwrite=options.overwrite)
    names = [one.name for one in paths]
    what = kind.__name__.lower()
    text = f"{options.output}: {', '.join(names)}\n  {found.privacy!r}, {what} {found.hash[:12]}"
    return said(options, {"folder": options.output, "files": names, what: found.hash}, text)
