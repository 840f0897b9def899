"""Every figure and table of the papers, and beyond them, made by `extremal reproduce`: times, sameness, captions.

All are made once, by one process as `extremal reproduce all` does. Those that took up to 15 seconds are made again in
another process, and their files must be the same byte for byte. What is made is compared with the page of the
documentation: every figure is on it, with the caption that was computed now (`--update` writes the page and its
pictures anew); and figures 3, 4, 6 and 7 with the reference tables: the worst instances where the reference has them,
to its three digits; means within 1e-5, because its optima come from a linear program in floats.
"""

from __future__ import annotations

import csv
import hashlib
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from extremal.reproduce import FIGURES

ROOT = Path(__file__).parents[2]
DOCS, REFERENCE = ROOT / "docs", ROOT / "tests" / "data" / "experiments.md"
PAGE, PICTURES = DOCS / "reference" / "reproduce.md", DOCS / "images" / "reproduced"
AGAIN = 15.0  # seconds of one core up to which a figure is made a second time
HEADINGS = {
    "kov": "Kairouz, Oh and Viswanath (2016)",
    "gso": "Grosse, Saeidian and Oechtering (2024)",
    "kss": "Kalantari, Sankar and Sarwate (2016)",
    "beyond": "Beyond the papers",
}


def section(name: str, folder: Path) -> str:
    """What the page says about a figure."""
    title, caption, seed = (folder / f"{name}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    picture = f"![{title}](../images/reproduced/{name}.png)\n\n" if (folder / f"{name}.png").exists() else ""
    return f"### {title}\n\n{picture}{caption} {seed}\n\n`extremal reproduce {name} -o out/`\n"


def page(start: str, folder: Path) -> str:
    """The page: what stands before the first heading of a paper, and a section for each figure."""
    parts, last = [start.rstrip()], ""
    for name in FIGURES:
        paper = name.split("-")[0]
        if paper != last:
            parts.append(f"## {HEADINGS[paper]}")
            last = paper
        parts.append(section(name, folder).rstrip())
    return "\n\n".join(parts) + "\n"


def columns(path: Path) -> dict[str, list[float]]:
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def cells(line: str) -> list[str]:
    return [cell.strip(" *") for cell in line.strip("| ").split("|")]


def against_reference(folder: Path) -> list[str]:
    """What differs from the reference tables by more than its digits."""
    text = REFERENCE.read_text(encoding="utf-8")
    wrong, compared = [], 0
    for utility, mean, mixed, start in (
        ("KL", "kov-fig3", "kov-fig4", "KL / D(P0||P1):"),
        ("MI", "kov-fig6", "kov-fig7", "MI / H(X):"),
    ):
        summary, curves = columns(folder / f"{mixed}-summary.csv"), columns(folder / f"{mixed}-curves.csv")
        for line in (line for line in text.splitlines() if line.startswith(f"| {utility} |") and "(1),0" in line):
            _, k, _, binary, response, least, at, *_ = cells(line)
            i = summary["k"].index(float(k))
            worst = (
                summary["better of the two"][i]
                if at == "-"
                else curves[f"k={k} worst"][curves["epsilon"].index(float(at))]
            )
            pairs = (
                (summary["binary"][i], float(binary)),
                (summary["randomised response"][i], float(response)),
                (worst, float(least.split()[0])),
            )
            wrong += [
                f"{mixed}, k = {k}: {ours:.4f} for {theirs}" for ours, theirs in pairs if abs(ours - theirs) > 6e-4
            ]
            compared += len(pairs)
        means = columns(folder / f"{mean}-mean.csv")
        for line in text.split(start, 1)[1].strip().splitlines()[2:12]:
            epsilon, *values = (float(cell) for cell in cells(line))
            if epsilon not in means["epsilon"]:
                continue
            i = means["epsilon"].index(epsilon)
            for form, theirs in zip(("optimum", "binary", "randomised response", "geometric"), values, strict=True):
                if abs(means[form][i] - theirs) > 1e-5:
                    wrong.append(f"{mean}, ε = {epsilon:g}, {form}: {means[form][i]:.6f} for {theirs}")
                compared += 1
    print(f"compared with the reference tables: {compared} numbers, different: {wrong or 0}", flush=True)
    return wrong


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    bad = 0
    with TemporaryDirectory() as place:
        folder, second = Path(place) / "one", Path(place) / "two"
        quick, whole = [], process_time()
        wall = perf_counter()
        for name, figure in FIGURES.items():
            start = process_time()
            written = figure.write(folder)
            spent = process_time() - start
            if spent <= AGAIN:
                quick.append(name)
            print(f"{name:20} {spent:7.1f} s, {len(written)} files", flush=True)
        print(f"all: {process_time() - whole:.0f} s of one core, {perf_counter() - wall:.0f} s passed", flush=True)
        command = [sys.executable, "-m", "extremal", "reproduce", *quick, "-o", str(second)]
        subprocess.run(command, check=True, capture_output=True)
        made = sorted(second.iterdir())
        changed = [path.name for path in made if digest(path) != digest(folder / path.name)]
        print(f"made twice: {len(quick)} figures, {len(made)} files, different: {changed or 0}", flush=True)
        bad += len(changed) + len(against_reference(folder))
        written_page = PAGE.read_text(encoding="utf-8")
        expected = page(re.split(r"^## ", written_page, maxsplit=1, flags=re.MULTILINE)[0], folder)
        if "--update" in sys.argv:
            PAGE.write_text(expected, encoding="utf-8")
            for picture in folder.glob("*.png"):
                (PICTURES / picture.name).write_bytes(picture.read_bytes())
        elif written_page != expected:
            stale = [name for name in FIGURES if section(name, folder) not in written_page + "\n"]
            print(f"the page of the documentation differs: {stale}; python -m audit.documentation.reproduce --update")
            bad += 1
        else:
            print(f"the page of the documentation has all {len(FIGURES)} figures with these captions")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
