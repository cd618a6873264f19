"""Count the flights of each carrier and airport, and write the counts to a table.

If the job runs again, it replaces the counts of the airports in its input.

    spark-submit --master spark://HOST:7077 --jars iceberg-lite-spark-3.5_2.12-VERSION.jar examples/02_spark_submit.py \
        INPUT.csv WAREHOUSE

The job configures the catalog itself. The jar is passed with --jars; the Python package is not needed on the cluster.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name of this import


def main(source: str, warehouse: str) -> int:
    """Run the job."""
    spark = (
        SparkSession.builder.appName("carriers")
        .config("spark.sql.extensions", "iceberglite.spark.SparkSessionExtensions")
        .config("spark.sql.catalog.lite", "iceberglite.spark.SparkCatalog")
        .config("spark.sql.catalog.lite.type", "hadoop")
        .config("spark.sql.catalog.lite.warehouse", warehouse)
        .getOrCreate()
    )
    flights = spark.read.csv(source, header=True, inferSchema=True, nullValue="NA")
    counts = flights.repartition(8).groupBy("carrier", "origin").agg(F.count("*").alias("flights"))
    spark.sql("""
        CREATE TABLE IF NOT EXISTS lite.jobs.carriers (carrier STRING, origin STRING, flights BIGINT)
        USING iceberg PARTITIONED BY (origin)
    """)
    counts.writeTo("lite.jobs.carriers").overwritePartitions()
    table = spark.read.format("iceberg-lite").load("lite.jobs.carriers")
    table.orderBy(F.desc("flights")).show(5)
    print(f"rows={table.count()} flights={table.agg(F.sum('flights')).collect()[0][0]}")
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
