"""Spark (iceberg-lite) and PyIceberg use one Hive Metastore as their catalog at the same time."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyspark.sql import SparkSession
from shared_catalog import check_mixed_writers, check_tables

from pyspark_iceberg import iceberg_session

OURS = "in_hive"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def properties(hive_server: SimpleNamespace) -> dict[str, str]:
    """Return the properties with which PyIceberg opens the catalog; Spark uses the same address and warehouse."""
    return {"uri": hive_server.uri, "warehouse": hive_server.warehouse, "hive.hive2-compatible": "true"}


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, properties: dict[str, str]) -> HiveCatalog:
    iceberg_session(properties["warehouse"], catalog=OURS, uri=properties["uri"], default=False)
    spark.sql(f"CREATE NAMESPACE {OURS}.db")
    return HiveCatalog("hive", **properties)


def test_tables_are_shared_in_both_directions(spark: SparkSession, theirs: HiveCatalog) -> None:
    check_tables(spark, OURS, theirs)


def test_no_rows_of_concurrent_writers_are_lost(
    spark: SparkSession, theirs: HiveCatalog, properties: dict[str, str]
) -> None:
    check_mixed_writers(spark, OURS, theirs, json.dumps({"type": "hive", **properties, "lock-check-retries": "30"}))
