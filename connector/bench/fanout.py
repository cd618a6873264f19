"""Write unordered rows to many partitions in a process with little memory, and print the number of files and the time.

The rows are not shuffled before the write, so each of the two tasks has rows of every partition. A task opens the
maximum number of files, buffers the rows of all other partitions, and writes the buffered rows at the end.

Usage: fanout.py --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar [--memory 2g] [--partitions 1000] [--format parquet]
"""

import argparse
import tempfile
import time

from pyspark.sql import SparkSession

COLUMNS = (
    "id",
    "cast(pmod(xxhash64(id), {partitions}) as int) p",
    "cast(id * 2654435761 % 1000003 as int) i1",
    "id * 0.37D d1",
    "cast(id % 1000000 / 100 as decimal(18,2)) dec",
    "concat('category-', id % 50) s_low",
    "concat('user-', xxhash64(id)) s_high",
    "timestamp_seconds(1704067200 + id % 2592000) ts",
)


def main() -> None:
    """Parse the arguments, write the rows, and read them back."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", required=True)
    parser.add_argument("--memory", default="2g", help="heap of the process, driver and executor in one")
    parser.add_argument("--partitions", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--format", default="parquet", choices=("parquet", "orc", "avro"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as warehouse:
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.memory", args.memory)
            .config("spark.jars", args.jar)
            .config("spark.ui.enabled", "false")
            .config("spark.sql.extensions", "iceberglite.spark.SparkSessionExtensions")
            .config("spark.sql.catalog.c", "iceberglite.spark.SparkCatalog")
            .config("spark.sql.catalog.c.type", "hadoop")
            .config("spark.sql.catalog.c.warehouse", warehouse)
            .getOrCreate()
        )
        rows = spark.range(0, args.rows, 1, 2).selectExpr(*(c.format(partitions=args.partitions) for c in COLUMNS))
        rows.limit(0).writeTo("c.db.t").partitionedBy(rows["p"]).create()
        start = time.perf_counter()
        rows.writeTo("c.db.t").option("distribution-mode", "none").option("write-format", args.format).append()
        seconds = time.perf_counter() - start
        [(count, total)] = spark.table("c.db.t").selectExpr("count(*)", "sum(id)").collect()
        if (count, total) != (args.rows, args.rows * (args.rows - 1) // 2):
            raise SystemExit(f"rows were lost or duplicated: {count} rows, the sum of the ids is {total}")
        files = spark.table("c.db.t.files").count()
        print(f"{args.rows} rows into {args.partitions} partitions: {files} {args.format} files, {seconds:.0f} s")


if __name__ == "__main__":
    main()
