"""Measure time and memory of maintenance procedures on tables with very many files, with a heap of 1 GiB.

The tables consist of metadata only. Create each of them first, in a warehouse of its own:

    sbt "bench/runMain iceberglite.bench.SyntheticTable 10000 DIRECTORY/10000/db/t"
    sbt "bench/runMain iceberglite.bench.SyntheticTable 100000 DIRECTORY/100000/db/t"
    sbt "bench/runMain iceberglite.bench.SyntheticTable 1000000 DIRECTORY/1000000/db/t"

The script measures each table in a process of its own, and prints for each procedure

- the time in seconds,
- the peak of the heap: the sum of the peaks of all memory pools, with garbage,
- the heap at rest: the heap that is used before the procedure, after a garbage collection,
- the heap that remains: the heap that is used after the procedure, after a garbage collection.

If there are several tables, the last output shows by which factors the time and the peak of the heap grow from each
table to the next larger one. Growth is linear if the time grows by the same factor as the number of files.
`rewrite_manifests` changes the table. Therefore, create the table again before a second run.

Usage: maintenance_scale.py --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar --warehouse DIRECTORY/10000 DIRECTORY/100000
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engines
from pyspark.sql import SparkSession

PROCEDURES = {
    "rewrite_data_files, dry run": "rewrite_data_files(table => 'db.t', dry_run => true)",
    "remove_orphan_files, dry run": (
        "remove_orphan_files(table => 'db.t', file_list_view => 'listing', dry_run => true)"
    ),
    "rewrite_manifests": "rewrite_manifests('db.t')",
    "expire_snapshots, dry run": (
        "expire_snapshots(table => 'db.t', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1, "
        "dry_run => true)"
    ),
}


def session(jar: Path, warehouse: Path) -> SparkSession:
    """Return a session with a heap of 1 GiB for the driver and all tasks."""
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraClassPath", str(jar))
        .config("spark.sql.extensions", "iceberglite.spark.SparkSessionExtensions")
        .config("spark.sql.catalog.c", "iceberglite.spark.SparkCatalog")
        .config("spark.sql.catalog.c.type", "hadoop")
        .config("spark.sql.catalog.c.warehouse", str(warehouse))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@dataclass(frozen=True)
class Measure:
    """The time of a procedure in seconds, and its memory in MB."""

    seconds: float
    peak: float
    before: float
    after: float


@dataclass(frozen=True)
class Scale:
    """The number of files and manifests of a table, and the measures of each procedure."""

    files: int
    manifests: int
    measures: dict[str, Measure]


class Heap:
    """The heap of the driver, in MB."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self.jvm = jvm
        factory = self.jvm.java.lang.management.ManagementFactory
        self.memory = factory.getMemoryMXBean()
        self.pools = [bean for bean in factory.getMemoryPoolMXBeans() if bean.getType().toString() == "Heap memory"]

    def at_rest(self) -> float:
        """Return the used heap after two garbage collections. After the first one, Spark releases further objects."""
        for _ in range(2):
            self.jvm.System.gc()
        return float(self.memory.getHeapMemoryUsage().getUsed()) / 1e6

    def reset(self) -> None:
        """Forget the peaks of the memory pools."""
        for pool in self.pools:
            pool.resetPeakUsage()

    def peak(self) -> float:
        """Return the sum of the peaks of the memory pools, which is at least the peak of the heap."""
        return float(sum(pool.getPeakUsage().getUsed() for pool in self.pools)) / 1e6


def list_files(spark: SparkSession, warehouse: Path) -> None:
    """Create the view `listing` of all files of the table, and of 1,000 orphan files."""
    listing = warehouse / "listing"
    last_modified = "TIMESTAMP '2020-01-01 00:00:00' AS last_modified"
    files = spark.table("c.db.t.files").selectExpr("file_path", last_modified)
    files.write.mode("overwrite").parquet(str(listing))
    orphan = f"concat('{warehouse}/db/t/data/orphan-', id) AS file_path"
    orphans = spark.range(1000).selectExpr(orphan, last_modified)
    spark.read.parquet(str(listing)).union(orphans).createOrReplaceTempView("listing")


def measure(spark: SparkSession, heap: Heap, call: str) -> Measure:
    """Run a procedure."""
    before = heap.at_rest()
    heap.reset()
    start = time.perf_counter()
    spark.sql(f"CALL c.system.{call}").collect()
    seconds = time.perf_counter() - start
    return Measure(seconds, heap.peak(), before, heap.at_rest())


def run(jar: Path, warehouse: Path) -> Scale:
    """Run all procedures on the table in a warehouse."""
    spark = session(jar, warehouse)
    list_files(spark, warehouse)
    heap = Heap(spark)
    files, manifests = spark.table("c.db.t.files").count(), spark.table("c.db.t.manifests").count()
    measures = {name: measure(spark, heap, call) for name, call in PROCEDURES.items()}
    spark.stop()
    return Scale(files, manifests, measures)


def show(scale: Scale) -> None:
    """Print the measures of a table."""
    print(
        f"| {scale.files:,} files in {scale.manifests:,} manifests | seconds | peak, MB | at rest, MB | remains, MB |"
    )
    print("|---|---|---|---|---|")
    for name, m in scale.measures.items():
        print(f"| {name} | {m.seconds:.1f} | {m.peak:.0f} | {m.before:.0f} | {m.after:.0f} |", flush=True)


def show_growth(scales: list[Scale]) -> None:
    """Print the factors by which time and peak grow from each table to the next one."""
    steps = list(zip(scales, scales[1:]))
    columns = [f"{after.files:,} files ({after.files / before.files:.1f} times)" for before, after in steps]
    print(f"| time, peak | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for name in PROCEDURES:
        pairs = [(before.measures[name], after.measures[name]) for before, after in steps]
        cells = [f"{after.seconds / before.seconds:.1f}, {after.peak / before.peak:.1f}" for before, after in pairs]
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    """Run the procedures on each table, and print their measures and how they grow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, required=True, help="the jar of iceberg-lite")
    parser.add_argument("--warehouse", type=Path, required=True, nargs="+", help="warehouses with the table db.t")
    options = parser.parse_args()
    scales = []
    for warehouse in options.warehouse:
        with engines.new_process() as process:
            scales.append(process.apply(run, (options.jar.absolute(), warehouse.absolute())))
        show(scales[-1])
    if len(scales) > 1:
        show_growth(sorted(scales, key=lambda scale: scale.files))


if __name__ == "__main__":
    main()
