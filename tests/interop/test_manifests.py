"""PyIceberg and iceberg-lite read the same entries from manifests and manifest lists of each other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import ManifestEntry, ManifestFile
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.statistics import StatisticsFile
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, VoidTransform
from pyiceberg.types import (
    DateType,
    DoubleType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
)
from pyiceberg_tables import newest
from pyspark.sql import Row, SparkSession

COUNTS = ["column_sizes", "value_counts", "null_value_counts", "nan_value_counts"]
BOUNDS = ["lower_bounds", "upper_bounds"]
FILE_COUNTS = ["added_files_count", "existing_files_count", "deleted_files_count"]


@pytest.fixture(scope="module")
def peer(spark: SparkSession, sqlite_uri: str) -> SqlCatalog:
    """Return PyIceberg's catalog on the database of Spark's catalog `shared`."""
    warehouse = Path(sqlite_uri).parent / "tables"
    catalog = SqlCatalog("shared", uri=f"sqlite:///{sqlite_uri}", warehouse=str(warehouse))
    catalog.create_namespace_if_not_exists("manifests")
    return catalog


def manifests_of(table: Table) -> list[ManifestFile]:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return snapshot.manifests(table.io)


def plain(value: Any) -> Any:
    """Return a partition value or a metric in a form in which values of both libraries can be compared."""
    return bytes(value) if isinstance(value, (bytes, bytearray)) else value


def mapping(value: Any) -> dict[int, Any] | None:
    return None if value is None else {k: plain(v) for k, v in dict(value).items()}


def their_entry(entry: ManifestEntry) -> dict[str, Any]:
    """Return the fields of a manifest entry that PyIceberg has read, by their names in the metadata table `entries`."""
    file = entry.data_file
    row: dict[str, Any] = {
        "status": entry.status.value,
        "snapshot_id": entry.snapshot_id,
        "sequence_number": entry.sequence_number,
        "file_sequence_number": entry.file_sequence_number,
        # In version 1 files, the status is a plain number.
        "content": int(getattr(file.content, "value", file.content)),
        "file_path": file.file_path,
        "file_format": file.file_format.value.lower(),
        "record_count": file.record_count,
        "file_size_in_bytes": file.file_size_in_bytes,
        "split_offsets": list(file.split_offsets or []),
        "sort_order_id": file.sort_order_id,
        "spec_id": file.spec_id,
    }
    return row | {name: mapping(getattr(file, name)) for name in COUNTS + BOUNDS}


def our_entry(row: Row) -> dict[str, Any]:
    """Return the same fields of a row of the metadata table `entries`."""
    file = row["data_file"]
    names = ["content", "file_path", "record_count", "file_size_in_bytes", "sort_order_id", "spec_id"]
    entry = {name: row[name] for name in ["status", "snapshot_id", "sequence_number", "file_sequence_number"]}
    entry |= {name: file[name] for name in names}
    entry |= {"file_format": file["file_format"].lower(), "split_offsets": list(file["split_offsets"] or [])}
    return entry | {name: mapping(file[name]) for name in COUNTS + BOUNDS}


def by_path(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries, key=lambda e: (e["file_path"], e["status"]))


def assert_same_entries(spark: SparkSession, ours: str, theirs: Table) -> list[dict[str, Any]]:
    """Check that both libraries read the same entries, including deleted entries, and the same manifests."""
    listed = manifests_of(theirs)
    their_entries = [e for m in listed for e in m.fetch_manifest_entry(theirs.io, discard_deleted=False)]
    want = by_path(their_entry(e) for e in their_entries)
    assert by_path(our_entry(r) for r in spark.table(f"{ours}.entries").collect()) == want
    our_manifests = {r["path"]: r for r in spark.table(f"{ours}.manifests").collect()}
    assert our_manifests.keys() == {m.manifest_path for m in listed}
    for manifest in listed:
        row = our_manifests[manifest.manifest_path]
        assert (row["length"], row["partition_spec_id"]) == (manifest.manifest_length, manifest.partition_spec_id)
        assert row["added_snapshot_id"] == manifest.added_snapshot_id
        kind = "delete" if manifest.content else "data"
        assert [row[f"{c.split('_')[0]}_{kind}_files_count"] for c in FILE_COUNTS] == [
            getattr(manifest, c) for c in FILE_COUNTS
        ]
        summaries = [(s.contains_null, s.contains_nan) for s in manifest.partitions or []]
        assert [(s["contains_null"], s["contains_nan"]) for s in row["partition_summaries"]] == summaries
    return want


@pytest.mark.parametrize("version", [1, 2, 3])
def test_pyiceberg_reads_our_entries(spark: SparkSession, table: str, version: int) -> None:
    """proves: manifests/fields-by-id; proves: manifests/list-fields; proves: manifests/deleted-by."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, d DOUBLE, day DATE, place STRUCT<name: STRING, tags: ARRAY<INT>>) "
        f"USING iceberg PARTITIONED BY (bucket(3, id), day) TBLPROPERTIES ('format-version' = '{version}')"
    )
    rows = (
        "SELECT id, IF(id % 3 = 0, double('NaN'), id / 2D), date_add(DATE '1969-12-31', CAST(id % 3 AS INT)), "
        "named_struct('name', concat('n', id), 'tags', array(1, NULL)) FROM range({}, {})"
    )
    spark.sql(f"INSERT INTO {table} {rows.format(0, 12)}")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN extra STRING")
    spark.sql(f"ALTER TABLE {table} REPLACE PARTITION FIELD bucket(3, id) WITH truncate(1, place.name)")
    spark.sql(f"INSERT INTO {table} SELECT *, 'x' FROM ({rows.format(12, 20)})")
    spark.sql(f"DELETE FROM {table} WHERE day = DATE '1970-01-01'")
    spark.sql(f"INSERT INTO {table} SELECT *, NULL FROM ({rows.format(20, 24)})")
    entries = assert_same_entries(spark, table, newest(spark, table))
    assert {e["status"] for e in entries} == {0, 1, 2}
    assert {e["spec_id"] for e in entries} == {0, 1}
    assert all((e["sequence_number"] == 0) == (version == 1) for e in entries)


