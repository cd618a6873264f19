"""Branches and procedures in Python. The package calls procedures with SQL text only, as Spark Connect requires."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from pyspark_iceberg import Table, migrate, register_table, snapshot
from pyspark_iceberg.call import call, catalog_of, literal


@pytest.fixture
def three_commits(spark: SparkSession, table: str) -> Table:
    """Return a table with three snapshots that add one row each."""
    spark.sql(f"CREATE TABLE {table} (id INT) USING iceberg")
    for i in range(3):
        spark.sql(f"INSERT INTO {table} VALUES ({i})")
    return Table(spark, table)


def ids(table: Table) -> list[int]:
    return sorted(r["id"] for r in table.to_df().collect())


def test_a_table_is_rolled_back_and_forward(three_commits: Table) -> None:
    first, second, third = (s.snapshot_id for s in three_commits.snapshots())
    back = three_commits.rollback_to_snapshot(first)
    assert (back.previous_snapshot_id, back.current_snapshot_id) == (third, first)
    assert ids(three_commits) == [0]
    assert three_commits.set_current_snapshot(third) == (first, third)
    assert [a.snapshot_id for a in three_commits.ancestors_of()] == [third, second, first]
    assert [a.snapshot_id for a in three_commits.ancestors_of(second)] == [second, first]


def condition(error: Any) -> tuple[str, str]:
    """Return the error condition and the SQL state. `error` is Any, because PySpark types `getSqlState` as None."""
    return error.getErrorClass(), error.getSqlState()


def test_the_error_of_a_procedure_has_a_condition_and_a_sql_state(spark: SparkSession, three_commits: Table) -> None:
    with pytest.raises(AnalysisException) as unknown:
        three_commits.rollback_to_snapshot(7)
    assert condition(unknown.value) == ("ICEBERG_LITE.SNAPSHOT_NOT_FOUND", "42704")
    with pytest.raises(AnalysisException) as missing:
        spark.sql("CALL lite.system.rewrite_manifests('db.no_such_table')")
    assert condition(missing.value) == ("TABLE_OR_VIEW_NOT_FOUND", "42P01")


def test_a_state_is_restored_with_a_report_of_what_changed(spark: SparkSession, three_commits: Table) -> None:
    first, _, third = (s.snapshot_id for s in three_commits.snapshots())
    report = three_commits.restore(first)
    assert (report.previous_snapshot_id, report.current_snapshot_id) == (third, first)
    assert (report.added_data_files_count, report.removed_data_files_count) == (0, 2)
    assert (report.removed_records_count, report.removed_delete_files_count) == (2, 0)
    assert ids(three_commits) == [0]
    restored = spark.sql(f"RESTORE TABLE {three_commits.name} TO VERSION AS OF {third}").first()
    assert restored is not None
    assert restored["added_records_count"] == 2
    assert ids(three_commits) == [0, 1, 2]


def test_a_timestamp_can_be_a_datetime_or_text(three_commits: Table) -> None:
    first, second, third = three_commits.snapshots()
    aware = datetime.datetime.fromtimestamp(second.committed_at.timestamp(), datetime.timezone.utc)
    assert three_commits.rollback_to_timestamp(aware).current_snapshot_id == first.snapshot_id
    three_commits.set_current_snapshot(third.snapshot_id)
    text = aware.strftime("%Y-%m-%d %H:%M:%S.%fZ")
    assert three_commits.rollback_to_timestamp(text).current_snapshot_id == first.snapshot_id
    with pytest.raises(AnalysisException, match="It must be TIMESTAMP"):
        three_commits.rollback_to_timestamp("last week")


def test_branches_are_read_moved_and_published(spark: SparkSession, three_commits: Table) -> None:
    spark.sql(f"ALTER TABLE {three_commits.name} CREATE BRANCH `it's``mine`")
    spark.range(7, 8).selectExpr("CAST(id AS INT) id").writeTo(f"{three_commits.name}.`branch_it's``mine`").append()
    assert sorted(r["id"] for r in three_commits.branch("it's`mine").collect()) == [0, 1, 2, 7]
    assert ids(three_commits) == [0, 1, 2]
    moved = three_commits.fast_forward("main", "it's`mine")
    assert moved.branch_updated == "main"
    assert ids(three_commits) == [0, 1, 2, 7]
    with pytest.raises(AnalysisException, match="nothing"):
        three_commits.set_current_snapshot(ref="nothing")
    with pytest.raises(AnalysisException, match="Set either snapshot_id or ref"):
        three_commits.set_current_snapshot()


def test_staged_snapshots_are_published_by_wap_id_or_snapshot_id(spark: SparkSession, three_commits: Table) -> None:
    spark.sql(f"ALTER TABLE {three_commits.name} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    for wap_id, row in (("a\\b 'c'", 10), ("two", 11)):
        spark.conf.set("spark.wap.id", wap_id)
        spark.sql(f"INSERT INTO {three_commits.name} VALUES ({row})")
    spark.conf.unset("spark.wap.id")
    assert ids(three_commits) == [0, 1, 2]
    published = three_commits.publish_changes("a\\b 'c'")
    assert published.current_snapshot_id == three_commits.current_snapshot_id
    staged = next(s.snapshot_id for s in three_commits.snapshots() if s.summary.get("wap.id") == "two")
    assert three_commits.cherrypick_snapshot(staged).source_snapshot_id == staged
    assert ids(three_commits) == [0, 1, 2, 10, 11]


def test_the_catalog_of_a_table_is_its_first_name_part_or_the_current_catalog(spark: SparkSession) -> None:
    assert catalog_of(spark, "shared.db.t") == "shared"
    assert catalog_of(spark, "`shared`.`a.b`.t") == "shared"
    assert catalog_of(spark, "`shared.db`.t") == "lite"
    assert catalog_of(spark, "db.t") == "lite"
    assert catalog_of(spark, "shared") == "lite"
    assert catalog_of(spark, "spark_catalog.default.t") == "spark_catalog"
    assert catalog_of(spark, "lite.`/data/t`") == "lite"


def test_procedures_run_in_the_catalog_that_the_table_name_begins_with(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.calls")
    spark.sql("CREATE TABLE shared.calls.t (id INT) USING iceberg")
    try:
        spark.sql("INSERT INTO shared.calls.t VALUES (1)")
        log = spark.table("shared.calls.t.metadata_log_entries").orderBy("timestamp").collect()
        registered = register_table(spark, "shared.calls.again", log[-1]["file"])
        assert (registered.total_records_count, registered.total_data_files_count) == (1, 1)
        registered_table = Table(spark, "shared.calls.again")
        rollback = registered_table.rollback_to_snapshot(registered.current_snapshot_id or 0)
        assert rollback.previous_snapshot_id is not None
    finally:
        spark.sql("DROP TABLE IF EXISTS shared.calls.again")
        spark.sql("DROP TABLE shared.calls.t")


def test_values_are_escaped_as_sql_literals() -> None:
    assert literal("it's \\ `b`") == "'it\\'s \\\\ `b`'"
    assert literal(-7) == "-7"
    assert literal(datetime.datetime(2024, 1, 2, 3, 4, 5, 6)) == "TIMESTAMP '2024-01-02 03:04:05.000006'"
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert literal(datetime.datetime(2024, 1, 2, tzinfo=zone)) == "TIMESTAMP '2024-01-02 00:00:00+02:00'"
    assert [literal(value) for value in (True, False)] == ["true", "false"]
    assert literal(["it's", "b"]) == "array('it\\'s', 'b')"
    assert literal(()) == "array()"
    assert literal({"start-snapshot-id": 5, "a": "b"}) == "map('start-snapshot-id', 5, 'a', 'b')"
    assert literal({}) == "map()"
    for value in (1.5, b"x", [1.5], {"a": b"x"}, {1, 2}):
        with pytest.raises(TypeError, match="SQL constant"):
            literal(value)


def test_the_error_of_an_unknown_procedure_suggests_a_similar_name(spark: SparkSession, three_commits: Table) -> None:
    with pytest.raises(ParseException, match="did you mean ancestors_of"):
        call(spark, "ancestors_off", three_commits.name, {})


def test_maintenance_procedures_return_the_numbers_of_files(three_commits: Table) -> None:
    planned = three_commits.rewrite_data_files(options={"min-input-files": 2}, dry_run=True)
    assert planned.rewritten_data_files_count == 3
    assert [(g.files_count, g.partition) for g in planned.file_groups] == [(3, "")]
    rewritten = three_commits.rewrite_data_files(options={"min-input-files": 2})
    assert (rewritten.rewritten_data_files_count, rewritten.added_data_files_count) == (3, 1)
    tomorrow = datetime.datetime.now() + datetime.timedelta(days=1)
    expired = three_commits.expire_snapshots(older_than=tomorrow, retain_last=1)
    assert (expired.deleted_data_files_count, expired.deleted_manifest_lists_count) == (3, 3)
    assert expired.kept_files == []
    assert three_commits.remove_orphan_files() == []
    assert three_commits.rewrite_manifests().rewritten_manifests_count == 0
    rewritten_deletes = three_commits.rewrite_position_delete_files(options={"rewrite-all": "true"})
    assert rewritten_deletes == (0, 0, 0, 0)
    assert ids(three_commits) == [0, 1, 2]
    with pytest.raises(AnalysisException, match="no partition statistics"):
        three_commits.compute_partition_stats()


def test_one_call_runs_the_maintenance_that_is_due(three_commits: Table) -> None:
    planned = three_commits.maintain(options={"min-input-files": 2}, dry_run=True)
    rewrite = next(step for step in planned if step.action == "rewrite_data_files")
    assert (rewrite.status, rewrite.files_before, rewrite.files_after) == ("planned", 3, 1)
    assert three_commits.metadata("data_files").count() == 3
    done = three_commits.maintain(options={"min-input-files": 2, "max-seconds": 600})
    # Only a dry run counts the orphan files if their removal was not requested.
    assert [step.action for step in done] == [s.action for s in planned if s.action != "remove_orphan_files"]
    assert [step.action for step in done if step.status == "done"] == ["rewrite_data_files"]
    assert three_commits.metadata("data_files").count() == 1
    assert ids(three_commits) == [0, 1, 2]
    with pytest.raises(AnalysisException, match="max-bytes"):
        three_commits.maintain(options={"max-bytes": 0})


def test_existing_files_become_part_of_a_table(spark: SparkSession, table: str, tmp_path: Path) -> None:
    source = f"parquet.`{tmp_path}/events`"
    spark.range(4).selectExpr("CAST(id AS INT) id", "id % 2 AS kind").write.partitionBy("kind").parquet(
        f"{tmp_path}/events"
    )
    spark.sql(f"CREATE TABLE {table} (id INT, kind INT) USING iceberg PARTITIONED BY (kind)")
    events = Table(spark, table)
    added = events.add_files(source, partition_filter={"kind": 1})
    assert (added.added_files_count >= 1, added.changed_partition_count) == (True, None)
    assert ids(events) == [1, 3]
    with pytest.raises(AnalysisException, match="already in the table"):
        events.add_files(source)
    events.add_files(source, partition_filter={"kind": 0})
    assert ids(events) == [0, 1, 2, 3]


def test_a_snapshot_of_a_parquet_table_can_be_changed_without_changing_the_parquet_table(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    spark.sql(f"CREATE TABLE spark_catalog.default.tried USING parquet LOCATION '{tmp_path}/tried' AS SELECT 1 AS id")
    try:
        imported = snapshot(spark, table, source_table="spark_catalog.default.tried", properties={"owner": "a"})
        assert imported.imported_files_count == 1
        spark.sql(f"INSERT INTO {table} VALUES (2)")
        assert ids(Table(spark, table)) == [1, 2]
        assert [r["id"] for r in spark.table("spark_catalog.default.tried").collect()] == [1]
        with pytest.raises(AnalysisException, match="SparkSessionCatalog"):
            migrate(spark, table)
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('gc.enabled' = 'true')")  # so that it can be dropped
    finally:
        spark.sql("DROP TABLE spark_catalog.default.tried")
