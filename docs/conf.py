"""How the documentation is built: pages in Markdown, a gallery of scripts that were run, a reference from docstrings.

`make docs` writes `out/docs/index.html`. The pages of the reference are made from `extremal.__all__`, so a new public
name needs no line here. With `-D plot_gallery=0` no example is run.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.domains.python import PyObject

import extremal
from extremal.explorer import pages, write_check_page

HERE = Path(__file__).parent
project, author, copyright = "extremal", "the authors of extremal", "the authors of extremal"  # noqa: A001
version = release = extremal.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
highlight_language = "none"  # a block that names no language is output, not Python
exclude_patterns = ["_build", "**/GALLERY_HEADER.rst"]
default_role = "code"  # a name in single backticks is code, in docstrings as in Markdown
add_module_names = False
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "no-value": True}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
napoleon_google_docstring, napoleon_numpy_docstring = True, False
napoleon_use_rtype = False
napoleon_use_ivar = True
maximum_signature_line_length = 90
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "extremal"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {"color-brand-primary": "#1b6ca8", "color-brand-content": "#1b6ca8"},
    "dark_css_variables": {"color-brand-primary": "#7bb8e3", "color-brand-content": "#7bb8e3"},
}
suppress_warnings = ["config.cache"]


def figures_of_the_block(_: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Every matplotlib figure that a variable of the example names, once: `figure = result.plot()` is enough."""
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    drawn = []
    for value in list(block_vars["example_globals"].values()):
        if isinstance(value, Figure) and not hasattr(value, "in_gallery"):
            value.in_gallery = True
            path = next(block_vars["image_path_iterator"])
            value.savefig(path, dpi=110)
            drawn.append(path)
    return figure_rst(drawn, gallery_conf["src_dir"]) if drawn else ""


GALLERY = ("surveys", "telemetry", "comparing", "theory")
for page in (HERE / "gallery").glob("*/*.*"):  # pages of examples that are gone
    if page.stem.split(".")[0] not in {"index", *(p.stem for p in (HERE.parent / "examples").glob("*/*.py"))}:
        page.unlink()

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / room) for room in GALLERY],
    "gallery_dirs": [f"gallery/{room}" for room in GALLERY],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": (figures_of_the_block,),
    "ignore_repr_types": r"matplotlib|pathlib",
    "capture_repr": ("_repr_html_", "__repr__"),
    "reset_modules": (),
    "write_computation_times": False,
    "show_memory": False,
    "min_reported_time": 10**6,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "default_thumb_file": str(HERE / "images" / "survey.png"),
}

ROOMS = {
    "optimize": "Design",
    "certificate": "Verify",
    "utility": "Goals",
    "privacy": "Privacy notions",
    "sources": "Sets of priors",
    "mechanism": "Mechanisms",
    "closed_forms": "Known mechanisms",
    "release": "Release",
    "estimate": "Estimate and test",
    "studies": "Compare and plan",
    "theory": "Theory",
    "errors": "Errors",
}
"""Room of the package → title of its page; a room that is not named gets its own name."""

MODULES = (
    "theory",
    "studies",
    "errors",
    "closed_forms",
    "closed_forms.surveys",
    "estimate",
    "optimize",
    "columns.bins",
    "release.two_levels",
    "simulate",
    "data",
)
"""Modules whose own public names are documented too: what functions return, and what is not in `extremal` itself."""

RESULTS = ("extremal.certificate.Verdict", "extremal.certificate.Verification")  # of a module that has more in it


def _public() -> dict[str, list[str]]:
    """Room → full names of the public objects that live in it, classes and functions in alphabetical order."""
    pages: dict[str, list[str]] = {}
    named = {f"extremal.{name}": getattr(extremal, name) for name in extremal.__all__ if name != "__version__"}
    for module in MODULES:
        held = importlib.import_module(f"extremal.{module}")
        public = getattr(held, "__all__", [n for n, o in vars(held).items() if _defined_in(o, held)])
        named |= {f"{held.__name__}.{name}": getattr(held, name) for name in public}
    named |= {name: _found(name) for name in RESULTS}
    seen: set[int] = set()
    for name, held in sorted(named.items(), key=lambda item: (item[0].count("."), item[0].lower())):
        if id(held) in seen or not callable(held):
            continue
        seen.add(id(held))
        room = getattr(held, "__module__", name).removeprefix("extremal.").split(".")[0]
        pages.setdefault("theory" if name.startswith("extremal.theory.") else room, []).append(name)
    return pages


