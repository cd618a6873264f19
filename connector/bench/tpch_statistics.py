"""Measure the queries of TPC-H with and without table statistics, with Spark's cost-based optimizer on.

In each round, each connector creates the eight tables twice in new sessions with two cores, once with statistics
(`compute_table_stats`), and runs the 22 queries several times. All sessions must return the same rows.
The data comes from `tpchgen-cli parquet --scale-factor 1 --output-dir DATA` (a package on PyPI).

Usage: tpch_statistics.py --data DATA --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar \
    --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar
"""

import argparse
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import engines
from pyspark.sql import functions

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
# The tables that are partitioned by month, with the date column of each.
PARTITIONED = {"lineitem": "l_shipdate", "orders": "o_orderdate"}
OPTIMIZER = {
    "spark.sql.cbo.enabled": "true",
    "spark.sql.cbo.joinReorder.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "8",
}
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Job:
    """The work of one session."""

    engine: engines.Engine
    statistics: bool
    data: Path
    warehouse: Path
    passes: int

    @property
    def name(self) -> str:
        """Return the heading of the column with the results of this job."""
        return f"{self.engine.name}{', statistics' if self.statistics else ''}"


@dataclass(frozen=True)
class Result:
    """The median time in ms and the rows of each query, and the time in seconds to compute the statistics."""

    times: dict[str, float]
    rows: dict[str, Rows]
    statistics: float


def queries() -> dict[str, str]:
    """Return the queries by name."""
    text = Path(__file__).with_name("tpch.sql").read_text(encoding="utf-8")
    return dict(re.findall(r"^-- (Q\d+)\n(.*?);$", text, re.DOTALL | re.MULTILINE))


def plain(value: Any) -> Any:
    """Return the value; a float is rounded to six significant digits, because row order affects sums of doubles."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def run(job: Job) -> Result:
    """Create the tables, compute statistics if requested, and run the queries."""
    spark = engines.session(job.engine, job.warehouse, "8g", OPTIMIZER)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS c.h")
    for table in TABLES:
        writer = spark.read.parquet(str(job.data / f"{table}.parquet")).writeTo(f"c.h.{table}").using("iceberg")
        if table in PARTITIONED:
            writer = writer.partitionedBy(functions.months(PARTITIONED[table]))
        writer.create()
    start = time.perf_counter()
    if job.statistics:
        for table in TABLES:
            spark.sql(f"CALL c.system.compute_table_stats('h.{table}')")
    statistics = time.perf_counter() - start
    spark.sql("USE c.h")
    times: dict[str, list[float]] = {}
    rows: dict[str, Rows] = {}
    for _ in range(job.passes):
        for name, query in queries().items():
            start = time.perf_counter()
            result = spark.sql(query).collect()
            times.setdefault(name, []).append(1000 * (time.perf_counter() - start))
            rows[name] = [tuple(plain(value) for value in row) for row in result]
    return Result({name: median(values) for name, values in times.items()}, rows, statistics)


def main() -> None:
    """Run the jobs in rounds, compare the rows that they return, and print the times and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines.add_jars(parser)
    parser.add_argument("--data", type=Path, required=True, help="the directory with the Parquet files of tpchgen-cli")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    results: dict[str, list[Result]] = {}
    for engine in engines.in_turns(engines.of(options), options.rounds):
        for statistics in (False, True):
            with tempfile.TemporaryDirectory() as warehouse, engines.new_process() as pool:
                job = Job(engine, statistics, options.data.absolute(), Path(warehouse), options.passes)
                results.setdefault(job.name, []).append(pool.apply(run, (job,)))
    report(results)


def report(results: dict[str, list[Result]]) -> None:
    """Print the times of the queries, and the geometric means of their ratios to the times of Apache Iceberg."""
    expected = results[engines.PEER][0].rows
    others = [run.rows for runs in results.values() for run in runs]
    different = [name for name in expected if any(rows[name] != expected[name] for rows in others)]
    times = {kind: {q: median(r.times[q] for r in runs) for q in expected} for kind, runs in results.items()}
    print("| query, ms | " + " | ".join(times) + " |")
    print("| --- |" + " --- |" * len(times))
    for query in expected:
        print(f"| {query} | " + " | ".join(f"{times[kind][query]:.0f}" for kind in times) + " |")
    for kind in times:
        seconds = median(r.statistics for r in results[kind])
        total = sum(times[kind].values()) / 1000
        mean = geometric_mean([times[kind][q] / times[engines.PEER][q] for q in expected])
        same = geometric_mean([times[kind][q] / times[f"{engines.PEER}, statistics"][q] for q in expected])
        print(
            f"{kind}: queries {total:.1f} s, statistics {seconds:.1f} s; "
            f"geometric mean {mean:.2f} of {engines.PEER} without, {same:.2f} with statistics"
        )
    print(f"queries with different rows: {', '.join(different) or 'none'}")
    if different:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
