"""Measure maintenance procedures of iceberg-lite and Apache Iceberg.

In each round, each connector creates its own tables in a new session with two cores, and runs the procedures. Rewrites
run several times: after each run, the table is rolled back to the snapshot with small files.

Usage: maintenance.py --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar
"""

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import engines
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
class Job:
    """The work of one session.

    `files` is the number of small files, and also the number of snapshots. There are ten times as many orphan files.
    """

    engine: engines.Engine
    warehouse: Path
    files: int
    rows: int
    repeats: int


def create(spark: SparkSession, name: str, rows: int, files: int) -> None:
    """Create a table with this number of rows, in files of equal size."""
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
    spark = engines.session(job.engine, job.warehouse, memory="4g")
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
    # Otherwise the appends merge the manifests, and there may be nothing left to rewrite.
    spark.sql("ALTER TABLE c.db.history SET TBLPROPERTIES ('commit.manifest-merge.enabled' = 'false')")
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
    engines.add_jars(parser)
    parser.add_argument("--files", type=int, default=200, help="small files and snapshots; 10 times as many orphans")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of a table whose files are rewritten")
    parser.add_argument("--rounds", type=int, default=3, help="sessions of each connector")
    parser.add_argument("--repeats", type=int, default=3, help="rewrites in a session")
    options = parser.parse_args()
    both = engines.of(options)
    rounds: dict[str, list[dict[str, float]]] = {engine.name: [] for engine in both}
    with engines.new_process() as process:
        for engine in engines.in_turns(both, options.rounds):
            with tempfile.TemporaryDirectory() as directory:
                job = Job(engine, Path(directory), options.files, options.rows, options.repeats)
                rounds[engine.name].append(process.apply(measure, (job,)))
    peer, ours = (rounds[engine.name] for engine in both)
    print(f"| {options.rows} rows in {options.files} files | Apache Iceberg, ms | iceberg-lite, ms | ratio |")
    print("|---|---|---|---|")
    for name in peer[0]:
        theirs, own = (median(times[name] for times in measured) for measured in (peer, ours))
        print(f"| {name} | {theirs:.0f} | {own:.0f} | **{own / theirs:.2f}** |")


if __name__ == "__main__":
    main()
