"""Changelogs of a table that PyIceberg has written."""

from __future__ import annotations

from collections import Counter, defaultdict
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


Rows = Counter[tuple[object, ...]]


def changes_by_snapshot(spark: SparkSession, table: str) -> dict[tuple[int, str], Rows]:
    """Return the changed rows of each snapshot and kind of change."""
    found: dict[tuple[int, str], Rows] = defaultdict(Counter)
    for change in spark.sql(f"SELECT _commit_snapshot_id, _change_type, id, v FROM {table}.changes").collect():
        found[change[0], change[1]][tuple(change[2:])] += 1
    return found


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
    changes = changes_by_snapshot(spark, name)
    before: Rows = Counter()
    for snapshot in table.snapshots():
        version = spark.sql(f"SELECT id, v FROM {name} VERSION AS OF {snapshot.snapshot_id}").collect()
        after = Counter(tuple(row) for row in version)
        deleted, inserted = (changes.pop((snapshot.snapshot_id, kind), Counter()) for kind in ("DELETE", "INSERT"))
        assert deleted <= before
        assert before - deleted + inserted == after
        before = after
    assert sum(before.values()) == 1
    assert changes == {}
