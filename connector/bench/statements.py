"""Measure files and times of UPDATE, DELETE and MERGE on partitioned tables, in iceberg-lite and in Apache Iceberg.

Each table has six data files in each partition. UPDATE and DELETE change about 1 % of the rows, in all partitions.
MERGE updates 1 % of the rows and inserts the same number of new rows. After each statement the table is rolled back, so
that every statement changes the same files. The connectors run in alternating rounds. Each round runs in a new process
with two cores.

Usage: statements.py --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar
"""

import argparse
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import engines
from pyspark.sql import SparkSession

COLUMNS = (
    "id",
    "cast(id % {partitions} as int) p",
    "cast(id * 2654435761 % 1000003 as int) i1",
    "id * 0.37D d1",
    "concat('category-', id % 50) s_low",
    "concat('user-', xxhash64(id)) s_high",
    "timestamp_seconds(1704067200 + id % 2592000) ts",
)
APPENDS = 6
MODES = ("copy-on-write", "merge-on-read")
STATEMENTS = {
    "UPDATE": "UPDATE {t} SET i1 = -2 WHERE pmod(xxhash64(id, 1), 100) = 5",
    "DELETE": "DELETE FROM {t} WHERE pmod(xxhash64(id, 1), 100) = 7",
    "MERGE": "MERGE INTO {t} t USING src s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
}
COUNTS = ("added-data-files", "added-delete-files", "added-files-size")


@dataclass(frozen=True)
class Job:
    """The work of one process."""

    engine: engines.Engine
    warehouse: Path
    version: int
    rows: int
    partitions: tuple[int, ...]
    repeats: int
    conf: tuple[tuple[str, str], ...] = ()


@dataclass
class Measured:
    """The results of one statement: times in ms, counts of added files and bytes, and aggregates of the rows."""

    times: list[float] = field(default_factory=list)
    counts: tuple[int, ...] = ()
    rows: tuple[Any, ...] = ()


# The number of partitions of the table, the mode and the statement.
Case = tuple[int, str, str]


def make_table(spark: SparkSession, name: str, job: Job, partitions: int, mode: str) -> int:
    """Create a table with six files in each partition, and return the id of its snapshot."""
    modes = ", ".join(f"'write.{c}.mode'='{mode}'" for c in ("delete", "update", "merge"))
    source = spark.range(0, job.rows, 1, 2).selectExpr(*(c.format(partitions=partitions) for c in COLUMNS))
    ddl = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in source.schema)
    layout = "PARTITIONED BY (p)" if partitions > 1 else ""
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    spark.sql(
        f"CREATE TABLE {name} ({ddl}) USING iceberg {layout} TBLPROPERTIES ('format-version'='{job.version}', {modes})"
    )
    for number in range(APPENDS):
        source.where(f"pmod(xxhash64(id), {APPENDS}) = {number}").writeTo(name).append()
    return newest(spark, name)[0]


def newest(spark: SparkSession, name: str) -> tuple[int, dict[str, str]]:
    """Return the id and the summary of the newest snapshot."""
    snapshots = spark.table(f"{name}.snapshots").orderBy("committed_at", ascending=False)
    row = snapshots.select("snapshot_id", "summary").head(1)[0]
    return row[0], row[1]


def measure(job: Job) -> dict[Case, Measured]:
    """Run each statement on each table."""
    warehouse = job.warehouse / job.engine.name.replace(" ", "-")
    spark = engines.session(job.engine, warehouse, conf=dict(job.conf))
    result: dict[Case, Measured] = {}
    for partitions in job.partitions:
        make_source(spark, job.rows, partitions)
        for mode in MODES:
            name = f"c.db.t{partitions}_{mode[:4]}"
            base = make_table(spark, name, job, partitions, mode)
            for repeat in range(job.repeats):
                for verb, statement in STATEMENTS.items():
                    measured = result.setdefault((partitions, mode, verb), Measured())
                    run(spark, name, statement, measured, base, counted=repeat > 0 or job.repeats == 1)
    spark.stop()
    return result


