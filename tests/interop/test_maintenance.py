"""PyIceberg reads the same rows as Spark after each maintenance procedure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.table import StaticTable
from pyiceberg_tables import newest
from pyspark.sql import SparkSession


def changed(spark: SparkSession, table: str, version: int) -> None:
    """Create a table with small files, deleted and updated rows, a new column and an old partition spec."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ("
        f"'format-version' = '{version}', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read',"
        "'commit.manifest-merge.enabled' = 'false')"
    )
    for start in (0, 50, 100):
        spark.sql(f"INSERT INTO {table} SELECT id, concat('p', id % 2) FROM range({start}, {start + 50}, 1, 1)")
    spark.sql(f"DELETE FROM {table} WHERE id % 10 = 3")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN n BIGINT")
    spark.sql(f"ALTER TABLE {table} REPLACE PARTITION FIELD p WITH bucket(3, id)")
    spark.sql(f"INSERT INTO {table} SELECT id, 'new', id FROM range(150, 170, 1, 1)")
    spark.sql(f"UPDATE {table} SET n = -id WHERE id % 10 = 4")


def ours(spark: SparkSession, table: str) -> list[tuple[Any, ...]]:
    """Return the rows that Spark reads."""
    return sorted((tuple(row) for row in spark.sql(f"SELECT id, p, n FROM {table}").collect()), key=repr)


def theirs(table: StaticTable, **scan: Any) -> list[tuple[Any, ...]]:
    """Return the rows that PyIceberg reads."""
    found = table.scan(**scan).to_arrow()
    return sorted(zip(*(found[name].to_pylist() for name in ("id", "p", "n"))), key=repr)


def rewrite_data_files(spark: SparkSession, table: str, _: Path) -> None:
    result = spark.sql(
        f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true', "
        "'remove-dangling-deletes', 'true'))"
    ).head()
    assert result is not None
    assert result["rewritten_data_files_count"] > 3
    assert spark.table(f"{table}.delete_files").count() == 0


