"""Writes of rows with the methods of `Table`, branches, audits and compactions."""

from __future__ import annotations

import datetime

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, ParseException, PythonException
from pyspark.sql import SparkSession, functions

from pyspark_iceberg import (
    CommitConflictError,
    CommitStateUnknownError,
    ExistingObjectError,
    FailedJobError,
    MissingObjectError,
    RejectedValueError,
    RowChanges,
    Table,
    TableError,
    ValidationError,
    typed_errors,
)


@pytest.fixture
def items(spark: SparkSession, table: str) -> Table:
    """Return a table with four rows in two partitions."""
    built = Table.create(spark, table).column("id", "bigint", nullable=False).column("p", "string").column("n", "int")
    created = built.partitioned_by("p").identifier_fields("id").execute()
    created.append([(1, "a", 10), (2, "a", 20), (3, "b", 30), (4, "b", 40)])
    return created


MAP = pa.map_(pa.string(), pa.int64())


def is_connect(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def rows(table: Table) -> list[tuple[object, ...]]:
    return [tuple(row) for row in table.to_df().orderBy("id").collect()]


def test_appends_match_columns_by_name_and_return_the_number_of_rows(spark: SparkSession, items: Table) -> None:
    changes = items.append(spark.sql("SELECT 50 AS n, 'c' AS p, 5L AS id"), options={"snapshot-property.job": "j"})
    assert changes == RowChanges(inserted=1, snapshot_id=items.current_snapshot_id)
    assert items.snapshots().to_list()[-1].summary["job"] == "j"
    assert items.append(pd.DataFrame({"id": [6], "p": ["c"], "n": [60]})).inserted == 1
    assert items.append(pa.table({"n": [70], "id": [7], "p": ["c"]})).inserted == 1
    assert rows(items)[4:] == [(5, "c", 50), (6, "c", 60), (7, "c", 70)]
    with pytest.raises(ValueError, match="no column unknown"):
        items.append(pd.DataFrame({"id": [6], "p": ["c"], "n": [1], "unknown": [1]}))


def test_nulls_and_large_integers_of_pandas_and_pyarrow_are_kept(spark: SparkSession, table: str) -> None:
    built = Table.create(spark, table).column("id", "bigint").column("d", "double").column("s", "string")
    values = built.column("m", "map<string, bigint>").column("t", "timestamp").execute()
    large = 2**53 + 1
    noon = datetime.datetime(2026, 1, 1, 12)
    columns = {"id": [large, None], "d": [1.5, None], "s": ["x", None], "t": [noon, None]}
    kinds = pa.schema([("id", pa.int64()), ("d", pa.float64()), ("s", pa.string()), ("t", pa.timestamp("us"))])
    arrow = pa.table(columns, schema=kinds).append_column("m", pa.array([[("k", large)], None], MAP))
    values.append(arrow)
    frame = {"id": [7, None], "d": [1.5, None], "s": ["x", None], "t": [noon, None], "m": [None, None]}
    values.append(pd.DataFrame(frame))
    found = values.to_df().selectExpr("id", "d", "s", "m['k'] AS m", "CAST(t AS STRING) AS t").collect()
    expected = {(large, 1.5, "x", large, "2026-01-01 12:00:00"), (7, 1.5, "x", None, "2026-01-01 12:00:00")}
    assert {tuple(row) for row in found if row["id"] is not None} == expected
    assert [tuple(row) for row in found if row["id"] is None] == [(None,) * 5] * 2


def test_overwrites_return_the_numbers_of_new_and_removed_rows(spark: SparkSession, items: Table) -> None:
    by_partition = items.overwrite_partitions(spark.sql("SELECT 9L AS id, 'b' AS p, 90 AS n"))
    assert (by_partition.inserted, by_partition.deleted) == (1, 2)
    where = items.replace_where(spark.sql("SELECT 8L AS id, 'a' AS p, 80 AS n"), "p = 'a'")
    assert (where.inserted, where.deleted, where.copied) == (None, None, None)
    column = items.replace_where(spark.sql("SELECT 7L AS id, 'a' AS p, 70 AS n"), functions.col("p") == "a")
    assert column.snapshot_id == items.current_snapshot_id
    new = items.replace_where(spark.sql("SELECT 1L AS id, 'n' AS p, 1 AS n"), "p = 'n'")
    assert (new.inserted, new.deleted) == (1, 0)
    items.delete("p = 'n'")
    assert rows(items) == [(7, "a", 70), (9, "b", 90)]
    everything = items.overwrite(spark.sql("SELECT 1L AS id, 'z' AS p, 1 AS n"))
    assert (everything.inserted, everything.deleted) == (1, 2)
    assert rows(items) == [(1, "z", 1)]


def test_upserts_replace_rows_by_key(spark: SparkSession, items: Table) -> None:
    changes = items.upsert(spark.sql("SELECT 2L AS id, 'a' AS p, 21 AS n UNION ALL SELECT 5L, 'b', 50"))
    assert (changes.inserted, changes.deleted) == (2, None)
    assert items.upsert([(5, "b", 51)], keys="id").inserted == 1
    with pytest.raises(ValueError, match="without commas"):
        items.upsert([(5, "b", 51)], keys=["id,p"])
    assert rows(items) == [(1, "a", 10), (2, "a", 21), (3, "b", 30), (4, "b", 40), (5, "b", 51)]


def test_conditions_and_values_can_be_columns(spark: SparkSession, items: Table) -> None:
    if is_connect(spark):
        with pytest.raises(TypeError, match="Spark Connect cannot convert a column to SQL"):
            items.delete(functions.col("id") == 1)
        return
    assert items.update({"n": functions.col("n") + 1}, functions.col("p").isin("a")).updated == 2
    assert items.delete((functions.col("id") == 1) | (functions.col("p") == functions.lit("it's"))).deleted == 1
    source = spark.sql("SELECT 3L AS id, 33 AS m")
    merged = items.merge(source, functions.col("target.id") == functions.col("source.id")).when_matched_update(
        {"n": functions.col("m")}
    )
    assert merged.execute().updated == 1
    assert rows(items) == [(2, "a", 21), (3, "b", 33), (4, "b", 40)]
    assert items.delete(functions.col("id").isin([])).deleted == 0
    # As in a filter of Spark, a null is neither in an empty list nor outside of it.
    assert items.update({"n": "0"}, ~functions.when(functions.col("id") > 2, 1).isin([])).updated == 2
    assert items.update({"n": "33"}, "id = 3").updated == 1
    assert items.update({"n": "40"}, "id = 4").updated == 1
    letters = functions.split("p", "")
    is_b = functions.exists(letters, lambda letter: letter == "b")
    last = functions.aggregate(functions.array("n"), functions.lit(0), lambda total, n: total + n)
    assert items.update({"n": last + 1}, is_b).updated == 2
    assert items.update({"p": functions.lit("${spark.app.name}")}, functions.col("id") == 2).updated == 1
    assert rows(items) == [(2, "${spark.app.name}", 21), (3, "b", 34), (4, "b", 41)]


def test_a_delete_without_a_condition_is_rejected(items: Table) -> None:
    with pytest.raises(ValueError, match=r"call delete_all\(\)"):
        items.delete()
    for empty in ("", " \n"):
        with pytest.raises(ValueError, match="The condition is empty"):
            items.delete(empty)
        with pytest.raises(ValueError, match="The condition is empty"):
            items.update({"n": "0"}, empty)
    for comment in ("-- id = 1", "-- x\\\nid = 1", "/* id /* = */ 1 */ -- x"):
        with pytest.raises(ParseException):
            items.delete(comment)
        with pytest.raises(ParseException):
            items.update({"n": "0"}, comment)
    items.set_properties({})
    items.unset_properties()
    assert items.delete_all().deleted == 4


def test_values_that_are_neither_columns_nor_text_are_rejected(items: Table) -> None:
    with pytest.raises(TypeError, match="Pass the condition as SQL in a str, or as a column, not int"):
        items.replace_where([(1, "a", 0)], 5)  # type: ignore[arg-type]
    for change in (
        lambda: items.set_properties({"note": None}),
        lambda: items.append([(9, "z", 9)], options={"snapshot-property.job": None}),
        lambda: items.delete("id = 1", options={"snapshot-property.job": None}),
    ):
        with pytest.raises(TypeError, match="must not be None"):
            change()
    assert len(rows(items)) == 4


def test_branches_and_tags_are_created_written_and_dropped(items: Table) -> None:
    items.create_tag("before")
    work = items.create_branch("work")
    assert work.append([(5, "c", 50)]).inserted == 1
    assert (items.branch("work").count(), items.tag("before").count(), items.to_df().count()) == (5, 4, 4)
    items.drop_branch("work")
    items.drop_tag("before")
    items.drop_tag("before", if_exists=True)
    assert [ref.name for ref in items.refs()] == ["main"]


def test_an_audit_publishes_its_commits_together_or_keeps_them_for_inspection(items: Table) -> None:
    with items.audit() as staged:
        staged.append([(5, "c", 50)])
        staged.delete("id = 1")
        assert items.to_df().count() == 4
        items.append([(6, "d", 60)])
    assert [row[0] for row in rows(items)] == [2, 3, 4, 5, 6]
    assert [ref.name for ref in items.refs()] == ["main"]
    with pytest.raises(ZeroDivisionError), items.audit("nightly") as staged:
        print(len(staged.append([(7, "e", None)]).__dict__) // 0)
    assert items.to_df().count() == 5
    assert items.branch("nightly").count() == 6


def test_an_audit_whose_publication_has_an_unknown_outcome_does_not_claim_that_nothing_was_published(
    items: Table, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = CommitStateUnknownError("The outcome is unknown", "ICEBERG_LITE.COMMIT_STATE_UNKNOWN", "40003")

    def publish(self: Table, branch: str) -> None:
        raise unknown

    monkeypatch.setattr(Table, "merge_branch", publish)

    def interrupt(self: Table, branch: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(CommitStateUnknownError), items.audit("nightly") as staged:
        staged.append([(7, "e", None)])
    assert "it is not known whether its commits were published" in caplog.text
    caplog.clear()
    monkeypatch.setattr(Table, "merge_branch", interrupt)
    with pytest.raises(KeyboardInterrupt), items.audit("weekly"):
        pass
    assert "it is not known whether its commits were published" in caplog.text
    caplog.clear()
    with pytest.raises(CommitStateUnknownError), items.audit("daily"):
        raise unknown
    assert "nothing was published" in caplog.text


def test_optimize_and_vacuum_run_their_statements(items: Table) -> None:
    for i in range(5, 11):
        items.append([(i, "a", i)])
    result = items.optimize().where("p = 'a'").execute()
    assert (result.rewritten_data_files_count, result.added_data_files_count) == (7, 1)
    assert items.optimize().zorder_by("id", "n").execute().added_data_files_count == 2
    assert items.vacuum(retain_hours=1000, dry_run=True) == []
    assert {(row.kind, row.count, row.kept_because) for row in items.vacuum(retain_hours=1000)} >= {
        ("snapshot", 0, None),
        ("orphan file", 0, None),
    }
    snapshots = {str(s.snapshot_id) for s in items.snapshots()} - {str(items.current_snapshot_id)}
    expiring = items.vacuum(retain_hours=0, dry_run=True)
    assert {row.name for row in expiring if row.kind == "snapshot"} == snapshots


def test_properties_are_set_and_unset(items: Table) -> None:
    items.set_properties({"owner-team": "it's data", "write.object-storage.enabled": False})
    assert items.properties["owner-team"] == "it's data"
    items.set_properties({"note": r"${spark.app.name} \${env:HOME}"})
    assert items.properties["note"] == r"${spark.app.name} \${env:HOME}"
    assert items.properties["write.object-storage.enabled"] == "false"
    items.unset_properties("owner-team", "not-set")
    assert "owner-team" not in items.properties


def test_missing_and_existing_branches_have_error_classes(items: Table) -> None:
    items.create_branch("work")
    with pytest.raises(ExistingObjectError):
        items.create_branch("work")
    with pytest.raises(MissingObjectError):
        items.branch("other")


def test_error_conditions_have_error_classes(items: Table) -> None:
    with pytest.raises(MissingObjectError) as missing:
        items.rollback_to_snapshot(1)
    assert (missing.value.condition, missing.value.sql_state) == ("ICEBERG_LITE.SNAPSHOT_NOT_FOUND", "42704")
    assert missing.value.__cause__ is not None
    items.set_properties({"gc.enabled": False})
    with pytest.raises(ValidationError, match=r"gc\.enabled"):
        items.expire_snapshots()
    items.set_properties({"gc.enabled": True})
    with pytest.raises(TableError) as rejected:
        items.append([(1, "a", 1)], options={"isolation-level": "none"})
    assert rejected.value.getErrorClass() == rejected.value.condition


def test_a_conflict_and_a_rejected_row_have_error_classes(spark: SparkSession, items: Table) -> None:
    first = items.current_snapshot_id
    items.append([(5, "a", 50)])
    options = {"validate-from-snapshot-id": first, "isolation-level": "serializable"}
    with pytest.raises(CommitConflictError) as conflict:
        items.replace_where([(1, "a", 1)], "p = 'a'", options=options)
    assert conflict.value.sql_state == "40001"
    spark.sql(f"ALTER TABLE {items.name} ADD CONSTRAINT positive CHECK (n > 0)")
    with pytest.raises(RejectedValueError, match="positive") as rejected:
        items.append([(6, "a", -1)])
    assert rejected.value.condition == "ICEBERG_LITE.CHECK_CONSTRAINT_VIOLATION"
    assert len(str(rejected.value)) < 1000
    with pytest.raises(AnalysisException), typed_errors():
        spark.sql("SELECT no_such_column FROM VALUES (1) AS t(a)")


def test_a_failed_job_has_the_condition_of_spark(spark: SparkSession, items: Table) -> None:
    items.append([(7, "a", 1)])
    merge = (
        f"MERGE INTO {items.name} t USING (SELECT 7L AS id, n FROM VALUES (1), (2) AS s(n)) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.n = s.n"
    )
    with pytest.raises(FailedJobError) as repeated, typed_errors():
        spark.sql(merge)
    assert (repeated.value.condition, repeated.value.sql_state) == ("MERGE_CARDINALITY_VIOLATION", "23K01")
    rows = spark.range(1).selectExpr("7L AS id", "'a' AS p", "id + 3000000000 AS n")
    with pytest.raises(FailedJobError) as overflow:
        items.append(rows)
    assert (overflow.value.condition, overflow.value.sql_state) == ("CAST_OVERFLOW_IN_TABLE_INSERT", "22003")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        for expression, condition, state in (
            ("CAST(1 / id AS INT)", "DIVIDE_BY_ZERO", "22012"),
            ("CAST(concat('x', id) AS INT)", "CAST_INVALID_INPUT", "22018"),
        ):
            with pytest.raises(FailedJobError) as failed, typed_errors():
                spark.sql(f"INSERT INTO {items.name} SELECT 7L, 'a', {expression} FROM range(1)")
            assert (failed.value.condition, failed.value.sql_state) == (condition, state)
            assert str(failed.value).startswith(f"[{condition}] ")
            assert "\tat" not in str(failed.value)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_the_number_of_removed_rows_does_not_count_rows_that_were_deleted_before(
    spark: SparkSession, table: str
) -> None:
    for version in (2, 3):
        name = f"{table}_v{version}"
        properties = f"'format-version' = '{version}', 'write.delete.mode' = 'merge-on-read'"
        spark.sql(f"CREATE TABLE {name} (id BIGINT, p INT) USING iceberg TBLPROPERTIES ({properties})")
        t = Table(spark, name)
        t.append(spark.range(0, 10, 1, 1).selectExpr("id", "1 AS p"))
        t.delete("id < 2")
        assert t.overwrite(spark.range(0, 3, 1, 1).selectExpr("id", "1 AS p")).deleted == 8
        for i in range(2):
            t.delete(f"id = {i}")
        assert t.overwrite(spark.range(1).selectExpr("id", "1 AS p")).deleted == 1


def test_the_number_of_removed_rows_is_unknown_if_position_deletes_may_apply_to_several_files(
    spark: SparkSession, table: str
) -> None:
    properties = (
        "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition'"
    )
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES ({properties})")
    t = Table(spark, table)
    t.append(spark.range(0, 10, 1, 2))
    t.delete("id % 5 = 0")
    # The compaction applies the deletes, and keeps the delete file, which then applies to no data file.
    t.rewrite_data_files(options={"rewrite-all": "true", "remove-dangling-deletes": "false"})
    deletes = spark.table(f"{table}.delete_files").collect()
    assert [(file["record_count"], file["referenced_data_file"]) for file in deletes] == [(2, None)]
    assert t.overwrite(spark.range(1)).deleted is None


def test_a_failing_python_udf_raises_a_python_exception_with_its_message(spark: SparkSession, table: str) -> None:
    def fail(value: int) -> int:
        raise ValueError(f"no price for item {value}")

    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    price = functions.udf(fail, "bigint")
    spark.udf.register("price", fail, "bigint")
    rows = spark.range(7, 8, 1, 1).select(price("id").alias("id"))
    message = "ValueError: no price for item 7"
    with pytest.raises(PythonException, match=message):
        rows.writeTo(table).append()
    with pytest.raises(PythonException, match=message):
        Table(spark, table).append(rows)
    with pytest.raises(PythonException, match=message):
        spark.sql(f"INSERT INTO {table} SELECT price(id) FROM range(7, 8, 1, 1)").collect()
    assert spark.table(table).count() == 0
