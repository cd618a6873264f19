"""PyIceberg reads rows and metadata written by iceberg-lite, and vice versa."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform
from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType
from pyiceberg_tables import newest
from pyspark.sql import SparkSession

ALL_TYPES = """
    flag BOOLEAN, small INT, big BIGINT, f FLOAT, d DOUBLE, price DECIMAL(9, 2), wide DECIMAL(38, 10), day DATE,
    ts TIMESTAMP, local TIMESTAMP_NTZ, text STRING, raw BINARY, place STRUCT<lat: DOUBLE, names: ARRAY<STRING>>,
    tags ARRAY<STRUCT<k: STRING, v: INT>>, counts MAP<STRING, BIGINT>
"""
FULL_ROW = """
    true, 1, 2, CAST(1.5 AS FLOAT), 2.5, CAST(12.34 AS DECIMAL(9, 2)), CAST(1.0000000001 AS DECIMAL(38, 10)),
    DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMP_NTZ '2024-02-29 01:02:03.000004', 'grüße 🧊',
    X'00FF', named_struct('lat', 1.0D, 'names', array('a', NULL)), array(named_struct('k', 'x', 'v', 1)), map('m', 5L)
"""


@pytest.fixture(scope="module")
def peer(spark: SparkSession, sqlite_uri: str) -> SqlCatalog:
    """Return PyIceberg's catalog on the database of Spark's catalog `shared`."""
    warehouse = Path(sqlite_uri).parent / "tables"
    catalog = SqlCatalog("shared", uri=f"sqlite:///{sqlite_uri}", warehouse=str(warehouse))
    catalog.create_namespace_if_not_exists("peer")
    return catalog


def by_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda r: (r["id"] is None, r["id"]))


@pytest.mark.parametrize("version", [1, 2])
def test_every_type_is_read_by_pyiceberg(spark: SparkSession, table: str, version: int) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT, {ALL_TYPES}) USING iceberg TBLPROPERTIES ('format-version'='{version}')")
    width = len(spark.table(table).columns) - 1
    spark.sql(f"INSERT INTO {table} SELECT 1, {FULL_ROW}")
    spark.sql(f"INSERT INTO {table} SELECT 2, {', '.join(['NULL'] * width)}")
    full, empty = by_id(newest(spark, table).scan().to_arrow().to_pylist())
    assert full["price"] == Decimal("12.34")
    assert full["wide"] == Decimal("1.0000000001")
    assert full["day"] == datetime.date(1969, 12, 31)
    assert full["ts"] == datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=full["ts"].tzinfo)
    assert full["local"] == datetime.datetime(2024, 2, 29, 1, 2, 3, 4)
    assert full["text"] == "grüße 🧊"
    assert full["raw"] == b"\x00\xff"
    assert full["place"] == {"lat": 1.0, "names": ["a", None]}
    assert full["tags"] == [{"k": "x", "v": 1}]
    assert dict(full["counts"]) == {"m": 5}
    # PyIceberg 0.12 reads a null list of structs as an empty list, although it is null in the file.
    assert empty.pop("tags") in (None, [])
    assert all(v is None for k, v in empty.items() if k != "id")


def test_orc_files_are_read_by_pyiceberg(spark: SparkSession, table: str) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT NOT NULL, {ALL_TYPES}) USING iceberg PARTITIONED BY (bucket(2, id)) "
        "TBLPROPERTIES ('write.format.default' = 'orc')"
    )
    # ORC cannot store times in the last second before 1970.
    row = FULL_ROW.replace("1969-12-31 23:59:59.999999", "1969-12-31 23:59:58.999999")
    spark.sql(f"INSERT INTO {table} SELECT id, {row} FROM range(100)")
    spark.sql(f"INSERT INTO {table} SELECT -1, {', '.join(['NULL'] * (len(spark.table(table).columns) - 1))}")
    theirs = newest(spark, table)
    assert {Path(f["file_path"]).suffix for f in theirs.inspect.files().to_pylist()} == {".orc"}
    empty, *full = by_id(theirs.scan().to_arrow().to_pylist())
    # As for Parquet files, PyIceberg reads a null list of structs as an empty list.
    assert empty.pop("tags") in (None, [])
    assert empty == {"id": -1} | dict.fromkeys(empty.keys() - {"id"})
    assert [r["id"] for r in full] == list(range(100))
    ours = spark.table(table).where("id = 7").collect()[0].asDict(recursive=True)
    found = full[7]
    assert found.pop("ts") == datetime.datetime(1969, 12, 31, 23, 59, 58, 999999, tzinfo=datetime.timezone.utc)
    del ours["ts"]
    assert dict(found.pop("counts")) == ours.pop("counts")
    assert {k: bytes(v) if isinstance(v, bytearray) else v for k, v in ours.items()} == found
    assert theirs.scan(row_filter="id >= 40 and id < 50").to_arrow().num_rows == 10


@pytest.mark.parametrize("version", [1, 2])
def test_partitioned_and_evolved_tables_are_read_by_pyiceberg(spark: SparkSession, table: str, version: int) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, cat STRING, ts TIMESTAMP, n INT) USING iceberg "
        f"PARTITIONED BY (days(ts), bucket(3, id)) TBLPROPERTIES ('format-version' = '{version}')"
    )
    rows = "SELECT id, concat('c', id % 3), timestamp_seconds(id * 40000), CAST(id AS INT) FROM range({}, {})"
    spark.sql(f"INSERT INTO {table} {rows.format(0, 20)}")
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN n TYPE BIGINT")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN cat TO category")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN extra DOUBLE")
    spark.sql(f"ALTER TABLE {table} REPLACE PARTITION FIELD bucket(3, id) WITH truncate(1, category)")
    spark.sql(f"INSERT INTO {table} SELECT *, 0.5D FROM ({rows.format(20, 40)})")
    theirs = newest(spark, table)
    got = by_id(theirs.scan().to_arrow().to_pylist())
    ours = by_id([r.asDict() for r in spark.table(table).collect()])
    assert [(r["id"], r["category"], r["n"], r["extra"]) for r in got] == [
        (r["id"], r["category"], r["n"], r["extra"]) for r in ours
    ]
    for condition in ("category = 'c1'", "id < 7", "id = 31", "ts >= '1970-01-12T00:00:00+00:00'", "extra is null"):
        want = spark.table(table).where(condition.replace("T00:00:00+00:00", " 00:00:00")).count()
        assert theirs.scan(row_filter=condition).to_arrow().num_rows == want, condition


def test_pyiceberg_reads_the_same_files_partitions_and_snapshots(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT, d DOUBLE) USING iceberg PARTITIONED BY (bucket(2, id))")
    spark.sql(f"INSERT INTO {table} SELECT id, IF(id % 4 = 0, double('NaN'), id / 2D) FROM range(10)")
    spark.sql(f"INSERT OVERWRITE {table} SELECT id, 1D FROM range(3)")
    theirs = newest(spark, table).inspect
    keys = ["file_path", "record_count", "file_size_in_bytes", "spec_id"]
    files = {tuple(r[k] for k in keys): r for r in theirs.files().to_pylist()}
    ours = {tuple(r[k] for k in keys): r for r in spark.table(f"{table}.files").collect()}
    assert files.keys() == ours.keys()
    for key, row in files.items():
        assert row["partition"] == ours[key]["partition"].asDict()
        assert dict(row["value_counts"]) == ours[key]["value_counts"]
        assert dict(row["lower_bounds"]) == {k: bytes(v) for k, v in ours[key]["lower_bounds"].items()}
        assert dict(row["nan_value_counts"]) == ours[key]["nan_value_counts"]
    snapshots = [(r["snapshot_id"], r["operation"]) for r in theirs.snapshots().to_pylist()]
    assert snapshots == [
        (r["snapshot_id"], r["operation"]) for r in spark.table(f"{table}.snapshots").orderBy("committed_at").collect()
    ]


def test_a_jdbc_catalog_is_shared_with_pyiceberg(spark: SparkSession, peer: SqlCatalog) -> None:
    spark.sql("CREATE TABLE shared.peer.ours USING iceberg AS SELECT id, concat('v', id) AS s FROM range(5)")
    table = peer.load_table("peer.ours")
    assert table.scan().to_arrow().num_rows == 5
    table.append(pa.table({"id": pa.array([100], pa.int64()), "s": ["theirs"]}))
    spark.sql("REFRESH TABLE shared.peer.ours")
    assert spark.table("shared.peer.ours").where("id = 100").collect()[0]["s"] == "theirs"
    spark.sql("INSERT INTO shared.peer.ours VALUES (101, 'ours again')")
    assert peer.load_table("peer.ours").scan().to_arrow().num_rows == 7
    assert ("peer", "ours") in peer.list_tables("peer")
    assert "peer" in {r[0] for r in spark.sql("SHOW NAMESPACES IN shared").collect()}
    spark.sql("DROP TABLE shared.peer.ours PURGE")
    assert not peer.table_exists("peer.ours")


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_table_of_pyiceberg_is_read_and_written_by_spark(spark: SparkSession, peer: SqlCatalog, version: str) -> None:
    schema = Schema(
        NestedField(1, "id", LongType(), required=False),
        NestedField(2, "name", StringType(), required=False),
        NestedField(3, "at", TimestamptzType(), required=False),
    )
    name = f"peer.theirs{version}"
    table = peer.create_table(name, schema, properties={"format-version": version})
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(4), "id_bucket")
        update.add_field("at", DayTransform(), "at_day")
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    rows = pa.table(
        {
            "id": pa.array(range(50), pa.int64()),
            "name": [None if i % 7 == 0 else f"n{i}" for i in range(50)],
            "at": pa.array([start + datetime.timedelta(hours=5 * i) for i in range(50)], pa.timestamp("us", tz="UTC")),
        }
    )
    table.append(rows)
    ours = spark.table(f"shared.{name}")
    assert ours.count() == 50
    assert ours.where("id = 33").count() == 1
    assert ours.where("name IS NULL").count() == 8
    assert ours.where("at >= TIMESTAMP '2024-01-05 00:00:00'").count() == sum(1 for i in range(50) if 5 * i >= 4 * 24)
    spark.sql(f"INSERT INTO shared.{name} SELECT id + 50, name, at FROM shared.{name}")
    again = peer.load_table(name).scan().to_arrow()
    assert sorted(again["id"].to_pylist()) == list(range(100))
