"""PyIceberg reads tables after DELETE, UPDATE and MERGE, in every mode and granularity. It rejects Avro files."""

from __future__ import annotations

from typing import Any

import pytest
from pyiceberg.manifest import FileFormat
from pyiceberg.table import StaticTable
from pyiceberg_tables import newest
from pyspark.sql import SparkSession

STATEMENTS = (
    "DELETE FROM {t} WHERE id % 7 = 3",
    "UPDATE {t} SET n = n + 1000, p = concat(p, '!') WHERE id BETWEEN 40 AND 60 OR n = 5",
    "MERGE INTO {t} t USING (SELECT id AS k, id % 2 AS odd FROM range(90, 230, 3)) s ON t.id = s.k "
    "WHEN MATCHED AND odd = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = -k "
    "WHEN NOT MATCHED THEN INSERT (id, p, n) VALUES (k, 'new', k) "
    "WHEN NOT MATCHED BY SOURCE AND t.n = 1 THEN UPDATE SET p = NULL",
    "DELETE FROM {t} WHERE p = 'p1' AND id < 150",
    "DELETE FROM {t} WHERE p = 'p2'",
)
FILTERS = {
    "id < 60": "id < 60",
    "p = 'new'": "p == 'new'",
    "p IS NULL": "p is null",
    "n >= 1000 AND p <> 'p0!'": "n >= 1000 and p != 'p0!'",
    "id IN (41, 44, 93, 96, 99)": "id in (41, 44, 93, 96, 99)",
}
PLAIN, BY_VALUE, BY_BUCKET = "", "PARTITIONED BY (p)", "PARTITIONED BY (bucket(3, id))"


def changed(spark: SparkSession, table: str, version: int, mode: str, clause: str, **properties: str) -> None:
    """Create a table with two writes, and change its rows with every statement."""
    settings = {f"write.{command}.mode": mode for command in ("delete", "update", "merge")}
    settings |= {"format-version": str(version)} | {key.replace("_", "."): v for key, v in properties.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in settings.items())
    spark.sql(f"CREATE TABLE {table} (id BIGINT, p STRING, n BIGINT) USING iceberg {clause} TBLPROPERTIES ({listed})")
    for start in (0, 100):
        spark.sql(f"INSERT INTO {table} SELECT id, concat('p', id % 3), id % 11 FROM range({start}, {start + 100})")
    for statement in STATEMENTS:
        spark.sql(statement.format(t=table))


def ours(spark: SparkSession, query: str) -> list[tuple[Any, ...]]:
    """Return the rows that Spark reads."""
    return sorted((tuple(row) for row in spark.sql(query).collect()), key=repr)


def theirs(table: StaticTable, **scan: Any) -> list[tuple[Any, ...]]:
    """Return the rows that PyIceberg reads."""
    found = table.scan(**scan).to_arrow()
    return sorted(zip(*(found[name].to_pylist() for name in ("id", "p", "n"))), key=repr)


def check(spark: SparkSession, table: str) -> StaticTable:
    """Check that Spark and PyIceberg read the same rows from every snapshot, with and without filters."""
    read = newest(spark, table)
    snapshots = read.metadata.snapshots
    assert len(snapshots) == 2 + len(STATEMENTS)
    for snapshot in snapshots:
        expected = ours(spark, f"SELECT * FROM {table} VERSION AS OF {snapshot.snapshot_id}")
        assert theirs(read, snapshot_id=snapshot.snapshot_id) == expected
    for condition, row_filter in FILTERS.items():
        assert theirs(read, row_filter=row_filter) == ours(spark, f"SELECT * FROM {table} WHERE {condition}")
    count = spark.table(table).count()
    assert read.scan().count() == count > 0
    return read


def delete_files(read: StaticTable) -> list[dict[str, Any]]:
    return [dict(f) for f in read.inspect.delete_files().to_pylist()]


@pytest.mark.parametrize(
    ("granularity", "file_format", "clause"),
    [
        pytest.param("file", "parquet", PLAIN, marks=pytest.mark.slow),
        pytest.param("partition", "parquet", BY_VALUE, marks=pytest.mark.slow),
        ("file", "parquet", BY_BUCKET),
        pytest.param("partition", "orc", PLAIN, marks=pytest.mark.slow),
    ],
)
def test_pyiceberg_reads_position_deletes(
    spark: SparkSession, table: str, granularity: str, file_format: str, clause: str
) -> None:
    formats = {"write_delete_format_default": file_format, "write_format_default": file_format}
    changed(spark, table, 2, "merge-on-read", clause, write_delete_granularity=granularity, **formats)
    found = delete_files(check(spark, table))
    assert {f["file_format"] for f in found} == {FileFormat[file_format.upper()]}
    assert {f["content"] for f in found} == {1}


@pytest.mark.parametrize("clause", [pytest.param(PLAIN, marks=pytest.mark.slow), BY_VALUE])
def test_pyiceberg_reads_deletion_vectors(spark: SparkSession, table: str, clause: str) -> None:
    changed(spark, table, 3, "merge-on-read", clause)
    found = delete_files(check(spark, table))
    assert {f["file_format"] for f in found} == {FileFormat.PUFFIN}


@pytest.mark.parametrize(
    ("version", "clause"),
    [pytest.param(1, BY_VALUE, marks=pytest.mark.slow), (2, PLAIN), pytest.param(3, BY_BUCKET, marks=pytest.mark.slow)],
)
def test_pyiceberg_reads_rewritten_files(spark: SparkSession, table: str, version: int, clause: str) -> None:
    changed(spark, table, version, "copy-on-write", clause)
    assert delete_files(check(spark, table)) == []


@pytest.mark.slow
def test_pyiceberg_rejects_position_deletes_in_avro(spark: SparkSession, table: str) -> None:
    changed(spark, table, 2, "merge-on-read", PLAIN, write_delete_format_default="avro")
    with pytest.raises(ValueError, match=r"Delete file format not supported: .*AVRO"):
        newest(spark, table).scan().to_arrow()


@pytest.mark.slow
def test_pyiceberg_rejects_data_files_in_avro(spark: SparkSession, table: str) -> None:
    changed(spark, table, 2, "copy-on-write", PLAIN, write_format_default="avro")
    with pytest.raises(ValueError, match="AVRO"):
        newest(spark, table).scan().to_arrow()
