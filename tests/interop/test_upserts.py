"""PyIceberg reads upserts after their equality deletes were converted, and reads CHAR and VARCHAR as strings."""

from __future__ import annotations

from typing import Any

import pytest
from pyiceberg.manifest import FileFormat
from pyiceberg.table import StaticTable
from pyiceberg.types import StringType
from pyiceberg_tables import newest
from pyspark.sql import SparkSession


def theirs(table: StaticTable) -> list[dict[str, Any]]:
    """Return the rows that PyIceberg reads, in the order of their ids."""
    return sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["id"])


@pytest.mark.parametrize(
    ("version", "clause", "file_format"),
    [
        (2, "", FileFormat.PARQUET),
        (2, "PARTITIONED BY (bucket(3, id))", FileFormat.PARQUET),
        (3, "", FileFormat.PUFFIN),
    ],
)
def test_pyiceberg_reads_an_upsert_after_its_conversion(
    spark: SparkSession, table: str, version: int, clause: str, file_format: FileFormat
) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, n BIGINT) USING iceberg {clause} "
        f"TBLPROPERTIES ('format-version' = '{version}')"
    )
    spark.sql(f"INSERT INTO {table} SELECT id, 0 FROM range(100)")
    for start in (70, 90):
        rows = spark.range(start, start + 30).selectExpr("id", f"{start} AS n")
        rows.writeTo(table).option("upsert-keys", "id").append()
    with pytest.raises(ValueError, match="equality"):
        newest(spark, table).scan().to_arrow()
    converted = spark.sql(f"CALL system.convert_equality_deletes('{table}')").collect()
    assert len(converted) == 1
    expected = [{"id": i, "n": 0 if i < 70 else 70 if i < 90 else 90} for i in range(120)]
    read = newest(spark, table)
    assert theirs(read) == expected
    assert {f["file_format"] for f in read.inspect.delete_files().to_pylist()} == {file_format}


def test_char_and_varchar_are_strings_in_pyiceberg(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT, c CHAR(5), v VARCHAR(3), a ARRAY<CHAR(2)>) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'ab', 'xyz', array('p', 'qr'))")
    spark.sql(f"UPDATE {table} SET v = 'x' WHERE c = 'ab'")
    read = newest(spark, table)
    assert {name: read.schema().find_type(name) for name in ("c", "v")} == {"c": StringType(), "v": StringType()}
    assert theirs(read) == [{"id": 1, "c": "ab   ", "v": "x", "a": ["p ", "qr"]}]
