"""The same randomised reports, estimated by extremal, multi-freq-ldpy and pure-ldp: bias and error of each.

k = 100, n = 10,000, ε = 1, randomised response; 20 cells hold everybody, 80 are empty. Prints the table of
docs/estimate/index.md; with --plot FILE draws its picture. Seeded: the numbers are the same every time.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import extremal as ex

K, N, EPSILON, EMPTY, REPEATS, SEED = 100, 10_000, 1.0, 80, 200, 7


def truth() -> np.ndarray:
    weights = 1 / np.arange(1, K - EMPTY + 1)
    return np.concatenate([weights / weights.sum(), np.zeros(EMPTY)])


def estimators() -> dict[str, Any]:
    """Each maps reports to frequencies; defaults of each library first."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_IBU, GRR_Aggregator_MI
    from pure_ldp.frequency_oracles.direct_encoding import DEServer

    mechanism = ex.randomized_response(K, EPSILON)

    def pure_ldp(reports: np.ndarray, normalization: int) -> np.ndarray:
        server = DEServer(EPSILON, K, index_mapper=lambda x: x)
        server.aggregate_all(reports)
        return np.asarray(server.estimate_all(range(K), suppress_warnings=True, normalization=normalization)) / N

    return {
        "extremal .estimate (unbiased)": lambda r: ex.estimate_frequencies(r, mechanism).estimate,
        "extremal .shown (default table)": lambda r: ex.estimate_frequencies(r, mechanism).shown,
        "extremal mle": lambda r: ex.estimate_frequencies(r, mechanism, method="mle").estimate,
        "extremal projected": lambda r: ex.estimate_frequencies(r, mechanism, method="projected").estimate,
        "multi-freq-ldpy MI (default)": lambda r: GRR_Aggregator_MI(r, K, EPSILON),
        "multi-freq-ldpy IBU": lambda r: GRR_Aggregator_IBU(r, K, EPSILON),
        "pure-ldp (default)": lambda r: pure_ldp(r, 0),
        "pure-ldp additive": lambda r: pure_ldp(r, 1),
        "pure-ldp simplex": lambda r: pure_ldp(r, 2),
    }


def simulate() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Estimates, repeats × cells, by estimator; and how many of our intervals hold the truth, by cell."""
    generator, p = np.random.default_rng(SEED), truth()
    mechanism = ex.randomized_response(K, EPSILON)
    keep = mechanism.matrix[0, 0] - mechanism.matrix[0, 1]  # answer truly with this probability, else uniformly
    methods = estimators()
    found: dict[str, list[np.ndarray]] = {name: [] for name in methods}
    held = np.zeros(K)
    for _ in range(REPEATS):
        values = generator.choice(K, size=N, p=p)
        reports = np.where(generator.random(N) < keep, values, generator.integers(0, K, size=N))
        for name, method in methods.items():
            found[name].append(method(reports))
        limits = ex.estimate_frequencies(reports, mechanism).interval()
        held += (limits[:, 0] <= p) & (p <= limits[:, 1])
    return {name: np.array(rows) for name, rows in found.items()}, held / REPEATS


def table(found: dict[str, np.ndarray]) -> None:
    p = truth()
    empty = p == 0
    print(
        f"| estimator | mass on the 80 empty cells in one survey | distance to the truth | bias of the largest cell "
        f"({p[0]:.3f}) | RMSE of a cell |"
    )
    print("|---|---|---|---|---|")
    for name, rows in found.items():
        mean = rows.mean(axis=0)
        error = np.sqrt(((rows - p) ** 2).mean())
        mass = np.abs(rows[:, empty]).sum(axis=1).mean()
        distance = np.abs(rows - p).sum(axis=1).mean() / 2
        print(f"| {name} | {mass:.2f} | {distance:.3f} | {mean[0] - p[0]:+.4f} | {error:.4f} |")
    spread = found["extremal .estimate (unbiased)"].std(axis=0) / np.sqrt(REPEATS)
    print(f"\n{REPEATS} surveys; the mean of an unbiased cell has a standard error of {spread.mean():.4f} here.")


def draw(found: dict[str, np.ndarray], file: str) -> None:
    from matplotlib.figure import Figure

    p, cells = truth(), np.arange(1, K + 1)
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    shown = {
        "extremal .shown (default table)": ("C0", "o"),
        "extremal mle": ("C2", "s"),
        "multi-freq-ldpy MI (default)": ("C3", "v"),
        "pure-ldp simplex": ("C1", "^"),
    }
    for name, (colour, marker) in shown.items():
        left.plot(cells, found[name].mean(axis=0), marker, color=colour, markersize=4, alpha=0.8, label=name)
    left.step(cells, p, where="mid", color="black", linewidth=1.2, label="truth")
    left.set_xscale("log")
    left.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    left.set_xlabel("cell, logarithmic (1–20 hold everybody, 21–100 are empty)")
    left.set_ylabel(f"mean estimated frequency over {REPEATS} surveys")
    left.legend(fontsize="small")
    names = list(found)
    mass = [float(np.abs(found[name][:, p == 0]).sum(axis=1).mean()) for name in names]
    right.barh(names, mass, color=[shown.get(name, ("0.6", ""))[0] for name in names])
    right.invert_yaxis()
    right.axvline(0, color="black", linewidth=0.8)
    right.set_xlim(-0.03, max(mass) * 1.2)
    for y, value in enumerate(mass):
        right.text(max(value, 0) + 0.01, y, f"{value:.2f}", va="center", fontsize="small")
    right.set_xlabel("mass on empty cells, one survey")
    figure.suptitle(
        f"The same reports, each library's estimate: k = {K}, n = {N:,}, ε = {EPSILON:g}", fontsize="medium"
    )
    figure.savefig(file, dpi=140)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    estimates, coverage = simulate()
    table(estimates)
    empty = truth() == 0
    full, none = coverage[~empty].mean(), coverage[empty].mean()
    print(f"95% intervals of extremal hold the truth in {full:.3f} (full cells) and {none:.3f} (empty ones).")
    if options.plot:
        draw(estimates, options.plot)
