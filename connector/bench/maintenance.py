"""Measure maintenance procedures of iceberg-lite and Apache Iceberg.

In each round, each connector creates its own tables in a new session with two cores, and runs the procedures. Files are
rewritten several times: after each run, the table is rolled back to the snapshot with small files.

Usage: maintenance.py --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

COLUMNS = (
    "id",
    "cast(id * 2654435761 % 1000003 as int) i1",
    "id * 0.37D d1",
    "cast(id % 1000000 / 100 as decimal(18,2)) dec",
    "concat('category-', id % 50) s_low",
    "concat('user-', xxhash64(id)) s_high",
    "date_add(date'2024-01-01', cast(id % 30 as int)) dt",
    "timestamp_seconds(1704067200 + id % 2592000) ts",
)
REWRITES = {
    "rewrite_data_files, binpack": ("small", "options => map('min-input-files', '2')"),
    "rewrite_data_files, binpack, 10 % of the rows deleted": ("deleted", "options => map('min-input-files', '2')"),
    "rewrite_data_files, sort": (
        "small",
        "strategy => 'sort', sort_order => 'i1', options => map('rewrite-all', 'true')",
    ),
    "rewrite_data_files, zorder": (
        "small",
        "strategy => 'sort', sort_order => 'zorder(i1, d1)', options => map('rewrite-all', 'true')",
    ),
}
OLD_SECONDS = 10 * 24 * 3600


@dataclass(frozen=True)
class Engine:
    """A connector: its jar, its catalog and its SQL extensions."""

    name: str
    jar: Path
    catalog: str
    extensions: str


@dataclass(frozen=True)
class Job:
    """The work of one session. `files` is the number of small files, snapshots and orphans."""

    engine: Engine
    warehouse: Path
    files: int
    rows: int
    repeats: int


def session(job: Job) -> SparkSession:
    """Return a session with only the job's connector."""
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master("local[2]")
        .appName(job.engine.name)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.extraClassPath", str(job.engine.jar))
        .config("spark.sql.extensions", job.engine.extensions)
        .config("spark.sql.catalog.c", job.engine.catalog)
        .config("spark.sql.catalog.c.type", "hadoop")
        .config("spark.sql.catalog.c.warehouse", str(job.warehouse))
        .getOrCreate()
    )
    return spark


def create(spark: SparkSession, name: str, rows: int, files: int) -> None:
    """Create a table with this number of files of equal size."""
    source = spark.range(0, rows, 1, files).selectExpr(*COLUMNS)
    ddl = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in source.schema)
    properties = "'format-version'='2', 'write.delete.mode'='merge-on-read'"
    spark.sql(f"CREATE TABLE c.db.{name} ({ddl}) USING iceberg TBLPROPERTIES ({properties})")
    source.writeTo(f"c.db.{name}").append()


def check(condition: bool, error: str) -> None:
    """Raise an error if the condition is false."""
    if not condition:
        raise RuntimeError(error)


def timed(spark: SparkSession, call: str) -> float:
    """Run a procedure and return its time in ms."""
    start = time.perf_counter()
    spark.sql(f"CALL c.system.{call}").collect()
    return (time.perf_counter() - start) * 1e3


def measure(job: Job) -> dict[str, float]:
    """Return the median time of each procedure in ms."""
    spark = session(job)
    spark.sparkContext.setLogLevel("ERROR")
    create(spark, "small", job.rows, job.files)
    create(spark, "deleted", job.rows, job.files)
    spark.sql("DELETE FROM c.db.deleted WHERE pmod(xxhash64(id, 42), 10) = 0")
    times = {}
    for name, (table, arguments) in REWRITES.items():
        snapshot = spark.table(f"c.db.{table}.refs").collect()[0]["snapshot_id"]
        rows = spark.table(f"c.db.{table}").count()
        runs = []
        for _ in range(job.repeats):
            runs.append(timed(spark, f"rewrite_data_files(table => 'db.{table}', {arguments})"))
            check(spark.table(f"c.db.{table}").count() == rows, "the rewrite changed the number of rows")
            spark.sql(f"CALL c.system.rollback_to_snapshot('db.{table}', {snapshot})").collect()
        times[name] = median(runs)
    create(spark, "history", job.files, 1)
    for i in range(job.files - 1):
        spark.range(i, i + 1, 1, 1).selectExpr(*COLUMNS).writeTo("c.db.history").append()
    times["rewrite_manifests"] = timed(spark, "rewrite_manifests('db.history')")
    expiry = "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1"
    times["expire_snapshots"] = timed(spark, f"expire_snapshots(table => 'db.history', {expiry})")
    data = job.warehouse / "db" / "history" / "data"
    old = time.time() - OLD_SECONDS
    orphans = [data / f"orphan-{i}.parquet" for i in range(job.files * 10)]
    for path in orphans:
        path.write_bytes(b"x")
        os.utime(path, (old, old))
    times["remove_orphan_files"] = timed(spark, "remove_orphan_files(table => 'db.history')")
    check(not any(path.exists() for path in orphans), "an orphan was not removed")
    spark.stop()
    return times


def main() -> None:
    """Measure, and print a row for each procedure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, required=True, help="the jar of Apache Iceberg's Spark runtime")
    parser.add_argument("--jar", type=Path, required=True, help="the jar of iceberg-lite")
    parser.add_argument("--files", type=int, default=200, help="small files and snapshots; a tenth of the orphans")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of a table whose files are rewritten")
    parser.add_argument("--rounds", type=int, default=3, help="sessions of each connector")
    parser.add_argument("--repeats", type=int, default=3, help="rewrites in a session")
    options = parser.parse_args()
    peer = Engine(
        "Apache Iceberg",
        options.peer.absolute(),
        "org.apache.iceberg.spark.SparkCatalog",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    )
    ours = Engine(
        "iceberg-lite",
        options.jar.absolute(),
        "iceberglite.spark.SparkCatalog",
        "iceberglite.spark.SparkSessionExtensions",
    )
    # Each connector needs its own process, because their classes must not be loaded into one JVM.
    context = multiprocessing.get_context("spawn")
    rounds: dict[Engine, list[dict[str, float]]] = {peer: [], ours: []}
    for number in range(options.rounds):
        for engine in (peer, ours) if number % 2 else (ours, peer):
            with tempfile.TemporaryDirectory() as directory, context.Pool(1) as pool:
                job = Job(engine, Path(directory), options.files, options.rows, options.repeats)
                rounds[engine].append(pool.apply(measure, (job,)))
    print(f"| {options.rows} rows in {options.files} files | Apache Iceberg, ms | iceberg-lite, ms | ratio |")
    print("|---|---|---|---|")
    for name in rounds[peer][0]:
        theirs, own = (median(times[name] for times in rounds[engine]) for engine in (peer, ours))
        print(f"| {name} | {theirs:.0f} | {own:.0f} | **{own / theirs:.2f}** |")


if __name__ == "__main__":
    main()
