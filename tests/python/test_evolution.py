"""Changes of a table's metadata in one commit with `Table.evolve`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from pyspark_iceberg import (
    Evolution,
    ExistingObjectError,
    MissingObjectError,
    PartitionField,
    SortField,
    Table,
    ValidationError,
    bucket,
    days,
)


@pytest.fixture
def events(spark: SparkSession, table: str) -> Table:
    """Return a table with one row."""
    inner = StructType([StructField("a", IntegerType())])
    builder = Table.create(spark, table).column("id", "bigint", nullable=False).column("n", "int").column("s", inner)
    created = builder.column("ts", "timestamp").property("format-version", 3).execute()
    spark.sql(f"INSERT INTO {table} VALUES (1, 10, struct(5), TIMESTAMP '2026-01-01 00:00:00')")
    return created


def versions(table: Table) -> int:
    """Return the number of metadata files in the log of the table, which grows by one with each commit."""
    return table.metadata("metadata_log_entries").count()


def test_changes_of_many_kinds_are_one_commit(spark: SparkSession, events: Table) -> None:
    before = versions(events)
    with events.evolve() as changes:
        changes.add_column("city", StringType(), nullable=False, default="'Rome'", comment="it's ${a} city")
        changes.add_column("s.`b.c`", "int", first=True)
        changes.rename_column("city", "the place")
        changes.move_column("`the place`", after="id")
        changes.change_type("n", LongType())
        changes.set_comment("n", "number")
        changes.set_nullable("id")
        changes.set_default("n", "7")
        changes.add_partition_field(days("ts"))
        changes.add_partition_field(bucket(4, "`the place`"), name="where")
        changes.sort_by("n DESC", days("ts"))
        changes.set_properties({"team": "it's data", "write.object-storage.enabled": True})
        assert versions(events) == before
    assert versions(events) == before + 1
    assert events.schema.names == ["id", "the place", "n", "s", "ts"]
    assert events.schema["the place"].metadata["comment"] == "it's ${a} city"
    assert not events.schema["the place"].nullable
    assert events.schema["id"].nullable
    nested = events.schema["s"].dataType
    assert isinstance(nested, StructType)
    assert nested.names == ["b.c", "a"]
    assert events.partitioning == (
        PartitionField(0, "days(ts)", "ts_day", 1000, ("ts",)),
        PartitionField(1, "bucket(4, `the place`)", "where", 1001, ("the place",)),
    )
    assert events.sort_order.to_df().where("descending").count() == 1
    assert events.sort_order == (SortField(0, "n", True, False, ("n",)), SortField(1, "days(ts)", False, True, ("ts",)))
    assert events.properties["team"] == "it's data"
    assert [tuple(row) for row in events.to_df().select("`the place`", "n", "s.a").collect()] == [("Rome", 10, 5)]


def test_fields_and_properties_are_removed_in_one_commit(events: Table) -> None:
    with events.evolve() as changes:
        changes.identifier_fields("id")
        changes.add_partition_field("n")
        changes.sort_by("n")
        changes.set_properties({"team": "data"})
    assert events.identifier_fields == ("id",)
    before = versions(events)
    with events.evolve() as changes:
        changes.rename_column("n", "m")
        changes.replace_partition_field("m", bucket(2, "m"), name="m_hash")
        changes.sort_by()
        changes.sql("DROP IDENTIFIER FIELDS id")
        changes.unset_properties("team", "not-set")
        changes.drop_column("s")
        changes.drop_column("nothing", if_exists=True)
        changes.set_comment("m", None)
    assert versions(events) == before + 1
    assert [(p.name, p.transform) for p in events.partitioning] == [("m_hash", "bucket(2, m)")]
    assert not events.sort_order
    assert not events.identifier_fields
    assert "team" not in events.properties
    with events.evolve() as changes:
        changes.drop_partition_field("m_hash")
        changes.set_default("m", None)
    assert events.partitioning == ()


def invalid_changes() -> dict[type[Exception], Callable[[Evolution], object]]:
    """Return changes that fail, by the classes of their errors."""
    return {
        ZeroDivisionError: lambda changes: len(changes.changes) // 0,
        MissingObjectError: lambda changes: changes.drop_column("nothing"),
        ExistingObjectError: lambda changes: changes.add_column("n", "int"),
        ValidationError: lambda changes: changes.change_type("id", "int"),
    }


@pytest.mark.parametrize(("error", "change"), invalid_changes().items())
def test_nothing_is_committed_if_the_block_or_a_change_fails(
    events: Table, error: type[Exception], change: Callable[[Evolution], object]
) -> None:
    def evolve() -> None:
        with events.evolve() as changes:
            changes.add_column("extra", "int")
            change(changes)

    before = versions(events)
    with pytest.raises(error):
        evolve()
    assert versions(events) == before


def test_a_block_without_changes_commits_nothing(events: Table) -> None:
    before = versions(events)
    with events.evolve():
        pass
    with events.evolve() as changes:
        changes.set_properties({})
        changes.unset_properties()
        assert changes.changes == ()
    assert versions(events) == before


def test_contradictory_arguments_are_rejected(events: Table) -> None:
    before = versions(events)
    with pytest.raises(ValueError, match="either first or after"), events.evolve() as changes:
        changes.add_column("extra", "int", first=True, after="id")
    with pytest.raises(ValueError, match="either first or after"), events.evolve() as changes:
        changes.move_column("id")
    with pytest.raises(ValueError, match="at least one column"), events.evolve() as changes:
        changes.identifier_fields()
    assert versions(events) == before
