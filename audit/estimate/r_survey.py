"""Eighteen designs against R's survey package: estimates, standard errors and tests to 1e-10.

R does not know mechanisms: it gets what each report contributes to each share, and `svymean` of these numbers must be
what `ex.estimate_frequencies` says; `svyglm` and `svychisq` get answers that nobody randomised. Designs: weights,
strata (one of a single cluster), clusters, both, finite populations of clusters, post-stratification to one margin and
to a joint one, raking (`calibrate`), jackknife (of one group, and stratified with a factor for each replicate),
bootstrap, balanced repeated replication and Fay's variant, and raked replicates. `svychisq` takes the design effects at
the shares that were seen and counts clusters as if they were equal, ours are at those of the hypothesis with what
unequal clusters are worth, so that p-values agree in the limit only (tests/estimate/reports has ours written out).
Wherever the variance between units is below the known noise of randomisation, ours is that noise, and the comparison
is with the larger one; and a finite population reduces only what exceeds it in each stratum, whose
variance is R's without its correction less R's with it alone. Needs `Rscript` with the package survey (Debian:
r-cran-survey). Run with `python -m audit.estimate.r_survey`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import extremal as ex

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
INVERSE = np.linalg.inv(M.matrix.T)
SCRIPT = r"""
suppressMessages(library(survey)); library(stats); options(survey.lonely.psu = "adjust")
args <- commandArgs(trailingOnly = TRUE)
d <- read.csv(args[1]); one <- d; one$one <- 1
f <- ~B1 + B2 + B3
out <- function(name, s) cat(name, sprintf("%.17g", c(coef(s), SE(s))), "\n")
designs <- list(
  weights = svydesign(ids = ~1, weights = ~w, data = d),
  clusters = svydesign(ids = ~cluster, weights = ~one, data = one),
  weighted_clusters = svydesign(ids = ~cluster, weights = ~w, data = d),
  strata = svydesign(ids = ~1, strata = ~stratum, weights = ~one, data = one),
  all = svydesign(ids = ~cluster, strata = ~stratum, weights = ~w, data = d, nest = TRUE),
  lonely = svydesign(ids = ~cluster, strata = ~alone, weights = ~w, data = d, nest = TRUE),
  finite_city = svydesign(ids = ~cluster, strata = ~stratum, weights = ~w, fpc = ~city, data = d, nest = TRUE),
  finite_country = svydesign(ids = ~cluster, strata = ~stratum, weights = ~w, fpc = ~country, data = d, nest = TRUE))
raking <- function(design, ...) calibrate(design, ~ sex + age, c(`(Intercept)` = 1000, sexm = 480, ageyoung = 700),
  calfun = "raking", epsilon = 1e-14, maxit = 500, ...)
designs$post <- postStratify(designs$all, ~sex, data.frame(sex = c("f", "m"), Freq = c(520, 480)))
designs$joint <- postStratify(designs$all, ~ sex + age, data.frame(sex = c("f", "f", "m", "m"),
  age = c("old", "young", "old", "young"), Freq = c(150, 370, 170, 310)))
designs$raked <- raking(designs$all)
designs$raked_weights <- raking(designs$weights)
for (kind in c("jack", "boot", "brr", "fay", "jkn")) {
  some <- as.matrix(d[, grep(paste0("^r", kind), names(d))]); R <- ncol(some)
  scale <- switch(kind, jack = (R - 1) / R, fay = 4 / R, jkn = 1, 1 / R)
  each <- if (kind == "jkn") scan(args[2], quiet = TRUE) else rep(1, R)
  designs[[kind]] <- svrepdesign(data = d, weights = ~w, repweights = some, type = "other", scale = scale,
    rscales = each, combined.weights = TRUE, mse = TRUE)
}
designs$raked_jack <- raking(designs$jack, compress = FALSE)
designs$raked_fay <- raking(designs$fay, compress = FALSE)
for (name in names(designs)) out(name, svymean(f, designs[[name]]))
g <- svyglm(I(yes == "yes") ~ z, design = designs$all, family = quasibinomial(),
  control = glm.control(epsilon = 1e-14, maxit = 100))
