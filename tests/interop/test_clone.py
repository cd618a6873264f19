"""Clones and relocated tables, read by PyIceberg."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from urllib.parse import urlparse

import pytest
from pyiceberg.table import StaticTable
from pyiceberg_tables import newest
from pyspark.sql import SparkSession

from pyspark_iceberg import Table, clone


@pytest.fixture
def source(spark: SparkSession) -> str:
    """Create a table with deleted rows."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.clones")
    table = "shared.clones.t"
    spark.sql(f"DROP TABLE IF EXISTS {table}")
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, p BIGINT) USING iceberg PARTITIONED BY (p) "
        "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
    )
    spark.sql(f"INSERT INTO {table} SELECT id, id % 3 FROM range(0, 100, 1, 1)")
    spark.sql(f"DELETE FROM {table} WHERE id % 5 = 0")
    return table


def ids(table: StaticTable) -> list[int]:
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def test_pyiceberg_reads_a_clone(spark: SparkSession, source: str) -> None:
    spark.sql("DROP TABLE IF EXISTS shared.clones.c")
    result = clone(spark, "shared.clones.c", source)
    assert result.cloned_data_files_count == 3
    assert ids(StaticTable.from_metadata(result.metadata_location)) == [i for i in range(100) if i % 5]
    spark.sql("INSERT INTO shared.clones.c VALUES (1000, 1)")
    assert ids(newest(spark, "shared.clones.c")) == [*(i for i in range(100) if i % 5), 1000]
    assert ids(newest(spark, source)) == [i for i in range(100) if i % 5]


def test_pyiceberg_reads_a_relocated_table(spark: SparkSession, source: str, tmp_path: Path) -> None:
    location = newest(spark, source).location()
    target = str(tmp_path / "elsewhere")
    result = Table(spark, source).rewrite_table_path(location, target)
    assert result.rewritten_delete_file_paths_count > 0
    with Path(urlparse(result.file_list_location).path).open(newline="") as lines:
        for from_path, to_path in csv.reader(lines):
            Path(to_path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(urlparse(from_path).path, to_path)
    moved = StaticTable.from_metadata(f"{target}/metadata/{result.latest_version}")
    assert ids(moved) == [i for i in range(100) if i % 5]
    assert all(task.file.file_path.startswith(target) for task in moved.scan().plan_files())
