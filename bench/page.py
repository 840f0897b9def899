"""The one entry of the benchmarks: measures, stores the ratios, and writes its part of docs/reference/benchmarks.md.

    python bench/page.py                   measure everything, write the page, its pictures and bench/stored/
    python bench/page.py --only files      measure one section again; the others stay as they are stored
    python bench/page.py --page            write the page again from what is stored
    python bench/page.py --check           measure what is stored again; fail when a ratio is more than 30% worse
    python bench/page.py --profile         where the time of the hot paths goes

Processor seconds, the least of several runs that take turns with the peer's: wall-clock time on a shared machine says
little. Every measurement runs in a process of its own, with one thread for BLAS, and says its largest memory. A peer
that is not installed is left out and named. The other scripts of this folder print more about their own corners.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE, IMAGES = ROOT / "docs/reference/benchmarks.md", ROOT / "docs/images"
STORED, MEASURED = HERE / "stored/ratios.json", HERE / "stored/measured.json"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
WORSE = 1.3  # a stored ratio may get worse by this
AGAIN = 2  # times that something worse is measured again before it counts: a busy machine is not a slow program
MINUTE = 60  # seconds of processor time that a solver gets for one program
PATIENCE = 3  # times as many seconds of the clock on the wall
SOLVERS = ("scipy", "highspy", "cvxpy", "qif")
PEERS = [
    "scipy",
    "highspy",
    "cvxpy",
    "qif",
    "numpy",
    "numba",
    "pyarrow",
    "polars",
    "multi-freq-ldpy",
    "pure-ldp",
    "opendp",
    "diffprivlib",
    "matplotlib",
]

Row = dict[str, Any]
"""name, seconds, memory (GB), peer, peer_seconds, note; a ratio is seconds/peer_seconds, small is good."""

SECTIONS: dict[str, tuple[str, str]] = {
    "programs": (
        "The best divergence against the program over all 2^k columns",
        f"""KL between two Dirichlet(1) pairs, ε = 1. `ex.design` with everything it checks, against the linear program
over the 2^k − 2 staircase columns in three solvers, which get {MINUTE} s of processor time and return no proof; a
solver that is missing at some k did not come to its end in that time. Last, least squared error under a metric, which
libqif solves as one linear program.""",
    ),
    "symbols": (
        "Growth in the number of symbols",
        """Whole calls of `ex.design` and `ex.verify` on Dirichlet(1) priors; the peer is `np.argsort` of the
likelihood ratios (which only sorts).""",
    ),
    "designs": (
        "Designs with a promised gap",
        """Whole calls of `ex.design` on ordered goals, small δ, several hypotheses and classes of priors, with all that
is checked, and `ex.verify` of them; at 1,000 inputs with `time_limit=70`, once with `report_bits=13`. The yardstick is
`np.linalg.eigh` of a symmetric matrix of 1,000 rows. `make bench-check` fails as well when a gap is above what is
promised.""",
    ),
    "release": (
        "Reports a second",
        """k-ary randomised response, ε = 1, on integer codes: seconds for a million values. Ours are exact and drawn
from a stream cipher; only OpenDP among the peers claims as much. Peers that take one value at a time were given 2,000
(diffprivlib, OpenDP) or 100,000.""",
    ),
    "values": (
        "Growth in the number of values",
        "One call of `privatize` on integer codes, k = 10; the peer is NumPy drawing as many floats from PCG64.",
    ),
    "estimates": (
        "Estimates",
        """A million reports of randomised response, k = 10: `ex.estimate_frequencies` with standard errors and
intervals, against points only.""",
    ),
    "files": (
        "Files",
        """`privatize` of a column of strings beside four other columns, against the fastest way to copy the same file:
pyarrow for Parquet (same codec, same row groups), pyarrow and polars for CSV (quoted: every text is).""",
    ),
}

FOREWORD = """`make bench` measures this section and writes it, with its pictures and the ratios that `make bench-check`
holds later versions to (it fails when one is more than 30% worse). Processor seconds of one thread, the least of
several runs that took turns; a ratio is our time over the peer's, so below 1 we are faster."""


# -- comparing -------------------------------------------------------------------------------------------------------