cat("glm", sprintf("%.17g", c(coef(g), SE(g))), "\n")
x <- svychisq(~yes + sex, designs$all, statistic = "F")
cat("chisq", sprintf("%.17g", c(x$p.value)), "\n")
"""


NEAR = 0.05  # relative: p-values of a test whose degrees of freedom differ by a few
CITY, COUNTRY, MANY = 60, 200, 10**12  # clusters in the population
FINITE = {"city": CITY, "country": COUNTRY}


def jkn_factor(cluster: int) -> float:
    """(n_h − 1)/n_h of the cluster's stratum: every fourth cluster is in the city."""
    return 9 / 10 if cluster % 4 == 0 else 29 / 30


def data(n: int = 600) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    cluster = generator.integers(0, 40, n)
    lean = generator.dirichlet([2, 1.2, 0.8], 40)[cluster]
    report = np.array(["a", "b", "c"])[(generator.random((n, 1)) > np.cumsum(lean, axis=1)[:, :2]).sum(axis=1)]
    frame = pd.DataFrame(
        {
            "report": report,
            "yes": generator.choice(["no", "yes"], n),
            "cluster": cluster,
            "stratum": np.where(cluster % 4 == 0, "city", "country"),
            "w": generator.uniform(1, 3, n),
            "sex": generator.choice(["f", "m"], n, p=[0.4, 0.6]),
            "age": generator.choice(["old", "young"], n),
            "z": generator.normal(size=n),
        }
    )
    frame["alone"] = np.where(cluster == 0, "one", frame["stratum"])
    city = (frame["stratum"] == "city").to_numpy()
    frame["city"], frame["country"] = np.where(city, CITY, MANY), np.where(city, MANY, COUNTRY)
    b = INVERSE[:, [M.outputs.index(r) for r in report]]
    for i in range(3):
        frame[f"B{i + 1}"] = b[i]
    w = frame["w"].to_numpy()
    half = generator.integers(0, 2, size=(32, 40))[:, cluster]
    made = {
        "rfay": list(w * np.where(half == 1, 1.5, 0.5)),
        "rjkn": [
            np.where(cluster == c, 0.0, w * np.where(city == (c % 4 == 0), 1 / jkn_factor(c), 1.0)) for c in range(40)
        ],
        "rjack": [np.where(cluster == c, 0.0, w * 40 / 39) for c in range(40)],
        "rboot": list(w * generator.multinomial(40, np.full(40, 1 / 40), size=50)[:, cluster]),
        "rbrr": list(w * 2 * generator.integers(0, 2, size=(32, 40))[:, cluster]),
    }
    columns = {f"{kind}{i}": values for kind, table in made.items() for i, values in enumerate(table)}
    return pd.concat([frame, pd.DataFrame(columns)], axis=1)


def ours(frame: pd.DataFrame) -> dict[str, Any]:
    sex, age = {"f": 520, "m": 480}, {"old": 300, "young": 700}
    whole = ex.Sample(weights="w", strata="stratum", cluster="cluster")

    def replicated(kind: Any, prefix: str) -> ex.Sample:
        names = [name for name in frame.columns if name.startswith(prefix)]
        return ex.Sample(weights="w", replicate_weights={kind: names})

    samples = {
        "weights": ex.Sample(weights="w"),
        "clusters": ex.Sample(cluster="cluster"),
        "weighted_clusters": ex.Sample(weights="w", cluster="cluster"),
        "strata": ex.Sample(strata="stratum"),
        "all": whole,
        "lonely": ex.Sample(weights="w", strata="alone", cluster="cluster"),
        "finite": ex.Sample(weights="w", strata="stratum", cluster="cluster", clusters_in_population=FINITE),
        "post": whole.raked({"sex": sex}),
        "joint": whole.raked({("sex", "age"): dict(zip(product("fm", age), (150, 370, 170, 310), strict=True))}),
        "raked": whole.raked({"sex": sex, "age": age}),
        "raked_weights": ex.Sample(weights="w").raked({"sex": sex, "age": age}),
        "jack": replicated("jackknife", "rjack"),
        "boot": replicated("bootstrap", "rboot"),
        "brr": replicated("brr", "rbrr"),
        "fay": replicated(4 / 32, "rfay"),
        "jkn": replicated(tuple(map(jkn_factor, range(40))), "rjkn"),
        "raked_jack": replicated("jackknife", "rjack").raked({"sex": sex, "age": age}),
        "raked_fay": replicated(4 / 32, "rfay").raked({"sex": sex, "age": age}),
    }
    return {name: ex.estimate_frequencies(frame, M, column="report", sample=sample) for name, sample in samples.items()}


