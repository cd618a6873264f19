"""Column defaults, set through SQL and read by PyIceberg."""

from __future__ import annotations

from pyiceberg_tables import newest
from pyspark.sql import SparkSession


def test_pyiceberg_reads_defaults_set_in_sql(spark: SparkSession) -> None:
    """proves: spark/defaults-declared"""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.defaults")
    table = "shared.defaults.t"
    spark.sql(f"CREATE TABLE {table} (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    spark.sql(f"INSERT INTO {table} VALUES (1)")
    spark.sql(
        f"ALTER TABLE {table} ADD COLUMNS (c BIGINT DEFAULT 5, s STRING DEFAULT 'ü', d DATE DEFAULT DATE '1969-12-31')"
    )
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN c SET DEFAULT 6")
    spark.sql(f"INSERT INTO {table} (id) VALUES (2)")
    peer = newest(spark, table)
    field = peer.schema().find_field("c")
    assert (field.initial_default, field.write_default) == (5, 6)
    rows = sorted(peer.scan().to_arrow().to_pylist(), key=lambda row: row["id"])
    assert [(row["id"], row["c"], row["s"], str(row["d"])) for row in rows] == [
        (1, 5, "ü", "1969-12-31"),
        (2, 6, "ü", "1969-12-31"),
    ]
