"""What `bench/page.py` measures: which jobs a section has, and how each is measured, in turns with its peer."""

from __future__ import annotations

import contextlib
import math
import resource
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
Job = tuple[Any, ...]
Call = Callable[[], Any]

EPSILON = 1.0
LABELS = [f"answer {i}" for i in range(10)]
HERE = Path(__file__).parents[1]


def jobs(section: str, quick: bool) -> list[Job]:
    """The measurements of a section; `quick` ones are those that `--check` repeats."""
    if section == "programs":
        sizes = (12,) if quick else (6, 8, 10, 12, 14, 16, 18, 20)
        return [(solver, k) for k in sizes for solver in ("scipy", "highspy", "cvxpy")] + [("qif", 8)]
    if section == "symbols":
        large = (10**6,) if quick else (10**4, 10**5, 10**6, 10**7)
        made: list[Job] = [("KL", k, epsilon) for k in large for epsilon in (1, 4)]
        made += [("information", k, epsilon) for k in large if k <= 10**6 for epsilon in (2, 4)]
        return made if quick else [*made, ("information", 1000, 6)]
    if section == "designs":
        from measurements import designs

        return list(designs.jobs(quick))
    if section == "release":
        peers = ("float NumPy", "multi-freq-ldpy", "pure-ldp", "diffprivlib", "OpenDP")
        return [(peer, k) for k in ((10,) if quick else (10, 100)) for peer in peers]
    if section == "values":
        return [("values", n) for n in ((10**7,) if quick else (10**4, 10**5, 10**6, 10**7, 10**8))]
    if section == "estimates":
        return [("estimates", peer) for peer in ("bare NumPy", "multi-freq-ldpy", "pure-ldp")]
    rows = 10**6 if quick else 10**7
    csv = [("CSV", rows // 4, "pyarrow"), ("CSV", rows // 4, "polars"), ("quoted CSV", rows // 4, "pyarrow")]
    return [("Parquet", rows), *csv]


def turns(ours: Call, peer: Call, repeats: int = 5) -> tuple[float, float]:
    """The least processor seconds of each, taking turns; short calls are repeated more often."""
    least = [math.inf, math.inf]
    for _ in range(repeats):
        for place, call in enumerate((ours, peer)):
            started = time.process_time()
            call()
            taken = time.process_time() - started
            least[place] = min(least[place], taken)
            for _ in range(int(min(20, 0.02 / max(taken, 1e-6)))):
                started = time.process_time()
                call()
                least[place] = min(least[place], time.process_time() - started)
    return least[0], least[1]


def memory() -> float:
    """The most that this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def pair(k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))


# -- programs --------------------------------------------------------------------------------------------------------


def _program(solver: str, k: int) -> list[Row]:
    import extremal as ex

    p0, p1 = pair(k)
    best: list[float] = []

    def solve() -> None:
        high = (np.arange(1, 2**k - 1)[:, None] >> np.arange(k)) & 1
        columns = (1 + math.expm1(EPSILON) * high).T
        m0, m1 = p0 @ columns, p1 @ columns
        values = m0 * np.log(m0 / m1)
        best.append(_SOLVERS[solver](columns, values))

    def ours() -> Any:
        return ex.design(ex.LDP(EPSILON), ex.KL(p0, p1))

    found = ours()
    own, theirs = turns(ours, solve, 15 if k <= 12 else 1)
    return [
        {
            "name": f"KL, k = {k}",
            "seconds": own,
            "peer": f"{solver} on all 2^k columns",
            "peer_seconds": theirs,
            "note": f"gap {found.gap:.0e}; theirs off by {abs(best[-1] / found.value - 1):.0e}",
            "series": "ex.design",
            "size": k,
        }
    ]


def _scipy(columns: Any, values: Any) -> float:
    from scipy.optimize import linprog

    scale = values.max()
    return float(-linprog(-values / scale, A_eq=columns, b_eq=np.ones(len(columns)), method="highs").fun * scale)


def _highspy(columns: Any, values: Any) -> float:
    from extremal.solver import LinearProgram

    program = LinearProgram(np.ones(len(columns)), np.ones(len(columns)))
    program.add(columns, values)
    return program.solve().value


def _cvxpy(columns: Any, values: Any) -> float:
    import cvxpy as cp

    theta = cp.Variable(columns.shape[1], nonneg=True)
    scale = values.max()
    return float(cp.Problem(cp.Maximize((values / scale) @ theta), [columns @ theta == 1]).solve() * scale)


_SOLVERS: dict[str, Callable[[Any, Any], float]] = {"scipy": _scipy, "highspy": _highspy, "cvxpy": _cvxpy}


def _qif(k: int) -> list[Row]:
    """Least expected loss under a metric, which libqif solves as one linear program."""
    import qif

    import extremal as ex

    at = np.arange(k)
    apart = np.abs(at[:, None] - at).astype(float)
    prior = np.random.default_rng(5).dirichlet(np.ones(k)).round(6)
    prior[0] += 1 - prior.sum()
    near, cost = apart.tolist(), (apart**2).tolist()

    def theirs() -> Any:
        return qif.mechanism.d_privacy.min_loss_given_d(prior, k, lambda x, y: near[x][y], lambda x, y: cost[x][y])

    def ours() -> Any:
        return ex.design(ex.MetricPrivacy(1, apart), ex.Distortion(prior, apart**2))

    found = ours()
    own, other = turns(ours, theirs, 5)
    value = float((prior[:, None] * np.asarray(theirs()) * apart**2).sum())
    note = f"gap {found.gap:.0e}; theirs off by {abs(value / found.value - 1):.0e}"
    name = f"squared error under a metric, k = {k}"
    return [{"name": name, "seconds": own, "peer": "libqif", "peer_seconds": other, "note": note}]


# -- symbols ---------------------------------------------------------------------------------------------------------


def _kl(k: int, epsilon: float) -> list[Row]:
    import extremal as ex

    p0, p1 = pair(k)

    def ours() -> Any:
        return ex.design(ex.LDP(epsilon), ex.KL(p0, p1))

    found, most = ours(), memory()
    repeats = 3 if k > 10**6 else 9
    own, sort = turns(ours, lambda: np.argsort(p0 / p1), repeats)
    again, _ = turns(lambda: ex.verify(found), lambda: None, 3)
    about = {"series": f"KL, ε = {epsilon:g}", "size": k}
    return [
        {
            "name": f"KL, k = {k:,}, ε = {epsilon:g}",
            "seconds": own,
            "memory": most,
            "peer": "np.argsort",
            "peer_seconds": sort,
            "note": f"gap {found.gap:.0e}, {found.mechanism.m} reports",
            **about,
        },
        {"name": f"verify it, k = {k:,}, ε = {epsilon:g}", "seconds": again, "peer": "its design", "peer_seconds": own},
    ]


def _information(k: int, epsilon: float) -> list[Row]:
    import extremal as ex

    p0, p1 = pair(k)

    def ours() -> Any:
        return ex.design(ex.LDP(epsilon), ex.MutualInformation(p0))

    found, most = ours(), memory()
    own, sort = turns(ours, lambda: np.argsort(p0 / p1), 2)
    return [
        {
            "name": f"information, k = {k:,}, ε = {epsilon:g}",
            "seconds": own,
            "memory": most,
            "peer": "np.argsort" if k > 1000 else None,
            "peer_seconds": sort if k > 1000 else None,
            "note": f"gap {found.gap:.0e}, {found.mechanism.m} reports",
            **({"series": f"information, ε = {epsilon:g}", "size": k} if k > 1000 else {}),
        }
    ]


# -- release ---------------------------------------------------------------------------------------------------------


def _per_million(k: int, peer: str, run: Callable[[list[int]], Any], count: int) -> list[Row]:
    """Ours in NumPy and compiled, against a peer that is given `count` codes."""
    import extremal as ex
    from extremal.release import sample_codes

    codes, m = np.random.default_rng(k).integers(0, k, size=10**6), ex.randomized_response(k, EPSILON)
    few = codes[:count].tolist()
    rows = []
    for name, compiled in (("NumPy", False), ("numba", True)):
        with contextlib.suppress(ImportError):
            sample_codes(m, codes[:10], compiled=compiled)
            own, other = turns(lambda c=compiled: sample_codes(m, codes, compiled=c), lambda: run(few))  # type: ignore[misc]
            rows.append(
                {"name": f"{name}, k = {k}", "seconds": own, "peer": peer, "peer_seconds": other * 10**6 / count}
            )
    return rows


def _float_numpy(k: int) -> list[Row]:
    generator = np.random.default_rng(1)

    codes = generator.integers(0, k, size=10**6)  # an array, as ours are

    def run(_few: list[int]) -> Any:
        truth = generator.random(codes.size) < math.e**EPSILON / (math.e**EPSILON + k - 1)
        other = generator.integers(0, k - 1, size=codes.size)
        other += other >= codes
        return np.where(truth, codes, other)

    return _per_million(k, "float NumPy, neither exact nor secure", run, 10**6)


def _multi_freq(k: int) -> list[Row]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    GRR_Client(0, k, EPSILON)
    return _per_million(k, "multi-freq-ldpy", lambda few: [GRR_Client(x, k, EPSILON) for x in few], 100_000)


def _pure_ldp(k: int) -> list[Row]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=EPSILON, d=k, index_mapper=lambda value: value)
    return _per_million(k, "pure-ldp", lambda few: [client.privatise(x) for x in few], 100_000)


def _diffprivlib(k: int) -> list[Row]:
    # Its models do not import beside a present scikit-learn, and its mechanisms do not need them.
    sys.modules["diffprivlib.models"] = types.ModuleType("diffprivlib.models")
    from diffprivlib.mechanisms import ExponentialCategorical

    utilities = [[str(i), str(j), 1.0] for i in range(k) for j in range(i + 1, k)]
    mechanism = ExponentialCategorical(epsilon=EPSILON, utility_list=utilities)
    return _per_million(k, "diffprivlib", lambda few: [mechanism.randomise(str(x)) for x in few], 2_000)


def _opendp(k: int) -> list[Row]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    keep = math.e**EPSILON / (math.e**EPSILON + k - 1)
    randomised = dp.m.make_randomized_response(categories=list(range(k)), prob=keep, T=dp.i32)
    return _per_million(k, "OpenDP", lambda few: [randomised(x) for x in few], 2_000)


def _values(n: int) -> list[Row]:
    import extremal as ex

    codes, m = np.random.default_rng(1).integers(0, 10, size=n), ex.randomized_response(10, EPSILON)
    m.privatize(codes[:10])
    generator = np.random.default_rng(2)
    own, drawn = turns(lambda: m.privatize(codes), lambda: generator.random(n), 3 if n > 10**6 else 9)
    return [
        {
            "name": f"n = {n:,}",
            "seconds": own,
            "memory": memory(),
            "peer": "NumPy drawing floats",
            "peer_seconds": drawn,
            "note": f"{n / own / 1e6:.0f} million a second",
            "series": "privatize",
            "size": n,
        }
    ]


def _estimates(peer: str) -> list[Row]:
    import extremal as ex

    k, n = 10, 10**6
    mechanism = ex.randomized_response(k, EPSILON)
    matrix = mechanism.matrix
    reports = np.random.default_rng(1).choice(k, size=n, p=mechanism.marginal(np.arange(1, k + 1) / 55))

    def bare() -> Any:
        return np.linalg.solve(matrix.T, np.bincount(reports, minlength=k) / n)

    run: Call = bare
    if peer == "multi-freq-ldpy":
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI

        run = lambda: GRR_Aggregator_MI(reports, k, EPSILON)  # noqa: E731
    elif peer == "pure-ldp":
        from pure_ldp.frequency_oracles.direct_encoding import DEServer

        def run() -> Any:
            server = DEServer(EPSILON, k, index_mapper=lambda x: x)
            server.aggregate_all(reports)
            return server.estimate_all(range(k), suppress_warnings=True)

    own, other = turns(lambda: ex.estimate_frequencies(reports, mechanism).interval(), run)
    return [{"name": "10⁶ reports, k = 10", "seconds": own, "peer": peer, "peer_seconds": other}]


# -- files -----------------------------------------------------------------------------------------------------------


def survey(n: int) -> Any:
    """A table of five columns, one of them to be randomised."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    return pa.table(
        {
            "id": np.arange(n),
            "answer": pa.array(LABELS).take(pa.array(rng.integers(0, 10, n))),
            "age": rng.integers(18, 90, n),
            "weight": rng.random(n).round(6),
            "region": pa.array([f"region {i}" for i in range(50)]).take(pa.array(rng.integers(0, 50, n))),
        }
    )


def _file_row(kind: str, n: int, most: float, peer: str, own: float, other: float) -> list[Row]:
    note = f"{n / own / 1e6:.1f} and {n / other / 1e6:.1f} million rows a second"
    row = {"name": f"{kind}, {n:,} rows", "seconds": own, "memory": most, "peer": peer, "peer_seconds": other}
    return [{**row, "note": note}]


def _in_a_child(write: str, n: int, path: Path) -> None:
    """Make the source in another process: what it takes is not our memory."""
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); from measurements import {write}; {write}({n}, {str(path)!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def write_parquet(n: int, path: str) -> None:
    import pyarrow.parquet as pq

    table = survey(n)
    pq.write_table(table, path)


def write_csv(n: int, path: str) -> None:
    import polars

    polars.from_arrow(survey(n)).write_csv(path)


def write_quoted_csv(n: int, path: str) -> None:
    """As R and Arrow do: quotation marks around every text."""
    from pyarrow import csv

    csv.write_csv(survey(n), path)


def _copied_by_parquet(source: Path, target: Path) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetFile(source) as file, pq.ParquetWriter(target, file.schema_arrow) as out:
        for number in range(file.num_row_groups):
            out.write_table(file.read_row_group(number, use_threads=False))


def _copied_by_pyarrow(source: Path, target: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv

    reading = csv.ReadOptions(use_threads=False)
    with csv.open_csv(source, reading) as file, csv.CSVWriter(target, file.schema) as out:
        for batch in file:
            out.write(pa.table(batch) if isinstance(batch, dict) else batch)


def _copied_by_polars(source: Path, target: Path) -> None:
    import polars

    polars.read_csv(source).write_csv(target)


_COPIES: dict[str, tuple[str, Callable[[Path, Path], None]]] = {
    "Parquet": ("pyarrow", _copied_by_parquet),
    "pyarrow": ("pyarrow", _copied_by_pyarrow),
    "polars": ("polars", _copied_by_polars),
}


def _file(kind: str, n: int, how: str) -> list[Row]:
    """A file randomised, against a peer that only copies it."""
    import extremal as ex
    from extremal.release.files import privatize_file

    m = ex.randomized_response(10, EPSILON, inputs=LABELS)
    peer, copied = _COPIES[how]
    with tempfile.TemporaryDirectory() as name:
        source, target, copy = (Path(name) / f"{part}.{kind.split()[-1].lower()}" for part in ("in", "out", "copy"))
        _in_a_child(f"write_{kind.lower().replace(' ', '_')}", n, source)

        def ours() -> None:
            privatize_file(source, target, {"answer": m}, overwrite=True)

        ours()
        most = memory()
        return _file_row(kind, n, most, f"{peer} copying it", *turns(ours, lambda: copied(source, copy), 2))


def profile() -> None:
    """Where the time of the hot paths goes."""
    import cProfile
    import pstats

    import extremal as ex

    for k, repeat in ((12, 20), (1_000_000, 1)):
        p0, p1 = pair(k)
        for title, call in (
            ("KL", lambda: ex.design(ex.LDP(4), ex.KL(p0, p1))),  # noqa: B023
            ("information", lambda: ex.design(ex.LDP(2), ex.MutualInformation(p0))),  # noqa: B023
        ):
            print(f"== {title}, k = {k:,}, {repeat} calls")
            call()
            profiled = cProfile.Profile()
            for _ in range(repeat):
                profiled.runcall(call)
            pstats.Stats(profiled).sort_stats("tottime").print_stats(15)


def _design(kind: str, k: int, epsilon: float) -> list[Row]:
    from measurements import designs

    return designs.measured(kind, k, epsilon)


MEASURED_BY: dict[str, Callable[..., list[Row]]] = {
    "designs": _design,
    **{solver: (lambda k, solver=solver: _program(solver, k)) for solver in _SOLVERS},
    "qif": _qif,
    "KL": _kl,
    "information": _information,
    "float NumPy": _float_numpy,
    "multi-freq-ldpy": _multi_freq,
    "pure-ldp": _pure_ldp,
    "diffprivlib": _diffprivlib,
    "OpenDP": _opendp,
    "values": _values,
    "estimates": _estimates,
    "Parquet": lambda n: _file("Parquet", n, "Parquet"),
    "CSV": lambda n, peer: _file("CSV", n, peer),
    "quoted CSV": lambda n, peer: _file("quoted CSV", n, peer),
}
