"""Reads and writes with `format("iceberg-lite")`, by path and by name."""

from __future__ import annotations

import datetime
import time
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession


def ids(frame: DataFrame) -> list[int]:
    return sorted(r["id"] for r in frame.collect())


def test_a_path_is_written_in_every_save_mode_and_read_back(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    two_rows = spark.range(2)
    two_rows.write.format("iceberg-lite").save(path)
    assert ids(spark.read.format("iceberg-lite").load(path)) == [0, 1]
    two_rows.write.format("iceberg-lite").mode("append").save(path)
    assert ids(spark.read.format("iceberg-lite").load(path)) == [0, 0, 1, 1]
    two_rows.write.format("iceberg-lite").mode("ignore").save(path)
    assert ids(spark.read.format("iceberg-lite").load(path)) == [0, 0, 1, 1]
    spark.range(3).write.format("iceberg-lite").mode("overwrite").save(path)
    assert ids(spark.read.format("iceberg-lite").load(path)) == [0, 1, 2]
    with pytest.raises(AnalysisException, match="already exists"):
        two_rows.write.format("iceberg-lite").save(path)


def test_a_name_is_resolved_in_a_configured_catalog_or_the_current_one(spark: SparkSession, table: str) -> None:
    spark.range(3).write.format("iceberg-lite").saveAsTable(table)
    assert spark.read.format("iceberg-lite").load(f"lite.{table}").count() == 3
    assert spark.read.format("iceberg-lite").load(table).count() == 3
    spark.range(3).write.format("iceberg-lite").mode("append").save(table)
    spark.range(1).write.insertInto(table)
    assert spark.table(table).count() == 7


def test_save_as_table_appends_and_overwrites(spark: SparkSession, table: str) -> None:
    spark.range(3).write.format("iceberg-lite").saveAsTable(table)
    spark.range(2).write.format("iceberg-lite").mode("append").saveAsTable(table)
    assert spark.table(table).count() == 5
    spark.range(4).write.format("iceberg-lite").mode("overwrite").saveAsTable(table)
    assert spark.table(table).count() == 4


def test_read_options_select_a_snapshot_a_branch_or_a_time(spark: SparkSession, table: str) -> None:
    spark.range(1).writeTo(table).create()
    # Timestamps are in milliseconds, and the second commit must have a later timestamp than the first commit.
    created = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 <= created:
        pass
    spark.range(1).writeTo(table).append()
    first, second = spark.table(f"{table}.snapshots").orderBy("committed_at").collect()
    read = spark.read.format("iceberg-lite")
    assert read.option("snapshot-id", first["snapshot_id"]).load(table).count() == 1
    assert spark.read.format("iceberg-lite").option("branch", "main").load(table).count() == 2
    millis = int(second["committed_at"].replace(tzinfo=None).timestamp() * 1000)
    assert spark.read.format("iceberg-lite").option("as-of-timestamp", millis).load(table).count() == 2
    assert spark.read.format("iceberg-lite").option("as-of-timestamp", millis - 1).load(table).count() == 1
    with pytest.raises(Exception, match="snapshot-id"):
        spark.read.format("iceberg-lite").option("snapshot-id", 1).option("branch", "main").load(table).count()


def test_a_session_in_another_time_zone_sees_the_same_instants(spark: SparkSession, table: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    try:
        spark.sql(f"CREATE TABLE {table} (id INT, ts TIMESTAMP) USING iceberg PARTITIONED BY (hours(ts))")
        spark.sql(
            f"INSERT INTO {table} VALUES (1, TIMESTAMP '2024-01-01 00:30:00'), (2, TIMESTAMP '1969-06-01 00:30:00')"
        )
        matching_rows = spark.sql(f"SELECT id FROM {table} WHERE ts = TIMESTAMP '2024-01-01 00:30:00'")
        assert ids(matching_rows) == [1]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    rows = spark.sql(f"SELECT id, CAST(ts AS STRING) AS ts FROM {table} ORDER BY id").collect()
    assert [r["ts"] for r in rows] == ["2023-12-31 11:30:00", "1969-05-31 12:30:00"]
    assert ids(spark.table(table).where("ts < TIMESTAMP '1970-01-01 00:00:00'")) == [2]


def test_case_sensitive_mode_distinguishes_columns(spark: SparkSession, table: str) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        spark.sql(f"CREATE TABLE {table} (id INT, ID INT) USING iceberg")
        spark.sql(f"INSERT INTO {table} VALUES (1, 10), (2, 20)")
        assert [r[0] for r in spark.sql(f"SELECT ID FROM {table} WHERE id = 2").collect()] == [20]
        assert [r[0] for r in spark.sql(f"SELECT id FROM {table} WHERE ID = 10").collect()] == [1]
        with pytest.raises(AnalysisException, match="Id"):
            spark.sql(f"SELECT Id FROM {table}")
    finally:
        spark.conf.set("spark.sql.caseSensitive", "false")


def test_unusual_column_names_work_in_writes_filters_and_renames(spark: SparkSession, table: str) -> None:
    spark.sql(
        f"CREATE TABLE {table} (`a.b` INT, `weiß nicht` STRING, `tick``s` INT, `日付` DATE, s STRUCT<`x.y`: INT>) "
        "USING iceberg PARTITIONED BY (`a.b`, `日付`)"
    )
    spark.sql(
        f"INSERT INTO {table} VALUES (1, 'x', 7, DATE '2024-02-29', named_struct('x.y', 5)), (2, 'y', 8, NULL, NULL)"
    )
    row = spark.sql(f"SELECT `weiß nicht`, `tick``s`, s.`x.y` FROM {table} WHERE `a.b` = 1").collect()
    assert [tuple(r) for r in row] == [("x", 7, 5)]
    assert spark.table(table).where("`日付` = DATE '2024-02-29'").count() == 1
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN `a.b` TO `c.d`")
    assert spark.table(table).where("`c.d` = 2").count() == 1


def test_two_sessions_on_one_table_see_each_others_commits(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    other = spark.newSession()
    other.sql(f"INSERT INTO {table} VALUES (1)")
    spark.sql(f"REFRESH TABLE {table}")
    assert spark.table(table).count() == 1
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    other.sql(f"INSERT INTO {table} VALUES (3)")
    spark.sql(f"REFRESH TABLE {table}")
    assert ids(spark.table(table)) == [1, 2, 3]


def test_timestamps_keep_their_microseconds(spark: SparkSession, table: str) -> None:
    moment = datetime.datetime(2024, 3, 1, 12, 34, 56, 123456)
    spark.createDataFrame([(1, moment)], "id INT, ts TIMESTAMP").writeTo(table).create()
    assert spark.table(table).selectExpr("CAST(ts AS STRING)").collect()[0][0] == "2024-03-01 12:34:56.123456"
    assert spark.table(table).collect()[0]["ts"].microsecond == 123456
