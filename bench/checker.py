"""How long the checker that stands alone takes: `python -I -S check.py FILE`, by kind of proof, at 10 to 1,000 inputs.

Each file is the certificate of a design. Printed: the kinds of its proofs, its size, processor seconds of the one file
(0.2 of them to read itself), processor seconds of `extremal.verify` on the same file, and the verdicts. A design that
takes too long, or that there is no method for, is left out. Give numbers of inputs, or words of names, as arguments.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex
from extremal.checker import joined

SIZES = (10, 100, 1000)
LONGEST = 150  # seconds for a design, and for a verdict


def prior(k: int, seed: int) -> list[float]:
    """Any prior."""
    return [float(p) for p in np.random.default_rng(seed).dirichlet(np.ones(k))]


def line(k: int) -> list[list[float]]:
    """Distances along a line of length 1."""
    return [[abs(x - z) / (k - 1) for z in range(k)] for x in range(k)]


PROBLEMS: dict[str, Callable[[int], Any]] = {
    "KL, LDP": lambda k: ex.design(ex.LDP(1), ex.KL(prior(k, 1), prior(k, 2))),
    "KL, PML": lambda k: ex.design(ex.PML(1, prior(k, 3)), ex.KL(prior(k, 1), prior(k, 2))),
    "KL, (1, 0.05)-LDP": lambda k: ex.design(ex.LDP(1, "0.05"), ex.KL(prior(k, 1), prior(k, 2))),
    "KL, metric": lambda k: ex.design(ex.MetricPrivacy(1, line(k)), ex.KL(prior(k, 1), prior(k, 2))),
    "information, LDP": lambda k: ex.design(ex.LDP(1), ex.MutualInformation(prior(k, 1))),
    "information, LDP, uniform": lambda k: ex.design(ex.LDP(1), ex.MutualInformation([1 / k] * k)),
    "information, PML": lambda k: ex.design(ex.PML(1, prior(k, 1)), ex.MutualInformation(prior(k, 1))),
    "eight pairs, LDP": lambda k: ex.design(
        ex.LDP(1), ex.Average([ex.KL(prior(k, i), prior(k, 0)) for i in range(1, 9)])
    ),
    "Hamming, LDP": lambda k: ex.design(ex.LDP(1), ex.Hamming(prior(k, 1))),
    "Hamming of a ball, LDP": lambda k: ex.design(ex.LDP(1), ex.Hamming(ex.SourceClass.ball(prior(k, 1), "0.1"))),
    "least ε within 0.3": lambda k: ex.smallest_epsilon(prior(k, 1), "0.3"),
    "shares, uniform, LDP": lambda k: ex.design(ex.LDP(1), ex.Frequencies(k)),
    "shares, LDP": lambda k: ex.design(ex.LDP(1), ex.Frequencies(prior(k, 1))),
    "distribution function, LDP": lambda k: ex.design(ex.LDP(1), ex.CDF(k)),
    "mean, LDP": lambda k: ex.design(ex.LDP(1), ex.Mean(list(range(k)))),
}


def kinds_of(content: dict[str, Any]) -> list[str]:
    """The kinds of a proof and of what is nested in it."""
    inner = [v for value in content.values() for v in (value if isinstance(value, list) else [value])]
    return [content["kind"], *(kind for v in inner if isinstance(v, dict) for kind in kinds_of(v))]


def too_long(*_: Any) -> None:
    raise TimeoutError


def measured(make: Callable[[int], Any], k: int, folder: Path) -> str:
    """One row of the table."""
    signal.alarm(LONGEST)
    certificate = make(k).certificate
    signal.alarm(0)
    path = certificate.save(folder / "file.json", overwrite=True)
    start = time.process_time()
    kernel = ex.verify(path)
    ours = time.process_time() - start
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [sys.executable, "-I", "-S", str(folder / "check.py"), str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=LONGEST * 4)
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    said = [line.split(maxsplit=1)[1] for line in done.stdout.splitlines()[1:4]]
    proofs = "; ".join(" ".join(f"`{kind}`" for kind in kinds_of(p.to_json())) for p in certificate.proofs)
    same = said == [str(kernel.privacy), str(kernel.value), str(kernel.optimality)]
    verdict = "the same" if same else ", ".join(said)
    return f"{proofs} | {path.stat().st_size / 1000:,.0f} | {theirs:.2f} | {ours:.2f} | {verdict} |"


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:] if word.isdecimal()] or SIZES
    words = [word for word in sys.argv[1:] if not word.isdecimal()]
    signal.signal(signal.SIGALRM, too_long)
    print("| problem | inputs | proofs | kB | check.py, s | kernel, s | verdicts |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "check.py").write_text(joined(), encoding="utf-8")
        for problem, make in PROBLEMS.items():
            for k in sizes if not words or any(word in problem for word in words) else ():
                try:
                    row = measured(make, k, Path(name))
                except (ex.ExtremalError, TimeoutError, subprocess.TimeoutExpired) as error:
                    row = f"{type(error).__name__} | | | | |"
                finally:
                    signal.alarm(0)
                print(f"| {problem} | {k:,} | {row}", flush=True)


if __name__ == "__main__":
    main()
