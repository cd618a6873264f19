"""Changelogs of a table that PyIceberg has written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import SparkSession


@pytest.fixture
def peer(spark: SparkSession, sqlite_uri: str) -> SqlCatalog:
    """Return PyIceberg's catalog on the database of Spark's catalog `shared`."""
    warehouse = Path(sqlite_uri).parent / "tables"
    catalog = SqlCatalog("shared", uri=f"sqlite:///{sqlite_uri}", warehouse=str(warehouse))
    catalog.create_namespace_if_not_exists("peer")
    return catalog


def rows(spark: SparkSession, query: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row) for row in spark.sql(query).collect())


def test_changes_lead_from_each_snapshot_to_the_next(spark: SparkSession, peer: SqlCatalog) -> None:
    def some(*ids: int) -> pa.Table:
        return pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array([f"v{i % 3}" for i in ids], pa.string())})

    table = peer.create_table("peer.changes_of_pyiceberg", some().schema)
    table.append(some(*range(10)))
    table.append(some(*range(10, 20)))
    table.delete("id < 3 or v = 'v1'")
    table.overwrite(some(100, 101), overwrite_filter="id >= 15")
    table.upsert(some(100, 200), join_cols=["id"])
    table.overwrite(some(7))

    name = "shared.peer.changes_of_pyiceberg"
    spark.sql(f"REFRESH TABLE {name}")
    before: Counter[tuple[object, ...]] = Counter()
    for snapshot in table.snapshots():
        changes = f"SELECT id, v FROM {name}.changes WHERE _commit_snapshot_id = {snapshot.snapshot_id}"
        deleted = rows(spark, f"{changes} AND _change_type = 'DELETE'")
        inserted = rows(spark, f"{changes} AND _change_type = 'INSERT'")
        after = rows(spark, f"SELECT id, v FROM {name} VERSION AS OF {snapshot.snapshot_id}")
        assert deleted <= before
        assert before - deleted + inserted == after
        before = after
    assert sum(before.values()) == 1
