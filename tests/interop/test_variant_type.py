"""PyIceberg cannot read tables with variants."""

from __future__ import annotations

import pytest
from pyiceberg.exceptions import ValidationError
from pyiceberg_tables import newest
from pyspark.sql import SparkSession


def test_pyiceberg_rejects_the_type_variant(spark: SparkSession, table: str) -> None:
    # If a later version of PyIceberg reads variants, compare its rows with ours here.
    spark.sql(f"CREATE TABLE {table} (id BIGINT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    with pytest.raises(ValidationError, match="Unsupported field type"):
        newest(spark, table)