def ratios(measured: Mapping[str, list[Row]]) -> dict[str, float]:
    """What is stored and checked: our time over the peer's, by section, call and peer."""
    return {
        f"{section}: {row['name']} / {row['peer']}": row["seconds"] / row["peer_seconds"]
        for section, rows in measured.items()
        for row in rows
        if row.get("peer_seconds") and row.get("seconds")
    }


def worsened(now: Mapping[str, float], before: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """The ratios that are more than 30% worse than they were, with what they were; new ones and gone ones are not."""
    return {name: (now[name], before[name]) for name in now if name in before and now[name] > WORSE * before[name]}


def loose(rows: list[Row]) -> list[str]:
    """The designs whose gap is above what is promised."""
    return [row["name"] for row in rows if row.get("gap", 0.0) > row.get("promised", math.inf)]


def growth(points: list[tuple[float, float]]) -> float:
    """The exponent between the first and the last of (size, seconds)."""
    (low, fast), (high, slow) = points[0], points[-1]
    return math.log(slow / fast) / math.log(high / low)


# -- measuring -------------------------------------------------------------------------------------------------------


def measure(section: str, quick: bool = False) -> list[Row]:
    """Each measurement of a section in a process of its own."""
    import measurements

    rows: list[Row] = []
    hopeless: set[str] = set()
    for job in measurements.jobs(section, quick):
        kind = job[0]
        if kind in hopeless:
            continue
        found = _in_a_child(job)
        if found is None:
            hopeless.add(kind)
            print(f"  {section} {job}: not within the limits", flush=True)
            continue
        rows += found
        for row in found:
            print(f"  {shown(row)}", flush=True)
    return rows


def _in_a_child(job: tuple[Any, ...]) -> list[Row] | None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, str(HERE / "measurements" / "__main__.py"), json.dumps(job)]
    # (A limit on processor time would make the clock coarse.)
    limit = PATIENCE * MINUTE if job[0] in SOLVERS else None
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if ran.returncode:
        lines = ran.stderr.strip().splitlines()
        if not lines or ("ImportError" not in lines[-1] and "ModuleNotFoundError" not in lines[-1]):
            print(f"  {job}: ended with {ran.returncode} {lines[-1] if lines else ''}", file=sys.stderr)
        return None
    rows = list(json.loads(ran.stdout.splitlines()[-1]))
    return None if limit and rows[0]["peer_seconds"] > MINUTE else rows


def shown(row: Row) -> str:
    peer = (
        f"  {row['peer']}: {row['peer_seconds']:.3g} s, ratio {row['seconds'] / row['peer_seconds']:.3g}"
        if row.get("peer_seconds")
        else ""
    )
    return f"{row['name']}: {row['seconds']:.3g} s{peer}  {row.get('note', '')}"


# -- the page --------------------------------------------------------------------------------------------------------


