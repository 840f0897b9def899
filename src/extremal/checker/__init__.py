"""A checker that anyone can carry: mechanisms and certificates decided by the standard library of Python alone.

Written from the pages on proofs and on the mechanism file, and from nothing else: no module of it imports any other
part of the package, and no line is the kernel's. `joined` makes one file of its modules, in the order in which they
are to be read; `extremal checker` writes that file.
"""

from __future__ import annotations

import ast
from importlib import resources

ORDER = (
    "numbers",
    "grammar",
    "sources",
    "notions",
    "goals",
    "structures",
    "mechanisms",
    "worths",
    "matrices",
    "costs",
    "questions",
    "values",
    "cones",
    "set_trees",
    "reasons",
    "squares",
    "compact",
    "proofs",
    "contours",
    "shuffles",
    "verdicts",
)
"""The modules, each after those that it uses."""

HEAD = '''\
#!/usr/bin/env python3
"""Decide the claims of files of `extremal` (mechanisms, certificates, shuffled reports) by the standard library alone.

    python -I -S check.py FILE…

Privacy is decided on the whole weights, the value is enclosed between rationals, and the bound is derived again from
every proof. The statements are those of the pages "Proofs" and "The mechanism file", whose sections (§) are named.

Each claim is proved, refuted, not proven (nothing that can be checked), or not decided here (more work than this file
takes on, which is never a pass). Exit codes: 0 everything claimed is proved; 1 a claim is false or a proof refused;
2 malformed; 3 nothing is false, but something is not proven or not decided here.
"""

from __future__ import annotations

'''
RULER = "# " + "=" * 118
TAIL = """

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def joined() -> str:
    """All modules as one file: their imports at its top, each module's docstring as the heading of its section."""
    texts = [resources.files(__name__).joinpath(f"{name}.py").read_text(encoding="utf-8") for name in ORDER]
    trees = [ast.parse(text) for text in texts]
    nodes = [node for tree in trees for node in tree.body]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not str(node.module).startswith((__name__, "__future__")):
            names.setdefault(str(node.module), set()).update(alias.name for alias in node.names)
    top = [f"import {name}" for name in sorted(plain)]
    top += [f"from {name} import {', '.join(sorted(found, key=_order))}" for name, found in sorted(names.items())]
    sections = map(_section, texts, trees)
    return HEAD + "\n".join(top) + "\n\n" + "\n\n\n".join(sections) + "\n" + TAIL


def _section(text: str, tree: ast.Module) -> str:
    """A module without its imports, its docstring as a heading."""
    last = max(node.end_lineno or 0 for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))
    said = ["#" if not line else f"# {line}" for line in str(ast.get_docstring(tree)).splitlines()]
    rest = "\n".join(text.splitlines()[last:]).strip("\n")
    return "\n".join([RULER, *said, RULER, "", "", rest])


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as imports are sorted."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2, name
