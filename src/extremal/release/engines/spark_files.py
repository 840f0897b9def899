"""Files on a cluster: columns of Parquet or CSV data that outgrow a machine, randomised by Apache Spark.

Spark reads the source where it lies (a file, a folder, or an address such as hdfs://…) and writes a folder of Parquet
files. On a local file system the folder is complete or absent: it is written under another name and renamed. Each
reported column notes in its schema which mechanism made it, and is not randomised again.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from extremal.columns.files import format_of
from extremal.columns.files.note import OF_A_FIELD, extended
from extremal.columns.frames import refuse_absent
from extremal.errors import ExtremalError, FileConflict, InvalidParameter, MissingDependency, UnknownLabel
from extremal.mechanism import Mechanism
from extremal.paths import refuse_unusable
from extremal.release.engines.key import ReleaseKey
from extremal.release.engines.lazy import privatize_keyed

READERS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}


def privatize_with_spark(
    source: str,
    target: str,
    columns: Mapping[str, Mechanism],
    *,
    row_id: str,
    master: str = "local[*]",
    release_key: ReleaseKey | None = None,
    check_ids: bool | None = None,
) -> int:
    """Randomise columns of `source` into a new folder `target` of Parquet files; the number of rows.

    Guarantee: reports are keyed (`release.engines.keyed`), so that a task that Spark runs again makes the same ones.

    Args:
        source: what Spark can read: Parquet, or CSV or TSV with a header (all values are text then).
        target: a folder that does not exist.
        columns: mechanisms by column name.
        row_id: the column of ids, unique among the rows.
        master: of the cluster; `local[*]` for all cores of this machine.
        release_key: fresh if not given.
        check_ids: whether to look for repeated ids, which shuffles all of them; None: no.

    Raises:
        MissingDependency: there is no pyspark or no Java. FileConflict: `target` exists.
        InvalidParameter: absent columns, or one that was randomised before. UnknownLabel: a value that is no label.
    """
    here = "://" not in target
    if here and Path(target).exists():
        raise FileConflict("the output folder must not exist yet", parameter="output", value=target)
    _refuse_unsuitable(source, master)  # a session takes half a minute to start
    from_elsewhere, session = _session(master)
    from pyspark.errors import PySparkException

    try:
        frame = _read(session, source)
        extended(_noted(frame, Path(source)), {name: mechanism.hash for name, mechanism in columns.items()})
        named = READERS.get(Path(source).suffix.lower()) != "csv"
        for name in (row_id, *columns):
            refuse_absent(name, frame.columns, "row_id" if name == row_id else "column", listed=named)
        made = privatize_keyed(frame, columns, row_id, release_key, check_ids)
        for name, mechanism in columns.items():
            made = made.withMetadata(name, {OF_A_FIELD: mechanism.hash})
        _write(made, target, here)
        return int(session.read.parquet(target).count())
    except PySparkException as error:
        raise _said_in_a_worker(error) from None
    finally:
        if not from_elsewhere:
            session.stop()


def _noted(frame: Any, source: Path) -> dict[str, str]:
    """Which mechanisms made columns of the source before."""
    noted = {field.name: field.metadata[OF_A_FIELD] for field in frame.schema.fields if OF_A_FIELD in field.metadata}
    if source.is_file():  # Spark reads no other note than its own
        noted |= format_of(source, "file").hashes(source)
    return noted


def _said_in_a_worker(error: Any) -> ExtremalError:
    """Our own message, if the error of a worker is one; else the name of Spark's, whose text may hold data."""
    found = re.search(r"extremal\.errors\.(\w+): ([^\n]*)", str(error))
    if found is None:
        return InvalidParameter("Spark could not do this", parameter="its error", value=error.getCondition())
    return (UnknownLabel if found[1] == "UnknownLabel" else InvalidParameter)(found[2])


def _session(master: str) -> tuple[bool, Any]:
    """A session, and whether it was there before."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingDependency("this needs Apache Spark", hint="pip install 'extremal[spark]'.") from None
    before = SparkSession.getActiveSession()
    if before is not None:
        return True, before
    builder: Any = SparkSession.builder.master(master).appName("extremal").config("spark.ui.enabled", "false")
    builder = builder.config("spark.io.encryption.enabled", "true")  # what is spilled may hold the secret of a column
    if master.startswith("local"):  # the workers are this Python, whatever `python3` is elsewhere
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config("spark.driver.host", "127.0.0.1")
    try:
        session = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise MissingDependency(
            "Spark did not start", hint=f"It needs Java 17 or newer and a cluster at {master!r}."
        ) from error
    session.sparkContext.setLogLevel("OFF")
    return False, session


def _read(session: Any, source: str) -> Any:
    suffix = Path(source).suffix.lower()
    if READERS.get(suffix) == "csv":
        return session.read.csv(source, header=True, sep="\t" if suffix == ".tsv" else ",")
    return session.read.parquet(source)


def _refuse_unsuitable(source: str, master: str) -> None:
    """Raise on a source that is not read here, and on what is no address of a cluster."""
    if "://" not in source:
        refuse_unusable(Path(source))
        if Path(source).suffix.lower() not in READERS and not Path(source).is_dir():
            raise InvalidParameter(
                "Spark reads Parquet, CSV or TSV here",
                parameter="file",
                value=source,
                hint="Give a file or a folder of files.",
            )
    if not re.match(r"local(\[|$)|spark://|k8s://|yarn$", master):
        raise InvalidParameter(
            "the master must be that of a cluster",
            parameter="master",
            value=master,
            hint="local[*] or spark://host:7077.",
        )


def _write(frame: Any, target: str, here: bool) -> None:
    if not here:
        frame.write.parquet(target)
        return
    final = Path(target).absolute()
    partial = final.with_name(f".{final.name}.{uuid.uuid4().hex}.partial")
    try:
        frame.write.parquet(str(partial))
        partial.rename(final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
