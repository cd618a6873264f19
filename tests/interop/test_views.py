"""Spark (iceberg-lite) and PyIceberg share views. PyIceberg supports views only in REST catalogs."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError, NoSuchViewError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pyiceberg.view.metadata import ViewMetadata, ViewVersion
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import iceberg_session

OURS = "views_in_rest"


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, rest_server: SimpleNamespace) -> RestCatalog:
    iceberg_session(catalog=OURS, uri=rest_server.uri, default=False)
    catalog = RestCatalog("rest", uri=rest_server.uri)
    catalog.create_namespace_if_not_exists("views")
    spark.sql(f"CREATE OR REPLACE TABLE {OURS}.views.items USING iceberg AS SELECT id, 'x' AS name FROM range(5)")
    return catalog


def test_pyiceberg_lists_loads_and_drops_a_view_of_spark(spark: SparkSession, theirs: RestCatalog) -> None:
    spark.sql(
        f"CREATE VIEW {OURS}.views.ours (k COMMENT 'the key', n) COMMENT 'c' "
        f"AS SELECT id, upper(name) FROM {OURS}.views.items"
    )
    assert ("views", "ours") in theirs.list_views("views")
    assert ("views", "ours") not in theirs.list_tables("views")
    assert theirs.view_exists("views.ours")
    spark.sql(f"ALTER VIEW {OURS}.views.ours AS SELECT 1 AS one")
    spark.sql(f"CALL {OURS}.system.rollback_view('views.ours', 1)").collect()
    view = theirs.load_view("views.ours")
    query = view.sql_for("spark")
    assert query is not None
    assert query.sql == f"SELECT id, upper(name) FROM {OURS}.views.items"
    assert [(f.name, f.doc, str(f.field_type)) for f in view.schema().fields] == [
        ("k", "the key", "long"),
        ("n", None, "string"),
    ]
    assert [version.version_id for version in view.versions] == [1, 2]
    assert [entry.version_id for entry in view.history()] == [1, 2, 1]
    assert view.properties["comment"] == "c"
    theirs.drop_view("views.ours")
    assert not theirs.view_exists("views.ours")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.table(f"{OURS}.views.ours")


def test_spark_reads_replaces_and_drops_a_view_of_pyiceberg(spark: SparkSession, theirs: RestCatalog) -> None:
    queries = {"spark": "SELECT max(id), count(*) FROM items", "trino": "SELECT max(id), count(*) FROM items"}
    version = ViewVersion.model_validate(
        {
            "schema-id": 0,
            "representations": [{"type": "sql", "sql": sql, "dialect": dialect} for dialect, sql in queries.items()],
            "default-namespace": ["views"],
        }
    )
    schema = Schema(NestedField(1, "top", LongType(), required=False), NestedField(2, "n", LongType(), required=False))
    theirs.create_view("views.theirs", schema, version)
    assert spark.table(f"{OURS}.views.theirs").columns == ["top", "n"]
    assert [tuple(row) for row in spark.table(f"{OURS}.views.theirs").collect()] == [(4, 5)]
    spark.sql(f"ALTER VIEW {OURS}.views.theirs AS SELECT min(id) AS low FROM {OURS}.views.items")
    replaced = theirs.load_view("views.theirs")
    kept = replaced.sql_for("trino")
    assert kept is not None
    assert kept.sql == queries["trino"]
    assert [field.name for field in replaced.schema().fields] == ["low"]
    spark.sql(f"CALL {OURS}.system.rollback_view('views.theirs', 1)").collect()
    assert [tuple(row) for row in spark.table(f"{OURS}.views.theirs").collect()] == [(4, 5)]
    spark.sql(f"DROP VIEW {OURS}.views.theirs")
    with pytest.raises(NoSuchViewError):
        theirs.load_view("views.theirs")


def test_pyiceberg_reads_a_view_metadata_file_with_the_fields_of_the_early_form(
    spark: SparkSession, tmp_path: Path
) -> None:
    iceberg_session(tmp_path, catalog="view_files", default=False)
    spark.sql("CREATE NAMESPACE view_files.views")
    spark.sql("CREATE VIEW view_files.views.v (k COMMENT 'the key', n) AS SELECT 1, 2")
    spark.sql("ALTER VIEW view_files.views.v AS SELECT 3 AS m")
    (file,) = tmp_path.rglob("v2.view.json")
    text = file.read_text()
    first, second = json.loads(text)["versions"]
    assert (first["parent-version-id"], second["parent-version-id"]) == (-1, 1)
    assert first["representations"][0]["field-aliases"] == ["k", "n"]
    assert first["representations"][0]["field-docs"] == ["the key", None]
    view = ViewMetadata.model_validate_json(text)
    assert [version.version_id for version in view.versions] == [1, 2]
    assert [[field.name for field in schema.fields] for schema in view.schemas] == [["k", "n"], ["m"]]


def check_unsupported(spark: SparkSession, ours: str, theirs: Catalog) -> None:
    """Check that PyIceberg does not support the views of a catalog, and does not list them as tables."""
    spark.sql(f"CREATE VIEW {ours}.views.v AS SELECT 1 AS a")
    for call in (theirs.view_exists, theirs.load_view, theirs.drop_view):
        with pytest.raises(NotImplementedError):
            call("views.v")
    with pytest.raises(NotImplementedError):
        theirs.list_views("views")
    assert theirs.list_tables("views") == []
    assert not theirs.table_exists("views.v")
    assert [tuple(row) for row in spark.table(f"{ours}.views.v").collect()] == [(1,)]
    spark.sql(f"DROP VIEW {ours}.views.v")


def test_pyiceberg_does_not_support_views_in_a_sql_catalog(spark: SparkSession, tmp_path: Path) -> None:
    uri = f"{tmp_path}/catalog.db"
    properties = {"jdbc.schema-version": "V1"}
    warehouse = tmp_path / "wh"
    iceberg_session(
        warehouse, catalog="views_in_sqlite", uri=f"jdbc:sqlite:{uri}", properties=properties, default=False
    )
    spark.sql("CREATE NAMESPACE views_in_sqlite.views")
    theirs = SqlCatalog("views_in_sqlite", uri=f"sqlite:///{uri}?timeout=60", warehouse=f"file://{warehouse}")
    check_unsupported(spark, "views_in_sqlite", theirs)
    spark.sql("CREATE VIEW views_in_sqlite.views.kept AS SELECT 1 AS a")
    with pytest.raises(NoSuchTableError):
        theirs.drop_table("views.kept")
    assert spark.table("views_in_sqlite.views.kept").count() == 1


@pytest.mark.slow
def test_pyiceberg_does_not_support_views_in_a_hive_catalog(spark: SparkSession, hive_server: SimpleNamespace) -> None:
    iceberg_session(hive_server.warehouse, catalog="views_in_hive", uri=hive_server.uri, default=False)
    spark.sql("CREATE NAMESPACE views_in_hive.views")
    properties = {"uri": hive_server.uri, "warehouse": hive_server.warehouse, "hive.hive2-compatible": "true"}
    check_unsupported(spark, "views_in_hive", HiveCatalog("hive", **properties))