def page(measured: Mapping[str, list[Row]], about: Mapping[str, str]) -> str:
    """The part of the page that is measured, as Markdown."""
    lines = [
        FOREWORD,
        "",
        f"Measured {about['date']} on {about['machine']}, Python {about['python']}: {about['versions']}.",
        "",
    ]
    for section, (title, text) in SECTIONS.items():
        rows = measured.get(section, [])
        if not rows:
            continue
        lines += [
            f"### {title}",
            "",
            text,
            "",
            "| call | seconds | memory, GB | peer | its seconds | ratio | |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            peer = row.get("peer_seconds")
            ratio = f"{row['seconds'] / peer:.2g}" if peer else ""
            memory = f"{row['memory']:.2f}" if row.get("memory") else ""
            lines.append(
                f"| {row['name']} | {row['seconds']:.3g} | {memory} | {row.get('peer') or ''} | "
                f"{f'{peer:.3g}' if peer else ''} | {ratio} | {row.get('note', '')} |"
            )
        lines += ["", f"`python bench/page.py --only {section}` measures it again.", ""]
        picture = IMAGES / f"bench_{section}.png"
        if picture.exists():
            lines += [f"![{title}](../images/{picture.name})", ""]
        lines += _exponents(section, rows)
    lines += ["### Where a peer is faster", ""]
    slower = [
        f"{row['name']}: {row['peer']} takes {row['peer_seconds'] / row['seconds']:.2g} of our time"
        for section, rows in measured.items()
        for row in rows
        if section != "designs" and row.get("peer_seconds") and row["seconds"] > row["peer_seconds"]
    ]
    lines += [f"- {sentence}." for sentence in slower] or ["Nowhere in these tables."]
    missing = sorted(name for name in PEERS if name not in about["versions"])
    if missing:
        lines += ["", f"Not installed here, so not compared: {', '.join(missing)}."]
    return "\n".join(lines)


def _exponents(section: str, rows: list[Row]) -> list[str]:
    series: dict[str, list[tuple[float, float]]] = {}
    gaps: dict[str, list[str]] = {}
    for row in rows:
        if row.get("series"):
            series.setdefault(row["series"], []).append((row["size"], row["seconds"]))
            gaps.setdefault(row["series"], []).extend([f"{row['gap']:.2g}"] if "gap" in row else [])
    said = [
        f"{name}: exponent {growth(sorted(points)):.2f} from {min(points)[0]:,.0f} to {max(points)[0]:,.0f}"
        + (f", gaps {', '.join(gaps[name])}" if gaps[name] else "")
        for name, points in series.items()
        if len(points) > 1
    ]
    return [f"Growth: {'; '.join(said)}.", ""] if said and section != "programs" else []


def pictures(measured: Mapping[str, list[Row]]) -> None:
    """Seconds over size, one picture a section that grows."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    for section, label in (("programs", "inputs"), ("symbols", "symbols"), ("values", "values")):
        series: dict[str, dict[float, float]] = {}
        for row in measured.get(section, []):
            if row.get("size"):
                series.setdefault(row["series"], {})[row["size"]] = row["seconds"]
                if row.get("peer_seconds"):
                    series.setdefault(row["peer"], {})[row["size"]] = row["peer_seconds"]
        if not series:
            continue
        figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        for name, points in series.items():
            axes.plot(*zip(*sorted(points.items()), strict=True), marker="o", label=name)
        axes.set(xlabel=label, ylabel="processor seconds", yscale="log")
        if section != "programs":
            axes.set(xscale="log")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        figure.savefig(IMAGES / f"bench_{section}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


def about() -> dict[str, str]:
    found = {}
    for name in ("extremal", *PEERS):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "versions": ", ".join(f"{name} {number}" for name, number in found.items()),
    }


def written(measured: Mapping[str, list[Row]], facts: Mapping[str, str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{page(measured, facts)}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def check(now: Mapping[str, float], before: Mapping[str, float]) -> int:
    """Say what is worse; 1 when something is."""
    worse = worsened(now, before)
    for name, (ratio, was) in worse.items():
        print(f"worse: {name}: {ratio:.3g} against {was:.3g}", file=sys.stderr)
    print(f"{len(set(now) & set(before))} ratios compared, {len(worse)} more than 30% worse")
    return int(bool(worse))


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", action="append", choices=SECTIONS)
    options.add_argument("--stored", type=Path, default=STORED, help="the ratios to hold to")
    for flag in ("--check", "--page", "--profile"):
        options.add_argument(flag, action="store_true")
    chosen = options.parse_args(arguments)
    sys.path.insert(0, str(HERE))
    if chosen.profile:
        import measurements

        measurements.profile()
        return 0
    wanted = [] if chosen.page else chosen.only or list(SECTIONS)
    if chosen.check:
        before, now, wide = json.loads(chosen.stored.read_text(encoding="utf-8")), {}, list[str]()
        for section in wanted:
            print(f"== {section}", flush=True)
            rows = measure(section, quick=True)
            now, wide = now | ratios({section: rows}), wide + loose(rows)
            for _ in range(AGAIN):
                if not worsened(now, before).keys() & {name for name in now if name.startswith(f"{section}:")}:
                    break
                again = ratios({section: measure(section, quick=True)})
                now |= {name: min(ratio, now[name]) for name, ratio in again.items()}
        for name in wide:
            print(f"above its promised gap: {name}", file=sys.stderr)
        return max(check(now, before), int(bool(wide)))
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for section in wanted:
        print(f"== {section}", flush=True)
        rows = measure(section)
        measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
        measured[section] = rows
        MEASURED.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    STORED.write_text(json.dumps(ratios(measured), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    pictures(measured)
    written(measured, about())
    return 0


if __name__ == "__main__":
    sys.exit(main())
