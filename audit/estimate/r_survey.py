"""Ten designs against R's survey package: estimates, standard errors and tests to 1e-10.

R does not know mechanisms: it gets what each report contributes to each share, and `svymean` of these numbers must be
what `ex.estimate_frequencies` says; `svyglm` and `svychisq` get answers that nobody randomised. Designs: weights,
strata, clusters, both, finite populations of clusters, post-stratification, raking (`calibrate`), jackknife, bootstrap
and balanced repeated replication. `svychisq` takes the design effects at the shares that were seen, ours are at those
of the hypothesis, so that p-values agree in the limit only (tests/estimate/reports has ours written out). Wherever the
variance between units is below the known noise of randomisation, ours is that noise, and the comparison is with the
larger one. Needs `Rscript` with the package survey (Debian: r-cran-survey). Run with `python -m
audit.estimate.r_survey`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import extremal as ex

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
INVERSE = np.linalg.inv(M.matrix.T)
SCRIPT = r"""
suppressMessages(library(survey)); library(stats)
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
  finite = svydesign(ids = ~cluster, strata = ~stratum, weights = ~w, fpc = ~units, data = d, nest = TRUE))
designs$post <- postStratify(designs$all, ~sex, data.frame(sex = c("f", "m"), Freq = c(520, 480)))
designs$raked <- calibrate(designs$all, ~ sex + age, c(`(Intercept)` = 1000, sexm = 480, ageyoung = 700),
  calfun = "raking", epsilon = 1e-14, maxit = 500)
reps <- as.matrix(d[, grep("^r(jack|boot|brr)", names(d))])
for (kind in c("jack", "boot", "brr")) {
  some <- reps[, grep(paste0("^r", kind), colnames(reps))]; R <- ncol(some)
  scale <- if (kind == "jack") (R - 1) / R else 1 / R
  designs[[kind]] <- svrepdesign(data = d, weights = ~w, repweights = some, type = "other", scale = scale,
    rscales = rep(1, R), combined.weights = TRUE, mse = TRUE)
}
for (name in names(designs)) out(name, svymean(f, designs[[name]]))
g <- svyglm(I(yes == "yes") ~ z, design = designs$all, family = quasibinomial(),
  control = glm.control(epsilon = 1e-14, maxit = 100))
cat("glm", sprintf("%.17g", c(coef(g), SE(g))), "\n")
x <- svychisq(~yes + sex, designs$all, statistic = "F")
cat("chisq", sprintf("%.17g", c(x$p.value)), "\n")
"""


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
    frame["units"] = np.where(frame["stratum"] == "city", 60, 200)
    b = INVERSE[:, [M.outputs.index(r) for r in report]]
    for i in range(3):
        frame[f"B{i + 1}"] = b[i]
    w = frame["w"].to_numpy()
    made = {
        "rjack": [np.where(cluster == c, 0.0, w * 40 / 39) for c in range(40)],
        "rboot": list(w * generator.multinomial(40, np.full(40, 1 / 40), size=50)[:, cluster]),
        "rbrr": list(w * 2 * generator.integers(0, 2, size=(32, 40))[:, cluster]),
    }
    columns = {f"{kind}{i}": values for kind, table in made.items() for i, values in enumerate(table)}
    return pd.concat([frame, pd.DataFrame(columns)], axis=1)


def ours(frame: pd.DataFrame) -> dict[str, Any]:
    sex, age = {"f": 520, "m": 480}, {"old": 300, "young": 700}
    whole = ex.Sample(weights="w", strata="stratum", cluster="cluster")

    def replicated(kind: str, prefix: str) -> ex.Sample:
        names = [name for name in frame.columns if name.startswith(prefix)]
        return ex.Sample(weights="w", replicate_weights={kind: names})

    samples = {
        "weights": ex.Sample(weights="w"),
        "clusters": ex.Sample(cluster="cluster"),
        "weighted_clusters": ex.Sample(weights="w", cluster="cluster"),
        "strata": ex.Sample(strata="stratum"),
        "all": whole,
        "finite": ex.Sample(
            weights="w",
            strata="stratum",
            cluster="cluster",
            clusters_in_population={"city": 60, "country": 200},
        ),
        "post": whole.raked({"sex": sex}),
        "raked": whole.raked({"sex": sex, "age": age}),
        "jack": replicated("jackknife", "rjack"),
        "boot": replicated("bootstrap", "rboot"),
        "brr": replicated("brr", "rbrr"),
    }
    return {name: ex.estimate_frequencies(frame, M, column="report", sample=sample) for name, sample in samples.items()}


def main() -> int:
    if shutil.which("Rscript") is None:
        print("Rscript is not installed: nothing compared")
        return 0
    frame = data()
    with tempfile.TemporaryDirectory() as folder:
        table, script = Path(folder) / "data.csv", Path(folder) / "designs.R"
        frame.to_csv(table, index=False, float_format="%.17g")
        script.write_text(SCRIPT, encoding="utf-8")
        done = subprocess.run(["Rscript", str(script), str(table)], stdout=subprocess.PIPE, text=True, check=True)
    theirs = {line.split()[0]: np.array(line.split()[1:], dtype=float) for line in done.stdout.splitlines()}
    worst = 0.0
    for name, result in ours(frame).items():
        estimate, error = np.split(theirs[name], 2)
        observed = result.fit.observed
        noise = 1 / observed.effective_n if observed.sampling is None else float(observed.sampling.noise.sum())
        privacy = np.sqrt((INVERSE**2 @ M.matrix.T @ estimate - estimate) * noise)
        floored = error < privacy
        if name == "finite":  # a finite population takes nothing from the noise of randomisation
            print(f"  {name:18s} R {error.round(6).tolist()}   ours {result.standard_error.round(6).tolist()}")
            error = np.maximum(error, result.standard_error)
        elif name == "weights":  # R divides by n − 1, ours is at least the fitted variance
            error = error * np.sqrt((len(frame) - 1) / len(frame))
        away = max(
            float(np.abs(result.estimate / estimate - 1).max()),
            float(np.abs(result.standard_error / np.maximum(error, privacy) - 1).max()),
        )
        worst = max(worst, away if name != "weights" else float(np.abs(result.estimate / estimate - 1).max()))
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
    return int(worst > 1e-10 or away > 1e-9 or apart > 1e-2)


if __name__ == "__main__":
    sys.exit(main())