def _defined_in(held: Any, module: Any) -> bool:
    public = inspect.isfunction(held) or inspect.isclass(held)
    return public and held.__module__ == module.__name__ and not held.__name__.startswith("_")


def write_reference(_: Any) -> None:
    """One page for each room: every public name in it, from its docstring."""
    folder = HERE / "reference" / "api"
    folder.mkdir(exist_ok=True)
    pages = _public()
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for room, names in pages.items():
        title = ROOMS.get(room, room.replace("_", " ").capitalize())
        body = [title, "=" * len(title), ""]
        for name in names:
            held = _found(name)
            kind = "class" if inspect.isclass(held) else "function"
            options = ["   :no-members:"] if inspect.isclass(held) and issubclass(held, Exception) else []
            body += [f".. auto{kind}:: {name}", *options, ""]
        _write(folder / f"{room}.rst", "\n".join(body))


def _found(name: str) -> Any:
    parts = name.split(".")
    held: Any = extremal
    for i, part in enumerate(parts[1:], 2):
        held = getattr(held, part, None) or importlib.import_module(".".join(parts[:i]))
    return held


def _write(path: Path, text: str) -> None:
    """Only what changed: an unchanged page is not read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


COLON = "\ue000"  # stands for a colon that introduces no type


def as_plain_words(_app: Any, what: str, _name: str, _held: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with names in backticks: Q(y|x), a·b*, k_ and `Path`s are letters, not markup."""
    code = False
    for i, line in enumerate(lines):
        if line.lstrip().startswith(">>>"):
            code = True
        elif not line.strip():
            code = False
        if not code:
            line = re.sub(
                r"^( +\w+(?:, \w+)+):", lambda names: names[1].replace(", ", ",") + ":", line
            )  # several at once
            pieces = re.split(r"(`[^`]*`)", line)
            followed = zip(pieces, [*pieces[1:], ""], strict=True)
            lines[i] = "".join(
                f"{p}\\ " if p.startswith("`") and after[:1].isalnum() else p if p.startswith("`") else _escaped(p)
                for p, after in followed
            )
            if what in ("property", "attribute"):  # "Number of reports: …" is a sentence, not the type of a value
                lines[i] = lines[i].replace(":", COLON)


def _escaped(words: str) -> str:
    return re.sub(r"([|*])|(?<=\w)(_)(?!\w)", r"\\\g<0>", words)


