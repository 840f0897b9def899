"""`extremal device --mechanism M.json --out FOLDER`: what a browser or a phone needs to randomise by itself."""

from __future__ import annotations

import argparse

from extremal.cli.printing import add_printing, said
from extremal.mechanism import load
from extremal.release.device import write_folder


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "device",
        help="write the script and page that randomise on a device",
        description="Write a folder with randomiser.js, a minimal page, the mechanism and test\nvectors for ports.",
        epilog="Serve the folder over https (or localhost) and open index.html; check.html and\n"
        "`node check.js` draw the vectors again.\nexit codes:  0 done   2 bad input",
    )
    verb.add_argument("--mechanism", required=True, metavar="FILE", help="a mechanism file that claims LDP without δ")
    verb.add_argument("--out", required=True, metavar="FOLDER", help="an empty or new folder")
    add_printing(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    mechanism = load(options.mechanism)
    written = write_folder(options.out, mechanism, overwrite=options.overwrite)
    names = [path.name for path in written]
    text = f"{options.out}: {', '.join(names)}\n  {mechanism.privacy!r}, mechanism {mechanism.hash[:12]}"
    return said(options, {"folder": options.out, "files": names, "mechanism": mechanism.hash}, text)
