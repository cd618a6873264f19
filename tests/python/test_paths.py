"""`Table.for_path` in a session with several catalogs. The other tests of paths also run with Spark Connect."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import Table, UnsupportedOperationError


@pytest.fixture
def events(spark: SparkSession, table: str) -> Table:
    """Return a table with three rows and one snapshot."""
    spark.sql(f"CREATE TABLE {table} (id BIGINT, ts TIMESTAMP, note STRING) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, NULL, 'a'), (2, NULL, 'b'), (3, NULL, 'c')")
    return Table(spark, table)


@pytest.mark.parametrize("ending", ["", "/", "/metadata/v2.metadata.json"])
def test_a_relative_path_is_resolved_against_the_working_directory_of_spark(
    spark: SparkSession, events: Table, ending: str
) -> None:
    relative = os.path.relpath(events.location.removeprefix("file:"))
    assert relative.startswith("..")
    by_path = Table.for_path(spark, relative + ending)
    assert by_path.name == f"`lite`.`{events.location}{ending.rstrip('/')}`"
    assert by_path.to_df().count() == 3


@pytest.fixture
def current_catalog(spark: SparkSession) -> Iterator[None]:
    """Restore the current catalog after the test."""
    before = spark.catalog.currentCatalog()
    yield
    spark.catalog.setCurrentCatalog(before)


@pytest.mark.usefixtures("current_catalog")
def test_a_path_is_opened_through_the_current_catalog_or_else_a_catalog_for_paths(
    spark: SparkSession, events: Table
) -> None:
    location = events.location
    chosen = []
    for catalog in ("lite", "spark_catalog", "shared", "lite"):
        spark.catalog.setCurrentCatalog(catalog)
        by_path = Table.for_path(spark, location)
        assert by_path.append([(4, None, "d")]).inserted == 1
        chosen.append(by_path.name.split(".")[0].strip("`"))
    assert chosen == ["lite", "iceberg_lite_paths", "iceberg_lite_paths", "lite"]
    assert events.to_df().count() == 7


@pytest.mark.usefixtures("current_catalog")
@pytest.mark.parametrize("catalog", ["lite", "shared", "spark_catalog"])
def test_a_table_of_a_jdbc_catalog_can_be_read_but_not_changed_by_its_path(spark: SparkSession, catalog: str) -> None:
    name = f"shared.tests.by_path_{catalog}"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.tests")
    spark.sql(f"CREATE TABLE {name} USING iceberg AS SELECT 1 AS id")
    owned = Table(spark, name)
    metadata = Path(owned.location.removeprefix("file:")) / "metadata"
    before = {file.name for file in metadata.glob("*.metadata.json")}
    spark.catalog.setCurrentCatalog(catalog)
    by_path = Table.for_path(spark, owned.location)
    assert by_path.to_df().count() == 1
    changes: list[Callable[[], object]] = [
        lambda: by_path.append([(2,)]),
        by_path.delete_all,
        lambda: by_path.set_properties({"a": 1}),
    ]
    for change in changes:
        with pytest.raises(UnsupportedOperationError, match="commit through that catalog"):
            change()
    with pytest.raises(AnalysisException, match="First drop the table in that catalog"):
        spark.sql(f"DROP TABLE {by_path.name} PURGE")
    assert {file.name for file in metadata.glob("*.metadata.json")} == before
    assert owned.to_df().count() == 1
    spark.sql(f"DROP TABLE {name} PURGE")
