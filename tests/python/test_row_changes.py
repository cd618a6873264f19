"""DELETE, UPDATE and MERGE from Python, and the row counts that they return."""

from __future__ import annotations

import datetime

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import RowChanges, Table


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def numbers(spark: SparkSession, table: str, request: pytest.FixtureRequest) -> Table:
    """Return a table with 100 rows. Each test runs in both write modes."""
    modes = ", ".join(f"'write.{verb}.mode' = '{request.param}'" for verb in ("delete", "update", "merge"))
    spark.sql(f"CREATE TABLE {table} (id BIGINT, n BIGINT, note STRING) USING iceberg TBLPROPERTIES ({modes})")
    spark.sql(f"INSERT INTO {table} SELECT id, id % 10, 'first' FROM range(0, 100, 1, 2)")
    return Table(spark, table)


def _remaining_views(spark: SparkSession) -> list[str]:
    views = [view.name for view in spark.catalog.listTables("spark_catalog.default")]
    return [name for name in views if name.startswith("rows_")]


def test_delete_and_update_return_the_number_of_changed_rows(numbers: Table) -> None:
    deleted = numbers.delete("n = 3")
    assert (deleted.inserted, deleted.updated, deleted.deleted) == (0, 0, 10)
    assert deleted.snapshot_id == numbers.current_snapshot_id
    updated = numbers.update(
        {"n": "n + 100", "note": r"'it\'s {new}'"},
        "n = 4",
        options={"isolation-level": "snapshot", "snapshot-property.checked": True},
    )
    assert (updated.inserted, updated.updated, updated.deleted) == (0, 10, 0)
    assert numbers.snapshots().to_list()[-1].summary["checked"] == "true"
    assert numbers.to_df().where('n = 104 AND note = "it\'s {new}"').count() == 10
    assert numbers.delete("id = -1") == RowChanges() == numbers.update({"n": "1"}, "id = -1")
    assert numbers.update({"n": "0"}).updated == 90
    assert numbers.delete_all().deleted == 90
    assert numbers.to_df().count() == 0


def test_a_merge_with_all_clauses_returns_its_row_counts(spark: SparkSession, numbers: Table) -> None:
    source = spark.sql("SELECT id, 50L AS n, 'new' AS note FROM range(90, 110)")
    changes = (
        numbers.merge(source, "target.id = source.id")
        .when_matched_delete(condition="target.id = 90")
        .when_matched_update({"n": "source.n + target.n"}, condition="target.id = 91")
        .when_matched_update_all(condition="source.id < 98")
        .when_not_matched_insert({"id": "source.id", "note": "'some'"}, condition="source.id < 103")
        .when_not_matched_insert_all(condition="source.id < 105")
        .when_not_matched_by_source_update({"note": "'alone'"}, condition="target.id = 1")
        .when_not_matched_by_source_delete(condition="target.id IN (2, 3, 4) OR false")
        .option("snapshot-property.job", "nightly")
        .option("snapshot-property.checked", True)
        .retries(2)
        .execute()
    )
    assert (changes.inserted, changes.updated, changes.deleted) == (5, 8, 4)
    last = numbers.snapshots().to_list()[-1]
    assert last.snapshot_id == changes.snapshot_id
    assert last.summary["checked"] == "true"
    assert last.summary["job"] == "nightly"
    rows = numbers.to_df().where("id IN (1, 91, 92, 100, 104)").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [
        (1, 1, "alone"),
        (91, 51, "first"),
        (92, 50, "new"),
        (100, None, "some"),
        (104, 50, "new"),
    ]
    assert not _remaining_views(spark)


def test_a_merge_by_key_columns_evolves_the_schema_and_accepts_a_view(spark: SparkSession, numbers: Table) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW `new numbers` AS SELECT 99L AS id, 1L AS v UNION ALL SELECT 100L, 2L")
    changes = (
        numbers.merge("`new numbers`", ["id"])
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .with_schema_evolution()
        .execute()
    )
    assert (changes.inserted, changes.updated, changes.deleted) == (1, 1, 0)
    rows = numbers.to_df().where("id >= 99").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(99, 9, "first", 1), (100, None, None, 2)]
    again = numbers.merge(spark.table("`new numbers`"), ["id", "v"]).when_not_matched_insert_all()
    assert again.with_schema_evolution().execute().inserted == 0


