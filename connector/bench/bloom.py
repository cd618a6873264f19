"""Measure point queries on a table whose files all may contain the key by their bounds.

Three queries look up the same keys: iceberg-lite without a Bloom index, iceberg-lite with one, and Apache Iceberg,
which has no such index. The table has one file for each task of the write, and the keys are random. Each connector
runs in a new process with two cores.

Usage: bloom.py --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar
"""

import argparse
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import engines
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812


@dataclass(frozen=True)
class Job:
    """The work of one process."""

    engine: engines.Engine
    files: int
    rows: int
    keys: int


@dataclass(frozen=True)
class Measured:
    """The median time of a query in ms, and the number of files that it opens, if the plan shows it."""

    ms: float
    files: str


def measure(spark: SparkSession, job: Job) -> Measured:
    """Look up keys that are spread over the files. The first three queries are not measured."""
    total = job.files * job.rows
    times, opened = [], []
    for i in range(job.keys + 3):
        number = (i * 7919 * job.rows + i) % total
        [[key]] = spark.range(number, number + 1).select(F.xxhash64("id")).collect()
        start = time.perf_counter()
        rows = spark.table("c.db.t").where(F.col("key") == key)
        found = rows.collect()
        times.append((time.perf_counter() - start) * 1000)
        if [row["v"] for row in found] != [f"value-{number}"]:
            raise SystemExit(f"{job.engine.name} returns {found} for the row {number}")
        plan = rows._jdf.queryExecution().toString()
        opened += [int(n) for n in re.findall(r"files=(\d+) of", plan)[-1:]]
    return Measured(median(times[3:]), f"{median(opened):.0f}" if opened else f"{job.files}")


def run(job: Job) -> dict[str, Measured]:
    """Create the table, and measure the queries, with iceberg-lite also with an index."""
    with tempfile.TemporaryDirectory() as warehouse:
        spark = engines.session(job.engine, Path(warehouse))
        spark.sql("CREATE NAMESPACE c.db")
        spark.sql("CREATE TABLE c.db.t (key BIGINT, v STRING) USING iceberg")
        rows = spark.range(0, job.files * job.rows, 1, job.files)
        rows.selectExpr("xxhash64(id) key", "concat('value-', id) v").writeTo("c.db.t").option(
            "distribution-mode", "none"
        ).append()
        results = {job.engine.name: measure(spark, job)}
        if job.engine.name == engines.OURS:
            spark.sql("ALTER TABLE c.db.t SET BLOOM INDEX (key)")
            start = time.perf_counter()
            spark.sql("CALL c.system.compute_table_stats(table => 'db.t', bloom_index_only => true)")
            results["computing the index"] = Measured((time.perf_counter() - start) * 1000, "")
            results[f"{job.engine.name}, Bloom index"] = measure(spark, job)
        return results


def main() -> None:
    """Parse the arguments, run the jobs, and print the results as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines.add_jars(parser, peer_required=False)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=1000, help="the number of rows in each file")
    parser.add_argument("--keys", type=int, default=20, help="the number of measured queries")
    options = parser.parse_args()
    print("| query | files opened | median, ms |\n|---|---|---|")
    with engines.new_process() as pool:
        for engine in engines.of(options):
            job = Job(engine, options.files, options.rows, options.keys)
            for name, measured in pool.apply(run, (job,)).items():
                print(f"| {name} | {measured.files} | {measured.ms:.0f} |")


if __name__ == "__main__":
    main()
