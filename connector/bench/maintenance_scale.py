"""Measure time and peak memory of maintenance procedures on a table with very many files, with a heap of 1 GiB.

The table consists of metadata only. Create it first, in an empty warehouse:

    sbt "bench/runMain iceberglite.bench.SyntheticTable 1000000 WAREHOUSE/db/t"

Usage: maintenance_scale.py --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar --warehouse WAREHOUSE
"""

import argparse
import time
from pathlib import Path
from typing import Any

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


def main() -> None:
    """Run the procedures, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, required=True, help="the jar of iceberg-lite")
    parser.add_argument("--warehouse", type=Path, required=True, help="the warehouse with the table db.t")
    options = parser.parse_args()
    spark = session(options.jar.absolute(), options.warehouse.absolute())
    jvm: Any = spark._jvm
    beans = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    pools = [bean for bean in beans if bean.getType().toString() == "Heap memory"]
    files = spark.table("c.db.t.files")
    listing = options.warehouse / "listing"
    files.selectExpr("file_path", "TIMESTAMP '2020-01-01 00:00:00' AS last_modified").write.parquet(str(listing))
    orphans = spark.range(1000).selectExpr(
        f"concat('{options.warehouse.absolute()}/db/t/data/orphan-', id) AS file_path",
        "TIMESTAMP '2020-01-01 00:00:00' AS last_modified",
    )
    spark.read.parquet(str(listing)).union(orphans).createOrReplaceTempView("listing")
    manifests = spark.table("c.db.t.manifests").count()
    print(f"| {files.count()} files in {manifests} manifests | seconds | peak of the heap, MB |")
    print("|---|---|---|")
    for name, call in PROCEDURES.items():
        jvm.System.gc()
        for pool in pools:
            pool.resetPeakUsage()
        start = time.perf_counter()
        spark.sql(f"CALL c.system.{call}").collect()
        seconds = time.perf_counter() - start
        peak = sum(pool.getPeakUsage().getUsed() for pool in pools) / 1e6
        print(f"| {name} | {seconds:.1f} | {peak:.0f} |", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
