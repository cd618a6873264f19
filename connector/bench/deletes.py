"""Measure scans of tables with and without row-level deletes, in iceberg-lite and in Apache Iceberg.

Apache Iceberg creates the tables. In some of them, 1 % of the rows are deleted by a merge-on-read DELETE (position
deletes in version 2, deletion vectors in version 3), and in others by equality deletes. Each connector then reads the
tables in rounds. Each round runs in a new session with two cores. Each query reads two tables alternately, one without
and one with deletes.

Usage: deletes.py --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import engines
import pyarrow
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

FLAT = (
    "id",
    "cast(id * 2654435761 % 1000003 as int) i1",
    "id * 0.37D d1",
    "cast(id % 1000000 / 100 as decimal(18,2)) dec",
    "concat('category-', id % 50) s_low",
    "concat('user-', xxhash64(id)) s_high",
    "date_add(date'2024-01-01', cast(id % 30 as int)) dt",
    "timestamp_seconds(1704067200 + id % 2592000) ts",
)
NESTED = (
    "id",
    "named_struct('a', cast(id % 1000 as int), 'c', named_struct('y', concat('deep-', id % 77))) s",
    "transform(sequence(1, 2 + cast(id % 4 as int)), i -> named_struct('k', concat('k', i), 'v', i)) arr",
    "map('k1', cast(id % 10 as int), 'k2', 2) m",
)
WARM_UP = 3

Run = Callable[[DataFrame], None]


def collect(*columns: str) -> Run:
    """Return a function that evaluates these aggregate expressions and collects the resulting row."""

    def run(rows: DataFrame) -> None:
        rows.selectExpr(*columns).collect()

    return run


def all_rows(rows: DataFrame) -> None:
    """Read every column of every row."""
    rows.write.format("noop").mode("overwrite").save()


# For each query: the table without deletes, the table with deletes, and the function that reads a table.
QUERIES: dict[str, tuple[str, str, Run]] = {
    "all rows": ("flat", "flat_deleted", all_rows),
    "aggregate of four columns": (
        "flat",
        "flat_deleted",
        collect("count(id)", "sum(id)", "sum(dec)", "max(s_high)", "sum(i1)"),
    ),
    "aggregate of four columns, equality deletes": (
        "flat",
        "flat_equality",
        collect("count(id)", "sum(id)", "sum(dec)", "max(s_high)", "sum(i1)"),
    ),
    "aggregate of nested fields": (
        "nested",
        "nested_deleted",
        collect("sum(s.a)", "max(s.c.y)", "sum(m['k1'])", "sum(size(arr))"),
    ),
}


@dataclass(frozen=True)
class Job:
    """The work of one session."""

    engine: engines.Engine
    warehouse: Path
    version: int
    rows: int
    repeats: int


def make_tables(job: Job) -> None:
    """Create the tables with Apache Iceberg."""
    spark = engines.session(job.engine, job.warehouse)
    properties = f"'format-version'='{job.version}', 'write.delete.mode'='merge-on-read'"
    for name, columns, rows in (
        ("flat", FLAT, job.rows),
        ("flat_deleted", FLAT, job.rows),
        ("flat_equality", FLAT, job.rows),
        ("nested", NESTED, job.rows * 2 // 5),
        ("nested_deleted", NESTED, job.rows * 2 // 5),
    ):
        source = spark.range(0, rows, 1, 4).selectExpr(*columns)
        ddl = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in source.schema)
        spark.sql(f"CREATE TABLE c.db.{name} ({ddl}) USING iceberg TBLPROPERTIES ({properties})")
        source.writeTo(f"c.db.{name}").append()
    spark.sql("DELETE FROM c.db.flat_deleted WHERE pmod(xxhash64(id, 42), 100) = 0")
    spark.sql("DELETE FROM c.db.nested_deleted WHERE pmod(xxhash64(id, 42), 100) = 0")
    delete_by_id(spark, "c.db.flat_equality", range(0, job.rows, 100))
    spark.stop()


def delete_by_id(spark: SparkSession, name: str, ids: range) -> None:
    """Commit one equality delete file through Apache Iceberg's API, because its SQL never writes equality deletes."""
    gateway: Any = spark.sparkContext._gateway
    iceberg = gateway.jvm.org.apache.iceberg
    table = iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)
    column = table.schema().findField("id").fieldId()
    path = Path(table.location()) / "data" / "equality-deletes.parquet"
    field = pyarrow.field("id", pyarrow.int64(), metadata={"PARQUET:field_id": str(column)})
    parquet.write_table(pyarrow.table([list(ids)], schema=pyarrow.schema([field])), path)
    columns = gateway.new_array(gateway.jvm.int, 1)
    columns[0] = column
    deletes = (
        iceberg.FileMetadata.deleteFileBuilder(table.spec())
        .ofEqualityDeletes(columns)
        .withPath(str(path))
        .withFormat("parquet")
        .withFileSizeInBytes(path.stat().st_size)
        .withRecordCount(len(ids))
        .build()
    )
    table.newRowDelta().addDeletes(deletes).commit()


def measure(job: Job) -> dict[str, tuple[float, float]]:
    """Return the median times of each query in ms, on the table without deletes and on the table with deletes."""
    spark = engines.session(job.engine, job.warehouse)
    times = {name: timed(spark, query, job.repeats) for name, query in QUERIES.items()}
    spark.stop()
    return times


def timed(spark: SparkSession, query: tuple[str, str, Run], repeats: int) -> tuple[float, float]:
    """Run a query on its two tables alternately, and return the median time in ms on each of them."""
    plain, deleted, run = query
    times: dict[str, list[float]] = {plain: [], deleted: []}
    for repeat in range(WARM_UP + repeats):
        for name in (plain, deleted) if repeat % 2 else (deleted, plain):
            start = time.perf_counter()
            run(spark.table(f"c.db.{name}"))
            if repeat >= WARM_UP:
                times[name].append((time.perf_counter() - start) * 1e3)
    return median(times[plain]), median(times[deleted])


def main() -> None:
    """Create the tables, measure, and print a row for each query."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines.add_jars(parser)
    parser.add_argument("--version", type=int, default=2, help="format version of the tables: 2 or 3")
    parser.add_argument("--rows", type=int, default=6_000_000, help="rows of a flat table")
    parser.add_argument("--rounds", type=int, default=3, help="sessions of each connector")
    parser.add_argument("--repeats", type=int, default=7, help="measured runs of a query on each table in a session")
    options = parser.parse_args()
    both = engines.of(options)
    rounds: dict[str, list[dict[str, tuple[float, float]]]] = {engine.name: [] for engine in both}
    with tempfile.TemporaryDirectory() as directory, engines.new_process() as process:

        def job(engine: engines.Engine) -> Job:
            return Job(engine, Path(directory), options.version, options.rows, options.repeats)

        process.apply(make_tables, (job(both[0]),))
        for engine in engines.in_turns(both, options.rounds):
            rounds[engine.name].append(process.apply(measure, (job(engine),)))
    print("| query | connector | without deletes, ms | with deletes, ms | ratio |")
    print("|---|---|---|---|---|")
    for query in QUERIES:
        for name, measured in rounds.items():
            plain, deleted = (median(r[query][i] for r in measured) for i in (0, 1))
            print(f"| {query} | {name} | {plain:.0f} | {deleted:.0f} | {deleted / plain:.2f} |")


if __name__ == "__main__":
    main()
