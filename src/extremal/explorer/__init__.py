"""The explorer: one static page that answers "what does ε cost?" without code; `extremal explore` serves it.

The page is HTML, a style sheet and JavaScript modules of our own; nothing is loaded from elsewhere and nothing is sent.
`numbers.js` has every formula, `files.js` writes mechanism files, `table.js` holds what only the package can compute
(written by `python -m extremal.explorer.table`). A browser loads no modules from a disk, so that `pages` joins them
into one script: the same page works from a server, from the documentation and as a file that is opened.
"""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from pathlib import Path

from extremal.checker import joined as checker_source

MODULES = ("table.js", "numbers.js", "files.js", "elements.js", "screens.js", "page.js")
"""In the order of their imports."""
_EXPORT = re.compile(r"^export ((?:async )?(?:const|function) (\w+))", flags=re.M)
_ALL = re.compile(r"^import \* as (\w+) from \"\./(\w+)\.js\";$", flags=re.M)
_SOME = re.compile(r"^import (\{[^}]*\}) from \"\./(\w+)\.js\";$", flags=re.M)


def pages() -> dict[str, bytes]:
    """Name of each file of the explorer → its content.

    >>> sorted(pages())
    ['explorer.css', 'explorer.js', 'index.html']
    """
    return {
        "index.html": _read("index.html").encode(),
        "explorer.css": _read("explorer.css").encode(),
        "explorer.js": joined().encode(),
    }


CHECK_PAGES = ("index.html", "check.css", "page.mjs", "worker.mjs", "decide.mjs")
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""What Python in a browser consists of, 13 MB; from the npm package `pyodide`, which is not part of this one."""


def write_check_page(folder: Path, pyodide: Path | None) -> None:
    """Write the page that decides certificates in a browser; without Pyodide, one that says what to do instead."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "check.py").write_text(checker_source(), encoding="utf-8")
    for name in CHECK_PAGES:
        (folder / name).write_text(_read(f"check/{name}"), encoding="utf-8")
    if pyodide is None:
        page = _read("check/index.html")
        start, end = page.index("<noscript>"), page.index("</noscript>") + len("</noscript>")
        absent = (
            '<p class="missing"><strong>This copy of the site was built without Python for browsers (npm was absent).'
            "</strong> Save check.py and run <code>python -I -S check.py FILE</code>.</p>"
        )
        page = page[:start] + absent + page[end:]
        page = page.replace('<script type="module" src="page.mjs"></script>\n', "")
        (folder / "index.html").write_text(page, encoding="utf-8")
        return
    (folder / "pyodide").mkdir(exist_ok=True)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, folder / "pyodide" / name)


def joined() -> str:
    """The modules as one script that needs no module loader: each is a function that returns what it exports."""
    return "\n".join(['"use strict";', *map(_as_function, MODULES), ""])


def _as_function(name: str) -> str:
    text = _read(name)
    exported = ", ".join(found[2] for found in _EXPORT.finditer(text))
    for pattern in (_ALL, _SOME):
        text = pattern.sub(r"const \1 = module_\2;", text)
    body = _EXPORT.sub(r"\1", text)
    return f"const module_{name.removesuffix('.js')} = (() => {{\n{body}return {{ {exported} }};\n}})();"


def _read(name: str) -> str:
    return files("extremal.explorer").joinpath(name).read_text(encoding="utf-8")
