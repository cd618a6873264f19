"""Spark (iceberg-lite) and PyIceberg use one REST server as their catalog at the same time."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession
from shared_catalog import SCHEMA, check_mixed_writers, check_names, check_tables, rows

from pyspark_iceberg import iceberg_session

OURS = "in_rest"


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, rest_server: SimpleNamespace) -> RestCatalog:
    iceberg_session(catalog=OURS, uri=rest_server.uri, default=False)
    catalog = RestCatalog("rest", uri=rest_server.uri)
    catalog.create_namespace_if_not_exists("db")
    return catalog


def test_tables_are_shared_in_both_directions(spark: SparkSession, theirs: RestCatalog) -> None:
    check_tables(spark, OURS, theirs)


def test_names_and_namespaces_are_shared_in_both_directions(spark: SparkSession, theirs: RestCatalog) -> None:
    check_names(spark, OURS, theirs)


def test_no_rows_of_concurrent_writers_are_lost(
    spark: SparkSession, theirs: RestCatalog, rest_server: SimpleNamespace
) -> None:
    check_mixed_writers(spark, OURS, theirs, json.dumps({"type": "rest", "uri": rest_server.uri}))


def test_a_table_that_is_loaded_without_old_snapshots_shows_all_snapshots(
    spark: SparkSession, theirs: RestCatalog, rest_server: SimpleNamespace
) -> None:
    table = theirs.create_table("db.history", SCHEMA)
    for i in range(3):
        table.append(rows(i))
    properties = {"snapshot-loading-mode": "REFS"}
    iceberg_session(catalog="with_refs", uri=rest_server.uri, properties=properties, default=False)
    assert spark.table("with_refs.db.history").count() == 3
    assert spark.table("with_refs.db.history.snapshots").count() == 3
    first = table.refresh().metadata.snapshots[0].snapshot_id
    assert spark.sql(f"SELECT * FROM with_refs.db.history VERSION AS OF {first}").count() == 1
    spark.sql("INSERT INTO with_refs.db.history VALUES (3, 'ours')")
    assert table.refresh().scan().to_arrow().num_rows == 4


def test_errors_contain_no_secret(spark: SparkSession, rest_server: SimpleNamespace) -> None:
    properties = {"credential": "me:s3cr3tsauce", "token": "t0kensauce"}
    iceberg_session(catalog="refused_rest", uri=f"{rest_server.uri}/nowhere", properties=properties, default=False)
    with pytest.raises(Exception, match="REST catalog") as error:
        spark.sql("SHOW NAMESPACES IN refused_rest").collect()
    assert "sauce" not in str(error.value)
