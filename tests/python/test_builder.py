"""Creation and replacement of tables with the builders of `Table`."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from pyspark_iceberg import ExistingObjectError, Table, bucket, days


def test_a_created_table_has_everything_that_was_declared(spark: SparkSession, table: str) -> None:
    created = (
        Table.create(spark, table)
        .column("id", LongType(), nullable=False, comment="it's the key")
        .column("ts", "timestamp")
        .column("note", "string", default="'none'")
        .partitioned_by(days("ts"), bucket(4, "id"))
        .sorted_by("id DESC")
        .identifier_fields("id")
        .property("format-version", 3)
        .property("owner-team", "data")
        .property("write.spark.accept-any-schema", True)
        .comment("events of one day")
        .execute()
    )
    assert [(f.name, f.nullable) for f in created.schema.fields] == [("id", False), ("ts", True), ("note", True)]
    assert created.schema["id"].metadata["comment"] == "it's the key"
    assert [p.transform for p in created.partitioning] == ["days(ts)", "bucket(4, id)"]
    assert [str(field) for field in created.sort_order] == ["id DESC NULLS LAST"]
    assert created.identifier_fields == ("id",)
    assert created.properties["owner-team"] == "data"
    assert created.properties["write.spark.accept-any-schema"] == "true"
    assert created.comment == "events of one day"
    spark.sql(f"INSERT INTO {table} (id) VALUES (1)")
    assert [row["note"] for row in created.to_df().collect()] == ["none"]


def test_a_table_is_created_only_once(spark: SparkSession, table: str) -> None:
    schema = StructType([StructField("id", LongType()), StructField("name", StringType(), True, {"comment": "n"})])
    Table.create(spark, table).columns(schema).execute().append([(1, "a")])
    with pytest.raises(ExistingObjectError) as error:
        Table.create(spark, table).columns(schema).execute()
    assert error.value.condition == "TABLE_OR_VIEW_ALREADY_EXISTS"
    same = Table.create_if_not_exists(spark, table).column("other", "int").sorted_by("other").execute()
    assert same.schema.names == ["id", "name"]
    assert same.sort_order == ()
    assert same.to_df().count() == 1
    assert Table.exists(spark, table)


def test_a_table_is_created_and_replaced_from_a_query(spark: SparkSession, table: str) -> None:
    rows = spark.range(10).selectExpr("id", "id % 2 AS p")
    created = Table.create(spark, table).partitioned_by("p").as_select(rows)
    assert created.to_df().count() == 10
    assert [p.values for p in created.partitions()] in ([{"p": 0}, {"p": 1}], [{"p": 1}, {"p": 0}])
    replaced = Table.replace(spark, table).as_select("SELECT 'x' AS name -- a comment")
    assert [tuple(row) for row in replaced.to_df().collect()] == [("x",)]
    assert len(replaced.snapshots().to_list()) == 2
    assert spark.catalog.listTables("spark_catalog.default") == []


def test_missing_superfluous_and_unknown_columns_are_rejected(spark: SparkSession, table: str) -> None:
    with pytest.raises(ValueError, match="Add at least one column"):
        Table.create(spark, table).execute()
    with pytest.raises(ValueError, match="those of the query"):
        Table.create(spark, table).column("id", "int").as_select("SELECT 1 AS id")
    with pytest.raises(AnalysisException, match="no_such_column"):
        Table.create(spark, table).column("id", "int").partitioned_by("no_such_column").execute()
    assert not Table.exists(spark, table)


def test_names_with_spaces_and_nested_types_are_created_as_declared(spark: SparkSession, table: str) -> None:
    inner = StructType(
        [StructField("order id", LongType(), False, {"comment": "it's"}), StructField("x", StringType())]
    )
    schema = StructType([StructField("the key", LongType(), False), StructField("s", inner, False)])
    builder = Table.create(spark, table).columns(schema).identifier_fields("the key", "s.`order id`")
    created = builder.column("Comment", "timestamp").partitioned_by(days("Comment"), bucket(2, "the key")).execute()
    assert created.identifier_fields == ("the key", "s.order id")
    nested = created.schema["s"].dataType
    assert isinstance(nested, StructType)
    assert (nested["order id"].nullable, nested["order id"].metadata["comment"]) == (False, "it's")
    assert [p.transform for p in created.partitioning] == ["days(Comment)", "bucket(2, `the key`)"]
    assert created.comment is None
