"""The class `Table`: metadata, time travel, paths and representations of a table."""

from __future__ import annotations

import datetime

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import MissingObjectError, PartitionField, Ref, Table


@pytest.fixture
def events(spark: SparkSession, table: str) -> Table:
    """Return a table with two snapshots."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, ts TIMESTAMP, note STRING COMMENT 'free text') USING iceberg "
        "PARTITIONED BY (days(ts), bucket(4, id)) TBLPROPERTIES ('owner-team' = 'data')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, TIMESTAMP '2024-01-01 10:00:00', 'a'), (2, NULL, NULL)")
    spark.sql(f"INSERT INTO {table} VALUES (3, TIMESTAMP '2024-01-02 10:00:00', 'c')")
    return Table(spark, table)


def test_a_table_has_its_schema_partitioning_and_properties(events: Table) -> None:
    assert [f.simpleString() for f in events.schema.fields] == ["id:bigint", "ts:timestamp", "note:string"]
    assert [row["transform"] for row in events.partitioning.to_df().collect()] == ["days(ts)", "bucket(4, id)"]
    assert events.partitioning == (
        PartitionField(0, "days(ts)", "ts_day", 1000, ("ts",)),
        PartitionField(1, "bucket(4, id)", "id_bucket", 1001, ("id",)),
    )
    assert events.properties["owner-team"] == "data"
    assert events.format_version == 2
    assert events.location.endswith(events.name.replace(".", "/"))


def test_snapshots_history_refs_files_and_partitions_are_typed_rows(events: Table) -> None:
    first, second = events.snapshots()
    assert (first.operation, second.operation, second.parent_id) == ("append", "append", first.snapshot_id)
    assert (first.parent_id, first.summary["added-records"]) == (None, "2")
    assert [(h.snapshot_id, h.is_current_ancestor) for h in events.history()] == [
        (first.snapshot_id, True),
        (second.snapshot_id, True),
    ]
    assert events.refs().to_list() == [Ref("main", "BRANCH", second.snapshot_id, None, None, None)]
    assert {(f.content, f.format) for f in events.files()} == {("data", "PARQUET")}
    assert sum(f.records for f in events.files()) == 3
    assert all(f.bytes > 0 for f in events.files())
    days = sorted(str(p.values["ts_day"]) for p in events.partitions())
    assert days == ["2024-01-01", "2024-01-02", "None"]
    assert sum(p.records for p in events.partitions()) == 3
    assert events.snapshots().first() == first
    assert "manifest_list" in events.snapshots().to_df().columns


def test_an_unpartitioned_table_has_one_partition_without_values(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} AS SELECT 1 AS id")
    only = Table(spark, table).partitions().to_list()
    assert [(p.values, p.records, p.data_files) for p in only] == [({}, 1, 1)]
    assert [f.partition for f in Table(spark, table).files()] == [{}]


def test_as_of_reads_a_snapshot_or_a_timestamp(events: Table) -> None:
    first = events.snapshots().first()
    assert first is not None
    assert events.as_of(version=first.snapshot_id).count() == 2
    assert events.as_of(timestamp=first.committed_at).count() == 2
    assert events.as_of(version="main").count() == 3
    assert events.as_of(timestamp=datetime.datetime.now() + datetime.timedelta(days=1)).count() == 3


def test_as_of_requires_a_version_or_a_timestamp(events: Table) -> None:
    with pytest.raises(ValueError, match="either version or timestamp"):
        events.as_of()


def test_as_of_before_the_history_reports_when_it_starts(events: Table) -> None:
    with pytest.raises(AnalysisException, match="history starts at"):
        events.as_of(timestamp="2001-01-01").count()


def test_a_missing_table_is_reported(spark: SparkSession) -> None:
    with pytest.raises(MissingObjectError, match="no_such_table") as error:
        Table(spark, "tests.no_such_table")
    assert error.value.condition == "TABLE_OR_VIEW_NOT_FOUND"
    assert isinstance(error.value, AnalysisException)
    assert not Table.exists(spark, "tests.no_such_table")


def test_a_table_can_be_opened_by_its_path(spark: SparkSession, events: Table) -> None:
    by_path = Table.for_path(spark, events.location)
    assert by_path.to_df().count() == 3
    assert by_path.append([(4, None, "d")]).inserted == 1
    assert by_path.current_snapshot_id == events.current_snapshot_id
    assert by_path.rewrite_data_files().failed_data_files_count == 0
    with pytest.raises(ValueError, match="is a name, not a path"):
        Table.for_path(spark, "db.t")


def test_a_path_without_a_table_has_the_error_class_of_missing_objects(spark: SparkSession, events: Table) -> None:
    with pytest.raises(MissingObjectError):
        Table.for_path(spark, events.location + "/nothing")


def test_a_missing_metadata_table_is_reported_at_once(events: Table) -> None:
    with pytest.raises(MissingObjectError, match="fils"):
        events.metadata("fils")


def test_an_empty_table_has_no_current_snapshot(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT) USING iceberg")
    assert Table(spark, table).current_snapshot_id is None


def test_representations_show_the_schema_and_escape_names(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (`a<b` INT, `größe` STRING) USING iceberg")
    handle = Table(spark, table)
    assert "a<b: int" in repr(handle)
    html = handle._repr_html_()
    assert "a&lt;b" in html
    assert "größe" in html
