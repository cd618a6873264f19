"""The Table class."""

from __future__ import annotations

import datetime

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import PartitionField, Table


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
    assert events.partitioning == (PartitionField(0, "days(ts)"), PartitionField(1, "bucket(4, id)"))
    assert events.properties["owner-team"] == "data"
    assert events.format_version == 2
    assert events.location.endswith(events.name.replace(".", "/"))


def test_snapshots_history_refs_and_files_are_ordered_data_frames(events: Table) -> None:
    assert [r["operation"] for r in events.snapshots().collect()] == ["append", "append"]
    assert [r["is_current_ancestor"] for r in events.history().collect()] == [True, True]
    assert [(r["name"], r["type"], r["snapshot_id"]) for r in events.refs().collect()] == [
        ("main", "BRANCH", events.current_snapshot_id)
    ]
    assert sum(r["record_count"] for r in events.files().collect()) == 3


def test_as_of_reads_a_snapshot_or_a_timestamp(events: Table) -> None:
    first = events.snapshots().first()
    assert first is not None
    assert events.as_of(version=first["snapshot_id"]).count() == 2
    assert events.as_of(timestamp=first["committed_at"]).count() == 2
    assert events.as_of(version="main").count() == 3
    assert events.as_of(timestamp=datetime.datetime.now() + datetime.timedelta(days=1)).count() == 3


def test_as_of_requires_exactly_one_of_version_and_timestamp(events: Table) -> None:
    with pytest.raises(ValueError, match="either version or timestamp"):
        events.as_of()


def test_as_of_before_the_history_reports_when_it_starts(events: Table) -> None:
    with pytest.raises(AnalysisException, match="history starts at"):
        events.as_of(timestamp="2001-01-01").count()


def test_a_missing_table_is_reported(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="no_such_table"):
        Table(spark, "tests.no_such_table")


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