@pytest.mark.parametrize("version", [2, 3])
def test_pyiceberg_reads_our_existing_manifests(spark: SparkSession, table: str, version: int) -> None:
    """proves: manifests/carried-manifest; proves: manifests/explicit-numbers."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES "
        f"('format-version' = '{version}', 'commit.manifest.min-count-to-merge' = '3')"
    )
    for i in range(5):
        spark.sql(f"INSERT INTO {table} VALUES ({i})")
    entries = assert_same_entries(spark, table, newest(spark, table))
    assert sorted(e["sequence_number"] for e in entries) == [1, 2, 3, 4, 5]
    assert sorted(e["file_sequence_number"] for e in entries) == [1, 2, 3, 4, 5]
    assert 0 in {e["status"] for e in entries}


def rows(start: int, end: int) -> pa.Table:
    ids = list(range(start, end))
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "cat": [None if i % 5 == 0 else f"cat{i % 3}" for i in ids],
            "day": pa.array([i % 4 for i in ids], pa.int32()).cast(pa.date32()),
            "value": pa.array([float("nan") if i % 7 == 0 else i / 2 for i in ids], pa.float64()),
            "place": pa.array([{"n": i, "tags": ["a", None]} for i in ids], PLACE),
        }
    )


PLACE = pa.struct([pa.field("n", pa.int32()), pa.field("tags", pa.list_(pa.string()))])
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "cat", StringType(), required=False),
    NestedField(3, "day", DateType(), required=False),
    NestedField(4, "value", DoubleType(), required=False),
    NestedField(
        5,
        "place",
        StructType(
            NestedField(6, "n", IntegerType(), required=False),
            NestedField(7, "tags", ListType(8, StringType(), element_required=False), required=False),
        ),
        required=False,
    ),
)


@pytest.mark.parametrize("version", ["1", "2"])
def test_entries_of_pyiceberg_are_read(spark: SparkSession, peer: SqlCatalog, version: str) -> None:
    """proves: manifests/fields-by-id; proves: manifests/inherits-numbers; proves: manifests/version-1-numbers."""
    name = f"manifests.theirs{version}"
    table = peer.create_table(name, SCHEMA, properties={"format-version": version})
    table.append(rows(0, 10))
    with table.update_spec() as update:
        update.add_field("cat", IdentityTransform(), "cat.name/é")
        update.add_field("id", BucketTransform(4), "id_bucket")
    table.append(rows(10, 20))
    with table.update_spec() as update:
        update.add_field("day", DayTransform(), "day_day")
        update.add_field("value", VoidTransform(), "nothing")
    table.append(rows(20, 30))
    table.delete("id < 15")
    theirs = peer.load_table(name)
    entries = assert_same_entries(spark, f"shared.{name}", theirs)
    assert {e["status"] for e in entries} >= {1, 2}
    ours = spark.table(f"shared.{name}")
    assert sorted(r["id"] for r in ours.collect()) == list(range(15, 30))
    for condition in ("cat = 'cat1'", "cat IS NULL", "day = DATE '1970-01-03'", "id = 22", "isnan(value)"):
        want = sum(1 for r in ours.collect() if eval_condition(condition, r))
        assert ours.where(condition).count() == want, condition
    spark.sql(f"INSERT INTO shared.{name} SELECT id + 100, cat, day, value, place FROM shared.{name}")
    assert_same_entries(spark, f"shared.{name}", peer.load_table(name))


def eval_condition(condition: str, row: Row) -> bool:
    """Evaluate one of the conditions of the test for a row, without pruning."""
    tests: dict[str, bool] = {
        "cat = 'cat1'": row["cat"] == "cat1",
        "cat IS NULL": row["cat"] is None,
        "day = DATE '1970-01-03'": row["day"].toordinal() == 719163 + 2,
        "id = 22": row["id"] == 22,
        "isnan(value)": row["value"] != row["value"],
    }
    return tests[condition]


def test_statistics_of_pyiceberg_are_kept(spark: SparkSession, peer: SqlCatalog) -> None:
    name = "manifests.statistics"
    table = peer.create_table(name, SCHEMA, properties={"format-version": "2"})
    table.append(rows(0, 10))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    blob = {
        "type": "apache-datasketches-theta-v1",
        "snapshot-id": snapshot.snapshot_id,
        "sequence-number": 1,
        "fields": [1],
        "properties": {"ndv": "10"},
    }
    file = StatisticsFile.model_validate(
        {
            "snapshot-id": snapshot.snapshot_id,
            "statistics-path": f"{table.location()}/metadata/stats.puffin",
            "file-size-in-bytes": 100,
            "file-footer-size-in-bytes": 40,
            "blob-metadata": [blob],
        }
    )
    with table.update_statistics() as update:
        update.set_statistics(file)
    spark.sql(f"INSERT INTO shared.{name} SELECT * FROM shared.{name}")
    kept = peer.load_table(name).metadata.statistics
    assert [s.model_dump() for s in kept] == [file.model_dump()]