def sort_data_files(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(
        f"CALL system.rewrite_data_files(table => '{table}', sort_order => 'id DESC', where => 'id < 100', "
        "options => map('rewrite-all', 'true'))"
    )
    assert spark.sql(f"SELECT 1 FROM {table}.snapshots WHERE operation = 'replace'").count() == 1


def rewrite_manifests(spark: SparkSession, table: str, _: Path) -> None:
    before = spark.table(f"{table}.manifests").count()
    for spec in (0, 1):
        spark.sql(f"CALL system.rewrite_manifests(table => '{table}', spec_id => {spec})")
    assert spark.table(f"{table}.manifests").count() < before


def rewrite_position_delete_files(spark: SparkSession, table: str, _: Path) -> None:
    result = spark.sql(
        f"CALL system.rewrite_position_delete_files(table => '{table}', options => map('rewrite-all', 'true'))"
    ).head()
    assert result is not None
    is_v2 = spark.sql(f"SELECT 1 FROM {table}.delete_files WHERE file_format = 'PARQUET'").count() > 0
    assert (result["rewritten_delete_files_count"] > 0) == is_v2


def expire_snapshots(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => current_timestamp(), retain_last => 1, "
        "clean_expired_metadata => true)"
    )
    assert spark.table(f"{table}.snapshots").count() == 1


def add_files(spark: SparkSession, table: str, directory: Path) -> None:
    source = directory / "source"
    spark.sql("SELECT id, 'added' AS p, id AS n FROM range(1000, 1010, 1, 1)").write.parquet(str(source))
    spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD bucket(3, id)")
    result = spark.sql(f"CALL system.add_files('{table}', 'parquet.`{source}`')").head()
    assert result is not None
    assert result["added_files_count"] == 1


def cluster(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"ALTER TABLE {table} CLUSTER BY (id, n)")
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    assert spark.sql(f"SELECT 1 FROM {table}.snapshots WHERE operation = 'replace'").count() == 1


def zorder(spark: SparkSession, table: str, _: Path) -> None:
    result = spark.sql(
        f"CALL system.rewrite_data_files(table => '{table}', sort_order => 'zorder(id, p)', "
        "options => map('rewrite-all', 'true'))"
    ).head()
    assert result is not None
    assert result["rewritten_data_files_count"] > 3


def restore(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"ALTER TABLE {table} CREATE TAG complete")
    spark.sql(f"DELETE FROM {table} WHERE id >= 100")
    result = spark.sql(f"CALL system.restore(table => '{table}', ref => 'complete')").head()
    assert result is not None
    assert result["current_snapshot_id"] != result["previous_snapshot_id"]


def compute_table_stats(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CALL system.compute_table_stats(table => '{table}', columns => array('id'))")
    metadata = newest(spark, table).metadata
    (file,) = metadata.statistics
    assert file.snapshot_id == metadata.current_snapshot_id
    assert [blob.fields for blob in file.blob_metadata] == [[1]]


def bloom_index(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"ALTER TABLE {table} SET BLOOM INDEX (id)")
    spark.sql(f"CALL system.compute_table_stats(table => '{table}', bloom_index_only => true)")
    # PyIceberg rejects table metadata that lists a blob with the type of the index.
    (file,) = newest(spark, table).metadata.statistics
    assert file.blob_metadata == []
    assert file.statistics_path.endswith("-bloom-1.stats")


def compute_partition_stats(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CALL system.compute_partition_stats('{table}')")
    metadata = newest(spark, table).metadata
    assert [file.snapshot_id for file in metadata.partition_statistics] == [metadata.current_snapshot_id]


def remove_orphan_files(spark: SparkSession, table: str, _: Path) -> None:
    row = spark.sql(f"SELECT file_path FROM {table}.data_files").head()
    assert row is not None
    orphan = Path(row["file_path"].removeprefix("file:")).with_name("orphan.parquet")
    orphan.write_bytes(b"x")
    four_days_ago = time.time() - 4 * 24 * 3600
    os.utime(orphan, (four_days_ago, four_days_ago))
    removed = [row[0] for row in spark.sql(f"CALL system.remove_orphan_files('{table}')").collect()]
    assert [Path(path).name for path in removed] == ["orphan.parquet"]
    assert not orphan.exists()


def maintain(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CALL system.maintain(table => '{table}', options => map('min-input-files', '2'))")


Step = Callable[[SparkSession, str, Path], None]
STEPS: tuple[Step, ...] = (
    rewrite_data_files,
    sort_data_files,
    rewrite_manifests,
    rewrite_position_delete_files,
    expire_snapshots,
    add_files,
    cluster,
    zorder,
    restore,
    compute_table_stats,
    bloom_index,
    compute_partition_stats,
    remove_orphan_files,
    maintain,
)
FAST = {(2, rewrite_data_files), (3, cluster), (3, bloom_index)}


@pytest.mark.parametrize(
    ("version", "step"),
    [
        pytest.param(
            version,
            step,
            id=f"{step.__name__}-v{version}",
            marks=() if (version, step) in FAST else pytest.mark.slow,
        )
        for version in (2, 3)
        for step in STEPS
    ],
)
def test_pyiceberg_reads_the_same_rows_after_maintenance(
    spark: SparkSession, table: str, tmp_path: Path, version: int, step: Step
) -> None:
    changed(spark, table, version)
    before = ours(spark, table)
    assert theirs(newest(spark, table)) == before
    step(spark, table, tmp_path)
    read = newest(spark, table)
    added = [(i, "added", i) for i in range(1000, 1010)] if step is add_files else []
    expected = sorted([*before, *added], key=repr)
    assert theirs(read) == ours(spark, table) == expected
    assert theirs(read, row_filter="id >= 150 and id < 160") == [r for r in expected if 150 <= r[0] < 160]
    assert theirs(read, row_filter="p == 'p1'") == [r for r in expected if r[1] == "p1"]
