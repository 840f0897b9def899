"""Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016): Figures 2 to 10.

Figure 1 is a diagram of the setting; there is nothing to compute in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from extremal.closed_forms import binary, binary_for_information, geometric, quaternary, randomized_response
from extremal.mechanism import Mechanism
from extremal.plotting import figure
from extremal.reproduce.figure import Columns, Figure, Progress, Reproduced, add_row, paragraph
from extremal.reproduce.instances import COUNT, SEED, Experiment, Floats, experiment, pairs
from extremal.reproduce.style import STYLES, draw_forms, heat_map, labelled
from extremal.theory import ErrorRegion, binary_threshold, error_region, error_region_of
from extremal.theory.error_regions import ROUNDING
from extremal.utility import KL, MutualInformation, TotalVariation

SIZES = (3, 4, 6, 12)
SHARES = (0.55, 0.65, 0.70, 0.75)
NAMES = {"divergence": "D(M₀‖M₁) / D(P₀‖P₁)", "information": "I(X;Y) / H(X)"}


def staircases(progress: Progress) -> Reproduced:
    """Figure 2: the binary mechanism and randomised response as matrices."""
    epsilon, p0, p1 = 1.0, [0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.2, 0.1, 0.3, 0.3]
    made = {"binary": binary(p0, p1, epsilon), "randomised response": randomized_response(5, epsilon)}
    progress(1.0)

    def draw() -> Any:
        drawn, axes = figure(9.0, 3.6, columns=2)
        for axis, (name, mechanism) in zip(axes, made.items(), strict=True):
            heat_map(drawn, axis, mechanism.matrix)
            axis.set_title(f"{name}, ε = {epsilon:g}", fontsize=10)
        return drawn

    return Reproduced(
        paragraph("""Two staircase mechanisms for five inputs: in each column the larger entries are e^ε times the
        smaller. The binary mechanism reports whether P₀(x) ≥ P₁(x); randomised response reports x itself more often
        than any other input. Agrees with the paper (equations 14 and 15)."""),
        {name.split()[0]: _matrix(mechanism) for name, mechanism in made.items()},
        draw,
    )


def averages(kind: str, progress: Progress) -> Reproduced:
    """Figures 3 and 6: mean share kept, and the worst instance against the optimum, six inputs."""
    found = experiment(kind, 6, progress=progress)
    mean: Columns = {"epsilon": found.epsilons, **{form: found.average(form).tolist() for form in found.values}}
    forms = ("binary", "randomised response", "geometric")
    worst: Columns = {"epsilon": found.epsilons, **{f: found.ratio(f).min(axis=0).tolist() for f in forms}}

    def draw() -> Any:
        drawn, (left, right) = figure(10.0, 4.0, columns=2)
        draw_forms(left, mean, found.values)
        for form in forms:
            right.plot(found.epsilons, found.ratio(form).T, color=STYLES[form]["color"], linewidth=0.3, alpha=0.25)
        draw_forms(right, worst, forms)
        labelled(left, "privacy level ε (nats)", NAMES[kind], f"mean of {COUNT} instances")
        labelled(
            right, "privacy level ε (nats)", "share of the optimum", f"all {COUNT} instances (thin), worst of them"
        )
        right.set_ylim(0, 1.04)
        left.legend(frameon=False, fontsize=9)
        return drawn

    lowest = {form: float(found.ratio(form).min()) for form in forms}
    return Reproduced(_said_of_averages(kind, found, lowest), {"mean": mean, "worst": worst}, draw, SEED)


def _said_of_averages(kind: str, found: Experiment, lowest: dict[str, float]) -> str:
    two = f"binary {lowest['binary']:.1%}, randomised response {lowest['randomised response']:.1%} of the optimum"
    best = found.ratio("binary")[:, 0] > 1 - 1e-8
    if kind == "divergence":
        return paragraph(f"""Six inputs, {COUNT} random pairs. Left: agrees with the paper: binary follows the optimum
        for small ε, randomised response for large, and both are far above the geometric mechanism (clamped, erratum
        E7; the formula printed is no mechanism). Right, every instance thin: at the wrong ε, {two} in the worst case
        (the paper's caption: as bad as 10%; its text: 25% for binary). Binary is exactly optimal at ε = 0.1 in
        {int(best.sum())} of {COUNT}.""")
    geo, two_ = found.average("geometric")[-1], found.average("binary")[-1]
    return paragraph(f"""Six inputs, {COUNT} random priors (P₀ of each pair). Left: agrees but for one sentence: that
    both mechanisms improve on the geometric one in all regimes is not so for the binary mechanism and information at
    large ε (at ε = 10: geometric {geo:.3f}, binary {two_:.3f}). Right, every instance thin: at the wrong ε, {two} in
    the worst case (the paper: each as bad as 35%). Binary is exactly optimal at ε = 0.1 in {int(best.sum())} of
    {COUNT} (erratum E6 has the condition).""")


def mixed(kind: str, progress: Progress) -> Reproduced:
    """Figures 4 and 7: the better of the two against the optimum for 3, 4, 6 and 12 inputs."""
    found = {}
    for i, k in enumerate(SIZES):
        found[k] = experiment(kind, k, progress=lambda share, i=i: progress((i + share) / len(SIZES)))  # type: ignore[misc]
    ratios = {k: found[k].ratio("mixed") for k in SIZES}
    epsilons = found[SIZES[0]].epsilons
    curves: dict[str, Any] = {"epsilon": epsilons}
    for k in SIZES:
        curves |= {f"k={k} worst": ratios[k].min(axis=0).tolist(), f"k={k} mean": ratios[k].mean(axis=0).tolist()}
    claims = {"divergence": {6: 0.70, 12: 0.55}, "information": {6: 0.75, 12: 0.65}}[kind]
    said = " ".join(_judged(k, claim, ratios[k].min(axis=1)) for k, claim in claims.items())
    return Reproduced(
        f"The better of binary and randomised response as a share of the optimum, {COUNT} random instances for each "
        f"size (thin), ε from 0.1 to 10. {said}",
        {"summary": _summary(found, ratios), "curves": curves},
        partial(_draw_mixed, epsilons, ratios),
        SEED,
    )


def _summary(found: dict[int, Experiment], ratios: dict[int, Floats]) -> Columns:
    """The worst instance of each size, where it is, and how many have how much."""
    columns: dict[str, list[Any]] = {}
    for k in SIZES:
        worst = ratios[k].min(axis=1)
        row = {
            "k": k,
            "binary": float(found[k].ratio("binary").min()),
            "randomised response": float(found[k].ratio("randomised response").min()),
            "better of the two": float(worst.min()),
            "at epsilon": found[k].epsilons[int(np.argmin(ratios[k].min(axis=0)))],
        }
        add_row(columns, row | {f"instances at {s:.2f} or more": float((worst >= s).mean()) for s in SHARES})
    return columns


def _draw_mixed(epsilons: Sequence[float], ratios: dict[int, Floats]) -> Any:
    drawn, axes = figure(11.0, 3.4, columns=len(SIZES))
    for axis, k in zip(axes, SIZES, strict=True):
        axis.plot(epsilons, ratios[k].T, color="#999999", linewidth=0.4, alpha=0.5)
        axis.plot(epsilons, ratios[k].min(axis=0), label="worst instance", **STYLES["optimum"])
        axis.plot(epsilons, ratios[k].mean(axis=0), label="mean", **STYLES["mean"])
        axis.set_ylim(0.5, 1.01)
        axis.set_title(f"{k} inputs", fontsize=10)
        labelled(axis, "ε (nats)", "better of the two / optimum" if k == SIZES[0] else "")
    axes[0].legend(frameon=False, fontsize=8, loc="lower right")
    return drawn


def _judged(k: int, claim: float, worst: Floats) -> str:
    low, share = float(worst.min()), float((worst >= claim).mean())
    if low >= claim:
        return f"At least {claim:.0%} for {k} inputs, as printed, agrees: {low:.3f} in the worst instance."
    return (
        f"The paper prints at least {claim:.0%} in all instances for {k} inputs; that does not hold: the worst has "
        f"{low:.3f}, and {share:.0%} of the instances have {claim:.0%} or more."
    )


def scaling(kind: str, progress: Progress) -> Reproduced:
    """Figures 5 and 8: each instance against the scaling that the converses predict, ε = 0.1 and ε = 10."""
    k, strong, weak = 6, 0.1, 10.0
    rows: dict[str, list[Any]] = {}
    for i, (p0, p1) in enumerate(pairs(k)):
        add_row(rows, dict(zip(_SCALES[kind], _scaled(kind, p0, p1, strong, weak), strict=True)))
        progress((i + 1) / COUNT)
    x1, best1, geo1, scale1, x2, best2, geo2, scale2 = (np.array(column) for column in rows.values())
    ratios = {"ε=0.1, binary": best1 / scale1, "ε=0.1, geometric": geo1 / scale1}
    ratios |= {"ε=10, randomised response": best2 / scale2, "ε=10, geometric": geo2 / x2}
    summary: dict[str, list[Any]] = {}
    for name, r in ratios.items():
        add_row(summary, {"quantity": name, "min": float(r.min()), "mean": float(r.mean()), "max": float(r.max())})

    def draw() -> Any:
        drawn, (left, right) = figure(10.0, 4.0, columns=2)
        order = np.argsort(x1)
        left.plot(x1[order], scale1[order], color="#444444", linewidth=1, label="scaling of the converse")
        _draw_points(left, x1, {"binary": best1, "geometric": geo1})
        _draw_points(right, x2, {"randomised response": best2, "geometric": geo2})
        right.plot([0, x2.max()], [0, x2.max()], color="#444444", linewidth=1, label="without privacy")
        kept = "D(M₀‖M₁) (nats)" if kind == "divergence" else "I(X;Y) (nats)"
        labelled(left, _SCALES[kind][0], kept, f"ε = {strong:g}")
        labelled(right, _SCALES[kind][4], kept, f"ε = {weak:g}")
        for axis in (left, right):
            axis.legend(frameon=False, fontsize=9)
        return drawn

    above = bool((best1 > geo1).all() and (best2 > geo2).all())
    said = _said_of_scaling(kind, best1 / scale1, best2 / scale2, above)
    return Reproduced(said, {"summary": summary, "instances": rows}, draw, SEED)


def _draw_points(axis: Any, x: Floats, forms: dict[str, Floats]) -> None:
    for form, values in forms.items():
        axis.plot(x, values, **{**STYLES[form], "linestyle": "none"}, label=form)


_SCALES = {
    "divergence": (
        "total variation of P₀ and P₁",
        "binary",
        "geometric at 0.1",
        "(e^ε−1)²/(e^ε+1)·TV²",
        "D(P₀‖P₁) (nats)",
        "randomised response",
        "geometric at 10",
        "limit D(P₀‖P₁)",
    ),
    "information": (
        "P(T)·P(Tᶜ)",
        "binary",
        "geometric at 0.1",
        "½·P(T)·P(Tᶜ)·ε²",
        "H(X) (nats)",
        "randomised response",
        "geometric at 10",
        "H(X) − (k−1)·ε·e^−ε",
    ),
}


def _said_of_scaling(kind: str, strong: Any, weak: Any, above: bool) -> str:
    """`strong`, `weak`: binary and randomised response over the scaling of the converses, for each instance."""
    over = f"Both are above the geometric mechanism in {'every' if above else 'NOT EVERY'} instance, as the paper says."
    off, rest = float(np.abs(strong - 1).max()), float(np.abs(weak - 1).max())
    if kind == "divergence":
        return paragraph(f"""Left: the binary mechanism follows (e^ε−1)²/(e^ε+1)·TV² of equation (16) within {off:.2%}
        in every instance; Corollary 9 prints the difference of probabilities without its square (erratum E8). Right:
        randomised response is within {rest:.2%} of D(P₀‖P₁); the coefficient of e^−ε printed in equation (17) is wrong
        (erratum E4). {over}""")
    return paragraph(f"""Left: the binary mechanism follows ½·P(T)·P(Tᶜ)·ε² of equation (21) within {off:.2%}. Right:
    randomised response follows H − (k−1)·ε·e^−ε of equation (22) within {rest:.3%}; its remainder is of order e^−ε and
    not e^−2ε (erratum E5). {over}""")


def _scaled(kind: str, p0: Any, p1: Any, strong: float, weak: float) -> tuple[float, ...]:
    k = len(p0)
    strong_forms, weak_forms = (geometric(k, strong), geometric(k, weak)), randomized_response(k, weak)
    if kind == "divergence":
        u, tv = KL(p0, p1), TotalVariation(p0, p1)(np.eye(k))
        whole = u(np.eye(k))
        c = math.expm1(strong)
        first = (tv, u(binary(p0, p1, strong)), u(strong_forms[0]), c**2 / (c + 2) * tv**2)
        return (*first, whole, u(weak_forms), u(strong_forms[1]), whole)
    v, two = MutualInformation(p0), binary_for_information(p0, strong)
    larger = two.matrix[:, 0] > 0.5
    product = float(p0[larger].sum() * p0[~larger].sum())
    whole = v(np.eye(k))
    first = (product, v(two), v(strong_forms[0]), product * strong**2 / 2)
    return (*first, whole, v(weak_forms), v(strong_forms[1]), whole - (k - 1) * weak * math.exp(-weak))


def quaternary_region(progress: Progress) -> Reproduced:
    """Figure 9: the quaternary mechanism and its error region."""
    epsilon, delta = 1.0, 0.1
    mechanism = quaternary(epsilon, delta)
    region, limit = error_region(mechanism), error_region_of(epsilon, delta)
    progress(1.0)

    def draw() -> Any:
        drawn, (left, right) = figure(9.6, 4.0, columns=2)
        heat_map(drawn, left, mechanism.matrix, first=0)
        left.set_title(f"quaternary mechanism, ε = {epsilon:g}, δ = {delta:g}", fontsize=10)
        missed, alarm = zip(*region.vertices, region.vertices[0], strict=True)
        right.fill(alarm, missed, color="#cccccc")
        right.plot(alarm, missed, color="#1b6ca8", linewidth=1.6)
        labelled(right, "P_FA: says 1 under 0", "P_MD: says 0 under 1", "its error region")
        right.set_aspect("equal")
        return drawn

    same = limit.contains(region) and region.contains(limit, ROUNDING)
    return Reproduced(
        paragraph(f"""The quaternary mechanism and the pairs of error probabilities of all tests on its report. That
        this is exactly the region which (ε,δ)-LDP allows {"was decided in rationals" if same else "FAILS"}; the two
        inequalities printed also admit (1, 1), which no test reaches (erratum E12)."""),
        {"matrix": _matrix(mechanism, first=0), "corners": _corners(region)},
        draw,
    )


def induced_regions(progress: Progress) -> Reproduced:
    """Figure 10: what the binary mechanism lets one decide contains what any other does, below the threshold."""
    p0, p1, epsilon = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], 0.5
    two, other = binary(p0, p1, epsilon), randomized_response(3, epsilon)
    outer, inner = error_region(two, p0, p1), error_region(other, p0, p1)
    limit = binary_threshold(p0, p1)
    progress(1.0)

    def draw() -> Any:
        drawn, axis = figure(5.2, 4.6)
        for region, form in ((outer, "binary"), (inner, "randomised response")):
            style = {key: STYLES[form][key] for key in ("color", "linestyle")}
            corners = zip(*region.vertices, region.vertices[0], strict=True)
            axis.plot(*corners, label=form, **style, linewidth=1.6)
        labelled(axis, "P_MD: says P₀ under P₁", "P_FA: says P₁ under P₀", f"ε = {epsilon:g}")
        axis.set_aspect("equal")
        axis.legend(frameon=False, fontsize=9)
        return drawn

    return Reproduced(
        paragraph(f"""Error regions of the reports of two mechanisms when inputs follow P₀ = {tuple(p0)} or P₁ =
        {tuple(p1)}. The binary mechanism's contains the other's
        ({"decided in rationals" if outer.contains(inner) else "FAILS"}): below ε* = {limit:.4f} it simulates every
        ε-LDP mechanism for these hypotheses. Agrees with the proof of Theorem 5, with ε* corrected (erratum E2)."""),
        {"binary": _corners(outer), "response": _corners(inner)},
        draw,
    )


def _corners(region: ErrorRegion) -> Columns:
    missed, alarm = zip(*region.vertices, strict=True)
    return {"P_MD": missed, "P_FA": alarm}


def _matrix(mechanism: Mechanism, first: int = 1) -> Columns:
    columns: dict[str, list[Any]] = {"input": list(range(first, first + mechanism.k))}
    return {**columns, **{f"output {first + y}": mechanism.matrix[:, y].tolist() for y in range(mechanism.m)}}


_FORMS = "optimum, binary, randomised response, geometric"
FIGURES = (
    Figure("kov-fig2", "Staircase mechanisms: binary and randomised response", staircases),
    Figure("kov-fig3", f"Divergence over ε: {_FORMS}", partial(averages, "divergence"), 8),
    Figure("kov-fig4", "Divergence: the better of two against the optimum", partial(mixed, "divergence"), 25),
    Figure("kov-fig5", "Divergence: scaling at strong and weak privacy", partial(scaling, "divergence"), 2),
    Figure("kov-fig6", f"Information over ε: {_FORMS}", partial(averages, "information"), 60),
    Figure("kov-fig7", "Information: the better of two against the optimum", partial(mixed, "information"), 300),
    Figure("kov-fig8", "Information: scaling at strong and weak privacy", partial(scaling, "information"), 2),
    Figure("kov-fig9", "The quaternary mechanism and its error region", quaternary_region),
    Figure("kov-fig10", "Error regions of two mechanisms", induced_regions),
)
