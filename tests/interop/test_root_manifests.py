"""PyArrow and DuckDB read the root and leaf manifests of version 4 tables as ordinary Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import duckdb
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

DATA, POSITION_DELETES, DATA_MANIFEST, DELETE_MANIFEST, MANIFEST_VECTOR = 0, 1, 3, 4, 5
DELETED = 2
FIELD_IDS = {
    "content_type": 134,
    "location": 100,
    "file_format": 101,
    "version_info": 5,
    "partition_spec_id": 148,
    "record_count": 103,
    "content_stats": 149,
}


def local(location: str) -> Path:
    return Path(urlparse(location).path)


def table_with_leaves(spark: SparkSession, table: str) -> Path:
    """Create a table whose root refers to a leaf with removed files, and lists files itself. Return the root."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, name STRING, p INT) USING iceberg PARTITIONED BY (p) "
        "TBLPROPERTIES ('format-version' = '3')"
    )
    rows = "SELECT id, concat('name', id), CAST(id % 8 AS INT) FROM range({}, {})"
    spark.sql(f"INSERT INTO {table} {rows.format(0, 40)}")
    spark.sql(f"INSERT INTO {table} {rows.format(40, 80)}")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '4')")
    spark.sql(f"CALL lite.system.rewrite_manifests(table => '{table}')")
    spark.sql(f"INSERT INTO {table} {rows.format(80, 100)}")
    spark.sql(f"DELETE FROM {table} WHERE p = 3")
    return root_of(spark, table)


def root_of(spark: SparkSession, table: str) -> Path:
    newest = f"SELECT manifest_list FROM {table}.snapshots JOIN {table}.refs USING (snapshot_id) WHERE name = 'main'"
    return local(spark.sql(newest).collect()[0][0])