def with_colons(_app: Any, _what: str, _name: str, _held: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = [line.replace(COLON, ":") for line in lines]


RAISED = re.compile(
    r"\^(?P<up>\{[^}]*\}|\([^)]*\)|[−+-]?\d+[a-zα-ω]?|[−+-]?(?:scale|hashes|[A-Za-zα-ωℓ]))"
    r"|(?:(?<=[^\W\d_])|(?<=[)}\'’ᵀ*1]))(?:(?<=max)|(?<=min)|(?<=mix)|(?<![A-Za-z]{3}))"
    r"_(?P<down>\{(?:[^{}]|\{[^{}]*\})*\}|\d+|open|free|max|last|[a-z](?![a-z])|[a-z]{2}(?![A-Za-z])|[A-Z]{1,2}(?![A-Za-z])"
    r"|[α-ω])"
)
"""e^ε and q_y as people write them in plain text; names such as default_rng are not meant."""


def raised_and_lowered(_app: Any, doctree: Any) -> None:
    """Exponents stand above the line and indices below it, in prose; code stays as it is."""
    for text in list(doctree.findall(nodes.Text)):
        above = text.parent
        while above is not None and not any(word in type(above).__name__ for word in ("literal", "math", "desc_sig")):
            above = above.parent
        if above is None and RAISED.search(text):
            text.parent.replace(text, _pieces(text))


def _pieces(text: str) -> list[Any]:
    made, done = [], 0
    for found in RAISED.finditer(text):
        inside = found[found.lastgroup or 0].removeprefix("{").removesuffix("}")
        kind = nodes.superscript if found["up"] else nodes.subscript
        made += [nodes.Text(text[done : found.start()]), kind("", "", *_pieces(inside))]
        done = found.end()
    return [*made, nodes.Text(text[done:])]


FORMULA = re.compile(r"[=≤≥∝∈→<]")
NO_FORMULA = re.compile(r"import |print\(|ex\.|extremal |\$ |^\s*#|\"|──|  [\w.%]+  ", flags=re.M)


def formulas(_app: Any, doctree: Any) -> None:
    """Indented blocks that hold mathematics are set as such: upright operators, exponents above the line."""
    for block in list(doctree.findall(nodes.literal_block)):
        text = block.astext()
        if (
            block.get("language") not in (None, "none", "default")
            or not FORMULA.search(text)
            or NO_FORMULA.search(text)
        ):
            continue
        if len(text.splitlines()) > MOST_FORMULA_LINES:
            continue
        lines = [nodes.line("", "", *_pieces(line.strip())) for line in text.splitlines() if line.strip()]
        block.replace_self(nodes.line_block("", *lines, classes=["formula"]))


MOST_FORMULA_LINES = 6  # a longer block is a listing


def npm_package(name: str) -> Path | None:
    """A package of npm, installed beside the build; None where there is no npm, or EXTREMAL_INSTALL=no."""
    folder = HERE.parent / "out" / "npm"
    held = folder / "node_modules" / name
    if not held.exists() and shutil.which("npm") is not None and os.environ.get("EXTREMAL_INSTALL") != "no":
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), PYODIDE]
        subprocess.run(command, check=False, timeout=180)
    return held if held.exists() else None


PYODIDE = "pyodide@314"  # Python for browsers; its major version is what the tests decide files with


def copy_pages(app: Any, error: Exception | None) -> None:
    """The explorer and the checker stand beside the pages of the site."""
    if error is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir) / "explorer"
    folder.mkdir(exist_ok=True)
    for name, data in pages().items():
        (folder / name).write_bytes(
            data.replace(b'class="brand">extremal ', b'class="brand"><a href="../index.html">extremal</a> ')
        )
    write_check_page(Path(app.outdir) / "check", npm_package("pyodide"))


def gallery_of_pictures(_app: Any) -> None:
    """`gallery/pictures.inc`: a picture with its title for every example that was run."""
    lines = []
    for room in GALLERY:
        header = (HERE.parent / "examples" / room / "GALLERY_HEADER.rst").read_text(encoding="utf-8").splitlines()
        lines += [f"## {header[0]}", "", ":::{container} pictures", ""]
        for script in sorted((HERE.parent / "examples" / room).glob("*.py")):
            title = script.read_text(encoding="utf-8").split('"""')[1].strip().splitlines()[0]
            thumb = HERE / "gallery" / room / "images" / "thumb" / f"sphx_glr_{script.stem}_thumb.png"
            whole = thumb.parents[1] / f"sphx_glr_{script.stem}_001.png"  # a thumbnail's letters cannot be read
            shown = whole if whole.exists() else thumb
            picture = f"![]({shown.relative_to(HERE / 'gallery')})" if shown.exists() else ""
            lines += [f"[{picture} {title}]({room}/{script.stem}.rst)", ""]
        lines += [":::", ""]
    _write(HERE / "gallery" / "pictures.inc", "\n".join(lines))


def without_constructor(_app: Any, what: str, _name: str, held: Any, *_: Any) -> tuple[str, None] | None:
    """What functions return is not made by hand: its attributes are listed, its constructor is not."""
    return ("", None) if what == "class" and "Attributes:" in (held.__doc__ or "") else None


def setup(app: Any) -> None:
    for kind in PyObject.doc_field_types:
        kind.label = "Attributes" if kind.name == "variable" else kind.label
    app.connect("autodoc-process-signature", without_constructor)
    app.connect("doctree-read", formulas, priority=400)
    app.connect("doctree-read", raised_and_lowered)
    app.connect("builder-inited", gallery_of_pictures, priority=900)  # after the gallery was run
    app.connect("build-finished", copy_pages)
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", as_plain_words, priority=400)  # before napoleon reads sections
    app.connect("autodoc-process-docstring", with_colons, priority=600)
