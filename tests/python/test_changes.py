"""Incremental reads and changelogs with the methods of `Table` and with read options."""

from __future__ import annotations

import datetime

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from pyspark_iceberg import Table


@pytest.fixture
def events(spark: SparkSession, table: str) -> Table:
    """Return a table with two appends, a delete and an overwrite."""
    spark.sql(f"CREATE TABLE {table} (id BIGINT, kind STRING) USING iceberg PARTITIONED BY (kind)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"INSERT INTO {table} VALUES (3, 'a')")
    spark.sql(f"DELETE FROM {table} WHERE kind = 'b'")
    spark.sql(f"INSERT OVERWRITE {table} VALUES (4, 'a')")
    return Table(spark, table)


def snapshots(table: Table) -> list[int]:
    return [snapshot.snapshot_id for snapshot in table.snapshots()]


def changed(frame: DataFrame) -> list[tuple[int, str, int]]:
    rows = frame.select("id", "_change_type", "_change_ordinal").collect()
    return sorted((row[0], row[1], row[2]) for row in rows)


def test_changes_show_what_each_commit_did(events: Table) -> None:
    first, second, *_ = snapshots(events)
    inserts = [(1, "INSERT", 0), (2, "INSERT", 0), (3, "INSERT", 1)]
    assert changed(events.changes(until=second)) == inserts
    later = [(1, "DELETE", 2), (2, "DELETE", 1), (3, "DELETE", 2), (3, "INSERT", 0), (4, "INSERT", 2)]
    assert changed(events.changes(after=first)) == later
    assert events.changes().count() == 7
    assert events.changes(after=datetime.datetime.now()).count() == 0


def test_appended_rows_come_from_append_commits_only(events: Table) -> None:
    first, second, *_ = snapshots(events)
    assert [row["id"] for row in events.appended(after=first).collect()] == [3]
    assert events.appended(after=second).count() == 0
    committed = events.snapshots().first()
    assert committed is not None
    assert events.appended(after=committed.committed_at).count() == 1


def test_read_options_select_the_commits_of_appended_rows_and_of_changes(spark: SparkSession, events: Table) -> None:
    first, second, *_ = snapshots(events)
    reader = spark.read.option("start-snapshot-id", first).option("end-snapshot-id", second)
    assert [row["id"] for row in reader.table(events.name).collect()] == [3]
    assert changed(reader.format("iceberg-lite").load(f"{events.name}.changes")) == [(3, "INSERT", 0)]


def test_a_missing_start_snapshot_and_swapped_bounds_are_reported(events: Table) -> None:
    with pytest.raises(AnalysisException, match=r"Snapshot not found: 7 \(start-snapshot-id\)"):
        events.appended(after=7).collect()
    first, second, *_ = snapshots(events)
    with pytest.raises(AnalysisException, match="swap start and end"):
        events.changes(after=second, until=first).collect()


def test_a_changelog_view_computes_updates_and_net_changes(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT, v STRING) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"INSERT OVERWRITE {table} VALUES (1, 'a'), (2, 'c')")
    changed = Table(spark, table)
    first, second = snapshots(changed)

    def shown(view: str) -> list[tuple[int, str, str]]:
        rows = spark.table(view).select("id", "v", "_change_type").collect()
        return sorted((row[0], row[1], row[2]) for row in rows)

    plain = changed.create_changelog_view(options={"start-snapshot-id": first, "end-snapshot-id": str(second)})
    assert shown(plain.changelog_view) == [(2, "b", "DELETE"), (2, "c", "INSERT")]
    updates = changed.create_changelog_view("updates", {"start-snapshot-id": first}, identifier_columns=["id"])
    assert updates == ("updates",)
    assert shown("updates") == [(2, "b", "UPDATE_BEFORE"), (2, "c", "UPDATE_AFTER")]
    assert shown(changed.create_changelog_view("net", net_changes=True)[0]) == [(1, "a", "INSERT"), (2, "c", "INSERT")]
    with pytest.raises(AnalysisException, match="SET IDENTIFIER FIELDS"):
        changed.create_changelog_view(compute_updates=True)
