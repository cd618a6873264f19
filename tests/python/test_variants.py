"""Shredded variants in Parquet files, as pyarrow reads them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pyspark_iceberg import Table


@pytest.fixture
def file(spark: SparkSession, table: str) -> str:
    """Return the path of a data file with variants in typed columns."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, v VARIANT) USING iceberg "
        "TBLPROPERTIES ('format-version' = '3', 'write.parquet.shred-variants' = 'true')"
    )
    spark.sql(
        f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES "
        """(1, '{"n": 1, "x": {"s": "a"}, "l": [1, 2]}'), (2, '{"n": 2.5, "x": {"s": "b"}}'), (3, NULL)"""
    )
    return str(Table(spark, table).scan().select("_file").collect()[0][0]).removeprefix("file:")


def test_pyarrow_reads_the_typed_columns(file: str) -> None:
    v = pq.read_table(file)["v"].combine_chunks()
    if isinstance(v, pa.ExtensionArray):
        v = v.storage
    assert v.is_valid().to_pylist() == [True, True, False]
    typed = v.field("typed_value")
    n = typed.field("n")
    assert n.field("typed_value").to_pylist() == [1, None, None]
    # The value 2.5 does not fit the column of integers, and remains in the variant encoding.
    assert [encoded is not None for encoded in n.field("value").to_pylist()] == [False, True, False]
    assert typed.field("x").field("typed_value").field("s").field("typed_value").to_pylist() == ["a", "b", None]


def test_pyarrow_reads_one_typed_column(file: str) -> None:
    one = pq.read_table(file, columns=["v.typed_value.x.typed_value.s.typed_value"])
    assert [column.to_pylist() for column in one.columns] == [["a", "b", None]]
