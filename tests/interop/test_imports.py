"""Imported tables, read by PyIceberg: all rows, rows of some partitions, and changed rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable
from pyiceberg_tables import newest
from pyspark.sql import SparkSession

from pyspark_iceberg import Table, clone, migrate, snapshot

FORMATS = ("parquet", "orc")
ROWS = [(i, f"row {i}", i % 3) for i in range(30)]


@pytest.fixture(params=FORMATS)
def source(spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Create a partitioned table of Spark, whose files have no field ids, and return its name."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.imports")
    name = f"spark_catalog.default.source_{request.param}"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, name STRING, p INT) USING {request.param} PARTITIONED BY (p) "
        f"LOCATION '{tmp_path}/source'"
    )
    values = ", ".join(f"({i}, '{text}', {p})" for i, text, p in ROWS)
    spark.sql(f"INSERT INTO {name} VALUES {values}")
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name}")


def rows(table: StaticTable, row_filter: str = "true") -> list[tuple[int, str, int]]:
    """Return the sorted rows that satisfy a filter."""
    found = table.scan(row_filter=row_filter).to_arrow().to_pylist()
    return sorted((row["id"], row["name"], row["p"]) for row in found)


def check(spark: SparkSession, name: str) -> None:
    """Check that PyIceberg reads the imported rows, skips files of other partitions, and reads changed rows."""
    imported = newest(spark, name)
    assert rows(imported) == ROWS
    assert rows(imported, "p = 1") == [row for row in ROWS if row[2] == 1]
    assert rows(imported, "p = 1 and id > 15") == [row for row in ROWS if row[2] == 1 and row[0] > 15]
    planned = list(imported.scan(row_filter="p = 1").plan_files())
    assert planned
    assert all(task.file.partition[0] == 1 for task in planned)
    spark.sql(f"DELETE FROM {name} WHERE id % 5 = 0")
    spark.sql(f"INSERT INTO {name} VALUES (100, 'new', 1)")
    assert rows(newest(spark, name)) == [*(row for row in ROWS if row[0] % 5), (100, "new", 1)]


def test_pyiceberg_reads_a_table_with_added_files(spark: SparkSession, source: str) -> None:
    name = "shared.imports.added"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT, name STRING, p INT) USING iceberg PARTITIONED BY (p)")
    result = Table(spark, name).add_files(source)
    assert result.added_files_count >= 3
    check(spark, name)


def test_pyiceberg_reads_the_files_of_the_partitions_that_a_filter_selects(spark: SparkSession, source: str) -> None:
    name = "shared.imports.filtered"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (id BIGINT, name STRING, p INT) USING iceberg PARTITIONED BY (p)")
    Table(spark, name).add_files(source, partition_filter={"p": "2"})
    assert rows(newest(spark, name)) == [row for row in ROWS if row[2] == 2]


def test_pyiceberg_reads_a_snapshot_of_a_table_and_its_clone(spark: SparkSession, source: str) -> None:
    name, copy = "shared.imports.snapshotted", "shared.imports.snapshot_clone"
    for table in (name, copy):
        spark.sql(f"DROP TABLE IF EXISTS {table}")
    assert snapshot(spark, name, source).imported_files_count >= 3
    clone(spark, copy, name)
    check(spark, name)
    check(spark, copy)
    assert spark.table(source).count() == len(ROWS)


def test_pyiceberg_reads_a_migrated_table(spark: SparkSession, source: str, tmp_path: Path) -> None:
    session = spark.newSession()
    catalog = "spark.sql.catalog.spark_catalog"
    session.conf.set(catalog, "iceberglite.spark.SparkSessionCatalog")
    session.conf.set(f"{catalog}.type", "jdbc")
    session.conf.set(f"{catalog}.uri", f"jdbc:sqlite:{tmp_path}/catalog.db")
    session.conf.set(f"{catalog}.warehouse", f"{tmp_path}/tables")
    assert migrate(session, source).migrated_files_count >= 3
    check(session, source)
    session.sql(f"DROP TABLE {source}_BACKUP_")
    session.sql(f"DROP TABLE {source}")