def make_source(spark: SparkSession, rows: int, partitions: int) -> None:
    """Cache the source of MERGE: 1 % of the table's rows with new values, and the same number of new rows."""
    columns = ["-1 i1" if c.endswith(" i1") else c.format(partitions=partitions) for c in COLUMNS]
    changed = f"id < {rows} AND pmod(xxhash64(id, 3), 100) = 3"
    new = f"id >= {rows} AND id < {rows * 101 // 100}"
    spark.catalog.clearCache()
    source = spark.range(0, rows * 2, 1, 2).where(f"{changed} OR {new}").selectExpr(*columns)
    source.cache().createOrReplaceTempView("src")
    spark.table("src").count()


def run(spark: SparkSession, name: str, statement: str, measured: Measured, base: int, counted: bool) -> None:
    """Run a statement once, record its file counts, rows and (if `counted`) time, and roll the table back."""
    start = time.perf_counter()
    spark.sql(statement.format(t=name))
    elapsed = (time.perf_counter() - start) * 1e3
    if counted:
        measured.times.append(elapsed)
    summary = newest(spark, name)[1]
    measured.counts = tuple(int(summary.get(key, 0)) for key in COUNTS)
    measured.rows = tuple(spark.table(name).selectExpr("count(*)", "sum(id)", "sum(i1)").collect()[0])
    spark.sql(f"CALL c.system.rollback_to_snapshot('{name.removeprefix('c.')}', {base})")


def main() -> None:
    """Run the rounds and print a row for each statement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines.add_jars(parser)
    parser.add_argument("--version", type=int, default=2, help="format version of the tables: 2 or 3")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of a table")
    parser.add_argument(
        "--partitions",
        type=int,
        nargs="+",
        default=[10, 100],
        help="numbers of partitions; 1 for an unpartitioned table",
    )
    parser.add_argument("--rounds", type=int, default=3, help="processes of each connector")
    parser.add_argument(
        "--repeats", type=int, default=4, help="runs of a statement in a process; the first is not timed"
    )
    parser.add_argument("--conf", action="append", default=[], help="key=value, a Spark configuration")
    options = parser.parse_args()
    both = engines.of(options)
    conf = tuple((key, value) for key, _, value in (c.partition("=") for c in options.conf))
    rounds: dict[str, list[dict[Case, Measured]]] = {engine.name: [] for engine in both}
    with tempfile.TemporaryDirectory() as directory, engines.new_process() as process:
        for engine in engines.in_turns(both, options.rounds):
            job = Job(
                engine,
                Path(directory),
                options.version,
                options.rows,
                tuple(options.partitions),
                options.repeats,
                conf,
            )
            rounds[engine.name].append(process.apply(measure, (job,)))
    report(*(rounds[engine.name] for engine in both))


def report(peer: list[dict[Case, Measured]], ours: list[dict[Case, Measured]]) -> None:
    """Print files, bytes and times of both connectors, Apache Iceberg first, and the ratio of the times."""
    print("| partitions | mode | statement | data files | delete files | kB | ms | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for case in peer[0]:
        peer_result, lite_result = peer[-1][case], ours[-1][case]
        times = [median(t for r in engine for t in r[case].times) for engine in (peer, ours)]
        files = [f"{a} / {b}" for a, b in zip(peer_result.counts[:2], lite_result.counts[:2])]
        size = f"{peer_result.counts[2] / 1e3:.0f} / {lite_result.counts[2] / 1e3:.0f}"
        partitions, mode, verb = case
        ms = f"{times[0]:.0f} / {times[1]:.0f}"
        row = [str(partitions), mode, verb, *files, size, ms, f"{times[1] / times[0]:.2f}"]
        print(f"| {' | '.join(row)} |" + ("" if peer_result.rows == lite_result.rows else " !! the rows differ"))


if __name__ == "__main__":
    main()