def test_a_branch_is_changed_by_the_option_branch_and_by_its_table_name(spark: SparkSession, numbers: Table) -> None:
    spark.sql(f"ALTER TABLE {numbers.name} CREATE BRANCH b")
    assert numbers.delete("id < 10", options={"branch": "b"}).deleted == 10
    assert Table(spark, f"{numbers.name}.branch_b").delete("id < 20").deleted == 10
    assert (numbers.to_df().count(), numbers.branch("b").count()) == (100, 80)


def test_a_table_name_without_a_namespace_refers_to_the_current_namespace(spark: SparkSession, numbers: Table) -> None:
    spark.sql("USE lite.tests")
    try:
        assert Table(spark, numbers.name.split(".")[-1]).update({"n": "1"}, "id = 1").updated == 1
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")
        spark.catalog.setCurrentCatalog("lite")


def test_invalid_arguments_are_rejected(spark: SparkSession, numbers: Table) -> None:
    source = spark.range(1)
    with pytest.raises(ValueError, match="at least one clause"):
        numbers.merge(source, ["id"]).execute()
    with pytest.raises(ValueError, match="at least one column"):
        numbers.merge(source, [])
    for method in (
        numbers.update,
        numbers.merge(source, ["id"]).when_matched_update,
        numbers.merge(source, ["id"]).when_not_matched_insert,
    ):
        with pytest.raises(ValueError, match="at least one column"):
            method({})
    with pytest.raises(AnalysisException, match="Did you mean isolation-level"):
        numbers.delete("id = 1", options={"isolation-leve": "snapshot"})
    with pytest.raises(AnalysisException, match="nowhere"):
        numbers.merge(source, "target.nowhere = source.id").when_matched_delete().execute()
    assert not _remaining_views(spark)
    assert numbers.to_df().count() == 100


def test_a_trailing_sql_comment_does_not_hide_the_rest_of_the_statement(numbers: Table) -> None:
    assert numbers.update({"n": "n + 1 -- more", "note": "'x' -- x"}, "id < 2 -- the first").updated == 2
    assert numbers.to_df().where("note = 'x'").count() == 2
    assert numbers.delete("id = 1 -- one").deleted == 1
    merged = (
        numbers.merge("(SELECT 2L AS id)", "target.id = source.id -- keys")
        .when_matched_update({"n": "-1 -- none"}, condition="target.n = 2 -- two")
        .when_not_matched_insert({"id": "source.id -- id", "n": "0 -- n"})
        .execute()
    )
    assert (merged.inserted, merged.updated) == (0, 1)


def test_a_value_that_is_not_sql_text_is_rejected(numbers: Table) -> None:
    with pytest.raises(TypeError, match=r"Pass SQL as a str for the value of n, .* not int"):
        numbers.update({"n": 5})  # type: ignore[dict-item]
    merge = numbers.merge("s", ["id"])
    with pytest.raises(TypeError, match=r"value of note, .* not date"):
        merge.when_not_matched_insert({"note": datetime.date(2026, 1, 1)})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="for the condition"):
        numbers.delete(True)  # type: ignore[arg-type]


def test_rows_of_another_session_are_merged_as_in_foreach_batch(spark: SparkSession, numbers: Table) -> None:
    other = spark.newSession()
    other.sql("USE lite")
    rows = other.sql("SELECT id, 7L AS n, 'batch' AS note FROM range(95, 105)")
    changes = numbers.merge(rows, ["id"]).when_matched_update_all().when_not_matched_insert_all().execute()
    assert (changes.inserted, changes.updated) == (5, 5)
    assert numbers.to_df().where("note = 'batch'").count() == 10
    assert not _remaining_views(other)


def test_a_python_udf_is_evaluated_only_on_updated_rows(spark: SparkSession, numbers: Table) -> None:
    def half(value: int) -> int:
        assert value % 2 == 0
        return value // 2

    spark.udf.register("half", half, "bigint")
    spark.sql(f"UPDATE {numbers.name} SET n = half(id) WHERE id IN (SELECT id * 10 FROM range(5))")
    assert [row.n for row in numbers.to_df().where("id IN (10, 20, 30, 40)").orderBy("id").collect()] == [5, 10, 15, 20]
    assert numbers.to_df().count() == 100
