"""Does the time of a report tell the value? A million reports on two values at k = 10 and at k = 1,000, in Python (one
value at a time, and columns of a thousand) and on a device (Node, when it is there), the values in random order.

Not a proof: it says how far apart the two means are, in nanoseconds and in standard errors, and how often somebody who
guesses the value from the time of a single report is right. Run with `make audit`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex
from extremal.release.device import write_folder

DRAWS = 1_000_000
COLUMN = 1_000
SCRIPT = """
import { readFile } from "node:fs/promises";
import { loadMechanism, secureWords } from "./randomiser.js";
const mechanism = await loadMechanism(await readFile(new URL("./mechanism.json", import.meta.url), "utf8"));
const [draws, first, last] = process.argv.slice(2).map(Number);
const [words, values] = [secureWords(), [mechanism.inputs.at(first), mechanism.inputs.at(last)]];
const taken = new Float64Array(draws);
const which = new Uint8Array(draws);
for (let i = 0; i < draws; i += 1) which[i] = Number(words() & 1n);
for (let i = 0; i < draws; i += 1) {
  const value = values[which[i]];
  const start = process.hrtime.bigint();
  mechanism.draw(value, words);
  taken[i] = Number(process.hrtime.bigint() - start);
}
const out = [[], []];
for (let i = 0; i < draws; i += 1) out[which[i]].push(taken[i]);
console.log(JSON.stringify(out));
"""


def told(name: str, one: Any, other: Any) -> str:
    """How far apart two samples of times are, the longest hundredth left out: the system's own pauses."""
    cut = np.quantile(np.concatenate([one, other]), 0.99)
    kept = [np.asarray(sample)[np.asarray(sample) <= cut] for sample in (one, other)]
    means = [sample.mean() for sample in kept]
    error = np.sqrt(sum(sample.var() / sample.size for sample in kept))
    places = np.unique(np.concatenate(kept))
    below = [np.searchsorted(np.sort(sample), places, side="right") / sample.size for sample in kept]
    right = 0.5 + np.abs(below[0] - below[1]).max() / 2
    return (
        f"{name:40} {means[0]:9.0f} ns and {means[1]:9.0f} ns: {means[0] - means[1]:+7.1f} ns, "
        f"{(means[0] - means[1]) / error:+6.1f} standard errors; guessed right {100 * right:.2f}%"
    )


def in_python(m: ex.Mechanism, x: int, z: int, draws: int, column: int) -> tuple[Any, Any]:
    """Nanoseconds of calls on one value or on a column of equal ones."""
    which = np.random.default_rng(1).integers(0, 2, draws // column)
    given = [x, z] if column == 1 else [np.full(column, x), np.full(column, z)]
    taken = np.empty(which.size)
    clock = time.perf_counter_ns
    for i, w in enumerate(which.tolist()):
        value = given[w]
        start = clock()
        m.privatize(value)
        taken[i] = clock() - start
    return taken[which == 0], taken[which == 1]


def on_a_device(m: ex.Mechanism, x: int, z: int, draws: int) -> tuple[Any, Any] | None:
    """The same of the script in Node; None where there is none."""
    if shutil.which("node") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        write_folder(folder, m)
        (Path(folder) / "time.js").write_text(SCRIPT)
        command = ["node", str(Path(folder) / "time.js"), str(draws), str(x), str(z)]
        one, other = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return np.array(one), np.array(other)


def main(draws: int = DRAWS) -> int:
    m = ex.randomized_response(10, 1)  # the same value twice: what the method finds where there is nothing
    for name, found in (
        ("device", on_a_device(m, 0, 0, draws)),
        ("one value", in_python(m, 0, 0, draws, 1)),
        (f"columns of {COLUMN:,}", in_python(m, 0, 0, 50 * draws, COLUMN)),
    ):
        if found is not None:
            print(told(f"the same value, {name}", *found), flush=True)
    for k in (10, 1000):
        for name, m in (("randomised response", ex.randomized_response(k, 1)), ("sets", ex.subset_selection(k, 1))):
            x, z = 0, k - 1
            kind = f"{name}, k = {k:,}"
            long = name == "sets" and k == 1000  # 269 members each
            found = on_a_device(m, x, z, draws // 50 if long else draws)
            if found is not None:
                print(told(f"{kind}, device", *found), flush=True)
            if name == "randomised response":
                print(told(f"{kind}, one value", *in_python(m, x, z, draws, 1)), flush=True)
                print(told(f"{kind}, columns of {COLUMN:,}", *in_python(m, x, z, 50 * draws, COLUMN)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
