"""The workloads of `peers.py`.

A workload measures times in ms, under names that begin with the name of the workload, and records results that must be
the same in all engines.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import peer_engines
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

COLUMNS = {
    "id": "id",
    "i1": "CAST(id * 2654435761 % 1000003 AS INT)",
    "d1": "id * 0.37D",
    "amount": "CAST(id % 1000000 / 100 AS DECIMAL(18, 2))",
    "category": "concat('category-', id % 50)",
    "user": "concat('user-', xxhash64(id))",
    "day": "date_add(DATE '2026-01-01', CAST(id % 30 AS INT))",
    "ts": "timestamp_seconds(1767225600 + id)",
}
DDL = "id BIGINT, i1 INT, d1 DOUBLE, amount DECIMAL(18, 2), category STRING, user STRING, day DATE, ts TIMESTAMP"
SUMS = ("count(*)", "sum(id)", "sum(i1)", "sum(amount)", "max(user)")
OLD_SECONDS = 10 * 24 * 3600
BATCH_ROWS = 100


@dataclass
class Run:
    """The measurements of one engine in one session.

    Attributes:
        times: times in ms, by measure.
        results: results that must be the same in all engines.
    """

    spark: SparkSession
    engine: peer_engines.Engine
    directory: Path
    rows: int
    commits: int
    repeats: int
    times: dict[str, list[float]] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)

    def timed(self, measure: str, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, record its time, and return its result."""
        start = time.perf_counter()
        result = action(*arguments)
        self.times.setdefault(measure, []).append((time.perf_counter() - start) * 1e3)
        return result

    def repeated(self, measure: str, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function once without recording its time, and then `repeats` times with a record of each time."""
        result = action(*arguments)
        for _ in range(self.repeats):
            self.timed(measure, action, *arguments)
        return result

    def call(self, statement: str) -> None:
        """Run a statement, and read its result."""
        self.spark.sql(statement).collect()

    def source(self, rows: int) -> DataFrame:
        """Return rows for a table."""
        return self.spark.range(0, rows, 1, 2).selectExpr(*(f"{value} AS {name}" for name, value in COLUMNS.items()))

    def insert(self, rows: DataFrame, table: str) -> None:
        """Insert rows by name. Spark's own tables have the partition columns last."""
        rows.createOrReplaceTempView("inserted")
        columns = ", ".join(rows.columns)
        self.spark.sql(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM inserted")  # noqa: S608

    def sums(self, table: str) -> list[str]:
        """Return aggregates of the rows of a table."""
        return [str(value) for value in self.spark.table(table).selectExpr(*SUMS).collect()[0]]

    def table_directory(self, name: str) -> Path:
        """Return the directory of a table."""
        root = self.directory / ("warehouse/db" if self.engine.is_iceberg else "session/db.db")
        return root / name


def commit(run: Run) -> None:
    """Insert one row in each commit."""
    for name, commits in (("warm", 3), ("commits", run.commits)):
        table = run.engine.create(run.spark, name, "id BIGINT, s STRING")
        for number in range(commits):
            row = run.spark.range(number, number + 1, 1, 1).selectExpr("id", "'v' AS s")
            if name == "warm":
                run.insert(row, table)
            else:
                run.timed("commit: append of one row", run.insert, row, table)
    times = run.times["commit: append of one row"]
    run.times["commit: append of one row, 95th percentile"] = [sorted(times)[int(len(times) * 0.95)]]
    run.times["commit: last fifth of the appends"] = times[-max(1, len(times) // 5) :]
    run.results["commit"] = str(run.spark.table(table).selectExpr("sum(id)").first())


def input_partitions(run: Run, table: str, where: str) -> int:
    """Plan a query down to the input partitions of its scan, and return their number."""
    query = run.spark.table(table).where(where)
    scan = query._jdf.queryExecution().executedPlan().collectLeaves().apply(0)
    if scan.nodeName().startswith("BatchScan"):
        return int(scan.inputPartitions().size())
    return int(scan.inputRDDs().apply(0).getNumPartitions())


def plan(run: Run) -> None:
    """Plan queries of a table with 50 partitions. Each commit to the table adds a file to each partition."""
    table = run.engine.create(run.spark, "planned", DDL, "category")
    commits = max(1, run.commits // 10)
    rows = run.source(run.rows // 10).repartition(2, "category").sortWithinPartitions("category", "id").cache()
    for number in range(commits):
        run.insert(rows.where(f"pmod(xxhash64(id), {commits}) = {number}"), table)
    queries = {
        "all files": "true",
        "one of 50 partitions": "category = 'category-7'",
        "by the bounds of a column": "id = 7",
    }
    for name, where in queries.items():
        run.repeated(f"plan: {name}", input_partitions, run, table, where)
    run.results["plan"] = run.sums(table)
    rows.unpersist()


def write(run: Run) -> None:
    """Write rows to an unpartitioned table, and to a table with 30 partitions."""
    path = str(run.directory / "source")
    run.source(run.rows).write.mode("overwrite").parquet(path)
    source = run.spark.read.parquet(path)
    for name, partition in (("unpartitioned", ""), ("30 partitions", "day")):
        for number in range(run.repeats + 1):
            table = run.engine.create(run.spark, "written", DDL, partition)
            if number:
                run.timed(f"write: {name}", run.insert, source, table)
            else:
                run.insert(source, table)
        run.results[f"write: {name}"] = run.sums(table)


def scan(run: Run) -> None:
    """Read a table."""
    table = run.engine.create(run.spark, "scanned", DDL)
    run.insert(run.source(run.rows), table)
    queries = {
        "aggregates of four columns": ("true", SUMS),
        "one column": ("true", ("round(sum(d1))",)),
        "few rows by a sorted column": (f"id BETWEEN {run.rows // 2} AND {run.rows // 2 + 100}", SUMS),
    }
    for name, (where, outputs) in queries.items():
        query = run.spark.table(table).where(where).selectExpr(*outputs)
        result = run.repeated(f"scan: {name}", query.collect)
        run.results[f"scan: {name}"] = [str(value) for value in result[0]]


def row_changes(run: Run) -> None:
    """Run MERGE, UPDATE and DELETE, each of 1 % of the rows, and read the table afterwards, in both modes."""
    if not run.engine.modes:
        return
    changed = f"id < {run.rows} AND pmod(xxhash64(id, 3), 100) = 3"
    new = f"id >= {run.rows} AND id < {run.rows * 101 // 100}"
    source = run.source(run.rows * 2).where(f"({changed}) OR ({new})").withColumnRenamed("i1", "old")
    source.selectExpr("*", "-1 AS i1").drop("old").cache().createOrReplaceTempView("changes")
    run.spark.table("changes").count()
    statements = {
        "MERGE": "MERGE INTO {t} t USING changes s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *",
        "UPDATE": "UPDATE {t} SET i1 = -2 WHERE pmod(xxhash64(id, 1), 100) = 5",
        "DELETE": "DELETE FROM {t} WHERE pmod(xxhash64(id, 1), 100) = 7",
    }
    for mode, properties in run.engine.modes.items():
        table = run.engine.create(run.spark, "changed", DDL, properties=properties)
        run.insert(run.source(run.rows), table)
        for verb, statement in statements.items():
            run.timed(f"row changes: {verb}, {mode}", run.call, statement.format(t=table))
            run.results[f"row changes: {verb}, {mode}"] = run.sums(table)
        run.repeated(f"row changes: read afterwards, {mode}", run.sums, table)
    run.spark.catalog.clearCache()


def maintenance(run: Run) -> None:
    """Compact small files, rewrite manifests, expire snapshots, and remove files that no table needs."""
    if not run.engine.modes:
        return
    table = run.engine.create(run.spark, "maintained", DDL)
    for number in range(run.commits):
        first, last = (run.rows // 10 * n // run.commits for n in (number, number + 1))
        run.insert(run.source(run.rows // 10).where(f"id >= {first} AND id < {last}").coalesce(1), table)
    before = run.sums(table)
    orphans = [run.table_directory("maintained") / f"orphan-{number}.parquet" for number in range(run.commits)]
    for path in orphans:
        path.write_bytes(b"x")
        os.utime(path, (time.time() - OLD_SECONDS,) * 2)
    if run.engine.is_iceberg:
        arguments = "table => 'db.maintained'"
        expiry = f"{arguments}, older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1"
        calls = {
            "compaction": f"rewrite_data_files({arguments}, options => map('min-input-files', '2'))",
            "rewrite of manifests": f"rewrite_manifests({arguments})",
            "expiration": f"expire_snapshots({expiry})",
            "orphan files": f"remove_orphan_files({arguments})",
        }
        statements = {name: f"CALL c.system.{call}" for name, call in calls.items()}
    else:
        statements = {"compaction": f"OPTIMIZE {table}", "expiration": f"VACUUM {table} RETAIN 0 HOURS"}
    for name, statement in statements.items():
        run.timed(f"maintenance: {name}", run.call, statement)
    if any(path.exists() for path in orphans):
        raise RuntimeError(f"{run.engine.name} did not remove all orphan files")
    after = run.sums(table)
    if before != after:
        raise RuntimeError(f"Maintenance in {run.engine.name} changed the rows from {before} to {after}")
    run.results["maintenance"] = after


def streaming(run: Run) -> None:
    """Write micro-batches of 100 rows."""
    table = run.engine.create(run.spark, "streamed", "timestamp TIMESTAMP, value BIGINT")
    batches = run.commits // 2 + 5
    rows = run.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", BATCH_ROWS).load()
    writer = rows.writeStream.format(run.engine.provider).option(
        "checkpointLocation", str(run.directory / "checkpoint")
    )
    query = writer.trigger(processingTime="0 seconds").toTable(table)
    try:
        progress = wait_for(query, batches)
    finally:
        query.stop()
    for batch in progress[5:batches]:
        run.times.setdefault("streaming: micro-batch", []).append(batch["durationMs"]["triggerExecution"])
    written = run.spark.table(table).selectExpr(f"count(*) % {BATCH_ROWS}", "count(*) = count(DISTINCT value)")
    run.results["streaming"] = [str(value) for value in written.collect()[0]]


def wait_for(query: StreamingQuery, batches: int) -> list[dict[str, Any]]:
    """Wait until a query has written a number of micro-batches, and return the progress of each."""
    while query.isActive:
        progress = query.recentProgress
        if len(progress) >= batches:
            return progress
        time.sleep(0.05)
    raise RuntimeError(f"The stream ended after {len(query.recentProgress)} micro-batches: {query.exception()}")


WORKLOADS: dict[str, Callable[[Run], None]] = {
    "commit": commit,
    "plan": plan,
    "write": write,
    "scan": scan,
    "row changes": row_changes,
    "maintenance": maintenance,
    "streaming": streaming,
}