def variance_of(line: np.ndarray) -> np.ndarray:
    """Of what R says of a design: estimates, then standard errors."""
    return np.asarray(np.split(line, 2)[1] ** 2)


def main() -> int:
    if shutil.which("Rscript") is None:
        print("Rscript is not installed: nothing compared")
        return 0
    frame = data()
    with tempfile.TemporaryDirectory() as folder:
        table, factors, script = (Path(folder) / name for name in ("data.csv", "factors.txt", "designs.R"))
        frame.to_csv(table, index=False, float_format="%.17g")
        factors.write_text("\n".join(f"{jkn_factor(c):.17g}" for c in range(40)), encoding="utf-8")
        script.write_text(SCRIPT, encoding="utf-8")
        command = ["Rscript", str(script), str(table), str(factors)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    theirs = {line.split()[0]: np.array(line.split()[1:], dtype=float) for line in done.stdout.splitlines()}
    worst = 0.0
    for name, result in ours(frame).items():
        estimate, error = np.split(theirs["all" if name == "finite" else name], 2)
        observed = result.fit.observed
        noise = 1 / observed.effective_n if observed.sampling is None else observed.sampling.noise
        privacy = np.multiply.outer(INVERSE**2 @ M.matrix.T @ estimate - estimate, noise).reshape(3, -1)
        variance = error**2
        if name == "finite":
            for h, (stratum, clusters) in enumerate(FINITE.items()):
                reduced = variance_of(theirs["all"]) - variance_of(theirs[f"finite_{stratum}"])  # f_h V_h
                share = frame.loc[frame["stratum"] == stratum, "cluster"].nunique() / clusters
                variance = variance - np.maximum(reduced - share * privacy[:, h], 0.0)
        elif name == "weights":  # R divides by n − 1, ours by n
            variance = variance * (len(frame) - 1) / len(frame)
        floored = variance < privacy.sum(axis=1)
        expected = np.sqrt(np.maximum(variance, privacy.sum(axis=1)))
        away = max(
            float(np.abs(result.estimate / estimate - 1).max()),
            float(np.abs(result.standard_error / expected - 1).max()),
        )
        worst = max(worst, away)
        print(
            f"  {name:18s} largest relative difference {away:.1e}; {int(floored.sum())} of 3 at the noise", flush=True
        )
    as_it_is = ex.Mechanism.from_matrix(np.eye(2), inputs=["no", "yes"], outputs=["no", "yes"])
    sample = ex.Sample(weights="w", strata="stratum", cluster="cluster")
    fit = ex.regress("yes ~ z", frame, as_it_is, sample=sample)
    away = float(np.abs(np.concatenate([fit.values, fit.standard_error]) / theirs["glm"] - 1).max())
    print(f"  {'svyglm':18s} largest relative difference {away:.1e}")
    tested = ex.test_independence(frame, {"yes": as_it_is, "sex": None}, sample=sample)
    apart = abs(tested.p_value / float(theirs["chisq"][0]) - 1)
    print(f"  {'svychisq':18s} largest relative difference {apart:.1e}")
    print(json.dumps({"worst of the designs": worst, "svyglm": away, "svychisq": apart}))
    return int(worst > 1e-10 or away > 1e-9 or apart > NEAR)


if __name__ == "__main__":
    sys.exit(main())
