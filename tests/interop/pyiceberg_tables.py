"""Open tables of iceberg-lite with PyIceberg."""

from __future__ import annotations

from pyiceberg.table import StaticTable
from pyspark.sql import SparkSession


def newest(spark: SparkSession, table: str) -> StaticTable:
    """Open the newest metadata file of a table of iceberg-lite, in any catalog, with PyIceberg."""
    log = spark.table(f"{table}.metadata_log_entries").orderBy("timestamp", "latest_sequence_number").collect()
    return StaticTable.from_metadata(log[-1]["file"])