def table_with_delete_leaf(spark: SparkSession, table: str) -> Path:
    """Create a table with one deleted row in each of eight files, and a leaf of deletion vectors. Return the root."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, p INT) USING iceberg PARTITIONED BY (p) TBLPROPERTIES "
        "('format-version' = '4', 'write.delete.mode' = 'merge-on-read', 'write.v4.single-commit-max-files' = '4')"
    )
    spark.sql(f"INSERT INTO {table} SELECT id, CAST(id % 8 AS INT) FROM range(0, 80)")
    spark.sql(f"DELETE FROM {table} WHERE id < 8")
    return root_of(spark, table)


def live(entries: list[dict[str, Any]], content: int) -> list[dict[str, Any]]:
    return [e for e in entries if e["content_type"] == content and e["version_info"]["status"] != DELETED]


def test_pyarrow_counts_the_files_of_a_snapshot(spark: SparkSession, table: str) -> None:
    root = table_with_leaves(spark, table)
    entries = pq.read_table(root).to_pylist()
    leaves = [entry for m in live(entries, DATA_MANIFEST) for entry in pq.read_table(local(m["location"])).to_pylist()]
    removed = sum(v["record_count"] for v in live(entries, MANIFEST_VECTOR))
    inline = live(entries, DATA)
    assert removed > 0
    assert inline
    assert leaves
    files = spark.sql(f"SELECT count(*), count(DISTINCT file_path) FROM {table}.files").collect()[0]
    assert len(inline) + len(leaves) - removed == files[0] == files[1]
    listed = {local(e["location"]) for e in inline + leaves}
    assert {local(r[0]) for r in spark.sql(f"SELECT file_path FROM {table}.files").collect()} <= listed
    assert spark.sql(f"SELECT count(*) FROM {table}.entries WHERE status < 2").collect()[0][0] == files[0]


def test_pyarrow_finds_the_field_ids_of_a_root_and_of_a_leaf(spark: SparkSession, table: str) -> None:
    root = table_with_leaves(spark, table)
    leaf = local(live(pq.read_table(root).to_pylist(), DATA_MANIFEST)[0]["location"])
    for path, content in ((root, b"root"), (leaf, b"data")):
        schema = pq.read_schema(path)
        ids = {name: int(schema.field(name).metadata[b"PARQUET:field_id"]) for name in FIELD_IDS}
        assert ids == FIELD_IDS
        assert schema.metadata is not None
        assert (schema.metadata[b"format-version"], schema.metadata[b"content"]) == (b"4", content)


def duckdb_rows(query: str) -> list[tuple[Any, ...]]:
    return list(duckdb.connect().execute(query).fetchall())


def test_duckdb_sums_the_rows_of_a_snapshot(spark: SparkSession, table: str) -> None:
    root = table_with_leaves(spark, table)
    kinds = dict(
        duckdb_rows(
            f"SELECT content_type, count(*) FROM '{root}' WHERE version_info.status < {DELETED} GROUP BY content_type"
        )
    )
    assert kinds.keys() == {DATA, DATA_MANIFEST, MANIFEST_VECTOR}
    leaves = duckdb_rows(f"SELECT location FROM '{root}' WHERE content_type = {DATA_MANIFEST}")
    paths = [str(local(leaf[0])) for leaf in leaves] + [str(root)]
    rows = duckdb_rows(f"SELECT sum(record_count)::BIGINT FROM read_parquet({paths}) WHERE content_type = {DATA}")
    deleted_in_root = duckdb_rows(
        f"SELECT coalesce(sum(record_count), 0)::BIGINT FROM '{root}' "
        f"WHERE content_type = {DATA} AND version_info.status = {DELETED}"
    )
    # The leaf also has the rows of p = 3, which a deletion vector of the root removes.
    removed = spark.sql("SELECT count(*) FROM range(0, 80) WHERE id % 8 = 3").collect()[0][0]
    kept = spark.sql(f"SELECT sum(record_count) FROM {table}.files").collect()[0][0]
    assert rows[0][0] - removed - deleted_in_root[0][0] == kept == spark.table(table).count()


def test_pyarrow_finds_the_deletion_vectors_of_a_delete_leaf(spark: SparkSession, table: str) -> None:
    root = table_with_delete_leaf(spark, table)
    entries = pq.read_table(root).to_pylist()
    leaf = local(live(entries, DELETE_MANIFEST)[0]["location"])
    schema = pq.read_schema(leaf)
    ids = {
        name: int(schema.field(name).metadata[b"PARQUET:field_id"]) for name in ("deletion_vector", "referenced_file")
    }
    assert ids == {"deletion_vector": 147, "referenced_file": 143}
    assert schema.metadata is not None
    assert (schema.metadata[b"format-version"], schema.metadata[b"content"]) == (b"4", b"delete")
    vectors = pq.read_table(leaf).to_pylist()
    assert {v["content_type"] for v in vectors} == {POSITION_DELETES}
    assert [v["record_count"] for v in vectors] == [1] * 8
    assert all(v["deletion_vector"]["size_in_bytes"] > 0 and v["deletion_vector"]["offset"] > 0 for v in vectors)
    data = [e for m in live(entries, DATA_MANIFEST) for e in pq.read_table(local(m["location"])).to_pylist()]
    assert {v["referenced_file"] for v in vectors} == {e["location"] for e in data}


def test_duckdb_counts_the_rows_that_the_deletion_vectors_of_a_leaf_leave(spark: SparkSession, table: str) -> None:
    root = table_with_delete_leaf(spark, table)
    paths = [local(r[0]) for r in duckdb_rows(f"SELECT location FROM '{root}' WHERE content_type >= {DATA_MANIFEST}")]
    rows, vectors = duckdb_rows(
        f"SELECT sum(record_count) FILTER (content_type = {DATA})::BIGINT, "
        f"count(*) FILTER (content_type = {POSITION_DELETES} AND deletion_vector.offset > 0) "
        f"FROM read_parquet({[str(path) for path in paths]}, union_by_name = true)"
    )[0]
    assert (rows, vectors) == (80, 8)
    assert rows - vectors == spark.table(table).count()
